"""Places to selectors: from the most specific description of the labelled places to coarser ones.

The paper takes the most general precise XPath. On the pages of the same template a specific one is right more
often, and a general one is what still holds after a change; so this departs from the paper: the rule tries the
closed description of the labelled places first (tag path, names near it, label), then coarser ones that agree with
it, and the paper's choices form the committee.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from untemplate.extraction.feature import Feature
from untemplate.extraction.rule import Selector
from untemplate.learning.features import label_feature, names, node_features, tag_path
from untemplate.learning.search import Search, disjunctions
from untemplate.learning.table import Table

__all__ = ["Task", "learn_committee", "learn_selectors"]

# Variants of one template that a rule distinguishes.
MAX_VARIANTS = 4
MAX_COMMITTEE = 3
# A coarser selector must find the same as the specific one on this share of the pages where both find something.
AGREEMENT = 0.9
# A description that needs further features to be precise must keep this share of its pages.
KEPT_SUPPORT = 0.8
# How far features may look that tell apart what a specific description leaves.
NEAR = 4
# Of those, the ones that say what a value is are tried before those that only say where it stands.
MEANINGFUL = frozenset({"inside-word", "out-left-text", "out-left-word"})


@dataclass(frozen=True)
class Task:
    """What is known of one attribute: per labelled page, per value the rows at which it may stand.

    No values: the attribute is not on that page.
    """

    table: Table
    node: str
    rows: dict[int, list[list[int]]]
    many: bool = False

    @property
    def universe(self) -> int:
        return self.table.node_bits.get(self.node, 0)

    @property
    def open_pages(self) -> list[int]:
        return [page for page in range(len(self.table.pages)) if page not in self.rows]

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

    def pick(self, bits: int, page: int, position: int) -> list[int]:
        rows = self.table.on_page(bits, page)
        if position:
            index = position - 1 if position > 0 else -1
            return rows[index : index + 1 or None]
        return rows


@dataclass(frozen=True)
class Description:
    """What is specific to a place: its tag path, the names near it, and its label."""

    path: tuple[Feature, ...]
    names: tuple[Feature, ...]
    label: Feature
    has_own_label: bool  # the label stands right before the place

    @classmethod
    def of(cls, table: Table, row: int) -> Description:
        label = label_feature(table, row)
        own = bool(label.values[0]) and table.neighbor_text(row, "left") == label.values[0]
        return cls(tag_path(table, row), names(table, row), label, own)

    def feature_sets(self) -> list[tuple[Feature, ...]]:
        """From specific to coarse. A place with a label of its own is not looked for without it."""
        sets = [(*self.path, *self.names, self.label)]
        if self.names:
            sets.append((*self.names, self.label))
        if self.names and not self.has_own_label:
            sets.append((*self.path, *self.names))
        return sets


@dataclass(frozen=True)
class Variant:
    """A description made precise, and how good it is."""

    sets: tuple[tuple[Feature, ...], ...]
    position: int
    plain: Variant | None  # without the features that were added to make it precise
    covered: frozenset[int]  # labelled pages
    found: int  # open pages on which it selects one place
    texts: int  # different texts it selects

    @property
    def rank(self) -> tuple[int, float, int]:
        """A place that needs counting to be found is worth half of one that does not."""
        return (len(self.covered), self.found / 2 if self.position else self.found, self.texts)


def learn_selectors(task: Task) -> list[Selector]:
    """Ordered selectors for one attribute; none if no place can be described."""
    variants = _cover(task, _variants(task))
    specific = [_selector(task, variant.sets[0], variant.position) for variant in variants]
    selectors = list(specific)
    for variant in variants:
        coarser = [_selector(task, features, variant.position) for features in variant.sets[1:]]
        if variant.plain:
            coarser.append(_selector(task, variant.plain.sets[0], variant.plain.position))
        selectors += (selector for selector in coarser if _agrees(task, selector, specific))
    return list(dict.fromkeys(selectors))


def learn_committee(task: Task, selectors: Sequence[Selector]) -> list[Selector]:
    """The paper's choices: most general precise feature sets, each using nothing that another uses."""
    positives = _positives(task, selectors)
    features = disjunctions([node_features(task.table, row) for row in positives])
    search = Search(task.table, positives, task.rows.keys(), task.universe, task.many)
    members: list[Selector] = []
    while features and len(members) < MAX_COMMITTEE:
        best = search.best_by_distance(features)
        if best is None or not best.is_precise:
            break
        used = {_place(feature) for feature in best.features}
        features = {feature for feature in features if _place(feature) not in used}
        member = _selector(task, best.features, 0)
        if _agrees(task, member, selectors):
            members.append(member)
    return members


def _variants(task: Task) -> list[Variant]:
    """A variant for each different description of a place where a labelled value may stand."""
    rows_of: dict[Description, list[int]] = {}
    for values in task.rows.values():
        for rows in values if task.many else values[:1]:
            for row in rows:
                rows_of.setdefault(Description.of(task.table, row), []).append(row)
    variants = [_make_precise(task, description, rows) for description, rows in rows_of.items()]
    return sorted(filter(None, variants), key=lambda variant: variant.rank, reverse=True)


