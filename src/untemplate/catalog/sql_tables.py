"""The tables of a catalog: the data structures of Vertex (II-C), all their versions, and what happened when.

Rules are stored as rows: one for each cluster, rule, bellwether and list of golden values. A row has columns for what
queries need, and the rest of its part of the rules file as JSON. So nothing is stored twice, and nothing is lost.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
)

from untemplate.errors import CatalogError
from untemplate.input_files import FileLimits, check_json_size

__all__ = [
    "MAX_NAME",
    "alarms",
    "bellwethers",
    "claims",
    "clusters",
    "goldens",
    "labels",
    "metadata",
    "migrations",
    "pages",
    "removals",
    "rounds",
    "rules",
    "runs",
    "samples",
    "sites",
    "snapshots",
    "versions",
]

MAX_NAME = 200
"""Longest name of a site in characters. Names are indexed, and PostgreSQL cannot index long texts."""

# Characters that a database cannot store as text, and the backslash, which starts an escape here.
_UNSAFE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


class _AnyText(TypeDecorator[str]):
    """Text of pages and file names. Unlike database text, it may contain NUL and half a surrogate pair.

    Such characters are stored as escapes: `\\u0000` for NUL, and `\\u005c` for the backslash itself.
    """

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value and _UNSAFE.sub(lambda char: f"\\u{ord(char[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value and _ESCAPE.sub(lambda code: chr(int(code[1], 16)), value)


# Rules, golden records and figures, each in a row of its own.
_JSON_LIMITS = FileLimits(values=10_000_000)


class _Json(TypeDecorator[Any]):
    """JSON in plain ASCII. The JSON types of the databases reject some texts, such as NUL."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        if value is None:
            return None
        try:
            check_json_size(value.encode("utf-8", "surrogatepass"), _JSON_LIMITS)
            return json.loads(value)  # orjson refuses halves of characters, which names of files may contain
        except (ValueError, RecursionError, AttributeError) as error:  # a blob has no `encode`
            raise CatalogError(f"the catalog is damaged: {error}; restore a copy of it") from error


class _UtcTime(TypeDecorator[datetime]):
    """A time in UTC. A time without a zone counts as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return self.process_bind_param(value, dialect)


metadata = MetaData()


def _numbered_table(name: str, *parts: Column[Any] | UniqueConstraint | Index) -> Table:
    """Return a table whose rows have ids."""
    return Table(name, metadata, Column("id", Integer, primary_key=True), *parts)


def _reference_to(table: str) -> Column[int]:
    """Return a column with the ids of another table. It is indexed, because rows are selected by their owner."""
    name = f"{table.removesuffix('s')}_id"
    return Column(name, ForeignKey(f"{table}.id"), nullable=False, index=True)


def _text_column(name: str, null: bool = False) -> Column[str]:
    return Column(name, _AnyText, nullable=null)


def _json_column(name: str, null: bool = False) -> Column[Any]:
    return Column(name, _Json, nullable=null)


def _time_column(name: str, null: bool = False) -> Column[datetime]:
    return Column(name, _UtcTime, nullable=null)


migrations = Table(
    "catalog_migrations",
    metadata,
    Column("name", String(MAX_NAME), primary_key=True),
    _time_column("applied"),
)

sites = _numbered_table(
    "sites",
    Column("name", _AnyText, nullable=False, unique=True),
    _time_column("added"),
    Column("watch_hours", Float, nullable=True),
)

versions = _numbered_table(
    "versions",
    _reference_to("sites"),
    Column("number", Integer, nullable=False),
    _text_column("reason"),
    _text_column("note"),
    _text_column("by"),
    _time_column("saved"),
    _json_column("content"),
    UniqueConstraint("site_id", "number"),
)

clusters = _numbered_table(
    "clusters",
    _reference_to("versions"),
    _text_column("name"),
    _json_column("signatures"),
    Column("importance", BigInteger, nullable=False),
    _text_column("url_pattern"),
    _json_column("content"),
)

rules = _numbered_table(
    "rules", _reference_to("clusters"), _text_column("attribute"), _json_column("content")
)

bellwethers = _numbered_table(
    "bellwethers",
    _reference_to("clusters"),
    _text_column("page"),
    _text_column("url"),
    _text_column("signature"),
    _json_column("content"),
)

goldens = _numbered_table(
    "goldens", _reference_to("bellwethers"), _text_column("attribute"), _json_column("texts")
)

samples = _numbered_table("samples", _reference_to("clusters"), _text_column("page"))

snapshots = Table(
    "snapshots",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("html", LargeBinary, nullable=False),
)

pages = _numbered_table(
    "pages",
    _reference_to("sites"),
    Column("key", String(64), nullable=False),
    _text_column("page"),
    _text_column("url"),
    _text_column("charset", null=True),
    _time_column("fetched", null=True),
    _time_column("saved"),
    Column("digest", ForeignKey("snapshots.digest"), nullable=False, index=True),
    Index("pages_of_a_site", "site_id", "key"),
)

labels = _numbered_table(
    "labels",
    _reference_to("sites"),
    _text_column("page"),
    _text_column("attribute"),
    _text_column("value", null=True),
    _text_column("xpath", null=True),
    _text_column("source"),
    Column("confidence", Float, nullable=False),
    _text_column("record", null=True),
    _text_column("by"),
    _time_column("given"),
)

removals = _numbered_table(
    "removals",
    _reference_to("labels"),
    _text_column("by"),
    _time_column("removed"),
    _text_column("restored_by", null=True),
    _time_column("restored", null=True),
)

runs = _numbered_table(
    "runs",
    _reference_to("sites"),
    _text_column("kind"),
    _time_column("started"),
    _time_column("finished", null=True),
    _json_column("figures", null=True),
    Index("runs_of_a_kind", "site_id", "kind"),
)

rounds = _numbered_table(
    "rounds", _text_column("kind"), _time_column("started"), _time_column("finished", null=True)
)

claims = Table(
    "claims",
    metadata,
    Column("site_id", ForeignKey("sites.id"), primary_key=True),
    Column("token", String(32), nullable=False, index=True),
    _text_column("kind"),
    _text_column("holder"),
    _text_column("computer"),
    Column("process", BigInteger, nullable=False),
    _time_column("taken"),
    _time_column("renewed"),
)

alarms = _numbered_table(
    "alarms",
    _reference_to("sites"),
    _reference_to("runs"),
    _text_column("cluster"),
    _text_column("test"),
    _text_column("attribute", null=True),
    _text_column("expected"),
    _text_column("seen"),
    _json_column("pages"),
    _time_column("since"),
    _time_column("raised"),
    _time_column("cleared", null=True),
)
