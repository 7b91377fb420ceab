"""The native core selects what is selected without it, compares texts in the same way, and reuses memory safely."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from benchmarks.data.html_noise import make_noise
from benchmarks.measure.native import find_selection_difference
from untemplate import Page
from untemplate.native import core
from untemplate.page import visible_text
from untemplate.page.captions import CaptionFinder
from untemplate.page.locating import _SIGNS, letters_and_digits
from untemplate.page.signatures import SHINGLE, signature
from untemplate.page.tag_arrays import read_tags, tags_signature
from untemplate.rules import Selector
from untemplate.rules.embedded_values import _elements_with
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.node_selection import CandidateNodes, select, select_candidates

pytestmark = pytest.mark.skipif(
    core is None or etree.LIBXML_VERSION < (2, 14),
    reason="needs the native core, and libxml2 2.14 to compare with",
)


def test_random_selectors_select_the_same() -> None:
    random = Random(20)
    for _ in range(3000):
        html = make_noise(random)
        assert find_selection_difference(html, random) is None, html


@given(st.text())
def test_letters_and_digits_are_those_of_python(text: str) -> None:
    assert letters_and_digits(text) == _SIGNS.sub("", text.lower())


@pytest.mark.parametrize(
    "text",
    [
        *(
            "\u0130stanbul",
            "\u039f\u0394\u039f\u03a3 \u03a3\u0391\u03a3",
            "caf\u00e9 \u2014 \u00bd",
            "\ud800x",
        ),
        *("\U0001d400\U0001f600", "a" * 100_000 + "\u00e9-", "_\u203f_", "\u0660\u2160\u24b6"),
    ],
)
def test_letters_of_odd_texts(text: str) -> None:
    assert letters_and_digits(text) == _SIGNS.sub("", text.lower())


def test_elements_with_a_text_are_those_that_lxml_has() -> None:
    random = Random(21)
    found = 0
    for _ in range(2000):
        html = make_noise(random)
        page, plain = Page(html=html), Page(html=html)
        if plain.why_unreadable() is not None:
            continue
        texts = [letters_and_digits(visible_text(element)) for element in plain.tree.iter(etree.Element)]
        keys = set(random.sample(texts, len(texts) // 2))
        mine, theirs = (
            [(element.tag, visible_text(element)) for element in _elements_with(tree, keys)]
            for tree in (page.root, plain.tree)
        )
        assert mine == theirs
        found += len(mine)
    assert found > 1000


@given(
    st.lists(
        st.sampled_from(
            ["<p>", "</p>", "<b x>", "<i/>", "</", "<!--", "-->", "<script>", "</script", "<", "\0"]
        )
    )
)
def test_signatures_are_those_of_the_tags(parts: list[str]) -> None:
    html = "".join(parts).encode()
    assert signature(html) == tags_signature(read_tags(html))


MARKUP = [
    *(
        "<p>",
        "</p>",
        "<b x>",
        "<a href=",
        "<i/>",
        "</",
        "<",
        ">",
        "/>",
        "'",
        '"',
        "=",
        " ",
        "\n",
        "\x0b",
        "x",
        "s",
    ),
    *("<!--", "-->", "--!>", "<!-->", "<!", "<?", "<!doctype html>", "&amp;", "\xe3", "<c<", "<s\xe3ript>"),
    *("<script>", "</script", "</script>", "</SCRIPT >", "<script/>", "<style>", "</style>", "<plaintext>"),
    *("<title>", "</title>", "<textarea>", "</textarea>", "<iframe>", "</iframe>", "<body>", "<html>"),
    *("</body>", "</html>", "</BODY >", "</body\x0b>"),
]


def test_tags_that_the_parser_reads_are_those_of_the_bytes() -> None:
    random = Random(26)
    parsed = 0
    for _ in range(20_000):
        page = Page(html="".join(random.choices(MARKUP, k=random.randint(1, 25))).encode())
        if isinstance(page.markup, bytes):
            continue
        parsed += 1
        assert signature(page.markup) == signature(page.html), page.html
    assert parsed > 3_000


def test_tags_inside_of_scripts_and_texts_are_read_as_in_bytes() -> None:
    for html in (
        "<script><!-- write('<script>a</script><p>'); --></script><p>",
        "<iframe><b><script>1</script></iframe><p>",
        "<title><b></title><p></body> <i></html>",
        "<!-- </body> --><p></body><script></html></script>",
    ):
        page = Page(html=html)
        assert not isinstance(page.markup, bytes)
        assert signature(page.markup) == signature(page.html)
        runs, own_runs = core.RunSet(page.root, 4, 8), core.RunSet(page.html, 4, 8)
        numbers = [bytes([number, 0, 0, 0]) for number in range(256)]
        assert list(map(runs.count, numbers)) == list(map(own_runs.count, numbers))


def test_tags_of_pages_that_are_unlike_their_bytes_are_read_from_these() -> None:
    for html in ("<p title='<b>'>", "<p></p x></1>", "<script>", b"<p>\xe9", "<p><b<i>"):
        assert isinstance(Page(html=html).markup, bytes)


def test_signatures_need_sensible_arguments() -> None:
    with pytest.raises(ValueError, match="1 to 16 tags"):
        core.read_signature(b"<p>", 17, bytes(64))
    with pytest.raises(ValueError, match="eight multipliers"):
        core.read_signature(b"<p>", SHINGLE, bytes(63))
    with pytest.raises(ValueError, match="3 to 24 bits"):
        core.RunSet(b"<p>", 4, 25)


def test_runs_beyond_the_table_do_not_count() -> None:
    runs = core.RunSet(b"<p>" * 50, 4, 8)
    assert runs.count(b"\xff" * 400) == 0
    assert runs.count(b"\0\0\0") == 0


def test_pages_that_live_at_the_same_time_share_no_memory() -> None:
    htmls = [f"<p class=c{size}>{'x' * size}<b>{size}</b>" * size for size in (1, 300, 20, 900, 5)]
    roots = [Page(html=html).root for html in htmls]
    del roots[1]
    roots.append(Page(html=htmls[1]).root)
    for root, size in zip(roots, (1, 20, 900, 5, 300), strict=True):
        assert {element.get("class") for element in root.iter("p")} == {f"c{size}"}
        assert visible_text(root[0][-1]) == f"{'x' * size}{size}"


def test_conditions_follow_the_names_of_each_page() -> None:
    selector = Selector("text()", (Feature("class", 1, ("price",)), Feature("tag", 1, ("x-value",))))
    pages = [
        "<x-value class=price>1</x-value>",
        "<i a><x-other class=price>2</x-other>",
        "<q><x-value class=price>3",
    ]
    found = [[node.text for node in select(selector, Page(html=html).root, frozenset())] for html in pages]
    assert found == [["1"], [], ["3"]]


@pytest.mark.parametrize(
    "html",
    [
        "<p>Tel:</p>" + "<i></i>" * 200_000 + "<b>1</b>",
        "<b>" * 1900 + "Tel:" + "</b>x" * 1900,
        "<p>Tel: <b>x</b>" * 50_000,
        "Tel:<!--x-->" * 100_000,
    ],
    ids=["far", "deep", "many", "comments"],
)
def test_captions_on_hostile_pages_take_linear_time(html: str) -> None:
    root = Page(html=html).root
    static = frozenset({"2 p Tel:", "1 body Tel:"})
    candidates, captions = CandidateNodes(root, static), CaptionFinder(static)
    for features in (
        [Feature("tag", 1, ("b",)), Feature(CAPTION, 0, ("Tel:",))],
        [Feature(CAPTION, 0, ("Tel:",))],
    ):
        for feature in (Feature("out-left-text", 0, ("Tel:",)), Feature("out-right-word", 0, ("x",))):
            list(select_candidates(Selector("text()", (*features, feature)), candidates, captions))
