"""Rules from labels of which some are wrong: F1 against the share of wrong labels.

python -m benchmarks.measure.noise                           SWDE, 5 labeled pages of each site
python -m benchmarks.measure.noise --every 8 --draws 1       a quick look
python -m benchmarks.measure.noise --set recipes             today's recipe sites with three pages, lists included
python -m benchmarks.measure.noise --kinds neighbor          one kind of mistake only

Mistakes are of three kinds, in turn: the text of any other node of the page, that of a node right before or after the
value, and a value that is nowhere on the page. A list is wrong as a whole: as many texts that follow each other.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import mean

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import recipes
from benchmarks.data.labeled_site import keys
from benchmarks.data.shell import open_sites, site_parser
from benchmarks.data.swde import Site, labeling_order, labels_of, schema_of, score
from untemplate import Label, Page, Rules, Schema, learn
from untemplate.errors import LabelError
from untemplate.page.locating import clean_value

SHARES = (0.0, 0.1, 0.2, 0.3)
LABELED = 5
DRAWS = 2
"""Draws of the mistakes of each site."""
MIN_RECIPE_PAGES = 3
"""Sites of `recipes` with fewer pages have one labeled page only, whose mistakes nothing can show."""


@dataclass(frozen=True)
class LabeledValues:
    """The labels of one attribute on one page: one value, or a list."""

    page: Page
    attribute: str
    labels: tuple[Label, ...]

    @property
    def texts(self) -> list[str]:
        return [node.text for node in self.page.nodes if node.is_text and "/title/" not in node.path]

    def with_values(self, values: Iterable[str]) -> LabeledValues:
        labels = tuple(Label(self.page.id, self.attribute, value) for value in values)
        return replace(self, labels=labels)


def take_other_node(values: LabeledValues, random: Random) -> LabeledValues:
    """Return labels of any other texts of the page, as many as there were."""
    texts = values.texts
    count = min(len(values.labels), len(texts))
    start = random.randrange(len(texts) - count + 1)
    return values.with_values(texts[start : start + count])


def take_neighbor(values: LabeledValues, random: Random) -> LabeledValues:
    """Return labels of the texts right before or after the values; of any others if these are not texts."""
    texts = values.texts
    wanted = clean_value(values.labels[0].value or "")
    places = [number for number, text in enumerate(texts) if text == wanted]
    if not places:
        return take_other_node(values, random)
    start = places[0] + random.choice((-1, 1))
    start = min(max(start, 0), len(texts) - 1)
    return values.with_values(texts[start : start + len(values.labels)])


def invent(values: LabeledValues, random: Random) -> LabeledValues:
    """Return labels with values that are nowhere on the page."""
    return values.with_values(f"Invented value {random.randrange(10**6)}" for _ in values.labels)


KINDS: dict[str, Callable[[LabeledValues, Random], LabeledValues]] = {
    "other": take_other_node,
    "neighbor": take_neighbor,
    "invented": invent,
}


def add_noise(
    labels: Sequence[Label], pages: Sequence[Page], share: float, kinds: Sequence[str], random: Random
) -> list[Label]:
    """Return the labels of some pages, of which this share is wrong. Gaps stay as they are."""
    by_id = {page.id: page for page in pages}
    groups: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        groups.setdefault((label.page, label.attribute), []).append(label)
    values = [LabeledValues(by_id[page], name, tuple(own)) for (page, name), own in groups.items()]
    present = [number for number, own in enumerate(values) if not own.labels[0].is_gap]
    wrong = random.sample(present, round(share * len(present)))
    for turn, number in enumerate(wrong):
        values[number] = KINDS[kinds[turn % len(kinds)]](values[number], random)
    noisy: list[Label] = []
    for own in values:
        noisy += own.labels
    return noisy


def learn_noisy(
    pages: Sequence[Page],
    labels: Sequence[Label],
    schema: Schema,
    share: float,
    kinds: Sequence[str],
    draw: int,
) -> Rules:
    """Learn from labels of which a share is wrong; rules that find nothing if nothing can be learned."""
    random = Random(f"{pages[0].url} {draw}")
    try:
        return learn(pages, add_noise(labels, pages, share, kinds, random), schema)
    except LabelError:
        return Rules(schema, ())


def measure_swde(site: Site, share: float, kinds: Sequence[str], draw: int) -> dict[str, float]:
    """Return the F1 of each attribute of a site on the pages that are not labeled."""
    pages, truth = site.pages(), site.truth()
    labeled = labeling_order(site)[:LABELED]
    rules = learn_noisy(pages, labels_of(labeled, truth), schema_of(site.vertical), share, kinds, draw)
    tested = [page for page in pages if page.id not in labeled]
    found = {record.page_id: record for record in rules.extract(tested)}

    def extract(page: Page) -> dict[str, str | None]:
        return {name: found[page.id][name] for name in rules.schema.attributes}

    return {name: tally.f1 for name, tally in score(extract, tested, truth).items()}


def measure_recipes(name: str, share: float, kinds: Sequence[str], draw: int) -> Counter[str]:
    """Return how many values of the last page of a site are right, wrong or missing, if all others are labeled."""
    site = recipes.read_site(name)
    if site is None or len(site.pages) < MIN_RECIPE_PAGES:
        return Counter()
    *labeled, tested = site.pages
    labels: list[Label] = []
    for page in labeled:
        for attribute, values in site.truth[page.id].items():
            labels += [Label(page.id, attribute, value) for value in values]
    names = {label.attribute for label in labels}
    record = learn_noisy(site.pages, labels, site.schema, share, kinds, draw).extract_one(tested)
    verdicts: Counter[str] = Counter()
    for attribute, true in site.truth[tested.id].items():
        if attribute in names:
            found = [value.text for value in record.values.get(attribute, [])]
            verdicts[_verdict(found, true)] += 1
    return verdicts


def _verdict(found: Sequence[str], true: Sequence[str]) -> str:
    if not found:
        return "nothing"
    return "right" if keys(found) == keys(true) else "wrong"


def show_swde(
    console: Console, sites: Sequence[Site], kinds: Sequence[str], draws: int, verbose: bool
) -> None:
    """Print F1 by vertical and share of wrong labels."""
    verticals = sorted({site.vertical for site in sites})
    table = Table("wrong labels", *verticals, "mean", title=f"SWDE, {LABELED} labeled pages, F1 of page hits")
    clean: dict[tuple[str, str], float] = {}
    for share in SHARES:
        f1: dict[str, list[float]] = {vertical: [] for vertical in verticals}
        for site in track(sites, f"{share:.0%} wrong", console=Console(stderr=True), transient=True):
            runs = [measure_swde(site, share, kinds, draw) for draw in range(draws if share else 1)]
            for name in runs[0]:
                mean_f1 = mean(run[name] for run in runs)
                if verbose and mean_f1 < clean.setdefault((site.folder.name, name), mean_f1) - 0.01:
                    console.print(
                        f"{share:.0%} {site.folder.name} {name}: {[round(r[name], 2) for r in runs]}"
                    )
            f1[site.vertical].append(mean(mean(run.values()) for run in runs))
        means = [mean(f1[vertical]) for vertical in verticals]
        table.add_row(f"{share:.0%}", *(f"{value:.3f}" for value in means), f"{mean(means):.4f}")
    console.print(table)


def show_recipes(console: Console, kinds: Sequence[str], draws: int) -> None:
    """Print what rules from partly wrong labels of recipe pages extract from another page."""
    names = recipes.site_names()
    table = Table(
        "wrong labels", "judged", "right", "wrong", "nothing", title="recipes, all pages but one labeled"
    )
    for share in SHARES:
        total: Counter[str] = Counter()
        for name in track(names, f"{share:.0%} wrong", console=Console(stderr=True), transient=True):
            for draw in range(draws if share else 1):
                total += measure_recipes(name, share, kinds, draw)
        shares = [
            f"{total[verdict] / max(1, total.total()):.1%}" for verdict in ("right", "wrong", "nothing")
        ]
        table.add_row(f"{share:.0%}", str(total.total()), *shares)
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    parser = site_parser("noise", __doc__)
    parser.add_argument("--set", choices=("swde", "recipes"), default="swde", help="which pages")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="only such mistakes")
    parser.add_argument(
        "--draws", type=int, default=DRAWS, metavar="N", help="draws of the mistakes of each site"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list attributes that mistakes harm")
    options = parser.parse_args(arguments)
    console, sites = open_sites(options)
    if options.set == "recipes":
        show_recipes(console, options.kinds, options.draws)
    else:
        show_swde(console, sites, options.kinds, options.draws, options.verbose)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
