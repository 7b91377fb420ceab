"""Links to the page that goes on with a list."""

from __future__ import annotations

import pytest

from untemplate import Page, find_records
from untemplate.lists.rows import next_page

URL = "http://shop.example/search?q=tea&page=2"
NEXT = "http://shop.example/search?q=tea&page=3"


@pytest.mark.parametrize(
    "html",
    [
        '<head><link rel="next" href="?q=tea&page=3"></head><body><a href="/help">Next</a>',
        '<a rel="nofollow next" href="?q=tea&amp;page=3">3</a>',
        '<a href="/search?q=tea&page=1">« Previous</a> <a href="/search?q=tea&page=3">Next page »</a>',
        '<a href="?q=tea&page=3" aria-label="Next"><img src="arrow.png"></a>',
        '<div><a href="?q=tea&page=1">‹</a> 2 <a href="?q=tea&page=3">›</a></div>',
        '<li class="pager-next"><a href="?q=tea&page=3">Mehr davon</a></li>',
        '<p>Pages: <a href="?q=tea&page=1">1</a> <b>2</b> <a href="?q=tea&page=3">3</a> … </p>',
        '<base href="http://shop.example/search"><a href="?q=tea&page=3">weiter</a>',
    ],
)
def test_the_next_page_is_found(html: str) -> None:
    assert next_page(Page(URL, html)) == NEXT


@pytest.mark.parametrize(
    "html",
    [
        "",
        '<a href="#">Next</a> <a href="javascript:next()">Next</a> <a>Next</a>',
        '<a href="?q=tea&page=2">Next</a>',
        '<a href="/next-steps">Next steps for tea</a> <a href="/more">More</a> <a href="/all">»</a> See all',
        '<div class="carousel"><a class="carousel-next" href="/picture/2">next</a></div>',
        '<p><a href="?q=tea&page=1">1</a> <b>2</b></p>',
        '<a href="http://[">Next</a>',
    ],
)
def test_other_links_are_none(html: str) -> None:
    assert next_page(Page(URL, f"<body>{html}</body>" if html else html)) is None


def test_rows_know_the_next_page_and_their_own() -> None:
    items = "".join(f"<li><h3>Tea {n}</h3><p>from hill {n * n}, {n} euro</p></li>" for n in range(5))
    page = Page(URL, f"<ul>{items}</ul><a href='?q=tea&page=3'>Next</a>", id="2.html")
    rows = find_records(page)
    assert rows.next_page == NEXT
    assert {row.page for row in rows} == {"2.html"}
