"""Whole real sites (blogs and shops): templates told apart, pages of other kinds refused, kinds named.

python -m benchmarks.measure.whole_sites             accuracy, by Vertex Algorithm 1 and by untemplate
python -m benchmarks.measure.whole_sites --sites     the same, a line a site
python -m benchmarks.measure.whole_sites --choose    how the constants were chosen: one family of sites left out
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any
from unittest.mock import patch

from rich.console import Console
from rich.table import Table

from benchmarks.data.swde import VERTICALS, sites
from benchmarks.data.whole_sites import SETS, WholeSite, whole_sites
from benchmarks.measure.clustering import made_up_mixtures, ours, paper, score
from untemplate import Page
from untemplate.clustering import cluster, guess_kinds
from untemplate.clustering.templates import _Tolerance
from untemplate.page.template_cores import PageRuns
from untemplate.pipeline import learn_site

# What each kind of page of the data sets is, as far as it is clear.
KINDS = {
    **dict.fromkeys(("post", "product"), "detail"),
    **dict.fromkeys(("tag", "category", "archive", "front", "products", "posts"), "list"),
}

# The values of the constants that --choose compares: those that decide which pages form a template, scored by pairs
# of pages, and those of cores, scored by how new pages are matched.
TEMPLATE_CHOICES: dict[str, Sequence[Any]] = {
    "MIN_SIMILARITY": (0.6, 0.7, 0.8),
    "OTHER_URLS": [_Tolerance(*pair) for pair in product((0.01, 0.02, 0.03), (0.09, 0.12, 0.15))],
    "UNKNOWN_URLS": [_Tolerance(*pair) for pair in product((0.03, 0.045, 0.06), (0.12, 0.15, 0.2))],
    "SAME_URLS": [_Tolerance(*pair) for pair in product((0.05, 0.07, 0.1), (0.3, 0.5))],
    "SMALL_TWO_SIDED": (0.25, 0.5, 1.0),
}
CORE_CHOICES: dict[str, Sequence[Any]] = {
    "MIN_OWN_SHARE": (0.55, 0.65, 0.75),
    "ALWAYS_SHARE": (0.9, 0.97, 1.0),
    "MAX_SHARE_WITH_OWN": (0.75, 0.85, 0.9),
    "MAX_SHARE": (0.85, 0.93, 0.97),
}

_NOT_COMPARED = re.compile(r"[\W_]+")


def pair_f1(found: Sequence[Hashable], is_main: Sequence[bool]) -> float:
    """F1 of page pairs: two pages of the main kind in one cluster are right, one with another kind is wrong."""
    main = Counter(name for name, is_page in zip(found, is_main, strict=True) if is_page)
    other = Counter(name for name, is_page in zip(found, is_main, strict=True) if not is_page)
    right = sum(count * (count - 1) // 2 for count in main.values())
    wrong = sum(count * other[name] for name, count in main.items())
    pairs = main.total() * (main.total() - 1) // 2
    return 2 * right / (right + wrong + pairs) if right else 0.0


def template_f1(site: WholeSite, find: Callable[[Sequence[Page]], list[Hashable]]) -> float:
    return pair_f1(find(site.pages), [site.is_main(page) for page in site.pages])


@dataclass
class Extraction:
    """Right, wrong and missing values on pages of the main kind, and pages of other kinds that got a title."""

    right: int = 0
    wrong: int = 0
    missing: int = 0
    other_pages: int = 0
    with_title: int = 0

    def add(self, other: Extraction) -> None:
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    def cells(self) -> list[str]:
        judged = max(1, self.right + self.wrong + self.missing)
        shares = (self.right / judged, self.wrong / judged, self.with_title / max(1, self.other_pages))
        return [f"{share:.2%}" for share in shares]


def extract_site(site: WholeSite) -> Extraction:
    """Label the first posts or the first product, learn from all pages, and judge all others."""
    rules = learn_site(site.pages, site.labels(), site.schema).rules
    labeled = {page.id for page in site.labeled_pages()}
    result = Extraction()
    for page in site.pages:
        record = rules.extract_one(page)
        if not site.is_main(page):
            result.other_pages += 1
            result.with_title += record["title"] is not None
        elif page.id not in labeled:
            for name, value in site.true_values(page).items():
                if record[name] is None:
                    result.missing += 1
                elif _key(record[name]) == _key(value):
                    result.right += 1
                else:
                    result.wrong += 1
    return result


def _key(value: object) -> str:
    return _NOT_COMPARED.sub("", str(value)).lower()


def match_unseen(site: WholeSite, left_out: str | None) -> tuple[int, int, int, int]:
    """Cluster half of the pages; match the others, and all pages of a kind that was left out, to its clusters.

    Returns:
        Pages of other kinds that are taken for the main kind, of how many; pages of the main kind that are not, of
        how many.
    """
    pages = Random(3).sample(site.pages, len(site.pages))
    known = [page for page in pages[::2] if site.facts[page.id]["kind"] != left_out]
    unseen = [page for page in pages if page not in known]
    clusters = [found for found in cluster(known) if found.core]
    main = max(clusters, key=lambda found: sum(map(site.is_main, found.pages)))
    accepted = others = rejected = mains = 0
    for page in unseen:
        runs = PageRuns(page.html)
        fitting = [found for found in clusters if found.core and found.core.matches(runs)]
        best = max(fitting, key=lambda found: found.core.own_count(runs) if found.core else 0, default=None)
        if site.is_main(page):
            mains += 1
            rejected += best is not main
        else:
            others += 1
            accepted += best is main
    return accepted, others, rejected, mains


def matching_errors(site: WholeSite) -> list[int]:
    """Sum the errors of matching with all kinds known, and with each other kind left out."""
    other_kinds = {facts["kind"] for facts in site.facts.values()}
    main_kinds = {site.facts[page.id]["kind"] for page in site.pages if site.is_main(page)}
    runs = [match_unseen(site, kind) for kind in (None, *sorted(other_kinds - main_kinds))]
    return [sum(column) for column in zip(*runs, strict=True)]


def kind_counts(site: WholeSite) -> Counter[bool]:
    """Count pages whose cluster is named as what most of its pages are, and the others."""
    clusters = cluster(site.pages)
    counts: Counter[bool] = Counter()
    for found, kind in zip(clusters, guess_kinds(clusters), strict=True):
        usual = Counter(site.facts[page.id]["kind"] for page in found.pages).most_common(1)[0][0]
        if usual in KINDS:
            counts[KINDS[usual] == kind.name] += len(found.pages)
    return counts


def show_templates(console: Console, by_family: dict[str, list[WholeSite]], each_site: bool) -> None:
    table = Table(
        "sites", "by", "pair F1", "worst", title="Posts or products against all other kinds, mean over sites"
    )
    for family, family_sites in by_family.items():
        bare = [site.without_urls() for site in family_sites]
        rows = {
            "Vertex Algorithm 1": [template_f1(site, paper) for site in family_sites],
            "untemplate": [template_f1(site, ours) for site in family_sites],
            "untemplate, without URLs": [template_f1(site, ours) for site in bare],
        }
        for by, values in rows.items():
            table.add_row(
                f"{family}, {len(values)}", by, f"{sum(values) / len(values):.3f}", f"{min(values):.3f}"
            )
        for site, *values in zip(family_sites, *rows.values(), strict=True) if each_site else ():
            table.add_row(
                f"  {site.name}", "each of these", ", ".join(f"{value:.3f}" for value in values), ""
            )
    singles = [score(ours(pages), [0] * len(pages)).f1 for pages in _single_sites()]
    table.add_row(
        f"SWDE, {len(singles)}", "untemplate", f"{sum(singles) / len(singles):.4f}", f"{min(singles):.3f}"
    )
    console.print(table)


def _single_sites() -> Iterator[list[Page]]:
    for vertical in VERTICALS:
        for site in sites(vertical):
            yield list(site.pages())


def show_extraction(console: Console, by_family: dict[str, list[WholeSite]], each_site: bool) -> None:
    table = Table(
        "sites", "right", "wrong", "other kinds with a title", title="Rules from two posts or one product"
    )
    for family, family_sites in by_family.items():
        labeled = [site for site in family_sites if site.labels()]
        total = Extraction()
        for site in labeled:
            result = extract_site(site)
            total.add(result)
            if each_site:
                table.add_row(f"  {site.name}", *result.cells())
        table.add_row(f"{family}, {len(labeled)}", *total.cells())
    console.print(table)


def show_matching(console: Console, by_family: dict[str, list[WholeSite]]) -> None:
    title = "Pages not seen before, with every other kind of page left out once"
    table = Table("sites", "other kinds accepted", "own pages rejected", "clusters named right", title=title)
    for family, family_sites in by_family.items():
        accepted, others, rejected, mains = _sum_columns(map(matching_errors, family_sites))
        named = sum(map(kind_counts, family_sites), Counter[bool]())
        shares = (accepted / others, rejected / mains, named[True] / named.total())
        table.add_row(family, *(f"{share:.2%}" for share in shares))
    console.print(table)


def _sum_columns(rows: Iterable[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def show_choice(console: Console, by_family: dict[str, list[WholeSite]]) -> None:
    """For each constant, leave out one family: the value that is best on the others, scored on that one."""
    for constant, values in (TEMPLATE_CHOICES | CORE_CHOICES).items():
        table = Table("left out", *map(_value_name, values), "chosen on the others", title=constant)
        scores = {str(value): _family_scores(constant, value, by_family) for value in values}
        families = next(iter(scores.values())).keys()
        for left_out in families:
            others = {
                name: sum(by[family] for family in families if family != left_out)
                for name, by in scores.items()
            }
            best = max(others, key=others.__getitem__)
            chosen = next(value for value in values if str(value) == best)
            table.add_row(left_out, *(f"{scores[str(v)][left_out]:.4f}" for v in values), _value_name(chosen))
        console.print(table)


def _value_name(value: Any) -> str:
    return f"{value.two_sided}/{value.one_sided}" if isinstance(value, _Tolerance) else str(value)


def _family_scores(constant: str, value: Any, by_family: dict[str, list[WholeSite]]) -> dict[str, float]:
    """Return by family the pair F1, or for constants of cores 1 minus the share of wrong matches."""
    with ExitStack() as patches:
        patches.enter_context(patch(f"untemplate.clustering.templates.{constant}", value))
        if constant in CORE_CHOICES:
            return {family: _matching_score(family_sites) for family, family_sites in by_family.items()}
        scores = {}
        for family, family_sites in by_family.items():
            values = [template_f1(one, ours) for site in family_sites for one in (site, site.without_urls())]
            scores[family] = sum(values) / len(values)
        singles = [score(ours(pages[::3]), [0] * len(pages[::3])).f1 for pages in _single_sites()]
        made_up = [
            score(ours([page for page, _ in mixture]), [name for _, name in mixture]).f1
            for mixture in made_up_mixtures(range(2))
        ]
        return scores | {"SWDE": sum(singles) / len(singles), "made-up": sum(made_up) / len(made_up)}


def _matching_score(family_sites: Sequence[WholeSite]) -> float:
    accepted, others, rejected, mains = _sum_columns(map(matching_errors, family_sites))
    return 1 - (accepted / others + rejected / mains) / 2


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.whole_sites", description=__doc__)
    parser.add_argument("--sites", action="store_true", help="a line a site")
    parser.add_argument("--choose", action="store_true", help="compare values of the constants instead")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    by_family = {family: list(whole_sites(family)) for family in SETS}
    if options.choose:
        show_choice(console, by_family)
        return
    show_templates(console, by_family, options.sites)
    show_matching(console, by_family)
    show_extraction(console, by_family, options.sites)


if __name__ == "__main__":
    main(sys.argv[1:])
