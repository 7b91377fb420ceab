"""One site plays the redesign of another: rules of a SWDE site healed on a second site that tells of the same things.

python -m benchmarks.measure.disguises                       each site healed from the one it shares most with
python -m benchmarks.measure.disguises --verticals book -v   and, attribute by attribute, what became of it

Things are matched by name. The second site's page of a thing gets the URL of the first site's; no label of the second
site is used. A value that both sites write in their own words cannot be found again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import (
    VERTICALS,
    Score,
    Site,
    Truth,
    labeling_order,
    labels_of,
    schema_of,
    score,
    sites,
)
from untemplate import Page, Rules, learn
from untemplate.page.same_values import folded_words
from untemplate.watching import BELLWETHERS, finish_wrapper, heal_site

LABELED = 4  # pages of the first site
MIN_SHARED = 5  # things, to be worth watching
NAMES = {"auto": "model", "book": "title", "nbaplayer": "name", "restaurant": "name"}


@dataclass(frozen=True)
class Case:
    """A site healed from another."""

    vertical: str
    old: str
    new: str
    shared: int
    attributes: set[str]  # that have a rule on the old site and are on the new one
    healed: set[str]
    scores: dict[str, Score]  # on the pages of the new site that were not watched


def names(site: Site, truth: Truth) -> dict[tuple[str, ...], str]:
    """The page of each thing, by the words of its name; things that several pages are about are left out."""
    attribute = NAMES[site.vertical]
    found: dict[tuple[str, ...], list[str]] = {}
    for page, values in truth.items():
        if values.get(attribute):
            found.setdefault(folded_words(values[attribute][0]), []).append(page)
    return {name: pages[0] for name, pages in found.items() if len(pages) == 1}


def closest(new: Site, others: Sequence[Site]) -> tuple[Site, dict[str, str]] | None:
    """The other site that shares most things, and its page of each of them by that of the new site."""
    own = names(new, new.truth())
    best: tuple[Site, dict[str, str]] | None = None
    for old in others:
        theirs = names(old, old.truth())
        pages = {own[name]: theirs[name] for name in own if name in theirs}
        if old != new and len(pages) >= MIN_SHARED and (best is None or len(pages) > len(best[1])):
            best = old, pages
    return best


def examine(old: Site, new: Site, shared: dict[str, str]) -> Case:
    schema = schema_of(new.vertical)
    old_pages, truth = old.pages(), new.truth()
    rules = learn(old_pages, labels_of(labeling_order(old)[:LABELED], old.truth()), schema)
    watched = dict(sorted(shared.items())[:BELLWETHERS])
    again = [page for page in old_pages if page.id in set(watched.values())]
    biggest = max(rules.wrappers, key=lambda wrapper: len(wrapper.rules))
    rules = Rules(schema, (finish_wrapper(replace(biggest, url_pattern="*"), again, schema, {}),))
    fresh = [Page(page.url, page.html, watched.get(page.id, f"new/{page.id}")) for page in new.pages()]
    healed = heal_site(rules, fresh)
    others = [page for page in new.pages() if page.id not in watched]

    def extract(page: Page) -> dict[str, str | None]:
        record = healed.rules.extract_one(page)
        return {name: record[name] for name in schema.attributes}

    scores = score(extract, others, truth)
    return Case(
        new.vertical,
        old.name,
        new.name,
        len(shared),
        set(biggest.rules) & set(scores),
        {repair.attribute for repair in healed.healed} & set(scores),
        scores,
    )


def show(console: Console, found: Sequence[Case]) -> None:
    table = Table(
        *("vertical", "sites", "attributes", "healed", "F1 of the healed", "precision", "F1 of all"),
        title="Sites healed from another site of their vertical",
    )
    for vertical in (*VERTICALS, "all"):
        own = [case for case in found if vertical in (case.vertical, "all")]
        healed = [case.scores[name] for case in own for name in case.healed]
        every = [case.scores[name] for case in own for name in case.attributes]
        if own:
            table.add_row(
                vertical,
                str(len(own)),
                str(len(every)),
                f"{len(healed)} ({len(healed) / len(every):.0%})",
                _mean([one.f1 for one in healed]),
                _mean([one.precision for one in healed]),
                _mean([one.f1 for one in every]),
            )
    console.print(table)


def _mean(figures: Sequence[float]) -> str:
    return f"{sum(figures) / len(figures):.3f}" if figures else ""


def show_cases(console: Console, found: Sequence[Case]) -> None:
    for case in found:
        cells = (
            f"{name} {'healed' if name in case.healed else 'lost'} {case.scores[name].f1:.2f}"
            for name in sorted(case.attributes)
        )
        console.print(
            f"{case.vertical} {case.old} → {case.new} ({case.shared} shared): {', '.join(cells)}",
            highlight=False,
        )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.disguises", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--verticals", nargs="+", default=VERTICALS, choices=VERTICALS, metavar="VERTICAL")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what became of each attribute")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        chosen = [(site, sites(vertical)) for vertical in options.verticals for site in sites(vertical)]
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    found = []
    for new, others in track(chosen, "sites", console=Console(stderr=True), transient=True):
        if match := closest(new, others):
            found.append(examine(match[0], new, match[1]))
    show(console, found)
    if options.verbose:
        show_cases(console, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
