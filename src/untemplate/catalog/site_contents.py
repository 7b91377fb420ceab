"""What belongs to a site besides its rules: its name, the states of its pages, and its labels.

Page states are compressed, and equal contents are stored once, even if several pages or sites share them. A removed
label stays in the catalog, with the person who removed it, so that it can be restored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import zstandard
from sqlalchemy import ColumnElement, Connection, Insert, Table, case, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from untemplate.catalog.sql_tables import MAX_NAME, labels, pages, removals, sites, snapshots
from untemplate.errors import CatalogError
from untemplate.labeling import Label
from untemplate.page import Page

__all__ = [
    "StoredLabel",
    "add_labels",
    "find_page",
    "find_site",
    "latest_pages",
    "list_sites",
    "load_labels",
    "lock_site",
    "now",
    "read_page",
    "remove_label",
    "rename_attributes",
    "restore_label",
    "write_page",
]

# Bytes of a page: more than the limits of any page allow.
MAX_SNAPSHOT_BYTES = 256 << 20
# Site names that an error message lists.
MAX_LISTED_SITES = 5


@dataclass(frozen=True, slots=True)
class StoredLabel:
    """A label, who added it and when. If `removed` is set, somebody removed it then, and it does not count since."""

    id: int
    label: Label
    by: str
    added: datetime
    removed: datetime | None = None
    removed_by: str | None = None

    @property
    def changed(self) -> datetime:
        """When the label was added or removed last."""
        return max(self.added, self.removed or self.added)


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


# Sites


def list_sites(connection: Connection) -> list[str]:
    """Return the names of all sites in the order in which they were added."""
    return list(connection.scalars(select(sites.c.name).order_by(sites.c.id)))


def find_site(connection: Connection, name: str) -> int:
    """Return the id of a site.

    Raises:
        CatalogError: The site is not in the catalog; the message lists those that are.
    """
    site_id: int | None = connection.scalar(select(sites.c.id).where(sites.c.name == name))
    if site_id is not None:
        return site_id
    names = list_sites(connection)
    if not names:
        raise CatalogError(f"no site {name!r} in the catalog, which has no sites yet")
    listed = ", ".join(names[:MAX_LISTED_SITES])
    more = ", …" if len(names) > MAX_LISTED_SITES else ""
    raise CatalogError(f"no site {name!r} in the catalog; it has {listed}{more}")


def lock_site(connection: Connection, name: str) -> int:
    """Return the id of a site, and add it if needed. Other writers of the site wait until this transaction ends.

    Raises:
        CatalogError: The name is empty or too long.
    """
    if not name.strip() or len(name) > MAX_NAME:
        raise CatalogError(f"the name of a site has 1 to {MAX_NAME} characters, not {name[:30]!r}")
    connection.execute(_insert_if_absent(connection, sites).values(name=name, added=now()))
    query = select(sites.c.id).where(sites.c.name == name).with_for_update()
    site_id: int = connection.scalars(query).one()
    return site_id


def _insert_if_absent(connection: Connection, table: Table) -> Insert:
    """Return an insert statement that does nothing if the row exists already."""
    dialect_insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return dialect_insert(table).on_conflict_do_nothing()


# Pages


def write_page(connection: Connection, site_id: int, page: Page) -> None:
    """Store the state of a page, unless it is the same as the last stored state."""
    digest = hashlib.sha256(page.html).hexdigest()
    last_row = find_page(connection, site_id, page.id)
    last_state = select(pages.c.digest, pages.c.url, pages.c.charset).where(pages.c.id == last_row)
    if last_row is not None and connection.execute(last_state).one() == (digest, page.url, page.charset):
        return
    if connection.scalar(select(snapshots.c.digest).where(snapshots.c.digest == digest)) is None:
        html = zstandard.compress(page.html)
        connection.execute(_insert_if_absent(connection, snapshots).values(digest=digest, html=html))
    connection.execute(
        insert(pages).values(
            site_id=site_id,
            key=_page_key(page.id),
            page=page.id,
            url=page.url,
            charset=page.charset,
            fetched=page.fetched,
            saved=now(),
            digest=digest,
        )
    )


def find_page(connection: Connection, site_id: int, page: str, at: datetime | None = None) -> int | None:
    """Return the row id of the last stored state of a page, or of its state at a time; None if there is none."""
    query = select(func.max(pages.c.id)).where(pages.c.site_id == site_id, pages.c.key == _page_key(page))
    row: int | None = connection.scalar(query if at is None else query.where(pages.c.saved <= at))
    return row


def latest_pages(connection: Connection, site_id: int) -> Sequence[int]:
    """Return the row ids of the last states of all pages, in the order in which the pages were first stored."""
    query = select(func.max(pages.c.id)).where(pages.c.site_id == site_id).group_by(pages.c.key)
    return connection.scalars(query.order_by(func.min(pages.c.id))).all()


def read_page(connection: Connection, row_id: int) -> Page:
    """Return the page state of a row."""
    query = select(pages, snapshots.c.html).join(snapshots).where(pages.c.id == row_id)
    row = connection.execute(query).one()
    try:
        if zstandard.frame_content_size(row.html) > MAX_SNAPSHOT_BYTES:
            raise zstandard.ZstdError(f"larger than {MAX_SNAPSHOT_BYTES >> 20} MB")
        html = zstandard.decompress(row.html)
    except (zstandard.ZstdError, TypeError) as error:
        raise CatalogError(
            f"the catalog is damaged: the snapshot of {row.page}: {error}; restore a copy of it"
        ) from error
    return Page(row.url, html, row.page, row.fetched, row.charset)


def _page_key(page: str) -> str:
    """Return a hash to find a page by, because its id may be too long for an index."""
    return hashlib.sha256(page.encode("utf-8", "surrogatepass")).hexdigest()


# Labels


def add_labels(connection: Connection, site_id: int, new: Iterable[Label], by: str) -> list[int]:
    """Add labels of a person and return their ids; a label that the person added before keeps its id."""
    id_of_label = {stored.label: stored.id for stored in load_labels(connection, site_id) if stored.by == by}
    ids = []
    for label in new:
        if label not in id_of_label:
            row = {**asdict(label), "site_id": site_id, "by": by, "given": now()}
            id_of_label[label] = connection.scalars(insert(labels).returning(labels.c.id), row).one()
        ids.append(id_of_label[label])
    return ids


def remove_label(connection: Connection, label_id: int, by: str) -> None:
    """Mark a label as removed; a label that is removed already stays so."""
    if connection.scalar(select(labels.c.id).where(labels.c.id == label_id).with_for_update()) is None:
        raise CatalogError(f"no label {label_id} in the catalog")
    if connection.scalar(select(removals.c.id).where(_is_removed(label_id))) is None:
        connection.execute(insert(removals).values(label_id=label_id, by=by, removed=now()))


def restore_label(connection: Connection, label_id: int, by: str) -> None:
    """End the removal of a label; raise CatalogError if it is not removed."""
    removal = update(removals).where(_is_removed(label_id))
    if not connection.execute(removal.values(restored_by=by, restored=now())).rowcount:
        raise CatalogError(f"no removed label {label_id} in the catalog")


def rename_attributes(connection: Connection, site_id: int, new_names: Mapping[str, str]) -> None:
    """Give the attributes of a site's labels new names, all at once, so that two may exchange their names."""
    name = case(dict(new_names), value=labels.c.attribute, else_=labels.c.attribute)
    renamed = (labels.c.site_id == site_id) & labels.c.attribute.in_(new_names)
    connection.execute(update(labels).where(renamed).values(attribute=name))


def load_labels(connection: Connection, site_id: int, removed: bool = False) -> list[StoredLabel]:
    """Return the labels of a site in the order in which they were added, optionally with the removed ones."""
    is_removal = removals.c.restored.is_(None) & (removals.c.label_id == labels.c.id)
    query = (
        select(labels, removals.c.removed, removals.c.by.label("removed_by"))
        .outerjoin(removals, is_removal)
        .where(labels.c.site_id == site_id)
        .order_by(labels.c.id)
    )
    if not removed:
        query = query.where(removals.c.removed.is_(None))
    return [
        StoredLabel(
            row.id,
            Label(row.page, row.attribute, row.value, row.xpath, row.source, row.confidence, row.record),
            row.by,
            row.given,
            row.removed,
            row.removed_by,
        )
        for row in connection.execute(query)
    ]


def _is_removed(label_id: int) -> ColumnElement[bool]:
    return (removals.c.label_id == label_id) & removals.c.restored.is_(None)
