"""How well records are found on list pages: 74 sites, 3 pages each, none of them known.

python -m benchmarks.measure.lists                 weights from other sites than the one that is scored, five folds
python -m benchmarks.measure.lists --site etsy.com   with the weights that are shipped, row by row what went wrong
python -m benchmarks.measure.lists --choose          prints the weights that are shipped, chosen on all sites
python -m benchmarks.measure.lists --time            how long it takes, by the blocks of the vision tree
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from time import process_time

import numpy as np
import numpy.typing as npt
from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.optimize import minimize

from benchmarks.data.swde import Score, unpacked
from untemplate import Page, find_records, list_model
from untemplate.layout import EstimatedLayout
from untemplate.lists import Row
from untemplate.lists.group_scores import GROUP_FEATURES, score_groups, shipped_group_weights
from untemplate.lists.groups import Group, drop_hidden_members
from untemplate.lists.list_page import MIN_LIST_CONFIDENCE, ListPage
from untemplate.lists.vision_tree import build_vision_tree
from untemplate.page import element_xpath, visible_text
from untemplate.page.locating import letters_and_digits

Floats = npt.NDArray[np.float64]
FOLDS = 5
# Of the weights: the strength of the prior, and how sharply a better group is preferred to a good one. Of 2, 5, 10,
# 20 and of 5, 10, 20, 40 the best, four ways to part the sites into five folds.
PRIOR = 5.0
SHARPNESS = 10.0
# The strength of the prior of doubt. Of 1, 3, 5, 10, 30 and 100 the best likelihood, five folds over sites.
DOUBT_PRIOR = 10.0
# Features that depend on how many records a page has: whether it has any must not. And what all chosen groups are.
NOT_ASKED = {
    "shown",
    "number",
    "two",
    "variety",
    "gaps",
    "columns",
    "top",
    "area",
    "consistent",
    "uneven",
    "parents",
    "left_out",
    "left_any",
}


@dataclass(frozen=True)
class Sheet:
    """A list page with its true records: of each the letters of its cells, those left out that are nowhere on it."""

    site: str
    page: Page
    records: list[list[str]]
    #: the records as they are given, cell by cell
    given: list[list[str]]
    #: of each record how many of its cells are left out
    otherwise: list[int]

    @cached_property
    def found(self) -> ListPage:
        return ListPage(self.page, EstimatedLayout())

    @cached_property
    def f1(self) -> Floats:
        """The score of each group of the page, were it chosen."""
        texts = list(map(letters_and_digits, self.found.tree.texts))
        return np.array([self._score(group, texts).f1 for group in self.found.groups])

    @cached_property
    def emptied(self) -> Floats:
        """The features of the groups of the page as it would be if there were nothing to list."""
        runs = self.found.groups[int(self.f1.argmax())].runs
        elements = [element for run in runs for element in self.found.tree.elements_of(run)]
        page = Page(html=self.page.html)
        paths = list(map(element_xpath, elements))
        for element in [page.tree.xpath(path)[0] for path in paths]:
            element.getparent().remove(element)
        html = etree.tostring(page.tree, method="html", encoding="utf-8")
        return ListPage(Page(html=html), EstimatedLayout()).features

    def chosen(self, weights: Floats) -> Floats:
        """The features of the group that is chosen with these weights."""
        own: Floats = self.found.features[int(np.argmax(score_groups(self.found.features, weights)))]
        return own

    def rows(self, weights: Floats) -> list[Row]:
        """What is found with these weights."""
        return self.found.rows(self.best_group(weights), 1.0)

    def best_group(self, weights: Floats) -> Group:
        """The group that is chosen with these weights."""
        return self.found.groups[int(np.argmax(score_groups(self.found.features, weights)))]

    def _score(self, group: Group, texts: Sequence[str]) -> Score:
        end = self.found.tree.end
        runs = drop_hidden_members(self.found.profile, group).runs
        found = ["".join("".join(texts[row : end[row]]) for row in run) for run in runs]
        return Score(len(hits(found, self.records)), len(found), len(self.records))


def sheets(sites: Sequence[str] = ()) -> Iterator[Sheet]:
    """The list pages of these sites, or of all."""
    for path in sorted(unpacked("lists").glob("*/*.html")):
        site = path.parent.name
        if sites and site not in sites:
            continue
        page = Page(html=path.read_bytes(), id=f"{site}/{path.name}")
        text = letters_and_digits(visible_text(page.tree))
        with path.with_suffix(".csv").open(encoding="utf-8", errors="replace", newline="") as file:
            given = list(csv.reader(file))
        cells = [[cell for raw in row if (cell := letters_and_digits(raw))] for row in given]
        rows = [([cell for cell in row if cell in text], len(row)) for row in cells]
        known = [(row, count - len(row)) for row, count in rows if row]
        yield Sheet(site, page, [row for row, _ in known], given, [missing for _, missing in known])


def hits(found: Sequence[str], records: Sequence[Sequence[str]]) -> dict[int, int]:
    """Of each detected record that is right the true one: the only one whose cells it holds all, counted once."""
    pairs: dict[int, int] = {}
    for number, text in enumerate(found):
        inside = [true for true, cells in enumerate(records) if all(cell in text for cell in cells)]
        if len(inside) == 1 and inside[0] not in pairs.values():
            pairs[number] = inside[0]
    return pairs


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


def choose(training: Iterable[Sheet]) -> Floats:
    """The weights with which a softmax over a page's groups prefers those with a better score."""
    known = [(sheet.found.features, sheet.f1) for sheet in training if sheet.f1.max(initial=0) > 0]
    every = np.concatenate([features for features, _ in known])
    mean, scale = every.mean(axis=0), every.std(axis=0) + 1e-9

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = PRIOR * weights @ weights / 2, PRIOR * weights
        for features, f1 in known:
            normal = (features - mean) / scale
            wanted = np.exp((f1 - f1.max()) * SHARPNESS) * (f1 > 0)
            wanted /= wanted.sum()
            scores = normal @ weights
            log_shares = scores - scores.max() - np.log(np.exp(scores - scores.max()).sum())
            total -= wanted @ log_shares
            slope = slope - normal.T @ (wanted - np.exp(log_shares))
        return float(total), slope

    weights: Floats = minimize(loss, np.zeros(every.shape[1]), jac=True, method="L-BFGS-B").x
    weights /= scale
    return weights


