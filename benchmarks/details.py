"""How well the HCRF labels the attributes of detail pages of sites it never saw: SWDE, a page as one record.

python -m benchmarks.details                    each site labelled by the others of its vertical
python -m benchmarks.details --folds 5          quicker: each fifth of the sites by the other ones
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import dataclass
from statistics import mean

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.swde import VERTICALS, Score, Site, clean, schema_of, sites
from untemplate import Page
from untemplate.labeling.records.hcrf.features import Observed, observe
from untemplate.labeling.records.hcrf.labels import Labels, label_blocks, value_sets
from untemplate.labeling.records.hcrf.model import Hcrf
from untemplate.labeling.records.hcrf.training import train
from untemplate.labeling.records.shapes import Shapes
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import read_tree
from untemplate.labeling.records.vision import VisionTree, see
from untemplate.layout import EstimatedLayout

# Pages of a site that teach, and that are scored.
TAUGHT, SCORED = 4, 12
# A text that stands on this share of a site's pages is its own.
COMMON = 0.5
# An attribute is on a page when some leaf is so likely to hold it.
LIKELY = 0.3


@dataclass(frozen=True, eq=False)
class Detail:
    """A detail page as the model sees it, and which leaves hold its attributes."""

    survey: Survey
    vision: VisionTree
    observed: Observed
    texts: dict[int, str]
    truth: dict[str, list[str]]
    values: dict[int, str]
    record: int


def read_site(site: Site) -> list[Detail]:
    """Some pages of a site, spread over it."""
    pages = site.pages()
    chosen = pages[:: max(1, len(pages) // SCORED)][:SCORED]
    truth = site.truth()
    seen: list[tuple[Page, Survey, VisionTree, dict[int, str]]] = []
    for page in chosen:
        tree = read_tree(page)
        survey = Survey(tree, Shapes(tree), EstimatedLayout().boxes([page])[0])
        vision = see(survey)
        texts = {
            block: clean(
                "".join(item for item in tree.items[rows[0] : tree.end[rows[0]]] if isinstance(item, str))
            )
            for block, (rows, inside) in enumerate(zip(vision.rows, vision.children, strict=True))
            if not inside
        }
        seen.append((page, survey, vision, texts))
    counts = Counter(text for *_, texts in seen for text in set(texts.values()))
    common = frozenset(text for text, count in counts.items() if text and count >= COMMON * len(seen))
    return [
        _detail(page, survey, vision, texts, truth[page.id], common) for page, survey, vision, texts in seen
    ]


def _detail(
    page: Page,
    survey: Survey,
    vision: VisionTree,
    texts: dict[int, str],
    truth: dict[str, list[str]],
    common: frozenset[str],
) -> Detail:
    title = page.tree.findtext(".//title") or ""
    observed = observe(title, survey, vision, common=common)
    wanted = {value: name for name, values in truth.items() for value in values}
    values = {block: wanted[text] for block, text in texts.items() if text in wanted}
    sets = value_sets(vision, values)
    holding = [block for block in range(len(vision)) if vision.children[block] and sets[block] == sets[0]]
    return Detail(survey, vision, observed, texts, truth, values, max(holding, default=0))


def learn(training: list[Detail], names: tuple[str, ...]) -> Hcrf:
    """A model of a vertical."""
    seen = [
        names_here
        for one in training
        for block, names_here in enumerate(value_sets(one.vision, one.values))
        if one.vision.children[block] and one.record < block < one.vision.end[one.record]
    ]
    labels = Labels.choose(names, seen)
    truth = [label_blocks(labels, one.survey, one.vision, [one.record], one.values) for one in training]
    return train(labels, [one.observed for one in training], truth)


def evaluate(model: Hcrf, test: list[Detail]) -> dict[str, Score]:
    """Page hits of the attributes of a site."""
    scores: dict[str, Score] = {}
    for one in test:
        shares = model.marginals(one.observed).vertex
        leaves = np.array([block for block, text in one.texts.items() if text], np.int64)
        for number, name in enumerate(model.labels.attributes):
            if name not in one.truth:
                continue
            tally = scores.setdefault(name, Score())
            tally.true += bool(one.truth[name])
            if len(leaves):
                best = int(leaves[shares[leaves, number].argmax()])
                if shares[best, number] >= LIKELY:
                    tally.extracted += 1
                    tally.hits += one.texts[best] in one.truth[name]
    return {name: tally for name, tally in scores.items() if tally.true}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vertical", nargs="+", default=VERTICALS, choices=VERTICALS)
    parser.add_argument(
        "--folds", type=int, default=10, help="parts of the sites of a vertical, 10 for one each"
    )
    options = parser.parse_args()
    console, progress = Console(width=140), Console(stderr=True)
    table = Table("vertical", "attribute", "precision", "recall", "F1")
    verticals: list[float] = []
    for vertical in options.vertical:
        own = sites(vertical)
        details = {site.name: read_site(site) for site in track(own, console=progress, description=vertical)}
        names = tuple(
            name
            for name in schema_of(vertical).attributes
            if any(name in one.truth for site in details.values() for one in site)
        )
        found: dict[str, list[Score]] = {}
        averages: list[float] = []
        for fold in track(range(options.folds), console=progress, description="folds"):
            held_out = own[fold :: options.folds]
            known = [one for site in own if site not in held_out for one in details[site.name][:TAUGHT]]
            model = learn(known, names)
            for site in held_out:
                scores = evaluate(model, details[site.name])
                averages.append(mean(tally.f1 for tally in scores.values()))
                for name, tally in scores.items():
                    found.setdefault(name, []).append(tally)
        for name, tallies in found.items():
            figures = [
                mean(getattr(tally, part) for tally in tallies) for part in ("precision", "recall", "f1")
            ]
            table.add_row(vertical, name, *(f"{figure:.3f}" for figure in figures))
        verticals.append(mean(averages))
        table.add_row(vertical, "", "", "", f"{verticals[-1]:.3f}")
    console.print(table)
    console.print(f"mean over verticals: F1 {mean(verticals):.3f}")


if __name__ == "__main__":
    main()
