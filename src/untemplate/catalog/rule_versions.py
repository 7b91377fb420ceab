"""The versions of a site's rules, numbered from 1. A version is a rules file, stored as rows.

Rows never change, but for remembered values of attributes such as prices: watching keeps those of today.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, FromClause, Row, RowMapping, Table, bindparam, func, insert, select, update

from untemplate.catalog.site_contents import now
from untemplate.catalog.sql_tables import bellwethers, clusters, goldens, rules, samples, sites, versions
from untemplate.errors import CatalogError, VersionConflict
from untemplate.extraction import Rules

__all__ = [
    "PagesToLabel",
    "Version",
    "add_version",
    "check_newest",
    "find_version",
    "newest_number",
    "newest_versions",
    "read_bellwether_urls",
    "read_cluster_names",
    "read_history",
    "read_pages_to_label",
    "read_rules_file",
    "read_samples",
    "update_goldens",
]

_JsonObject = dict[str, Any]

# The members of a rules file that have columns of their own; the others are in the column `content`.
_CLUSTER_COLUMNS = ("signatures", "importance", "url_pattern")
_BELLWETHER_COLUMNS = ("page", "url", "signature")


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a site's rules: why, by whom and when it was saved, and how many clusters and rules it has."""

    number: int
    reason: str
    note: str
    by: str
    saved: datetime
    clusters: int
    rules: int


@dataclass(frozen=True, slots=True)
class PagesToLabel:
    """Pages of a cluster that a person should label, and the attributes that have no rule since the site changed."""

    cluster: str
    attributes: tuple[str, ...]
    pages: tuple[str, ...]


def add_version(
    connection: Connection,
    site_id: int,
    file: _JsonObject,
    reason: str,
    note: str,
    by: str,
    to_label: Mapping[str, Sequence[str]],
) -> int:
    """Store a rules file as the newest version of a site.

    Args:
        connection: A transaction that has locked the site.
        site_id: The row id of the site.
        file: The rules file as JSON.
        reason: Why there is a new version.
        note: A note for people.
        by: The person who saves it.
        to_label: For each cluster, the pages that a person should label.

    Returns:
        The number of the version.
    """
    number = newest_number(connection, site_id) + 1
    content = {name: value for name, value in file.items() if name != "wrappers"}
    row = {"site_id": site_id, "number": number, "reason": reason, "note": note, "by": by, "saved": now()}
    [version_id] = _insert_rows(connection, versions, [{**row, "content": content}])
    _write_clusters(connection, version_id, file["wrappers"], to_label)
    return number


def find_version(connection: Connection, site_id: int, site: str, number: int | None = None) -> int:
    """Return the row id of a version, or of the newest one.

    Raises:
        CatalogError: The site has no rules, or no version with this number.
    """
    newest = newest_number(connection, site_id)
    if not newest:
        raise CatalogError(f"{site}: has no rules in the catalog yet")
    wanted = newest if number is None else number
    query = select(versions.c.id).where(versions.c.site_id == site_id, versions.c.number == wanted)
    version_id: int | None = connection.scalar(query)
    if version_id is None:
        raise CatalogError(f"{site}: has no version {number} of its rules; there are 1 to {newest}")
    return version_id


def newest_versions(connection: Connection) -> Sequence[Row[Any]]:
    """Return the newest version of each site that has rules."""
    newest = (
        select(versions.c.site_id, func.max(versions.c.number).label("number"))
        .group_by(versions.c.site_id)
        .subquery()
    )
    is_newest = (versions.c.site_id == newest.c.site_id) & (versions.c.number == newest.c.number)
    return connection.execute(select(versions).join(newest, is_newest)).all()


def check_newest(connection: Connection, site_id: int, site: str, number: int) -> None:
    """Raise VersionConflict if the newest version of a site is not this one.

    Args:
        connection: A transaction that has locked the site, so that nobody saves another version before it ends.
        site_id: The row id of the site.
        site: Its name.
        number: The version that was read.
    """
    newest = newest_number(connection, site_id)
    if newest != number:
        raise VersionConflict(
            f"{site}: somebody saved version {newest} of the rules since version {number} was read; try again"
        )


def read_unlabeled(connection: Connection, site_id: int, new_rules: Rules) -> dict[str, list[str]]:
    """Return the pages to label of the newest version, for those clusters of new rules that still need labels."""
    newest = newest_number(connection, site_id)
    if not newest:
        return {}
    waiting = {wrapper.cluster for wrapper in new_rules.wrappers if wrapper.lost or not wrapper.rules}
    pages_of = read_samples(connection, find_version(connection, site_id, "", newest))
    return {cluster: list(pages) for cluster, pages in pages_of.items() if cluster in waiting}


