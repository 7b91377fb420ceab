"""Many sites at once: the status of a large catalog, mixed crawls, sites fetched and watched in parallel.

python -m benchmarks.measure.fleet                     all; takes about five minutes
python -m benchmarks.measure.fleet --only status
python -m benchmarks.measure.fleet --sites 20 --only status
python -m benchmarks.measure.fleet --only watching --watched 200 --delay 1    the whole fleet; takes about ten minutes
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import cycle, islice
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from sqlalchemy import Connection

from untemplate import Catalog, Page, Rules, learn
from untemplate.catalog import rule_versions, runs, watch_sites
from untemplate.catalog.database import Database
from untemplate.catalog.site_contents import lock_site
from untemplate.demo import Site, make_site
from untemplate.engines.worker import PageLimits, Result, Settings, batch_pages, extract_pages
from untemplate.extraction import OneSite, PageExtractor
from untemplate.rules import Wrapper
from untemplate.sources import Politeness, fetch_groups

VERTICALS = ("book", "restaurant", "recipe")
CLUSTERS = 24
BELLWETHERS = 20
DAYS = 30
PARTS = ("status", "crawl", "fetching", "watching")

CRAWL_SITES = 20
TURNS = 20

LATENCY = 0.05
HOSTS = 40
HOST_PAGES = 10
HOST_DELAY = 0.5

WATCHED_SITES = 4
WATCHED_DELAY = 0.1
FULL_SITES = 200
FULL_DELAY = 1
CORES = 2


def learn_demo(vertical: str, seed: int, pages: int = 60) -> tuple[Site, Rules]:
    """A made-up site and the rules of three of its labeled pages."""
    site = make_site(vertical, seed=seed, pages=pages)
    labeled = list(site.truth)[:3]
    return site, learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)


def multiply(rules: Rules, host: str) -> Rules:
    """The rules of a site with many clusters: those of one, again and again, each with all its bellwethers."""
    [wrapper, *_] = [wrapper for wrapper in rules.wrappers if wrapper.rules]
    wrappers = [_copy(wrapper, number, host) for number in range(1, CLUSTERS + 1)]
    return replace(rules, wrappers=tuple(wrappers))


def _copy(wrapper: Wrapper, number: int, host: str) -> Wrapper:
    watched = [
        replace(bellwether, page=f"{number}-{index}.html", url=f"http://{host}/{number}/{index}.html")
        for index, bellwether in enumerate(islice(cycle(wrapper.bellwethers), BELLWETHERS))
    ]
    return replace(
        wrapper,
        cluster=f"c{number}",
        url_pattern=f"http://{host}/{number}/*.html",
        bellwethers=tuple(watched),
    )


def build_catalog(path: Path, sites: int) -> None:
    """A catalog of so many sites, with a month of daily runs; each site in one transaction, which is quicker."""
    templates = [learn_demo(vertical, seed=7)[1] for vertical in VERTICALS]
    Catalog.open(path).close()
    database = Database(path)
    for number, rules in zip(range(sites), cycle(templates), strict=False):
        host = f"www.site{number}.example"
        file = json.loads(multiply(rules, host).dumps())
        with database.write() as connection:
            site = lock_site(connection, host)
            rule_versions.add_version(connection, site, file, "learned", "", "", {})
            for day in range(DAYS):
                _record_day(connection, site, rules, 100 + number - day % 3)
    database.close()


def _record_day(connection: Connection, site: int, rules: Rules, pages: int) -> None:
    attributes, clusters = rules.schema.attributes, [f"c{number}" for number in range(1, CLUSTERS + 1)]
    watched = {"pages": BELLWETHERS, "coverage": 1.0, "fill": dict.fromkeys(attributes, 0.9)}
    run = runs.start_run(connection, site, "watch")
    figures = [{"cluster": cluster, **watched} for cluster in clusters]
    runs.finish_run(connection, run, {"clusters": figures, "alarms": []})
    counts = {"pages": pages, "records": pages, "matched": pages, "empty": 0, "unmatched": {}}
    counts |= {"filled": dict.fromkeys(attributes, pages)}
    total = counts | dict.fromkeys(("pages", "records", "matched"), CLUSTERS * pages)
    run = runs.start_run(connection, site, "extract")
    runs.finish_run(connection, run, total | {"clusters": dict.fromkeys(clusters, counts)})


def measure_status(sites: int) -> Iterator[str]:
    """Time `untemplate status` and what the web overview reads, on a catalog of many sites."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "fleet.db")
        started = time.monotonic()
        build_catalog(path, sites)
        size, seconds = path.stat().st_size / 1e6, time.monotonic() - started
        shape = f"{sites} sites × {CLUSTERS} clusters × {BELLWETHERS} bellwethers"
        yield f"built a catalog of {shape}: {size:.0f} MB, {seconds:.0f} s"
        with Catalog.open(path) as catalog:
            started, cpu = time.monotonic(), time.process_time()
            catalog.statuses()
            seconds, cpu = time.monotonic() - started, time.process_time() - cpu
        yield f"status of all sites, and the overview: {seconds:.2f} s, {cpu:.2f} s of CPU"
        started = time.monotonic()
        code = "import sys; from untemplate.cli import main; main(sys.argv[1:])"
        command = [sys.executable, "-c", code, "status", "--catalog", str(path)]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        yield f"untemplate status, with its start: {time.monotonic() - started:.2f} s"


