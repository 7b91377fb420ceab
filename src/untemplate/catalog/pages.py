"""Snapshots of pages: compressed, and each content kept once however many pages and sites show it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime

import zstandard
from sqlalchemy import Connection, func, insert, select

from untemplate.catalog.sites import insert_once, now
from untemplate.catalog.tables import pages, snapshots
from untemplate.page import Page

__all__ = ["find_page", "latest_pages", "read_page", "write_page"]


def write_page(connection: Connection, site_id: int, page: Page) -> None:
    """Keep a page as it is now; where nothing changed since it was last kept, that will do."""
    digest = hashlib.sha256(page.html).hexdigest()
    last = find_page(connection, site_id, page.id)
    kept = select(pages.c.digest, pages.c.url, pages.c.charset).where(pages.c.id == last)
    if last is not None and connection.execute(kept).one() == (digest, page.url, page.charset):
        return
    if connection.scalar(select(snapshots.c.digest).where(snapshots.c.digest == digest)) is None:
        html = zstandard.compress(page.html)
        connection.execute(insert_once(connection, snapshots).values(digest=digest, html=html))
    connection.execute(
        insert(pages).values(
            site_id=site_id,
            key=_key(page.id),
            page=page.id,
            url=page.url,
            charset=page.charset,
            fetched=page.fetched,
            saved=now(),
            digest=digest,
        )
    )


def find_page(connection: Connection, site_id: int, page: str, at: datetime | None = None) -> int | None:
    """The row of a page as it was last kept, or at some time."""
    query = select(func.max(pages.c.id)).where(pages.c.site_id == site_id, pages.c.key == _key(page))
    row: int | None = connection.scalar(query if at is None else query.where(pages.c.saved <= at))
    return row


def latest_pages(connection: Connection, site_id: int) -> Sequence[int]:
    """The rows of all pages as they were last kept, in the order in which they first were."""
    query = select(func.max(pages.c.id)).where(pages.c.site_id == site_id).group_by(pages.c.key)
    return connection.scalars(query.order_by(func.min(pages.c.id))).all()


def read_page(connection: Connection, row_id: int) -> Page:
    row = connection.execute(
        select(pages, snapshots.c.html).join(snapshots).where(pages.c.id == row_id)
    ).one()
    return Page(row.url, zstandard.decompress(row.html), row.page, row.fetched, row.charset)


def _key(page: str) -> str:
    """What a page is found by; its id may be too long for an index."""
    return hashlib.sha256(page.encode("utf-8", "surrogatepass")).hexdigest()
