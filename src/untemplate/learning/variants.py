"""Variants: descriptions of the labeled places that are precise enough for a rule.

A description consists of the tag path of a node, the names near it and its caption. Where it also selects other
nodes, features that exclude them are added. Where no features do, a position is added.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice
from statistics import mean

from untemplate.learning.element_table import position_slice
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import (
    Search,
    caption_feature,
    named_regions,
    nearby_names,
    own_names,
    prefix_feature,
    shared_features,
    tag_path,
)
from untemplate.page.locating import MAX_OCCURRENCES
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.rule import Region
from untemplate.value_types import Type, is_one_typed

__all__ = [
    "Description",
    "LearningTarget",
    "Variant",
    "allowed_features",
    "choose_variants",
    "find_variants",
    "fits_target",
]

# The constants below were set while looking at misses on SWDE and on made-up sites, then swept on made-up sites not
# seen before (`python -m benchmarks.measure.constants`): no value tried is better there by more than 0.001.

# Features added to make a description precise must keep this share of the pages on which it selects something.
MIN_KEPT_SUPPORT = 0.8
# Greatest distance from the node of such features.
MAX_DISTANCE = 4
# Types of such features that say what a value is; they are tried before those that only say where it is.
MEANINGFUL_TYPES = frozenset({"inside-word", "out-left-text", "out-left-word"})
# Worth of a variant with features added, without its caption, that takes the first or last of several nodes, that
# counts nodes, or that only says what all of several values share; 1 for a plain description. The last one was set on
# made-up facts in any order (`tests/learning/trials.py`): 0.25 is worse; on made-up sites 0.25 to 0.75 are alike.
WORTH_REFINED, WORTH_UNCAPTIONED, WORTH_FIRST, WORTH_COUNTED, WORTH_GENERAL = 0.75, 0.5, 0.5, 0.2, 0.5
# Worth of a variant that only says what names a value has, and in which part of the page it is.
WORTH_IN_REGION = 0.4
# Nodes that are counted inside a region.
MAX_REGION_POSITION = 3
# Worth of a part of a text, if no other text begins with the words in front of it.
WORTH_UNANCHORED = 0.5
# A place with this share of different texts has its full worth; one that shows the same text on all pages, half.
FULL_VARIETY_SHARE = 0.5
# Added to the number of pages that a variant fits, so that its worth counts where there are no unlabeled pages.
UNSEEN_PAGES = 0.01
HEADINGS = {"h1": 3, "h2": 2, "h3": 1}

# Variants of one template that a rule distinguishes.
MAX_VARIANTS = 4


@dataclass(frozen=True)
class LearningTarget:
    """What a rule for one attribute must select.

    Attributes:
        table: the sample.
        node: the kind of node to select, such as `text()`.
        rows: for each labeled page, for each value on it, the rows where it may be. A page without values has a gap.
        many: whether a page may have several values.
        before: for rows where the value is a part of the text, the text in front of it.
        weights: how well a row fits the places of the page's other attributes, from 0 to 1; 1 if it has no entry.
        type: the type that each labeled value is one value of, so that other texts do not count; None for any text.
    """

    table: SampleTable
    node: str
    rows: dict[int, list[list[int]]]
    many: bool = False
    before: Mapping[int, str] = field(default_factory=dict)
    weights: Mapping[int, float] = field(default_factory=dict)
    type: Type | None = None

    @property
    def universe(self) -> int:
        """All rows that may be selected."""
        return self.table.node_bits.get(self.node, 0)

    @property
    def unlabeled_pages(self) -> list[int]:
        """The sample pages without a label."""
        return [page for page in range(len(self.table.pages)) if page not in self.rows]

    def bits(self, features: Sequence[Feature], region: Region | None = None) -> int:
        """Return the rows that have all these features, inside a region if there is one."""
        bits = self.table.bits(features) & self.universe
        if region is None:
            return bits
        top = max((feature.level for feature in features if feature.is_structural), default=0)
        return bits & self.table.rows_inside(region, self.node, top)

    def select(self, bits: int, page: int, position: int) -> list[int]:
        """Return the rows that a selector with this position selects on a page; position 0 selects all."""
        return self.table.on_page(bits, page)[position_slice(position)]

    def valid_rows(self, rows: list[int]) -> list[int]:
        """Return the rows without those crossed out, unless all are or several values are wanted."""
        if self.many or len(rows) < 2:
            return rows
        return [row for row in rows if not self.table.crossed_out >> row & 1] or rows

    def accepts(self, bits: int, page: int, position: int) -> bool:
        """Return True if a selector selects nothing wrong on a labeled page; it may select nothing."""
        selected = self.select(bits, page, position)
        right = set(chain.from_iterable(self.rows[page]))
        return right.issuperset(selected if self.many else selected[:1])

    def covers(self, bits: int, page: int, position: int) -> bool:
        """Return True if a selector finds the value of a labeled page, or all of them if there are many."""
        selected = self.select(bits, page, position)
        if not selected or not self.accepts(bits, page, position):
            return False
        return not self.many or all(set(rows) & set(selected) for rows in self.rows[page])

    def accepts_everywhere(
        self, features: Sequence[Feature], position: int, region: Region | None = None
    ) -> bool:
        """Return True if a selector selects nothing wrong on any labeled page."""
        bits = self.bits(features, region)
        return all(self.accepts(bits, page, position) for page in self.rows)

    def is_precise(self, bits: int) -> bool:
        """Return True if these rows are right on all labeled pages, and one per page unless many are wanted."""
        for page in self.rows:
            if not self.accepts(bits, page, 0):
                return False
            if not self.many and len(self.select(bits, page, 0)) > 1:
                return False
        return True

    def selects_on_gap(self, bits: int) -> bool:
        """Return True if these rows include one on a page that is labeled as having no value."""
        gaps = (page for page, values in self.rows.items() if not values)
        return any(self.select(bits, page, 0) for page in gaps)

    def values_to_select(self) -> Iterator[list[int]]:
        """Yield the rows of each value if there are many, else those of each page's first."""
        for values in self.rows.values():
            yield from values if self.many else values[:1]

    def labeled_rows(self) -> Iterator[int]:
        """Yield the rows to describe."""
        return chain.from_iterable(self.values_to_select())

    def best_rows(self) -> list[int]:
        """Return the rows to describe that fit the places of the page's other attributes best."""
        rows = list(dict.fromkeys(self.labeled_rows()))
        best = max((self.weights.get(row, 1.0) for row in rows), default=0.0)
        return [row for row in rows if self.weights.get(row, 1.0) == best]


