"""Where pages come from: a source is recognized by its content, and streamed in constant memory."""

from untemplate.sources.fetch import Politeness
from untemplate.sources.page_source import Pages, Skipped
from untemplate.sources.page_store import PageStore
from untemplate.sources.recognize import as_page, as_pages, read_pages
from untemplate.sources.url_list import fetch_groups, fetch_pages

__all__ = [
    "PageStore",
    "Pages",
    "Politeness",
    "Skipped",
    "as_page",
    "as_pages",
    "fetch_groups",
    "fetch_pages",
    "read_pages",
]
