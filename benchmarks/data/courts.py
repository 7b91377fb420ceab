"""The data set `courts`: pages on which courts list opinions, each with the records that its scraper expects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from benchmarks.data.swde import unpacked
from untemplate import Page
from untemplate.page import visible_text
from untemplate.page.locating import letters_and_digits

__all__ = ["CourtPage", "court_pages"]

Opinion = dict[str, str]
"""What is known about an opinion: `docket`, `name`, `date`, `url`, `judge`, as far as the scraper reads them."""


@dataclass(frozen=True)
class CourtPage:
    """A page that lists opinions.

    Attributes:
        family: the domain to which most of its links go, or the court. Pages of one family are made alike, so a
            measure keeps them in one fold.
        page: the page, with its file name as id.
        opinions: its true records, in the order of their file.
        key: the field by which a record is known: `docket`, or `name` where dockets are not on the page as they are.
    """

    family: str
    page: Page
    opinions: list[Opinion]
    key: str

    def keys(self) -> list[str]:
        """Return the letters and digits of each record's key that is on the page."""
        text = letters_and_digits(visible_text(self.page.tree))
        keys = (letters_and_digits(opinion.get(self.key, "")) for opinion in self.opinions)
        return [key for key in keys if key and key in text]


def court_pages() -> Iterator[CourtPage]:
    """Yield every page that lists opinions, in the order of their names; FileNotFoundError without the data."""
    for path in sorted(unpacked("courts").glob("*.html")):
        opinions: list[Opinion] = json.loads(path.with_suffix(".json").read_text("utf-8"))
        page = Page(html=path.read_bytes(), id=path.name)
        family = _most_frequent_domain(opinions) or path.name.partition("_")[0]
        yield CourtPage(family, page, opinions, _choose_key(page, opinions))


def _most_frequent_domain(opinions: Sequence[Opinion]) -> str:
    """Return the domain of most links, such as `uscourts.gov`; "" if they have none."""
    hosts = (urlsplit(opinion.get("url", "")).netloc for opinion in opinions)
    domains = Counter(".".join(host.split(".")[-2:]) for host in hosts)
    return domains.most_common(1)[0][0]


def _choose_key(page: Page, opinions: Sequence[Opinion]) -> str:
    """Return `docket` if most dockets are on the page as they are, otherwise `name`."""
    text = letters_and_digits(visible_text(page.tree))
    dockets = [letters_and_digits(opinion.get("docket", "")) for opinion in opinions]
    on_page = [bool(docket) and docket in text for docket in dockets]
    return "docket" if sum(on_page) * 2 > len(on_page) else "name"
