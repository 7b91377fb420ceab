"""Page and Node: the nodes of a page, and pages by id or URL."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.page import index_pages, names_of_pages


def texts(html: bytes | str) -> list[str]:
    return [node.text for node in Page(html=html).nodes]


# nodes


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>one</p><p>two</p>", ["one", "two"]),
        ("<p>12 Main St<br>New York<br/>NY</p>", ["12 Main St", "New York", "NY"]),
        ("<p>before <b>bold</b> after</p> tail", ["before", "bold", "after", "tail"]),
        ("<p>a<!-- no -->b</p>", ["a", "b"]),
        ("<p>Tom &amp; Jerry&nbsp;&#33; &copy;</p>", ["Tom & Jerry ! ©"]),
        ("<p>  many \n\t blanks\xa0here </p>", ["many blanks here"]),
        ("<p></p><p> </p><p>&nbsp;</p>", []),
        ("<p>open<p>unclosed<td>cell", ["open", "unclosed", "cell"]),
        ("<html><body><p>in</p></body></html>after<p>late", ["in", "after", "late"]),
        ("just text", ["just text"]),
    ],
)
def test_text_nodes(html: str, expected: list[str]) -> None:
    assert texts(html) == expected


@pytest.mark.parametrize("tag", ["script", "style", "template", "iframe", "noembed"])
def test_hidden_content_is_no_node_but_what_follows_is(tag: str) -> None:
    assert texts(f"<div>a<{tag}>x<b title=t>y</b>z</{tag}>b</div>") == ["a", "b"]


def test_attributes_that_hold_values() -> None:
    html = (
        '<meta name=d content="About  us"><a href="/x" class=c>link</a><img src=i.png alt="A cat">'
        '<time datetime="2024-01-02">today</time><input value=v><img data-src=lazy.png id=i src="">'
    )
    assert [(node.path.rsplit("/", 2)[-2:], node.text) for node in Page(html=html).nodes] == [
        (["meta", "@content"], "About us"),
        (["a", "@href"], "/x"),
        (["a", "text()"], "link"),
        (["img", "@src"], "i.png"),
        (["img", "@alt"], "A cat"),
        (["time", "@datetime"], "2024-01-02"),
        (["time", "text()"], "today"),
        (["input", "@value"], "v"),
        (["img", "@data-src"], "lazy.png"),
    ]


def test_paths_have_no_positions_and_xpaths_do() -> None:
    nodes = Page(html="<div><p>a</p><p>b<br>c</p></div>").nodes
    assert [node.path for node in nodes] == ["html/body/div/p/text()"] * 3
    assert [node.xpath for node in nodes] == [
        "/html/body/div/p[1]/text()[1]",
        "/html/body/div/p[2]/text()[1]",
        "/html/body/div/p[2]/text()[2]",
    ]


def test_parent_is_the_element_that_contains_the_node() -> None:
    first, bold, tail, link, _ = Page(html="<p>a<b>b</b>c</p><a href=x>d</a>").nodes
    assert [node.parent.tag for node in (first, bold, tail, link)] == ["p", "b", "p", "a"]


def test_a_page_that_was_not_parsed_is_released_again() -> None:
    page = Page(html="<p>x")
    with page.temporarily_parsed():
        assert page.nodes
    assert not page.is_parsed
    assert page.nodes
    with page.temporarily_parsed():
        pass
    assert page.is_parsed


def test_a_page_is_parsed_once_and_again_after_release() -> None:
    page = Page(html="<title> A  title </title><p>a")
    assert page.tree is page.tree
    assert page.nodes is page.nodes
    assert page.title == "A title"
    before = page.tree
    page.release()
    assert page.tree is not before
    assert [node.text for node in page.nodes] == ["A title", "a"]


def test_id_is_the_url_where_the_source_gives_none() -> None:
    assert Page(url="http://a/").id == "http://a/"
    assert Page(url="http://a/", id="1.htm").id == "1.htm"
    assert repr(Page(html=b"x" * 1000, id="1.htm")) == "Page('1.htm', 1,000 bytes)"
    assert repr(Page(html="<p>x").nodes[0]) == "Node('/html/body/p/text()[1]', 'x')"


# pages by id or URL

ONE, TWO = Page("http://a/1", id="1.html"), Page("http://a/2", id="2.html")


def test_pages_are_found_by_id_and_url() -> None:
    index = index_pages([ONE, TWO])
    assert index["1.html"] is index["http://a/1"] is ONE
    assert set(index) == names_of_pages([ONE, TWO])


def test_of_two_pages_with_one_name_the_url_counts() -> None:
    by_id, by_url = Page("http://a/3", id="same"), Page("same", id="4.html")
    assert index_pages([by_id, by_url])["same"] is by_url
    assert index_pages([by_url, by_id])["same"] is by_url


def test_entries_are_found_by_id_or_url() -> None:
    assert ONE.entry_in({"1.html": [1], "http://a/1": [2]}) == [1]
    assert ONE.entry_in({"1.html": [], "http://a/1": [2]}) == [2]
    assert TWO.entry_in({"1.html": [1]}) is None
    assert ONE.is_named_in({"http://a/1"})
    assert not TWO.is_named_in({"http://a/1"})
