"""Why cells of list pages are lost: each one too many or too few, by its cause.

python -m benchmarks.measure.cell_losses    number and points of cell F1 of each cause, and what perfect answers gain

On a page, 1 - F1 is the number of our cells that are wrong and of true ones that are missing, divided by the number
of all of ours and all true ones. So the points of the causes add up. Weights come from other sites, as in `cells`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.list_pages import Sheet, hits, sheets
from benchmarks.data.rendered import RenderedLayout
from benchmarks.data.swde import Score
from benchmarks.measure.cells import choose_joins, evidence, rows_with, table_with
from benchmarks.train.list_choice import choose, folds
from untemplate.labeling.list_labels import LetterIndex
from untemplate.lists.cells import Line
from untemplate.page.arrays import Bools, Doubles
from untemplate.page.locating import letters_and_digits

WRONG_ROW = "rows that are wrong, and true records that are missing"
HIDDEN = "ours is hidden in a browser"
MERGED = "ours joins texts that the truth parts"
SPLIT = "ours is a part of a true cell"
PART_OF_TEXT = "the true cell is a part of one text"
OTHERWISE = "ours is in no true cell, but one of the record's is written otherwise"
SURPLUS = "ours is in no true cell"
OTHER = "other true cells"

# What a perfect answer to a question would repair.
QUESTIONS = {
    "what is hidden": (HIDDEN,),
    "which texts are one cell": (MERGED, SPLIT),
    "which columns people keep": (HIDDEN, OTHERWISE, SURPLUS),
    "all of these": (HIDDEN, MERGED, SPLIT, OTHERWISE, SURPLUS),
}


@dataclass
class Losses:
    """The cells of a page: how many we have, how many are true, and how many of either are lost for which cause."""

    ours: int
    true: int
    extra: Counter[str]
    missing: Counter[str]

    def points(self, cause: str) -> float:
        return 100 * (self.extra[cause] + self.missing[cause]) / max(self.ours + self.true, 1)

    def f1(self, repaired: Iterable[str] = ()) -> float:
        """The score if these causes did not exist: true cells are found, and extra ones are not there."""
        causes = set(repaired)
        found = sum(self.missing[cause] for cause in causes)
        gone = sum(self.extra[cause] for cause in causes)
        hit = self.true - sum(self.missing.values()) + found
        return Score(hit, self.ours - gone + found, self.true).f1


class _RecordCells:
    """The cells of a right row beside those of its true record."""

    def __init__(self, sheet: Sheet, hidden: Bools, lines: Iterable[Line | None], true: int) -> None:
        self._tree, self._hidden = sheet.found.tree, hidden
        self._otherwise = sheet.otherwise[true]
        #: the letters of each of our cells, and the rows of its texts
        self.rows: dict[str, list[int]] = {}
        for line in filter(None, lines):
            rows = [row for row in self._tree.rows_inside(line) if letters_and_digits(self._tree.texts[row])]
            self.rows.setdefault(self._letters(rows), rows)
        self.rows.pop("", None)
        self.missing = set(sheet.records[true]) - set(self.rows)
        self.extra = [letters for letters in self.rows if letters not in sheet.records[true]]

    def _letters(self, rows: Iterable[int]) -> str:
        return "".join(letters_and_digits(self._tree.texts[row]) for row in rows)

    def causes_of_extra(self) -> Iterator[str]:
        """Yield why each of our cells is wrong."""
        otherwise = self._otherwise
        for letters in self.extra:
            cause = self._cause_of_extra(letters)
            if cause == SURPLUS and otherwise:
                otherwise -= 1
                cause = OTHERWISE
            yield cause

    def _cause_of_extra(self, letters: str) -> str:
        if self._hidden[self.rows[letters]].all():
            return HIDDEN
        inside = [cell for cell in self.missing if cell in letters]
        if any(self._is_whole(cell, letters) for cell in inside):
            return MERGED
        if inside:
            return PART_OF_TEXT
        return SPLIT if any(letters in cell for cell in self.missing) else SURPLUS

    def _is_whole(self, cell: str, letters: str) -> bool:
        index = LetterIndex([letters_and_digits(self._tree.texts[row]) for row in self.rows[letters]])
        return index.find_complete(cell) is not None

    def causes_of_missing(self) -> Iterator[str]:
        """Yield why each true cell is missing."""
        for cell in self.missing:
            around = [letters for letters in self.extra if cell in letters]
            if any(self._is_whole(cell, letters) for letters in around):
                yield MERGED
            elif around:
                yield PART_OF_TEXT
            else:
                yield SPLIT if any(letters in cell for letters in self.extra) else OTHER


def page_losses(sheet: Sheet, weights: Doubles, joins: Doubles) -> Losses:
    """Return what is lost on a page with these weights of groups and of seams."""
    rows, table = rows_with(sheet, weights, joins), table_with(sheet, weights, joins)
    boxes = RenderedLayout().boxes([sheet.page])[0]
    hidden = ~boxes.visible[[boxes.numbers[element] for element in sheet.found.tree.elements]]
    ours = [{letters for cell in row.cells if cell and (letters := letters_and_digits(cell))} for row in rows]
    true = [set(cells) for cells in sheet.records]
    right = hits([letters_and_digits(row.text) for row in rows], sheet.records)
    found = set(right.values())
    extra = Counter({WRONG_ROW: sum(len(cells) for number, cells in enumerate(ours) if number not in right)})
    missing = Counter(
        {WRONG_ROW: sum(len(cells) for number, cells in enumerate(true) if number not in found)}
    )
    for number, record in right.items():
        cells = _RecordCells(sheet, hidden, table.lines[number], record)
        extra.update(cells.causes_of_extra())
        missing.update(cells.causes_of_missing())
    return Losses(sum(map(len, ours)), sum(map(len, true)), extra, missing)


def measure(console: Console, every: list[Sheet]) -> None:
    known = {sheet.page.id: evidence(sheet) for sheet in every}
    pages = []
    for training, test in folds(every):
        weights, joins = choose(training), choose_joins(known[sheet.page.id] for sheet in training)
        pages += [page_losses(sheet, weights, joins) for sheet in test]
    table = Table("cause", "ours too many", "true ones missing", "points of cell F1")
    for cause in (WRONG_ROW, HIDDEN, MERGED, SPLIT, PART_OF_TEXT, OTHERWISE, SURPLUS, OTHER):
        extra, missing = (sum(counts[cause] for counts in kind) for kind in zip(*_counts(pages), strict=True))
        table.add_row(
            cause, str(extra), str(missing), f"{np.mean([page.points(cause) for page in pages]):.2f}"
        )
    console.print(table)
    bounds = Table("if we knew", "cell F1")
    bounds.add_row("nothing more", f"{np.mean([page.f1() for page in pages]):.3f}")
    for question, causes in QUESTIONS.items():
        bounds.add_row(question, f"{np.mean([page.f1(causes) for page in pages]):.3f}")
    console.print(bounds)


def _counts(pages: Iterable[Losses]) -> Iterator[tuple[Counter[str], Counter[str]]]:
    return ((page.extra, page.missing) for page in pages)


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    every = list(track(sheets(), console=Console(stderr=True), description="Lists"))
    measure(Console(width=160), every)


if __name__ == "__main__":
    main()
