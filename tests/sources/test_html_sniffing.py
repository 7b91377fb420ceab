"""The first bytes of pages."""

from __future__ import annotations

import time

import pytest

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
def test_hostile_heads_take_no_time(piece: bytes) -> None:
    page = (piece * (300_000 // len(piece) + 1))[:300_000]
    started = time.perf_counter()
    is_html("", page)
    page_url(page)
    assert time.perf_counter() - started < 1
