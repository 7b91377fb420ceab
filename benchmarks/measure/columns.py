"""How well the columns of lists get the names of a schema: made-up sites, the labeled records of some teach others.

python -m benchmarks.measure.columns              one, three and six sites, one list page of each labeled
python -m benchmarks.measure.columns --labeled 3 only the first three records of each
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean
from time import process_time

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import Score
from untemplate import Knowledge, Label, Page, find_records, train
from untemplate.demo import VERTICALS, Site, make_site

TAUGHT = (1, 3, 6)
# Sites to be named, by their seeds; those that teach come before.
TESTED = range(20, 40)
# Pages of a site: two of them are lists.
PAGES = 16


@dataclass(frozen=True)
class List:
    """The first list page of a site with its true rows."""

    site: Site
    page: Page

    @classmethod
    def make(cls, vertical: str, seed: int) -> List:
        site = make_site(vertical, seed, PAGES)
        return cls(site, next(page for page in site.pages if page.id in site.rows))

    @property
    def rows(self) -> list[dict[str, str]]:
        return self.site.rows[self.page.id]

    def labels(self, count: int | None) -> list[Label]:
        """Those of the first records."""
        return [
            Label(self.page.id, name, value, record=str(number))
            for number, row in enumerate(self.rows[:count])
            for name, value in row.items()
        ]


def score(knowledge: Knowledge, lists: Sequence[List]) -> tuple[Score, Score]:
    """Values by name of all rows; and what they would be if all cells had their right name."""
    named, possible = Score(), Score()
    for one in lists:
        found = find_records(one.page, model=knowledge.list_model)
        named.extracted += sum(len(row.values) for row in found)
        for true in one.rows:
            head = next(iter(true.values()))
            row = next((row for row in found if head in row.cells), None)
            cells = row.cells if row else []
            named.true += len(true)
            possible.true += len(true)
            named.hits += sum(row is not None and row.values.get(name) == text for name, text in true.items())
            possible.hits += sum(text in cells for text in true.values())
    possible.extracted = possible.hits
    return named, possible


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vertical", nargs="+", default=VERTICALS, choices=VERTICALS)
    parser.add_argument("--labeled", type=int, metavar="N", help="records that are labeled, not all")
    options = parser.parse_args()
    table = Table(
        "sites", "vertical", "precision", "recall", "F1", "recall if all cells had names", "CPU s to train"
    )
    means: dict[int, list[float]] = {}
    for vertical in track(options.vertical, console=Console(stderr=True), description="Columns"):
        tested = [List.make(vertical, seed) for seed in TESTED]
        for count in TAUGHT:
            teachers = [List.make(vertical, seed) for seed in range(1, count + 1)]
            seeds = [([one.page], one.labels(options.labeled)) for one in teachers]
            started = process_time()
            knowledge = train(seeds, teachers[0].site.schema, "hcrf")
            spent = process_time() - started
            named, possible = score(knowledge, tested)
            means.setdefault(count, []).append(named.f1)
            figures = (named.precision, named.recall, named.f1, possible.recall)
            table.add_row(str(count), vertical, *(f"{figure:.3f}" for figure in figures), f"{spent:.1f}")
    console = Console(width=120)
    console.print(table)
    for count, own in means.items():
        console.print(f"{count} sites: F1 {mean(own):.3f}")


if __name__ == "__main__":
    main()
