"""watch, heal, and the catalog behind them, as a user meets them."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.running import Run
from untemplate import Catalog, Page, Rules, learn, sources, write_labels
from untemplate.demo import Site, write_site
from untemplate.rules import Wrapper
from untemplate.sources import Politeness

SITE = "www.zenguide2.example"


@pytest.fixture(scope="session")
def rules(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    labeled = list(site.truth)[:2]
    path = tmp_path_factory.mktemp("rules") / "rules.json"
    learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema).save(path)
    return path


@pytest.fixture(scope="session")
def redesigned(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("redesigned")
    write_site(site.redesign(0.7, seed=5), path)
    return path


@pytest.fixture
def catalog(run: Run, rules: Path, tmp_path: Path) -> Path:
    """A catalog with one site."""
    path = tmp_path / "untemplate.db"
    assert run("rules", "import", rules, "--catalog", path, "--note", "by hand").returncode == 0
    return path


def test_pages_that_did_not_change_raise_no_alarm(run: Run, folder: Path, rules: Path) -> None:
    done = run("watch", folder, "--rules", rules)
    assert done.returncode == 0
    assert done.stderr == "No alarms.\n"
    header, _, row = [line for line in done.stdout.splitlines() if line.strip()][1:]
    assert header.split() == [
        "cluster",
        "pages",
        "missing",
        "coverage",
        "name",
        "address",
        "phone",
        "cuisine",
    ]
    cluster, _, missing, coverage, *_ = row.split()
    assert (cluster, missing, coverage) == ("c1", "0", "100%")


def test_a_redesign_raises_alarms(run: Run, redesigned: Path, rules: Path) -> None:
    done = run("watch", redesigned, "--rules", rules)
    assert done.returncode == 1
    assert "structure" in done.stdout
    found = json.loads(run("watch", redesigned, "--rules", rules, "--json").stdout)
    assert found["clusters"][0]["coverage"] == 0
    assert {"cluster", "test", "attribute", "expected", "seen", "pages", "since"} == set(found["alarms"][0])
    assert {alarm["attribute"] for alarm in found["alarms"]} >= {None, "address", "phone"}


def test_a_catalog_remembers_what_was_seen(run: Run, folder: Path, redesigned: Path, catalog: Path) -> None:
    assert run("watch", folder, "--catalog", catalog).returncode == 0
    assert run("watch", redesigned, "--catalog", catalog, "--site", SITE).returncode == 1
    with Catalog.open(catalog) as opened:
        calm, broken = opened.runs(SITE, "watch")
        assert calm.figures["alarms"] == []
        assert broken.figures["clusters"][0]["coverage"] == 0
        raised = opened.alarms(SITE)
        assert {alarm.test for alarm in raised} >= {"shingle", "constant"}
    assert run("watch", redesigned, "--catalog", catalog).returncode == 1
    with Catalog.open(catalog) as opened:
        assert [alarm.raised for alarm in opened.alarms(SITE)] == [alarm.raised for alarm in raised]
    assert run("watch", folder, "--catalog", catalog).returncode == 0
    with Catalog.open(catalog) as opened:
        assert opened.alarms(SITE) == []


def test_a_chart_of_all_runs(run: Run, folder: Path, redesigned: Path, catalog: Path, tmp_path: Path) -> None:
    run("watch", folder, "--catalog", catalog)
    chart = tmp_path / "chart.svg"
    done = run("watch", redesigned, "--catalog", catalog, "--plot", chart)
    assert done.returncode == 1
    assert done.stderr == f"The chart is in {chart}.\n"
    assert "<svg" in chart.read_text("utf-8")
    png = tmp_path / "chart.png"
    assert run("watch", redesigned, "--catalog", catalog, "--plot", png).returncode == 1
    assert png.read_bytes().startswith(b"\x89PNG")
    done = run("watch", folder, "--catalog", catalog, "--plot", tmp_path / "chart.docx")
    assert done.returncode == 2
    assert "chart.docx: cannot draw: Format 'docx' is not supported" in done.stderr


def test_a_chart_without_its_extra(
    run: Run, folder: Path, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "untemplate.cli.drawing", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = run("watch", folder, "--catalog", catalog, "--plot", "chart.png")
    assert done.returncode == 2
    assert "pip install 'untemplate[plot]'" in done.stderr
    with Catalog.open(catalog) as opened:
        assert opened.runs(SITE) == []


def test_healing_a_file(run: Run, redesigned: Path, rules: Path, site: Site, tmp_path: Path) -> None:
    healed = tmp_path / "healed.json"
    done = run("heal", redesigned, "--rules", rules, "-o", healed)
    assert done.returncode == 0
    assert done.stderr.endswith(f"Healed rules are in {healed}.\n")
    assert "3 learned again, 0 refused, 0 lost" in done.stderr
    assert "Healed" in done.stdout
    assert "\n  address\n    - " in done.stdout
    assert run("watch", redesigned, "--rules", healed).returncode == 0
    fresh = {page.id: page for page in site.redesign(0.7, seed=5).pages}
    right = [
        Rules.load(healed).extract_one(fresh[page])["name"] == site.truth[page]["name"][0]
        for page in site.truth
    ]
    assert all(right)
    diff = run("rules", "diff", rules, healed)
    assert diff.stdout in done.stdout
    changes = json.loads(run("rules", "diff", rules, healed, "--json").stdout)
    assert {"cluster", "attribute", "before", "after"} == set(changes[0])


def test_healing_in_a_catalog_is_a_new_version(
    run: Run, folder: Path, redesigned: Path, catalog: Path
) -> None:
    done = run("heal", redesigned, "--catalog", catalog, "--json")
    assert done.returncode == 0
    assert done.stderr == f"Version 2 of {SITE} is in {catalog}.\n"
    found = json.loads(done.stdout)
    assert set(found) == {"reused", "healed", "lost", "refused", "to_label", "kinds", "counts", "changes"}
    assert [one["attribute"] for one in found["healed"]] == ["address", "phone", "cuisine"]
    with Catalog.open(catalog) as opened:
        [ran] = opened.runs(SITE, "heal")
        assert ran.figures == found | {"version": 2}
        watched = {one.page for wrapper in opened.rules(SITE).wrappers for one in wrapper.bellwethers}
        to_label = {page for pages in found["to_label"].values() for page in pages}
        kept = {page.id: page.html for page in opened.pages(SITE)}
        assert set(kept) == watched | to_label
        assert all(html == (redesigned / id).read_bytes() for id, html in kept.items())
    assert run("watch", redesigned, "--catalog", catalog).returncode == 0
    assert run("rules", "rollback", SITE, "1", "--catalog", catalog).returncode == 0
    assert run("watch", redesigned, "--catalog", catalog).returncode == 1
    assert run("watch", folder, "--catalog", catalog).returncode == 0


def test_what_cannot_be_healed_is_queued(
    run: Run, redesigned: Path, catalog: Path, site: Site, tmp_path: Path
) -> None:
    """The fresh pages have no phone numbers: all made-up ones have 555 in them."""
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    for page in site.redesign(0.7, seed=5).pages:
        (fresh / page.id).write_bytes(page.html.replace(b"555", b""))
    (fresh / "pages.csv").write_bytes((redesigned / "pages.csv").read_bytes())
    done = run("heal", fresh, "--catalog", catalog)
    assert done.returncode == 1
    assert "Lost" in done.stdout
    assert "+ no rule: the site changed" in done.stdout
    with Catalog.open(catalog) as opened:
        [task] = [one for one in opened.pages_to_label(SITE) if one.attributes == ("phone",)]
        assert f"Cluster {task.cluster} needs a person: label {', '.join(task.pages)}." in done.stdout
        assert all(opened.page(SITE, page).html == (fresh / page).read_bytes() for page in task.pages)
        [record, *_] = opened.rules(SITE).extract([opened.page(SITE, task.pages[0])])
        assert record.missing["phone"] == "site changed"
    again = run("heal", fresh, "--catalog", catalog)
    assert again.returncode == 1
    with Catalog.open(catalog) as opened:
        assert task in opened.pages_to_label(SITE)


@pytest.fixture
def server(folder: Path) -> Iterator[str]:
    """The site's files on a server of this machine."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{serving.server_port}"
    serving.shutdown()
    serving.server_close()


