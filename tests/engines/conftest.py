"""A made-up site and its rules, for all engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from untemplate import Rules, learn
from untemplate.demo import Site, make_site, write_site


@pytest.fixture(scope="session")
def site() -> Site:
    return make_site("restaurant", seed=5, pages=120)


@pytest.fixture(scope="session")
def rules(site: Site) -> Rules:
    few = list(site.truth)[:3]
    return learn(site.pages[:60], [label for label in site.labels if label.page in few], site.schema)


@pytest.fixture(scope="session")
def rules_file(rules: Rules, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    rules.save(path)
    return path


@pytest.fixture(scope="session")
def folder(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site")
    write_site(site, path)
    return path