@dataclass(frozen=True)
class Description:
    """The tag path of a node, the names near it, and its caption."""

    path: tuple[Feature, ...]
    names: tuple[Feature, ...]
    caption: Feature | None
    prefix: tuple[Feature, ...] = ()  # how the text begins, where the value is a part of it
    has_own_caption: bool = False  # the caption is right before the value

    @classmethod
    def of(cls, target: LearningTarget, row: int) -> Description:
        """Describe a row of the sample."""
        table = target.table
        caption = caption_feature(table, row)
        prefix = prefix_feature(table, target.before.get(row, ""))
        is_adjacent = bool(caption.values[0]) and table.neighbor_text(row, "left") == caption.values[0]
        own = is_adjacent or bool(prefix)
        return cls(tag_path(table, row), nearby_names(table, row), caption, prefix, own)

    def without_caption(self) -> Description:
        """Return the description for pages on which the caption is missing or varies."""
        return replace(self, caption=None, has_own_caption=bool(self.prefix))

    def feature_sets(self) -> list[tuple[Feature, ...]]:
        """Return selectors from specific to coarse. A node with a caption of its own is always selected by it."""
        captions = (*self.prefix, self.caption) if self.caption else self.prefix
        sets = [(*self.path, *self.names, *captions)]
        if self.names:
            sets.append((*self.names, *captions))
        if self.names and self.caption and not self.has_own_caption:
            sets.append((*self.path, *self.names))
        if self.prefix and self.caption:
            sets.append((*self.path, *self.prefix))
        return sets


@dataclass(frozen=True)
class Variant:
    """One way in which a template shows an attribute: feature sets, from specific to coarse.

    Attributes:
        sets: each is right on the labeled pages.
        position: which of the selected nodes to take, 0 for all.
        covered: the labeled pages whose value the first set finds.
        score: the number of unlabeled pages on which the first set selects one node, weighted by its worth.
        texts: the number of different texts selected there.
        counted: an alternative that uses a position instead of the features added for precision.
        region: the part of the page that the feature sets are limited to.
    """

    sets: tuple[tuple[Feature, ...], ...]
    position: int
    covered: frozenset[int]
    score: float
    texts: int
    counted: Variant | None = None
    region: Region | None = None

    @property
    def rank(self) -> tuple[int, float, int, int]:
        """Sort key, best last. Ties prefer headings, which matters on sites with a single page."""
        near = (feature for feature in self.sets[0] if feature.level <= 2)
        heading = max((_heading_level(feature) for feature in near), default=0)
        return (len(self.covered), self.score, self.texts, heading)


def _heading_level(feature: Feature) -> int:
    return max((HEADINGS.get(value, 0) for value in feature.values), default=0)


