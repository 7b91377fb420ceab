"""A version of rules as rows, and back: the rows hold what a rules file says, part by part."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, FromClause, RowMapping, Table, insert, select

from untemplate.catalog import tables
from untemplate.extraction import Rules

__all__ = ["read_rules", "write_rules"]

_CLUSTER_COLUMNS = ("signatures", "importance", "url_pattern")
_BELLWETHER_COLUMNS = ("page", "url", "signature")


def write_rules(
    connection: Connection, version: Mapping[str, Any], rules: Rules, to_label: Mapping[str, Sequence[str]]
) -> None:
    """Write a row of versions, and all that belongs to it."""
    file = json.loads(rules.dumps())
    wrappers = file.pop("wrappers")
    [version_id] = _insert(connection, tables.versions, [{**version, "content": file}])
    parts = [(wrapper.pop("rules"), wrapper.pop("bellwethers")) for wrapper in wrappers]
    ids = _insert(
        connection,
        tables.clusters,
        [
            {"version_id": version_id, "name": one.pop("cluster"), **_split(one, _CLUSTER_COLUMNS)}
            for one in wrappers
        ],
    )
    of_cluster = list(zip(ids, parts, strict=True))
    _insert(
        connection,
        tables.rules,
        [
            {"cluster_id": cluster_id, "attribute": attribute, "content": rule}
            for cluster_id, (by_attribute, _) in of_cluster
            for attribute, rule in by_attribute.items()
        ],
    )
    _write_bellwethers(
        connection, [(cluster_id, one) for cluster_id, (_, watched) in of_cluster for one in watched]
    )
    id_of = {wrapper.cluster: cluster_id for cluster_id, wrapper in zip(ids, rules.wrappers, strict=True)}
    _insert(
        connection,
        tables.samples,
        [
            {"cluster_id": id_of[cluster], "page": page}
            for cluster, pages in to_label.items()
            for page in pages
        ],
    )


def _write_bellwethers(connection: Connection, watched: Sequence[tuple[int, dict[str, Any]]]) -> None:
    goldens = [bellwether.pop("golden") for _, bellwether in watched]
    ids = _insert(
        connection,
        tables.bellwethers,
        [{"cluster_id": cluster_id, **_split(one, _BELLWETHER_COLUMNS)} for cluster_id, one in watched],
    )
    _insert(
        connection,
        tables.goldens,
        [
            {"bellwether_id": bellwether_id, "attribute": attribute, "texts": texts}
            for bellwether_id, golden in zip(ids, goldens, strict=True)
            for attribute, texts in golden.items()
        ],
    )


def read_rules(connection: Connection, version_id: int, name: str) -> Rules:
    """The rules of a row of versions, as they were saved; `name` stands for them in errors."""
    file = connection.scalars(
        select(tables.versions.c.content).where(tables.versions.c.id == version_id)
    ).one()

    def rows(table: Table, *parents: Table) -> Sequence[RowMapping]:
        source: FromClause = table
        for parent in parents:
            source = source.join(parent)
        query = select(table).select_from(source)
        of_version = tables.clusters.c.version_id == version_id
        return connection.execute(query.where(of_version).order_by(table.c.id)).mappings().all()

    rules = _grouped(rows(tables.rules, tables.clusters), "cluster_id")
    bellwethers = _grouped(rows(tables.bellwethers, tables.clusters), "cluster_id")
    goldens = _grouped(rows(tables.goldens, tables.bellwethers, tables.clusters), "bellwether_id")
    file["wrappers"] = [
        {
            "cluster": row["name"],
            **_joined(row, _CLUSTER_COLUMNS),
            "rules": {one["attribute"]: one["content"] for one in rules[row["id"]]},
            "bellwethers": [
                _joined(one, _BELLWETHER_COLUMNS)
                | {"golden": {golden["attribute"]: golden["texts"] for golden in goldens[one["id"]]}}
                for one in bellwethers[row["id"]]
            ],
        }
        for row in rows(tables.clusters)
    ]
    return Rules.loads(json.dumps(file), name)


def _split(part: dict[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """A part of the file as a row: some of it in columns, the rest as content."""
    return {**{column: part.pop(column) for column in columns}, "content": part}


def _joined(row: RowMapping, columns: Sequence[str]) -> dict[str, Any]:
    """The part of the file that a row stands for."""
    return {**{column: row[column] for column in columns}, **row["content"]}


def _insert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> Sequence[int]:
    """The ids of the new rows, in their order."""
    if not rows:
        return []
    return connection.scalars(insert(table).returning(table.c.id, sort_by_parameter_order=True), rows).all()


def _grouped(rows: Sequence[RowMapping], key: str) -> defaultdict[int, list[RowMapping]]:
    groups: defaultdict[int, list[RowMapping]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups
