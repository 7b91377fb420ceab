"""A page a row: what JSON lines and Parquet have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from untemplate.errors import PageError
from untemplate.page import Limits, Page
from untemplate.sources.html import page_url

__all__ = ["ID_COLUMNS", "Columns", "row_page"]

#: the columns that may hold a page's id, the first that does is taken
ID_COLUMNS = ("id", "page")


@dataclass(frozen=True)
class Columns:
    """Which columns hold the URL and the HTML."""

    url: str = "url"
    html: str = "html"


def row_page(
    row: Mapping[str, Any], number: int, columns: Columns, limits: Limits, charset: str | None = None
) -> Page:
    """The page of a row; PageError with the reason when there is none."""
    html = row.get(columns.html)
    if html is None:
        raise PageError(f"no {columns.html!r}; if it has another name, give that as html_column")
    if not isinstance(html, str | bytes):
        raise PageError(f"{columns.html!r} is neither text nor bytes")
    if not html.strip():
        raise PageError("empty")
    page = Page(str(row.get(columns.url) or ""), html, charset=charset, limits=limits)
    page.url = page.url or page_url(page.html) or ""
    names = (row.get(name) for name in ID_COLUMNS)
    page.id = str(next((name for name in names if name not in (None, "")), page.url or number))
    page.url = page.url or page.id
    return page
