"""Verticals that no constant was tuned on: one labeled shop or blog teaches the others, to rules, to records.

python -m benchmarks.measure.unseen_verticals                       shops and blogs, three seed sites in turn
python -m benchmarks.measure.unseen_verticals --together            all other sites teach each other
python -m benchmarks.measure.unseen_verticals --family shops -v     with what is missed

Seed sites have all their labels. Of each other site up to 30 products or posts are labeled, rules are learned from
these labels, and records extracted from its other products or posts, or from the labeled ones if there are no others.
A value is right if its letters and digits are those of the true one; of several values one is enough. The figure is
the F1 of page hits, averaged over the attributes of a site, then over sites.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import shops
from benchmarks.data.swde import Score
from benchmarks.data.whole_sites import SETS, WholeSite, whole_sites
from untemplate import Knowledge, Label, Page, Schema, learn, train
from untemplate.labeling.label import labels_of
from untemplate.page.locating import letters_and_digits

# Pages of each site that are read, and those that are labeled.
MAX_PAGES, MAX_LABELED = 60, 30
# A site with fewer pages of the main kind is not used.
MIN_PAGES = 10
# An attribute is judged if at least this many pages have it.
MIN_VALUES = 5
# An attribute with a lower F1 is listed by -v.
GOOD = 0.95


@dataclass(frozen=True)
class MainPages:
    """The products of a shop or the posts of a blog, and their true values by page and attribute."""

    name: str
    pages: Sequence[Page]
    truth: Mapping[str, Mapping[str, Sequence[str]]]

    @property
    def labeled(self) -> Sequence[Page]:
        """The pages that knowledge labels."""
        return self.pages[::2][:MAX_LABELED]

    @property
    def tested(self) -> Sequence[Page]:
        """The pages whose records are judged."""
        ids = {page.id for page in self.labeled}
        return [page for page in self.pages if page.id not in ids] or self.labeled

    def labels(self) -> list[Label]:
        """Return the true values as labels."""
        found: list[Label] = []
        for page, fields in self.truth.items():
            for name, values in fields.items():
                found += [Label(page, name, value) for value in values]
        return found


def read_family(family: str) -> tuple[Schema, list[MainPages]]:
    """Return the schema of a set, and its sites with enough pages of the main kind whose values are known."""
    schema = shops.SCHEMA if family == "shops" else next(whole_sites(family)).schema
    sites = [_main_pages(site, schema) for site in whole_sites(family)]
    return schema, [site for site in sites if len(site.pages) >= MIN_PAGES and any(site.truth.values())]


def _main_pages(site: WholeSite, schema: Schema) -> MainPages:
    pages = [page for page in site.pages if site.is_main(page)][:MAX_PAGES]
    truth = {page.id: _values_of(site.facts[page.id], schema) for page in pages}
    return MainPages(site.name, pages, truth)


def _values_of(facts: Mapping[str, object], schema: Schema) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for name in schema.attributes:
        if value := facts.get(name):
            values[name] = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    return values


def judge(site: MainPages, labels: Sequence[Label], schema: Schema) -> dict[str, Score]:
    """Return the score of each attribute that enough pages of a site have."""
    rules = learn(site.labeled, labels, schema) if labels else None
    found = {record.page_id: record for record in rules.extract(site.tested)} if rules else {}
    scores: dict[str, Score] = {}
    for name in schema.attributes:
        hits = extracted = true = 0
        for page in site.tested:
            values = {letters_and_digits(value) for value in site.truth[page.id].get(name, ())}
            text = found[page.id][name] if page.id in found else None
            true += bool(values)
            extracted += text is not None
            hits += text is not None and letters_and_digits(text) in values
        if true >= MIN_VALUES:
            scores[name] = Score(hits, extracted, true)
    return scores


def evaluate(
    schema: Schema, sites: Sequence[MainPages], seed: MainPages, method: str, together: bool
) -> Iterator[tuple[str, dict[str, Score]]]:
    """Yield the scores of each site but the seed."""
    knowledge = train([(seed.pages, seed.labels())], schema, method)
    others = [site for site in sites if site is not seed]
    for site, labels in zip(others, _label(knowledge, others, together), strict=True):
        yield site.name, judge(site, labels, schema)
        for page in site.pages:
            page.release()


def _label(knowledge: Knowledge, sites: Sequence[MainPages], together: bool) -> Iterator[list[Label]]:
    if together:
        yield from map(labels_of, knowledge.find_together([site.labeled for site in sites]))
    else:
        for site in sites:
            yield knowledge.label(site.labeled)


def choose_seeds(schema: Schema, sites: Sequence[MainPages], count: int) -> list[MainPages]:
    """Return sites that have most attributes, evenly spread over these."""
    richness = [len(set().union(*site.truth.values())) for site in sites]
    rich = [site for site, number in zip(sites, richness, strict=True) if number == max(richness)]
    return [rich[turn * len(rich) // count] for turn in range(min(count, len(rich)))]


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.unseen_verticals", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--family", nargs="+", choices=SETS, default=SETS, help="only these")
    parser.add_argument("--turns", type=int, default=3, metavar="N", help="seed sites, one after another")
    parser.add_argument("--method", default="seed", help="how knowledge is trained")
    parser.add_argument("--together", action="store_true", help="label all other sites together")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is missed")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120)
    table = Table("vertical", "sites", "F1", "F1 by attribute")
    for family in options.family:
        try:
            schema, sites = read_family(family)
        except FileNotFoundError as missing:
            console.print(f"skipped: {missing}")
            return 0
        scores: list[tuple[str, str, dict[str, Score]]] = []
        for seed in choose_seeds(schema, sites, options.turns):
            outcomes = evaluate(schema, sites, seed, options.method, options.together)
            total = len(sites) - 1
            for name, of_site in track(
                outcomes, seed.name, total, console=Console(stderr=True), transient=True
            ):
                scores.append((seed.name, name, of_site))
        table.add_row(family, str(len(sites)), *_figures([of_site for *_, of_site in scores], schema))
        if options.verbose:
            _show_misses(console, scores)
    console.print(table)
    return 0


def _figures(scores: Sequence[Mapping[str, Score]], schema: Schema) -> tuple[str, str]:
    total = mean(mean(score.f1 for score in of_site.values()) for of_site in scores if of_site)
    parts = []
    for name in schema.attributes:
        figures = [of_site[name].f1 for of_site in scores if name in of_site]
        parts.append(f"{name} {mean(figures):.3f} ({len(figures)})" if figures else f"{name} –")
    return f"{total:.3f}", ", ".join(parts)


def _show_misses(console: Console, scores: Sequence[tuple[str, str, Mapping[str, Score]]]) -> None:
    for seed, name, of_site in scores:
        for attribute, score in of_site.items():
            if score.f1 < GOOD:
                console.print(f"{seed} → {name} {attribute}: {score}", highlight=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