def _make_precise(task: Task, description: Description, rows: list[int]) -> Variant | None:
    """The description itself if it is precise, else with what tells its rows apart, else with a position."""
    table = task.table
    sets = description.feature_sets()
    bits = table.bits(sets[0]) & task.universe
    if _is_precise(task, bits, 0):
        return _variant(task, sets, 0)
    by_position = (_variant(task, sets[:1], position) for position in _positions(task, bits, rows))
    right = (variant for variant in by_position if _is_right(task, variant))
    counted = max(right, key=lambda variant: variant.rank, default=None)
    near = {f for f in disjunctions([node_features(table, row) for row in rows]) if f.distance <= NEAR}
    search = Search(table, rows, task.rows.keys(), bits, task.many)
    enough = KEPT_SUPPORT * search.judge((), bits).support
    for features in ({f for f in near if f.type in MEANINGFUL}, near):
        best = search.best_by_support(features)
        if best is not None and best.support >= enough:
            plain = None if any(f.type == "inside-word" for f in best.features) else counted
            refined = _variant(task, [(*broad, *best.features) for broad in sets], 0, plain)
            if _is_right(task, refined):
                return refined
    return counted


def _variant(
    task: Task, sets: Sequence[tuple[Feature, ...]], position: int, plain: Variant | None = None
) -> Variant:
    bits = task.table.bits(sets[0]) & task.universe
    covered = frozenset(page for page in task.rows if task.rows[page] and task.covers(bits, page, position))
    picked = [task.pick(bits, page, position) for page in task.open_pages]
    texts = {task.table.rows[rows[0]].text for rows in picked if rows}
    found = sum(len(rows) == 1 or (task.many and len(rows) > 0) for rows in picked)
    return Variant(tuple(sets), position, plain, covered, found, len(texts))


def _is_right(task: Task, variant: Variant) -> bool:
    bits = task.table.bits(variant.sets[0]) & task.universe
    return all(task.accepts(bits, page, variant.position) for page in task.rows)


def _is_precise(task: Task, bits: int, position: int) -> bool:
    """Whether nothing but right rows are selected on labelled pages, and one only unless many are wanted."""
    for page in task.rows:
        selected = task.pick(bits, page, position)
        if not task.accepts(bits, page, position) or (len(selected) > 1 and not task.many):
            return False
    return True


def _positions(task: Task, bits: int, rows: Iterable[int]) -> list[int]:
    """Where the rows stand among those selected, from the start, and whether last."""
    if task.many:
        return [0]
    found: list[int] = []
    for row in rows:
        on_page = task.table.on_page(bits, int(task.table.row_page[row]))
        found.append(on_page.index(row) + 1)
        if row == on_page[-1]:
            found.append(-1)
    return list(dict.fromkeys(found))


def _cover(task: Task, variants: Sequence[Variant]) -> list[Variant]:
    """The best variants that together cover all labelled pages."""
    chosen: list[Variant] = []
    left = {page for page, values in task.rows.items() if values}
    for variant in variants:
        if variant.covered & left and len(chosen) < MAX_VARIANTS:
            chosen.append(variant)
            left -= variant.covered
    return chosen or list(variants[:1])


def _agrees(task: Task, selector: Selector, specific: Sequence[Selector]) -> bool:
    """Whether a selector is right on labelled pages and finds what the specific ones find on the others."""
    bits = _bits(task, selector)
    if not all(task.accepts(bits, page, selector.position) for page in task.rows):
        return False
    same = both = 0
    for page in task.open_pages:
        mine = task.pick(bits, page, selector.position)
        theirs = next(filter(None, (task.pick(_bits(task, s), page, s.position) for s in specific)), None)
        if mine and theirs:
            both += 1
            same += task.table.rows[mine[0]].text == task.table.rows[theirs[0]].text
    return same >= AGREEMENT * both and (both > 0 or not task.open_pages)


def _bits(task: Task, selector: Selector) -> int:
    return task.table.bits(selector.features) & task.universe


def _selector(task: Task, features: tuple[Feature, ...], position: int) -> Selector:
    selector = Selector(task.node, features, position)
    pages = task.open_pages
    found = sum(bool(task.pick(_bits(task, selector), page, position)) for page in pages)
    return replace(selector, support=found / len(pages) if pages else 0.0)


def _positives(task: Task, selectors: Sequence[Selector]) -> list[int]:
    """The rows that the selectors select on labelled pages."""
    positives = []
    for page in task.rows:
        picked = (task.pick(_bits(task, selector), page, selector.position) for selector in selectors)
        rows = next(filter(None, picked), [])
        positives += rows if task.many else rows[:1]
    return positives


def _place(feature: Feature) -> tuple[str, int, int]:
    """What a feature looks at: features of one place are not independent."""
    return (
        feature.side or feature.axis or ("self" if feature.is_structural else "own"),
        feature.level,
        feature.sibling,
    )
