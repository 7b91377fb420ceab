"""Remembered values found again on fresh pages: how rules heal.

A value is looked for by its words, case and punctuation ignored; where these are nowhere on the page, by what it
means: a price, a date, a phone number, a quantity written in another way. Pages vote: a sighting is believed if the
values of enough other pages stand in places like it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from urllib.parse import urljoin

from untemplate.errors import PageError
from untemplate.labeling.label import Label
from untemplate.page import Node, Page
from untemplate.page.sameness import find_quantities, find_words, fold, folded_words, meanings, same_value
from untemplate.schema import Attribute, Schema, Type
from untemplate.value_types import find_all_typed

__all__ = ["Golden", "GoldenLabeler", "Sighting", "Sightings"]

Golden = Mapping[str, Sequence[str]]
"""A remembered record: per attribute the texts of its values."""

# Sightings of one value on a page that are looked at; a text that stands in more places tells nothing.
MAX_SIGHTINGS = 50
# Nodes over which a value may run, as many as the learner joins.
MAX_NODES = 12
# A kind of place is believed if the values of so many pages stand in such, and more than twice as many as by chance.
MIN_VOTES = 2


_Kind = tuple[str, bool]

# Signs that end a text without being part of what it says, or may be.
_TRAILING = " .!,;:"


@dataclass(frozen=True, slots=True)
class Sighting:
    """A place where a remembered value stands, and its text as it is written there."""

    text: str
    node: Node
    nodes: int
    is_whole: bool

    @property
    def kind(self) -> _Kind:
        """Places of one template that are alike agree in this."""
        return self.node.path, self.is_whole


class Sightings:
    """The words of a page, to find values among them. Raises PageError if the page cannot be read."""

    def __init__(self, page: Page) -> None:
        self._url = page.url
        self._texts = [node for node in page.nodes if node.is_text]
        self._attributes = [node for node in page.nodes if node.is_attribute]
        self._words: list[str] = []
        self._owners: list[int] = []
        self._spans: list[tuple[int, int]] = []
        self._where: defaultdict[str, list[int]] = defaultdict(list)
        for owner, node in enumerate(self._texts):
            for found in find_words(node.text):
                word = fold(found[0])
                self._where[word].append(len(self._words))
                self._words.append(word)
                self._owners.append(owner)
                self._spans.append(found.span())

    def of(self, value: str, type: Type) -> list[Sighting]:
        """Where the value stands, in document order; texts before attributes, unless it is a link."""
        linked = list(self._in_attributes(value, type))
        if type in ("url", "image") and linked:
            return linked
        by_meaning = list(islice(self._by_meaning(value, type), MAX_SIGHTINGS))
        return (by_meaning or list(self._by_words(value))) + linked

    def _by_words(self, value: str) -> Iterator[Sighting]:
        words = folded_words(value)
        if not words:
            return
        rarest = min(range(len(words)), key=lambda index: len(self._where.get(words[index], ())))
        seen = 0
        for position in self._where.get(words[rarest], ()):
            start = position - rarest
            if start >= 0 and tuple(self._words[start : start + len(words)]) == words:
                if sighting := self._sighting(start, start + len(words), value):
                    yield sighting
                    seen += 1
                if seen == MAX_SIGHTINGS:
                    return

    def _sighting(self, start: int, stop: int, value: str) -> Sighting | None:
        """The words from start to stop as a sighting; None if they begin or end within nodes and run over several."""
        first, last = self._owners[start], self._owners[stop - 1]
        begins = start == 0 or self._owners[start - 1] != first
        ends = stop == len(self._owners) or self._owners[stop] != last
        nodes = self._texts[first : last + 1]
        if first != last:
            text = " ".join(node.text for node in nodes)
            is_joined = begins and ends and len(nodes) <= MAX_NODES
            return Sighting(text, nodes[0], len(nodes), True) if is_joined else None
        text, left, right = nodes[0].text, self._spans[start][0], self._spans[stop - 1][1]
        before, after = _around(value)
        while left and text[left - 1] in before:
            left -= 1
        while right < len(text) and text[right] in after:
            right += 1
        part = text[left:right]
        is_whole = part == text.strip(_TRAILING)
        return Sighting(text if is_whole else part, nodes[0], 1, is_whole)

    def _by_meaning(self, value: str, type: Type) -> Iterator[Sighting]:
        """Where a value of the type, or a quantity, means the same."""
        wanted = meanings(value, type)
        if not wanted:
            return
        for node in self._texts:
            parts = find_quantities(node.text) if type == "text" else find_all_typed(node.text, type)
            same = (part for part in parts if not meanings(part, type).isdisjoint(wanted))
            for part in islice(same, 1):
                is_whole = part == node.text or node.text.strip(_TRAILING) == part
                yield Sighting(node.text if is_whole else part, node, 1, is_whole)

    def _in_attributes(self, value: str, type: Type) -> Iterator[Sighting]:
        is_link = type in ("url", "image")
        for node in self._attributes:
            text = node.text
            if (
                text == value
                or (is_link and self._is_same_link(text, value))
                or (not is_link and len(text) < 2 * len(value) + 10 and same_value(text, value, type))
            ):
                yield Sighting(text, node, 1, True)

    def _is_same_link(self, text: str, value: str) -> bool:
        if text.rpartition("/")[2] != value.rpartition("/")[2]:
            return False
        try:
            return urljoin(self._url, text) == urljoin(self._url, value)
        except ValueError:
            return False


def _around(value: str) -> tuple[str, str]:
    """The signs right before the first and right after the last word of a value."""
    words = list(find_words(value))
    before, after = value[: words[0].start()], value[words[-1].end() :]
    return before.rpartition(" ")[2], after.partition(" ")[0]


@dataclass
class _Reading:
    """One way to read the remembered values of an attribute: per page, per value, where it stands.

    `decoys` counts the pages where a value of another page stands in such a place: as often, values do by chance.
    """

    seen: dict[str, list[list[Sighting]]] = field(default_factory=dict)
    decoys: Counter[_Kind] = field(default_factory=Counter)

    def vote(self, name: str) -> tuple[int, list[Label]]:
        """Labels for the pages all of whose values stand in places of their own that are believed; and their worth.

        Values that are the whole text of a node are worth twice those that are part of one or run over several.
        """
        votes: Counter[_Kind] = Counter()
        for values in self.seen.values():
            votes.update({one.kind for value in values for one in value})
        enough = min(MIN_VOTES, len(self.seen))
        believable = {
            kind for kind, count in votes.items() if count >= max(enough, 2 * self.decoys[kind] + 1)
        }
        labels: list[Label] = []
        worth = 0
        for page, values in self.seen.items():
            believed = [[one for one in value if one.kind in believable] for value in values]
            chosen = [
                max(value, key=lambda one: (votes[one.kind], one.is_whole)) for value in believed if value
            ]
            if len({(one.node.element, one.node.kind) for one in chosen}) == len(values):
                labels += [Label(page, name, one.text, source="golden") for one in chosen]
                worth += 2 if all(one.is_whole and one.nodes == 1 for one in chosen) else 1
        return worth, labels


class GoldenLabeler:
    """Labels fresh pages with the values that are remembered of them."""

    def __init__(self, goldens: Mapping[str, Golden], schema: Schema) -> None:
        """`goldens` by the id or URL of the page."""
        self.goldens = goldens
        self.schema = schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """The remembered values as they are written now; none for values that are not found again."""
        readings: defaultdict[tuple[str, str], _Reading] = defaultdict(_Reading)
        gaps: defaultdict[str, list[str]] = defaultdict(list)
        known = [(page, page.entry_in(self.goldens) or {}) for page in pages]
        for number, (page, golden) in enumerate(known):
            try:
                sightings = Sightings(page)
            except PageError:
                continue
            _, other = known[number - 1]
            for name, attribute in self.schema.attributes.items():
                if name not in golden:
                    gaps[name].append(page.id)
                    continue
                for way, texts in _ways(golden[name], attribute):
                    reading = readings[name, way]
                    reading.seen[page.id] = [sightings.of(text, attribute.type) for text in texts]
                    others = (text for text in other.get(name, ()) if text not in golden[name])
                    reading.decoys.update(
                        {one.kind for text in others for one in sightings.of(text, attribute.type)}
                    )
        best: dict[str, tuple[int, list[Label]]] = {}
        for (name, _), reading in readings.items():
            voted = reading.vote(name)
            if voted[0] > best.get(name, (0,))[0]:
                best[name] = voted
        nothing = [Label(page, name, None, source="golden") for name in best for page in gaps[name]]
        return [*(label for _, labels in best.values() for label in labels), *nothing]


def _ways(texts: Sequence[str], attribute: Attribute) -> Iterator[tuple[str, Sequence[str]]]:
    """The ways in which a page may write several values: as they were, each for itself, or all in one text."""
    yield "as before", texts
    if attribute.many:
        yield "apart", [part for text in texts for part in text.split(", ")]
        yield "joined", [", ".join(texts)]