def find_variants(target: LearningTarget) -> list[Variant]:
    """Return a variant for each different description of a labeled row, best first."""
    rows_of: dict[Description, list[int]] = {}
    for row in dict.fromkeys(target.labeled_rows()):
        description = Description.of(target, row)
        rows_of.setdefault(description, []).append(row)
        rows_of.setdefault(description.without_caption(), []).append(row)
    variants = [_make_precise(target, description, rows) for description, rows in rows_of.items()]
    variants += _general_variants(target)
    if not target.many:
        variants += _variants_in_regions(target)
    useful = [variant for variant in variants if variant and variant.covered]
    return sorted(useful, key=lambda variant: variant.rank, reverse=True)


def _make_precise(target: LearningTarget, description: Description, rows: list[int]) -> Variant | None:
    """Return the description itself if it is precise, else with features added, else with a position."""
    sets = description.feature_sets()
    bits = target.bits(sets[0])
    worth = 1.0 if description.caption else WORTH_UNCAPTIONED
    if rows[0] in target.before and not description.prefix:
        worth *= WORTH_UNANCHORED
    if target.is_precise(bits):
        return _make_variant(target, sets, 0, worth)
    if not description.caption and not target.many and not target.selects_on_gap(bits):
        return None
    counted = _count_nodes(target, sets[0], rows)
    return _refine(target, sets, rows, worth * WORTH_REFINED, counted) or counted


def _refine(
    target: LearningTarget,
    sets: Sequence[tuple[Feature, ...]],
    rows: Sequence[int],
    worth: float,
    counted: Variant | None,
) -> Variant | None:
    """Return a variant with features added that exclude all wrong rows; None if they lose too many pages.

    Args:
        target: what to select.
        sets: the feature sets of a description, from specific to coarse.
        rows: the right rows that the description fits.
        worth: the weight of the refined variant.
        counted: the alternative with a position. A word of the value itself needs none.
    """
    added = _excluding_features(target, sets[0], rows)
    if not added:
        return None
    refined = [(*features, *added) for features in sets]
    is_by_word = any(feature.type == "inside-word" for feature in added)
    return _make_variant(target, refined, 0, worth, None if is_by_word else counted)


def _excluding_features(
    target: LearningTarget, description: tuple[Feature, ...], rows: Sequence[int]
) -> tuple[Feature, ...]:
    """Return features to add to a description so that it selects nothing wrong; empty if there are none.

    Features that say what a value is are tried before those that only say where it is.
    """
    bits = target.bits(description)
    search = Search(target.table, rows, target.rows.keys(), bits, target.many)
    # A description that selects something on a page without a value has to lose pages.
    min_support = 0.0 if target.selects_on_gap(bits) else MIN_KEPT_SUPPORT * search.judge((), bits).support
    shared = allowed_features(target, shared_features(target.table, rows))
    near = {feature for feature in shared if feature.distance <= MAX_DISTANCE}
    meaningful = {feature for feature in near if feature.type in MEANINGFUL_TYPES}
    for candidates in (meaningful, near):
        best = search.best_by_support(candidates)
        if best is None or best.support < min_support:
            continue
        if target.accepts_everywhere((*description, *best.features), 0):
            return best.features
    return ()


def _count_nodes(
    target: LearningTarget, features: tuple[Feature, ...], rows: Sequence[int]
) -> Variant | None:
    """Return the description with the position that is right on all labeled pages, and best on the others."""
    if target.many:
        return None
    variants = []
    for position in _positions(target, target.bits(features), rows):
        worth = WORTH_FIRST if position in (1, -1) else WORTH_COUNTED
        if target.accepts_everywhere(features, position):
            variants.append(_make_variant(target, [features], position, worth))
    return max(variants, key=lambda variant: variant.rank, default=None)


def _positions(target: LearningTarget, bits: int, rows: Iterable[int]) -> list[int]:
    """Return the positions of rows among those selected on their page, counted from 1; −1 for the last.

    Rows that are not selected have none: no rule can name a tag with control characters, as damaged pages have.
    """
    positions: dict[int, None] = {}
    for page, page_rows in groupby(rows, key=lambda row: int(target.table.row_page[row])):
        on_page = target.table.on_page(bits, page)
        numbers = {row: number for number, row in enumerate(on_page, 1)}
        for row in filter(numbers.__contains__, page_rows):
            positions[numbers[row]] = None
            if row == on_page[-1]:
                positions[-1] = None
    return list(positions)


def _variants_in_regions(target: LearningTarget) -> Iterator[Variant]:
    """Yield variants by a value's own names, within the nearest elements whose names occur once on the page.

    They do not depend on what is between: a price may be inside a mark for reduced prices on some pages only.
    """
    for row in target.best_rows():
        if row in target.before:
            continue
        own = own_names(target.table, row)
        is_named = len(own) > 1 or own[0].values[0] in HEADINGS
        for region in islice(named_regions(target.table, row), None if is_named else 1):
            yield from _variants_in_region(target, row, own, region, is_named)


