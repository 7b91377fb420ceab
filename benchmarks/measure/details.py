"""How well the HCRF labels the attributes of detail pages of sites it never saw: SWDE, a page as one record.

python -m benchmarks.measure.details            each site labeled by the others of its vertical
python -m benchmarks.measure.details --alone    each page by itself, without a look at others of its site
python -m benchmarks.measure.details --sites 1  by one other site, the next one
python -m benchmarks.measure.details --pages 25 more pages of each site read together
python -m benchmarks.measure.details --choose   prints the constants of confidence, chosen on all sites
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log
from statistics import mean
from time import process_time

from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sklearn.linear_model import LogisticRegression

from benchmarks.data.swde import VERTICALS, Score, Site, Truth, clean, labels_of, schema_of, sites
from untemplate import Page, Schema
from untemplate.labeling.hcrf.detail_pages import (
    MIN_PROBABILITY,
    choose_slots,
    find_attributes,
    read_detail_pages,
)
from untemplate.labeling.hcrf.lessons import DetailLesson, make_detail_lessons, train_details
from untemplate.lists.hcrf import Hcrf

# Pages of a site that are read, spread over it: to teach, and to be scored.
PAGES = 12
# An attribute of a site is right from this F1 on.
RIGHT = 0.5
# The evidence of an attribute that no slot may have.
NOTHING = (log(MIN_PROBABILITY), 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Subject:
    """A site with some of its pages, their truth and what they teach."""

    site: Site
    pages: list[Page]
    truth: Truth
    lessons: list[DetailLesson]

    @property
    def attributes(self) -> list[str]:
        """What these pages have."""
        names = schema_of(self.site.vertical).attributes
        return [name for name in names if any(self.truth[page.id].get(name) for page in self.pages)]

    def score(self, attribute: str, values: Mapping[str, str]) -> Score:
        """Page hits of the values of an attribute by page."""
        tally = Score()
        for page in self.pages:
            true = self.truth[page.id].get(attribute, [])
            tally.true += bool(true)
            tally.extracted += page.id in values
            tally.hits += clean(values.get(page.id, "")) in true
        return tally


def read_subject(site: Site, schema: Schema, is_alone: bool, count: int) -> Subject:
    every, truth = site.pages(), site.truth()
    pages = every[:: max(1, len(every) // count)][:count]
    parts = [[page] for page in pages] if is_alone else [pages]
    lessons = [
        one
        for own in parts
        for one in make_detail_lessons(own, labels_of([page.id for page in own], truth), schema)
    ]
    return Subject(site, pages, truth, lessons)


def without(page: Page, values: Sequence[str]) -> Page:
    """The page with these texts taken off."""
    root = Page(html=page.html).tree
    for element in root.iter():
        if isinstance(element.tag, str) and element.text and clean(element.text) in values:
            element.text = None
        if element.tail and clean(element.tail) in values:
            element.tail = None
    return Page(url=page.url, id=page.id, html=etree.tostring(root, method="html", encoding="unicode"))


@dataclass(frozen=True)
class Answer:
    """What a model says of an attribute of a site."""

    vertical: str
    attribute: str
    confidence: float
    #: what confidence is made of
    evidence: tuple[float, float, float, float]
    is_found: bool
    #: page hits of what is found, and of what would be if confidence had no limit
    score: Score
    unlimited: Score
    #: whether the attribute was taken off the pages before
    is_gone: bool

    @property
    def is_right(self) -> bool:
        return not self.is_gone and self.unlimited.f1 >= RIGHT


def answer(
    model: Hcrf,
    one: Subject,
    pages: Sequence[Page],
    is_alone: bool = False,
    is_gone: bool = False,
    with_evidence: bool = False,
) -> Iterator[Answer]:
    """What a model says of each attribute of pages of a site, read together or each by itself."""
    schema = schema_of(one.site.vertical)
    parts = [read_detail_pages(part) for part in ([[page] for page in pages] if is_alone else [pages])]
    findings = [finding for part in parts for finding in find_attributes(model, schema, part)]
    evidence = {}
    if with_evidence:
        shares = [model.marginals(page.observed).vertex for page in parts[0]]
        chosen = choose_slots(model, schema, parts[0], shares)
        evidence = {name: choice.evidence for name, choice in chosen.items()}
    for name in one.attributes:
        own = [finding for finding in findings if finding.attribute == name]
        found = [finding for finding in own if finding.found]
        values, every = (
            {page.id: node.text for finding in some for page, node in reversed(finding.places)}
            for some in (found, own)
        )
        yield Answer(
            one.site.vertical,
            name,
            mean(finding.confidence for finding in own) if own else 0.0,
            evidence.get(name, NOTHING),
            bool(found),
            one.score(name, values),
            one.score(name, every),
            is_gone,
        )


def measure(vertical: str, options: argparse.Namespace, console: Console) -> Iterator[Answer]:
    """The answers about each site of a vertical, by a model of others: as it is, and with attributes taken off."""
    schema, own = schema_of(vertical), sites(vertical)
    subjects = [
        read_subject(site, schema, options.alone, options.pages)
        for site in track(own, vertical, console=console)
    ]
    for number, one in enumerate(track(subjects, "sites", console=console)):
        others = [subjects[(number + step) % len(subjects)] for step in range(1, options.sites + 1)]
        model = train_details([other.lessons for other in others], schema)
        if model is None:
            continue
        yield from answer(model, one, one.pages, options.alone, False, options.choose)
        for name in () if options.alone else one.attributes:
            pages = [without(page, one.truth[page.id].get(name, [])) for page in one.pages[::2]]
            answers = answer(model, one, pages, False, True, options.choose)
            yield from (found for found in answers if found.attribute == name)


def choose(answers: Sequence[Answer]) -> str:
    """The constants under which confidence is the chance to be right."""
    fit = LogisticRegression().fit([one.evidence for one in answers], [one.is_right for one in answers])
    slopes = ", ".join(f"{slope:.2f}" for slope in fit.coef_[0])
    return f"OFFSET = {fit.intercept_[0]:.2f}, SLOPES = ({slopes})"


def figures(answers: Sequence[Answer]) -> Iterator[str]:
    """What a row of the table says: of attributes as they are, then of those that were taken off."""
    present = [one for one in answers if not one.is_gone]
    gone = [one for one in answers if one.is_gone]
    for part in ("precision", "recall", "f1"):
        yield f"{mean(getattr(one.score, part) for one in present):.3f}"
    yield f"{mean(one.unlimited.f1 for one in present):.3f}"
    yield f"{sum(one.is_found for one in present)} of {len(present)}"
    yield f"{sum(one.is_found for one in gone)} of {len(gone)}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vertical", nargs="+", default=VERTICALS, choices=VERTICALS)
    parser.add_argument("--alone", action="store_true", help="each page by itself")
    parser.add_argument("--sites", type=int, default=9, metavar="N", help="sites that teach, of 9")
    parser.add_argument("--pages", type=int, default=PAGES, metavar="N", help="pages of a site")
    parser.add_argument("--choose", action="store_true", help="print constants of confidence")
    options = parser.parse_args()
    console, progress = Console(width=140), Console(stderr=True)
    started = process_time()
    answers: list[Answer] = []
    for vertical in options.vertical:
        answers += measure(vertical, options, progress)
    columns = ("vertical", "attribute", "precision", "recall", "F1", "F1, no limit", "found", "found if gone")
    table, means = Table(*columns), []
    for vertical in options.vertical:
        own = [one for one in answers if one.vertical == vertical]
        for name in dict.fromkeys(one.attribute for one in own):
            table.add_row(vertical, name, *figures([one for one in own if one.attribute == name]))
        table.add_row(vertical, "", *figures(own), end_section=True)
        means.append(mean(one.score.f1 for one in own if not one.is_gone))
    console.print(table)
    console.print(f"mean over verticals: F1 {mean(means):.3f}; {process_time() - started:.0f} s of CPU")
    for low, high in pairwise((0.0, 0.2, 0.4, 0.6, 0.8, 1.01)):
        some = [one for one in answers if low <= one.confidence < high]
        here = [one.is_right for one in some if not one.is_gone]
        if here:
            console.print(
                f"confidence {low:.1f} to {high:.1f}: {mean(one.is_right for one in some):.0%} of {len(some)} right, "
                f"{mean(here):.0%} of the {len(here)} that are there"
            )
    if options.choose:
        console.print(f"{choose(answers)} of all")
        for vertical in options.vertical:
            console.print(
                f"{choose([one for one in answers if one.vertical != vertical])} without {vertical}"
            )


if __name__ == "__main__":
    main()
