"""Extract a crawl of many sites and verticals: each page goes to the rules of its host, its records to a table.

A table has the records of all sites with the same schema. Schemas with the same name are combined if they agree;
otherwise each of them gets a table of its own.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Protocol

from untemplate.extraction.extractor import Rules
from untemplate.page import Page, host_of, url_matches
from untemplate.record import Reason, Record
from untemplate.schema import Attribute, Schema

__all__ = ["CrawlRules", "OneSite", "PageExtractor", "PageRecords", "SiteRules", "combine_schemas"]

# Bytes that loaded rules need for each byte of their file: 7.4 for rules of 24 clusters of a made-up book shop.
MEMORY_FACTOR = 8

_UNSAFE_NAME = re.compile(r"[^\w.-]+")


class PageRecords(NamedTuple):
    """The records of a page.

    Attributes:
        site: the site whose rules were applied; empty if there is only one.
        table: the name of the table that the records belong to; empty if there is only one.
        records: the records, as `Rules.extract_page` returns them.
    """

    site: str
    table: str
    records: list[Record]

    def without_doubtful(self, min_confidence: float) -> PageRecords:
        """Return the records without values of a lower confidence; they say so."""
        if not min_confidence:
            return self
        return self._replace(records=[record.without_doubtful(min_confidence) for record in self.records])


class PageExtractor(Protocol):
    """What the engines apply to pages: the rules of one site, or of many. It can be pickled."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The schema of each table."""

    @property
    def memory(self) -> int:
        """About how many bytes the rules need in memory that a page may not use."""

    @property
    def digest(self) -> str:
        """A hash that is the same for the same rules."""

    def extract_page(self, page: Page) -> PageRecords | None:
        """Return the records of a page; None if the page is of an unknown site."""

    def refuse_page(self, page: Page, reason: str) -> PageRecords | None:
        """Return the record of a page that cannot be read; None if the page is of an unknown site."""


class OneSite:
    """The rules of one site, for pages of this site only."""

    memory = 0

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.schemas = {"": rules.schema}

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_one_site, (self._rules.dumps(),)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self._rules.dumps().encode()).hexdigest()

    def extract_page(self, page: Page) -> PageRecords:
        return PageRecords("", "", self._rules.extract_page(page))

    def refuse_page(self, page: Page, reason: str) -> PageRecords:
        return PageRecords("", "", [_unreadable_record(page, self._rules.schema, reason)])


@lru_cache(maxsize=1)  # a Spark task unpickles it, but the process stays for the next task
def _load_one_site(text: str) -> OneSite:
    return OneSite(Rules.loads(text))


@dataclass(frozen=True)
class SiteRules:
    """The rules of one site of a crawl. They are loaded when the first page of the site comes.

    Attributes:
        site: the name of the site.
        version: the number of the rules' version.
        schema: what they extract.
        url_patterns: the URL patterns of the wrappers; their hosts are those of the site.
        load: returns the rules.
        size: the length of their file; 0 if it is not known.
    """

    site: str
    version: int
    schema: Schema
    url_patterns: Sequence[str]
    load: Callable[[], Rules]
    size: int = 0

    @cached_property
    def hosts(self) -> frozenset[str]:
        """The hosts of the site, without `www.`; some may contain `*`. The name of a site may be its host."""
        hosts = {host_of(pattern) for pattern in self.url_patterns}
        hosts.add(host_of(f"//{self.site}"))
        return frozenset(hosts - {""})


