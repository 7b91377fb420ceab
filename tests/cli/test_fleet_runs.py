"""watch --all, heal --all and status, as a scheduler and a person meet them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Done, Run
from tests.sources.web_server import HTML, QUICK, Server, running_web_server
from untemplate import Catalog, Page, Rules, learn
from untemplate.catalog import site_rounds
from untemplate.demo import make_site

NAMES = ("one.example", "two.example")


SITE = make_site("book", seed=5, pages=24)


@pytest.fixture(scope="module")
def servers() -> Iterator[list[Server]]:
    with running_web_server("127.0.0.2") as first, running_web_server("127.0.0.3") as second:
        yield [first, second]


@pytest.fixture(scope="module")
def rules_by_name(servers: list[Server]) -> dict[str, Rules]:
    """The rules of two sites whose bellwethers are on two hosts."""
    labeled = list(SITE.truth)[:3]
    labels = [label for label in SITE.labels if label.page in labeled]
    rules: dict[str, Rules] = {}
    for name, server in zip(NAMES, servers, strict=True):
        pages = [Page(f"{server.url}/{page.id}", page.html, page.id) for page in SITE.pages]
        rules[name] = learn(pages, labels, SITE.schema)
    return rules


@pytest.fixture
def catalog(
    servers: list[Server],
    rules_by_name: dict[str, Rules],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Path:
    """A catalog of the two sites, which are as they were when their rules were learned."""
    monkeypatch.setattr(site_rounds.watch_sites, "__kwdefaults__", {"politeness": QUICK, "workers": 1})
    monkeypatch.setattr(
        site_rounds.heal_sites, "__kwdefaults__", {"by": "", "politeness": QUICK, "workers": 1}
    )
    path = tmp_path / "untemplate.db"
    with Catalog.open(path) as opened:
        for name, rules in rules_by_name.items():
            opened.save_rules(name, rules)
    for server in servers:
        publish(server, SITE.pages)
    return path


def one_process(catalog: Path) -> tuple[str | Path, ...]:
    return "--catalog", catalog, "--workers", "1"


def publish(server: Server, pages: list[Page]) -> None:
    server.answers = {f"/{page.id}": (200, {"Content-Type": "text/html"}, page.html) for page in pages}


def test_a_day_of_a_fleet(run: Run, catalog: Path, servers: list[Server]) -> None:
    calm = run("watch", "--all", *one_process(catalog))
    assert calm.returncode == 0
    assert calm.stdout == "Watched 2 sites; 0 sites with findings.\n"
    assert run("watch", "--due", *one_process(catalog)).stdout == "Watched 0 sites; 0 sites with findings.\n"
    publish(servers[1], SITE.redesign(0.7, seed=5).pages)
    broken = run("watch", "--all", *one_process(catalog))
    assert broken.returncode == 1
    assert "Watched 2 sites; 1 site with findings." in broken.stdout
    assert NAMES[1] in broken.stdout
    assert NAMES[0] not in broken.stdout
    status = run("status", "--catalog", catalog)
    assert status.returncode == 0
    assert status.stdout.index(NAMES[1]) < status.stdout.index(NAMES[0])
    worst, _ = json.loads(run("status", "--catalog", catalog, "--json").stdout)["sites"]
    assert worst["site"] == NAMES[1]
    assert worst["alarms"] > 0
    healed = run("heal", "--all", *one_process(catalog), "--json")
    [outcome] = json.loads(healed.stdout)["sites"]
    assert (outcome["site"], outcome["version"], outcome["problem"]) == (NAMES[1], 2, None)
    assert healed.returncode == bool(outcome["figures"]["lost"])
    again = json.loads(run("watch", "--all", *one_process(catalog), "--json").stdout)["sites"]
    assert not [
        alarm for site in again for alarm in site["alarms"] if alarm["test"] in ("moved", "mandatory")
    ]


def test_a_server_that_is_down_is_a_finding(run: Run, catalog: Path, servers: list[Server]) -> None:
    servers[0].answers = {"/robots.txt": (200, HTML, b"User-agent: *\nDisallow: /\n")}
    done = run("watch", "--all", *one_process(catalog))
    assert done.returncode == 1
    assert "robots.txt forbids it" in done.stdout


def test_an_interrupted_round_continues(run: Run, catalog: Path) -> None:
    with Catalog.open(catalog) as opened:
        opened.start_round("watch")
        opened.finish_run(opened.start_run(NAMES[0], "watch"), {"clusters": [], "alarms": []})
    done = run("watch", "--all", *one_process(catalog))
    assert done.stderr.splitlines()[0] == "Continuing the round that was interrupted: 1 site done."
    assert done.stdout == "Watched 1 site; 0 sites with findings.\n"
    assert run("watch", "--all", *one_process(catalog)).stdout.startswith("Watched 2 sites;")


def test_a_site_has_its_own_interval(run: Run, catalog: Path) -> None:
    assert run("watch", "--all", "--every", "1e-9", *one_process(catalog)).returncode == 0
    assert run("watch", "--due", *one_process(catalog)).stdout.startswith("Watched 2 sites;")
    assert run("watch", "--due", "--every", "24", *one_process(catalog)).stdout.startswith("Watched 0 sites;")


def test_pages_may_be_a_crawl_of_all_sites(
    run: Run, catalog: Path, servers: list[Server], tmp_path: Path
) -> None:
    crawl = tmp_path / "crawl.jsonl"
    rows = [
        {"url": f"{server.url}{path}", "html": Page(html=answer[2]).text}
        for server in servers
        for path, answer in server.answers.items()
    ]
    crawl.write_text("\n".join(map(json.dumps, rows)))
    assert (
        run("watch", crawl, "--all", *one_process(catalog)).stdout
        == "Watched 2 sites; 0 sites with findings.\n"
    )


@pytest.mark.parametrize("command", ["watch", "heal"])
def test_all_sites_have_no_name(run: Run, command: str, catalog: Path) -> None:
    wrong = run(command, "--all", "--site", "one.example", *one_process(catalog))
    assert wrong.returncode == 2
    assert "give neither --rules nor --site" in wrong.stderr


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A crawl of two sites, with the labels of one page of each beside it."""
    crawl, labels = [], []
    for host, tag in (("a.example", "h1"), ("b.example", "h2")):
        for number in range(6):
            html = f"<html><body><div><{tag}>{host} {number}</{tag}><p>about {number}</p></div>"
            crawl.append({"url": f"http://{host}/{number}", "html": html})
        labels.append({"url": f"http://{host}/0", "labels": {"name": f"{host} 0"}})
    (tmp_path / "labels.jsonl").write_text("\n".join(map(json.dumps, labels)))
    path = tmp_path / "crawl.jsonl"
    path.write_text("\n".join(map(json.dumps, crawl)))
    return path


