"""Style sheets that came inside the page: the rules that tell, found quickly for each element."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from operator import itemgetter
from typing import NamedTuple

from lxml import etree

from untemplate.layout.boxes import VIEWPORT
from untemplate.layout.declared import Declarations, declarations

__all__ = ["Place", "Sheet", "read_sheet"]

# So many characters of a page's style sheets are read, and so many places are remembered.
MAX_CSS = 1 << 20
MAX_PLACES = 50_000
# So many elements around one are compared with selectors, on average; sheets that need more are left out.
MAX_COMPARISONS = 300

NO_CLASSES: frozenset[str] = frozenset()

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMPOUND = re.compile(r"(\*|[a-z][a-z0-9-]*)?((?:[.#][\w-]+|:link|:visited)*)")
_NAMES = re.compile(r"([.#])([\w-]+)")
_MEDIA_WIDTH = re.compile(r"(min|max)-width\s{0,9}:\s{0,9}(\d{1,5})(px|em|)")


class Identity(NamedTuple):
    """What selectors know of an element."""

    tag: str
    id: str
    classes: frozenset[str]


class Compound(NamedTuple):
    """A part of a selector that one element must match: `div.price#first`; `child`: of the one before it."""

    tag: str
    id: str
    classes: frozenset[str]
    child: bool

    def matches(self, element: Identity) -> bool:
        return (
            (not self.tag or self.tag == element.tag)
            and (not self.id or self.id == element.id)
            and self.classes <= element.classes
        )


@dataclass(frozen=True)
class SheetRule:
    """A selector and what it declares; the stronger of two has the higher rank, else the later one wins."""

    compounds: tuple[Compound, ...]
    declared: Declarations
    rank: tuple[int, int, int]


class Place(NamedTuple):
    """An element among those around it: what rules declare there. Elements in the same place are alike to rules."""

    number: int
    element: Identity
    declared: Declarations


class Sheet:
    """The telling rules of a page, by what the element they are for must have; and the places they were asked for."""

    def __init__(self, rules: Iterable[SheetRule]) -> None:
        self._rules: dict[str, list[tuple[int, SheetRule]]] = {}
        self._names: set[str] = set()  # tags, ids and classes that matter
        self._classes: dict[str, frozenset[str]] = {}
        self._places: dict[tuple[int, str, str, frozenset[str]], Place] = {}
        self._comparisons_left = 1000 * MAX_COMPARISONS
        self._numbers = count(1)
        for number, rule in enumerate(rules):
            for compound in rule.compounds:
                self._names |= {compound.tag, f"#{compound.id}", *compound.classes}
            last = rule.compounds[-1]
            key = f"#{last.id}" if last.id else f".{min(last.classes)}" if last.classes else last.tag
            self._rules.setdefault(key, []).append((number, rule))

    def place(self, element: etree._Element, above: Sequence[Place]) -> Place:
        """The place of an element; `above` are those of the elements around it, from the root."""
        tag, id, classes = element.tag, element.get("id"), element.get("class")
        key = (
            above[-1].number if above else 0,
            tag if tag in self._names else "",
            id if id and f"#{id}" in self._names else "",
            self._that_matter(classes) if classes else NO_CLASSES,
        )
        place = self._places.get(key)
        if place is None:
            identity = Identity(*key[1:])
            place = Place(next(self._numbers), identity, self._declared(identity, above))
            if len(self._places) < MAX_PLACES:
                self._places[key] = place
        return place

    def _that_matter(self, classes: str) -> frozenset[str]:
        known = self._classes.get(classes)
        if known is None:
            known = frozenset(classes.split()) & self._names
            if len(self._classes) < MAX_PLACES:
                self._classes[classes] = known
        return known

    def _declared(self, element: Identity, above: Sequence[Place]) -> Declarations:
        self._comparisons_left += MAX_COMPARISONS
        keys = {"", element.tag, f"#{element.id}", *(f".{name}" for name in element.classes)}
        candidates = (rule for key in keys for rule in self._rules.get(key, ()))
        found = [
            (rule.rank, number, rule) for number, rule in candidates if self._matches(rule, element, above)
        ]
        return tuple(pair for *_, rule in sorted(found, key=itemgetter(0, 1)) for pair in rule.declared)

    def _matches(self, rule: SheetRule, element: Identity, above: Sequence[Place]) -> bool:
        *rest, last = rule.compounds
        self._comparisons_left -= 1
        if self._comparisons_left < 0 or not last.matches(element):
            return False
        at, child = len(above), last.child
        for compound in reversed(rest):
            at -= 1
            while at >= 0 and not child and not compound.matches(above[at].element):
                at -= 1
                self._comparisons_left -= 1
            if at < 0 or (child and not compound.matches(above[at].element)):
                return False
            child = compound.child
        return True


def read_sheet(root: etree._Element) -> Sheet | None:
    """The rules of a page's style elements; None if none of them tells."""
    left = MAX_CSS
    sheets: list[str] = []
    for element in root.iter("style"):
        if (css := element.text) and applies(element.get("media", "")):
            sheets.append(css[:left])
            left -= len(sheets[-1])
    telling = tuple(css for css in sheets if _rules(css))
    return _sheet(telling) if telling else None


def applies(media: str) -> bool:
    """Whether a media query holds on a screen of our width, as far as it is understood."""
    media = media.lower()
    if media and not any(word in media for word in ("screen", "all", "width")):
        return False
    for bound, number, unit in _MEDIA_WIDTH.findall(media):
        width = int(number) * (16 if unit == "em" else 1)
        if width > VIEWPORT if bound == "min" else width < VIEWPORT:
            return False
    return True


# Pages of a site mostly have the same style sheets, and the same places in them.
@lru_cache(maxsize=64)
def _sheet(sheets: tuple[str, ...]) -> Sheet:
    return Sheet(rule for css in sheets for rule in _rules(css))


@lru_cache(maxsize=64)
def _rules(css: str) -> tuple[SheetRule, ...]:
    return tuple(_parse(css))


def _parse(css: str) -> Iterable[SheetRule]:
    active = True
    for block in _COMMENT.sub(" ", css).split("}"):
        head, brace, body = block.rpartition("{")
        if not brace:  # the end of a media block
            active = True
            continue
        outer, brace, selectors = head.rpartition("{")
        if brace:
            query = outer.rpartition("@media")[2] if "@media" in outer else "none"
            active = applies(query)
        declared = declarations(body) if active else ()
        if not declared:
            continue
        for selector in selectors.rpartition(";")[2].split(","):
            if compounds := _compounds(selector):
                ids = sum(bool(one.id) for one in compounds)
                tags = sum(bool(one.tag) for one in compounds)
                classes = sum(len(one.classes) for one in compounds)
                yield SheetRule(compounds, declared, (ids, classes, tags))


def _compounds(selector: str) -> tuple[Compound, ...]:
    """A selector's parts; none if it has something that is not understood, so that the rule is left out."""
    compounds: list[Compound] = []
    child = False
    for part in selector.replace(">", " > ").split()[:20]:
        if part == ">":
            child = True
            continue
        match = _COMPOUND.fullmatch(part.lower() if "." not in part and "#" not in part else part)
        if match is None:
            return ()
        names = _NAMES.findall(match[2])
        ids = [name for sign, name in names if sign == "#"]
        classes = frozenset(name for sign, name in names if sign == ".")
        tag = (match[1] or "").lower()
        compounds.append(Compound("" if tag == "*" else tag, ids[0] if ids else "", classes, child))
        child = False
    return tuple(compounds)
