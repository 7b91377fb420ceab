"""Features: the conditions that selectors are made of, as triples of type, level and value (Vertex III-C.1).

The level counts steps up from the node: 0 is the node itself, 1 the element that contains it.
A feature with several values holds where one of them does. The types:

`tag`, `id`, `class`, `token` (one word of a class), `@name` (another attribute)   of the element at the level
`preceding-sibling-class-2` and so on     of its second element sibling before it; the empty tag: there is none
`out-left-text`, `out-left-word`          the text before the node, or the last word of that text
`out-right-text`, `out-right-word`        the text after the node, or the first word of that text
`inside-left-text`, `inside-right-text`   how the node's own text begins, or ends
`inside-word`                             a word of the node's own text
`label`                                   the nearest text before the node that is static on the site
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

__all__ = ["Feature", "element_values"]

# Besides id and class, attributes that say what an element is for; `data-*` too.
STABLE_ATTRIBUTES = frozenset(
    {
        "itemprop",
        "itemtype",
        "property",
        "rel",
        "rev",
        "role",
        "name",
        "type",
        "for",
        "headers",
        "scope",
        "abbr",
    }
    | {"alt", "aria-label", "label", "summary", "title"}
)

_WORD = re.compile(r"[\w-]+", re.ASCII)
_ELEMENT = r"(?P<kind>tag|id|class|token|@.+)"
_TYPES = (
    re.compile(r"out-(?P<side>left|right)-(?P<kind>text|word)"),
    re.compile(r"(?P<kind>inside-left-text|inside-right-text|inside-word|label)"),
    re.compile(rf"(?P<axis>preceding|following)-sibling-{_ELEMENT}-(?P<distance>[12])"),
    re.compile(_ELEMENT),
)


@dataclass(frozen=True)
class Feature:
    """One condition on a node; several values mean "one of them"."""

    type: str
    level: int
    values: tuple[str, ...]

    @cached_property
    def _parts(self) -> dict[str, str]:
        for pattern in _TYPES:
            if match := pattern.fullmatch(self.type):
                return match.groupdict()
        raise ValueError(f"no such feature type: {self.type}")

    @cached_property
    def kind(self) -> str:
        """What is looked at."""
        return self._parts["kind"]

    @cached_property
    def side(self) -> str | None:
        """For a text beside the node, on which side it stands."""
        return self._parts.get("side")

    @cached_property
    def axis(self) -> str | None:
        """For a sibling's feature, where the sibling stands."""
        return self._parts.get("axis")

    @cached_property
    def sibling(self) -> int:
        """For a sibling's feature, how many siblings away; 0 for the element itself."""
        return int(self._parts.get("distance") or 0)

    @cached_property
    def is_structural(self) -> bool:
        """Whether it speaks of elements, not of texts."""
        return self.side is None and self.kind not in TEXT_KINDS

    @cached_property
    def looks_ahead(self) -> bool:
        """Whether it speaks of what follows the node."""
        return self.side == "right" or self.axis == "following"

    @cached_property
    def words(self) -> tuple[bytes, ...]:
        """A word of each value, if these are texts, or names of elements around the node; else none."""
        if self.is_structural and (self.kind == "tag" or self.axis):
            return ()
        words = [max(_WORD.findall(value), key=len, default="") for value in self.values]
        return tuple(map(str.encode, words)) if all(words) else ()

    def holds_of(self, element: etree._Element | None) -> bool:
        """Whether the structural condition holds of an element; None: there is none."""
        kind, values = self.kind, self.values
        if element is None:
            return kind == "tag" and "" in values
        match kind:
            case "tag":
                return element.tag in values
            case "id" | "class":
                return element.get(kind) in values
            case "token":
                return not set(values).isdisjoint((element.get("class") or "").split())
            case _:
                return element.get(kind[1:]) in values

    @property
    def distance(self) -> int:
        """How far from the node it looks."""
        return self.level + self.sibling


TEXT_KINDS = frozenset({"inside-left-text", "inside-right-text", "inside-word", "label"})


def element_values(element: etree._Element) -> Iterator[tuple[str, str]]:
    """The (kind, value) pairs of an element that features are made of."""
    yield "tag", element.tag
    for name, value in element.attrib.items():
        if name == "id":
            yield "id", value
        elif name == "class":
            yield "class", value
            for token in set(value.split()):
                yield "token", token
        elif name in STABLE_ATTRIBUTES or name.startswith("data-"):
            yield f"@{name}", value
