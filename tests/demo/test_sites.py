"""Sites: deterministic, of the size and variety of real ones, and written as files."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations, pairwise
from pathlib import Path
from statistics import median

import pytest

from tests.linear_time import assert_linear
from untemplate.demo import VERTICALS, Site, make_site, write_site
from untemplate.labeling import read_labels
from untemplate.page import Page

FINGERPRINT = """
import hashlib, json
from untemplate.demo import VERTICALS, make_site
digest = hashlib.sha256()
for vertical in VERTICALS:
    site = make_site(vertical, 11, pages=20)
    for one in (site, site.redesign(0.4, 5)):
        for page in one.pages:
            digest.update(page.url.encode() + page.html)
        digest.update(json.dumps([one.truth, one.rows, one.templates]).encode())
print(digest.hexdigest())
"""


def paths(page: Page) -> set[str]:
    return {node.path for node in page.nodes}


def overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other)


def details(site: Site, template: str = "detail") -> list[Page]:
    return [page for page in site.pages if site.templates[page.id] == template]


def test_the_same_in_every_process() -> None:
    runs = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(runs) == 1


def test_another_seed_is_another_site() -> None:
    one, other = make_site("book", 1, pages=10), make_site("book", 2, pages=10)
    assert one.name != other.name
    assert not {page.url for page in one.pages} & {page.url for page in other.pages}
    assert not {page.html for page in one.pages} & {page.html for page in other.pages}


@pytest.mark.parametrize("vertical", VERTICALS)
def test_truth_follows_the_schema(vertical: str) -> None:
    site = make_site(vertical, 3, pages=40)
    attributes = site.schema.attributes
    for truth in site.truth.values():
        assert set(truth) == set(attributes)
        for name, attribute in attributes.items():
            assert truth[name] or not attribute.mandatory
            assert len(truth[name]) <= 1 or attribute.many


def test_pages_have_ids_urls_and_templates(sites: list[Site]) -> None:
    for site in sites:
        assert len(site.pages) == 24
        assert len({page.id for page in site.pages}) == len({page.url for page in site.pages}) == 24
        kinds = Counter(site.templates[page.id] for page in site.pages)
        assert {"detail", "list"} <= set(kinds) <= {"detail", "detail-2", "list", "about"}
        assert set(site.truth) == {page for page, kind in site.templates.items() if kind.startswith("detail")}
        assert set(site.rows) == {page for page, kind in site.templates.items() if kind == "list"}


def test_every_kind_of_page_on_a_big_site() -> None:
    kinds = Counter(make_site("job", 2, pages=100).templates.values())
    assert kinds["about"] == 4
    assert kinds["list"] == 12


@pytest.mark.parametrize("pages", [1, 2, 7, 9])
def test_small_sites(pages: int) -> None:
    assert len(make_site("movie", 5, pages).pages) == pages


def test_more_rows_than_headings() -> None:
    assert len(make_site("job", 5, 1400).pages) == 1400


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="no vertical 'nope'; there are restaurant, book"):
        make_site("nope", 1)
    with pytest.raises(ValueError, match="at least one page"):
        make_site("book", 1, pages=0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        make_site("book", 1, pages=1).redesign(1.5, 1)


def test_pages_are_as_big_as_real_ones(sites: list[Site]) -> None:
    pages = [page for site in sites for page in details(site)]
    sizes = [len(page.html) for page in pages]
    nodes = [len(page.nodes) for page in pages]
    assert min(sizes) > 8_000
    assert max(sizes) < 60_000
    assert min(nodes) > 130
    assert max(nodes) < 1000
    assert 250 < median(nodes) < 450


def test_looks_differ_and_templates_hold(sites: list[Site]) -> None:
    between = [
        overlap(paths(details(one)[0]), paths(details(other)[0]))
        for one, other in combinations(sites[:24], 2)
    ]
    assert sum(share < 0.4 for share in between) > 0.98 * len(between)
    within = [overlap(paths(one), paths(other)) for site in sites for one, other in pairwise(details(site))]
    assert sum(share > 0.5 for share in within) > 0.98 * len(within)


def test_templates_of_a_site_differ_though_they_share_a_frame(sites: list[Site]) -> None:
    shares = []
    for site in sites:
        examples = [paths(details(site, template)[0]) for template in sorted(set(site.templates.values()))]
        shares += [overlap(one, other) for one, other in combinations(examples, 2)]
    assert max(shares) < 0.65
    assert median(shares) > 0.4


def test_dozens_of_looks() -> None:
    looks = {
        tuple(sorted({node.path for node in make_site("recipe", seed, pages=1).pages[0].nodes}))
        for seed in range(40)
    }
    assert len(looks) == 40


def test_pages_take_linear_time() -> None:
    assert_linear(lambda pages: make_site("product", 9, pages=pages), 20, 200)


def test_written_sites_can_be_read_again(tmp_path: Path) -> None:
    site = make_site("restaurant", 4, pages=30)
    write_site(site, tmp_path / "made" / "up")
    folder = tmp_path / "made" / "up"
    with (folder / "pages.csv").open(encoding="utf-8", newline="") as lines:
        table = {row["path"]: row["url"] for row in csv.DictReader(lines)}
    assert table == {page.id: page.url for page in site.pages}
    assert all((folder / page.id).read_bytes() == page.html for page in site.pages)
    assert read_labels(folder / "labels.jsonl") == site.labels
    truths = [json.loads(line) for line in (folder / "truth.jsonl").read_text("utf-8").splitlines()]
    assert {truth["page"]: truth["template"] for truth in truths} == site.templates
    assert {truth["page"]: truth["values"] for truth in truths if "values" in truth} == site.truth
    assert {truth["page"]: truth["rows"] for truth in truths if "rows" in truth} == site.rows


def test_labels_say_what_is_missing() -> None:
    site = make_site("book", 6, pages=60)
    labels = [label for label in site.labels if label.value is None]
    assert labels
    assert all(site.truth[label.page][label.attribute] == [] for label in labels)
