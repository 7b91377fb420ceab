"""A made-up site in a catalog, the server over it, and a real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.e2e.person import Person
from untemplate.browser import find_chromium
from untemplate.catalog import Catalog
from untemplate.web import RunningServer, running_server

FLAGS = [
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
    "--host-resolver-rules=MAP *.example 127.0.0.1",  # public names that lead to servers of tests
]
PATIENCE = 60_000  # milliseconds: only what never happens fails, however busy the machine is

expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; not for longer than a module, since Playwright's event loop runs in this thread all the while."""
    executable = find_chromium()
    if executable is None:
        pytest.skip("no Chromium: scripts/system-packages installs it")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=FLAGS, chromium_sandbox=os.geteuid() != 0
        )
        yield browser
        browser.close()


@pytest.fixture
def server(new_catalog: Path, tmp_path: Path) -> Iterator[RunningServer]:
    """A server over a catalog that holds the made-up site and no label yet."""
    copy = shutil.copy(new_catalog, tmp_path / "catalog.db")
    with Catalog.open(copy) as catalog, running_server(catalog) as server:
        yield server


@pytest.fixture
def person(server: RunningServer, browser: Browser) -> Iterator[Person]:
    """A person with a window; whatever goes wrong in it fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE)
    window = context.new_page()
    problems: list[str] = []
    window.on("pageerror", lambda error: problems.append(str(error)))
    yield Person(window, server)
    context.close()
    assert problems == []
