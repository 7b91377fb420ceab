"""Find remembered values on fresh pages: how rules heal.

A value is searched by its meaning if it has one: a price, a date, a phone number or a quantity can be written in
another way today. Otherwise it is searched by its words, ignoring case and punctuation. Then the pages vote: a
sighting is believed if the values of enough other pages are in similar places.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from urllib.parse import urljoin

from untemplate.errors import PageError
from untemplate.labeling.label import Label
from untemplate.page import Node, Page
from untemplate.page.captions import join_texts
from untemplate.page.locating import MAX_SPAN_NODES
from untemplate.page.same_values import find_quantities, find_words, fold, folded_words, meanings, same_value
from untemplate.schema import Attribute, Schema, Type
from untemplate.value_types import find_all_typed

__all__ = ["Golden", "GoldenLabeler", "Sighting", "ValueFinder"]

Golden = Mapping[str, Sequence[str]]
"""A remembered record: the texts of each attribute's values."""

SOURCE = "golden"

# Sightings of one value on a page that are used; a text in more places says nothing.
MAX_SIGHTINGS = 50
# A kind of place is believed if the values of at least this many pages are in such places, and more than twice as
# many as by chance.
MIN_VOTES = 2

# Signs at the end of a text that may not belong to the value.
_TRAILING = " .!,;:"
_LINK_TYPES = ("url", "image")

_PlaceKind = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A place where a remembered value is, and how it is written there."""

    text: str
    node: Node
    #: How many text nodes the value spans.
    nodes: int
    #: Whether the value is all the text of its nodes.
    is_complete: bool

    @property
    def kind(self) -> _PlaceKind:
        """What similar places of a template have in common."""
        return self.node.path, self.is_complete

    @property
    def fills_node(self) -> bool:
        """Whether the value is all the text of one node."""
        return self.is_complete and self.nodes == 1


class ValueFinder:
    """Finds remembered values on one page, even if they are written in another way today.

    Raises:
        PageError: The page cannot be parsed.
    """

    def __init__(self, page: Page) -> None:
        self._url = page.url
        self._texts = [node for node in page.nodes if node.is_text]
        self._attributes = [node for node in page.nodes if node.is_attribute]
        self._words: list[str] = []
        self._owners: list[int] = []
        self._spans: list[tuple[int, int]] = []
        self._positions: defaultdict[str, list[int]] = defaultdict(list)
        for owner, node in enumerate(self._texts):
            for match in find_words(node.text):
                word = fold(match[0])
                self._positions[word].append(len(self._words))
                self._words.append(word)
                self._owners.append(owner)
                self._spans.append(match.span())

    def find(self, value: str, type: Type) -> list[Sighting]:
        """Return where a value is, in document order: texts first, then attributes; for links only attributes."""
        in_attributes = list(self._find_in_attributes(value, type))
        if type in _LINK_TYPES and in_attributes:
            return in_attributes
        by_meaning = list(islice(self._find_by_meaning(value, type), MAX_SIGHTINGS))
        return (by_meaning or self._find_by_words(value)) + in_attributes

    def _find_by_words(self, value: str) -> list[Sighting]:
        words = folded_words(value)
        if not words:
            return []
        rarest = min(range(len(words)), key=lambda index: len(self._positions.get(words[index], ())))
        sightings: list[Sighting] = []
        for position in self._positions.get(words[rarest], ()):
            start = position - rarest
            stop = start + len(words)
            if start < 0 or tuple(self._words[start:stop]) != words:
                continue
            if sighting := self._make_sighting(start, stop, value):
                sightings.append(sighting)
            if len(sightings) == MAX_SIGHTINGS:
                break
        return sightings

    def _make_sighting(self, start: int, stop: int, value: str) -> Sighting | None:
        """Return the words from start to stop as a sighting; None if they span nodes but do not fill them."""
        first, last = self._owners[start], self._owners[stop - 1]
        if first == last:
            node = self._texts[first]
            return _sighting_in(node, self._grow(node.text, start, stop, value))
        begins = start == 0 or self._owners[start - 1] != first
        ends = stop == len(self._owners) or self._owners[stop] != last
        nodes = self._texts[first : last + 1]
        if not (begins and ends) or len(nodes) > MAX_SPAN_NODES:
            return None
        return Sighting(join_texts(nodes[0], len(nodes)), nodes[0], len(nodes), True)

    def _grow(self, text: str, start: int, stop: int, value: str) -> str:
        """Return the words from start to stop with the signs around them that the value has as well."""
        left, right = self._spans[start][0], self._spans[stop - 1][1]
        before, after = _signs_around(value)
        while left and text[left - 1] in before:
            left -= 1
        while right < len(text) and text[right] in after:
            right += 1
        return text[left:right]

    def _find_by_meaning(self, value: str, type: Type) -> Iterator[Sighting]:
        """Yield the first value of each text that means the same, such as the same date or quantity."""
        wanted = meanings(value, type)
        if not wanted:
            return
        for node in self._texts:
            parts = find_quantities(node.text) if type == "text" else find_all_typed(node.text, type)
            same = (part for part in parts if not meanings(part, type).isdisjoint(wanted))
            for part in islice(same, 1):
                yield Sighting(part, node, 1, True) if part == node.text else _sighting_in(node, part)

    def _find_in_attributes(self, value: str, type: Type) -> Iterator[Sighting]:
        matches = self._is_same_link if type in _LINK_TYPES else _is_same_text
        for node in self._attributes:
            if node.text == value or matches(node.text, value, type):
                yield Sighting(node.text, node, 1, True)

    def _is_same_link(self, text: str, value: str, type: Type) -> bool:
        if text.rpartition("/")[2] != value.rpartition("/")[2]:
            return False
        try:
            return urljoin(self._url, text) == urljoin(self._url, value)
        except ValueError:
            return False


def _is_same_text(text: str, value: str, type: Type) -> bool:
    return len(text) < 2 * len(value) + 10 and same_value(text, value, type)


def _sighting_in(node: Node, part: str) -> Sighting:
    """Return a sighting of a part of a node's text, or of all of it if only signs at its ends are missing."""
    is_complete = part == node.text.strip(_TRAILING)
    return Sighting(node.text if is_complete else part, node, 1, is_complete)