def measure_crawl(sites: int) -> Iterator[str]:
    """Compare a mixed crawl of many sites and schemas with each site's rules on its own pages, by CPU time.

    Both extract the same pages in batches in this process, in turns. Each turn gives a rate, and their median counts:
    work of other processes slows single turns down.
    """
    with TemporaryDirectory() as folder, Catalog.open(Path(folder, "crawl.db")) as catalog:
        pages_of = {}
        for number, vertical in zip(range(sites), cycle(VERTICALS), strict=False):
            site, rules = learn_demo(vertical, seed=20 + number)
            catalog.save_rules(site.name, rules)
            pages_of[site.name] = [Page(page.url, page.html, page.id) for page in site.pages]
        packed = catalog.packed_rules()
        single = {name: OneSite(packed.sites[name].load()) for name in pages_of}
    alone = [(single[name], batch) for name, pages in pages_of.items() for batch in batch_pages(pages)]
    mixed_pages = [page for pages in zip(*pages_of.values(), strict=True) for page in pages]
    mixed = [(packed, batch) for batch in batch_pages(mixed_pages)]
    count = len(mixed_pages)
    turns = [_compare_crawls(alone, mixed, is_mixed_first=bool(turn % 2)) for turn in range(TURNS + 1)]
    rates = [
        alone_seconds / mixed_seconds for alone_seconds, mixed_seconds in turns[1:]
    ]  # the first warms up
    milliseconds = 1000 * median(mixed_seconds for _, mixed_seconds in turns[1:]) / count
    low, _, high = quantiles(rates, n=4)
    yield (
        f"mixed crawl of {count} pages of {sites} sites and {len(packed.schemas)} schemas, {TURNS} turns: "
        f"{milliseconds:.2f} ms a page; rate against one site's rules {median(rates):.3f}, "
        f"half of the turns between {low:.3f} and {high:.3f}"
    )


_Work = Sequence[tuple[PageExtractor, Sequence[Page]]]


def _compare_crawls(alone: _Work, mixed: _Work, is_mixed_first: bool) -> tuple[float, float]:
    """Return the CPU seconds of both; they take turns in being first, because memory fills and caches warm up."""
    if is_mixed_first:
        mixed_seconds = _cpu_seconds(mixed)
        return _cpu_seconds(alone), mixed_seconds
    return _cpu_seconds(alone), _cpu_seconds(mixed)


def _cpu_seconds(work: _Work) -> float:
    started = time.process_time()
    for extractor, batch in work:
        result = Result()
        result.add(extract_pages(batch, extractor), Settings(extractor, ".jsonl", PageLimits()))
    return time.process_time() - started


class _SlowServer(ThreadingHTTPServer):
    """Serves one page under every path, after a delay as of a network."""

    daemon_threads = True
    request_queue_size = 64


class _Answer(BaseHTTPRequestHandler):
    page = b"<html><body><h1>A page</h1>" + b"<p>Some text of it.</p>" * 1000
    pages: Mapping[str, bytes] = {}

    def do_GET(self) -> None:
        time.sleep(LATENCY)
        body = b"" if self.path == "/robots.txt" else self.pages.get(self.path, self.page)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def serve_hosts(first: int, count: int, ready: Any, pages: Mapping[str, bytes]) -> None:
    """Serve so many loopback addresses, in a process of its own; send their ports."""
    _Answer.pages = pages
    servers = [_SlowServer((f"127.0.1.{number}", 0), _Answer) for number in range(first, first + count)]
    for server in servers:
        Thread(target=server.serve_forever, daemon=True).start()
    ready.send([f"http://{server.server_address[0]!s}:{server.server_port}" for server in servers])
    ready.recv()


