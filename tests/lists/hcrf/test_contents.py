"""What texts are by their content."""

from __future__ import annotations

import pytest

from untemplate.lists.hcrf.contents import content, mentions


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$10.50", "price"),
        ("CDN$ 21.99", "price"),
        ("US $1000-20000 / Set", "price"),
        ("12,99 €", "price"),
        ("Was: £4.99", "price"),
        ("Nov 24, 2016", "date"),
        ("8 Feb 2017 | 17:48 GMT", "date"),
        ("16/12/2004", "date"),
        ("2016-11-20 08:43", "date"),
        ("5 months ago", "date"),
        ("https://example.com/a/very/long/path/that/goes/on/and/on", "link"),
        ("www.example.com/x", "link"),
        ("example.com/shop/", "link"),
        ("Amber chair", None),
        ("24", None),
        ("May contain nuts", None),
        ("3.5 of 5 stars", None),
        ("", None),
    ],
)
def test_kinds_of_texts(text: str, kind: str | None) -> None:
    assert content(text) == kind


def test_a_sentence_mentions_what_it_is_not() -> None:
    text = "The second edition, first published on May 27, 2015, was sold for $20 in a few shops only."
    assert content(text) is None
    assert mentions(text) == ["price", "date"]
