"""Sections of JSON files as dataclasses whose types, keys and limits are checked when they are read.

pydantic does this for all other files. To import it and to build its validators takes longer than to extract from a
hundred pages, and every start of an extraction reads a rules file.
"""

from __future__ import annotations

import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin, get_type_hints

__all__ = ["Length", "Matches", "Section", "SectionError", "Within"]

_Reader = Callable[[Any], Any]
"""Returns a checked part of a JSON document, or raises SectionError."""

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", type(None): "null"}


class SectionError(ValueError):
    """What is wrong with a section, and the keys and numbers that lead to the place."""

    def __init__(self, message: str, place: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.place = place

    def inside(self, key: str | int) -> SectionError:
        """Return the same error in the part of something that is called so."""
        return SectionError(str(self), (key, *self.place))


@dataclass(frozen=True)
class Within:
    """The limits of a number."""

    low: float
    high: float = math.inf

    def __call__(self, number: float) -> None:
        if not self.low <= number <= self.high:
            limit = f"at least {self.low:,}" if number < self.low else f"at most {self.high:,}"
            raise SectionError(f"should be {limit}, and is {number:,}")


@dataclass(frozen=True)
class Length:
    """How many characters or members there may be."""

    low: int = 0
    high: float = math.inf

    def __call__(self, value: str | tuple[Any, ...] | dict[str, Any]) -> None:
        if not self.low <= len(value) <= self.high:
            limit = f"at least {self.low:,}" if len(value) < self.low else f"at most {self.high:,}"
            raise SectionError(f"should have a length of {limit}, and has {len(value):,}")


@dataclass(frozen=True)
class Matches:
    """A pattern that the beginning of a text matches."""

    pattern: str

    def __call__(self, text: str) -> None:
        if not re.match(self.pattern, text):
            raise SectionError(f"should match {self.pattern}")


class Section:
    """Base of dataclasses that are read from JSON objects: no unknown keys, no conversion, no numbers such as NaN.

    Types of fields are `str`, `int`, `float`, `bool`, `Literal`, other sections, `tuple[X, ...]` for lists,
    `dict[str, X]`, and unions of these that differ in their type. `Annotated` adds checks, which raise ValueError.
    """

    @classmethod
    def read(cls, content: Any) -> Self:
        """Return the section that a JSON object is.

        Raises:
            SectionError: it is not such a section; the error says where and why.
        """
        if not isinstance(content, dict):
            raise SectionError("should be an object")
        readers = _field_readers(cls)  # type: ignore[arg-type]
        values = {}
        for key, value in content.items():
            if key not in readers:
                raise SectionError("is a key that is not known here", (key,))
            try:
                values[key] = readers[key](value)
            except SectionError as error:
                raise error.inside(key) from None
        for name in _required_fields(cls) - values.keys():  # type: ignore[arg-type]
            raise SectionError("is missing", (name,))
        return cls(**values)

    @classmethod
    def without_defaults(cls, content: Mapping[str, Any]) -> dict[str, Any]:
        """Return the content of a section without the fields that have the default value."""
        defaults = {field.name: field.default for field in fields(cls)}  # type: ignore[arg-type]
        return {key: value for key, value in content.items() if _as_read(value) != defaults[key]}


def _as_read(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def _field_readers(section: type[Any]) -> dict[str, _Reader]:
    """Return the reader of each field of a section."""
    hints = get_type_hints(section, include_extras=True)
    return {name: _make_reader(hint) for name, hint in hints.items()}


@cache
def _required_fields(section: type[Any]) -> frozenset[str]:
    """Return the fields without a default."""
    required = [field.name for field in fields(section) if field.default is field.default_factory is MISSING]
    return frozenset(required)


def _make_reader(hint: Any) -> _Reader:
    """Return the reader of a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _make_checking(_make_reader(arguments[0]), arguments[1:])
    if origin is tuple:
        return _make_list_reader(_make_reader(arguments[0]))
    if origin is dict:
        return _make_dict_reader(_make_reader(arguments[1]))
    if origin in (Union, types.UnionType):
        return _make_union_reader(arguments)
    if origin is Literal:
        return _make_choice_reader(arguments)
    if hint is float:
        return _read_float
    if isinstance(hint, type) and issubclass(hint, Section):
        return hint.read
    return _make_plain_reader((hint,))


def _make_plain_reader(kinds: tuple[type, ...]) -> _Reader:
    expected = " or ".join(_NAMES[kind] for kind in kinds)

    def read(value: Any) -> Any:
        if type(value) not in kinds:  # True is no number
            raise SectionError(f"should be {expected}")
        return value

    return read


def _read_float(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) < math.inf:
        raise SectionError("should be a number")
    return float(value)


def _make_choice_reader(choices: tuple[Any, ...]) -> _Reader:
    kinds = set(map(type, choices))

    def read(value: Any) -> Any:
        if type(value) not in kinds or value not in choices:
            raise SectionError(f"should be {', '.join(map(repr, choices))}")
        return value

    return read


def _make_union_reader(arguments: tuple[Any, ...]) -> _Reader:
    """Return the reader of a type that may be missing, or of plain types."""
    kinds = [argument for argument in arguments if argument is not type(None)]
    if len(kinds) > 1:
        return _make_plain_reader(arguments)
    read_one = _make_reader(kinds[0])
    return lambda value: None if value is None else read_one(value)


def _make_checking(read_unchecked: _Reader, checks: tuple[Callable[[Any], object], ...]) -> _Reader:
    def read(value: Any) -> Any:
        checked = read_unchecked(value)
        for check in checks:
            try:
                check(checked)
            except SectionError:
                raise
            except ValueError as error:
                raise SectionError(str(error)) from error
        return checked

    return read


def _make_list_reader(read_member: _Reader) -> _Reader:
    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise SectionError("should be a list")
        return tuple(_read_items(enumerate(value), read_member).values())

    return read


def _make_dict_reader(read_value: _Reader) -> _Reader:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise SectionError("should be an object")
        return _read_items(value.items(), read_value)

    return read


def _read_items(items: Any, read_one: _Reader) -> dict[Any, Any]:
    """Return what is read of each item, by its key or number."""
    values = {}
    for key, value in items:
        try:
            values[key] = read_one(value)
        except SectionError as error:
            raise error.inside(key) from None
    return values
