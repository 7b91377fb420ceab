"""Extract records inside a Scrapy crawl.

RulesMixin turns the responses of a spider into records; RulesPipeline does the same for items that contain a page.
Both use the rules file named by the setting UNTEMPLATE_RULES, or the newest rules of all sites in the catalog named
by UNTEMPLATE_CATALOG, and count what they find in the crawl's statistics. Items have the columns of record files, so
a feed contains what `untemplate extract` would have written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from logging import getLogger
from typing import Any, Self

from w3lib.encoding import http_content_type_encoding

from untemplate.catalog import Catalog, LiveRules
from untemplate.errors import MissingExtra, RulesError, UntemplateError
from untemplate.extraction import OneSite, PageExtractor, Rules
from untemplate.output.quality import CrawlTally
from untemplate.output.record_rows import record_row
from untemplate.page import Page
from untemplate.record import Record
from untemplate.schema import Schema

try:
    from itemadapter import ItemAdapter
    from scrapy import Spider, signals
    from scrapy.crawler import Crawler
    from scrapy.http import Response
except ImportError as error:
    raise MissingExtra("scrapy", "Support for Scrapy") from error

__all__ = ["RulesMixin", "RulesPipeline"]

RULES_SETTING = "UNTEMPLATE_RULES"
CATALOG_SETTING = "UNTEMPLATE_CATALOG"

_NO_SCHEMA = Schema("", {})
_log = getLogger(__name__)


class RulesMixin(Spider):
    """Adds `extract` to a spider: `yield self.extract(response)` in a callback yields the page's record as an item.

    For a list page this is the first record; `yield from self.extract_all(response)` yields all of them.
    """

    _extractor: _Extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler, *arguments: Any, **options: Any) -> Self:
        """Make the spider and load its rules; Scrapy calls this.

        Raises:
            RulesError: the settings name neither a rules file nor a catalog, or both, or the file cannot be used.
            CatalogError: the catalog cannot be used.
        """
        spider = super().from_crawler(crawler, *arguments, **options)
        spider._extractor = _make_extractor(crawler)
        return spider

    def extract(self, response: Response) -> dict[str, Any]:
        """Return the record of a response, with every column of a record file."""
        return self.extract_all(response)[0]

    def extract_all(self, response: Response) -> list[dict[str, Any]]:
        """Return the records of a response: one, or one for each row of a list page."""
        content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
        charset = http_content_type_encoding(content_type)
        return self._extractor.extract(Page(response.url, response.body, charset=charset))


class RulesPipeline:
    """Replaces the `html` of an item by the columns of the page's record.

    Items need the fields `url` and `html`. Their other fields are kept, and items without `html` pass unchanged. A
    pipeline returns one item for each, so for a list page it is the first record.
    """

    def __init__(self, extractor: _Extractor) -> None:
        self._extractor = extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make the pipeline and load its rules; Scrapy calls this.

        Raises:
            RulesError: the settings name neither a rules file nor a catalog, or both, or the file cannot be used.
            CatalogError: the catalog cannot be used.
        """
        return cls(_make_extractor(crawler))

    def process_item(self, item: Any, spider: object = None) -> Any:
        """Return the item itself, or a dict in its place. Scrapy calls this; older versions pass the spider."""
        fields = ItemAdapter(item).asdict()
        html = fields.pop("html", None)
        if not isinstance(html, str | bytes):
            return item
        page = Page(str(fields.get("url") or ""), html)
        return fields | self._extractor.extract(page)[0]


class _Extractor:
    """Turns pages into rows, and counts records, values and reasons in the crawl's statistics."""

    def __init__(self, crawler: Crawler, find_rules: Callable[[], PageExtractor]) -> None:
        self._crawler = crawler  # its statistics exist only when the crawl starts
        self._find_rules = find_rules

    def extract(self, page: Page) -> list[dict[str, Any]]:
        """Return the rows of a page; one without values if its host is that of no site in the catalog."""
        rules = self._find_rules()
        found = rules.extract_page(page)
        if found is None:
            self._increase("unknown host")
            return [record_row(Record(page.url, page.id, None, {}, {}), _NO_SCHEMA)]
        for record in found.records:
            self._count_record(record, found.site)
        return [record_row(record, rules.schemas[found.table]) for record in found.records]

    def _count_record(self, record: Record, site: str) -> None:
        self._increase("records")
        for name in record.values:
            self._increase(f"found/{name}")
        reasons = {reason.partition(":")[0] for reason in record.missing.values()}
        for reason in reasons:
            self._increase(f"missing/{reason}")

    def _increase(self, statistic: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"untemplate/{statistic}")


class _CatalogExtractor(_Extractor):
    """Uses the newest rules of all sites of a catalog, and keeps the counts of each site there."""

    def __init__(self, crawler: Crawler, catalog: Catalog) -> None:
        live = LiveRules(catalog)
        super().__init__(crawler, lambda: live.rules)
        self._catalog = catalog
        self._crawls: dict[str, CrawlTally] = defaultdict(CrawlTally)
        crawler.signals.connect(self.close, signals.spider_closed)

    def _count_record(self, record: Record, site: str) -> None:
        super()._count_record(record, site)
        self._crawls[site].add(record)
        record.cluster = record.cluster and f"{site}/{record.cluster}"

    def close(self, reason: str) -> None:
        """Keep the counts of a complete crawl in the catalog, and log what dropped against earlier crawls."""
        try:
            # A crawl that was stopped has fewer pages than usual, which says nothing about the sites.
            for site, crawl in sorted(self._crawls.items()) if reason == "finished" else ():
                for alarm in self._catalog.finish_crawl(site, crawl):
                    self._increase("alarms")
                    _log.warning("%s: %s", site, alarm)
        except UntemplateError as error:
            _log.error("the counts of the crawl are lost: %s", error)
        finally:
            self._catalog.close()


def _make_extractor(crawler: Crawler) -> _Extractor:
    """Return an extractor with the rules that the settings name."""
    path, location = crawler.settings.get(RULES_SETTING), crawler.settings.get(CATALOG_SETTING)
    if path and location:
        raise RulesError(f"set {RULES_SETTING} or {CATALOG_SETTING}, not both")
    if location:
        return _CatalogExtractor(crawler, Catalog.open(location, create=False))
    if path:
        rules = OneSite(Rules.load(path))
        return _Extractor(crawler, lambda: rules)
    raise RulesError(
        f"the setting {RULES_SETTING} is missing: set it to a rules file, or {CATALOG_SETTING} to a catalog"
    )