class CrawlRules:
    """The rules of many sites, to extract pages of all of them in one stream.

    Several sites may have the same host, such as two verticals of one shop. Then the first whose rules match a page
    extracts it.

    Example:
        >>> import untemplate as ut
        >>> from untemplate.extraction import CrawlRules, SiteRules
        >>> def learn(site, attribute):
        ...     pages = [ut.Page(f"http://{site}/{n}", f"<h1>{site} {n}</h1><p>{n}") for n in range(5)]
        ...     schema = ut.Schema(attribute, {attribute: ut.Attribute(attribute)})
        ...     rules = ut.learn(pages, [ut.Label(pages[0].id, attribute, f"{site} 0")], schema)
        ...     patterns = [wrapper.url_pattern for wrapper in rules.wrappers]
        ...     return SiteRules(site, 1, schema, patterns, lambda: rules)
        >>> rules = CrawlRules([learn("books.example", "title"), learn("people.example", "name")])
        >>> found = rules.extract_page(ut.Page("http://people.example/7", "<h1>people.example 7</h1><p>7"))
        >>> found.site, found.table, found.records[0]["name"]
        ('people.example', 'name', 'people.example 7')
        >>> rules.extract_page(ut.Page("http://elsewhere.example/", "<h1>Hello")) is None
        True
    """

    def __init__(self, sites: Iterable[SiteRules]) -> None:
        """Choose the sites; the first of several with the same host comes first."""
        self.sites = {site.site: site for site in sites}
        self.schemas, self._table_of = combine_schemas(
            {name: site.schema for name, site in self.sites.items()}
        )
        self._by_host: dict[str, list[SiteRules]] = defaultdict(list)
        for site in self.sites.values():
            for host in sorted(site.hosts):
                self._by_host[host].append(site)
        self._host_patterns = [host for host in self._by_host if "*" in host]
        self._loaded: dict[str, Rules] = {}

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_loaded": {}}

    @property
    def memory(self) -> int:
        """About how many bytes the rules need when all are loaded."""
        return MEMORY_FACTOR * sum(site.size for site in self.sites.values())

    @property
    def digest(self) -> str:
        """A hash of the names, versions and sizes of all sites' rules."""
        versions = sorted((site.site, site.version, site.size) for site in self.sites.values())
        return hashlib.sha256(repr(versions).encode()).hexdigest()

    def keep_loaded(self, other: CrawlRules) -> None:
        """Use the loaded rules of sites that have the same version in another crawl's rules."""
        for name, rules in other._loaded.items():
            if name in self.sites and self.sites[name].version == other.sites[name].version:
                self._loaded[name] = rules

    def find_sites(self, url: str) -> Sequence[SiteRules]:
        """Return the sites that have the host of a URL."""
        host = host_of(url)
        if host in self._by_host:
            return self._by_host[host]
        for pattern in self._host_patterns:
            if url_matches(pattern, host):
                return self._by_host[pattern]
        return ()

    def extract_page(self, page: Page) -> PageRecords | None:
        """Return the records of a page by its site's rules; None if no site has the page's host."""
        first: PageRecords | None = None
        for site in self.find_sites(page.url):
            found = self._extract_with(site, page)
            if found.records[0].cluster is not None:
                return found
            first = first or found
        return first

    def refuse_page(self, page: Page, reason: str) -> PageRecords | None:
        """Return the record of a page that cannot be read; None if no site has its host."""
        for site in self.find_sites(page.url):
            table = self._table_of[site.site]
            return PageRecords(site.site, table, [_unreadable_record(page, self.schemas[table], reason)])
        return None

    def _extract_with(self, site: SiteRules, page: Page) -> PageRecords:
        """Extract with the rules of one site; attributes that only other sites have are missing for a reason."""
        rules = self._loaded.get(site.site)
        if rules is None:
            rules = self._loaded[site.site] = site.load()
        table = self._table_of[site.site]
        records = rules.extract_page(page)
        if foreign := self.schemas[table].attributes.keys() - rules.schema.attributes.keys():
            for record in records:
                record.missing |= dict.fromkeys(sorted(foreign), Reason.NO_RULE)
        return PageRecords(site.site, table, records)


def combine_schemas(schemas: Mapping[str, Schema]) -> tuple[dict[str, Schema], dict[str, str]]:
    """Combine the schemas of sites into tables.

    Args:
        schemas: the schema of each site.

    Returns:
        The schema of each table, and the table of each site. A table is named like its schemas, with a number if
        schemas of the same name contradict each other, and without characters that file names cannot have.
    """
    tables: dict[str, Schema] = {}
    table_of: dict[str, str] = {}
    for site, schema in schemas.items():
        base = _UNSAFE_NAME.sub("_", schema.name).strip(".") or "records"
        name, number = base, 1
        while name in tables and not _agree(tables[name], schema):
            number += 1
            name = f"{base}-{number}"
        tables[name] = _join_schemas(tables[name], schema) if name in tables else schema
        table_of[site] = name
    return tables, table_of


def _agree(schema: Schema, other: Schema) -> bool:
    """Return True if attributes that both schemas have fit into the same column."""
    common = schema.attributes.keys() & other.attributes.keys()
    return all(
        _column_kind(schema.attributes[name]) == _column_kind(other.attributes[name]) for name in common
    )


def _column_kind(attribute: Attribute) -> tuple[str, bool]:
    return attribute.type, attribute.many


def _join_schemas(schema: Schema, other: Schema) -> Schema:
    return replace(
        schema, attributes={**other.attributes, **schema.attributes}, rows=schema.rows or other.rows
    )


def _unreadable_record(page: Page, schema: Schema, reason: str) -> Record:
    missing = dict.fromkeys(schema.attributes, f"{Reason.UNREADABLE}: {reason}")
    return Record(page.url, page.id, None, {}, missing)
