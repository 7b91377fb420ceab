"""The native core beside lxml: the same trees on every page of the data sets, and on pages made at random.

python -m benchmarks.measure.native                         all pages of all data sets, and 100,000 random ones
python -m benchmarks.measure.native --sets courts recipes   these sets
python -m benchmarks.measure.native --random 1000000 --seed 3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree
from rich.console import Console
from rich.progress import track

from benchmarks.data.html_noise import make_noise
from benchmarks.data.swde import unpacked
from untemplate import Page
from untemplate.errors import PageError

SETS = ("blogs", "changes", "courts", "lists", "recipes", "shops", "swde")
SHOWN = 300

_Nodes = list[tuple[Any, ...]]


def find_difference(html: bytes) -> tuple[object, object] | None:
    """Return the first nodes in which the trees of the core and of lxml differ; None if they do not."""
    native, plain = _nodes(html, is_plain=False), _nodes(html, is_plain=True)
    for mine, theirs in zip(native, plain, strict=False):
        if mine != theirs:
            return mine, theirs
    return None if len(native) == len(plain) else (len(native), len(plain))


def _nodes(html: bytes, is_plain: bool) -> _Nodes:
    """Return depth, tag, text, tail and attributes of every node, in document order; why there are none otherwise."""
    page = Page(html=html)
    try:
        root = page.tree if is_plain else page.root
    except PageError as error:
        return [(str(error),)]
    nodes: _Nodes = []
    waiting = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        if element.tag is etree.Comment:
            nodes.append((depth, "comment", element.tail))
            continue
        tail = element.tail if depth else None
        nodes.append((depth, element.tag, element.text, tail, element.items()))
        waiting += reversed([(child, depth + 1) for child in element.iterchildren()])
    return nodes


def pages_of(data_set: str) -> Iterator[Path]:
    """Yield the HTML files of a data set."""
    for path in sorted(unpacked(data_set).rglob("*")):
        if path.suffix in (".htm", ".html"):
            yield path


def compare_pages(console: Console, data_set: str) -> int:
    """Print the pages of a data set whose trees differ, and return how many there are."""
    paths = list(pages_of(data_set))
    differing = 0
    for path in track(paths, data_set, console=Console(stderr=True), transient=True):
        if difference := find_difference(path.read_bytes()):
            differing += 1
            console.print(f"{path}: {difference}"[:SHOWN], markup=False)
    console.print(f"{data_set}: {len(paths):,} pages, {differing} differ")
    return differing


def compare_random(console: Console, count: int, seed: int) -> int:
    """Print the random pages whose trees differ, and return how many there are."""
    random = Random(seed)
    differing = 0
    for _ in track(range(count), "random", console=Console(stderr=True), transient=True):
        html = make_noise(random)
        if difference := find_difference(html):
            differing += 1
            console.print(f"{html!r}: {difference}"[:SHOWN], markup=False)
    console.print(f"random: {count:,} pages of seed {seed}, {differing} differ")
    return differing


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.native", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS, help="only these")
    parser.add_argument("--random", type=int, default=100_000, metavar="N", help="so many random pages")
    parser.add_argument("--seed", type=int, default=1, help="of the random pages")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    differing = sum(compare_pages(console, data_set) for data_set in options.sets)
    differing += compare_random(console, options.random, options.seed)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
