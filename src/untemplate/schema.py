"""What to extract: a vertical and its attributes, read from TOML."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal, Self

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from untemplate.errors import SchemaError, why
from untemplate.value_types import Type

__all__ = ["Attribute", "Hints", "HintsFile", "Like", "Pattern", "Schema", "Type", "check_hints"]

Like = Literal[
    "number",
    "price",
    "date",
    "time",
    "phone",
    "zip",
    "email",
    "isbn",
    "url",
    "state",
    "rating",
    "measure",
    "year",
    "street",
]
"""What values may be like: the ready-made annotators of labellers that look for anchors."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing to extract. `mandatory`: on every page; `constant`: never changes; `many`: several values."""

    name: str
    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """How to tell an attribute's values from other texts, by themselves and with mistakes, and where they stand."""

    like: Like | None = None
    pattern: str | None = None
    words: tuple[str, ...] = ()
    #: attributes that it stands near
    near: tuple[str, ...] = ()
    #: attributes that it always follows
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Schema:
    """A vertical: its name and what to extract, in order.

    `rows` says that records may be rows of list pages: their files have a column for the position on the page.
    `hints` are for labellers that look for anchors.
    """

    name: str
    attributes: dict[str, Attribute] = field(default_factory=dict)
    rows: bool = False
    hints: dict[str, Hints] = field(default_factory=dict)

    @classmethod
    def load(cls, source: str | Path) -> Schema:
        """Read a TOML file, or the ready-made schema of that name."""
        path = Path(source)
        if path.suffix != ".toml" and not path.is_file():
            ready_made = resources.files("untemplate") / "schemas" / f"{source}.toml"
            if not ready_made.is_file():
                raise SchemaError(
                    f"{source}: no such schema; give a .toml file or one of {', '.join(cls.ready_made())}"
                )
            return _parse(ready_made.read_text("utf-8"), f"schema {source}")
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SchemaError(f"{path}: cannot read the schema: {why(error)}") from error
        return _parse(text, str(path))

    @staticmethod
    def ready_made() -> list[str]:
        """The names of the schemas that come with the package."""
        folder = resources.files("untemplate") / "schemas"
        return sorted(
            entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")
        )


def _compiles(pattern: str) -> str:
    try:
        re2.compile(pattern)
    except re2.error as error:
        raise ValueError(f"not an RE2 pattern: {error}") from error
    return pattern


Pattern = Annotated[str, AfterValidator(_compiles)]


class _AttributeFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: Pattern | None = None


class HintsFile(BaseModel):
    """Hints as files have them."""

    model_config = ConfigDict(extra="forbid")

    like: Like | None = None
    pattern: Pattern | None = None
    words: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


def check_hints(attributes: Collection[str], hints: Mapping[str, HintsFile]) -> None:
    """ValueError if hints are of something that is no attribute, or name such."""
    for name, one in hints.items():
        for other in (name, *one.near, *one.after):
            if other not in attributes:
                raise ValueError(
                    f"hints of {name!r} name {other!r}, which is none of the schema's attributes"
                )


class _SchemaFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    attributes: dict[str, _AttributeFile] = Field(min_length=1)
    hints: dict[str, HintsFile] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_hints(self.attributes, self.hints)
        return self


def _parse(text: str, where: str) -> Schema:
    try:
        file = _SchemaFile.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SchemaError(f"{where}: not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        raise SchemaError(f"{where}: at {place}: {first['msg']}") from error
    return Schema(
        file.name,
        {name: Attribute(name, **vars(fields)) for name, fields in file.attributes.items()},
        hints={name: Hints(**vars(fields)) for name, fields in file.hints.items()},
    )