def doubt(training: Sequence[Sheet], weights: Floats) -> tuple[float, Floats]:
    """Bias and weights of a logistic regression that tells chosen groups from those of pages without records."""
    rows: list[Floats] = []
    truth: list[float] = []
    for sheet in training:
        chosen = int(np.argmax(score_groups(sheet.found.features, weights)))
        if sheet.f1[chosen] > 0.5:
            rows.append(sheet.found.features[chosen])
            truth.append(1.0)
            if len(sheet.emptied):
                rows.append(sheet.emptied[int(np.argmax(score_groups(sheet.emptied, weights)))])
                truth.append(0.0)
    features, sign = np.array(rows), 2 * np.array(truth) - 1
    scale = features.std(axis=0) + 1e-9
    used = np.array([name not in NOT_ASKED for name in GROUP_FEATURES])
    normal = features / scale * used

    def loss(values: Floats) -> tuple[float, Floats]:
        margins = sign * (values[0] + normal @ values[1:])
        slope = -sign / (1 + np.exp(margins))
        total = np.logaddexp(0, -margins).sum() + DOUBT_PRIOR * values[1:] @ values[1:] / 2
        return float(total), np.concatenate([[slope.sum()], normal.T @ slope + DOUBT_PRIOR * values[1:]])

    values: Floats = minimize(loss, np.zeros(len(GROUP_FEATURES) + 1), jac=True, method="L-BFGS-B").x
    return float(values[0]), values[1:] / scale


def folds(every: Sequence[Sheet]) -> Iterator[tuple[list[Sheet], list[Sheet]]]:
    """Training and test pages; a site is in one of them."""
    sites = sorted({sheet.site for sheet in every})
    for fold in range(FOLDS):
        held_out = set(sites[fold::FOLDS])
        yield (
            [sheet for sheet in every if sheet.site not in held_out],
            [sheet for sheet in every if sheet.site in held_out],
        )


