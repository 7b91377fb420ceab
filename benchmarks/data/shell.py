"""What the commands of benchmarks on SWDE share: options for its sites, and what they say without the data."""

from __future__ import annotations

import argparse
import sys

from rich.console import Console

from benchmarks.data.swde import VERTICALS, Site, chosen_sites


def site_parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """The parser of a benchmark that takes some sites or all; `doc` is its docstring."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.measure.{name}", description=(doc or "").partition("\n")[0]
    )
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of N pages only one: a quick look")
    return parser


def open_sites(options: argparse.Namespace) -> tuple[Console, list[Site]]:
    """Where to print, and the sites that were asked for; the command ends where the data does not exist."""
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        return console, chosen_sites(options.vertical, options.sites, options.every)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        sys.exit(0)
