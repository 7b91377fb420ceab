"""The newest rules of all sites of a catalog, to extract crawls of many sites, also for weeks in one process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import zstandard
from sqlalchemy import Connection, Row, Text, select, type_coerce

from untemplate.catalog.rule_versions import newest_versions, read_rules_file
from untemplate.catalog.sql_tables import clusters, sites
from untemplate.extraction import CrawlRules, PageRecords, Rules, SiteRules
from untemplate.page import Page
from untemplate.schema import Schema

if TYPE_CHECKING:
    from untemplate.catalog.catalog import Catalog

__all__ = ["LiveRules", "PackedRules", "list_site_rules", "pack_crawl_rules"]

# Seconds after which a process looks for new versions. The query takes some milliseconds.
REFRESH_SECONDS = 60.0
# Sites whose rules a process keeps. A site of 24 clusters needs 7 MB.
MAX_LOADED_SITES = 1_000


@dataclass(frozen=True)
class PackedRules:
    """Rules without what extraction does not need, compressed, to send them to other processes."""

    data: bytes

    def __call__(self) -> Rules:
        """Return the rules."""
        return _unpack_rules(self.data)


@lru_cache(maxsize=MAX_LOADED_SITES)  # a Spark task unpickles them, but the process stays for the next task
def _unpack_rules(data: bytes) -> Rules:
    return Rules.loads(zstandard.decompress(data))


class _Entry(NamedTuple):
    """The newest rules of a site, as far as their rows say without reading the rules."""

    site: str
    version: Row[Any]
    schema: Schema
    url_patterns: list[str]


def pack_crawl_rules(connection: Connection) -> CrawlRules:
    """Return the newest rules of all sites in a form that can be sent to other processes."""
    return CrawlRules(_pack_site(connection, entry) for entry in _newest_entries(connection))


def _pack_site(connection: Connection, entry: _Entry) -> SiteRules:
    text = json.dumps(read_rules_file(connection, entry.version.id, with_bellwethers=False)).encode()
    packed = PackedRules(zstandard.compress(text))
    return SiteRules(entry.site, entry.version.number, entry.schema, entry.url_patterns, packed, len(text))


def list_site_rules(connection: Connection, load: Callable[[str, int], Rules]) -> CrawlRules:
    """Return the newest rules of all sites; those of a site are loaded when its first page comes.

    Args:
        connection: A transaction.
        load: Returns the rules of a site and version.
    """
    return CrawlRules(
        SiteRules(
            entry.site,
            entry.version.number,
            entry.schema,
            entry.url_patterns,
            partial(load, entry.site, entry.version.number),
        )
        for entry in _newest_entries(connection)
    )


def _newest_entries(connection: Connection) -> Iterator[_Entry]:
    """Yield the newest rules of each site, in the order in which the sites were added."""
    names = {row.id: row.name for row in connection.execute(select(sites.c.id, sites.c.name))}
    newest = newest_versions(connection)
    patterns: dict[int, list[str]] = {version.id: [] for version in newest}
    with_rows = set()
    has_records = type_coerce(clusters.c.content, Text).like('%"records":{%')
    query = select(clusters.c.version_id, clusters.c.url_pattern, has_records)
    for version_id, pattern, is_list in connection.execute(query.where(clusters.c.version_id.in_(patterns))):
        patterns[version_id].append(pattern)
        if is_list:
            with_rows.add(version_id)
    for version in sorted(newest, key=lambda version: version.site_id):
        schema = Rules.loads(json.dumps(version.content | {"wrappers": []})).schema
        schema = replace(schema, rows=version.id in with_rows)
        yield _Entry(names[version.site_id], version, schema, patterns[version.id])


class LiveRules:
    """Extracts pages of all sites of a catalog, each with the newest rules of its site.

    A process that runs for weeks, such as a crawler, notices new versions within a minute.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> import untemplate as ut
        >>> from untemplate.catalog import LiveRules
        >>> pages = [ut.Page(f"http://a.example/{n}", f"<h1>Lamp {n}</h1><p>{n}") for n in range(5)]
        >>> folder = TemporaryDirectory()
        >>> with ut.Catalog.open(f"{folder.name}/untemplate.db") as catalog:
        ...     version = catalog.save_rules("a.example", ut.learn(pages, [ut.Label(pages[0].id, "name", "Lamp 0")]))
        ...     for found in LiveRules(catalog).extract(pages[:2]):
        ...         print(found.site, found.records[0]["name"])
        a.example Lamp 0
        a.example Lamp 1
        >>> folder.cleanup()
    """

    def __init__(self, catalog: Catalog, refresh_seconds: float = REFRESH_SECONDS) -> None:
        """Choose the catalog.

        Args:
            catalog: The catalog; it must stay open.
            refresh_seconds: After this time it is asked for new versions.

        Raises:
            CatalogError: The catalog cannot be used.
        """
        self._catalog = catalog
        self._refresh_seconds = refresh_seconds
        self._rules = catalog.site_rules()
        self._read = monotonic()

    @property
    def rules(self) -> CrawlRules:
        """The newest rules, read again if the time for it has come."""
        if monotonic() - self._read >= self._refresh_seconds:
            fresh = self._catalog.site_rules()
            fresh.keep_loaded(self._rules)
            self._rules = fresh
            self._read = monotonic()
        return self._rules

    def extract_page(self, page: Page) -> PageRecords | None:
        """Return the records of a page with its site and table; None if no site of the catalog has its host."""
        return self.rules.extract_page(page)

    def extract(self, pages: Iterable[Page]) -> Iterator[PageRecords]:
        """Yield the records of pages as they come; pages of unknown hosts are left out."""
        for page in pages:
            found = self.extract_page(page)
            page.release()
            if found is not None:
                yield found