def measure(console: Console, every: Sequence[Sheet]) -> None:
    """Means over pages: with weights of other sites, with those that are shipped, and what is possible at all."""
    rows: dict[str, list[Score]] = {"chosen on other sites": [], "as shipped": []}
    for training, test in folds(every):
        weights = choose(training)
        bias, plausible = doubt(training, weights)
        for sheet in test:
            sure = bias + sheet.chosen(weights) @ plausible >= np.log(
                MIN_LIST_CONFIDENCE / (1 - MIN_LIST_CONFIDENCE)
            )
            found = {"chosen on other sites": sheet.rows(weights) if sure else []}
            found["as shipped"] = sheet.found.main_list()
            for name, own in found.items():
                rows[name].append(score_rows(own, sheet.records)[0])
    table = Table("weights", "precision", "recall", "record F1", "pages without rows")
    for name, scores in rows.items():
        figures = ([one.precision, one.recall, one.f1] for one in scores)
        means = np.mean(list(figures), axis=0).tolist()
        empty = sum(not one.extracted for one in scores)
        table.add_row(name, *(f"{mean:.3f}" for mean in means), str(empty))
    best = np.mean([sheet.f1.max(initial=0) for sheet in every])
    itself = np.mean(
        [len(hits(["|".join(row) for row in one.records], one.records)) / len(one.records) for one in every]
    )
    table.add_row("the best group of each page", "", "", f"{best:.3f}", "")
    table.add_row("the true records themselves", "", "", f"{itself:.3f}", "")
    console.print(table)


def show_site(console: Console, every: Sequence[Sheet]) -> None:
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


def measure_time(console: Console, every: Sequence[Sheet]) -> None:
    """CPU time of find_records on pages of some 1,000 blocks, parsing and layout included; the better of two."""
    blocks = [len(build_vision_tree(sheet.found.profile)) for sheet in every]
    chosen = [(sheet, count) for sheet, count in zip(every, blocks, strict=True) if 700 <= count <= 1400]
    blocks_each = np.array([count for _, count in chosen])
    console.print(f"{len(chosen)} pages of 700 to 1,400 blocks, medians of CPU time:")
    for name, model in (("without a model", None), ("with the model", list_model())):
        spent: list[float] = []
        for sheet, _ in chosen:
            tries = []
            for _ in range(2):
                started = process_time()
                find_records(Page(html=sheet.page.html), model=model)
                tries.append(1000 * (process_time() - started))
            spent.append(min(tries))
        rate = np.median(1000 * np.array(spent) / blocks_each)
        console.print(f"{name} {np.median(spent):.0f} ms a page, {rate:.0f} ms for 1,000 blocks")


def print_choice(console: Console, every: Sequence[Sheet]) -> None:
    weights = choose(every)
    bias, plausible = doubt(every, weights)
    console.print("GROUP_WEIGHTS = {")
    for name, weight in zip(GROUP_FEATURES, weights, strict=True):
        console.print(f'    "{name}": {weight:.3f},')
    console.print(f"}}\nCONFIDENCE_BIAS = {bias:.3f}\nCONFIDENCE_WEIGHTS = {{")
    for name, weight in zip(GROUP_FEATURES, plausible, strict=True):
        if name not in NOT_ASKED:
            console.print(f'    "{name}": {weight:.3f},')
    console.print("}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", action="append", default=[], help="only these sites, with every error")
    parser.add_argument("--choose", action="store_true", help="choose the weights anew")
    parser.add_argument("--time", action="store_true", help="only how long it takes")
    options = parser.parse_args()
    console, progress = Console(width=160), Console(stderr=True)
    every: list[Sheet] = []
    started = process_time()
    for sheet in track(sheets(options.site), console=progress, description="Lists"):
        assert options.time or len(sheet.f1) == len(sheet.found.groups)
        every.append(sheet)
    if options.time:
        measure_time(console, every)
    elif options.choose:
        print_choice(console, every)
    elif options.site:
        show_site(console, every)
    else:
        measure(console, every)
        console.print(f"{1000 * (process_time() - started) / len(every):.0f} ms a page, scoring included")


if __name__ == "__main__":
    main()
