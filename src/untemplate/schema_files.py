"""Schemas as TOML files contain them: pydantic checks types and keys."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from untemplate.errors import SchemaError
from untemplate.input_files import check_pattern, shorten
from untemplate.value_types import Like, Type

__all__ = ["HintsFile", "Pattern", "SchemaTable", "check_hints", "read_schema_table"]


Pattern = Annotated[str, AfterValidator(check_pattern)]
"""A regular expression in RE2 syntax. Patterns from strangers cannot stall us."""


class _AttributeTable(BaseModel):
    """The TOML table of an attribute."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: Pattern | None = None
    same_as: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    captions: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    description: str = ""


class HintsFile(BaseModel):
    """Hints as files contain them."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    like: Like | None = None
    pattern: Pattern | None = None
    words: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


def check_hints(attributes: Collection[str], hints: Mapping[str, HintsFile]) -> None:
    """Raise ValueError if hints are about, or refer to, something that is not an attribute."""
    for name, hint in hints.items():
        for attribute in (name, *hint.near, *hint.after, *hint.before):
            if attribute not in attributes:
                raise ValueError(
                    f"hints of {name!r} name {attribute!r}, which is none of the schema's attributes"
                )


class SchemaTable(BaseModel):
    """The TOML file of a schema."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    name: str
    attributes: dict[str, _AttributeTable] = Field(min_length=1)
    hints: dict[str, HintsFile] = {}

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_hints(self.attributes, self.hints)
        return self


def read_schema_table(text: str, source: str) -> SchemaTable:
    """Return what the text of a schema file says.

    Raises:
        SchemaError: the text is not that of a schema file; the message names the source.
    """
    import tomllib  # here, as rules files, which use the sections above, are no TOML

    try:
        return SchemaTable.model_validate(tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SchemaError(f"{source}: not TOML: {shorten(str(error))}") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        raise SchemaError(f"{source}: at {shorten(place)}: {shorten(first['msg'])}") from error
