"""Rules inside Scrapy: a real crawl, by a process of its own, of a made-up site on this machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from untemplate import Catalog, Page, Rules, learn
from untemplate.demo import make_site
from untemplate.output.record_rows import record_row

SITE = make_site("restaurant", seed=2, pages=40)
PAGES = {page.url: page.html for page in SITE.pages}
START = next(page.url for page in SITE.pages if SITE.templates[page.id] == "list")
HOST = START.split("/")[2]

SPIDER = """
import scrapy

from untemplate.scrapy import RulesMixin


class Site(RulesMixin, scrapy.Spider):
    name = "site"
    start_urls = [{start!r}]
    allowed_domains = [start_urls[0].split("/")[2]]
    {settings}

    def parse(self, response):
        {item}
        yield from response.follow_all(css="a")
"""
WITH_MIXIN = {"settings": "", "item": "yield self.extract(response)"}
WITH_PIPELINE = {
    "settings": 'custom_settings = {"ITEM_PIPELINES": {"untemplate.scrapy.RulesPipeline": 300}}',
    "item": 'yield {"url": response.url, "html": response.body, "depth": response.meta["depth"]}; yield {"note": 1}',
}


class Web(BaseHTTPRequestHandler):
    """A proxy behind which the made-up site is the only one there is."""

    def do_GET(self) -> None:
        html = PAGES.get(self.path)
        self.send_response(404 if html is None else 200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(html or b"none")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def proxy() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Web) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def rules_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    details = [page.id for page in SITE.pages if page.id in SITE.truth][:3]
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    learn(SITE.pages, [label for label in SITE.labels if label.page in details], SITE.schema).save(path)
    return path


def crawl(
    folder: Path, parts: dict[str, str], proxy: str, *settings: str
) -> tuple[list[dict[str, Any]], str]:
    """The items of a crawl that follows all links, and its log."""
    (folder / "spider.py").write_text(SPIDER.format(start=START, **parts))
    options = [part for setting in settings for part in ("-s", setting)]
    run = subprocess.run(
        [sys.executable, "-m", "scrapy", "runspider", "spider.py", "-o", "items.jsonl", *options],
        cwd=folder,
        env=os.environ | {"http_proxy": proxy},
        capture_output=True,
        text=True,
        timeout=600,
    )
    items = folder / "items.jsonl"
    return [
        json.loads(line) for line in items.read_text("utf-8").splitlines()
    ] if items.exists() else [], run.stderr


def expected(rules_file: Path, urls: set[str]) -> dict[str, dict[str, Any]]:
    rules = Rules.load(rules_file)
    return {url: record_row(rules.extract_one(Page(url, PAGES[url])), rules.schema) for url in urls}


def test_the_mixin_yields_records(tmp_path: Path, proxy: str, rules_file: Path) -> None:
    items, log = crawl(tmp_path, WITH_MIXIN, proxy, f"UNTEMPLATE_RULES={rules_file}")
    crawled = {item["url"] for item in items}
    assert len(crawled) > 20
    assert {item["url"]: item for item in items} == expected(rules_file, crawled)
    assert any(item["name"] for item in items)
    assert f"'untemplate/records': {len(items)}" in log
    assert f"'untemplate/found/name': {sum(bool(item['name']) for item in items)}" in log
    assert "'untemplate/missing/" in log
    assert "Traceback" not in log


def test_the_pipeline_turns_pages_into_records(tmp_path: Path, proxy: str, rules_file: Path) -> None:
    items, log = crawl(tmp_path, WITH_PIPELINE, proxy, f"UNTEMPLATE_RULES={rules_file}")
    notes = [item for item in items if item == {"note": 1}]
    records = {item.pop("url"): item for item in items if "url" in item}
    assert len(records) > 20
    assert len(notes) >= len(records)
    for url, row in expected(rules_file, set(records)).items():
        assert records[url].pop("depth") in range(10)
        assert {"url": url} | records[url] == row
    assert "Deprecat" not in log


@pytest.fixture
def place(tmp_path: Path, rules_file: Path) -> Path:
    """A catalog with the rules of the site."""
    place = tmp_path / "untemplate.db"
    with Catalog.open(place) as catalog:
        catalog.save_rules("food", Rules.load(rules_file))
    return place


@pytest.mark.parametrize("parts", [WITH_MIXIN, WITH_PIPELINE], ids=["mixin", "pipeline"])
def test_rules_may_come_from_a_catalog_which_keeps_the_counts(
    tmp_path: Path, proxy: str, rules_file: Path, place: Path, parts: dict[str, str]
) -> None:
    items, log = crawl(tmp_path, parts, proxy, f"UNTEMPLATE_CATALOG={place}")
    assert "Traceback" not in log
    records = {item["url"]: item for item in items if "url" in item}
    for url, row in expected(rules_file, set(records)).items():
        row["cluster"] = row["cluster"] and f"food/{row['cluster']}"
        records[url].pop("depth", None)
        assert records[url] == row
    with Catalog.open(place) as catalog:
        [run] = catalog.runs("food", "extract")
        assert run.figures["pages"] == sum("url" in item for item in items)


NEW_RULES = """
from pathlib import Path

