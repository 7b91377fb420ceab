"""What is specific to the labelled places, made precise: the material of a rule's selectors.

A place is described by its tag path, the names near it and its label. Where that selects other nodes too, features
that tell them apart are added; where none do, a position.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby

from untemplate.learning.features import inside_feature, label_feature, names, node_features, tag_path
from untemplate.learning.sample_table import Table
from untemplate.learning.search import Search, disjunctions
from untemplate.rules.feature import Feature

__all__ = ["Task", "Variant", "find_variants"]

# The constants below were set while looking at misses on SWDE and on made-up sites, then swept on made-up sites not
# seen before (`python -m benchmarks.measure.constants`): no value tried is better there by more than 0.001.

# Features that make a description precise must keep this share of the pages on which it selects something.
KEPT_SUPPORT = 0.8
# How far such features may look.
NEAR = 4
# Of those, the ones that say what a value is are tried before those that only say where it stands.
MEANINGFUL = frozenset({"inside-word", "out-left-text", "out-left-word"})
# What a variant is worth that needs features added, does without its label, takes the first or last of several,
# or counts, or says only what all of many values share.
WORTH_REFINED, WORTH_UNLABELLED, WORTH_FIRST, WORTH_COUNTED, WORTH_GENERAL = 0.75, 0.5, 0.5, 0.2, 0.25
# What a part of a text is worth if no other text begins as the text before it does.
WORTH_UNANCHORED = 0.5
# Down to this share of different texts a place is worth its full; one that shows the same on all pages, half.
VARIED_SHARE = 0.5
HEADINGS = {"h1": 3, "h2": 2, "h3": 1}


@dataclass(frozen=True)
class Task:
    """What is known of one attribute: per labelled page, per value the rows at which it may stand.

    No values: the attribute is not on that page.
    """

    table: Table
    node: str
    rows: dict[int, list[list[int]]]
    many: bool = False
    #: where values are parts of texts, what stands before them there
    before: Mapping[int, str] = field(default_factory=dict)

    @property
    def universe(self) -> int:
        """All rows that may be selected."""
        return self.table.node_bits.get(self.node, 0)

    @property
    def open_pages(self) -> list[int]:
        """The pages nobody labelled."""
        return [page for page in range(len(self.table.pages)) if page not in self.rows]

    def bits(self, features: Iterable[Feature]) -> int:
        return self.table.bits(features) & self.universe

    def pick(self, bits: int, page: int, position: int) -> list[int]:
        """The rows that a selector with this position selects on a page."""
        rows = self.table.on_page(bits, page)
        if position:
            index = position - 1 if position > 0 else -1
            return rows[index : index + 1 or None]
        return rows

    def accepts(self, bits: int, page: int, position: int) -> bool:
        """Whether selecting these rows on a labelled page is right, or selects nothing."""
        selected = self.pick(bits, page, position)
        right = {row for rows in self.rows[page] for row in rows}
        return right.issuperset(selected if self.many else selected[:1])

    def covers(self, bits: int, page: int, position: int) -> bool:
        """Whether selecting these rows on a labelled page finds its value, or all of many."""
        selected = self.pick(bits, page, position)
        if not selected or not self.accepts(bits, page, position):
            return False
        return not self.many or all(set(rows) & set(selected) for rows in self.rows[page])


@dataclass(frozen=True)
class Description:
    """The tag path of a place, the names near it, and its label if that matters."""

    path: tuple[Feature, ...]
    names: tuple[Feature, ...]
    label: Feature | None
    inside: tuple[Feature, ...] = ()  # how the text begins, where the value is a part of it
    has_own_label: bool = False  # the label stands right before the value

    @classmethod
    def of(cls, task: Task, row: int) -> Description:
        table = task.table
        label = label_feature(table, row)
        inside = inside_feature(table, task.before.get(row, ""))
        adjacent = bool(label.values[0]) and table.neighbor_text(row, "left") == label.values[0]
        return cls(tag_path(table, row), names(table, row), label, inside, adjacent or bool(inside))

    def without_label(self) -> Description:
        return replace(self, label=None, has_own_label=bool(self.inside))

    def feature_sets(self) -> list[tuple[Feature, ...]]:
        """From specific to coarse. A place with a label of its own is not looked for without it."""
        label = (*self.inside, *((self.label,) if self.label else ()))
        sets = [(*self.path, *self.names, *label)]
        if self.names:
            sets.append((*self.names, *label))
        if self.names and self.label and not self.has_own_label:
            sets.append((*self.path, *self.names))
        if self.inside and self.label:
            sets.append((*self.path, *self.inside))
        return sets


@dataclass(frozen=True)
class Variant:
    """Feature sets from specific to coarse that are right on labelled pages, and how good the first is."""

    sets: tuple[tuple[Feature, ...], ...]
    position: int
    covered: frozenset[int]  # labelled pages whose value it finds
    found: float  # open pages on which it selects one place, less if it is of less worth
    texts: int  # different texts that it selects there
    counted: Variant | None = None  # a position in place of the features that were added to make it precise

    @property
    def rank(self) -> tuple[int, float, int, int]:
        """Where nothing else tells, as on a site of one page, a heading is meant."""
        heading = max(
            (HEADINGS.get(value, 0) for f in self.sets[0] if f.level <= 2 for value in f.values), default=0
        )
        return (len(self.covered), self.found, self.texts, heading)


def find_variants(task: Task) -> list[Variant]:
    """A variant for each different description of a place where a labelled value may stand, best first."""
    labelled = (rows for values in task.rows.values() for rows in (values if task.many else values[:1]))
    rows_of: dict[Description, list[int]] = {}
    for row in dict.fromkeys(chain.from_iterable(labelled)):
        description = Description.of(task, row)
        rows_of.setdefault(description, []).append(row)
        rows_of.setdefault(description.without_label(), []).append(row)
    variants = [_make_precise(task, description, rows) for description, rows in rows_of.items()]
    if task.many:
        variants.append(_general(task))
    found = [variant for variant in variants if variant and variant.covered]
    return sorted(found, key=lambda variant: variant.rank, reverse=True)


def _make_precise(task: Task, description: Description, rows: list[int]) -> Variant | None:
    """The description itself if it is precise, else with what tells its rows apart, else with a position."""
    sets = description.feature_sets()
    bits = task.bits(sets[0])
    worth = 1.0 if description.label else WORTH_UNLABELLED
    if rows[0] in task.before and not description.inside:
        worth *= WORTH_UNANCHORED
    if _is_precise(task, bits):
        return _variant(task, sets, 0, worth)
    selects_gap = _selects_gap(task, bits)
    if not description.label and not task.many and not selects_gap:
        return None
    counted = _count(task, sets[0], rows)
    near = {f for f in disjunctions([node_features(task.table, row) for row in rows]) if f.distance <= NEAR}
    search = Search(task.table, rows, task.rows.keys(), bits, task.many)
    enough = 0.0 if selects_gap else KEPT_SUPPORT * search.judge((), bits).support
    for features in ({f for f in near if f.type in MEANINGFUL}, near):
        best = search.best_by_support(features)
        if best is not None and best.support >= enough:
            by_meaning = any(feature.type == "inside-word" for feature in best.features)
            refined = [(*broad, *best.features) for broad in sets]
            variant = _variant(task, refined, 0, worth * WORTH_REFINED, None if by_meaning else counted)
            if _is_right(task, variant):
                return variant
    return counted


def _selects_gap(task: Task, bits: int) -> bool:
    """Whether these rows stand on a page that has no value: then to lose pages is right."""
    return any(not values and task.pick(bits, page, 0) for page, values in task.rows.items())


def _count(task: Task, features: tuple[Feature, ...], rows: list[int]) -> Variant | None:
    """The description with the position that is right on all labelled pages, and best on the others."""
    if task.many:
        return None
    bits = task.bits(features)
    positions = {p: WORTH_FIRST if p in (1, -1) else WORTH_COUNTED for p in _positions(task, bits, rows)}
    variants = (_variant(task, [features], position, worth) for position, worth in positions.items())
    right = (variant for variant in variants if _is_right(task, variant))
    return max(right, key=lambda variant: variant.rank, default=None)


def _positions(task: Task, bits: int, rows: Iterable[int]) -> list[int]:
    """Where the rows stand among those selected, from the start, and whether last."""
    found: list[int] = []
    for page, own in groupby(rows, key=lambda row: int(task.table.row_page[row])):
        on_page = task.table.on_page(bits, page)
        positions = {row: number for number, row in enumerate(on_page, 1)}
        for row in own:
            found.append(positions[row])
            if row == on_page[-1]:
                found.append(-1)
    return list(dict.fromkeys(found))


def _general(task: Task) -> Variant | None:
    """What all of many values have in common, by the paper's search: values may differ in path and label."""
    positives = [rows[0] for values in task.rows.values() for rows in values]
    features = disjunctions([node_features(task.table, row) for row in positives])
    best = Search(task.table, positives, task.rows.keys(), task.universe, many=True).best_by_distance(
        features
    )
    if best is None or not best.is_precise:
        return None
    return _variant(task, [best.features], 0, WORTH_GENERAL)


def _variant(
    task: Task,
    sets: Sequence[tuple[Feature, ...]],
    position: int,
    worth: float,
    counted: Variant | None = None,
) -> Variant:
    bits = task.bits(sets[0])
    covered = frozenset(page for page in task.rows if task.covers(bits, page, position))
    picked = [task.pick(bits, page, position) for page in task.open_pages]
    texts = {task.table.rows[rows[0]].text for rows in picked if rows}
    found = sum(len(rows) == 1 or (task.many and len(rows) > 0) for rows in picked)
    variety = min(1.0, len(texts) / (VARIED_SHARE * found)) if found else 1.0
    return Variant(tuple(sets), position, covered, worth * found * (1 + variety) / 2, len(texts), counted)


def _is_right(task: Task, variant: Variant) -> bool:
    bits = task.bits(variant.sets[0])
    return all(task.accepts(bits, page, variant.position) for page in task.rows)


def _is_precise(task: Task, bits: int) -> bool:
    """Whether nothing but right rows are selected on labelled pages, and one only unless many are wanted."""
    for page in task.rows:
        if not task.accepts(bits, page, 0):
            return False
        if not task.many and len(task.pick(bits, page, 0)) > 1:
            return False
    return True
