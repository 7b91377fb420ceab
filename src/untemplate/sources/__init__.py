"""Where pages come from: a source is recognized by its content, and streamed in constant memory."""

from typing import TYPE_CHECKING

from untemplate.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from untemplate.sources.fetch import Politeness
    from untemplate.sources.page_source import Pages, Skipped
    from untemplate.sources.page_store import PageStore
    from untemplate.sources.recognize import as_page, as_pages, read_pages, source_name
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
    "source_name",
]

__getattr__ = _lazy_names(
    __name__,
    {
        "fetch": ("Politeness",),
        "page_source": ("Pages", "Skipped"),
        "page_store": ("PageStore",),
        "recognize": ("as_page", "as_pages", "read_pages", "source_name"),
        "url_list": ("fetch_groups", "fetch_pages"),
    },
)
