"""How well the cells of records are found on list pages: nothing is chosen on the site that is scored.

python -m benchmarks.measure.cells              means over pages, five folds over sites
python -m benchmarks.measure.cells --rendered   the same if the page's style sheets are known: what a browser showed
python -m benchmarks.measure.cells --choose     prints the weights of seams that are shipped, chosen on all sites
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import minimize

from benchmarks.data.list_pages import Sheet, hits, sheets
from benchmarks.data.rendered import RenderedLayout
from benchmarks.data.swde import Score
from benchmarks.measure.lists import score_rows
from benchmarks.train.list_choice import choose, folds
from untemplate.labeling.list_labels import LetterIndex
from untemplate.layout import EstimatedLayout
from untemplate.lists import Row
from untemplate.lists.cells import SEAM_FEATURES, find_seams
from untemplate.lists.groups import drop_hidden_members
from untemplate.lists.list_table import ListTable, build_table
from untemplate.page.arrays import Doubles
from untemplate.page.locating import letters_and_digits

# Of the weights: the strength of the prior. Of 0.3, 3 and 30 the best, five folds over sites.
PRIOR = 3.0


@dataclass(frozen=True)
class Evidence:
    """Of each kind of seam: its features, and the share of records where it joins texts of a cell or parts cells."""

    features: Doubles
    joins: Doubles
    parts: Doubles


def evidence(sheet: Sheet) -> Evidence:
    """What the true cells of a page say about the seams of its best group."""
    tree, group = sheet.found.tree, sheet.found.groups[int(sheet.f1.argmax())]
    seams = find_seams(sheet.found.profile, group.runs)
    numbers = {(one, other): number for number, (one, other) in enumerate(seams.texts.tolist())}
    verdict = np.full(len(seams.kind), -1)
    texts = list(map(letters_and_digits, tree.texts))
    inside = [
        [row for top in run for row in range(top, int(tree.end[top])) if texts[row]] for run in group.runs
    ]
    for number, true in hits(["".join(texts[row] for row in rows) for rows in inside], sheet.records).items():
        rows = inside[number]
        index = LetterIndex([texts[row] for row in rows])
        for cell in sorted(set(sheet.records[true]), key=len, reverse=True):
            span = index.find_complete(cell)
            if span is None:
                continue
            for left in range(max(span.start - 1, 0), min(span.stop, len(rows) - 1)):
                seam = numbers.get((rows[left], rows[left + 1]))
                if seam is not None:
                    is_within = span.start <= left < span.stop - 1
                    verdict[seam] = is_within and verdict[seam] != 0
    kinds = len(seams.features)
    joins, parts = (np.bincount(seams.kind, verdict == value, kinds) / len(group) for value in (1, 0))
    return Evidence(seams.features, np.minimum(joins, 1), np.minimum(parts, 1))


def choose_joins(known: Iterable[Evidence]) -> Doubles:
    """The weights of a logistic regression that tells seams that join from those that part."""
    pages = list(known)
    features = np.concatenate([page.features for page in pages])
    joins, parts = (np.concatenate([getattr(page, name) for page in pages]) for name in ("joins", "parts"))
    scale = np.where(features.std(axis=0) > 0, features.std(axis=0), 1.0)
    normal = features / scale

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        margins = normal @ weights
        likely = 1 / (1 + np.exp(-margins))
        total = (
            joins @ np.logaddexp(0, -margins)
            + parts @ np.logaddexp(0, margins)
            + PRIOR * weights @ weights / 2
        )
        return float(total), normal.T @ (parts * likely - joins * (1 - likely)) + PRIOR * weights

    weights: Doubles = minimize(loss, np.zeros(len(SEAM_FEATURES)), jac=True, method="L-BFGS-B").x
    return weights / scale


def reachable(sheet: Sheet) -> float:
    """The share of a page's true cells that are the letters of whole texts on it, side by side."""
    texts = list(filter(None, map(letters_and_digits, sheet.found.tree.texts)))
    index = LetterIndex(texts)
    cells = {cell for record in sheet.records for cell in record}
    return sum(index.find_complete(cell) is not None for cell in cells) / len(cells)


def excuse(rows: Sequence[Row], sheet: Sheet) -> Score:
    """Cells of right rows, were each true one that is nowhere on the page, as it is written, one of ours too many."""
    hit = got = want = 0
    for number, true in hits([letters_and_digits(row.text) for row in rows], sheet.records).items():
        own = {text for cell in rows[number].cells if cell and (text := letters_and_digits(cell))}
        known = set(sheet.records[true])
        excused = min(sheet.otherwise[true], len(own - known))
        hit += len(own & known) + excused
        got += len(own)
        want += len(known) + excused
    return Score(hit, got, want)


def table_with(sheet: Sheet, weights: Doubles, joins: Doubles) -> ListTable:
    """The cells of the rows that are found with these weights of groups and of seams."""
    group = drop_hidden_members(sheet.found.profile, sheet.best_group(weights))
    return build_table(sheet.found.profile, group, joins)


def rows_with(sheet: Sheet, weights: Doubles, joins: Doubles) -> list[Row]:
    """The rows that are found with these weights of groups and of seams."""
    texts = table_with(sheet, weights, joins).texts
    return [replace(row, cells=cells) for row, cells in zip(sheet.rows(weights), texts, strict=True)]


def measure(console: Console, every: list[Sheet]) -> None:
    known = {sheet.page.id: evidence(sheet) for sheet in every}
    scores, cells_of_folds = [], []
    for training, test in folds(every):
        weights = choose(training)
        joins = choose_joins(known[sheet.page.id] for sheet in training)
        of_fold = []
        for sheet in test:
            rows = rows_with(sheet, weights, joins)
            of_fold.append((*score_rows(rows, sheet.records), excuse(rows, sheet)))
        cells_of_folds.append(np.mean([score[1].f1 for score in of_fold]))
        scores += of_fold
    table = Table(
        "record F1",
        "cell F1",
        "of each fold",
        "cell F1 in right rows",
        "those written otherwise excused",
        "true cells that are whole texts",
    )
    record, cell, right, excused = (
        f"{np.mean([score[kind].f1 for score in scores]):.3f}" for kind in range(4)
    )
    of_folds = " ".join(f"{mean:.3f}" for mean in cells_of_folds)
    whole = np.mean([reachable(sheet) for sheet in every])
    table.add_row(record, cell, of_folds, right, excused, f"{whole:.3f}")
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--choose", action="store_true", help="choose the weights anew")
    parser.add_argument("--rendered", action="store_true", help="show what a browser showed")
    options = parser.parse_args()
    console = Console(width=160)
    layout = RenderedLayout() if options.rendered else EstimatedLayout()
    every: list[Sheet] = []
    for found in track(sheets(), console=Console(stderr=True), description="Lists"):
        sheet = replace(found, layout=layout)
        assert len(sheet.f1) == len(sheet.found.groups)
        every.append(sheet)
    if options.choose:
        for name, weight in zip(SEAM_FEATURES, choose_joins(map(evidence, every)), strict=True):
            console.print(f'    "{name}": {weight:.3f},')
    else:
        measure(console, every)


if __name__ == "__main__":
    main()
