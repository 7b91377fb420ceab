"""How fast Spark extracts on this machine, as a share of the local engine's rate; SWDE pages repeated, in Parquet.

python -m benchmarks.measure.spark                     100,000 pages, two cores
python -m benchmarks.measure.spark --pages 4000 --rounds 2
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.data.swde import VERTICALS, chosen_sites, labeling_order, labels_of, schema_of
from untemplate import Page, Rules, learn, read_pages
from untemplate.engines import local
from untemplate.output.quality import Tally

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LABELED = 4
# Pages of a row group: some 30 MB before compression.
ROW_GROUP = 500


def pages_and_rules(vertical: str, names: Sequence[str]) -> tuple[list[Page], Rules]:
    """All pages of the sites, and the rules of all sites as one."""
    schema = schema_of(vertical)
    pages: list[Page] = []
    wrappers = []
    for site in chosen_sites([vertical], names):
        own = site.pages()
        rules = learn(own, labels_of(labeling_order(site)[:LABELED], site.truth()), schema)
        wrappers += [replace(one, cluster=f"{site.name}/{one.cluster}") for one in rules.wrappers]
        pages += own
    return pages, Rules(schema, tuple(wrappers))


def write_pages(path: Path, pages: Iterator[Page], count: int) -> None:
    """A Parquet file of so many pages."""
    schema = pa.schema({"url": pa.string(), "html": pa.binary()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(pages, min(count, ROW_GROUP))):
            rows = [{"url": page.url, "html": page.html} for page in some]
            writer.write_table(pa.Table.from_pylist(rows, schema))
            count -= len(some)


def extract_here(source: Path, rules: Rules, cores: int) -> Tally:
    """Extraction by the local engine."""
    return local.extract_to_file(read_pages(source), rules, f"{source}-local.parquet", workers=cores).tally


def extract_on_spark(source: Path, rules: Rules, session: SparkSession) -> Tally:
    """Extraction by Spark, into parts."""
    from untemplate.engines import spark

    return spark.extract_on_spark(session, source, rules, f"{source}-spark.parquet/").tally


@dataclass
class Spent:
    """Seconds by the clock, and CPU seconds of all processes; `first` is what the first round took of the former."""

    clock: float = 0.0
    cpu: float = 0.0
    first: float = 0.0


def measure(
    pages: list[Page], rules: Rules, count: int, rounds: int, cores: int, session: SparkSession
) -> dict[str, Spent]:
    """What each engine takes; they take turns, a file of pages a round, so that both meet the same noise."""
    spent = {"local": Spent(), "spark": Spent()}
    endless = cycle(pages)
    with TemporaryDirectory() as folder:
        for number in range(rounds):
            source = Path(folder, str(number), "pages.parquet")
            source.parent.mkdir()
            write_pages(source, endless, count // rounds)
            tallies = []
            for name in sorted(spent, reverse=bool(number % 2)):
                started, before = perf_counter(), cpu_seconds()
                if name == "local":
                    tallies.append(extract_here(source, rules, cores))
                else:
                    tallies.append(extract_on_spark(source, rules, session))
                seconds = perf_counter() - started
                spent[name].clock += seconds
                spent[name].first = spent[name].first or seconds
                spent[name].cpu += cpu_seconds() - before
            if tallies[0] != tallies[1]:
                raise RuntimeError(f"the engines disagree: {tallies}")
            source.unlink()
    return spent


def own_processes() -> dict[int, float]:
    """This process and all that it started, and they did; with the CPU seconds of each and its dead children."""
    parents, seconds = {}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        process = int(stat.parent.name)
        parents[process] = int(fields[1])
        seconds[process] = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    own = {os.getpid()}
    while more := {child for child, parent in parents.items() if parent in own} - own:
        own |= more
    return {process: seconds[process] for process in own}


def cpu_seconds() -> float:
    return sum(own_processes().values())


def peak_memory(program: str) -> float:
    """The most memory that one of our processes with this in its command line ever had, in MB."""
    peaks = [0.0]
    for process in own_processes():
        folder = Path(f"/proc/{process}")
        if program in (folder / "cmdline").read_text():
            status = (folder / "status").read_text()
            peaks.append(int(status.partition("VmHWM:")[2].split()[0]) / 1000)
    return max(peaks)


def many_sites(rules: Rules) -> tuple[int, float, float]:
    """The rules of a thousand sites: how many wrappers, how many MB, and how many seconds every worker loads them."""
    sites = len({wrapper.cluster.partition("/")[0] for wrapper in rules.wrappers})
    wrappers = tuple(
        replace(wrapper, cluster=f"{copy}/{wrapper.cluster}")
        for copy in range(1000 // sites)
        for wrapper in rules.wrappers
    )
    text = Rules(rules.schema, wrappers).dumps()
    started = process_time()
    Rules.loads(text)
    return len(wrappers), len(text) / 1e6, process_time() - started


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.spark", description=summary)
    parser.add_argument("--pages", type=int, default=100_000, help="how many, altogether")
    parser.add_argument("--rounds", type=int, default=4, help="files of them; the engines take turns")
    parser.add_argument("--cores", type=int, default=2, help="cores of each engine")
    parser.add_argument("--vertical", choices=VERTICALS, default="restaurant")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        from untemplate.engines import spark

        pages, rules = pages_and_rules(options.vertical, options.sites)
    except (FileNotFoundError, ImportError) as missing:
        console.print(f"skipped: {missing}")
        return 0
    started = perf_counter()
    session = spark.start_session(f"local[{options.cores}]")
    start_up = perf_counter() - started
    spent = measure(pages, rules, options.pages, options.rounds, options.cores, session)
    size = sum(len(page.html) for page in pages) / len(pages) / 1000
    title = f"{options.pages:,} pages of {size:.0f} kB, {options.cores} cores, {options.rounds} rounds"
    table = Table("engine", "seconds", "pages a second", "× local", "CPU ms a page", title=title)
    for name, taken in spent.items():
        rate, share = options.pages / taken.clock, spent["local"].clock / taken.clock
        cpu = 1000 * taken.cpu / options.pages
        table.add_row(name, f"{taken.clock:.1f}", f"{rate:,.0f}", f"{share:.2f}", f"{cpu:.2f}")
    console.print(table)
    console.print(f"Not counted: starting Spark, {start_up:.1f} s.")
    here, there = (spent[name].clock - spent[name].first for name in ("local", "spark"))
    if there:
        console.print(f"Without the first round, in which Java warms up: {here / there:.2f} × local.")
    java, python = peak_memory("java"), peak_memory("pyspark.daemon")
    console.print(
        f"Memory at most: Java, driver and executor in one, {java:,.0f} MB; a Python process, {python:,.0f} MB."
    )
    wrappers, size, taken = many_sites(rules)
    console.print(
        f"Rules of 1,000 sites: {wrappers:,} wrappers, {size:.0f} MB, loaded in {taken:.1f} CPU seconds"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
