"""How much of SWDE pages is read, and that reading them in part changes no record.

python -m benchmarks.measure.reading                  all 40 sites
python -m benchmarks.measure.reading --sites zagat
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from unittest.mock import patch

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of
from untemplate import Page, Rules, learn

LABELED = 4


@dataclass
class Result:
    """Of the pages of a site, how many are read in part, of how many that changes the record, the shares read."""

    pages: int
    in_part: int = 0
    different: int = 0
    read: float = 0.0


def measure(site: Site) -> Result:
    """Every page extracted from as it is done, and read whole."""
    pages = site.pages()
    rules = learn(pages, labels_of(labeling_order(site)[:LABELED], site.truth()), schema_of(site.vertical))
    plain = Rules(rules.schema, tuple(replace(wrapper, stops=()) for wrapper in rules.wrappers))
    result = Result(len(pages))
    for page in pages:
        page.release()
        lengths: list[int] = []
        with patch.object(Page, "read", _noting(lengths)):
            record = rules.extract_one(page)
        if page.is_parsed:
            lengths.append(len(page.html))
        else:
            result.in_part += 1
        result.read += sum(lengths) / len(page.html)
        page.release()
        result.different += record != plain.extract_one(page)
        page.release()
    return result


def _noting(lengths: list[int]) -> Callable[[Page, int], object]:
    """Page.read that notes how much it reads."""
    original = Page.read

    def read(page: Page, end: int) -> object:
        lengths.append(end)
        return original(page, end)

    return read


def main(arguments: Sequence[str]) -> int:
    console, chosen = open_sites(site_parser("reading", __doc__).parse_args(arguments))
    progress = Console(stderr=True)
    table = Table("site", "pages", "read in part", "bytes read", "records changed", title="Reading in part")
    results: list[Result] = []
    for site in track(chosen, "sites", console=progress, transient=True):
        results.append(measure(site))
        _add(table, f"{site.vertical}-{site.name}", results[-1:])
    _add(table, "all", results)
    console.print(table)
    return int(any(result.different for result in results))


def _add(table: Table, name: str, results: Sequence[Result]) -> None:
    pages = sum(result.pages for result in results)
    share = sum(result.in_part for result in results) / pages
    read = sum(result.read for result in results) / pages
    different = sum(result.different for result in results)
    table.add_row(name, f"{pages:,}", f"{share:.1%}", f"{read:.1%}", str(different))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
