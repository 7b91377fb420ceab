"""What to extract: a vertical and its attributes, read from TOML."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Annotated, Literal

import re2
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import SchemaError, why

__all__ = ["Attribute", "Pattern", "Schema", "Type"]

Type = Literal["text", "number", "price", "date", "time", "phone", "zip", "email", "isbn", "url", "image"]


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
class Schema:
    """A vertical: its name and what to extract, in order.

    `rows` says that records may be rows of list pages: their files have a column for the position on the page.
    """

    name: str
    attributes: dict[str, Attribute] = field(default_factory=dict)
    rows: bool = False

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


class _SchemaFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    attributes: dict[str, _AttributeFile] = Field(min_length=1)


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
        file.name, {name: Attribute(name, **vars(fields)) for name, fields in file.attributes.items()}
    )
