"""How well the HCRF finds records and names what is in them on list pages, and what each of its parts is worth.

python -m benchmarks.hcrf          five folds over sites, all variants
python -m benchmarks.hcrf --quick  the same with one page of each site
python -m benchmarks.hcrf --ship   trains the model that is shipped, on all sites
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.kinds import CLEAR, KINDS, Lesson, lesson, true_labels
from benchmarks.lists import Sheet, choose, folds, hits, letters, sheets, shipped
from benchmarks.swde import Score
from untemplate.labeling.records.hcrf.features import Observed
from untemplate.labeling.records.hcrf.labels import NOTE, RECORD, Labels, label_blocks, value_sets
from untemplate.labeling.records.hcrf.training import train

SHIPPED = Path(__file__).parents[1] / "src/untemplate/labeling/records/hcrf/lists.npz"
# Labels of blocks when records are detected without a look at what is in them.
DETECTION = Labels(())
# Of each site so many pages train a model: more of a template teach little.
PAGES = 1


@dataclass
class Tally:
    """What a variant got right: records page by page, and leaves by their kind."""

    records: list[Score] = field(default_factory=list)
    right: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)

    def add(self, one: Lesson, blocks: Sequence[int], kinds: dict[int, str]) -> None:
        self.records.append(score(one, [one.vision.rows[block] for block in blocks]))
        self.found.update(kinds.values())
        self.true.update(one.values.values())
        self.right.update(kind for leaf, kind in kinds.items() if one.values.get(leaf) == kind)

    def row(self) -> list[str]:
        means = [
            np.mean([getattr(page, name) for page in self.records]) for name in ("precision", "recall", "f1")
        ]
        kinds = [2 * self.right[kind] / max(self.found[kind] + self.true[kind], 1) for kind in KINDS]
        figures = [*means, *kinds, np.mean(kinds)] if self.found else means
        return [f"{figure:.3f}" for figure in figures]


def score(one: Lesson, runs: Sequence[Sequence[int]]) -> Score:
    """How many of these records are right."""
    tree = one.sheet.found.tree
    texts = [
        letters(
            "".join(item for row in run for item in tree.items[row : tree.end[row]] if isinstance(item, str))
        )
        for run in runs
    ]
    return Score(len(hits(texts, one.sheet.records)), len(texts), len(one.sheet.records))


def label_space(lessons: Sequence[Lesson]) -> Labels:
    """The kinds, with the combinations that stand together in parts of records."""
    seen: list[frozenset[str]] = []
    for one in lessons:
        sets = value_sets(one.vision, one.values)
        for record in one.records:
            inside = range(record + 1, int(one.vision.end[record]))
            seen += [sets[block] for block in inside if one.vision.children[block]]
    return Labels.choose(KINDS, seen)


class Joint:
    """Records and kinds by one model."""

    def __init__(self, lessons: Sequence[Lesson], is_global: bool) -> None:
        self._is_global = is_global
        self._labels = label_space(lessons)
        truth = [true_labels(one, self._labels) for one in lessons]
        self.model = train(self._labels, [self._observed(one) for one in lessons], truth)

    def _observed(self, one: Lesson) -> Observed:
        return one.observed if self._is_global else one.local

    def __call__(self, one: Lesson) -> tuple[list[int], dict[int, str]]:
        found = self.model.best(self._observed(one)).tolist()
        names = {
            block: self._labels.leaf[found[block]]
            for block, inside in enumerate(one.vision.children)
            if not inside
        }
        record = self._labels.inner.index(RECORD)
        records = [
            block for block, inside in enumerate(one.vision.children) if inside and found[block] == record
        ]
        return records, {leaf: name for leaf, name in names.items() if name != NOTE}


class Separate:
    """Records by one model, the kinds in each of them by another."""

    def __init__(self, lessons: Sequence[Lesson], is_global: bool) -> None:
        self._is_global = is_global
        self._labels = label_space(lessons)
        observed = [self._observed(one) for one in lessons]
        truth = [
            label_blocks(DETECTION, one.sheet.found.survey, one.vision, one.records, {}) for one in lessons
        ]
        self._detector = train(DETECTION, observed, truth)
        parts, within = [], []
        for one, page in zip(lessons, observed, strict=True):
            labels = true_labels(one, self._labels)
            for record in one.records:
                end = int(one.vision.end[record])
                parts.append(page.part(record, end))
                within.append(labels[record:end])
        self._namer = train(self._labels, parts, within)

    def _observed(self, one: Lesson) -> Observed:
        return one.observed if self._is_global else one.local

    def __call__(self, one: Lesson) -> tuple[list[int], dict[int, str]]:
        page = self._observed(one)
        found = self._detector.best(page).tolist()
        record = DETECTION.inner.index(RECORD)
        blocks = [
            block for block, inside in enumerate(one.vision.children) if inside and found[block] == record
        ]
        kinds: dict[int, str] = {}
        for block in blocks:
            labels = self._namer.best(page.part(block, int(one.vision.end[block])))
            for leaf, label in enumerate(labels.tolist(), block):
                if not one.vision.children[leaf] and self._labels.leaf[label] != NOTE:
                    kinds[leaf] = self._labels.leaf[label]
        return blocks, kinds


VARIANTS = {
    "HCRF": (Joint, True),
    "HCRF_NG": (Joint, False),
    "HCRF_S": (Separate, True),
    "HCRF_SNG": (Separate, False),
}


def teaching(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The pages to train with: the first clear ones of each site."""
    taken: Counter[str] = Counter()
    chosen: list[Lesson] = []
    for one in lessons:
        if one.records and one.sheet.f1.max(initial=0) >= CLEAR and taken[one.sheet.site] < PAGES:
            taken[one.sheet.site] += 1
            chosen.append(one)
    return chosen


