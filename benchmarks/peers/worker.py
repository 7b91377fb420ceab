"""Runs in the environment of a peer: an order on standard input, an answer on standard output, both JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import lxml.html

from benchmarks.peers.reading import Example, decode

MODULES = {
    "copied XPaths (parsel)": "copied",
    "Scrapling": "relocated",
    "AutoScraper": "stacked",
    "scrapely": "annotated",
    "webstruct": "tagged",
}

Extract = Callable[[str], dict[str, str | None]]


def answer(order: dict[str, Any]) -> dict[str, Any]:
    """Learn from the labelled pages, extract from the tested ones, timing both extraction and parsing."""
    folder = Path(order["folder"])
    examples = [
        Example(decode(folder / page), {name: texts for name, texts in values.items() if texts})
        for page, values in order["labelled"].items()
    ]
    extract: Extract = import_module(f"benchmarks.peers.{MODULES[order['peer']]}").learn(examples)
    found, ratios = {}, []
    for page in order["tested"]:
        html = decode(folder / page)
        started = process_time()
        found[page] = extract(html)
        extracted = process_time()
        lxml.html.document_fromstring((folder / page).read_bytes())
        ratios.append((extracted - started) / (process_time() - extracted))
    return {"found": found, "ratios": ratios}


def main() -> None:
    with redirect_stdout(sys.stderr):
        said = answer(json.load(sys.stdin))
    print(json.dumps(said))


if __name__ == "__main__":
    main()
