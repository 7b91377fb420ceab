"""XPaths: each selects exactly its node."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Node, Page, PageError
from untemplate.page import squeeze


def selected(node: Node) -> str:
    """What the node's XPath selects: exactly one text or attribute, of exactly this place."""
    found = node.element.getroottree().xpath(node.xpath)
    assert len(found) == 1, node.xpath
    [text] = found
    if node.is_attribute:
        assert text.is_attribute
        assert text.attrname == node.kind[1:]
    else:
        assert text.is_tail == (node.kind == "tail")
        # lxml names the element before a tail text, except where comments stand between
        assert text.getparent() is node.element
    return squeeze(text)


pieces = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<div class='a b'>",
            "</div>",
            "<b>",
            "</b>",
            "<br>",
            "<table>",
            "<tr>",
            "<td>",
            "</table>",
        ),
        *(
            "<a href='/x'>",
            "</a>",
            "<img src=i.png alt='x'>",
            "<li>",
            "<ul>",
            "</ul>",
            "<!-- c -->",
            "<!--",
            "-->",
        ),
        *(
            "<script>",
            "</script>",
            "<template>",
            "</template>",
            "<html lang=en>",
            "<body>",
            "</body>",
            "</html>",
        ),
        *(
            "<o:p>",
            "</o:p>",
            "<x-y title=t>",
            "<ä>",
            "<p\x01>",
            "<?pi x?>",
            "<![CDATA[",
            "]]>",
            "&amp;",
            "&bogus;",
        ),
        *(
            "<svg>",
            "<path d=m>",
            "</svg>",
            "<",
            ">",
            "'",
            '"',
            "=",
            "\0",
            "\n",
            " ",
            "text",
            "é",
            "漢",
            "\ufeff",
        ),
        *(
            "<form>",
            "<input value='1'>",
            "<select>",
            "<option>",
            "<frameset>",
            "<title>",
            "<textarea>",
            "<meta content=c>",
        ),
    ]
)
soup = st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=60).map("".join)


@settings(max_examples=300, deadline=None)
@given(soup)
def test_each_xpath_selects_exactly_its_node(html: str) -> None:
    page = Page(html=html)
    try:
        nodes = page.nodes
    except PageError:
        return
    xpaths = [node.xpath for node in nodes]
    assert len(set(xpaths)) == len(xpaths)
    for node in nodes:
        assert selected(node) == node.text
        assert node.text


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([None, "utf-8", "shift_jis", "utf-16", "gb2312", "nonsense"]))
def test_any_bytes_make_a_page_or_a_page_error(html: bytes, charset: str | None) -> None:
    try:
        nodes = Page(html=html, charset=charset).nodes
    except PageError:
        return
    for node in nodes:
        assert selected(node) == node.text


def test_each_xpath_selects_exactly_its_node_on_real_pages(real_pages: list[Path]) -> None:
    for path in real_pages[::4]:
        for node in Page(html=path.read_bytes()).nodes[::23]:
            assert selected(node) == node.text, path
