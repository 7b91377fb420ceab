"""How well the HCRF finds records and names what is in them on list pages, and what each of its parts is worth.

python -m benchmarks.measure.hcrf          five folds over sites, all variants
python -m benchmarks.measure.hcrf --quick  the same with one page of each site
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.list_pages import Sheet, hits, sheets
from benchmarks.data.swde import Score
from benchmarks.measure.cells import choose_joins, evidence
from benchmarks.measure.kinds import KINDS, Lesson, lesson, lesson_classes
from benchmarks.train.list_choice import FOLDS, choose, folds
from untemplate.labeling.hcrf.lessons import choose_classes, train_names
from untemplate.lists.groups import Group
from untemplate.lists.hcrf import train_hcrf
from untemplate.lists.hcrf_blocks import NOTE, RECORD, BlockClasses, ObservedBlocks, true_classes
from untemplate.lists.list_table import ColumnNamer
from untemplate.lists.page_tree import Run
from untemplate.page.arrays import Doubles, Longs
from untemplate.page.locating import letters_and_digits

# BlockClasses of blocks when records are detected without a look at what is in them.
DETECTION = BlockClasses(())
MEASURES = ("precision", "recall", "f1")
# The key attributes of the paper, by which it calls a labeled record right.
KEY_KINDS = frozenset({"title", "image", "price"})
# Of each site so many pages train_hcrf a model: more of a template teach little.
PAGES = 1
# What a model that is sure of a group may add to the score of the ground, and of how many groups, the best ones.
CLOSE = 8
WEIGHTS = (0.0, 0.5, 1.0, 2.0, 4.0, 8.0)


@dataclass
class Tally:
    """What a variant got right: records page by page, and leaves by their kind."""

    records: list[Score] = field(default_factory=list)
    right: Counter[str] = field(default_factory=Counter)
    found: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    #: of the true records on clear pages, whether those of their leaves that are key kinds are exactly right
    blocks: list[bool] = field(default_factory=list)

    def add(self, one: Lesson, runs: Sequence[Run], kinds: dict[int, str]) -> None:
        self.records.append(score(one, runs))
        if one.is_clear:
            self.found.update(kinds.values())
            self.true.update(one.values.values())
            self.right.update(kind for leaf, kind in kinds.items() if one.values.get(leaf) == kind)
            found, true = _key_kinds(kinds), _key_kinds(one.values)
            end = one.scene.vision.end
            for record in one.records:
                inside = range(record, int(end[record]))
                self.blocks.append(all(found.get(leaf) == true.get(leaf) for leaf in inside))

    def row(self) -> list[str]:
        means = [np.mean([getattr(page, name) for page in self.records]) for name in MEASURES]
        if not self.found:
            return [f"{figure:.3f}" for figure in means]
        scores = self.kinds()
        averages = [np.mean([getattr(score, name) for score in scores]) for name in MEASURES]
        figures = [*means, *(score.f1 for score in scores), *averages, np.mean(self.blocks)]
        return [f"{figure:.3f}" for figure in figures]

    def kinds(self) -> list[Score]:
        """The score of each kind."""
        return [Score(self.right[kind], self.found[kind], self.true[kind]) for kind in KINDS]


def _key_kinds(kinds: Mapping[int, str]) -> dict[int, str]:
    return {leaf: kind for leaf, kind in kinds.items() if kind in KEY_KINDS}


def score(one: Lesson, runs: Sequence[Run]) -> Score:
    """How many of these records are right."""
    tree = one.sheet.found.tree
    texts = [letters_and_digits("".join(tree.texts_inside(run))) for run in runs]
    return Score(len(hits(texts, one.sheet.records)), len(texts), len(one.sheet.records))


def record_shares(classes: BlockClasses, one: Lesson, shares: Doubles) -> Doubles:
    """How likely each block is a record."""
    is_inner = np.array([bool(children) for children in one.scene.vision.children], np.float64)
    return shares[:, classes.inner.index(RECORD)] * is_inner


def likelihood(one: Lesson, group: Group, expected: Doubles) -> float:
    """How well a group is what a model expects to be records, from 0 to 1: an F1 measure."""
    shares = [expected[block] for run in group.runs if (block := one.scene.vision.find(run)) is not None]
    return float(2 * sum(shares) / (expected.sum() + len(group)))


class Joint:
    """Records and kinds by one model."""

    def __init__(self, lessons: Sequence[Lesson], is_global: bool) -> None:
        self._is_global = is_global
        self.classes = choose_classes(KINDS, [one.within(self._observed(one)) for one in lessons])
        truth = [lesson_classes(one, self.classes) for one in lessons]
        self.model = train_hcrf(self.classes, [self._observed(one) for one in lessons], truth)

    def _observed(self, one: Lesson) -> ObservedBlocks:
        return one.observed if self._is_global else one.local

    def detect(self, one: Lesson) -> Doubles:
        return record_shares(self.classes, one, self.model.marginals(self._observed(one)).vertex)

    def name(self, one: Lesson, group: Group) -> ColumnNamer:
        return ColumnNamer(self.classes, one.scene, self.model.marginals(self._observed(one)).vertex)

    def decide(self, one: Lesson) -> tuple[list[Run], dict[int, str]]:
        """The records and kinds of the most likely classes, whatever the groups are."""
        vision = one.scene.vision
        found = self.model.best(self._observed(one)).tolist()
        record, leaf = self.classes.inner.index(RECORD), self.classes.leaf
        blocks = list(enumerate(vision.children))
        runs = [vision.rows[block] for block, inside in blocks if inside and found[block] == record]
        names = {block: leaf[found[block]] for block, inside in blocks if not inside}
        return runs, {block: name for block, name in names.items() if name != NOTE}


class Separate:
    """Records by one model, the kinds in each of them by another."""

    def __init__(self, lessons: Sequence[Lesson], is_global: bool) -> None:
        self._is_global = is_global
        observed = [self._observed(one) for one in lessons]
        truth = [
            true_classes(DETECTION, one.sheet.found.profile, one.scene.vision, one.records, {})
            for one in lessons
        ]
        self._detector = train_hcrf(DETECTION, observed, truth)
        within = [one.within(page) for one, page in zip(lessons, observed, strict=True)]
        self.namer = train_names(KINDS, within)
        self.classes = self.namer.classes

    def _observed(self, one: Lesson) -> ObservedBlocks:
        return one.observed if self._is_global else one.local

    def detect(self, one: Lesson) -> Doubles:
        return record_shares(DETECTION, one, self._detector.marginals(self._observed(one)).vertex)

    def name(self, one: Lesson, group: Group) -> ColumnNamer:
        vision, page = one.scene.vision, self._observed(one)
        shares = np.zeros((len(vision), len(self.classes)))
        blocks = [block for run in group.runs if (block := vision.find(run)) is not None]
        if blocks:
            parts = [page.part(block, int(vision.end[block])) for block in blocks]
            inside = np.concatenate([np.arange(block, vision.end[block]) for block in blocks])
            shares[inside] = self.namer.marginals(*parts).vertex
        return ColumnNamer(self.classes, one.scene, shares)


class Chain:
    """Records by the ground, the kinds of the leaves of each by a linear chain: no blocks between them."""

    def __init__(self, lessons: Sequence[Lesson], is_global: bool) -> None:
        self._is_global = is_global
        self.classes = BlockClasses(KINDS)
        records: list[ObservedBlocks] = []
        truth: list[Longs] = []
        for one in lessons:
            page_classes = lesson_classes(one, self.classes)
            for record in one.records:
                blocks = self._blocks(one, record)
                records.append(self._flatten(one, blocks))
                truth.append(page_classes[blocks])
        self._model = train_hcrf(self.classes, records, truth)

    @staticmethod
    def _blocks(one: Lesson, record: int) -> list[int]:
        """The record and its leaves."""
        vision = one.scene.vision
        return [
            record,
            *(block for block in range(record + 1, int(vision.end[record])) if not vision.children[block]),
        ]

    def _flatten(self, one: Lesson, blocks: Sequence[int]) -> ObservedBlocks:
        page = one.observed if self._is_global else one.local
        starts = np.cumsum(page.counts) - page.counts
        slots = [page.slots[starts[block] : starts[block] + page.counts[block]] for block in blocks]
        parents = np.zeros(len(blocks), np.int64)
        parents[0] = -1
        types = np.zeros(len(blocks), np.int64)
        return ObservedBlocks(parents, np.concatenate(slots), page.counts[list(blocks)], types)

    def detect(self, one: Lesson) -> Doubles:
        return np.zeros(len(one.scene.vision))

    def name(self, one: Lesson, group: Group) -> ColumnNamer:
        vision = one.scene.vision
        shares = np.zeros((len(vision), len(self.classes)))
        blocks = [self._blocks(one, block) for run in group.runs if (block := vision.find(run)) is not None]
        if blocks:
            found = self._model.marginals(*(self._flatten(one, own) for own in blocks)).vertex
            shares[list(chain.from_iterable(blocks))] = found
        return ColumnNamer(self.classes, one.scene, shares)


Variant = Joint | Separate | Chain
VARIANTS: dict[str, tuple[Callable[[Sequence[Lesson], bool], Variant], bool]] = {
    "DEPTA + chain CRF": (Chain, False),
    "DEPTA + chain CRF_G": (Chain, True),
    "HCRF": (Joint, True),
    "HCRF_NG": (Joint, False),
    "HCRF_S": (Separate, True),
    "HCRF_SNG": (Separate, False),
}


@dataclass(frozen=True)
class Answer:
    """What a variant says about a page of sites that it does not know."""

    fold: int
    one: Lesson
    variant: Variant
    #: of the groups that look best how likely they are records
    likely: Doubles

    def choice(self, weight: float) -> Group:
        """The group that is chosen when the model has this weight."""
        return self.one.groups[int(np.argmax(self.one.scores[: len(self.likely)] + weight * self.likely))]

    def f1(self, weight: float) -> float:
        return score(self.one, self.choice(weight).runs).f1

    def kinds(self, group: Group) -> dict[int, str]:
        return leaf_kinds(self.one, group, self.variant.name(self.one, group))


def leaf_kinds(one: Lesson, group: Group, reading: ColumnNamer) -> dict[int, str]:
    """The kinds of the leaves of the records of a group, column by column."""
    lines = one.lines(group)
    found: dict[int, str] = {}
    for number, kind in enumerate(reading.column_attributes(lines) if lines else ()):
        if kind:
            leaves = {int(one.scene.leaf[line[0]]) for row in lines if (line := row[number])}
            found |= dict.fromkeys(leaves - {-1}, kind)
    images = ((leaf, kind) for run in group.runs for kind, leaf in reading.image_leaves(run).items())
    return dict(images) | found


def teaching(lessons: Sequence[Lesson]) -> list[Lesson]:
    """The pages to train_hcrf with: the first clear ones of each site."""
    taken: Counter[str] = Counter()
    chosen: list[Lesson] = []
    for one in lessons:
        if one.is_clear and taken[one.sheet.site] < PAGES:
            taken[one.sheet.site] += 1
            chosen.append(one)
    return chosen


def prepare(every: Sequence[Sheet]) -> dict[str, Lesson]:
    """All pages; what their likely records and joins are is learned without their sites, in training as in test."""
    known = {sheet.page.id: evidence(sheet) for sheet in every}
    lessons: dict[str, Lesson] = {}
    for training, test in folds(every):
        weights, joins = choose(training), choose_joins(known[sheet.page.id] for sheet in training)
        lessons |= {sheet.page.id: lesson(sheet, weights, joins) for sheet in test}
    return lessons


def answers(every: Sequence[Sheet], lessons: dict[str, Lesson], name: str) -> Iterator[Answer]:
    """What a variant says about each page, trained on other sites."""
    build, is_global = VARIANTS[name]
    for fold, (training, test) in enumerate(folds(every)):
        variant = build(teaching([lessons[sheet.page.id] for sheet in training]), is_global)
        for sheet in test:
            one = lessons[sheet.page.id]
            expected = variant.detect(one)
            likely = np.array([likelihood(one, group, expected) for group in one.groups[:CLOSE]])
            yield Answer(fold, one, variant, likely)


def best_weight(known: Sequence[Answer]) -> float:
    """The weight of the model with which most records are found."""
    return max(WEIGHTS, key=lambda weight: np.mean([answer.f1(weight) for answer in known]))


def measure(console: Console, every: Sequence[Sheet], names: Sequence[str]) -> None:
    lessons = prepare(every)
    of_kinds = (f"average {name}" for name in MEASURES)
    table = Table("variant", "precision", "recall", "record F1", *KINDS, *of_kinds, "block accuracy")
    ground = Tally([score(one, one.groups[0].runs) for one in lessons.values()])
    table.add_row("MDR/DEPTA", *ground.row())
    clear = sum(one.is_clear for one in lessons.values())
    console.print(f"{len(lessons)} pages; of {clear} it is clear where the true kinds are")
    for name in names:
        started = process_time()
        found = list(answers(every, lessons, name))
        spent = process_time() - started
        tally, alone, weights = Tally(), Tally(), []
        for fold in range(FOLDS):
            weights.append(best_weight([answer for answer in found if answer.fold != fold]))
            for answer in found:
                if answer.fold == fold:
                    group = answer.choice(weights[-1])
                    tally.add(answer.one, group.runs, answer.kinds(group))
                    if isinstance(answer.variant, Joint):
                        alone.add(answer.one, *answer.variant.decide(answer.one))
        table.add_row(name, *tally.row())
        if alone.records:
            table.add_row(f"{name}, without the ground", *alone.row())
        by_weight = {
            weight: round(float(np.mean([answer.f1(weight) for answer in found])), 4) for weight in WEIGHTS
        }
        console.print(
            f"{name}: {spent / FOLDS:.0f} s of CPU a fold; weights chosen {weights}; all {by_weight}"
        )
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="only the first page of each site")
    parser.add_argument("--variant", action="append", choices=VARIANTS, help="only these")
    options = parser.parse_args()
    every = list(track(read_sheets(options.quick), console=Console(stderr=True), description="Lists"))
    measure(Console(width=200), every, options.variant or [*VARIANTS])


def read_sheets(only_first: bool) -> Iterator[Sheet]:
    """List pages, of each site only the first one if so wished."""
    for sheet in sheets():
        if only_first and not sheet.page.id.endswith("/1.html"):
            continue
        assert len(sheet.f1) == len(sheet.found.groups)
        yield sheet


if __name__ == "__main__":
    main()
