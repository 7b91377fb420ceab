"""The data sets `blogs` and `shops`: whole real sites, each page with its kind."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.data.swde import unpacked
from untemplate import Attribute, Label, Page, Schema

__all__ = ["SETS", "WholeSite", "whole_sites"]

SETS = ("blogs", "shops")

_MAIN_KINDS = {"blogs": "post", "shops": "product"}
# Fields that are labeled, and on how many pages.
_SCHEMAS = {
    "blogs": Schema("post", {"title": Attribute("title", mandatory=True), "date": Attribute("date")}),
    "shops": Schema(
        "product", {"title": Attribute("title", mandatory=True), "price": Attribute("price", "price")}
    ),
}
_LABELED_PAGES = {"blogs": 2, "shops": 1}


@dataclass(frozen=True)
class WholeSite:
    """All pages of a site.

    Attributes:
        name: the name of its folder.
        family: the data set, whose sites are alike in some ways.
        pages: every page.
        facts: page id → what is known about the page: its `kind`, and of pages of the main kind some values.
    """

    name: str
    family: str
    pages: list[Page] = field(repr=False)
    facts: Mapping[str, Mapping[str, Any]] = field(repr=False)

    @property
    def schema(self) -> Schema:
        """What is extracted from pages of the main kind."""
        return _SCHEMAS[self.family]

    def is_main(self, page: Page) -> bool:
        """Return True if a page is a post of a blog, or a product of a shop."""
        return bool(self.facts[page.id]["kind"] == _MAIN_KINDS[self.family])

    def labeled_pages(self) -> list[Page]:
        """Return the first pages of the main kind with the most fields: those that a person labels."""
        main = [page for page in self.pages if self.is_main(page)]
        main.sort(key=lambda page: -len(self.true_values(page)))
        return main[: _LABELED_PAGES[self.family]]

    def true_values(self, page: Page) -> dict[str, str]:
        """Return the values of a page as far as they are known."""
        facts = self.facts[page.id]
        return {name: str(facts[name]) for name in self.schema.attributes if facts.get(name)}

    def labels(self) -> list[Label]:
        """Return what a person would say about the labeled pages."""
        labels: list[Label] = []
        for page in self.labeled_pages():
            labels += [Label(page.id, name, value) for name, value in self.true_values(page).items()]
        return labels

    def without_urls(self) -> WholeSite:
        """Return the site as a folder of files."""
        pages = [Page("", page.html, page.id) for page in self.pages]
        return WholeSite(self.name, self.family, pages, self.facts)


def whole_sites(family: str) -> Iterator[WholeSite]:
    """Yield the sites of a set; FileNotFoundError without the data."""
    for folder in sorted(path for path in unpacked(family).iterdir() if path.is_dir()):
        truth = json.loads((folder / "truth.json").read_text("utf-8"))
        facts = truth.get("now", truth)
        base = folder / "now" if "now" in truth else folder
        pages = [
            Page(
                f"https://{folder.name}.example/{_address(facts[name]['path'])}",
                (base / name).read_bytes(),
                name,
            )
            for name in sorted(facts)
        ]
        yield WholeSite(folder.name, family, pages, facts)


def _address(path: str) -> str:
    return path.removesuffix("index.html")