def _signs_around(value: str) -> tuple[str, str]:
    """Return the signs right before the first and right after the last word of a value."""
    words = list(find_words(value))
    before, after = value[: words[0].start()], value[words[-1].end() :]
    return before.rpartition(" ")[2], after.partition(" ")[0]


# Votes of the pages


@dataclass
class _Reading:
    """One way to read the remembered values of an attribute, and where they are found on the pages.

    Attributes:
        sightings: By page, for each value its sightings.
        decoys: How many pages have a value of another page in a kind of place. This happens by chance.
    """

    sightings: dict[str, list[list[Sighting]]] = field(default_factory=dict)
    decoys: Counter[_PlaceKind] = field(default_factory=Counter)

    def add_page(self, page: str, finder: ValueFinder, texts: Sequence[str], type: Type) -> None:
        """Search the remembered values of a page."""
        self.sightings[page] = [finder.find(text, type) for text in texts]

    def add_decoys(self, finder: ValueFinder, texts: Iterable[str], type: Type) -> None:
        """Count the kinds of places in which any of these values of another page is found."""
        self.decoys.update(_kinds_of_places(finder.find(text, type) for text in texts))

    def vote(self, name: str) -> tuple[int, list[Label]]:
        """Return what the labels are worth, and the labels of pages on which all values are in believed places.

        A page counts twice if each of its values is all the text of one node.
        """
        votes = self._count_votes()
        labels: list[Label] = []
        worth = 0
        for page, values in self.sightings.items():
            chosen = _choose_sightings(values, votes)
            if chosen is None:
                continue
            labels += [Label(page, name, sighting.text, source=SOURCE) for sighting in chosen]
            worth += 2 if all(sighting.fills_node for sighting in chosen) else 1
        return worth, labels

    def _count_votes(self) -> dict[_PlaceKind, int]:
        """Return the believed kinds of places, each with the number of pages that have a sighting there."""
        votes: Counter[_PlaceKind] = Counter()
        for values in self.sightings.values():
            votes.update(_kinds_of_places(values))
        min_votes = min(MIN_VOTES, len(self.sightings))
        needed = {kind: max(min_votes, 2 * self.decoys[kind] + 1) for kind in votes}
        return {kind: count for kind, count in votes.items() if count >= needed[kind]}


