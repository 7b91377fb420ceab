"""The tags of a page, read from its bytes."""

import time

import pytest

from untemplate.page import signature
from untemplate.page.tags import read_tags
from untemplate.page.traits import class_pairs, tag_runs


def names(html):
    tags = ((int(tag) >> 63, int(tag) & ~(1 << 63)) for tag in read_tags(html).words)
    return ["/" * closing + name.to_bytes(8, "little").rstrip(b"\0").decode() for closing, name in tags]


def test_tags_in_order():
    assert names(b"<html><BODY class='x'><p>1 < 2<br/></p\n></body></html>") == (
        ["html", "body", "p", "br", "/p", "/body", "/html"]
    )


def test_long_names_are_cut_and_dashes_kept():
    assert names(b"<blockquote><my-tag x></my-tag>") == ["blockquo", "my-tag", "/my-tag"]


@pytest.mark.parametrize("raw", ["script", "STYLE"])
def test_scripts_and_styles_are_not_looked_into(raw):
    html = f"<p><{raw} a=b>'<b>' <!-- </i> </{raw}><i>".encode()
    assert names(html) == ["p", raw.lower(), "/" + raw.lower(), "i"]


def test_comments_are_not_looked_into():
    assert names(b"<p><!-- <b> <script> --><i><!--><u><!---><s>") == ["p", "i", "u", "s"]


def test_what_is_never_closed_swallows_the_rest():
    assert names(b"<p><!-- <b><i>") == ["p"]
    assert names(b"<p><script><b><i>") == ["p", "script"]


MILLION = 1_000_000


@pytest.mark.parametrize(
    "html",
    [
        b"<!--" * MILLION,
        b"<!---->" * MILLION,
        b"<" * (50 * MILLION),
        b"<!" * MILLION,
        b"<script>" * MILLION,
        b"<script></script>" * MILLION,
        b"<style><script></style>" * MILLION,
        b"<a" * MILLION,
        b"<a " + b"x='<b' " * MILLION,
        b"<a title='" + b"x" * (50 * MILLION),
        b"</" * MILLION,
        b"--><!-" * MILLION,
    ],
    ids=lambda html: f"{html[:24]!r}",
)
def test_hostile_pages_take_linear_time(html):
    started = time.process_time()
    signature(html)
    tags = read_tags(html)
    tag_runs(tags)
    class_pairs(tags)
    assert time.process_time() - started < 5
