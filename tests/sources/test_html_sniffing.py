"""The first bytes of pages."""

from __future__ import annotations

import pytest

from tests.linear_time import assert_linear
from untemplate.sources.html_sniffing import is_html, page_url


@pytest.mark.parametrize(
    "piece",
    [
        b"<!--",
        b"<!---->",
        b"<?",
        b"<base ",
        b"<base href=",
        b"<base " + b"a" * 300_000,
        b"<link rel='",
        b"<script>",
        b" ",
    ],
)
def test_hostile_heads_take_linear_time(piece: bytes) -> None:
    def work(size: int) -> None:
        page = (piece * (size // len(piece) + 1))[:size]
        is_html("", page)
        page_url(page)

    assert_linear(work, 30_000, 300_000)
