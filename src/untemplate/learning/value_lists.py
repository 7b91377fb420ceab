"""Rules for lists of values: the ingredients of a recipe, the categories of a product.

The members of a list are described by what they share: tag and classes, and those of their parents. Such a
description fits other elements of the page, too, so it is limited to a region. The smallest element around the
labeled members is the worst region, as other pages may have a second list beside the first. We therefore climb to
larger and larger regions while the description still selects exactly the labeled members there.

Many pairs of description and region fit the labels. They vote on the unlabeled pages: see `list_election`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from untemplate.learning.list_election import LearnedList, ListCandidate, elect_list, keys_on
from untemplate.learning.sample_table import SampleTable, bits_of
from untemplate.learning.search import is_stable
from untemplate.learning.value_spans import PageSpans, Span
from untemplate.page.locating import letters_and_digits
from untemplate.rules.feature import Feature, element_values
from untemplate.rules.rule import Region, Selector

__all__ = ["ListPlace", "element_around", "find_list_places", "learn_value_list"]

# Elements around a list that are tried as regions.
MAX_REGIONS = 8
# Names of an element that are tried alone.
MAX_SINGLE_NAMES = 4
# Of several elements that look like the region, only the first few are worth counting.
MAX_REGION_POSITION = 3

_Names = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class ListPlace:
    """Where the members of a labeled list are on one page.

    Attributes:
        page: the number of the page in the sample.
        rows: for each member found, the rows that equal it, outer elements first.
        expected: letters and digits of the members found.
        lost: how many labeled members were not found.
    """

    page: int
    rows: tuple[tuple[int, ...], ...]
    expected: tuple[str, ...]
    lost: int


def find_list_places(table: SampleTable, page: int, values: Sequence[str]) -> list[ListPlace]:
    """Return the places of a page that show the values of a list in their order, best first."""
    spans = table.spans(page).for_values(values)
    return [_make_place(page, spans, place, values) for place in spans.find_lists(values)]


def _make_place(page: int, spans: PageSpans, place: Mapping[int, Span], values: Sequence[str]) -> ListPlace:
    rows = tuple(tuple(spans.rows_at[span]) for span in place.values())
    expected = tuple(letters_and_digits(values[number]) for number in place)
    return ListPlace(page, rows, expected, len(values) - len(place))


def element_around(table: SampleTable, place: ListPlace) -> int:
    """Return the smallest element around all members of a list."""
    numbers = [int(table.ancestor(1)[rows[0]]) for rows in place.rows]
    if len(numbers) == 1:
        return int(table.parent[numbers[0]])
    return _common_element(table, numbers[0], numbers[-1])


def _common_element(table: SampleTable, number: int, last: int) -> int:
    while number and not number <= last <= int(table.subtree_end[number]):
        number = int(table.parent[number])
    return number


def learn_value_list(
    table: SampleTable, places: Mapping[int, Sequence[ListPlace]], gaps: Iterable[int] = ()
) -> LearnedList | None:
    """Learn the selectors of a list from the places of its labeled members.

    Args:
        table: a sample with elements as rows.
        places: for each labeled page, where the list may be, best first.
        gaps: pages labeled as having no list, on which nothing should be selected.

    Returns:
        The selectors; None if nothing but their content distinguishes the members from other texts.
    """
    candidates: dict[Selector, ListCandidate] = {}
    for page_places in places.values():
        for place in page_places:
            for candidate in _Describer(table, place).candidates():
                candidates.setdefault(candidate.selector, candidate)
    expected = {page: {place.expected for place in page_places} for page, page_places in places.items()}
    expected |= {page: {()} for page in gaps}
    fitting = _fitting_most_pages(table, list(candidates.values()), expected)
    return elect_list(table, fitting, expected) if fitting else None


def _fitting_most_pages(
    table: SampleTable, candidates: Sequence[ListCandidate], expected: Mapping[int, set[tuple[str, ...]]]
) -> list[ListCandidate]:
    """Return the candidates that select the labeled members on as many labeled pages as any does."""
    if len(expected) == 1:
        return list(candidates)
    fits = [
        sum(keys_on(table, candidate, page) in lists for page, lists in expected.items())
        for candidate in candidates
    ]
    most = max(fits, default=0)
    return [candidate for candidate, count in zip(candidates, fits, strict=True) if count == most]


class _Describer:
    """All descriptions of the members of one list, and all regions in which they are exact."""

    def __init__(self, table: SampleTable, place: ListPlace) -> None:
        self.table = table
        self.place = place
        self.page_bits = table.page_bits[place.page]

    def candidates(self) -> Iterator[ListCandidate]:
        """Yield everything that selects exactly the members, on the whole page or in a region."""
        for node, tags, rows in self._member_rows():
            wanted = bits_of(rows)
            regions = list(self._regions_around(rows))
            for name, features in self._descriptions(node, tags, rows):
                bits = self.table.bits(features) & self.table.node_bits[node]
                if bits & wanted != wanted:
                    continue
                if name != "tag" and (judged := self._is_right(bits, wanted)):
                    yield self._candidate(node, features, None, bits, (name, "page"), -1, judged)
                yield from self._in_regions(node, features, bits, wanted, name, regions)

    def _in_regions(
        self,
        node: str,
        features: tuple[Feature, ...],
        bits: int,
        wanted: int,
        name: str,
        regions: Sequence[tuple[int, str, Region]],
    ) -> Iterator[ListCandidate]:
        top = max((feature.level for feature in features), default=0)
        for climbed, region_name, region in regions:
            inside = bits & self.table.rows_inside(region, node, top)
            if inside & wanted == wanted and (judged := self._is_right(inside, wanted)):
                yield self._candidate(node, features, region, inside, (name, region_name), climbed, judged)

    def _is_right(self, bits: int, wanted: int) -> str:
        """Return "exact" if only the members are selected, "close" if what is more may be the members not found."""
        extra = (bits & self.page_bits).bit_count() - wanted.bit_count()
        if extra == 0:
            return "exact"
        return "close" if 0 < extra <= self.place.lost else ""

    def _candidate(
        self,
        node: str,
        features: tuple[Feature, ...],
        region: Region | None,
        bits: int,
        kind: tuple[str, str],
        climbed: int,
        judged: str,
    ) -> ListCandidate:
        selector = Selector(node, features, region=region)
        return ListCandidate(selector, bits, kind, climbed, judged == "exact")

    def _member_rows(self) -> Iterator[tuple[str, tuple[str, ...], list[int]]]:
        """Yield the ways to see all members as nodes of one kind: as text nodes, or as elements of the same tags."""
        by_tag = [self._elements_by_tag(rows) for rows in self.place.rows]
        counts: Counter[str] = Counter()
        for tags in by_tag:
            counts.update(tags.keys())
        common = [tag for tag, count in counts.items() if count == len(by_tag)]
        for tag in common:
            yield "element()", (tag,), [tags[tag] for tags in by_tag]
        # Elsewhere a member may have several text nodes, so texts are members only if no element equals them all.
        if not common:
            yield from self._rows_of_different_tags(by_tag, counts)
            yield from self._text_rows()

    def _rows_of_different_tags(
        self, by_tag: Sequence[Mapping[str, int]], counts: Counter[str]
    ) -> Iterator[tuple[str, tuple[str, ...], list[int]]]:
        """Yield the members as elements of few tags, each of the most frequent one that it has."""
        if not all(by_tag):
            return
        ranked = [tag for tag, _ in counts.most_common()]
        chosen = [next(tag for tag in ranked if tag in tags) for tags in by_tag]
        used = tuple(sorted(set(chosen)))
        if len(used) <= MAX_SINGLE_NAMES:
            yield "element()", used, [tags[tag] for tag, tags in zip(chosen, by_tag, strict=True)]

    def _text_rows(self) -> Iterator[tuple[str, tuple[str, ...], list[int]]]:
        """Yield the members as text nodes, if each is one."""
        nodes = self.table.rows
        firsts = [next((row for row in rows if nodes[row].is_text), None) for rows in self.place.rows]
        texts = [row for row in firsts if row is not None]
        if len(texts) == len(firsts):
            yield "text()", (), texts

    def _elements_by_tag(self, rows: Iterable[int]) -> dict[str, int]:
        """Return the innermost element row of each tag."""
        nodes = self.table.rows
        return {nodes[row].element.tag: row for row in rows if nodes[row].kind == "element"}

    def _descriptions(
        self, node: str, tags: tuple[str, ...], rows: Sequence[int]
    ) -> Iterator[tuple[str, tuple[Feature, ...]]]:
        """Yield descriptions of members: by tag, by classes, by those of the parents, and by their exact classes."""
        own = self._step(rows, 1)
        parent, grandparent = self._step(rows, 2), self._step(rows, 3)
        tag = tuple(feature for feature in own if feature.kind == "tag")
        exact = self._exact_classes(rows)
        yield "tag", tag
        if len(own) > len(tag):
            yield "class", own
        if parent:
            yield "parent", (*own, *parent)
            yield "tag and parent", (*tag, *parent)
        if parent and grandparent:
            yield "grandparent", (*own, *parent, *grandparent)
        if exact:
            yield "exact", (*tag, exact)
            yield "exact and parent", (*tag, exact, *parent)

    def _step(self, rows: Sequence[int], level: int) -> tuple[Feature, ...]:
        """Return the tags and the common names of the members' ancestors at a level; nothing if their tags differ."""
        elements = {int(number) for number in self.table.ancestor(level)[list(rows)]}
        if 0 in elements:
            return ()
        tags = sorted({self.table.element(number).tag for number in elements})
        if len(tags) > 1 and level > 1:
            return ()
        names = frozenset.intersection(*(self._names(number) for number in elements))
        return (Feature("tag", level, tuple(tags)), *_name_features(names, level))

    def _exact_classes(self, rows: Sequence[int]) -> Feature | None:
        """Return the feature that an element has one of the members' classes and no other."""
        classes = {self.table.element(int(n)).get("class", "") for n in self.table.ancestor(1)[list(rows)]}
        is_stable_class = all(not name or is_stable(self.table, "class", name) for name in classes)
        if len(classes) > MAX_SINGLE_NAMES or not is_stable_class:
            return None
        return Feature("class", 1, tuple(sorted(classes)))

    def _names(self, number: int) -> _Names:
        """Return the stable names of an element: classes, id and other attributes that say what it is for."""
        values = element_values(self.table.element(number))
        named = (pair for pair in values if pair[0] not in ("tag", "class"))
        return frozenset(pair for pair in named if is_stable(self.table, *pair))

    def _regions_around(self, rows: Sequence[int]) -> Iterator[tuple[int, str, Region]]:
        """Yield descriptions of the elements around all members, from the smallest to the largest."""
        number = self._common_element(rows)
        for climbed in range(MAX_REGIONS):
            if not number or self.table.element(number).tag in ("body", "html"):
                return
            for name, features in self._region_descriptions(number):
                yield from self._positioned(number, climbed, name, features)
            number = int(self.table.parent[number])

    def _common_element(self, rows: Sequence[int]) -> int:
        """Return the smallest element around all members."""
        level = 2 if self.table.rows[rows[0]].kind == "element" else 1
        number = int(self.table.ancestor(level)[rows[0]])
        return _common_element(self.table, number, int(self.table.ancestor(1)[rows[-1]]))

    def _positioned(
        self, number: int, climbed: int, name: str, features: tuple[Feature, ...]
    ) -> Iterator[tuple[int, str, Region]]:
        """Yield a region, alone or with its position if other elements of the page look like it."""
        region = Region(features)
        elements = self.table.elements_on_page(region, self.place.page).tolist()
        yield climbed, name if len(elements) == 1 else f"all {name}", region
        position = elements.index(number) + 1
        if len(elements) > 1 and position <= MAX_REGION_POSITION:
            yield climbed, f"counted {name}", Region(features, position)

    def _region_descriptions(self, number: int) -> Iterator[tuple[str, tuple[Feature, ...]]]:
        """Yield feature sets of one element: single names, all names, then with its ancestors."""
        names = self._names(number)
        tag = Feature("tag", 1, (self.table.element(number).tag,))
        rare = sorted(names, key=lambda pair: (self.table.count_elements(*pair), pair))
        for kind, value in rare[:MAX_SINGLE_NAMES]:
            yield "name", (tag, Feature(kind, 1, (value,)))
        if len(names) != 1:
            yield "names" if names else "tag", (tag, *_name_features(names, 1))
        features = (tag, *_name_features(names, 1))
        ancestor = number
        for level in (2, 3):
            ancestor = int(self.table.parent[ancestor])
            if not ancestor:
                return
            above = Feature("tag", level, (self.table.element(ancestor).tag,))
            features = (*features, above, *_name_features(self._names(ancestor), level))
            yield "parent" if level == 2 else "grandparent", features
        yield "path", self._path(number)

    def _path(self, number: int) -> tuple[Feature, ...]:
        """Return the tags of all elements from this one up to the root."""
        path: list[Feature] = []
        while number:
            path.append(Feature("tag", len(path) + 1, (self.table.element(number).tag,)))
            number = int(self.table.parent[number])
        return tuple(path)


def _name_features(names: _Names, level: int) -> tuple[Feature, ...]:
    return tuple(Feature(kind, level, (value,)) for kind, value in sorted(names))
