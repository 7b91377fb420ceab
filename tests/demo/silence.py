"""Pages without their noise: what differs from visit to visit stands between comments."""

from __future__ import annotations

import re

from untemplate.page import Page

__all__ = ["quiet"]

NOISE = re.compile(rb"<!-- (ad|related|visit) -->.*?<!-- /\1 -->", re.DOTALL)


def quiet(page: Page) -> Page:
    """The page without what differs from visit to visit."""
    return Page(page.url, NOISE.sub(b"", page.html), page.id)