def _variants_in_region(
    target: LearningTarget, row: int, own: tuple[Feature, ...], region: Region, is_named: bool
) -> Iterator[Variant]:
    """Yield the variants of one region: the only node with these names there, or one of the first or last."""
    bits = target.bits(own, region)
    is_only = target.is_precise(bits)
    for position in _positions(target, bits, [row]):
        if abs(position) <= MAX_REGION_POSITION and target.accepts_everywhere(own, position, region):
            is_sure = is_only or (is_named and position in (1, -1))
            worth = WORTH_IN_REGION if is_sure else WORTH_COUNTED
            yield _make_variant(target, [own], 0 if is_only else position, worth, region=region)


def _general_variants(target: LearningTarget) -> Iterator[Variant]:
    """Yield what the values of all labeled pages share, by the paper's search (Algorithm 3).

    Such values may differ in path and caption, and be told apart only by what follows them.
    """
    positives = _one_row_per_value(target)
    general = _most_general(target, positives) if positives else ()
    if not general:
        return
    paths = [tag_path(target.table, row) for row in positives]
    shared_path = [tag for tag in paths[0] if all(tag in path for path in paths)]
    specific = tuple(dict.fromkeys((*shared_path, *general)))
    counts = any(feature.counts_siblings for feature in general)
    yield _make_variant(target, [specific, general], 0, WORTH_COUNTED if counts else WORTH_GENERAL)


def _most_general(target: LearningTarget, positives: Sequence[int]) -> tuple[Feature, ...]:
    """Return the most general precise features of some rows; empty if there are none.

    Where all rows have the same text of the template right before them, it is a condition: without it there is no
    value.
    """
    features = allowed_features(target, shared_features(target.table, positives))
    left = tuple(f for f in features if f.type == "out-left-text" and len(f.values) == 1)
    search = Search(target.table, positives, target.rows.keys(), target.bits(left), target.many)
    if search.judge(left, search.universe).is_precise:
        return left
    best = search.best_by_distance(features)
    return (*left, *best.features) if best and best.is_precise else ()


def _one_row_per_value(target: LearningTarget) -> list[int]:
    """Return a row for each value: the best-weighted of its rows, if possible at the path of the others."""
    weights, table = target.weights, target.table
    values = [rows[:MAX_OCCURRENCES] for rows in target.values_to_select()]
    paths: Counter[str] = Counter()
    for rows in values:
        paths.update({table.rows[row].path for row in rows})
    return [
        max(rows, key=lambda row: (weights.get(row, 1.0), paths[table.rows[row].path])) for rows in values
    ]


def allowed_features(target: LearningTarget, features: Iterable[Feature]) -> set[Feature]:
    """Return the features without content: words of several values, or of their neighbors, are no description."""
    if not target.many:
        return set(features)
    return {feature for feature in features if feature.is_structural or feature.kind == CAPTION}


def _make_variant(
    target: LearningTarget,
    sets: Sequence[tuple[Feature, ...]],
    position: int,
    worth: float,
    counted: Variant | None = None,
    region: Region | None = None,
) -> Variant:
    """Return a variant with its measures on the sample. Places whose text varies from page to page score higher."""
    bits = target.bits(sets[0], region)
    covered = frozenset(page for page in target.rows if target.covers(bits, page, position))
    selected = [target.valid_rows(target.select(bits, page, position)) for page in target.unlabeled_pages]
    texts = {target.table.rows[rows[0]].text for rows in selected if rows}
    fitting = sum(fits_target(target, rows) for rows in selected)
    variety = min(1.0, len(texts) / (FULL_VARIETY_SHARE * fitting)) if fitting else 1.0
    weight = _mean_weight(target, [target.select(bits, page, position)[0] for page in covered])
    score = worth * weight * (fitting + UNSEEN_PAGES) * (1 + variety) / 2
    return Variant(tuple(sets), position, covered, score, len(texts), counted, region)


def _mean_weight(target: LearningTarget, rows: Sequence[int]) -> float:
    """Return how well rows fit the places of the page's other attributes, on average; 0 if there are none."""
    return mean(target.weights.get(row, 1.0) for row in rows) if rows else 0.0


def fits_target(target: LearningTarget, rows: Sequence[int]) -> bool:
    """Return True if what a selector selects on an unlabeled page can be right: one value, unless many are wanted."""
    if not rows or (len(rows) > 1 and not target.many):
        return False
    return target.type is None or is_one_typed(target.table.rows[rows[0]].text, target.type)


def choose_variants(target: LearningTarget, variants: Sequence[Variant]) -> list[Variant]:
    """Return the best variants that together cover as many labeled pages as possible."""
    chosen: list[Variant] = []
    uncovered = {page for page, values in target.rows.items() if values}
    for variant in variants:
        if variant.covered & uncovered and len(chosen) < MAX_VARIANTS:
            chosen.append(variant)
            uncovered -= variant.covered
    return chosen
