"""Rules for lists of values: the ingredients of a recipe, the categories of a product.

The members of a list are described by what they share: tag and classes, and those of their parents. Such a
description fits other elements of the page, too, so it is limited to a region. The smallest element around the
labeled members is the worst region, as other pages may have a second list beside the first. We therefore climb to
larger and larger regions while the description still selects exactly the labeled members there.

Many pairs of description and region fit the labels. They vote on the unlabeled pages: the lists that most of them
select, above all those with the largest regions, win. The description that selects the winning lists becomes the
rule, and the others its committee. A description that selects nothing on a page has no vote there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from untemplate.learning.page_spans import PageSpans, Span
from untemplate.learning.sample_table import SampleTable, bits_of
from untemplate.learning.search import is_stable
from untemplate.page.locating import letters_and_digits
from untemplate.rules.feature import Feature, element_values
from untemplate.rules.rule import Region, Selector

__all__ = ["LearnedList", "ListPlace", "element_around", "find_list_places", "learn_value_list"]

# Elements around a list that are tried as regions.
MAX_REGIONS = 8
# Names of an element that are tried alone.
MAX_SINGLE_NAMES = 4
# Of several elements that look like the region, only the first few are worth counting.
MAX_REGION_POSITION = 3
# Selectors of a rule besides the first, and members of its committee.
MAX_FALLBACKS = 2
MAX_LIST_COMMITTEE = 4

# A list that a smaller share of the descriptions selects is in dispute.
MIN_UNDISPUTED_SHARE = 0.5
# Texts on this share of at least so many unlabeled pages are not values.
MIN_PAGES_FOR_TEMPLATE = 4
MIN_TEMPLATE_SHARE = 0.8

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


@dataclass(frozen=True)
class _Candidate:
    """A description of members, and the region in which it selects exactly the labeled ones.

    Attributes:
        selector: both as a selector.
        bits: the rows it selects on all pages.
        kind: how members are described, and how the region is.
        climbed: how many elements the region is above the smallest one; −1 for the whole page.
        is_exact: False if it also selects texts that may be labeled members which were not found.
    """

    selector: Selector
    bits: int
    kind: tuple[str, str]
    climbed: int
    is_exact: bool


@dataclass(frozen=True)
class LearnedList:
    """The selectors of a list rule.

    Attributes:
        selectors: in the order to try them.
        committee: other descriptions, which say how sure a list is.
        agreement: how unanimous the descriptions were on the unlabeled pages, from 0 to 1.
        coverage: the share of unlabeled pages on which the first selector selects values and no text of the template.
        disputed: the unlabeled page on which the descriptions disagree most; None if most agree on every page.
        rows: the rows of the labeled members that the first selector selects.
    """

    selectors: tuple[Selector, ...]
    committee: tuple[Selector, ...]
    agreement: float
    coverage: float
    disputed: int | None
    rows: tuple[int, ...] = field(default=(), repr=False)


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


def learn_value_list(table: SampleTable, places: Mapping[int, Sequence[ListPlace]]) -> LearnedList | None:
    """Learn the selectors of a list from the places of its labeled members.

    Args:
        table: a sample with elements as rows.
        places: for each labeled page, where the list may be, best first.

    Returns:
        The selectors; None if nothing but their content distinguishes the members from other texts.
    """
    candidates: dict[Selector, _Candidate] = {}
    for page_places in places.values():
        for place in page_places:
            for candidate in _Describer(table, place).candidates():
                candidates.setdefault(candidate.selector, candidate)
    fitting = _fitting_most_pages(table, list(candidates.values()), places)
    return _elect(table, fitting, places) if fitting else None


def _fitting_most_pages(
    table: SampleTable, candidates: Sequence[_Candidate], places: Mapping[int, Sequence[ListPlace]]
) -> list[_Candidate]:
    """Return the candidates that select the labeled members on as many labeled pages as any does."""
    expected = {page: {place.expected for place in page_places} for page, page_places in places.items()}
    fits: list[int] = []
    for candidate in candidates:
        if len(places) == 1:
            fits.append(1)
            continue
        fits.append(sum(_keys_on(table, candidate, page) in lists for page, lists in expected.items()))
    most = max(fits, default=0)
    return [candidate for candidate, count in zip(candidates, fits, strict=True) if count == most]


def _keys_on(table: SampleTable, candidate: _Candidate, page: int) -> tuple[str, ...]:
    """Return the letters and digits of what a candidate selects on a page."""
    return tuple(letters_and_digits(table.rows[row].text) for row in table.on_page(candidate.bits, page))


class _Describer:
    """All descriptions of the members of one list, and all regions in which they are exact."""

    def __init__(self, table: SampleTable, place: ListPlace) -> None:
        self.table = table
        self.place = place
        self.page_bits = table.page_bits[place.page]

    def candidates(self) -> Iterator[_Candidate]:
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
    ) -> Iterator[_Candidate]:
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
    ) -> _Candidate:
        selector = Selector(node, features, region=region)
        return _Candidate(selector, bits, kind, climbed, judged == "exact")

    def _member_rows(self) -> Iterator[tuple[str, tuple[str, ...], list[int]]]:
        """Yield the ways to see all members as nodes of one kind: as text nodes, or as elements of the same tags."""
        by_tag = [self._elements_by_tag(rows) for rows in self.place.rows]
        counts = Counter(tag for tags in by_tag for tag in tags)
        common = [tag for tag, count in counts.items() if count == len(by_tag)]
        for tag in common:
            yield "element()", (tag,), [tags[tag] for tags in by_tag]
        if not common and all(by_tag):
            ranked = [tag for tag, _ in counts.most_common()]
            chosen = [next((tag, tags[tag]) for tag in ranked if tag in tags) for tags in by_tag]
            used = tuple(sorted({tag for tag, _ in chosen}))
            if len(used) <= MAX_SINGLE_NAMES:
                yield "element()", used, [row for _, row in chosen]
        # Elsewhere a member may have several text nodes, so texts are members only if no element equals them all.
        texts = [[row for row in rows if self.table.rows[row].is_text] for rows in self.place.rows]
        if not common and all(texts):
            yield "text()", (), [rows[0] for rows in texts]

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
        elements = self.table.elements_of(region).tolist()
        on_page = [other for other in elements if self._is_on_page(other)]
        yield climbed, name if len(on_page) == 1 else f"all {name}", region
        position = on_page.index(number) + 1
        if len(on_page) > 1 and position <= MAX_REGION_POSITION:
            yield climbed, f"counted {name}", Region(features, position)

    def _is_on_page(self, element: int) -> bool:
        return self.table.page_of_element(element) == self.place.page

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


@dataclass(frozen=True)
class _Election:
    """The votes of candidates on the unlabeled pages."""

    table: SampleTable
    candidates: Sequence[_Candidate]
    pages: Sequence[int]

    @cached_property
    def lists(self) -> list[list[tuple[str, ...]]]:
        """For each page, what each candidate selects."""
        by_bits: dict[tuple[int, int], tuple[str, ...]] = {}
        lists: list[list[tuple[str, ...]]] = []
        for page in self.pages:
            of_page: list[tuple[str, ...]] = []
            for candidate in self.candidates:
                key = (page, candidate.bits & self.table.page_bits[page])
                if key not in by_bits:
                    by_bits[key] = _keys_on(self.table, candidate, page)
                of_page.append(by_bits[key])
            lists.append(of_page)
        return lists

    def winners(self) -> list[tuple[str, ...]]:
        """Return the list that wins on each page; empty if no candidate selects anything."""
        return [self._winner(of_page) for of_page in self.lists]

    def _winner(self, of_page: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
        shares: defaultdict[tuple[str, ...], float] = defaultdict(float)
        for weight, group in self._electorates():
            voting = [of_page[index] for index in group if of_page[index]]
            for members, count in Counter(voting).items():
                shares[members] += weight * count / len(voting)
        return max(shares, key=lambda members: (shares[members], members), default=())

    def disputed_page(self, winners: Sequence[tuple[str, ...]]) -> int | None:
        """Return the page on which the fewest candidates select the winning list, if they are a minority there."""
        smallest, disputed = MIN_UNDISPUTED_SHARE, None
        for page, of_page, winner in zip(self.pages, self.lists, winners, strict=True):
            voting = [members for members in of_page if members]
            share = voting.count(winner) / len(voting) if voting else 1.0
            if share < smallest:
                smallest, disputed = share, page
        return disputed

    def template_texts(self, places: Mapping[int, Sequence[ListPlace]]) -> set[str]:
        """Return texts that candidates select on most pages, such as "more": they belong to the template."""
        if len(self.pages) < MIN_PAGES_FOR_TEMPLATE:
            return set()
        pages_with: Counter[str] = Counter()
        for of_page in self.lists:
            pages_with.update(set().union(*of_page))
        labeled: set[str] = set()
        for page_places in places.values():
            labeled.update(*(place.expected for place in page_places))
        least = MIN_TEMPLATE_SHARE * len(self.pages)
        return {text for text, count in pages_with.items() if count >= least} - labeled

    def _electorates(self) -> Iterator[tuple[float, list[int]]]:
        """Yield groups of candidates with the weight of the group: all, and those of the kinds that are right most.

        The weights are those of a prototype, chosen on half of the recipe sites.
        """
        numbered = list(enumerate(self.candidates))
        highest = max(candidate.climbed for candidate in self.candidates)
        yield 1.0, [index for index, _ in numbered]
        yield 1.0, [index for index, candidate in numbered if candidate.climbed == highest]
        yield 0.5, [index for index, candidate in numbered if candidate.kind[1] == "page"]
        yield 0.5, [index for index, candidate in numbered if candidate.kind[0] == "class"]


def _elect(
    table: SampleTable, candidates: Sequence[_Candidate], places: Mapping[int, Sequence[ListPlace]]
) -> LearnedList:
    """Return the candidate that selects the winning lists on most unlabeled pages, and others beside it."""
    pages = [page for page in range(len(table.pages)) if page not in places]
    election = _Election(table, candidates, pages)
    winners = election.winners()
    template = election.template_texts(places)
    right = [0] * len(candidates)
    for of_page, winner in zip(election.lists, winners, strict=True):
        for index, members in enumerate(of_page):
            right[index] += bool(members) and members == winner and template.isdisjoint(members)
    ranked = sorted(range(len(candidates)), key=lambda index: _preference(candidates[index], right[index]))
    found = sum(map(bool, winners))
    best = candidates[ranked[0]]
    agreement = sum(right) / (len(candidates) * found) if found else 1.0
    others = _different_kinds([candidates[index] for index in ranked[1:]], best)
    measured = [_with_support(table, candidate, pages) for candidate in (best, *others)]
    rows = tuple(row for page in places for row in table.on_page(best.bits, page))
    return LearnedList(
        tuple(measured[: 1 + MAX_FALLBACKS]),
        tuple(measured[1 : 1 + MAX_LIST_COMMITTEE]),
        agreement,
        _coverage(table, best, pages, template),
        election.disputed_page(winners),
        rows,
    )


def _coverage(table: SampleTable, candidate: _Candidate, pages: Sequence[int], template: set[str]) -> float:
    """Return the share of pages on which a candidate selects something, and no text of the template."""
    if not pages:
        return 1.0
    lists = [_keys_on(table, candidate, page) for page in pages]
    return sum(bool(members) and template.isdisjoint(members) for members in lists) / len(pages)


def _preference(candidate: _Candidate, right: int) -> tuple[object, ...]:
    """Return a sort key, best first: right on most pages, then exact, by own classes, in a large region, short."""
    selector = candidate.selector
    region = selector.region.features if selector.region else ()
    return (
        -right,
        not candidate.is_exact,
        candidate.kind != ("class", "page"),
        -candidate.climbed,
        len(selector.features) + len(region),
        selector.xpath,
    )


def _different_kinds(candidates: Iterable[_Candidate], best: _Candidate) -> list[_Candidate]:
    """Return the best candidate of each kind of description and of region that no one before has."""
    chosen: list[_Candidate] = []
    seen = {best.kind[0], best.kind[1]}
    bits = {best.bits}
    for candidate in candidates:
        is_new = not seen.issuperset(candidate.kind) and candidate.bits not in bits
        if is_new and len(chosen) < MAX_LIST_COMMITTEE:
            chosen.append(candidate)
            seen.update(candidate.kind)
            bits.add(candidate.bits)
    return chosen


def _with_support(table: SampleTable, candidate: _Candidate, pages: Sequence[int]) -> Selector:
    """Return the selector of a candidate with the share of unlabeled pages on which it selects something."""
    selector = candidate.selector
    hits = sum(bool(candidate.bits & table.page_bits[page]) for page in pages)
    support = round(hits / len(pages), 3) if pages else 1.0
    return Selector(selector.node, selector.features, 0, support, selector.region)
