"""Features: the conditions that selectors are made of, as triples of type, level and value (Vertex III-C.1).

The level counts steps up from the node: 0 is the node itself, 1 the element that contains it.
A feature with several values matches if one of them does. The types:

`tag`, `id`, `class`, `token` (one word of a class), `@name` (another attribute)   of the element at the level
`preceding-sibling-class-2` and so on     of its second element sibling before it; the empty tag: there is none
`out-left-text`, `out-left-word`          the text before the node, or the last word of that text
`out-right-text`, `out-right-word`        the text after the node, or the first word of that text
`inside-left-text`, `inside-right-text`   how the node's own text begins, or ends
`inside-word`                             a word of the node's own text
`label`                                   the caption: the nearest text before the node that is static on the site
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from lxml import etree

__all__ = ["CAPTION", "Feature", "element_values"]

CAPTION = "label"
"""The feature type of captions. Rules files have used this name since their first version, so it stays."""

TEXT_KINDS = frozenset({"inside-left-text", "inside-right-text", "inside-word", CAPTION})

# Attributes besides id and class whose values say what an element is for. All `data-*` attributes count as well.
STABLE_ATTRIBUTES = frozenset(
    {
        *(
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
        ),
        *("abbr", "alt", "aria-label", "label", "summary", "title"),
    }
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
    """One condition on a node, such as "the element two levels up has class `price`".

    Attributes:
        type: what is compared; the module's docstring lists all types.
        level: steps up from the node to the element that is compared.
        values: the texts that match; one of them is enough.
    """

    type: str
    level: int
    values: tuple[str, ...]

    @cached_property
    def _type_parts(self) -> dict[str, str]:
        for pattern in _TYPES:
            if match := pattern.fullmatch(self.type):
                return match.groupdict()
        raise ValueError(f"no such feature type: {self.type}")

    @cached_property
    def kind(self) -> str:
        """What is compared, without where: `class` for `preceding-sibling-class-2`.

        Raises:
            ValueError: the type does not exist.
        """
        return self._type_parts["kind"]

    @cached_property
    def side(self) -> str | None:
        """`left` or `right` if the feature is about the text beside the node, else None."""
        return self._type_parts.get("side")

    @cached_property
    def axis(self) -> str | None:
        """`preceding` or `following` if the feature is about a sibling, else None."""
        return self._type_parts.get("axis")

    @cached_property
    def sibling(self) -> int:
        """How many siblings away the compared element is; 0 for the element itself."""
        return int(self._type_parts.get("distance") or 0)

    @cached_property
    def is_structural(self) -> bool:
        """True if the feature is about elements, False if it is about texts."""
        return self.side is None and self.kind not in TEXT_KINDS

    @cached_property
    def looks_ahead(self) -> bool:
        """True if the feature is about something that follows the node in the page."""
        return self.side == "right" or self.axis == "following"

    @cached_property
    def words(self) -> tuple[bytes, ...]:
        """The longest word of each value, as bytes; one of them occurs in every page that has a match.

        Empty if the feature requires no such word: tags and features of siblings, or a value without words.
        """
        if self.is_structural and (self.kind == "tag" or self.axis):
            return ()
        words = [max(_WORD.findall(value), key=len, default="") for value in self.values]
        return tuple(map(str.encode, words)) if all(words) else ()

    @property
    def distance(self) -> int:
        """How many steps away from the node the compared element is."""
        return self.level + self.sibling

    def matches_element(self, element: etree._Element | None) -> bool:
        """Return True if an element matches this structural feature; None means that there is no such element."""
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


def element_values(element: etree._Element) -> Iterator[tuple[str, str]]:
    """Yield the (kind, value) pairs of an element from which learning makes features."""
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