@contextmanager
def running_hosts(count: int, pages: Mapping[str, bytes]) -> Iterator[list[str]]:
    """Hosts of this machine that answer with these pages by path, and else with one page; yields their addresses."""
    context = get_context("spawn")
    ready, other_end = context.Pipe()
    server = context.Process(target=serve_hosts, args=(1, count, other_end, pages), daemon=True)
    server.start()
    try:
        yield ready.recv()
    finally:
        ready.send("done")
        server.join()


def measure_fetching(hosts: int, pages: int, delay: float) -> Iterator[str]:
    """Fetch pages of many hosts of this machine in parallel, and compare with what politeness alone would take."""
    with running_hosts(hosts, {}) as addresses:
        groups = {url: [f"{url}/{number}" for number in range(pages)] for url in addresses}
        politeness = Politeness(delay=delay, private=True)
        started, cpu = time.monotonic(), time.process_time()
        fetched = sum(len(list(found)) for _, found in fetch_groups(groups, politeness=politeness))
        seconds, cpu = time.monotonic() - started, time.process_time() - cpu
    polite = pages * (delay + LATENCY) + LATENCY
    count = CLUSTERS * BELLWETHERS
    full = count * (FULL_DELAY + LATENCY) * seconds / polite / 60
    yield (
        f"fetched {fetched} pages of {hosts} hosts at {1000 * LATENCY:.0f} ms of latency and a delay of {delay:g} s: "
        f"{seconds:.1f} s; politeness alone {polite:.1f} s; {1000 * cpu / fetched:.2f} ms of CPU a page"
    )
    yield f"extrapolated to {count} pages a host at a delay of {FULL_DELAY} s: {full:.0f} min, if the cores keep up"


def measure_watching(sites: int, delay: float) -> Iterator[str]:
    """Watch sites of 24 clusters of 20 bellwethers, fetched from hosts of this machine.

    Fewer than 200 sites, or a shorter delay than a second, are extrapolated to these.
    """
    site, rules = learn_demo(VERTICALS[0], seed=7)
    html = {page.id: page.html for page in site.pages}
    [wrapper, *_] = [wrapper for wrapper in rules.wrappers if wrapper.rules]
    pages = {
        f"/{cluster}/{index}.html": html[bellwether.page]
        for cluster in range(1, CLUSTERS + 1)
        for index, bellwether in enumerate(islice(cycle(wrapper.bellwethers), BELLWETHERS))
    }
    with (
        TemporaryDirectory() as folder,
        Catalog.open(Path(folder, "watch.db")) as catalog,
        running_hosts(sites, pages) as addresses,
    ):
        names = [address.removeprefix("http://") for address in addresses]
        for name in names:
            catalog.save_rules(name, multiply(rules, name))
        started, cpu = time.monotonic(), _cpu_of_all()
        politeness = Politeness(delay=delay, private=True)
        outcomes = list(watch_sites(catalog, names, politeness=politeness, workers=CORES))
        seconds, cpu = time.monotonic() - started, _cpu_of_all() - cpu
    problems = [outcome.problem for outcome in outcomes if outcome.problem]
    count = sites * len(pages)
    yield (
        f"watched {sites} sites × {CLUSTERS} clusters × {BELLWETHERS} bellwethers at a delay of {delay:g} s: "
        f"{seconds:.0f} s, {1000 * cpu / count:.1f} ms of CPU a page, {len(problems)} problems, "
        f"{sum(len(outcome.alarms) for outcome in outcomes)} alarms"
    )
    if sites >= FULL_SITES and delay >= FULL_DELAY:
        return
    polite = len(pages) * (FULL_DELAY + LATENCY) / 60
    compute = FULL_SITES * len(pages) * cpu / count / CORES / 60
    yield (
        f"extrapolated to {FULL_SITES} sites at a delay of {FULL_DELAY} s: {polite:.1f} min of politeness, while "
        f"{CORES} cores compute for {compute:.1f} min; together at most {polite + compute:.0f} min"
    )


def _cpu_of_all() -> float:
    """Processor time of this process and of those of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=200, help="sites of the catalog whose status is read")
    parser.add_argument(
        "--watched", type=int, default=WATCHED_SITES, help="sites that are fetched and watched"
    )
    parser.add_argument(
        "--delay", type=float, default=WATCHED_DELAY, help="seconds between two requests to a watched site"
    )
    parser.add_argument("--only", choices=PARTS, action="append")
    options = parser.parse_args()
    measures = {
        "status": lambda: measure_status(options.sites),
        "crawl": lambda: measure_crawl(CRAWL_SITES),
        "fetching": lambda: measure_fetching(HOSTS, HOST_PAGES, HOST_DELAY),
        "watching": lambda: measure_watching(options.watched, options.delay),
    }
    for part in options.only or PARTS:
        for line in measures[part]():
            print(line, flush=True)


if __name__ == "__main__":
    main()
