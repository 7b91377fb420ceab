"""Records of list pages by us and by other libraries, in one run: the same pages, the same measure.

python -m benchmarks.measure.list_peers                 lists, courts and shops
python -m benchmarks.measure.list_peers --every 3       every third page

AutoScraper learns from the first two records of each page; the others, and we, get nothing. A row is right if its
text contains all cells of exactly one true record (`lists`), or the key of exactly one (`courts`, `shops`).
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.courts import court_pages
from benchmarks.data.swde import Score
from benchmarks.measure.lists import hits, sheets
from benchmarks.measure.row_columns import shop_lists
from benchmarks.peers import LIST_PEERS, PeerFailed, Uninstallable, install, run_list_peer
from untemplate import Page, find_records
from untemplate.page.locating import letters_and_digits

# Shops: pages with fewer products are not judged.
MIN_PRODUCTS = 4


@dataclass(frozen=True)
class ListCase:
    """A list page, the letters of what tells its true records, and the cells of the first two as they are given."""

    set_name: str
    page: Page
    records: list[list[str]]
    examples: list[list[str]]


def cases() -> Iterator[ListCase]:
    """All pages of the three sets."""
    for sheet in sheets():
        yield ListCase("lists", sheet.page, sheet.records, sheet.given[:2])
    for court in court_pages():
        keys = court.keys()
        examples = [[opinion.get("docket", ""), opinion.get("name", "")] for opinion in court.opinions[:2]]
        if keys:
            yield ListCase("courts", court.page, [[key] for key in keys], examples)
    for _, page, records in shop_lists():
        if len(records) >= MIN_PRODUCTS:
            yield ListCase(
                "shops", page, [[record.key] for record in records], [[record.text] for record in records[:2]]
            )


def score_texts(texts: Sequence[str], records: Sequence[Sequence[str]]) -> Score:
    letters = [text for raw in texts if (text := letters_and_digits(raw))]
    return Score(len(hits(letters, records)), len(letters), len(records))


def measure_peer(name: str, chosen: Sequence[ListCase]) -> dict[str, float] | str:
    """The mean F1 of a peer on each set; or why there is none."""
    try:
        install(name)
    except Uninstallable as reason:
        return str(reason)
    with tempfile.TemporaryDirectory() as folder:
        order = {}
        for number, case in enumerate(chosen):
            (Path(folder) / f"{number}.html").write_text(case.page.text, "utf-8", errors="replace")
            order[f"{number}.html"] = case.examples
        try:
            found = run_list_peer(name, Path(folder), order)
        except PeerFailed as reason:
            return str(reason)
    scores: dict[str, list[float]] = {}
    for number, case in enumerate(chosen):
        rows = [" ".join(row) for row in found[f"{number}.html"]]
        scores.setdefault(case.set_name, []).append(score_texts(rows, case.records).f1)
    return {name: float(np.mean(figures)) for name, figures in scores.items()}


def measure_ourselves(chosen: Sequence[ListCase]) -> dict[str, float]:
    scores: dict[str, list[float]] = {}
    for case in track(chosen, console=Console(stderr=True), description="untemplate"):
        texts = [row.text for row in find_records(Page(html=case.page.html))]
        scores.setdefault(case.set_name, []).append(score_texts(texts, case.records).f1)
    return {name: float(np.mean(figures)) for name, figures in scores.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="only every so many pages")
    options = parser.parse_args()
    chosen = list(islice(cases(), 0, None, options.every))
    sets = list(dict.fromkeys(case.set_name for case in chosen))
    counts = [sum(case.set_name == name for case in chosen) for name in sets]
    titles = [f"{name} ({count} pages)" for name, count in zip(sets, counts, strict=True)]
    table = Table("record F1, mean over pages", *titles)
    own = measure_ourselves(chosen)
    table.add_row("untemplate", *(f"{own[name]:.3f}" for name in sets))
    for peer in LIST_PEERS:
        result = measure_peer(peer, chosen)
        figures = [result] if isinstance(result, str) else [f"{result[name]:.3f}" for name in sets]
        table.add_row(peer, *figures)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
