"""Made-up sites that several tests look at."""

from __future__ import annotations

import pytest

from untemplate.demo import VERTICALS, Site, make_site


@pytest.fixture(scope="session")
def sites() -> list[Site]:
    """Eight small sites of every vertical."""
    return [make_site(vertical, seed, pages=24) for vertical in VERTICALS for seed in range(8)]
