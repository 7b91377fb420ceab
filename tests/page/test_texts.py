"""The text of elements as a browser shows it."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.page import squeeze, visible_text


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a<b>b</b>c", "abc"),
        ("<p>a<p>b", "a b"),
        ("a<br>b<!-- c -->d", "a bd"),
        ("a<script>b</script>c", "ac"),
        ("<ul><li>a<style>b</style><li>c</ul>d", "a c d"),
        ("<script>a</script>", ""),
    ],
)
def test_only_blocks_and_line_breaks_separate_words(html: str, expected: str) -> None:
    assert visible_text(Page(html=f"<body>{html}").tree) == expected


def test_what_follows_an_element_is_not_its_text() -> None:
    [bold] = Page(html="<p>a <b> b <i>c</i> </b> d").tree.iter("b")
    assert visible_text(bold) == "b c"


def test_white_space_is_squeezed() -> None:
    assert squeeze(" a\n\t b\u00a0c ") == "a b c"