def read_history(connection: Connection, site_id: int) -> list[Version]:
    """Return all versions of a site's rules, the oldest first."""
    query = (
        select(
            versions,
            func.count(clusters.c.id.distinct()).label("cluster_count"),
            func.count(rules.c.id).label("rule_count"),
        )
        .outerjoin(clusters, clusters.c.version_id == versions.c.id)
        .outerjoin(rules, rules.c.cluster_id == clusters.c.id)
        .where(versions.c.site_id == site_id)
        .group_by(versions.c.id)
        .order_by(versions.c.number)
    )
    return [
        Version(row.number, row.reason, row.note, row.by, row.saved, row.cluster_count, row.rule_count)
        for row in connection.execute(query)
    ]


def read_rules_file(connection: Connection, version_id: int, with_bellwethers: bool = True) -> _JsonObject:
    """Return the rules file of a version, put together from its rows; extraction needs no bellwethers."""
    query = select(versions.c.content).where(versions.c.id == version_id)
    file: _JsonObject = connection.scalars(query).one()
    rules_of_cluster = _group_rows(_version_rows(connection, version_id, rules, clusters), "cluster_id")
    pages_of_cluster = _read_bellwethers(connection, version_id) if with_bellwethers else {}
    file["wrappers"] = [
        {
            "cluster": row["name"],
            **_from_row(row, _CLUSTER_COLUMNS),
            "rules": {rule["attribute"]: rule["content"] for rule in rules_of_cluster[row["id"]]},
            "bellwethers": pages_of_cluster.get(row["id"], []),
        }
        for row in _version_rows(connection, version_id, clusters)
    ]
    return file


def _read_bellwethers(connection: Connection, version_id: int) -> dict[int, list[_JsonObject]]:
    """Return the bellwethers of a version, by the row id of their cluster."""
    goldens_of_page = _group_rows(
        _version_rows(connection, version_id, goldens, bellwethers, clusters), "bellwether_id"
    )
    pages_of_cluster: dict[int, list[_JsonObject]] = defaultdict(list)
    for row in _version_rows(connection, version_id, bellwethers, clusters):
        golden = {value["attribute"]: value["texts"] for value in goldens_of_page[row["id"]]}
        pages_of_cluster[row["cluster_id"]].append(_from_row(row, _BELLWETHER_COLUMNS) | {"golden": golden})
    return pages_of_cluster


NewValues = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
"""Cluster → bellwether → attribute → the values of today."""


def update_goldens(connection: Connection, version_id: int, new_values: NewValues) -> None:
    """Replace remembered values of a version by those of today."""
    if not any(new_values.values()):
        return
    query = (
        select(goldens.c.id, goldens.c.attribute, bellwethers.c.page, clusters.c.name)
        .select_from(goldens.join(bellwethers).join(clusters))
        .where(clusters.c.version_id == version_id)
    )
    changes = []
    for row in connection.execute(query):
        texts = new_values.get(row.name, {}).get(row.page, {}).get(row.attribute)
        if texts:
            changes.append({"golden_id": row.id, "new_texts": list(texts)})
    if changes:
        change = update(goldens).where(goldens.c.id == bindparam("golden_id"))
        connection.execute(change.values(texts=bindparam("new_texts")), changes)


def read_cluster_names(connection: Connection, version_id: int) -> set[str]:
    """Return the names of the clusters of a version."""
    return set(connection.scalars(select(clusters.c.name).where(clusters.c.version_id == version_id)))


def read_bellwether_urls(connection: Connection) -> dict[str, list[str]]:
    """Return the URLs of the bellwethers of each site's newest version."""
    newest = {version.id for version in newest_versions(connection)}
    query = (
        select(sites.c.name, bellwethers.c.url)
        .join(versions, versions.c.site_id == sites.c.id)
        .join(clusters, clusters.c.version_id == versions.c.id)
        .join(bellwethers, bellwethers.c.cluster_id == clusters.c.id)
        .where(versions.c.id.in_(newest))
        .order_by(bellwethers.c.id)
    )
    urls: dict[str, list[str]] = {}
    for name, url in connection.execute(query):
        urls.setdefault(name, []).append(url)
    return urls


def read_samples(connection: Connection, version_id: int) -> dict[str, list[str]]:
    """Return the pages that a person should label, by cluster."""
    query = (
        select(clusters.c.name, samples.c.page)
        .join(samples)
        .where(clusters.c.version_id == version_id)
        .order_by(samples.c.id)
    )
    to_label: dict[str, list[str]] = {}
    for row in connection.execute(query):
        to_label.setdefault(row.name, []).append(row.page)
    return to_label


