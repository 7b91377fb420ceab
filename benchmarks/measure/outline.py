"""What a model is shown of a page: tokens, and the share of true values whose node is in the view.

python -m benchmarks.measure.outline                     SWDE, and today's recipe sites
python -m benchmarks.measure.outline --every 20          a quick look
python -m benchmarks.measure.outline -v                  list what is not in the view

A case is an attribute of a page whose values are all in nodes of the page or in its embedded data. A value's places
are the nodes, or runs of nodes, with its letters and digits; if there are none, those that contain it. A case is in
the view if each of its values has a place there whose nodes are all numbered. Which of several places is the true
one is not known, so a second figure counts only cases of which every place is in the view. The site's own words are
found on the pages that a labeler would see: at most 20 of a site.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import recipes
from benchmarks.data.labeled_site import key
from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site
from untemplate import Page
from untemplate.page.outline import Outline, find_site_words, outline_page

OTHER_PAGES = 20
"""Pages of a site on which its own words are found."""

TO_REACH = "to reach: median of 3,000 tokens, 99 % of the values"


class PlaceFinder:
    """Finds the nodes of a page whose letters and digits are a value."""

    def __init__(self, outline: Outline) -> None:
        self.starts: list[int] = []  # where the text of each piece begins
        self.numbers: list[int] = []  # the node of each piece
        pieces: list[str] = []
        length = 0
        for node in outline.nodes.values():
            for text in node.texts:
                self.starts.append(length)
                self.numbers.append(node.number)
                pieces.append(key(text) + ("\0" if node.is_data else ""))
                length += len(pieces[-1])
        self.text = "".join(pieces)

    def places(self, value: str) -> list[set[int]]:
        """Return the numbers of the nodes at each place of a value; only complete nodes if there are any."""
        wanted = key(value)
        found = (
            [match.span() for match in re.finditer(f"(?={re.escape(wanted)})", self.text)] if wanted else []
        )
        spans = [(start, start + len(wanted)) for start, _ in found]
        edges = {*self.starts, len(self.text)}
        complete = [span for span in spans if span[0] in edges and self._is_edge(span[1], edges)]
        return [self._numbers_in(*span) for span in complete or spans]

    def _is_edge(self, end: int, edges: set[int]) -> bool:
        return end in edges or self.text[end : end + 1] == "\0"

    def _numbers_in(self, start: int, end: int) -> set[int]:
        first, last = bisect_right(self.starts, start) - 1, bisect_left(self.starts, end)
        return set(self.numbers[first:last])


@dataclass
class Tally:
    """The tokens of each page, the number of cases, those that are not in the view, and those with a hidden place."""

    tokens: list[int] = field(default_factory=list)
    cases: int = 0
    missing: list[str] = field(default_factory=list)
    partly: int = 0

    def add(self, page: Page, outline: Outline, truth: Mapping[str, Sequence[str]]) -> None:
        """Count the values of a page."""
        self.tokens.append(outline.tokens)
        finder = PlaceFinder(outline_page(page, budget=sys.maxsize, span=range(sys.maxsize)))
        for name, values in truth.items():
            places = {value: finder.places(value) for value in values}
            if not values or not all(places.values()):
                continue
            self.cases += 1
            lost = [value for value in values if not any(map(outline.nodes.keys().__ge__, places[value]))]
            if lost:
                self.missing.append(f"{page.id} {name}: {lost[0][:80]}")
            self.partly += not all(place <= outline.nodes.keys() for place in chain(*places.values()))


def measure_site(
    pages: Sequence[Page], truth: Mapping[str, Mapping[str, Sequence[str]]], tally: Tally
) -> None:
    """Add the pages of a site that have a truth."""
    step = max(1, len(pages) // OTHER_PAGES)
    site_words = find_site_words(pages[::step][:OTHER_PAGES])
    for page in pages:
        if page.id in truth:
            with page.temporarily_parsed():
                tally.add(page, outline_page(page, site_words), truth[page.id])


def measure_swde(sites: Iterable[Site], console: Console) -> Iterator[tuple[str, Tally]]:
    """Yield the tally of each vertical."""
    tallies: dict[str, Tally] = {}
    for site in track(list(sites), "SWDE", console=console, transient=True):
        truth = site.truth()
        measure_site(site.pages(), truth, tallies.setdefault(f"SWDE {site.vertical}", Tally()))
    yield from tallies.items()


def measure_recipes(console: Console, every: int) -> Iterator[tuple[str, Tally]]:
    """Yield the tally of today's recipe sites."""
    tally = Tally()
    for name in track(recipes.site_names()[::every], "recipes", console=console, transient=True):
        if site := recipes.read_site(name):
            measure_site(site.pages, site.truth, tally)
    yield "recipes", tally


def show(console: Console, tallies: Sequence[tuple[str, Tally]], verbose: bool) -> None:
    """Print a row for each set of pages."""
    table = Table(
        "pages of",
        "pages",
        "tokens, median",
        "90 %",
        "most",
        "values",
        "in the view",
        "all places",
        title=TO_REACH,
    )
    for name, tally in tallies:
        tokens = sorted(tally.tokens)
        share = 1 - len(tally.missing) / max(tally.cases, 1)
        table.add_row(
            *(name, f"{len(tokens):,}", f"{median(tokens):,.0f}", f"{tokens[len(tokens) * 9 // 10]:,}"),
            *(
                f"{tokens[-1]:,}",
                f"{tally.cases:,}",
                f"{share:.2%}",
                f"{1 - tally.partly / max(tally.cases, 1):.2%}",
            ),
        )
    console.print(table)
    if verbose:
        for name, tally in tallies:
            console.print(*(f"{name}: {miss}" for miss in tally.missing), sep="\n", markup=False)


def main(arguments: Sequence[str]) -> int:
    parser = site_parser("outline", __doc__)
    parser.add_argument("--set", choices=("swde", "recipes"), nargs="+", default=["swde", "recipes"])
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is not in the view")
    options = parser.parse_args(arguments)
    console, sites = open_sites(options)
    tallies: list[tuple[str, Tally]] = []
    if "swde" in options.set:
        tallies += measure_swde(sites, console)
    if "recipes" in options.set:
        tallies += measure_recipes(console, options.every)
    show(console, tallies, options.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
