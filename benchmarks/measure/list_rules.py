"""How well rules for lists hold: learned on the first of a site's three list pages, applied to the other two.

python -m benchmarks.measure.list_rules                   74 sites of `lists`
python -m benchmarks.measure.list_rules --site etsy.com   only these, with the rule of each
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from time import process_time

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import untemplate as ut
from benchmarks.data.list_pages import Sheet, hits, sheets
from benchmarks.data.swde import Score
from untemplate.page import visible_text
from untemplate.page.locating import letters_and_digits
from untemplate.rules.record_pages import RecordPage, split_records


def labels(sheet: Sheet, every: int = 1) -> Iterator[ut.Label]:
    """The true records of a page, or some of them, as a person would label them; columns have no names."""
    for number, cells in enumerate(sheet.given[::every]):
        for column, cell in enumerate(cells):
            if letters_and_digits(cell):
                yield ut.Label(sheet.page.id, f"column_{column}", cell, record=str(number))


def rows(rules: ut.Rules, page: ut.Page) -> list[RecordPage]:
    """The records of a page that rules know as one of theirs."""
    records = rules.extract_page(page)
    rule = next((one.records for one in rules.wrappers if one.cluster == records[0].cluster), None)
    return split_records(rule, page) if rule and records[0].position else []


def text_of(row: RecordPage) -> str:
    return letters_and_digits(visible_text(row.tree))


def matched(found: Sequence[str], records: Sequence[Sequence[str]]) -> int:
    """How many detected records hold all cells of a true one of their own."""
    holding = np.array(
        [[all(cell in text for cell in cells) for cells in records] for text in found], np.int8
    )
    if not holding.size:
        return 0
    return int((maximum_bipartite_matching(csr_array(holding)) >= 0).sum())


def score(rules: ut.Rules, others: Iterable[Sheet]) -> dict[str, list[float]]:
    """Of each page: record F1 as for detection, that of a perfect answer, and with like records told apart."""
    figures: dict[str, list[float]] = {"F1": [], "the best possible": [], "with a row of its own": []}
    for sheet in others:
        found = [text_of(row) for row in rows(rules, sheet.page)]
        itself = hits(["|".join(cells) for cells in sheet.records], sheet.records)
        counts = (len(found), len(sheet.records))
        figures["F1"].append(Score(len(hits(found, sheet.records)), *counts).f1)
        figures["the best possible"].append(len(itself) / len(sheet.records))
        figures["with a row of its own"].append(Score(matched(found, sheet.records), *counts).f1)
    return figures


def ways(first: Sheet) -> Iterator[tuple[str, ut.Rules]]:
    """Rules from what is known of a site's first page."""
    yield "all its true records", ut.learn([first.page], labels(first))
    yield "three of them", ut.learn([first.page], labels(first, max(1, len(first.records) // 3)))
    found = ut.find_records(first.page)
    yield (
        "what find_records found",
        ut.learn([first.page], found) if found else ut.Rules(ut.Schema("", {}), ()),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--site", action="append", default=[], help="only these sites, with their rules")
    options = parser.parse_args()
    console, progress = Console(width=160), Console(stderr=True)
    totals: dict[str, dict[str, list[float]]] = {}
    started = process_time()
    by_site = [list(own) for _, own in groupby(sheets(options.site), key=lambda sheet: sheet.site)]
    for first, *others in track(by_site, console=progress, description="Lists"):
        for way, rules in ways(first):
            for name, figures in score(rules, others).items():
                totals.setdefault(way, {}).setdefault(name, []).extend(figures)
                if options.site:
                    console.print(f"{first.site}, {way}: {name} {figures}", markup=False)
            if options.site and rules.wrappers and rules.wrappers[0].records:
                console.print(f"  {rules.wrappers[0].records.selectors[0].xpath}", markup=False)
    table = Table("learned from", *next(iter(totals.values())), title="Record F1 on the other two pages")
    for way, columns in totals.items():
        table.add_row(way, *(f"{np.mean(figures):.3f}" for figures in columns.values()))
    console.print(table)
    console.print(f"{(process_time() - started) / len(by_site):.1f} s a site")


if __name__ == "__main__":
    main()