def read_pages_to_label(connection: Connection, version_id: int) -> list[PagesToLabel]:
    """Return the pages that a person should label, with the attributes that lost their rules, or else with all."""
    file, to_label = read_rules_file(connection, version_id), read_samples(connection, version_id)
    all_attributes = file["schema"]["attributes"]
    return [
        PagesToLabel(
            wrapper["cluster"],
            tuple(wrapper["lost"] or all_attributes),
            tuple(to_label[wrapper["cluster"]]),
        )
        for wrapper in file["wrappers"]
        if wrapper["cluster"] in to_label
    ]


def newest_number(connection: Connection, site_id: int) -> int:
    """Return the number of the newest version, or 0."""
    return connection.scalar(select(func.max(versions.c.number)).where(versions.c.site_id == site_id)) or 0


def _write_clusters(
    connection: Connection,
    version_id: int,
    wrappers: Sequence[_JsonObject],
    to_label: Mapping[str, Sequence[str]],
) -> None:
    """Write the clusters of a version, and the rules, bellwethers and samples of each."""
    own_tables = ("cluster", "rules", "bellwethers")
    rows = [
        {
            "version_id": version_id,
            "name": wrapper["cluster"],
            **_to_row(wrapper, _CLUSTER_COLUMNS, own_tables),
        }
        for wrapper in wrappers
    ]
    ids = _insert_rows(connection, clusters, rows)
    id_of_cluster = {wrapper["cluster"]: id for id, wrapper in zip(ids, wrappers, strict=True)}
    _insert_rows(connection, rules, list(_rule_rows(ids, wrappers)))
    _write_bellwethers(connection, list(_watched_pages(ids, wrappers)))
    sample_rows: list[_JsonObject] = []
    for cluster, pages in to_label.items():
        sample_rows += [{"cluster_id": id_of_cluster[cluster], "page": page} for page in pages]
    _insert_rows(connection, samples, sample_rows)


def _rule_rows(ids: Sequence[int], wrappers: Sequence[_JsonObject]) -> Iterator[_JsonObject]:
    """Yield the rows of all rules; `ids` are the row ids of the clusters."""
    for cluster_id, wrapper in zip(ids, wrappers, strict=True):
        for attribute, rule in wrapper["rules"].items():
            yield {"cluster_id": cluster_id, "attribute": attribute, "content": rule}


def _watched_pages(ids: Sequence[int], wrappers: Sequence[_JsonObject]) -> Iterator[tuple[int, _JsonObject]]:
    """Yield all bellwethers with the row ids of their clusters."""
    for cluster_id, wrapper in zip(ids, wrappers, strict=True):
        for bellwether in wrapper["bellwethers"]:
            yield cluster_id, bellwether


def _write_bellwethers(connection: Connection, watched: Sequence[tuple[int, _JsonObject]]) -> None:
    """Write bellwethers, given with the ids of their clusters, and their golden values."""
    rows = [
        {"cluster_id": cluster_id, **_to_row(bellwether, _BELLWETHER_COLUMNS, ("golden",))}
        for cluster_id, bellwether in watched
    ]
    ids = _insert_rows(connection, bellwethers, rows)
    golden_rows = []
    for bellwether_id, (_, bellwether) in zip(ids, watched, strict=True):
        for attribute, texts in bellwether["golden"].items():
            golden_rows.append({"bellwether_id": bellwether_id, "attribute": attribute, "texts": texts})
    _insert_rows(connection, goldens, golden_rows)


def _version_rows(
    connection: Connection, version_id: int, table: Table, *parents: Table
) -> Sequence[RowMapping]:
    """Return the rows of a table that belong to a version, joined with the parents that lead to the clusters."""
    source: FromClause = table
    for parent in parents:
        source = source.join(parent)
    query = select(table).select_from(source).where(clusters.c.version_id == version_id)
    return connection.execute(query.order_by(table.c.id)).mappings().all()


def _to_row(part: _JsonObject, columns: Sequence[str], own_tables: Sequence[str]) -> _JsonObject:
    """Return a part of a rules file as a row: some members as columns, the rest as content.

    Members in `own_tables` are left out, because they are written to other tables or columns.
    """
    apart = {*columns, *own_tables}
    content = {name: value for name, value in part.items() if name not in apart}
    return {**{column: part[column] for column in columns}, "content": content}


def _from_row(row: RowMapping, columns: Sequence[str]) -> _JsonObject:
    """Return the part of a rules file that `_to_row` wrote."""
    return {**{column: row[column] for column in columns}, **row["content"]}


def _insert_rows(connection: Connection, table: Table, rows: Sequence[_JsonObject]) -> Sequence[int]:
    """Insert rows and return their ids in the same order."""
    if not rows:
        return []
    return connection.scalars(insert(table).returning(table.c.id, sort_by_parameter_order=True), rows).all()


def _group_rows(rows: Sequence[RowMapping], key: str) -> defaultdict[int, list[RowMapping]]:
    """Return rows by the value of a column."""
    groups: defaultdict[int, list[RowMapping]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups
