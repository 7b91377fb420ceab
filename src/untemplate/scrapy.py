"""Rules inside a Scrapy spider: a mixin that makes a record of a response, an item pipeline that makes one of a page.

Both read the rules file that the setting UNTEMPLATE_RULES names, and count what they find in the crawl's statistics.
Items have the columns of record files, so a feed holds what `untemplate extract` would have written.
"""

from __future__ import annotations

from typing import Any, Self

from w3lib.encoding import http_content_type_encoding

from untemplate.errors import MissingExtra, RulesError
from untemplate.extraction import Rules
from untemplate.output.record_rows import record_row
from untemplate.page import Page

try:
    from itemadapter import ItemAdapter
    from scrapy import Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
except ImportError as error:
    raise MissingExtra("scrapy", "Support for Scrapy") from error

__all__ = ["RulesMixin", "RulesPipeline"]

SETTING = "UNTEMPLATE_RULES"


class RulesMixin(Spider):
    """For spiders: `yield self.extract(response)` in a callback yields the record of the page as an item.

    Of a list page that is the first; `yield from self.extract_all(response)` yields all.
    """

    _extractor: _Extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler, *arguments: Any, **options: Any) -> Self:
        spider = super().from_crawler(crawler, *arguments, **options)
        spider._extractor = _Extractor(crawler)
        return spider

    def extract(self, response: Response) -> dict[str, Any]:
        """The record of a response: every column of a record file; a value that is missing has its reason."""
        return self.extract_all(response)[0]

    def extract_all(self, response: Response) -> list[dict[str, Any]]:
        """The records of a response: one, or one a row of a list page."""
        header = (response.headers.get("Content-Type") or b"").decode("latin-1")
        return self._extractor(Page(response.url, response.body, charset=http_content_type_encoding(header)))


class RulesPipeline:
    """For items that hold a page, `url` and `html`: the HTML gives way to the columns of the record.

    Other fields stay, and so do items without `html`. Of a list page it is the first record: a pipeline passes on one
    item for one.
    """

    def __init__(self, extractor: _Extractor) -> None:
        self._extract = extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(_Extractor(crawler))

    def process_item(self, item: Any, spider: object = None) -> Any:
        """The item as it is, or a dict in its place; Scrapy calls this, older ones with the spider."""
        fields = ItemAdapter(item).asdict()
        html = fields.pop("html", None)
        if not isinstance(html, str | bytes):
            return item
        return fields | self._extract(Page(str(fields.get("url") or ""), html))[0]


class _Extractor:
    """Pages to rows with the rules that the settings name."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get(SETTING)
        if not path:
            raise RulesError(f"the setting {SETTING} is missing: set it to a rules file")
        self._rules = Rules.load(path)
        self._crawler = crawler  # has its statistics only when the crawl starts

    def __call__(self, page: Page) -> list[dict[str, Any]]:
        records = self._rules.extract_page(page)
        for record in records:
            self._count("records")
            for name in record.values:
                self._count(f"found/{name}")
            for reason in {reason.partition(":")[0] for reason in record.missing.values()}:
                self._count(f"missing/{reason}")
        return [record_row(record, self._rules.schema) for record in records]

    def _count(self, what: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"untemplate/{what}")
