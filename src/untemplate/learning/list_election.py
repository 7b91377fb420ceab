"""Which description of a list becomes its rule: the descriptions vote on the unlabeled pages.

Many descriptions of the members, in many regions, select exactly the labeled lists. The lists that most of them
select on the unlabeled pages win, above all those with the largest regions. The description that selects the winning
lists becomes the rule, and the others its committee. A description that selects nothing on a page has no vote there.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from untemplate.learning.sample_table import SampleTable
from untemplate.page import Node
from untemplate.page.locating import letters_and_digits
from untemplate.rules.list_look import describe_lists, looks_alike
from untemplate.rules.rule import ListLook, Selector

__all__ = ["LearnedList", "ListCandidate", "elect_list", "keys_on"]

# Selectors of a rule besides the first, and members of its committee.
MAX_FALLBACKS = 2
MAX_LIST_COMMITTEE = 4

# A list that a smaller share of the descriptions selects is in dispute.
MIN_UNDISPUTED_SHARE = 0.5
# Texts on this share of at least so many unlabeled pages are not values.
MIN_PAGES_FOR_TEMPLATE = 4
MIN_TEMPLATE_SHARE = 0.8

_LabeledLists = Mapping[int, set[tuple[str, ...]]]
"""Labeled page → the lists that may be meant, in letters and digits; an empty list if the page has none."""


@dataclass(frozen=True)
class ListCandidate:
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
        coverage: the share of unlabeled pages on which the first selector selects values and no text of the template.
        disputed: the unlabeled page on which the descriptions disagree most; None if most agree on every page.
        look: what the labeled lists look like.
        other_look: an unlabeled page whose list looks different, as it has titles; None if there is none.
        exact_pages: labeled pages on which the first selector selects the labeled members and nothing else.
    """

    selectors: tuple[Selector, ...]
    committee: tuple[Selector, ...]
    coverage: float
    disputed: int | None
    look: ListLook
    other_look: int | None
    exact_pages: int


def keys_on(table: SampleTable, candidate: ListCandidate, page: int) -> tuple[str, ...]:
    """Return the letters and digits of what a candidate selects on a page."""
    return tuple(letters_and_digits(node.text) for node in _nodes_on(table, candidate, page))


@dataclass(frozen=True)
class _Election:
    """The votes of candidates on the unlabeled pages."""

    table: SampleTable
    candidates: Sequence[ListCandidate]
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
                    by_bits[key] = keys_on(self.table, candidate, page)
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

    def count_right(self, winners: Sequence[tuple[str, ...]], template: set[str]) -> list[int]:
        """Return for each candidate on how many pages it selects the winning list, without text of the template."""
        right = [0] * len(self.candidates)
        for of_page, winner in zip(self.lists, winners, strict=True):
            if winner and template.isdisjoint(winner):
                for index, members in enumerate(of_page):
                    right[index] += members == winner
        return right

    def disputed_page(self, winners: Sequence[tuple[str, ...]]) -> int | None:
        """Return the page on which the fewest candidates select the winning list, if they are a minority there."""
        smallest, disputed = MIN_UNDISPUTED_SHARE, None
        for page, of_page, winner in zip(self.pages, self.lists, winners, strict=True):
            voting = [members for members in of_page if members]
            share = voting.count(winner) / len(voting) if voting else 1.0
            if share < smallest:
                smallest, disputed = share, page
        return disputed

    def template_texts(self, labeled: _LabeledLists) -> set[str]:
        """Return texts that candidates select on most pages, such as "more": they belong to the template."""
        if len(self.pages) < MIN_PAGES_FOR_TEMPLATE:
            return set()
        pages_with: Counter[str] = Counter()
        for of_page in self.lists:
            pages_with.update(set().union(*of_page))
        labeled_texts: set[str] = set()
        for lists in labeled.values():
            labeled_texts.update(*lists)
        least = MIN_TEMPLATE_SHARE * len(self.pages)
        return {text for text, count in pages_with.items() if count >= least} - labeled_texts

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


def elect_list(
    table: SampleTable, candidates: Sequence[ListCandidate], labeled: _LabeledLists
) -> LearnedList:
    """Return the candidate that selects the winning lists on most unlabeled pages, and others beside it."""
    pages = [page for page in range(len(table.pages)) if page not in labeled]
    election = _Election(table, candidates, pages)
    winners = election.winners()
    template = election.template_texts(labeled)
    right = election.count_right(winners, template)
    ranked = sorted(
        range(len(candidates)), key=lambda index: _candidate_preference(candidates[index], right[index])
    )
    best = candidates[ranked[0]]
    others = _different_kinds([candidates[index] for index in ranked[1:]], best)
    measured = [_with_support(table, candidate, pages) for candidate in (best, *others)]
    look = describe_lists([_nodes_on(table, best, page) for page, lists in labeled.items() if any(lists)])
    return LearnedList(
        tuple(measured[: 1 + MAX_FALLBACKS]),
        tuple(measured[1 : 1 + MAX_LIST_COMMITTEE]),
        _coverage(table, best, pages, template),
        election.disputed_page(winners),
        look,
        _page_of_another_look(table, best, pages, look),
        sum(keys_on(table, best, page) in lists for page, lists in labeled.items()),
    )


def _page_of_another_look(
    table: SampleTable, candidate: ListCandidate, pages: Iterable[int], look: ListLook
) -> int | None:
    """Return the first unlabeled page whose list looks so different that the labels do not decide about it."""
    for page in pages:
        members = _nodes_on(table, candidate, page)
        if members and not looks_alike(look, members):
            return page
    return None


def _nodes_on(table: SampleTable, candidate: ListCandidate, page: int) -> list[Node]:
    return [table.rows[row] for row in table.on_page(candidate.bits, page)]


def _coverage(
    table: SampleTable, candidate: ListCandidate, pages: Sequence[int], template: set[str]
) -> float:
    """Return the share of pages on which a candidate selects something, and no text of the template."""
    if not pages:
        return 1.0
    lists = [keys_on(table, candidate, page) for page in pages]
    return sum(bool(members) and template.isdisjoint(members) for members in lists) / len(pages)


def _candidate_preference(candidate: ListCandidate, right: int) -> tuple[object, ...]:
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


def _different_kinds(candidates: Iterable[ListCandidate], best: ListCandidate) -> list[ListCandidate]:
    """Return the best candidate of each kind of description and of region that no one before has."""
    chosen: list[ListCandidate] = []
    seen = {best.kind[0], best.kind[1]}
    bits = {best.bits}
    for candidate in candidates:
        is_new = not seen.issuperset(candidate.kind) and candidate.bits not in bits
        if is_new and len(chosen) < MAX_LIST_COMMITTEE:
            chosen.append(candidate)
            seen.update(candidate.kind)
            bits.add(candidate.bits)
    return chosen


def _with_support(table: SampleTable, candidate: ListCandidate, pages: Sequence[int]) -> Selector:
    """Return the selector of a candidate with the share of unlabeled pages on which it selects something."""
    selector = candidate.selector
    hits = sum(bool(candidate.bits & table.page_bits[page]) for page in pages)
    support = round(hits / len(pages), 3) if pages else 1.0
    return Selector(selector.node, selector.features, 0, support, selector.region)
