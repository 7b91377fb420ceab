"""Whether a change keeps the records of all data sets: byte for byte, with the native core and without it.

python -m benchmarks.measure.records FOLDER                   the first time: learn each site, keep rules and records
python -m benchmarks.measure.records FOLDER                   later: extract with these rules again, and compare
python -m benchmarks.measure.records FOLDER --without-core    compare what is extracted without the native core

A record is compared with everything in it: texts, typed data, XPaths, rules, confidence, reasons.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.progress import track

from benchmarks.data import recipes, shops
from benchmarks.data.labeled_site import LabeledSite
from benchmarks.data.list_pages import sheets
from benchmarks.data.swde import VERTICALS, chosen_sites, labeling_order, labels_of, schema_of
from benchmarks.data.whole_sites import whole_sites
from benchmarks.measure.list_rules import labels
from untemplate import LabelError, Page, Rules, learn

EVERY = 8
"""Of so many SWDE pages one is compared."""
LABELED = 4
SHOWN = 400
WITHOUT_CORE = (
    "import sys; sys.modules['untemplate.native.core'] = None;"
    "from benchmarks.measure.records import main; sys.exit(main(sys.argv[1:]))"
)


@dataclass(frozen=True)
class Case:
    """The pages of a site, and how its rules are learned."""

    name: str
    pages: Sequence[Page]
    learn: Callable[[], Rules]


def cases() -> Iterator[Case]:
    """Yield the sites of all data sets; FileNotFoundError without the data."""
    for site in chosen_sites(VERTICALS, (), EVERY):
        pages = site.pages()
        labeled = labels_of(labeling_order(site)[:LABELED], site.truth())
        yield Case(
            f"swde-{site.vertical}-{site.name}",
            pages,
            partial(learn, pages, labeled, schema_of(site.vertical)),
        )
    for name in recipes.site_names():
        yield from _labeled_case(f"recipes-{name}", recipes.read_site(name))
        yield from _labeled_case(f"recipes-without-scripts-{name}", recipes.read_site(name, scripts=False))
    for name in shops.site_names():
        yield from _labeled_case(f"shops-{name}", shops.read_site(name))
    for blog in whole_sites("blogs"):
        yield Case(f"blogs-{blog.name}", blog.pages, partial(learn, blog.pages, blog.labels(), blog.schema))
    for name, own in groupby(sheets(), key=lambda sheet: sheet.site):
        first, *others = own
        pages = [first.page, *(sheet.page for sheet in others)]
        yield Case(f"lists-{name}", pages, partial(learn, pages[:1], list(labels(first))))


def _labeled_case(name: str, site: LabeledSite | None) -> Iterator[Case]:
    if site is not None:
        yield Case(name, site.pages, partial(learn, site.pages, site.labels(), site.schema))


def records_of(rules: Rules, pages: Sequence[Page]) -> list[str]:
    """Return every record of the pages, complete, as one line of text."""
    lines: list[str] = []
    for page in pages:
        page.release()
        for record in rules.extract([page]):
            fields = (record.page_id, record.cluster, record.position, record.values, record.missing)
            lines.append(repr(fields))
    return lines


def learn_case(case: Case, folder: Path) -> bool:
    """Keep the rules of a site and its records; return False if nothing can be learned."""
    try:
        rules = case.learn()
    except LabelError:
        return False
    rules.save(folder / f"{case.name}.json")
    rules = Rules.load(folder / f"{case.name}.json")
    (folder / f"{case.name}.txt").write_text("\n".join(records_of(rules, case.pages)), "utf-8")
    return True


def compare_case(console: Console, case: Case, folder: Path) -> tuple[int, int]:
    """Print the records of a site that differ from those that were kept; return how many there are, and differ."""
    rules = Rules.load(folder / f"{case.name}.json")
    kept = (folder / f"{case.name}.txt").read_text("utf-8").split("\n")
    now = records_of(rules, case.pages)
    if len(kept) != len(now):
        console.print(f"{case.name}: {len(kept)} records, now {len(now)}", markup=False)
        return len(kept), len(kept)
    differing = [(before, after) for before, after in zip(kept, now, strict=True) if before != after]
    for before, after in differing:
        start = next(i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b)
        shown = slice(max(0, start - 40), start + SHOWN)
        console.print(f"{case.name}:\n- {before[shown]}\n+ {after[shown]}", markup=False)
    return len(kept), len(differing)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.records", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="where rules and records are kept")
    parser.add_argument("--without-core", action="store_true", help="extract without the native core")
    parser.add_argument("--only", default="", metavar="TEXT", help="only sites whose name contains this")
    options = parser.parse_args(arguments)
    if options.without_core:
        passed = [one for one in arguments if one != "--without-core"]
        return subprocess.run([sys.executable, "-c", WITHOUT_CORE, *passed], check=False).returncode
    options.folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else 140)
    learned = compared = differing = 0
    for case in track(cases(), "sites", console=Console(stderr=True), transient=True):
        if options.only not in case.name:
            continue
        if (options.folder / f"{case.name}.txt").exists():
            count, different = compare_case(console, case, options.folder)
            compared += count
            differing += different
        else:
            learned += learn_case(case, options.folder)
    console.print(f"{learned} sites learned; {compared:,} records compared, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
