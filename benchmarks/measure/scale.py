"""Extraction on one machine: two cores against one, memory, and cost against work, on SWDE pages repeated.

python -m benchmarks.measure.scale                       all, with an archive of 5 GB; takes a quarter of an hour
python -m benchmarks.measure.scale --archive 0.5 --pages 2000
python -m benchmarks.measure.scale --only cores --pages 20000 --sources folder
python -m benchmarks.measure.scale --only clusters
python -m benchmarks.measure.scale --only start page --pages 2000       starting, a page end to end, memory of a page
python -m benchmarks.measure.scale --only start --pages 1000 --sites borders amazon          the same of two bookshops
"""

from __future__ import annotations

import argparse
import gzip
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from benchmarks.data.swde import Site, chosen_sites, labeling_order, labels_of, schema_of
from untemplate import Page, Rules, learn
from untemplate.page import Signature
from untemplate.rules import Wrapper

VERTICAL = "book"
LABELED = 4
COUNTS = (1, 2, 1000)
PARTS = ("cores", "growth", "clusters", "start", "page")
FEW_PAGES = 10
BIG_PAGE = 40 << 20
"""Bytes of the page whose memory is measured: many times what Python itself needs."""
PAGE_MEMORY = """
import sys
from pathlib import Path
from benchmarks.measure.scale import peak_memory
from untemplate import Limits, Page
page = Page(html=Path(sys.argv[1]).read_bytes(), limits=Limits(elements=100_000_000))
before = peak_memory("self")
page.root
print((peak_memory("self") - before) * (1 << 20) / len(page.html))
"""


def learn_rules(sites: Sequence[Site]) -> Rules:
    """One file of rules for all these sites."""
    wrappers: list[Wrapper] = []
    for site in sites:
        labels = labels_of(labeling_order(site)[:LABELED], site.truth())
        rules = learn(site.pages(), labels, schema_of(VERTICAL))
        wrappers += (replace(one, cluster=f"{site.name}-{one.cluster}") for one in rules.wrappers)
    return Rules(schema_of(VERTICAL), tuple(wrappers))


def repeated(sites: Sequence[Site], count: int | None = None) -> Iterator[Page]:
    """The pages of all sites, shuffled, again and again."""
    pages = [page for site in sites for page in site.pages()]
    random.Random(1).shuffle(pages)
    return islice(cycle(pages), count)


def write_folder(pages: Iterator[Page], path: Path) -> None:
    path.mkdir()
    for number, page in enumerate(pages):
        (path / f"{number:07}.htm").write_bytes(page.html)


def write_parquet(pages: Iterator[Page], path: Path) -> None:
    schema = pa.schema({"url": pa.string(), "html": pa.binary()})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while rows := [{"url": page.url, "html": page.html} for page in islice(pages, 200)]:
            writer.write_table(pa.Table.from_pylist(rows, schema))


def write_warc(pages: Iterator[Page], path: Path, size: float = float("inf")) -> int:
    """Write a WARC file, compressed by its name, of about so many bytes of pages; how many pages it has."""
    count, written = 0, 0
    with path.open("wb") as file:
        for page in pages:
            body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.html
            head = (
                f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {page.url}\r\n"
                "WARC-Date: 2011-01-01T00:00:00Z\r\nContent-Type: application/http; msgtype=response\r\n"
                f"WARC-Record-ID: <urn:uuid:{count:032x}>\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            record = head.encode() + body + b"\r\n\r\n"
            file.write(gzip.compress(record, 6) if path.suffix == ".gz" else record)
            count += 1
            written += len(record)
            if written >= size:
                break
    return count


@dataclass(frozen=True)
class Run:
    """One run of `untemplate extract`, everything included.

    Attributes:
        seconds: by the clock.
        processor_seconds: of all its processes.
        parent: peak memory in MB of the process that was started; 0 if nobody watched.
        worker: the same of the worker that needs most.
    """

    seconds: float
    processor_seconds: float
    parent: float = 0.0
    worker: float = 0.0


def run(source: Path, rules: Path, cores: int = 2, ending: str = ".jsonl", watched: bool = False) -> Run:
    """Extract on so many cores and no more, with as many workers; watching memory takes some of a core."""
    allowed = sorted(os.sched_getaffinity(0))[:cores]
    program = "import sys; from untemplate.cli import main; sys.exit(main())"
    output = source.with_suffix(f".records{ending}")
    command = ["extract", source, "--rules", rules, "-o", output, "--workers", cores, "--max-failed", 1]
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", program, *map(str, command)],
        preexec_fn=lambda: os.sched_setaffinity(0, allowed),
        stderr=subprocess.DEVNULL,
        env=_with_bytecode(source.parent / "bytecode"),
    )
    parent, worker = 0.0, 0.0
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG if watched else 0)
        if pid:
            break
        parent = max(parent, peak_memory(process.pid))
        worker = max([worker, *map(peak_memory, _children(process.pid))])
        time.sleep(0.02)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    seconds = time.perf_counter() - started
    output.unlink()
    return Run(seconds, used.ru_utime + used.ru_stime, parent, worker)


