"""The addresses of records: their own pages, their images, and all links."""

from __future__ import annotations

import pytest
from lxml import html

from untemplate import Page, find_records
from untemplate.lists.addresses import base_address, image_address, is_web_address

URL = "https://shop.example/teas/index.html"


def page_of(item: str, count: int = 5, head: str = "") -> Page:
    items = "".join(item.replace("{n}", str(number)) for number in range(count))
    return Page(URL, f"<html><head>{head}</head><body><h1>Teas</h1><ul>{items}</ul></body></html>")


@pytest.mark.parametrize(
    ("item", "url"),
    [
        ("<li><a href='/tea/{n}'>Tea {n}</a><p>from hill {n}{n}, a good one</p></li>", "/tea/{n}"),
        (
            "<li><a class='tag' href='/tag/{n}'>green</a><h3><a href='t{n}'>Tea {n}</a></h3><p>good {n}</p></li>",
            "/teas/t{n}",
        ),
        (
            "<li><h3>Tea {n}</h3><p>hill {n}</p><a href='?add-to-cart={n}'>Buy</a><a href='/d/{n}'>More</a></li>",
            "/d/{n}",
        ),
        (
            "<li><a href='/a'>All teas</a><h3>Tea {n}</h3><p>hill {n}</p><a href='/d/{n}.pdf'>PDF {n}</a></li>",
            "/d/{n}.pdf",
        ),
        ("<a href='/tea/{n}'><li><h3>Tea {n}</h3><p>from hill {n}{n}</p></li></a>", "/tea/{n}"),
    ],
    ids=["title", "tag before the title", "cart", "same link in all", "around the record"],
)
def test_the_own_link_of_a_record(item: str, url: str) -> None:
    rows = find_records(page_of(item))
    assert [row.url for row in rows] == [
        f"https://shop.example{url.replace('{n}', str(n))}" for n in range(5)
    ]


def test_all_links_are_absolute_and_unique() -> None:
    links = "<a href='mailto:a@b'>Ask</a><a href='x{n}'>more</a>"
    item = f"<li><h3><a href='/tea/{{n}}#top'>Tea {{n}}</a></h3>{links} <i>about {{n}}</i></li>"
    [row, *_] = find_records(page_of(item, head="<base href='https://cdn.example/a/'>"))
    assert row.links == ["https://cdn.example/tea/0#top", "https://cdn.example/a/x0"]


@pytest.mark.parametrize(
    ("image", "address"),
    [
        ("<img src='i{n}.jpg'>", "https://shop.example/teas/i{n}.jpg"),
        ("<img src='blank.gif' data-src='//cdn.example/{n}.jpg'>", "https://cdn.example/{n}.jpg"),
        (
            "<img src='data:image/gif;base64,R0' srcset='/{n}.jpg 1x, /{n}b.jpg 2x'>",
            "https://shop.example/{n}.jpg",
        ),
        ("<img class='icon' src='/x{n}.png'><img src='/{n}.jpg'>", "https://shop.example/{n}.jpg"),
        ("<img src='/logo.png'><img src='/{n}.jpg'>", "https://shop.example/{n}.jpg"),
        ("<i style=\"background-image: url('/{n}.jpg')\">x</i>", "https://shop.example/{n}.jpg"),
        (
            "<img data-src='' class=lazy><noscript><img src='/{n}.jpg'></noscript>",
            "https://shop.example/{n}.jpg",
        ),
    ],
)
def test_images(image: str, address: str) -> None:
    rows = find_records(page_of(f"<li>{image}<h3>Tea {{n}}</h3><p>from hill {{n}}</p></li>"))
    assert [row.image for row in rows] == [address.replace("{n}", str(number)) for number in range(5)]


def test_rows_without_links_and_images() -> None:
    rows = find_records(page_of("<li><h3>Tea {n}</h3><p>from hill {n}</p></li>"))
    assert {(row.url, row.image, *row.links) for row in rows} == {(None, None)}
    assert "url" not in rows[0].values


@pytest.mark.parametrize("href", ["/a:b", "?x=http://a", "HTTP://a/", "//a.example/b"])
def test_web_addresses(href: str) -> None:
    assert is_web_address(href)


@pytest.mark.parametrize(
    "href", ["mailto:a@b.example", "javascript:void(0)", "tel:1", "data:image/gif;base64,R0"]
)
def test_other_addresses(href: str) -> None:
    assert not is_web_address(href)


def test_hostile_addresses() -> None:
    assert base_address(Page(URL, "<base href='http://['><p>a")) == URL
    assert image_address(html.fragment_fromstring("<img src='  '>")) == ""
    rows = find_records(page_of("<li><a href='http://['>Tea {n}</a><img src='//['><p>from hill {n}</p></li>"))
    assert [row.url for row in rows] == [None] * 5
