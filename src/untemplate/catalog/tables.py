"""The tables: all that Vertex's data structures hold (II-C), every version of it, and what happened when.

Rules are kept as rows, a row for each cluster, rule, bellwether and golden value list. Each row has columns for what
is asked for, and the rest of its part of the rules file as JSON, so that nothing is stored twice and nothing is lost.
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

__all__ = [
    "MAX_NAME",
    "alarms",
    "bellwethers",
    "clusters",
    "goldens",
    "labels",
    "metadata",
    "migrations",
    "pages",
    "removals",
    "rules",
    "runs",
    "samples",
    "sites",
    "snapshots",
    "versions",
]

MAX_NAME = 200
"""Characters of a site's name: it is indexed, and an index of PostgreSQL holds no long texts."""

# What a database cannot hold as text; the backslash, so that what stands for them is no one else's.
_UNSAFE = re.compile("[\\\\\0\ud800-\udfff]")
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


class _AnyText(TypeDecorator[str]):
    """Text from pages and file names, which may hold NUL or half a surrogate pair."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value and _UNSAFE.sub(lambda char: f"\\u{ord(char[0]):04x}", value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        return value and _ESCAPE.sub(lambda code: chr(int(code[1], 16)), value)


class _Json(TypeDecorator[Any]):
    """JSON in plain ASCII, which holds any text; the databases' own types do not."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(value)


class _Moment(TypeDecorator[datetime]):
    """A moment in UTC; one without a time zone is taken for UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and (value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC))


metadata = MetaData()


def _table(name: str, *parts: Column[Any] | UniqueConstraint | Index) -> Table:
    return Table(name, metadata, Column("id", Integer, primary_key=True), *parts)


def _of(table: str) -> Column[int]:
    """A reference to a row of another table; with an index, since rows are found by whom they belong to."""
    name = f"{table.removesuffix('s')}_id"
    return Column(name, ForeignKey(f"{table}.id"), nullable=False, index=True)


def _text(name: str, null: bool = False) -> Column[str]:
    return Column(name, _AnyText, nullable=null)


def _json(name: str, null: bool = False) -> Column[Any]:
    return Column(name, _Json, nullable=null)


def _moment(name: str, null: bool = False) -> Column[datetime]:
    return Column(name, _Moment, nullable=null)


migrations = Table(
    "catalog_migrations", metadata, Column("name", String(MAX_NAME), primary_key=True), _moment("applied")
)

sites = _table("sites", Column("name", _AnyText, nullable=False, unique=True), _moment("added"))

versions = _table(
    "versions",
    _of("sites"),
    Column("number", Integer, nullable=False),
    _text("reason"),
    _text("note"),
    _text("by"),
    _moment("saved"),
    _json("content"),
    UniqueConstraint("site_id", "number"),
)

clusters = _table(
    "clusters",
    _of("versions"),
    _text("name"),
    _json("signatures"),
    Column("importance", BigInteger, nullable=False),
    _text("url_pattern"),
    _json("content"),
)

rules = _table("rules", _of("clusters"), _text("attribute"), _json("content"))

bellwethers = _table(
    "bellwethers", _of("clusters"), _text("page"), _text("url"), _text("signature"), _json("content")
)

goldens = _table("goldens", _of("bellwethers"), _text("attribute"), _json("texts"))

samples = _table("samples", _of("clusters"), _text("page"))

snapshots = Table(
    "snapshots",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("html", LargeBinary, nullable=False),
)

pages = _table(
    "pages",
    _of("sites"),
    Column("key", String(64), nullable=False),
    _text("page"),
    _text("url"),
    _text("charset", null=True),
    _moment("fetched", null=True),
    _moment("saved"),
    Column("digest", ForeignKey("snapshots.digest"), nullable=False, index=True),
    Index("pages_of_a_site", "site_id", "key"),
)

labels = _table(
    "labels",
    _of("sites"),
    _text("page"),
    _text("attribute"),
    _text("value", null=True),
    _text("xpath", null=True),
    _text("source"),
    Column("confidence", Float, nullable=False),
    _text("record", null=True),
    _text("by"),
    _moment("given"),
)

removals = _table(
    "removals",
    _of("labels"),
    _text("by"),
    _moment("removed"),
    _text("restored_by", null=True),
    _moment("restored", null=True),
)

runs = _table(
    "runs",
    _of("sites"),
    _text("kind"),
    _moment("started"),
    _moment("finished", null=True),
    _json("figures", null=True),
)

alarms = _table(
    "alarms",
    _of("sites"),
    _of("runs"),
    _text("cluster"),
    _text("test"),
    _text("attribute", null=True),
    _text("expected"),
    _text("seen"),
    _json("pages"),
    _moment("since"),
    _moment("raised"),
    _moment("cleared", null=True),
)
