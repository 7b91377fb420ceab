"""What pages cost that were made to be slow: CPU seconds at two sizes, and how much the time grows.

python -m benchmarks.measure.hostile [--size 10000]

Linear work takes four times as long on a page four times as big, quadratic work sixteen times. Memory is the most
that a process of its own needed, with the library itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

import untemplate as ut

SIZE, GROWTH = 10_000, 4
PHONE = "<p>Tel: <b>555-0100</b></p>"
OTHERS = [f"<h1>{n}</h1><p>Tel: <b>555-010{n}</b></p>" for n in range(4)]
TAG = "x" * 90
DEPTH = 200


class Cost(NamedTuple):
    """What a page cost: seconds of CPU time, and the memory of the process in MB."""

    seconds: float
    memory: int


def _other_pages() -> list[ut.Page]:
    return [ut.Page(html=html, id=str(number)) for number, html in enumerate(OTHERS)]


def _extract(html: str) -> None:
    rules = ut.learn(_other_pages(), [ut.Label("0", "phone", "555-0100")])
    rules.extract_one(ut.Page(html=html))


def _learn(html: str) -> None:
    page = ut.Page(html=html, id="hostile")
    ut.learn([page, *_other_pages()], [ut.Label("hostile", "phone", "555-0100")])


def _find_records(html: str) -> None:
    ut.find_records(ut.Page("http://a.example/", html))


def _many(unit: str, size: int) -> str:
    return "".join(unit.format(number) for number in range(size))


CASES: dict[str, tuple[Callable[[str], None], Callable[[int], str]]] = {
    "extract: comments": (_extract, lambda size: PHONE + "<!--x-->" * size),
    "extract: texts between comments": (_extract, lambda size: PHONE + "<!--x-->a" * size),
    "find records: links": (_find_records, lambda size: _many("<a href='/{0}'>item {0}</a> ", size)),
    "find records: list of links": (
        _find_records,
        lambda size: _many("<li><a href='/{0}'>item {0}</a>", size),
    ),
    "learn: distinct tags": (_learn, lambda size: _many("<t{0}>v{0}</t{0}>", size) + PHONE),
    "learn: class tokens": (
        _learn,
        lambda size: f"<p class='{_many('c{0} ', size)}'>Tel: <b>555-0100</b></p>",
    ),
    "learn: deep page of long tags": (
        _learn,
        lambda size: f"<{TAG}>" * DEPTH + _many("<b>v{0}</b>", size // 10) + PHONE,
    ),
}


def measure_page(case: str, size: int) -> Cost:
    """Return what the page of a case costs at a size; in a process that has done nothing else, if memory counts."""
    work, make_page = CASES[case]
    work(make_page(1))  # imports, and whatever is done once
    html = make_page(size)
    started = time.process_time()
    work(html)
    return Cost(time.process_time() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", type=int, default=SIZE, help="units of the small page")
    options = parser.parse_args(arguments)
    sizes = (options.size, options.size * GROWTH)
    table = Table("page", *(f"{size:,}, s" for size in sizes), "growth", "memory, MB")
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
        for case in CASES:
            small, large = (processes.apply(measure_page, (case, size)) for size in sizes)
            growth = large.seconds / max(small.seconds, 0.001)
            table.add_row(
                case, f"{small.seconds:.2f}", f"{large.seconds:.2f}", f"{growth:.1f}", str(large.memory)
            )
    Console(width=120).print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
