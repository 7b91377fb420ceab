"""The features of sample nodes, and the search for the most general precise set of them (Vertex III-C.1 and 2).

The paper lists feature types only in part; this module completes the list. Values that look generated are skipped:
those that appear on one sample page only or, where the sample is too small to judge, those that contain long numbers
or look like a hash.

The search is the paper's Algorithm 3, Apriori. Departures. Feature sets are bit sets over the sample's rows. A set
that selects the same rows as an earlier one is tried again only if it looks less far, because otherwise it can only
be less general. At most `BEAM` sets of a size are extended. A set may select several nodes on a few unlabeled pages
and still count as precise (`AMBIGUOUS_SHARE`): otherwise the rare pages that show a value twice would forbid the
plainest rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from untemplate.learning.sample_table import SampleTable, bits_of
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.rules.feature import CAPTION, CELL, Feature, cell_number, element_values
from untemplate.rules.rule import Region

__all__ = [
    "PageSets",
    "ScoredFeatures",
    "Search",
    "caption_feature",
    "disjunctions",
    "features_of_row",
    "is_stable",
    "named_regions",
    "nearby_names",
    "own_names",
    "prefix_feature",
    "shared_features",
    "tag_path",
]

# Ancestors further up do not distinguish one node from its neighbors.
MAX_LEVEL = 8
# In a sample of at least this many pages, a text that appears on a single page counts as generated; the names of
# elements, of which two pages of a template share most, even in a smaller sample.
MIN_PAGES_TO_JUDGE = 3
MIN_PAGES_TO_JUDGE_NAMES = 2
# Nearest named ancestors that describe a node.
MAX_NAMED_ANCESTORS = 2
# Kinds of element values that name an element.
NAMING_KINDS = frozenset({"class", "token", "id", "@itemprop", "@property", "@name"})
_GENERATED = re.compile(r"\d{3,}|(?=.*\d)[0-9a-f]{6,}|(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w-]{5,}")

# Beam and ambiguity were swept with `python -m benchmarks.measure.constants`: twice as much of either is not better.
MAX_FEATURES = 4
BEAM = 60
MAX_DISJUNCTION = 3
AMBIGUOUS_SHARE = 0.1

# Which of several features that select the same rows to keep: those that name things come before those that count.
_PREFERENCE = (
    *("id", "@itemprop", "@property", CAPTION, "text"),
    *("class", "token", CELL, "inside-word", "word", "tag"),
)


def features_of_row(table: SampleTable, row: int) -> set[Feature]:
    """Return all stable features of one node."""
    return {*_structural_features(table, row), *_features_of_texts(table, row)}


def shared_features(table: SampleTable, rows: Iterable[int]) -> set[Feature]:
    """Return the features that all rows share, and disjunctions of those in which they differ."""
    return disjunctions([features_of_row(table, row) for row in rows])


def tag_path(table: SampleTable, row: int) -> tuple[Feature, ...]:
    """Return the tags of all elements above a node, up to the root."""
    path = []
    level = 1
    while element := int(table.ancestor(level)[row]):
        path.append(Feature("tag", level, (table.element(element).tag,)))
        level += 1
    return tuple(path)


def nearby_names(table: SampleTable, row: int) -> tuple[Feature, ...]:
    """Return the stable names of the nearest ancestors that have any."""
    names: list[Feature] = []
    level, named_ancestors = 1, 0
    while (element := int(table.ancestor(level)[row])) and named_ancestors < MAX_NAMED_ANCESTORS:
        element_names = _stable_names(table, element, level)
        names += _without_redundant(element_names)
        named_ancestors += bool(element_names)
        level += 1
    return tuple(names)


def own_names(table: SampleTable, row: int) -> tuple[Feature, ...]:
    """Return the tag and the stable names of the element that contains a node, or that is the node."""
    element = int(table.ancestor(1)[row])
    tag = Feature("tag", 1, (table.element(element).tag,))
    return (tag, *_without_redundant(_stable_names(table, element, 1)))


def named_regions(table: SampleTable, row: int) -> Iterator[Region]:
    """Yield the nearest elements around a node that have a stable name which no other element of the page has."""
    page = int(table.row_page[row])
    element, found = int(table.parent[table.ancestor(1)[row]]), 0
    while element and found < MAX_NAMED_ANCESTORS:
        names = [
            name
            for name in _stable_names(table, element, 1)
            if table.count_on_page(name.kind, name.values[0], page) == 1
        ]
        if names:
            found += 1
            tag = Feature("tag", 1, (table.element(element).tag,))
            yield Region(
                (tag, min(names, key=lambda name: (name.kind == "class", len(name.values[0]), name.values)))
            )
        element = int(table.parent[element])


def _stable_names(table: SampleTable, element: int, level: int) -> list[Feature]:
    names = []
    for kind, value in sorted(element_values(table.element(element))):
        if kind in NAMING_KINDS and is_stable(table, kind, value):
            names.append(Feature(kind, level, (value,)))
    return names


def _without_redundant(names: list[Feature]) -> list[Feature]:
    """Drop names that repeat others: a class includes its tokens, and either is better than an id."""
    kinds = {feature.kind for feature in names}
    redundant = set()
    if "class" in kinds:
        redundant.add("token")
    if kinds & {"class", "token"}:
        redundant.add("id")
    return [feature for feature in names if feature.kind not in redundant]


def caption_feature(table: SampleTable, row: int) -> Feature:
    """Return the caption of a node, which is the nearest static text before it, as a feature."""
    return Feature(CAPTION, 0, (table.captions[row],))


def prefix_feature(table: SampleTable, before: str) -> tuple[Feature, ...]:
    """Return a feature for the text in front of a value inside its node; empty unless other pages have it too.

    Args:
        table: the sample.
        before: the node's text up to the value, such as `"Tel: "`.
    """
    prefix = before.strip()
    if not prefix or len(prefix) > MAX_CAPTION_LENGTH:
        return ()
    if len(table.pages) > 1 and _pages_with_prefix(table, prefix) <= 1:
        return ()
    return (Feature("inside-left-text", 0, (prefix,)),)


def _pages_with_prefix(table: SampleTable, prefix: str) -> int:
    first_word = prefix.split(" ")[0]
    rows = table.rows_by("first", first_word)
    return len({int(table.row_page[row]) for row in rows if table.rows[row].text.startswith(prefix)})


def is_stable(table: SampleTable, kind: str, value: str) -> bool:
    """Return True if an element's value looks like part of the template, not generated for one page."""
    if kind == "tag":
        return True
    if not value.strip() or len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < MIN_PAGES_TO_JUDGE_NAMES:
        return not _GENERATED.search(value)
    return table.pages_with(kind, value) > 1