import scrapy
from scrapy.crawler import CrawlerProcess
from untemplate import Catalog, Page, Rules
from untemplate.catalog import live_rules
from untemplate.scrapy import RulesMixin

live_rules.LiveRules.__init__.__defaults__ = (0.0,)


class Site(RulesMixin, scrapy.Spider):
    name = "site"
    start_urls = [{start!r}]

    def parse(self, response):
        yield self.extract(response)
        with Catalog.open({place!r}) as catalog:
            catalog.save_rules({host!r}, Rules.load({rules!r}))
        yield self.extract(response)
        yield self.extract(response.replace(url="http://stranger.example/"))


process = CrawlerProcess({{"UNTEMPLATE_CATALOG": {place!r}, "FEEDS": {{"items.jsonl": {{"format": "jsonl"}}}}}})
process.crawl(Site)
process.start()
"""


def test_a_running_spider_uses_new_versions(tmp_path: Path, proxy: str, rules_file: Path) -> None:
    place = tmp_path / "untemplate.db"
    with Catalog.open(place) as catalog:
        catalog.save_rules(HOST, Rules(SITE.schema, ()))
    start = next(page.url for page in SITE.pages if page.id in SITE.truth)
    code = NEW_RULES.format(start=start, place=str(place), rules=str(rules_file), host=HOST)
    environment = os.environ | {"http_proxy": proxy}
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    lines = (tmp_path / "items.jsonl").read_text("utf-8").splitlines()
    before, after, stranger = map(json.loads, lines)
    assert before["name"] is None
    assert after["name"] == Rules.load(rules_file).extract_one(Page(start, PAGES[start]))["name"]
    assert stranger["url"] == "http://stranger.example/"
    assert (stranger["cluster"], stranger["missing"]) == (None, {})
    assert "'untemplate/unknown host': 1" in run.stderr


MISSING_SETTING = "the setting UNTEMPLATE_RULES is missing: set it to a rules file"


@pytest.mark.parametrize(
    ("parts", "settings", "message"),
    [
        (WITH_MIXIN, (), MISSING_SETTING),
        (WITH_MIXIN, ("UNTEMPLATE_RULES=none.json",), "none.json: cannot read the rules"),
        (WITH_MIXIN, ("UNTEMPLATE_CATALOG=none.db",), "none.db: no such catalog"),
        (
            WITH_MIXIN,
            ("UNTEMPLATE_CATALOG=none.db", "UNTEMPLATE_RULES=none.json"),
            "set UNTEMPLATE_RULES or UNTEMPLATE_CATALOG, not both",
        ),
        (WITH_PIPELINE, (), MISSING_SETTING),  # it reads the settings with the same function
    ],
)
def test_settings_that_cannot_be_used_are_told(
    tmp_path: Path, proxy: str, parts: dict[str, str], settings: tuple[str, ...], message: str
) -> None:
    items, log = crawl(tmp_path, parts, proxy, *settings)
    assert not items
    assert message in log


def test_without_scrapy_the_extra_is_named() -> None:
    code = "import sys; sys.modules['scrapy'] = sys.modules['itemadapter'] = None; import untemplate.scrapy"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Support for Scrapy is not installed. Run: pip install 'untemplate[scrapy]'" in run.stderr