def _with_bytecode(folder: Path) -> dict[str, str]:
    """The environment of a program that keeps compiled modules, as Python does unless a developer forbids it."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": str(folder)}


def peak_memory(process: int | str) -> float:
    """The most memory that a process has had, in MB; "self" is this one."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0.0


def _children(process: int) -> list[int]:
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    return []


SOURCES = {"folder": write_folder, "pages.parquet": write_parquet, "pages.warc.gz": write_warc}
"""Workers read the first two themselves; only the parent can read the last one."""


def measure_cores(
    sites: Sequence[Site], rules: Path, pages: int, rounds: int, names: Sequence[str], folder: Path
) -> Table:
    """One core and two in turn, from sources of these names to JSONL."""
    table = Table("source", "one core", "two cores", "ratio", "processor time, two / one")
    table.title = f"Two cores against one: {pages:,} pages, pages a second, best of {rounds}"
    for name in names:
        SOURCES[name](repeated(sites, pages), folder / name)
        runs = [(run(folder / name, rules, 1), run(folder / name, rules, 2)) for _ in range(rounds)]
        one, two = (min(runs_of, key=lambda one: one.seconds) for runs_of in zip(*runs, strict=True))
        rates = [f"{pages / each.seconds:,.0f}" for each in (one, two)]
        spent = two.processor_seconds / one.processor_seconds
        table.add_row(name, *rates, f"{one.seconds / two.seconds:.2f}", f"{spent:.2f}")
    return table


def measure_growth(sites: Sequence[Site], rules: Path, gigabytes: float, folder: Path) -> Table:
    """Memory and time of an archive, and of one with a tenth of its pages."""
    table = Table("archive", "pages", "seconds", "processor seconds", "worker MB", "parent MB")
    table.title = "Memory and time against the size of a WARC archive, two cores"
    runs, counts = [], []
    for size in (gigabytes / 10, gigabytes):
        path = folder / f"{size:g}.warc"
        counts.append(write_warc(repeated(sites), path, size * 1e9))
        runs.append(one := run(path, rules, ending=".parquet", watched=True))
        figures = (one.seconds, one.processor_seconds, one.worker, one.parent)
        table.add_row(f"{size:g} GB", f"{counts[-1]:,}", *(f"{figure:.0f}" for figure in figures))
        path.unlink()
    small, big = runs
    ratios = (big.seconds / small.seconds, big.processor_seconds / small.processor_seconds)
    table.add_row("ratio", f"{counts[1] / counts[0]:.2f}", *(f"{ratio:.2f}" for ratio in ratios))
    return table


def measure_clusters(site: Site, rounds: int) -> Table:
    """The same pages with the rules of their cluster alone, beside one other, and among a thousand."""
    pages, alone = site.pages(), learn_rules([site])
    table = Table("the others have", *(f"{count:,}" for count in COUNTS), "last / first", "last / second")
    table.title = (
        f"Wrappers in the rules: ms a page of {site.vertical}-{site.name}, processor time, best of {rounds}"
    )
    for how in ("other hosts", "other paths", "the same URL pattern"):
        others = list(_others(alone.wrappers[0], how))
        rules = [Rules(alone.schema, (*alone.wrappers, *others[: count - 1])) for count in COUNTS]
        times = [[_extract_seconds(some, pages) for some in rules] for _ in range(rounds)]
        one, two, many = (1000 * min(each) / len(pages) for each in zip(*times, strict=True))
        table.add_row(how, *(f"{value:.2f}" for value in (one, two, many, many / one, many / two)))
    return table


