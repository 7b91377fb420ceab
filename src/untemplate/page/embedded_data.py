"""What a page tells programs: JSON-LD, microdata, RDFa, Open Graph and other meta tags, and application state.

All of it is read into the same form: objects with a type, whose values have paths of names. Lists are transparent,
so a path such as `ld+json Recipe.recipeIngredient` has several values. Nothing is read until a rule or a learner asks
for its source.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from lxml import etree

from untemplate.native import core
from untemplate.page.embedded_formats import parse_flight, parse_json, read_meta, read_microdata, read_rdfa
from untemplate.page.embedded_scripts import (
    FLIGHT,
    MAX_KEY_LENGTH,
    DataScript,
    find_linked_data,
    generalize_key,
)

__all__ = [
    "JSON_LD",
    "META",
    "MICRODATA",
    "NAMING_KEYS",
    "RDFA",
    "TYPED_SOURCES",
    "DataObject",
    "DataPath",
    "DataValue",
    "EmbeddedData",
    "is_script",
]

JSON_LD, MICRODATA, RDFA, META = "ld+json", "microdata", "rdfa", "meta"
TYPED_SOURCES = (JSON_LD, MICRODATA, RDFA)
"""Sources whose names are those of a public vocabulary, mostly schema.org."""

NAMING_KEYS = ("name", "text", "@value")
"""What an object that is a value is called by: `author.name` on one page is `author` on another."""

# What lists of the vocabularies call their members; other objects inside an object are not members.
_MEMBER_KEYS = frozenset({"@list", "hasPart", "item", "itemListElement", "step", "steps"})

# Application state: `script:` and the name of the script or of the variable.
_SCRIPT = "script:"

# Levels that are read, and values and objects of one source. More do not describe what the page is about.
MAX_DEPTH = 20
MAX_VALUES = 20_000
MAX_OBJECTS = 2_000
# Objects of a source that are visited: to find those with a type, and to read their values, some of them repeatedly.
MAX_VISITED = 100_000

_CONTAINERS = (dict, list)
_IGNORED_KEYS = frozenset({"@context", "@id", "@type", "__typename"})
_PLAIN_KEY = re.compile(r"[^\s.\[\]\"]+")


@dataclass(frozen=True)
class DataPath:
    """Where values are in embedded data: a source, a type of objects in it, and names from there.

    Attributes:
        source: `ld+json`, `microdata`, `rdfa`, `meta`, or `script:` and the name of a script or variable.
        type: the type of the object that the path begins at; empty for the top of the data.
        keys: the names on the way, one for each level. `*` is any name, as for keys that are ids.
        ends: if given, also the values below that have one of these as last name, in the members of lists at any
            level.
        only_first_end: True if of an object with several of these names only the first counts: steps may have a
            text and a name, sections only a name.

    Example:
        >>> str(DataPath("ld+json", "Recipe", ("recipeInstructions",), ("text",)))
        'ld+json Recipe.recipeInstructions..text'
    """

    source: str
    type: str
    keys: tuple[str, ...]
    ends: tuple[str, ...] = ()
    only_first_end: bool = False

    def __str__(self) -> str:
        return self._text

    @cached_property
    def _text(self) -> str:
        names = filter(None, (self.type, *self.keys))
        path = ".".join(map(_quote_key, names))
        if self.ends:
            separator = "/" if self.only_first_end else "|"
            path += f"..{separator.join(map(_quote_key, self.ends))}"
        return f"{self.source} {path}"

    def matches(self, keys: tuple[str, ...]) -> bool:
        """Return True if a value below the object with these keys is meant."""
        length = len(self.keys)
        if len(keys) < length or keys[:length] != self.keys:
            return False
        return len(keys) == length or (keys[-1] in self.ends and _MEMBER_KEYS.issuperset(keys[length:-1]))

    def leads_through(self, keys: tuple[str, ...]) -> bool:
        """Return True if values at or below these keys may be meant."""
        length = len(self.keys)
        if len(keys) <= length:
            return keys == self.keys[: len(keys)]
        *members, last = keys[length:]
        is_member_or_end = last in _MEMBER_KEYS or last in self.ends
        return bool(self.ends) and is_member_or_end and _MEMBER_KEYS.issuperset(members)

    @cached_property
    def is_plain(self) -> bool:
        """True if the native core can read the path: it has no wild cards."""
        return core is not None and _are_plain_keys(self.keys) and _are_plain_keys(self.ends)

    def end_rank(self, keys: tuple[str, ...]) -> int:
        """Return the number of the end that such a value has, from 0."""
        return 0 if len(keys) == len(self.keys) else self.ends.index(keys[-1])


def _are_plain_keys(keys: tuple[str, ...]) -> bool:
    """Return True if keys stand for themselves and nothing else."""
    same = [
        key for key in keys if generalize_key(key) == key and len(key) < MAX_KEY_LENGTH and "*" not in key
    ]
    return len(same) == len(keys) and _IGNORED_KEYS.isdisjoint(keys)


class DataValue(NamedTuple):
    """A text or number of an object: its keys from there, the text, and the innermost object that has it."""

    keys: tuple[str, ...]
    text: str
    owner: int


def _quote_key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else f'"{key}"'


_References = dict[str, dict[str, Any]]
"""The objects that references mean, by id."""


def _add_reference(references: _References, content: dict[str, Any]) -> None:
    """Remember an object by its id; of several with the same id, the one that says most."""
    id_ = content.get("@id")
    if isinstance(id_, str) and len(content) > len(references.get(id_, "1")):
        references[id_] = content


class _Data:
    """The data of one source. The objects in it are visited when somebody needs them."""

    def __init__(self, roots: list[Any]) -> None:
        self.roots = roots

    @cached_property
    def visited(self) -> list[dict[str, Any]]:
        """All objects, an object before those inside it."""
        if core:
            return list(core.visit_objects(self.roots, MAX_DEPTH, MAX_VISITED))
        visited: list[dict[str, Any]] = []
        _visit_objects(self.roots, -1, visited)
        return visited[:MAX_VISITED]

    @cached_property
    def references(self) -> _References:
        """The objects that references mean."""
        references: _References = {}
        for content in self.visited:
            if "@id" in content:
                _add_reference(references, content)
        return references


class _WalkPlace(NamedTuple):
    """Where a walk is: the keys from the object on, the innermost object, the level, and the references so far."""

    keys: tuple[str, ...]
    owner: int
    depth: int
    seen: frozenset[str]

    def below(self, keys: tuple[str, ...], owner: int) -> _WalkPlace:
        """Return the place one level deeper."""
        return _WalkPlace(keys, owner, self.depth + 1, self.seen)


@dataclass(slots=True)
class _Walk:
    """A walk over objects of one source. It ends when too many were visited, some of them repeatedly.

    Attributes:
        data: the data.
        path: the only values to visit; None for all.
        visits: how many objects were visited so far.
    """

    data: _Data
    path: DataPath | None = None
    visits: int = 0

    def values_in(self, content: Any) -> list[DataValue]:
        """Return the values inside an object, in the order of the data, names first."""
        found: list[DataValue] = []
        self._walk(content, _WalkPlace((), 0, 0, frozenset()), found)
        return found[:MAX_VALUES]

    def _walk(self, content: Any, place: _WalkPlace, found: list[DataValue]) -> None:
        """Add the values inside a part of the data."""
        if isinstance(content, str):
            found.append(DataValue(place.keys, content, place.owner))
        elif isinstance(content, bool) or content is None:
            return
        elif isinstance(content, (int, float)):
            found.append(DataValue(place.keys, str(content), place.owner))
        elif place.depth >= MAX_DEPTH or len(found) >= MAX_VALUES:
            return
        elif isinstance(content, dict):
            self._walk_object(content, place, found)
        else:
            inner = place.below(place.keys, place.owner)
            for member in content:
                self._walk(member, inner, found)

    def _walk_object(self, content: dict[str, Any], place: _WalkPlace, found: list[DataValue]) -> None:
        """Add the values of an object; of a mere reference, those of the object that it refers to."""
        self.visits += 1
        if self.visits > MAX_VISITED:
            return
        id_ = content.get("@id")
        if isinstance(id_, str) and content.keys() <= {"@id", "@type"}:
            if id_ not in place.seen and (referred := self.data.references.get(id_)):
                seen = place.seen | {id_}
                self._walk_object(referred, _WalkPlace(place.keys, place.owner, place.depth + 1, seen), found)
            return
        for key in self._keys_to_follow(content, len(place.keys)):
            if key in _IGNORED_KEYS:
                continue
            inner_keys = (*place.keys, generalize_key(key))
            if self.path is None or self.path.leads_through(inner_keys):
                self._walk(content[key], place.below(inner_keys, id(content)), found)

    def _keys_to_follow(self, content: dict[str, Any], level: int) -> Iterable[str]:
        """Return the keys of an object to look at, names first: only the one that the path names, if it names one."""
        if self.path is not None and level < len(self.path.keys):
            name = self.path.keys[level]
            if "*" not in name and len(name) < MAX_KEY_LENGTH:
                return (name,) if name in content else ()
        return sorted(content, key=_is_not_name)


class DataObject:
    """One object of embedded data, or the data of a script as a whole.

    Attributes:
        type: its type without the address of the vocabulary, such as `Recipe`; empty if it has none.
    """

    def __init__(self, type_: str, content: Any, walk: _Walk) -> None:
        self.type = type_
        self._content = content
        self._walk = walk

    @cached_property
    def values(self) -> list[DataValue]:
        """All texts and numbers in the object, in the order of the data, names first."""
        return self._walk.values_in(self._content)

    def inner_ids(self) -> set[int]:
        """Return the `owner` of each value that is inside this object, not only referred to."""
        return set(map(id, _Data([self._content]).visited))

    def walk_along(self, path: DataPath) -> _Walk:
        """Return a walk over the values of a path in this object and others of its source."""
        return _Walk(self._walk.data, path)

    def read(self, path: DataPath, walk: _Walk) -> list[str]:
        """Return the values at a path, as they are written in the data."""
        # Learners have listed all values of the objects that they compare.
        visited = self.values if "values" in vars(self) else walk.values_in(self._content)
        matching = [value for value in visited if path.matches(value.keys)]
        if path.only_first_end:
            ranks: dict[int, int] = {}
            for value in matching:
                ranks[value.owner] = min(path.end_rank(value.keys), ranks.get(value.owner, len(path.ends)))
            matching = [value for value in matching if path.end_rank(value.keys) == ranks[value.owner]]
        return [value.text for value in matching]


def _is_not_name(key: str) -> bool:
    """Sort key: the name of a thing comes before its parts."""
    return key != "name"


class _Source:
    """The objects of one source.

    Args:
        roots: the data, one item for each script.
        has_types: False if no object has a type.
    """

    def __init__(self, roots: list[Any], has_types: bool) -> None:
        self._data = _Data(roots)
        self._walk = _Walk(self._data)
        self._has_types = has_types
        self._by_type: dict[str, list[Any]] = {}

    @cached_property
    def typed(self) -> list[DataObject]:
        """The objects with a type, also inside others."""
        typed: list[DataObject] = []
        for content in self._data.visited if self._has_types else ():
            if types := _types_of(content):
                typed += [DataObject(type_, content, self._walk) for type_ in types]
        return typed[:MAX_OBJECTS]

    def read_natively(self, path: DataPath) -> list[str] | None:
        """Return the values at a path in the first object of its type that has any; None if the core cannot tell."""
        reader = core.PathReader(  # type: ignore[union-attr]
            path.keys, path.ends, _MEMBER_KEYS, path.only_first_end, MAX_DEPTH, MAX_VALUES
        )
        for content in self._contents_of(path.type):
            texts: list[str] | None = reader.read(content)
            if texts or texts is None:
                return texts
        return []

    def _contents_of(self, type_: str) -> list[Any]:
        """Return what the objects of a type contain, found by the native core; without a type, all data."""
        if not type_:
            return self._data.roots
        if type_ not in self._by_type:
            visited = self._data.visited if self._has_types else []
            self._by_type[type_] = core.objects_of_type(visited, type_, _local_name, MAX_OBJECTS)  # type: ignore[union-attr]
        return self._by_type[type_]

    @cached_property
    def tops(self) -> list[DataObject]:
        """The data as a whole, of which most pages are asked for nothing else."""
        return [DataObject("", root, self._walk) for root in self._data.roots]

    def objects_of(self, type_: str) -> list[DataObject]:
        """Return the objects of a type; without one, the data as a whole."""
        return [found for found in self.typed if found.type == type_] if type_ else self.tops


class EmbeddedData:
    """The embedded data of one page, read source by source when asked for.

    Args:
        tree: the root element of the page.

    Example:
        >>> from untemplate import Page
        >>> data = '{"@type": "Recipe", "name": "Soup", "recipeIngredient": ["leek", "salt"]}'
        >>> page = Page(html=f'<script type="application/ld+json">{data}</script>')
        >>> page.embedded.read(DataPath("ld+json", "Recipe", ("recipeIngredient",)))
        ['leek', 'salt']
    """

    def __init__(self, tree: etree._Element) -> None:
        self._tree = tree
        self._sources: dict[str, _Source] = {}

    def sources(self) -> list[str]:
        """Return the names of all sources that the page has, the most reliable kinds first."""
        names = [*TYPED_SOURCES, *sorted(self._script_sources()), META]
        return [name for name in names if self.objects(name)]

    def objects(self, source: str) -> list[DataObject]:
        """Return the objects of a source: each object with a type, also inside others, then the data as a whole."""
        found = self._source(source)
        return [*found.typed, *found.tops]

    def has_type(self, source: str, type_: str) -> bool:
        """Return True if a source has an object of this type."""
        return bool(self._source(source).objects_of(type_))

    def read(self, path: DataPath) -> list[str]:
        """Return the values at a path in the first object of its type that has any."""
        if path.is_plain:
            texts = self._source(path.source).read_natively(path)
            if texts is not None:
                return texts
        walk: _Walk | None = None
        for data_object in self._source(path.source).objects_of(path.type):
            walk = walk or data_object.walk_along(path)
            if found := data_object.read(path, walk):
                return found
        return []

    def outline(self, source: str) -> Iterator[tuple[DataObject, list[DataValue]]]:
        """Yield the objects of a source for a person, each with its values, and each value once.

        Objects inside another one with a type are parts of it. Values that an object only refers to belong to the
        object that it refers to.
        """
        listed: set[int] = set()
        for data_object in self.objects(source):
            owners = data_object.inner_ids() - listed
            listed |= owners
            values = [value for value in data_object.values if value.owner in owners] if owners else []
            if values:
                yield data_object, values

    def _source(self, name: str) -> _Source:
        if name not in self._sources:
            self._sources[name] = _Source(self._read_roots(name), has_types=name != META)
        return self._sources[name]

    def _read_roots(self, source: str) -> list[Any]:
        """Return the data of a source, one item for each script."""
        if source == META:
            contents = read_meta(self._tree)
            return [contents] if contents else []
        if source == MICRODATA:
            return read_microdata(self._tree)
        if source == RDFA:
            return read_rdfa(self._tree)
        if source == JSON_LD:
            parsed = map(parse_json, find_linked_data(self._tree))
            return [content for content in parsed if isinstance(content, _CONTAINERS)]
        return list(self._read_state(source.removeprefix(_SCRIPT)))

    def _read_state(self, name: str) -> Iterator[Any]:
        """Yield the application state of this name."""
        if name == FLIGHT:
            programs = [script.text for script in self._scripts if script.kind == "js"]
            yield from parse_flight([text for text in programs if name in text])
            return
        for script in self._scripts:
            yield from script.read_state(name)

    def _script_sources(self) -> set[str]:
        """Return the sources with application state."""
        names: set[str] = set()
        for script in self._scripts:
            names.update(script.state_names())
        return {f"{_SCRIPT}{name}" for name in names}

    @cached_property
    def _scripts(self) -> list[DataScript]:
        return [DataScript(element) for element in self._tree.iter("script")]


def is_script(source: str) -> bool:
    """Return True if a source is application state, which names its values as its program likes."""
    return source.startswith(_SCRIPT)


def _visit_objects(content: Any, depth: int, visited: list[dict[str, Any]]) -> None:
    """Add all objects inside data to a list, an object before those inside it; more than MAX_VISITED do not count.

    Args:
        content: an object or a list.
        depth: how many levels it is below the data.
        visited: the list.
    """
    inner = content
    if isinstance(content, dict):
        visited.append(content)
        inner = content.values()
    if depth < MAX_DEPTH and len(visited) < MAX_VISITED:
        for part in inner:
            if isinstance(part, _CONTAINERS):
                _visit_objects(part, depth + 1, visited)


def _types_of(content: dict[str, Any]) -> list[str]:
    """Return the types of an object without the address of the vocabulary."""
    types = content.get("@type") or content.get("__typename")
    if not types:
        return []
    all_types = types if isinstance(types, list) else [types]
    names = [_local_name(type_) for type_ in all_types if isinstance(type_, str)]
    return list(filter(None, names))


@lru_cache(maxsize=4096)
def _local_name(type_: str) -> str:
    return re.split(r"[/#]", type_.rstrip("/#"))[-1]