def test_without_pages_the_bellwethers_are_fetched(
    run: Run, site: Site, server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [Page(f"{server}/{page.id}", page.html, page.id) for page in site.pages]
    labeled = list(site.truth)[:2]
    rules = tmp_path / "rules.json"
    learn(pages, [label for label in site.labels if label.page in labeled], site.schema).save(rules)
    politeness = Politeness(delay=0.0, private=True)
    monkeypatch.setattr(sources, "fetch_pages", partial(sources.fetch_pages, politeness=politeness))
    done = run("watch", "--rules", rules, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["clusters"][0] | {"fill": {}} == {
        "cluster": "c1",
        "pages": 20,
        "coverage": 1.0,
        "fill": {},
        "missing": [],
    }


def test_pages_that_are_gone_are_counted_and_replaced(
    run: Run, folder: Path, rules: Path, catalog: Path
) -> None:
    watched = [one.page for one in Rules.load(rules).wrappers[0].bellwethers]
    kept = {path: path.read_bytes() for path in (folder / name for name in watched[:2])}
    try:
        for path in kept:
            path.write_text("<html><body><p>No longer available</body></html>")
        done = run("watch", folder, "--catalog", catalog)
    finally:
        for path, html in kept.items():
            path.write_bytes(html)
    assert done.returncode == 0
    assert "2 watched pages replaced: not delivered, or without a record." in done.stderr
    with Catalog.open(catalog) as opened:
        now = {one.page for one in opened.rules(SITE).wrappers[0].bellwethers}
        assert (len(now), now & set(watched[:2])) == (20, set())


def test_learning_into_a_catalog(run: Run, folder: Path, site: Site, tmp_path: Path) -> None:
    labeled = list(site.truth)[:2]
    labels = [label for label in site.labels if label.page in labeled]
    write_labels(labels, tmp_path / "labels.jsonl")
    catalog, file = tmp_path / "a.db", tmp_path / "rules.json"
    learn = (
        "learn",
        folder,
        "--schema",
        "restaurant",
        "--labels",
        tmp_path / "labels.jsonl",
        "--catalog",
        catalog,
    )
    done = run(*learn)
    assert done.returncode == 0
    assert done.stderr == f"Version 1 of {SITE} is in {catalog}.\n"
    assert run(*learn, "--site", "another", "-o", file).returncode == 0
    with Catalog.open(catalog) as opened:
        assert opened.sites() == [SITE, "another"]
        assert opened.rules("another") == opened.rules(SITE) == Rules.load(file)
        assert [one.label for one in opened.labels(SITE)] == labels
        assert {page.id for page in opened.pages(SITE)} >= set(labeled)
        [ran] = opened.runs(SITE)
        assert (ran.kind, ran.figures["version"]) == ("learn", 1)
    done = run("watch", folder, "--catalog", catalog)
    assert done.returncode == 2
    assert f"{catalog} has 2 sites: give --site; untemplate rules history lists them." in done.stderr


def test_extracting_with_the_rules_of_a_catalog(
    run: Run, site: Site, folder: Path, rules: Path, catalog: Path, tmp_path: Path
) -> None:
    here, there = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    assert run("extract", folder, "--rules", rules, "-o", here).returncode == 0
    assert run("extract", folder, "--catalog", catalog, "--site", SITE, "-o", there).returncode == 0
    assert there.read_bytes() == here.read_bytes()
    with Catalog.open(catalog) as opened:
        [ran] = opened.runs(SITE, "extract")
        assert ran.finished
        assert (ran.figures["records"], ran.figures["skipped"]) == (len(site.pages), 0)
        assert ran.figures["filled"]["name"] == ran.figures["matched"]


def test_history_export_and_rollback(run: Run, rules: Path, catalog: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.json"
    loaded = Rules.load(rules)
    nobodys = Wrapper("c9", (), 1, "http://nowhere.example/*", {})
    Rules(loaded.schema, (*loaded.wrappers, nobodys)).save(changed)
    assert run("rules", "import", changed, "--catalog", catalog, "--site", SITE).returncode == 0
    done = run("rules", "rollback", SITE, "1", "--catalog", catalog)
    assert done.stderr == f"Version 3 of {SITE} is version 1 again.\n"
    assert run("rules", "export", SITE, "--catalog", catalog).stdout == rules.read_text("utf-8")
    old = tmp_path / "old.json"
    assert run("rules", "export", SITE, "--catalog", catalog, "--version", "2", "-o", old).returncode == 0
    assert old.read_bytes() == changed.read_bytes()

    done = run("rules", "history", SITE, "--catalog", catalog, "-v")
    words = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in words if "imported" in line or "rolled" in line] == ["1", "2", "3"]
    assert (
        "From version 1 to 2\nCluster c9\n  pages\n    + http://nowhere.example/*, needs labels\n"
        in done.stdout
    )
    assert (
        "From version 2 to 3\nCluster c9\n  pages\n    - http://nowhere.example/*, needs labels\n"
        in done.stdout
    )
    history = json.loads(run("rules", "history", SITE, "--catalog", catalog, "--json").stdout)
    assert [(one["number"], one["reason"]) for one in history] == [
        (1, "imported"),
        (2, "imported"),
        (3, "rolled back"),
    ]
    assert history[0]["note"] == "by hand"
    [known] = json.loads(run("rules", "history", "--catalog", catalog, "--json").stdout)
    assert (known["site"], known["versions"], known["alarms"]) == (SITE, 3, 0)
    assert SITE in run("rules", "history", "--catalog", catalog).stdout


def test_what_cannot_be_done_is_one_line(
    run: Run, folder: Path, rules: Path, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "..")
    bare = tmp_path / "bare.json"
    loaded = Rules.load(rules)
    Rules(loaded.schema, (Wrapper("c1", (), 1, "http://[*", loaded.wrappers[0].rules),)).save(bare)
    stranger = tmp_path / "stranger.html"
    stranger.write_text("<p>Hello</p>")
    for arguments, said in (
        (["watch", folder], "Needs rules: give --rules, or --catalog and --site."),
        (["watch", folder, "--rules", rules, "--catalog", catalog], "from a file or from a catalog"),
        (["watch", folder, "--rules", rules, "--plot", "a.png"], "which only a catalog knows"),
        (["watch", folder, "--rules", bare], "the rules remember no pages to compare with: learn them anew"),
        (["watch", "--rules", bare], "know no pages that could be fetched: give fresh PAGES"),
        (["watch", stranger, "--rules", rules], "none of its pages is one that the rules know"),
        (
            ["heal", stranger, "--rules", rules, "-o", "x.json"],
            "none of its pages is one that the rules know",
        ),
        (["heal", folder, "--rules", rules], "Missing option '-o'"),
        (
            ["learn", folder, "--schema", "restaurant", "--example", "0001.html", "name=x"],
            "Missing option '-o'",
        ),
        (["rules", "history", "--catalog", "none.db"], "none.db: no such catalog"),
        (
            ["rules", "history", "nope", "--catalog", catalog],
            f"no site 'nope' in the catalog; it has {SITE}",
        ),
        (["rules", "rollback", SITE, "9", "--catalog", catalog], "has no version 9 of its rules"),
        (["rules", "import", bare, "--catalog", catalog], "no URLs that would name the site: give --site"),
        (["rules", "export", SITE, "--catalog", rules], "file is not a database"),
    ):
        done = run(*arguments)
        assert done.returncode == 2, arguments
        assert done.stdout == ""
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