def learn_mixed(run: Run, crawl: Path, *options: str) -> Done:
    place = crawl.with_name("new.db")
    labels = crawl.with_name("labels.jsonl")
    return run("learn", crawl, "--labels", labels, "--schema", "product", "--catalog", place, *options)


def test_learn_keeps_pages_of_clusters_to_label(run: Run, mixed: Path, tmp_path: Path) -> None:
    """A person can label them from the queue."""
    more = [
        {"url": f"http://a.example/news/{n}", "html": f"<html><body><ul><li><p>news {n}</p></li></ul>"}
        for n in range(6)
    ]
    with mixed.open("a") as file:
        file.write("\n" + "\n".join(map(json.dumps, more)))
    assert learn_mixed(run, mixed).returncode == 0
    with Catalog.open(tmp_path / "new.db") as opened:
        [status] = [status for status in opened.statuses() if status.waiting]
        [work] = status.waiting
        assert opened.page("a.example", str(work.page)).url.startswith("http://a.example/news/")


def test_learn_takes_labels_of_many_sites(run: Run, mixed: Path, tmp_path: Path) -> None:
    done = learn_mixed(run, mixed)
    assert done.returncode == 0
    assert done.stdout.startswith(f"Learned 2 of 2 sites into {tmp_path}/new.db.\n")
    extracted = run(
        "extract", mixed, "--catalog", tmp_path / "new.db", "-o", f"{tmp_path}/out/", "--workers", "1"
    )
    assert extracted.returncode == 0
    names = [
        json.loads(line)["name"] for line in (tmp_path / "out" / "product.jsonl").read_text().splitlines()
    ]
    assert names == [f"{host} {number}" for host in ("a.example", "b.example") for number in range(6)]


def test_learn_reports_a_site_that_fails(run: Run, mixed: Path, tmp_path: Path) -> None:
    with (tmp_path / "labels.jsonl").open("a") as labels:
        labels.write('\n{"url": "http://gone.example/0", "labels": {"name": "x"}}')
    done = learn_mixed(run, mixed, "--json")
    assert done.returncode == 1
    sites = json.loads(done.stdout)["sites"]
    assert [(site["site"], site["version"]) for site in sites] == [
        ("a.example", 1),
        ("b.example", 1),
        ("gone.example", None),
    ]
    assert sites[2]["problem"] == "it has labels, but no pages in the crawl"
    table = learn_mixed(run, mixed)
    assert "Learned 2 of 3 sites" in table.stdout
    assert "it has labels, but no pages in the crawl" in table.stdout


def test_one_rules_file_cannot_have_the_rules_of_many_sites(run: Run, mixed: Path, tmp_path: Path) -> None:
    wrong = learn_mixed(run, mixed, "-o", str(tmp_path / "rules.json"))
    assert wrong.returncode == 2
    assert "leave out -o, or give --site" in wrong.stderr
    assert learn_mixed(run, mixed, "--site", "one").returncode == 0