def _is_stable_text(table: SampleTable, kind: str, value: str) -> bool:
    if len(value) > MAX_CAPTION_LENGTH:
        return False
    if len(table.pages) < MIN_PAGES_TO_JUDGE:
        return not _GENERATED.search(value)
    return table.pages_with_text(kind, value) > 1


def _structural_features(table: SampleTable, row: int) -> Iterator[Feature]:
    """Yield the features of a node's ancestors, of their siblings and, for a text node, of its own siblings."""
    if table.rows[row].is_text:
        for axis in ("preceding", "following"):
            yield from _sibling_features(table, int(table.row_sibling[axis][row]), axis, 0)
    for level in range(1, MAX_LEVEL + 1):
        element = int(table.ancestor(level)[row])
        if not element:
            return
        yield from _element_features(table, element, "{}", level)
        yield from _cell_features(table, element, level)
        for axis in ("preceding", "following"):
            yield from _sibling_features(table, int(table.sibling[axis][element]), axis, level)


def _sibling_features(table: SampleTable, sibling: int, axis: str, level: int) -> Iterator[Feature]:
    """Yield the features of the two nearest siblings in one direction; the first missing one is a feature, too."""
    for distance in (1, 2):
        type_ = f"{axis}-sibling-{{}}-{distance}"
        if not sibling:
            yield Feature(type_.format("tag"), level, ("",))
            return
        yield from _element_features(table, sibling, type_, level)
        sibling = int(table.sibling[axis][sibling])


def _element_features(table: SampleTable, element: int, type_: str, level: int) -> Iterator[Feature]:
    for kind, value in element_values(table.element(element)):
        if is_stable(table, kind, value):
            yield Feature(type_.format(kind), level, (value,))


def _cell_features(table: SampleTable, element: int, level: int) -> Iterator[Feature]:
    """Yield the number of a table cell in its row, in the records of list pages.

    Rows of a list have the same cells, empty or not. Tables of other pages have captions, which say more.
    """
    if table.is_of_records and (number := cell_number(table.element(element))):
        yield Feature(CELL, level, (str(number),))


