"""extract with a catalog: a crawl of many sites and schemas, and the tally that each crawl leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.running import Run
from untemplate import Catalog, Page, Rules, learn
from untemplate.demo import Site, make_site


@pytest.fixture(scope="module")
def sites() -> list[Site]:
    return [make_site("book", seed=4, pages=24), make_site("restaurant", seed=6, pages=24)]


@pytest.fixture(scope="module")
def all_rules(sites: list[Site]) -> dict[str, Rules]:
    learned = {}
    for site in sites:
        labeled = list(site.truth)[:2]
        labels = [label for label in site.labels if label.page in labeled]
        learned[site.name] = learn(site.pages, labels, site.schema)
    return learned


@pytest.fixture
def catalog(all_rules: dict[str, Rules], tmp_path: Path) -> Path:
    path = tmp_path / "untemplate.db"
    with Catalog.open(path) as opened:
        for name, rules in all_rules.items():
            opened.save_rules(name, rules)
    return path


def write_crawl(path: Path, pages: list[Page]) -> Path:
    lines = [json.dumps({"id": page.id, "url": page.url, "html": page.text}) for page in pages]
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture
def crawl(sites: list[Site], tmp_path: Path) -> Path:
    """Pages of both sites, one after the other, and one of a site that nobody knows."""
    books, restaurants = (site.pages for site in sites)
    mixed = [page for pair in zip(books, restaurants, strict=True) for page in pair]
    return write_crawl(tmp_path / "crawl.jsonl", [*mixed, Page("http://stranger.example/", "<p>Hello")])


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_file_a_schema(
    run: Run, crawl: Path, catalog: Path, sites: list[Site], all_rules: dict[str, Rules], tmp_path: Path
) -> None:
    done = run("extract", crawl, "--catalog", catalog, "-o", f"{tmp_path}/out/", "--workers", "1")
    assert done.returncode == 0
    assert (
        "1 page skipped: 1 × its host is that of no site in the catalog (http://stranger.example/)"
        in done.stderr
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["book.jsonl", "restaurant.jsonl"]
    for site in sites:
        rows = read(tmp_path / "out" / f"{site.vertical}.jsonl")
        expected = list(all_rules[site.name].extract(site.pages))
        assert [row["url"] for row in rows] == [record.url for record in expected]
        for row, record in zip(rows, expected, strict=True):
            assert row["cluster"] == (record.cluster and f"{site.name}/{record.cluster}")
            assert row["missing"] == record.missing
    assert not (tmp_path / ".out.parts").exists()
    with Catalog.open(catalog) as opened:
        for site in sites:
            [stored] = opened.runs(site.name, "extract")
            assert stored.figures["pages"] == len(site.pages)
            assert set(stored.figures["clusters"]) >= {"c1"}


def test_other_formats_and_wrong_options(run: Run, crawl: Path, catalog: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert (
        run("extract", crawl, "--catalog", catalog, "-o", out, "--format", "csv", "--workers", "1").returncode
        == 0
    )
    assert (out / "book.csv").read_text("utf-8").startswith("url,page,cluster,title")
    wrong = run("extract", crawl, "--catalog", catalog, "-o", tmp_path / "a.csv", "--format", "csv")
    assert "--format needs a catalog, no --site, and a folder for -o." in wrong.stderr
    several = run("extract", crawl, "--catalog", catalog, "-o", tmp_path / "a.csv")
    assert "has 2 sites: give --site" in several.stderr
    Catalog.open(tmp_path / "empty.db").close()
    assert "has no rules yet" in run("extract", crawl, "--catalog", tmp_path / "empty.db", "-o", out).stderr


def test_a_drop_is_an_alarm_until_it_is_over(
    run: Run, crawl: Path, catalog: Path, sites: list[Site], tmp_path: Path
) -> None:
    name = sites[0].name
    arguments = ("--catalog", catalog, "-o", tmp_path / "out", "--workers", "1")
    assert run("extract", crawl, *arguments).returncode == 0
    broken = [replace_titles(page) for page in sites[0].pages]
    done = run("extract", write_crawl(tmp_path / "broken.jsonl", broken), *arguments)
    assert done.returncode == 1
    assert "alarm" in done.stderr
    with Catalog.open(catalog) as opened:
        raised = opened.alarms(name)
        assert raised
        # Watched pages say nothing about the alarms of a crawl.
        opened.record_alarms(name, opened.start_run(name, "watch"), [])
        assert opened.alarms(name) == raised
        [status, _] = opened.statuses()
        assert (status.site, status.alarms) == (name, len(raised))
    # The drop must not become usual.
    assert run("extract", tmp_path / "broken.jsonl", *arguments).returncode == 1
    assert run("extract", crawl, *arguments).returncode == 0
    with Catalog.open(catalog) as opened:
        assert opened.alarms(name) == []


def replace_titles(page: Page) -> Page:
    """The page of a site whose server shows the same message everywhere."""
    return Page(page.url, "<html><body><h1>We are moving</h1></body></html>", page.id)


def test_one_site_leaves_its_tally_too(run: Run, catalog: Path, sites: list[Site], tmp_path: Path) -> None:
    crawl = write_crawl(tmp_path / "books.jsonl", sites[0].pages)
    arguments = (
        "--catalog",
        catalog,
        "--site",
        sites[0].name,
        "-o",
        tmp_path / "out.jsonl",
        "--workers",
        "1",
    )
    assert run("extract", crawl, *arguments).returncode == 0
    with Catalog.open(catalog) as opened:
        [stored] = opened.runs(sites[0].name, "extract")
        assert stored.figures["alarms"] == 0
        assert stored.figures["clusters"]["c1"]["filled"]["title"] > 10
        assert replace(opened.statuses()[0].fill, before=None).now


def test_too_many_failed_pages_of_a_crawl_are_a_finding(
    run: Run, catalog: Path, sites: list[Site], tmp_path: Path
) -> None:
    strangers = [Page(f"http://stranger.example/{number}", "<p>Hello") for number in range(40)]
    site = sites[0]
    pages = [page if page.id in site.truth else Page(page.url, "<p>Hello") for page in site.pages]
    crawl = write_crawl(tmp_path / "crawl.jsonl", [*pages, *strangers])
    options = ("--catalog", catalog, "-o", f"{tmp_path}/out/", "--workers", "1")
    assert run("extract", crawl, *options, "--max-failed", "0.9").returncode == 0
    done = run("extract", crawl, *options, "--max-failed", "0.01")
    assert done.returncode == 1
    assert "of the pages failed, more than 1%." in done.stderr