def _kinds_of_places(values: Iterable[Iterable[Sighting]]) -> set[_PlaceKind]:
    """Return the kinds of places of all sightings of some values."""
    return {sighting.kind for sighting in chain.from_iterable(values)}


def _choose_sightings(
    values: Sequence[Sequence[Sighting]], votes: Mapping[_PlaceKind, int]
) -> list[Sighting] | None:
    """Return the best sighting of each value: the one in the believed kind of place with most votes.

    Returns:
        None if a value is in no believed place, or if two values are in the same place.
    """
    chosen: list[Sighting] = []
    for sightings in values:
        believed = [sighting for sighting in sightings if sighting.kind in votes]
        if not believed:
            return None
        chosen.append(max(believed, key=lambda sighting: (votes[sighting.kind], sighting.is_complete)))
    places = {(sighting.node.element, sighting.node.kind) for sighting in chosen}
    return chosen if len(places) == len(chosen) else None


class GoldenLabeler:
    """Labels fresh pages with the values that are remembered of them. A labeler.

    Args:
        goldens: The remembered records by the id or URL of their page.
        schema: The attributes to label.

    Example:
        >>> from untemplate import Attribute, Page, Schema
        >>> pages = [Page(html=f"<p>Now: <b>{name}</b>", id=name) for name in ("Ash", "Birch")]
        >>> goldens = {"Ash": {"name": ["ash"]}, "Birch": {"name": ["birch"]}}
        >>> labeler = GoldenLabeler(goldens, Schema("tree", {"name": Attribute("name")}))
        >>> [label.value for label in labeler.label(pages)]
        ['Ash', 'Birch']
    """

    def __init__(self, goldens: Mapping[str, Golden], schema: Schema) -> None:
        self.goldens = goldens
        self.schema = schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """Return the remembered values as they are written now; values that are not found again get no label.

        Attributes that a page never had are labeled as missing there, if the attribute is found on other pages.
        """
        goldens = [page.entry_in(self.goldens) or {} for page in pages]
        goldens_before = goldens[-1:] + goldens[:-1]
        readings: defaultdict[tuple[str, str], _Reading] = defaultdict(_Reading)
        gaps: defaultdict[str, list[str]] = defaultdict(list)
        for page, golden, other_golden in zip(pages, goldens, goldens_before, strict=True):
            try:
                finder = ValueFinder(page)
            except PageError:
                continue
            for name, attribute in self.schema.attributes.items():
                if name not in golden:
                    gaps[name].append(page.id)
                    continue
                decoys = _decoys_of(golden[name], other_golden.get(name, ()))
                for way, texts in _readings_of(golden[name], attribute):
                    readings[name, way].add_page(page.id, finder, texts, attribute.type)
                    readings[name, way].add_decoys(finder, decoys, attribute.type)
        return _best_labels(readings, gaps)


def _decoys_of(texts: Sequence[str], other_texts: Iterable[str]) -> list[str]:
    """Return the values of another page that this page does not have."""
    return [text for text in other_texts if text not in texts]


def _readings_of(texts: Sequence[str], attribute: Attribute) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the ways in which a page may write several values: as before, each by itself, or all in one text."""
    yield "as before", texts
    if attribute.many:
        joined = ", ".join(texts)
        yield "apart", joined.split(", ") if texts else []
        yield "joined", [joined]


def _best_labels(
    readings: Mapping[tuple[str, str], _Reading], gaps: Mapping[str, Sequence[str]]
) -> list[Label]:
    """Return the labels of each attribute's best reading, and of the pages that do not have the attribute."""
    best: dict[str, tuple[int, list[Label]]] = {}
    for (name, _), reading in readings.items():
        worth, labels = reading.vote(name)
        if worth > best.get(name, (0,))[0]:
            best[name] = worth, labels
    present: list[Label] = []
    missing: list[Label] = []
    for name, (_, labels) in best.items():
        present += labels
        missing += [Label(page, name, None, source=SOURCE) for page in gaps.get(name, ())]
    return present + missing
