"""Heal sites that did not change, with crawls that share few pages with the one the rules are from.

python -m benchmarks.measure.unchanged                       values after healing ÷ before; should be 1.00
python -m benchmarks.measure.unchanged --only swde -v        and, site by site, what was lost or changed
python -m benchmarks.measure.unchanged --half even --count 6

The pages of a site are divided at random. Rules are learned from one half; the later crawl is as big and has a share
of these pages, the rest from the other half. Values of all pages are compared before and after.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.labeled_site import choose_half
from benchmarks.data.swde import VERTICALS, chosen_sites, labels_of, schema_of
from benchmarks.measure.redesigns import sites as made_up_sites
from untemplate import Label, Page, Rules, Schema
from untemplate.errors import LabelError
from untemplate.pipeline import learn
from untemplate.watching import Healed, heal_site

SHARES = (0.5, 0.1, 0.05, 0.0)
FAMILIES = ("swde", "made-up")
LABELED = 6  # pages of the first half
MADE_UP_SITES = 40

Texts = tuple[str, ...]
Values = dict[tuple[str, str], Texts]
"""Page and attribute → texts of the values."""


@dataclass(frozen=True)
class Example:
    """A site of a family: its pages, and labels for all of them."""

    name: str
    family: str
    schema: Schema
    pages: list[Page]
    labels: list[Label]


@dataclass(frozen=True)
class Case:
    """One site and one crawl: the values of all pages before and after."""

    site: str
    family: str
    share: float
    healed: Healed
    before: Values
    after: Values

    @property
    def kept(self) -> int:
        """How many values come out as before."""
        return sum(self.after.get(place) == texts for place, texts in self.before.items())

    def lost(self) -> Counter[tuple[str, str]]:
        """Count the values that changed, by attribute and what became of them."""
        counts: Counter[tuple[str, str]] = Counter()
        for (page, name), texts in self.before.items():
            now = self.after.get((page, name))
            if now != texts:
                counts[name, "changed" if now else "lost"] += 1
        return counts


def examples(families: Sequence[str], names: Sequence[str], half: str, count: int | None) -> list[Example]:
    """Return the sites that were asked for."""
    found = [example for family in families for example in _FAMILIES[family]()]
    if names:
        return [example for example in found if example.name in names]
    chosen: list[Example] = []
    for family in families:
        of_family = {example.name: example for example in found if example.family == family}
        chosen += [of_family[name] for name in choose_half(list(of_family), half, count)]
    return chosen


def _swde() -> Iterator[Example]:
    for site in chosen_sites(VERTICALS, ()):
        pages, truth = site.pages(), site.truth()
        labels = labels_of([page.id for page in pages], truth)
        yield Example(f"{site.vertical}-{site.name}", "swde", schema_of(site.vertical), pages, labels)


def _made_up() -> Iterator[Example]:
    for site in made_up_sites(MADE_UP_SITES, 200):
        yield Example(site.name, "made-up", site.schema, list(site.pages), site.labels)


_FAMILIES = {"swde": _swde, "made-up": _made_up}


def examine(site: Example) -> Iterator[Case]:
    """Learn from one half of a site's pages, and heal with each of the crawls."""
    pages = Random(0).sample(site.pages, len(site.pages))
    old, new = pages[: len(pages) // 2], pages[len(pages) // 2 :]
    rules = _learn(site, old)
    if rules is None:
        return
    before = values_of(rules, pages)
    for share in SHARES:
        shared = round(share * len(old))
        healed = heal_site(rules, [*old[:shared], *new[shared:]])
        yield Case(site.name, site.family, share, healed, before, values_of(healed.rules, pages))


def _learn(site: Example, pages: Sequence[Page]) -> Rules | None:
    """Learn from the first pages with values; None if the labels are of no use."""
    with_values = {label.page for label in site.labels if label.value is not None}
    labeled = [page.id for page in pages if page.id in with_values][:LABELED]
    try:
        return learn(pages, [label for label in site.labels if label.page in labeled], site.schema)
    except LabelError:
        return None


def values_of(rules: Rules, pages: Iterable[Page]) -> Values:
    """Return what comes out of pages."""
    values: Values = {}
    for record in rules.extract(pages):
        for name, found in record.values.items():
            texts = tuple(value.text for value in found)
            values[record.page_id, name] = (*values.get((record.page_id, name), ()), *texts)
    return values


def show(console: Console, cases: Sequence[Case]) -> None:
    table = Table(
        *("sites", "shared pages", "values before", "the same after", "share", "worst site"),
        *("learned again", "lost", "refused"),
        title="Values of unchanged sites after healing",
    )
    for family in dict.fromkeys(case.family for case in cases):
        for share in SHARES:
            table.add_row(*_row(family, share, [case for case in cases if case.family == family]))
        table.add_section()
    console.print(table)


def _row(family: str, share: float, cases: Sequence[Case]) -> list[str]:
    of_share = [case for case in cases if case.share == share and case.before]
    before, kept = sum(len(case.before) for case in of_share), sum(case.kept for case in of_share)
    worst = min((case.kept / len(case.before) for case in of_share), default=1.0)
    return [
        f"{len(of_share)} {family}",
        f"{share:.0%}",
        f"{before:,}",
        f"{kept:,}",
        f"{kept / max(1, before):.4f}",
        f"{worst:.3f}",
        str(sum(len(case.healed.healed) for case in of_share)),
        str(sum(len(case.healed.lost) for case in of_share)),
        str(sum(len(getattr(case.healed, "refused", ())) for case in of_share)),
    ]


def show_failures(console: Console, cases: Sequence[Case]) -> None:
    for case in cases:
        healed = [f"{one.cluster} {one.attribute}" for one in case.healed.healed]
        lost = [f"{one.cluster} {one.attribute}: {one.why}" for one in case.healed.lost]
        if case.kept < len(case.before) or healed or lost:
            console.print(
                f"{case.site} at {case.share:.0%}: {case.kept} of {len(case.before)}, "
                f"{dict(case.lost())}, learned again {healed}, lost {lost}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.unchanged", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=FAMILIES, help="only these families")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these")
    parser.add_argument(
        "--half", choices=("even", "odd", "all"), default="all", help="of each family's sites"
    )
    parser.add_argument("--count", type=int, help="of each family, as many sites")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what was lost or changed")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 150)
    try:
        chosen = examples(options.only, options.sites, options.half, options.count)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    cases: list[Case] = []
    for site in track(chosen, "sites", console=Console(stderr=True), transient=True):
        cases += examine(site)
    show(console, cases)
    if options.verbose:
        show_failures(console, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