def measure(console: Console, every: Sequence[Sheet], names: Sequence[str]) -> None:
    lessons: dict[str, Lesson] = {}
    chosen = {}
    for training, test in folds(every):
        # What a page's likely records are is learnt without its site, in training as in test.
        weights = choose(training)
        for sheet in test:
            lessons[sheet.page.id] = lesson(sheet, weights)
            chosen[sheet.page.id] = sheet.found.groups[int(np.argmax(sheet.found.features @ weights))]
    tallies = {name: Tally() for name in ("MDR/DEPTA", *names)}
    spent: Counter[str] = Counter()
    for training, test in folds(every):
        known = teaching([lessons[sheet.page.id] for sheet in training])
        for sheet in test:
            runs = chosen[sheet.page.id].runs
            tallies["MDR/DEPTA"].records.append(score(lessons[sheet.page.id], runs))
        for name in names:
            build, is_global = VARIANTS[name]
            started = process_time()
            variant = build(known, is_global)
            spent[name] += process_time() - started
            for sheet in test:
                one = lessons[sheet.page.id]
                tallies[name].add(one, *variant(one))
        table = Table("variant", "precision", "recall", "record F1", *KINDS, "average")
        for name, tally in tallies.items():
            table.add_row(name, *tally.row())
        console.print(f"{len(tallies['MDR/DEPTA'].records)} pages", table)
    for name, seconds in spent.items():
        console.print(f"{name}: {seconds / 5:.0f} s of training a fold, about {len(known)} pages")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ship", action="store_true", help="train the model that is shipped")
    parser.add_argument("--quick", action="store_true", help="only the first page of each site")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only these")
    options = parser.parse_args()
    every = list(
        track(_read(options.ship or options.quick), console=Console(stderr=True), description="Lists")
    )
    if options.ship:
        known = teaching([lesson(sheet, shipped()) for sheet in every])
        Joint(known, is_global=True).model.save(SHIPPED)
    else:
        measure(Console(width=160), every, options.variant or [*VARIANTS])


def _read(only_first: bool) -> Iterator[Sheet]:
    """List pages, of each site only the first one if so wished."""
    for sheet in sheets():
        if only_first and not sheet.page.id.endswith("/1.html"):
            continue
        assert len(sheet.f1) == len(sheet.found.groups)
        yield sheet


if __name__ == "__main__":
    main()
