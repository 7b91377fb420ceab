"""Runs in the environment of a peer: an order on standard input, an answer on standard output, both JSON."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import lxml.html

from benchmarks.peers.reading import Example, Extract, decode

MODULES = {
    "copied XPaths (parsel)": "copied",
    "copied XPaths from ids (parsel)": "identified",
    "Scrapling": "relocated",
    "AutoScraper": "stacked",
    "scrapely": "annotated",
    "webstruct": "tagged",
}


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Learn from the labeled pages, extract from the tested ones, timing both extraction and parsing."""
    folder = Path(order["folder"])
    examples, tested = (
        {page: Example(decode(folder / page), values) for page, values in order[part].items()}
        for part in ("labeled", "tested")
    )
    peer = import_module(f"benchmarks.peers.{MODULES[order['peer']]}")
    extract: Extract = peer.learn(list(examples.values()), list(tested.values()))
    found: dict[str, dict[str, str | None]] = {}
    seconds = []
    for page, example in tested.items():
        started = process_time()
        found[page] = extract(example.html)
        seconds.append(process_time() - started)
    ratios = []
    for page, own in zip(tested, seconds, strict=True):
        html = (folder / page).read_bytes()
        started = process_time()
        lxml.html.document_fromstring(html)
        ratios.append(own / (process_time() - started))
    return {"found": found, "ratios": ratios}


def main() -> None:
    with redirect_stdout(sys.stderr):
        said = answer(json.load(sys.stdin))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