def _features_of_texts(table: SampleTable, row: int) -> Iterator[Feature]:
    if table.rows[row].kind == "element":
        return
    left, right = table.neighbor_text(row, "left"), table.neighbor_text(row, "right")
    yield from _neighbor_features(table, "left", left, ("last", left.rpartition(" ")[2]))
    yield from _neighbor_features(table, "right", right, ("first", right.partition(" ")[0]))
    if table.captions[row]:
        yield caption_feature(table, row)
    if len(table.pages) < MIN_PAGES_TO_JUDGE:  # too few to distinguish words of the template and of the value
        return
    for word in set(table.rows[row].text.split(" ")):
        if any(map(str.isalpha, word)) and _is_stable_text(table, "word", word):
            yield Feature("inside-word", 0, (word,))


def _neighbor_features(
    table: SampleTable, side: str, text: str, edge_word: tuple[str, str]
) -> Iterator[Feature]:
    """Yield the text beside a node, and the word of it that is nearest to the node."""
    edge, word = edge_word
    if text and _is_stable_text(table, "text", text):
        yield Feature(f"out-{side}-text", 0, (text,))
    if word and _is_stable_text(table, edge, word):
        yield Feature(f"out-{side}-word", 0, (word,))


@dataclass(frozen=True, slots=True)
class ScoredFeatures:
    """Features that a node must have, the rows that have them, and the paper's measures.

    Attributes:
        precision: share of right rows among those selected on labeled pages.
        distance: how far from the node its features look.
        support: share of the unlabeled pages on which it selects something.
        is_precise: whether it selects nothing wrong, and rarely several nodes on a page.
    """

    features: tuple[Feature, ...]
    bits: int
    precision: float
    distance: int
    support: float
    is_precise: bool

    @property
    def by_distance(self) -> tuple[float, int, float, int]:
        """The paper's order, best first: precision, then the smallest distance, then support."""
        return (-self.precision, self.distance, -self.support, len(self.features))

    @property
    def by_support(self) -> tuple[float, float, int, int]:
        """Support before distance, for sets that only refine a specific description."""
        return (-self.precision, -self.support, self.distance, len(self.features))

    def beats(self, best: ScoredFeatures | None) -> bool:
        """Return True if the paper prefers this set; a precise set beats any other."""
        if best is None:
            return True
        if self.is_precise != best.is_precise:
            return self.is_precise
        return self.by_distance < best.by_distance

    def may_improve_on(self, best: ScoredFeatures) -> bool:
        """Return True if adding features may lead to a better set: distance only grows, support only shrinks."""
        if self.is_precise:
            return False
        return not best.is_precise or (self.distance, -self.support) < (best.distance, -best.support)


class PageSets:
    """Rows of several pages as one bit set, of which a few operations count pages instead of rows.

    The last row of a page serves as its counter: adding ones to all other rows of the page carries into it if any of
    them is set. A loop over pages takes several times as long, and learning spends most of its time here.

    Args:
        pages: the rows of each page as a bit set; those of a page are consecutive.
    """

    def __init__(self, pages: Iterable[int]) -> None:
        self._size = 0
        self._first = self._last = self._others = 0
        for page in pages:
            self._size += 1
            if not page:
                continue
            last = 1 << (page.bit_length() - 1)
            self._first |= page & -page
            self._last |= last
            self._others |= page ^ last

    def __len__(self) -> int:
        return self._size

    def count(self, bits: int) -> tuple[int, int]:
        """Return on how many pages a bit set has any row, and on how many it has several.

        Example:
            >>> PageSets([0b000111, 0b111000]).count(0b101010)
            (2, 1)
        """
        last, others = bits & self._last, bits & self._others
        has_others = (others + self._others) & self._last
        # Taking one away on each page clears the lowest row that is set.
        rest = others & ((others | self._last) - self._first)
        has_several = ((rest + self._others) & self._last) | (has_others & last)
        return (has_others | last).bit_count(), has_several.bit_count()


