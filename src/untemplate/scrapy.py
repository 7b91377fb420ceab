"""Extract records inside a Scrapy crawl.

RulesMixin turns the responses of a spider into records; RulesPipeline does the same for items that contain a page.
Both read the rules file named by the setting UNTEMPLATE_RULES, and count what they find in the crawl's statistics.
Items have the columns of record files, so a feed contains what `untemplate extract` would have written.
"""

from __future__ import annotations

from typing import Any, Self

from w3lib.encoding import http_content_type_encoding

from untemplate.errors import MissingExtra, RulesError
from untemplate.extraction import Rules
from untemplate.output.record_rows import record_row
from untemplate.page import Page
from untemplate.record import Record

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
    """Adds `extract` to a spider: `yield self.extract(response)` in a callback yields the page's record as an item.

    For a list page this is the first record; `yield from self.extract_all(response)` yields all of them.
    """

    _extractor: _Extractor

    @classmethod
    def from_crawler(cls, crawler: Crawler, *arguments: Any, **options: Any) -> Self:
        """Make the spider and load its rules; Scrapy calls this.

        Raises:
            RulesError: the setting UNTEMPLATE_RULES is missing, or its file cannot be used.
        """
        spider = super().from_crawler(crawler, *arguments, **options)
        spider._extractor = _Extractor(crawler)
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
            RulesError: the setting UNTEMPLATE_RULES is missing, or its file cannot be used.
        """
        return cls(_Extractor(crawler))

    def process_item(self, item: Any, spider: object = None) -> Any:
        """Return the item itself, or a dict in its place. Scrapy calls this; older versions pass the spider."""
        fields = ItemAdapter(item).asdict()
        html = fields.pop("html", None)
        if not isinstance(html, str | bytes):
            return item
        page = Page(str(fields.get("url") or ""), html)
        return fields | self._extractor.extract(page)[0]


class _Extractor:
    """Turns pages into rows, by the rules that the settings name."""

    def __init__(self, crawler: Crawler) -> None:
        path = crawler.settings.get(SETTING)
        if not path:
            raise RulesError(f"the setting {SETTING} is missing: set it to a rules file")
        self._rules = Rules.load(path)
        self._crawler = crawler  # its statistics exist only when the crawl starts

    def extract(self, page: Page) -> list[dict[str, Any]]:
        """Return the rows of a page, and count its records, values and reasons."""
        records = self._rules.extract_page(page)
        for record in records:
            self._count_record(record)
        return [record_row(record, self._rules.schema) for record in records]

    def _count_record(self, record: Record) -> None:
        self._increase("records")
        for name in record.values:
            self._increase(f"found/{name}")
        reasons = {reason.partition(":")[0] for reason in record.missing.values()}
        for reason in reasons:
            self._increase(f"missing/{reason}")

    def _increase(self, statistic: str) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"untemplate/{statistic}")
