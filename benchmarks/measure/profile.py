"""Where the time of extraction goes, on SWDE: its parts, and the lines that cost most; one core.

python -m benchmarks.measure.profile                  all 40 sites
python -m benchmarks.measure.profile --sites zagat
"""

from __future__ import annotations

import linecache
import signal
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from types import FrameType

import lxml.html
from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of
from untemplate import Page, Rules, learn
from untemplate.output.record_files import RecordSink, open_records

LABELED = 4
LINES = 15
INTERVAL = 0.001  # seconds of CPU time; the system may round it up
# The parts by the functions that do them: a moment belongs to the innermost of these that is at work.
PARTS = {
    "parse_natively": "parse",
    "parse_html": "parse with lxml",
    "Page._utf8": "decode",
    "WrapperIndex.match": "match",
    "apply_rules": "select",
    "_RuleRun._read_embedded": "read embedded data",
    "_RuleRun._judge": "ask the committee how sure to be",
    "_RuleRun._find_by_committee": "ask the committee for a value",
    "_Result.make_values": "XPaths and typed data of values",
    "extract_all": "forget the page",
    "_jsonl_sink.<locals>.write": "write",
}


class Sampler:
    """Looks every moment of CPU time at what the program does."""

    def __init__(self) -> None:
        self.parts: Counter[str] = Counter()
        self.lines: Counter[tuple[str, int]] = Counter()
        self.seconds = 0.0

    def __enter__(self) -> Sampler:
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def _look(self, _: int, frame: FrameType | None) -> None:
        if frame is None:
            return
        self.lines[frame.f_code.co_filename, frame.f_lineno or frame.f_code.co_firstlineno] += 1
        inner: FrameType | None = frame
        while inner is not None and _name(inner) not in PARTS:
            inner = inner.f_back
        self.parts[PARTS[_name(inner)] if inner else "other"] += 1


def _name(frame: FrameType) -> str:
    return frame.f_code.co_qualname


def _line(name: str, number: int) -> str:
    """File, line and what stands there."""
    path = Path(name)
    return f"{path.parent.name}/{path.name}:{number}  {linecache.getline(name, number).strip()}"


def extract_all(rules: Rules, pages: Sequence[Page], write: RecordSink) -> None:
    for page in pages:
        write(rules.extract_one(page))
        page.release()


def measure(site: Site, sampler: Sampler) -> float:
    """Sample the extraction of all pages of a site; the CPU seconds of parsing them with lxml."""
    pages, schema = site.pages(), schema_of(site.vertical)
    rules = learn(pages, labels_of(labeling_order(site)[:LABELED], site.truth()), schema)
    for page in pages:
        page.release()
    started = process_time()
    for page in pages:
        lxml.html.document_fromstring(page.html)
    parse = process_time() - started
    started = process_time()
    with (
        TemporaryDirectory() as folder,
        open_records(Path(folder) / "records.jsonl", schema) as write,
        sampler,
    ):
        extract_all(rules, pages, write)
    sampler.seconds += process_time() - started
    return parse


def show(console: Console, sampler: Sampler, parse: float) -> None:
    samples = sampler.parts.total()
    title = (
        f"Extraction, {sampler.seconds / parse:.2f} × the time of lxml.html.document_fromstring on all pages"
    )
    table = Table("part", "share", "× lxml parse", title=title)
    for part, count in sampler.parts.most_common():
        share = count / samples
        table.add_row(part, f"{share:.1%}", f"{share * sampler.seconds / parse:.3f}")
    console.print(table)
    table = Table("line", "share", title="Lines that cost most, with the C code that they call")
    for (name, number), count in sampler.lines.most_common(LINES):
        table.add_row(escape(_line(name, number)), f"{count / samples:.1%}")
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    console, chosen = open_sites(site_parser("profile", __doc__).parse_args(arguments))
    progress = Console(stderr=True)
    sampler = Sampler()
    parse = sum(measure(site, sampler) for site in track(chosen, "sites", console=progress, transient=True))
    show(console, sampler, parse)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
