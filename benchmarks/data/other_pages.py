"""Pages of which we know only whether they list records: `swde`, `recipes`, `blogs`, `shops` and made-up sites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.data.recipes import site_names
from benchmarks.data.swde import VERTICALS, chosen_sites, unpacked
from benchmarks.data.whole_sites import SETS, whole_sites
from untemplate import Page
from untemplate.demo import VERTICALS as MADE_UP_VERTICALS
from untemplate.demo import make_site

__all__ = ["OtherPage", "other_pages"]

# Pages of each site of SWDE, and of each kind of a whole site.
SWDE_PAGES = 3
PAGES_OF_A_KIND = 4
# Made-up sites of each vertical, their numbers and their pages. Tests use other numbers.
MADE_UP_SITES, FIRST_MADE_UP, MADE_UP_PAGES = 4, 700, 40
# Of `blogs`, what lists show is known: `post_sheets`.
_LISTS = frozenset({"posts"})
_DETAILS = frozenset({"product", "post"})


@dataclass(frozen=True)
class OtherPage:
    """A page without known records.

    Attributes:
        kind: the data set, and the kind of page where a set has several.
        site: its site.
        page: the page.
        is_list: True if it lists records.
    """

    kind: str
    site: str
    page: Page
    is_list: bool


def other_pages() -> Iterator[OtherPage]:
    """Yield three pages of each site of `swde`, one of each of `recipes`, and some of each kind of the others."""
    for site in chosen_sites(VERTICALS, ()):
        files = site.files()
        for path in files[:: len(files) // SWDE_PAGES + 1]:
            page = Page(html=path.read_bytes(), id=f"{site.name}/{path.name}")
            yield OtherPage("swde", site.name, page, is_list=False)
    for name in site_names():
        path = min((unpacked("recipes") / name).glob("*.html"))
        page = Page(html=path.read_bytes(), id=f"{name}/{path.name}")
        yield OtherPage("recipes", name, page, is_list=False)
    for family in SETS:
        yield from _pages_of_whole_sites(family)
    for vertical in MADE_UP_VERTICALS:
        for number in range(MADE_UP_SITES):
            yield from _made_up_pages(vertical, FIRST_MADE_UP + number)


def _made_up_pages(vertical: str, seed: int) -> Iterator[OtherPage]:
    site = make_site(vertical, seed, MADE_UP_PAGES)
    lists = [page for page in site.pages if page.id in site.rows]
    details = [page for page in site.pages if page.id in site.truth]
    for page in lists[:PAGES_OF_A_KIND]:
        yield OtherPage("made up: list", f"{vertical}-{seed}", page, is_list=True)
    for page in details[:PAGES_OF_A_KIND]:
        yield OtherPage("made up: detail", f"{vertical}-{seed}", page, is_list=False)


def _pages_of_whole_sites(family: str) -> Iterator[OtherPage]:
    for site in whole_sites(family):
        counts: Counter[str] = Counter()
        for page in site.pages:
            kind = str(site.facts[page.id]["kind"])
            counts[kind] += 1
            if kind in _LISTS | _DETAILS and counts[kind] <= PAGES_OF_A_KIND:
                yield OtherPage(f"{family}: {kind}", site.name, page, kind in _LISTS)
