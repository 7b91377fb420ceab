"""How well records are found on list pages of sites that nobody knows: `lists`, `courts`, `shops` and `blogs`.

python -m benchmarks.measure.lists                   weights from other sites than the one that is scored, five folds
python -m benchmarks.measure.lists --worst           the same, and the pages where another group would be better
python -m benchmarks.measure.lists --site etsy.com   with the weights that are shipped, row by row what went wrong
python -m benchmarks.measure.lists --time            how long it takes, by the blocks of the vision tree
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.list_pages import Sheet, court_sheets, hits, post_sheets, sheets, shop_sheets
from benchmarks.data.swde import Score
from benchmarks.train.list_choice import FOLDS, choose, folds
from benchmarks.train.page_types import TypedPage, fit_trees, typed_pages, typed_sheet
from untemplate import Page, find_records, list_model
from untemplate.lists import Row
from untemplate.lists.group_scores import score_groups, shipped_group_weights
from untemplate.lists.list_page import MIN_LIST_CONFIDENCE, choose_list
from untemplate.lists.vision_tree import build_vision_tree
from untemplate.page.locating import letters_and_digits

SETS: dict[str, Callable[[], Iterator[Sheet]]] = {
    "lists": sheets,
    "courts": court_sheets,
    "shops": shop_sheets,
    "blogs": post_sheets,
}


def score_rows(rows: Sequence[Row], records: Sequence[Sequence[str]]) -> tuple[Score, Score, Score]:
    """Records; (row, text) pairs of all rows; those of the rows that are right."""
    right = hits([letters_and_digits(row.text) for row in rows], records)
    got = [
        {letters_and_digits(cell) for cell in row.cells if cell and letters_and_digits(cell)} for row in rows
    ]
    want = [set(cells) for cells in records]
    common = sum(len(got[number] & want[true]) for number, true in right.items())
    return (
        Score(len(right), len(rows), len(records)),
        Score(common, sum(map(len, got)), sum(map(len, want))),
        Score(
            common, sum(len(got[number]) for number in right), sum(len(want[true]) for true in right.values())
        ),
    )


@dataclass
class Tally:
    """The scores of a set's pages.

    `literal` is the score of the data's README, and `perfect` that of the true records by it. The others count no
    record beside a larger one that contains its cells, so the true records have 1: as chosen, were no page held to
    have no records, and of the best group.
    """

    literal: list[float] = field(default_factory=list)
    perfect: list[float] = field(default_factory=list)
    kept: list[float] = field(default_factory=list)
    chosen: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)
    sites: list[str] = field(default_factory=list)
    rejected: int = 0

    def add(self, sheet: Sheet, number: int, is_list: bool) -> None:
        chosen = float(sheet.f1[number]) if number >= 0 else 0.0
        self.literal.append(sheet.literal_f1(number) if is_list else 0.0)
        self.perfect.append(sheet.literal_perfect)
        self.kept.append(chosen if is_list else 0.0)
        self.chosen.append(chosen)
        self.best.append(float(sheet.f1.max(initial=0)))
        self.sites.append(sheet.site)
        self.rejected += not is_list

    def row(self) -> list[str]:
        figures = [
            *self._means(self.literal),
            *self._means(self.perfect),
            *self._means(self.kept),
            np.mean(self.chosen),
            np.mean(self.best),
        ]
        return [str(len(self.kept)), *(f"{figure:.3f}" for figure in figures), str(self.rejected)]

    def _means(self, scores: Sequence[float]) -> tuple[float, float]:
        """The mean over pages, and over sites."""
        sites = np.array(self.sites)
        by_site = [np.mean(np.array(scores)[sites == site]) for site in set(self.sites)]
        return float(np.mean(scores)), float(np.mean(by_site))


def measure(
    console: Console, every: dict[str, list[Sheet]], others: Sequence[TypedPage], verbose: bool
) -> None:
    """Mean F1 of each set with weights and trees of other sites, and the other pages that yield rows."""
    set_of = {id(sheet): name for name, pages in every.items() for sheet in pages}
    other_sites = sorted({page.site for page in others})
    tallies = {name: Tally() for name in every}
    yielding: Counter[str] = Counter()
    for fold, (training, test) in enumerate(folds([sheet for pages in every.values() for sheet in pages])):
        held_out = {*other_sites[fold::FOLDS], *(sheet.site for sheet in test)}
        known = [sheet for sheet in training if sheet.site not in held_out]
        judge = _ListJudge(known, [page for page in others if page.site not in held_out])
        for sheet in test:
            number, is_list = judge.decide(typed_sheet(sheet))
            f1 = float(sheet.f1[number]) if number >= 0 else 0.0
            tallies[set_of[id(sheet)]].add(sheet, number, is_list)
            if verbose and (f1 < sheet.f1.max(initial=0) - 0.02 or not is_list):
                console.print(
                    f"{sheet.page.id}: {f1:.3f}, best {sheet.f1.max(initial=0):.3f}, list {is_list}"
                )
        tested = [page for page in others if page.site in set(other_sites[fold::FOLDS])]
        yielding.update(page.kind for page in tested if judge.decide(page)[1])
    _print_tallies(console, tallies)
    table = Table("other pages", "pages", "with rows")
    for kind, count in sorted(Counter(page.kind for page in others).items()):
        table.add_row(kind, str(count), str(yielding[kind]))
    console.print(table)


class _ListJudge:
    """Weights that choose the list of a page, and trees that decide whether it is one."""

    def __init__(self, training: Sequence[Sheet], others: Sequence[TypedPage]) -> None:
        self._weights = choose(training)
        known = [typed_sheet(sheet) for sheet in training if len(sheet.found.groups)]
        self._trees = fit_trees([*known, *others], self._weights)

    def decide(self, page: TypedPage) -> tuple[int, bool]:
        """Return the number of the chosen group, -1 for none, and whether it is likely enough."""
        found = page.page
        scores = score_groups(found.features, self._weights)
        order = np.argsort(-scores, kind="stable").tolist()
        number, confidence = choose_list(order, lambda group: found.confidence(group, scores, self._trees))
        return number, confidence >= MIN_LIST_CONFIDENCE


def _print_tallies(console: Console, tallies: dict[str, Tally]) -> None:
    columns = (
        "pages",
        "literal F1",
        "mean over sites",
        "perfect answer, literal",
        "mean over sites",
        "record F1",
        "mean over sites",
        "without the gate",
        "best group",
        "pages without rows",
    )
    table = Table("set", *columns)
    for name, tally in tallies.items():
        table.add_row(name, *tally.row())
    console.print(table)


def show_site(console: Console, every: Iterable[Sheet]) -> None:
    """Page by page what is found with the weights that are shipped, and what is wrong."""
    for sheet in every:
        rows = sheet.rows(shipped_group_weights())
        records, cells, right = score_rows(rows, sheet.records)
        console.print(
            f"{sheet.page.id}: {records.hits} right of {records.extracted} rows and {records.true} records, "
            f"F1 {records.f1:.3f}, best group {sheet.f1.max(initial=0):.3f}, "
            f"cells {cells.f1:.3f}, in right rows {right.f1:.3f}"
        )
        pairs = hits([letters_and_digits(row.text) for row in rows], sheet.records)
        for number, row in enumerate(rows):
            got = {letters_and_digits(cell) for cell in row.cells if cell} - {""}
            want = set(sheet.records[pairs[number]]) if number in pairs else None
            if want is None:
                console.print(f"  wrong: {row.xpath} {row.text[:80]}", markup=False)
            elif got != want:
                console.print(
                    f"  cells: missing {sorted(want - got)}, too many {sorted(got - want)}", markup=False
                )


def measure_time(console: Console, every: Iterable[Sheet]) -> None:
    """CPU time of find_records on pages of some 1,000 blocks, parsing and layout included; the better of two.

    Only the HTML is kept: what other pages leave in memory would slow down Python's collection of garbage.
    """
    counted = [(sheet.page.html, len(build_vision_tree(sheet.found.profile))) for sheet in every]
    chosen = [(html, count) for html, count in counted if 700 <= count <= 1400]
    blocks_each = np.array([count for _, count in chosen])
    console.print(f"{len(chosen)} pages of 700 to 1,400 blocks, medians of CPU time:")
    for name, model in (("without a model", None), ("with the model", list_model())):
        spent: list[float] = []
        for html, _ in chosen:
            tries = []
            for _ in range(2):
                started = process_time()
                find_records(Page(html=html), model=model)
                tries.append(1000 * (process_time() - started))
            spent.append(min(tries))
        rate = np.median(1000 * np.array(spent) / blocks_each)
        console.print(f"{name} {np.median(spent):.0f} ms a page, {rate:.0f} ms for 1,000 blocks")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", action="append", default=[], help="only these sites, with every error")
    parser.add_argument("--worst", action="store_true", help="also print the pages that lose")
    parser.add_argument("--time", action="store_true", help="only how long it takes")
    options = parser.parse_args()
    console, progress = Console(width=200), Console(stderr=True)
    if options.time or options.site:
        pages = track(sheets(options.site), console=progress, description="Lists")
        (measure_time if options.time else show_site)(console, pages)
        return
    every = {
        name: list(track(read(), console=progress, description=name.title())) for name, read in SETS.items()
    }
    others = list(track(typed_pages(), console=progress, description="Other pages"))
    measure(console, every, others, options.worst)


if __name__ == "__main__":
    main()
