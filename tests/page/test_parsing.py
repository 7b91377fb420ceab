"""Bytes to tree: decoding, limits, and pages made to do harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.linear_time import assert_linear
from untemplate import Limits, Page, PageError
from untemplate.page import decode, parsing
from untemplate.rules import Selector
from untemplate.rules.feature import Feature
from untemplate.rules.node_selection import select


def texts(html: bytes | str) -> list[str]:
    return [node.text for node in Page(html=html).nodes]


# decoding

META_1252 = b"<meta charset=windows-1252>"
META_UTF8 = b"<meta http-equiv=Content-Type content='text/html; charset=utf-8'>"


@pytest.mark.parametrize(
    ("html", "charset", "expected"),
    [
        ("é".encode(), None, "é"),
        ("é".encode("cp1252"), None, "é"),
        (b"\x93quoted\x94", None, "“quoted”"),
        ("é".encode("utf-8-sig"), "shift_jis", "é"),
        ("\ufeffé".encode("utf-16-le"), "utf-8", "é"),
        ("\ufeffé".encode("utf-16-be"), None, "é"),
        ("é".encode("utf-16-le"), "utf-16", "é"),
        (META_1252 + "é".encode(), "utf-8", "é"),
        (META_1252 + "é".encode("cp1252"), None, "é"),
        (META_UTF8 + "é".encode(), None, "é"),
        (META_UTF8 + "é".encode("cp1252"), None, "\ufffd"),
        (b"<meta charset=utf-16>" + "é".encode(), None, "é"),
        (b"<meta charset=iso-8859-1>\x80", None, "€"),
        (b"<?xml version='1.0' encoding='koi8-r'?>" + "дом".encode("koi8-r"), None, "дом"),
        ("日本".encode("shift_jis"), "Shift_JIS", "日本"),
        ("中文".encode("gbk"), "gb2312", "中文"),
        ("한국".encode("cp949"), "euc-kr", "한국"),
        ("é".encode("iso8859-15"), "ISO-8859-15", "é"),
        ("é".encode(), "no-such-charset", "é"),
    ],
)
def test_bytes_are_decoded_as_a_browser_would(html: bytes, charset: str | None, expected: str) -> None:
    assert decode(html, charset).endswith(expected)


@pytest.mark.parametrize(
    "name",
    [
        "hex",
        "base64",
        "zip",
        "rot13",
        "idna",
        "punycode",
        "unicode_escape",
        "utf-7",
        "undefined",
        "utf-32",
        "\0",
    ],
)
def test_codecs_that_are_not_of_the_web_are_not_used(name: str) -> None:
    html = b"<p>a-b \\q +AGE- \xe9"
    assert decode(html, name) == "<p>a-b \\q +AGE- é"
    assert decode(f"<meta charset={name}>".encode() + html).endswith("<p>a-b \\q +AGE- é")


def test_text_is_its_own_encoding() -> None:
    assert texts("<meta charset=shift_jis><p>é") == ["é"]
    assert texts("<p>lone \ud800 surrogate")[0].startswith("lone ")


# limits, and pages made to do harm


@pytest.fixture(params=["native", "plain"])
def checks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse pages by the native core, and as without it."""
    if request.param == "plain":
        monkeypatch.setattr(parsing, "core", None)


