"""Labels and who gave them. A label that is removed stays, with who removed it, and can be restored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import ColumnElement, Connection, insert, select, update

from untemplate.catalog.sites import now
from untemplate.catalog.stored import GivenLabel
from untemplate.catalog.tables import labels, removals
from untemplate.errors import CatalogError
from untemplate.labeling import Label

__all__ = ["add_labels", "read_labels", "remove_label", "restore_label"]


def add_labels(connection: Connection, site_id: int, given: Iterable[Label], by: str) -> list[int]:
    """Add labels; one that the same person has given already is not added again. The ids of all, in their order."""
    known = {one.label: one.id for one in read_labels(connection, site_id) if one.by == by}
    ids = []
    for label in given:
        if label not in known:
            row = {**asdict(label), "site_id": site_id, "by": by, "given": now()}
            known[label] = connection.scalars(insert(labels).returning(labels.c.id), row).one()
        ids.append(known[label])
    return ids


def remove_label(connection: Connection, label_id: int, by: str) -> None:
    """Let a label no longer count."""
    if connection.scalar(select(labels.c.id).where(labels.c.id == label_id).with_for_update()) is None:
        raise CatalogError(f"no label {label_id} in the catalog")
    if connection.scalar(select(removals.c.id).where(_is_removed(label_id))) is None:
        connection.execute(insert(removals).values(label_id=label_id, by=by, removed=now()))


def restore_label(connection: Connection, label_id: int, by: str) -> None:
    """Let a removed label count again."""
    done = connection.execute(
        update(removals).where(_is_removed(label_id)).values(restored_by=by, restored=now())
    )
    if not done.rowcount:
        raise CatalogError(f"no removed label {label_id} in the catalog")


def read_labels(connection: Connection, site_id: int, removed: bool = False) -> list[GivenLabel]:
    """The labels of a site in the order in which they were given, those that were removed too if asked for."""
    gone = removals.c.restored.is_(None) & (removals.c.label_id == labels.c.id)
    query = (
        select(labels, removals.c.removed)
        .outerjoin(removals, gone)
        .where(labels.c.site_id == site_id)
        .order_by(labels.c.id)
    )
    if not removed:
        query = query.where(removals.c.removed.is_(None))
    return [
        GivenLabel(
            row.id,
            Label(row.page, row.attribute, row.value, row.xpath, row.source, row.confidence, row.record),
            row.by,
            row.given,
            row.removed,
        )
        for row in connection.execute(query)
    ]


def _is_removed(label_id: int) -> ColumnElement[bool]:
    return (removals.c.label_id == label_id) & removals.c.restored.is_(None)
