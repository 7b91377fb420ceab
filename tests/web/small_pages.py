"""Small pages of one template, their labels, and a session over them."""

from __future__ import annotations

from collections.abc import Iterable

from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.web.cluster_session import ClusterSession

__all__ = ["EMPTY", "SCHEMA", "name", "page", "phone", "session"]

SCHEMA = Schema("place", {"name": Attribute("name", mandatory=True), "phone": Attribute("phone", "phone")})
EMPTY = Wrapper("c1", (), 0, "*", {})


def page(number: int, heading: str = "<div id='top'><h1 class='title'>", phone: bool = True) -> Page:
    call = f"<p>Call: <i>+1 212 555 01{number:02}</i></p>" if phone else ""
    html = (
        f"<html><body>{heading}Place {number}</h1></div>"
        f"<p class='street'>{number} Main St<br>Town {number}</p>{call}<p>About us</p></body></html>"
    )
    return Page(f"http://a.example/{number}", html, str(number))


def session(pages: Iterable[Page], *labels: Label, saved: Wrapper = EMPTY) -> ClusterSession:
    made = ClusterSession(saved, pages, SCHEMA)
    made.update(saved, labels, {label.attribute for label in labels})
    return made


def name(number: int) -> Label:
    return Label(str(number), "name", f"Place {number}", "/html/body/div/h1/text()")


def phone(number: int) -> Label:
    return Label(str(number), "phone", f"+1 212 555 01{number:02}", "/html/body/p[2]/i/text()")
