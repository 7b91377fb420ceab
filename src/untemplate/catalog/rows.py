"""What a rules file says as rows, part by part, and back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, FromClause, RowMapping, Table, insert, select

from untemplate.catalog import tables

__all__ = ["File", "read_samples", "read_version", "write_version"]

File = dict[str, Any]

_CLUSTER_COLUMNS = ("signatures", "importance", "url_pattern")
_BELLWETHER_COLUMNS = ("page", "url", "signature")


def write_version(
    connection: Connection, version: Mapping[str, Any], file: File, to_label: Mapping[str, Sequence[str]]
) -> None:
    """Write a row of versions, and all that belongs to it; the file is taken apart."""
    wrappers = file.pop("wrappers")
    names = [wrapper["cluster"] for wrapper in wrappers]
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
    id_of = dict(zip(names, ids, strict=True))
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


def read_version(connection: Connection, version_id: int) -> File:
    """The rules file of a row of versions."""
    file: File = connection.scalars(
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
    return file


def read_samples(connection: Connection, version_id: int) -> dict[str, list[str]]:
    """The pages that a person should label, by cluster."""
    query = (
        select(tables.clusters.c.name, tables.samples.c.page)
        .join(tables.samples)
        .where(tables.clusters.c.version_id == version_id)
        .order_by(tables.samples.c.id)
    )
    to_label: dict[str, list[str]] = {}
    for row in connection.execute(query):
        to_label.setdefault(row.name, []).append(row.page)
    return to_label


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
