"""The tables of tree rules are what libxml2 does, observed tag by tag."""

from __future__ import annotations

import pytest
from lxml import etree

from untemplate.native.tree_rules import (
    BOOLEAN_ATTRIBUTES,
    CLOSED_BY,
    ESCAPABLE_RAW_TEXT,
    HEAD_CONTENT,
    KNOWN_NAMES,
    RANKS,
    RAW_TEXT,
    VOID,
)

pytestmark = pytest.mark.skipif(etree.LIBXML_VERSION < (2, 14), reason="needs libxml2 2.14 to compare with")

TAGS = sorted(
    {*KNOWN_NAMES, "audio", "canvas", "details", "embed", "keygen", "ruby", "wbr", "x-unknown"} - {"html"}
)
FRAMES = {"head", "body", "frameset"}
"""Elements that other rules are about, too."""
CONTAINERS = [tag for tag in TAGS if tag not in VOID | RAW_TEXT | ESCAPABLE_RAW_TEXT | FRAMES]


def parse(html: str) -> etree._Element:
    return etree.fromstring(html.encode(), etree.HTMLParser(encoding="utf-8"))


def rank(tag: str) -> int:
    return next((number for number, tags in enumerate(RANKS, 1) if tag in tags), 0)


@pytest.mark.parametrize("new", TAGS)
def test_what_a_start_tag_closes(new: str) -> None:
    if new in FRAMES:
        pytest.skip("a second one is ignored")
    for opened in CONTAINERS:
        tree = parse(f"<body><div><{opened} q=1>x<{new} q=2>y")
        [inner] = tree.xpath("//*[@q=2]")
        is_closed = inner.getparent().get("q") != "1"
        assert is_closed == (opened in CLOSED_BY.get(new, ())), opened


@pytest.mark.parametrize("tag", TAGS)
def test_what_is_in_the_head(tag: str) -> None:
    if tag in FRAMES:
        pytest.skip("tested with pages")
    [inner] = parse(f"<head><{tag} q=1>").xpath("//*[@q=1]")
    assert (inner.getparent().tag == "body") == ("head" in CLOSED_BY.get(tag, ()))
    [inner] = parse(f"<{tag} q=1>").xpath("//*[@q=1]")
    assert (inner.getparent().tag == "head") == (tag in HEAD_CONTENT)


@pytest.mark.parametrize("closed", CONTAINERS)
def test_what_an_end_tag_closes(closed: str) -> None:
    for inner in CONTAINERS:
        if inner == closed or closed in CLOSED_BY.get(inner, ()):
            continue
        tree = parse(f"<body><center><{closed} q=1><{inner} q=2></{closed}>x")
        [innermost] = tree.xpath("//*[@q=2]")
        assert (innermost.text == "x") == (rank(inner) > rank(closed)), inner


@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag not in FRAMES])
def test_what_an_element_contains(tag: str) -> None:
    [element] = parse(f"<body><div><{tag} q=1>&amp;<b>").xpath("//*[@q=1]")
    expected = {**dict.fromkeys(RAW_TEXT, "&amp;<b>"), **dict.fromkeys(ESCAPABLE_RAW_TEXT, "&<b>")}
    assert element.text == (None if tag in VOID else expected.get(tag, "&"))


@pytest.mark.parametrize("name", KNOWN_NAMES)
def test_attributes_without_a_value(name: str) -> None:
    assert parse(f"<body><p {name}>")[0][0].get(name) == (name if name in BOOLEAN_ATTRIBUTES else "")
