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


def answer_details(order: dict[str, Any]) -> dict[str, Any]:
    """Learn from one labeled detail page, extract from the tested ones, timing both extraction and parsing."""
    from benchmarks.peers.todays import LEARNERS

    folder = Path(order["folder"])
    labeled, tested = (
        {page: Example(decode(folder / page), values) for page, values in order[part].items()}
        for part in ("labeled", "tested")
    )
    [example] = labeled.values()
    judged = [page for page in tested.values() if page.values]
    extract = LEARNERS[order["peer"]](example, judged, order["many"])
    found: dict[str, dict[str, list[str]]] = {}
    times: list[tuple[float, float]] = []
    for name, page in tested.items():
        started = process_time()
        found[name] = extract(page.html)
        extracted = process_time()
        lxml.html.document_fromstring((folder / name).read_bytes())
        times.append((extracted - started, process_time() - extracted))
    return {"found": found, "times": times}


def answer_lists(order: dict[str, Any]) -> dict[str, Any]:
    """Read the rows of list pages; a page on which the peer fails has none."""
    from benchmarks.peers.rows_of_lists import READERS

    read = READERS[order["peer"]]
    found: dict[str, list[list[str]]] = {}
    for page, examples in order["lists"].items():
        try:
            found[page] = read(decode(Path(order["folder"]) / page), examples)
        except Exception as error:  # any error of a peer is its failure on this page
            print(f"{page}: {type(error).__name__}: {error}", file=sys.stderr)
            found[page] = []
    return {"found": found}


def main() -> None:
    order = json.load(sys.stdin)
    kinds = {"many": answer_details, "lists": answer_lists}
    answering = next((kinds[name] for name in kinds if name in order), answer)
    with redirect_stdout(sys.stderr):
        said = answering(order)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