def reason(html: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(PageError) as error:
        _ = Page(html=html, limits=limits or Limits()).nodes
    return str(error.value)


@pytest.mark.parametrize(
    "html", [b"", b" \n ", b"\0\0", b"<!-- only -->", b"<!DOCTYPE html>", b"<?php echo 1 ?>"]
)
def test_nothing_on_the_page(html: bytes) -> None:
    assert reason(html) == "page is empty"


@pytest.mark.usefixtures("checks")
def test_limits() -> None:
    assert reason(b"x" * 11, Limits(bytes=10)) == "page is larger than 10 bytes"
    assert reason(b"<p>x" * 20, Limits(elements=10)) == "page has more than 10 elements"
    assert reason(b"<div>" * 20, Limits(depth=10)) == "page is nested deeper than 10 elements"
    assert reason(b"<div>" * 20 + b"</div>" * 20 + b"<p>", Limits(depth=10)).startswith(
        "page is nested deeper"
    )
    assert texts(b"<div>" * 20 + b"x") == ["x"]


def test_nul_bytes_are_dropped() -> None:
    assert texts(b"<p>a\0b</p\0><p>c") == ["ab", "c"]


def test_entities_are_not_expanded_and_nothing_is_fetched(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    html = f"""<!DOCTYPE html [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY x SYSTEM "file://{secret}">]>
        <p>&b;|&x;</p>"""
    assert "aaaaaaaa" not in "".join(texts(html))
    assert "secret" not in "".join(texts(html)).replace(str(secret), "")


ATTRIBUTES = range(40_000)
BOMBS = {
    "plain": b"<p " + b" ".join(b"a%d=1" % i for i in ATTRIBUTES) + b">",
    "a > in each value": b"<p " + b" ".join(b"a%d='>'" % i for i in ATTRIBUTES) + b">",
    "a < in each value": b"<p " + b" ".join(b'a%d="<"' % i for i in ATTRIBUTES) + b">",
    "no blanks": b"<p " + b"".join(b"a%d='1'" % i for i in ATTRIBUTES) + b">",
    "slashes": b"<p/" + b"/".join(b"a%d" % i for i in ATTRIBUTES) + b">",
    "quotes in names": b"<p " + b" ".join(b"a%d\"'" % i for i in ATTRIBUTES) + b">",
    "many tags": (b"<p " + b" ".join(b"a%d" % i for i in range(15_000)) + b">") * 10,
}


QUOTED_ENDS = b"".join(b"""a%d='">' b%d=">'" """ % (i, i) for i in ATTRIBUTES)
HIDDEN_BOMBS = {
    "quotes in quotes": b"<p " + QUOTED_ENDS + b">",
    "blanks before quotes": b"<p " + b" ".join(b'a%d= ">"' % i for i in ATTRIBUTES) + b">",
    "a blank before each closing quote": b"<p " + b" ".join(b'a%d="> "' % i for i in ATTRIBUTES) + b">",
    "no value": b"<p " + b" ".join(b'a%d="="b%d=">"' % (i, i) for i in ATTRIBUTES) + b">",
    "behind other tags": b"<i class='x'></i>" * 20_000 + BOMBS["a > in each value"],
    "behind a script": b"<script>" + b"x" * 300_000 + b"</script>" + BOMBS["a < in each value"],
}
BOMBS |= HIDDEN_BOMBS


@pytest.mark.usefixtures("checks")
@pytest.mark.parametrize("bomb", BOMBS)
def test_tags_of_very_many_attributes(bomb: str) -> None:
    assert reason(BOMBS[bomb]) == "page has tags with more than 10,000 attributes"


@pytest.mark.usefixtures("checks")
def test_long_pages_with_short_tags_are_no_bombs() -> None:
    page = b'<p class=\'a b\' title="1 > 0">if (a<b && c>d) x = "<i>";</p>' * 20_000
    assert Page(html=page + b"<p title='" + b"x " * 50_000 + b"'>").why_unreadable() is None


def test_tags_of_many_attributes() -> None:
    many = " ".join(f"data-a{i}='{i} > {i}'" for i in range(1000))
    assert texts(f"<p {many} title=t>x") == ["t", "x"]


@pytest.mark.parametrize(
    ("start", "unit", "end", "count"),
    [
        (b"", b"<p>x</p>", b"", None),
        (b"<p>", b"x y ", b"", 1),
        (b"", b"<", b"", 1),
        (b"", b"&", b"", 1),
        (b"<p a='", b"x ", b"", 0),
        (b"", b"<p/a=", b"", 0),
        (b"<p", b" ", b">x", 1),
        (b"", b"</div></b>x", b"", 1),
    ],
    ids=["nodes", "text", "<<<", "&&&", "open quote", "one value", "blanks", "stray ends"],
)
def test_big_pages_take_linear_time(start: bytes, unit: bytes, end: bytes, count: int | None) -> None:
    def work(size: int) -> None:
        times = size // len(unit)
        nodes = Page(html=start + unit * times + end).nodes
        assert len(nodes) == (times if count is None else count)

    assert_linear(work, 100_000, 2_000_000)


@pytest.mark.parametrize("unit", [b"<!--x-->b ", b"<?x?>b "], ids=["comments", "instructions"])
def test_texts_between_very_many_comments(unit: bytes) -> None:
    """The nearest element beside each text is found in little time, as long runs of comments are shortened."""
    beside = Selector("text()", (Feature("preceding-sibling-tag-1", 0, ("b",)),))

    def work(size: int) -> None:
        page = Page(html=b"<p><b>a</b>" + unit * size + b"<i>c</i>last</p>")
        assert page.tree.find(".//i").tail == "last"
        assert sum(1 for _ in select(beside, page.tree, frozenset())) <= 201

    assert_linear(work, 5_000, 40_000)


def test_the_texts_of_removed_comments_stay() -> None:
    numbers = range(1000)
    page = Page(html="<p>" + "".join(f"{n} <!-- {n} -->" for n in numbers))
    assert " ".join(node.text for node in page.nodes) == " ".join(map(str, numbers))
    few = Page(html="<p>a<!-- -->b<b>c</b>")
    assert [node.text for node in few.nodes] == ["a", "b", "c"]


@pytest.mark.parametrize(
    "html",
    [
        "".join(f"<{'x' * 110}{number % 7}>t" for number in range(1900)),
        "<div>" * 1900 + "".join(f"<b{number}>t</b{number}>" for number in range(8000)),
    ],
    ids=["long names", "many names"],
)
def test_paths_that_would_fill_the_memory(html: str) -> None:
    assert reason(html.encode()) == "page nests elements too deeply for the length of their names"


def test_many_nodes_of_a_deep_page() -> None:
    nodes = Page(html="<div>" * 1900 + "<b>t</b>" * 5000).nodes
    assert len(nodes) == 5000
    assert nodes[0].path is nodes[-1].path


@pytest.mark.parametrize("opening", [b"<div>", b"<b><i>", b"<a><p>", b"<table><tr><td>", b"<div></span></p>"])
def test_depth_of_10_000(opening: bytes) -> None:
    assert reason(opening * 10_000 + b"x") == "page is nested deeper than 2,000 elements"
    assert reason(opening * 10_000 + b"x" + b"</div>" * 10_000 + b"<p>y").startswith("page is nested deeper")


def test_a_million_elements_over_the_limit() -> None:
    assert reason(b"<br>" * 1_000_000, Limits(elements=100_000)) == "page has more than 100,000 elements"