class Search:
    """Search for feature sets that select all positive rows and, ideally, nothing else.

    Args:
        table: the sample.
        positives: the rows to select.
        labeled_pages: pages on which every other row is known to be wrong.
        universe: bit set of the rows that may be selected at all.
        many: whether a page may have several right rows.
    """

    def __init__(
        self,
        table: SampleTable,
        positives: Iterable[int],
        labeled_pages: Collection[int],
        universe: int,
        many: bool = False,
    ) -> None:
        self.table = table
        self.positive = bits_of(positives)
        self.universe = universe | self.positive
        self.labeled = sum(table.page_bits[page] for page in set(labeled_pages))
        self.unlabeled = PageSets(
            bits for page, bits in enumerate(table.page_bits) if page not in labeled_pages
        )
        self.many = many

    def best_by_distance(self, features: Iterable[Feature]) -> ScoredFeatures | None:
        """Return the paper's choice; it is imprecise only if no precise set exists."""
        singles = self._singles(features)
        best: ScoredFeatures | None = None
        level, seen = singles, {single.bits: single.distance for single in singles}
        for _ in range(MAX_FEATURES):
            for candidate in level:
                if candidate.beats(best):
                    best = candidate
            if best is None:
                break
            promising = [candidate for candidate in level if candidate.may_improve_on(best)]
            if best.is_precise:
                # What looks further than a precise set is never better, however it is extended.
                singles = [single for single in singles if single.distance <= best.distance]
            level = self._extend(promising, singles, seen, lambda candidate: candidate.by_distance)
        return best

    def best_by_support(self, features: Iterable[Feature]) -> ScoredFeatures | None:
        """Return the precise set with the largest support; None if no set is precise."""
        singles = self._singles(features)
        best: ScoredFeatures | None = None
        level, seen = singles, {single.bits: single.distance for single in singles}
        for _ in range(MAX_FEATURES):
            precise = [candidate for candidate in (best, *level) if candidate and candidate.is_precise]
            best = min(precise, key=lambda candidate: candidate.by_support, default=None)
            least = best.support if best else -1.0
            # Sets with more support than the best are imprecise, or they would be the best.
            promising = [candidate for candidate in level if candidate.support > least]
            level = self._extend(promising, singles, seen, lambda candidate: candidate.by_support)
        return best

    def judge(self, features: tuple[Feature, ...], bits: int) -> ScoredFeatures:
        """Return a feature set with the paper's measures."""
        selected = (bits & self.labeled).bit_count()
        filled, ambiguous = self.unlabeled.count(bits)
        if self.many:
            ambiguous = 0
        pages = len(self.unlabeled)
        precision = self.positive.bit_count() / selected if selected else 0.0
        return ScoredFeatures(
            features,
            bits,
            precision,
            distance=max((feature.distance for feature in features), default=0),
            support=filled / pages if pages else 0.0,
            is_precise=precision == 1 and ambiguous <= AMBIGUOUS_SHARE * pages,
        )

    def _singles(self, features: Iterable[Feature]) -> list[ScoredFeatures]:
        """Return sets of one feature that select all positive rows but not everything, one for each set of rows."""
        by_rows: dict[int, Feature] = {}
        for feature in sorted(features, key=_preference):
            bits = self.table.bits([feature]) & self.universe
            if bits & self.positive == self.positive and bits != self.universe:
                by_rows.setdefault(bits, feature)
        return [self.judge((feature,), bits) for bits, feature in by_rows.items()]

    def _extend(
        self,
        candidates: Sequence[ScoredFeatures],
        singles: Sequence[ScoredFeatures],
        seen: dict[int, int],
        order: Callable[[ScoredFeatures], tuple[float, ...]],
    ) -> list[ScoredFeatures]:
        """Add one feature to each of the best candidates. `seen` maps the rows tried so far to their distance."""
        extended = []
        for candidate in sorted(candidates, key=order)[:BEAM]:
            for single in singles:
                bits = candidate.bits & single.bits
                if bits == candidate.bits:
                    continue
                distance = max(candidate.distance, single.distance)
                if distance < seen.get(bits, distance + 1):
                    seen[bits] = distance
                    extended.append(self.judge(candidate.features + single.features, bits))
        return extended


def disjunctions(features_of: Sequence[set[Feature]]) -> set[Feature]:
    """Return the features that all nodes share, and for each type and level where they differ "one of these values".

    As in the paper, a disjunction has at most three values.
    """
    made = set.intersection(*features_of) if features_of else set()
    values_of: dict[tuple[str, int], list[set[str]]] = {}
    for features in features_of:
        for key, values in _values_by_type(features).items():
            values_of.setdefault(key, []).append(values)
    for (type_, level), value_sets in values_of.items():
        union = set().union(*value_sets)
        all_nodes_have_it = len(value_sets) == len(features_of)
        if all_nodes_have_it and 1 < len(union) <= MAX_DISJUNCTION:
            made.add(Feature(type_, level, tuple(sorted(union))))
    return made


def _values_by_type(features: Iterable[Feature]) -> dict[tuple[str, int], set[str]]:
    values: dict[tuple[str, int], set[str]] = {}
    for feature in features:
        values.setdefault((feature.type, feature.level), set()).update(feature.values)
    return values


def _preference(feature: Feature) -> tuple[int, int, str, int, tuple[str, ...]]:
    """Return a sort key that no two features share, so that rules do not depend on the order of sets."""
    rank = _PREFERENCE.index(feature.kind) if feature.kind in _PREFERENCE else len(_PREFERENCE)
    return (feature.distance, rank, feature.type, feature.level, feature.values)
