"""Pages of events: a date near the top, what stands around it, and noise that differs from page to page."""

from __future__ import annotations

from untemplate import Attribute, Page, Schema
from untemplate.labeling.seed.site_fields import SiteFields

SCHEMA = Schema(
    "event",
    {
        "date": Attribute("date", "date"),
        "time": Attribute("time", "time"),
        "title": Attribute("title"),
        "location": Attribute("location"),
    },
)

TITLES = (
    "Spring concert",
    "Book fair",
    "Science night",
    "Board meeting",
    "Field day",
    "Chess club",
    "Open house",
)
PLACES = ("Gym", "Main hall", "Library", "Room 12", "Soccer field", "Cafeteria")


def event_pages(count: int = 20, noise: bool = False) -> list[Page]:
    """Pages; with noise, each has as many wrong dates as right ones, somewhere else on every page."""
    return [Page(id=f"{n}.html", html=_html(n, noise)) for n in range(count)]


def _html(n: int, noise: bool) -> str:
    wrong = f"<i>Posted {1 + n % 28} May 2011</i>" if noise else ""
    wrong = "<div>" * (n % 9) + f"<{'bsu'[n % 3]}>{wrong}</{'bsu'[n % 3]}>" + "</div>" * (n % 9)
    return (
        f"<html><body><h1>{TITLES[n % 7]} {n}</h1><p class=date>{1 + n % 28} March 2012</p>"
        f"<p class=time>{1 + n % 9}:30 pm</p><b>Location:</b><p class=where>{PLACES[n % 6]} {n}</p>{wrong}"
        "</body></html>"
    )


def event_site(count: int = 20, noise: bool = False) -> SiteFields:
    return SiteFields(event_pages(count, noise), SCHEMA)