def _others(wrapper: Wrapper, how: str) -> Iterator[Wrapper]:
    """Wrappers with the same rules that are not those of the page, by their URL patterns or their signatures."""
    chance = random.Random(1)
    host, _, path = wrapper.url_pattern.removeprefix("http://").partition("/")
    for number in range(1, COUNTS[-1]):
        pattern = {
            "other hosts": f"http://{number}.{host}/{path}",
            "other paths": f"http://{host}/{number}/{path}",
            "the same URL pattern": wrapper.url_pattern,
        }[how]
        other = Signature(tuple(chance.randrange(256) for _ in range(8)))
        yield replace(wrapper, cluster=f"other {number}", url_pattern=pattern, signatures=(other,))


def _extract_seconds(rules: Rules, pages: Sequence[Page]) -> float:
    for page in pages:
        page.release()
    started = time.process_time()
    for _ in rules.extract(pages):
        pass
    return time.process_time() - started


def measure_start(sites: Sequence[Site], rules: Path, pages: int, rounds: int, folder: Path) -> Table:
    """The processor time of a run of few pages, and of each further page, beside `extract_one` in a loop."""
    write_folder(repeated(sites, FEW_PAGES), folder / "few")
    write_folder(repeated(sites, pages), folder / "many")
    loaded, in_memory = Rules.load(rules), list(repeated(sites, pages))
    few, many, loop = [], [], []
    for _ in range(rounds):
        few.append(run(folder / "few", rules, 1, ".jsonl").processor_seconds)
        many.append(run(folder / "many", rules, 1, ".jsonl").processor_seconds)
        loop.append(_extract_seconds(loaded, in_memory))
    a_page = (min(many) - min(few)) / (pages - FEW_PAGES)
    in_loop = min(loop) / pages
    table = Table(f"start, {FEW_PAGES} pages", "a page, folder to JSONL", "a page in a loop", "more")
    table.title = f"Processor time, one worker, {pages:,} pages, best of {rounds}"
    cells = [f"{min(few):.2f} s", *(f"{1000 * seconds:.3f} ms" for seconds in (a_page, in_loop))]
    table.add_row(*cells, f"{a_page / in_loop - 1:+.0%}")
    return table


def measure_page(sites: Sequence[Site], folder: Path) -> Table:
    """The memory of a big page while it is parsed, in multiples of its bytes; each page in a process of its own."""
    table = Table(
        "pages of", "x their bytes", title=f"Memory of a parsed page, made of pages, {BIG_PAGE >> 20} MB"
    )
    for site in sites:
        html = b"".join(page.html for page in site.pages()[:100])
        path = folder / "big.htm"
        path.write_bytes(html * (BIG_PAGE // len(html) + 1))
        found = subprocess.run(
            [sys.executable, "-c", PAGE_MEMORY, path], check=True, capture_output=True, text=True
        )
        table.add_row(site.name, f"{float(found.stdout):.2f}")
    return table


def main(arguments: Sequence[str]) -> int:
    summary = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.scale", description=summary)
    parser.add_argument("--pages", type=int, default=10_000, help="for two cores against one")
    parser.add_argument("--archive", type=float, default=5.0, metavar="GB", help="size of the big archive")
    parser.add_argument("--rounds", type=int, default=3, help="the best of so many counts")
    parser.add_argument(
        "--sites", nargs="+", default=(), metavar="SITE", help="only these bookshops, such as borders"
    )
    parser.add_argument(
        "--sources", nargs="+", choices=SOURCES, default=list(SOURCES), help="for two cores against one"
    )
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="only these")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        sites = chosen_sites([VERTICAL], options.sites)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    with TemporaryDirectory() as name:
        rules = Path(name, "rules.json")
        learn_rules(sites).save(rules)
        if "cores" in options.only:
            table = measure_cores(sites, rules, options.pages, options.rounds, options.sources, Path(name))
            console.print(table)
        if "growth" in options.only:
            console.print(measure_growth(sites, rules, options.archive, Path(name)))
        if "clusters" in options.only:
            console.print(measure_clusters(sites[0], options.rounds))
        if "start" in options.only:
            console.print(measure_start(sites, rules, options.pages, options.rounds, Path(name)))
        if "page" in options.only:
            console.print(measure_page(sites, Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
