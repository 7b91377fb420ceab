"""What to extract: a vertical and its attributes, read from TOML."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from untemplate.errors import SchemaError, why
from untemplate.input_files import FileLimits, read_limited
from untemplate.value_types import Like, Type

__all__ = ["Attribute", "Hints", "Schema", "Type"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """One thing to extract.

    Args:
        name: its name, the column in the output
        type: the type of its values; it says which part of a text is the value, and what the value means
        mandatory: every page has it; pages without it are suspicious
        constant: its value never changes, so that a remembered value can be found again
        many: a page may have several values
        pattern: a regular expression (RE2 syntax) that every value matches
        same_as: what schema.org, Open Graph or other embedded data call it, the best name first
        captions: what pages call it in captions, class names and ids, besides its name
        description: what it is, for people who label pages and for language models

    Example:
        >>> from untemplate import Attribute
        >>> Attribute("phone", type="phone", mandatory=True).many
        False
    """

    name: str
    type: Type = "text"
    mandatory: bool = False
    constant: bool = False
    many: bool = False
    pattern: str | None = None
    same_as: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    description: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """What a page may call it: its name, its captions, and the names that embedded data have for it."""
        in_markup = (name.rpartition(":")[2] for name in self.same_as)
        return tuple(dict.fromkeys((self.name, *self.captions, *in_markup)))


@dataclass(frozen=True, slots=True)
class Hints:
    """How to recognize an attribute's values among other texts, with mistakes, and where they appear.

    The method "anchors" uses hints to find a few sure values on a new site.

    Args:
        like: the ready-made annotator that finds such values
        pattern: a regular expression (RE2 syntax) that finds them
        words: words that such values contain
        near: attributes that appear close by
        after: attributes that always come before this one
        before: attributes that always come after this one
    """

    like: Like | None = None
    pattern: str | None = None
    words: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


_FILE_LIMITS = FileLimits(bytes=1 << 20)


@dataclass(frozen=True, slots=True)
class Schema:
    """A vertical: its name and what to extract.

    Args:
        name: the name of the vertical, such as `restaurant`
        attributes: the attributes by name, in the order of the output
        rows: True if records may be rows of list pages; output files then have a column for the position on the page
        hints: how to recognize values, by attribute; only the method "anchors" needs them

    Example:
        >>> from untemplate import Attribute, Schema
        >>> schema = Schema("restaurant", {"phone": Attribute("phone", type="phone")})
        >>> list(Schema.load("restaurant").attributes)[:2]
        ['name', 'address']
    """

    name: str
    attributes: dict[str, Attribute] = field(default_factory=dict)
    rows: bool = False
    hints: dict[str, Hints] = field(default_factory=dict)

    @classmethod
    def load(cls, source: str | Path) -> Schema:
        """Read a schema from a TOML file, or return the ready-made schema of that name.

        Raises:
            SchemaError: there is no such file or ready-made schema, or it is not a valid schema.
        """
        path = Path(source)
        if path.suffix != ".toml" and not path.is_file():
            return cls._load_ready_made(str(source))
        try:
            text = read_limited(path, _FILE_LIMITS).decode("utf-8")
        except (OSError, ValueError) as error:
            raise SchemaError(f"{path}: cannot read the schema: {why(error)}") from error
        return _parse_schema(text, str(path))

    @classmethod
    def _load_ready_made(cls, name: str) -> Schema:
        file = resources.files("untemplate") / "schemas" / f"{name}.toml"
        if not file.is_file():
            names = ", ".join(cls.ready_made())
            raise SchemaError(f"{name}: no such schema; give a .toml file or one of {names}")
        return _parse_schema(file.read_text("utf-8"), f"schema {name}")

    @staticmethod
    def ready_made() -> list[str]:
        """Return the names of the schemas that come with the package."""
        folder = resources.files("untemplate") / "schemas"
        files = [entry.name for entry in folder.iterdir()]
        return sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))


def _parse_schema(text: str, source: str) -> Schema:
    from untemplate.schema_files import (
        read_schema_table,  # here, as pydantic is slow to load and few read files
    )

    table = read_schema_table(text, source)
    return Schema(
        table.name,
        {name: Attribute(name, **vars(fields)) for name, fields in table.attributes.items()},
        hints={name: Hints(**vars(fields)) for name, fields in table.hints.items()},
    )
