"""How well the HCRF labels the attributes of detail pages of sites it never saw: SWDE, a page as one record.

python -m benchmarks.details                    each site labelled by the others of its vertical
python -m benchmarks.details --alone            each page by itself, without a look at others of its site
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from time import process_time
from typing import NamedTuple

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.swde import VERTICALS, Score, Site, clean, schema_of, sites
from untemplate import Page
from untemplate.labeling.records.hcrf.features import Observed, observe
from untemplate.labeling.records.hcrf.labels import Labels, label_blocks, value_sets
from untemplate.labeling.records.hcrf.model import Hcrf
from untemplate.labeling.records.hcrf.scene import Column, Scene, read_scene
from untemplate.labeling.records.hcrf.training import train
from untemplate.labeling.records.shapes import Shapes
from untemplate.labeling.records.survey import Survey
from untemplate.labeling.records.tree import Floats, read_tree
from untemplate.labeling.records.vision import see
from untemplate.layout import EstimatedLayout

# Pages of a site that teach, and that are scored.
TAUGHT, SCORED = 3, 12
# A text that stands on this share of a site's pages is its own.
COMMON = 0.5
# The label of a value is the text of the site before it, so many leaves away at most.
FAR = 4
# Of a place so many words are known, those that most pages have, and so many letters with which all texts begin.
MAX_WORDS = 12
MAX_SHARED = 8
# An attribute is on a page when some leaf is so likely to hold it.
LIKELY = 0.3
# It is in a place of a site when the leaves there are so likely to hold it, the mean over pages. Most leaves are
# nothing, so that even the right place is often more likely nothing. Lowered from 0.1 while looking at mistakes; what
# a site lacks is not scored, so that too low costs nothing here.
OF_SITE = 0.01
# The variance of the weights of words and of telling features: sites of one vertical share more words than lists of
# any kind. Of 0.02 and 20, 0.2 and 5, 0.3 and 5 the best on four sites each of auto and restaurant.
OF_WORDS = 0.2
OF_TELLING = 5.0

_WORD = re.compile(r"\w+")

Path = tuple[tuple[str, str], ...]


class Place(NamedTuple):
    """Where a leaf stands on the pages of a site."""

    path: Path
    label: str
    distance: int
    number: int = 0


@dataclass(frozen=True, eq=False)
class Detail:
    """A detail page as the model sees it, and which leaves hold its attributes."""

    scene: Scene
    observed: Observed
    truth: dict[str, list[str]]
    values: dict[int, str]
    record: int
    #: where leaves stand, the same for those in the same place of other pages of the site
    places: dict[Place, int]


def survey_pages(site: Site) -> list[tuple[Page, Survey]]:
    """Some pages of a site, spread over it."""
    pages = site.pages()
    found: list[tuple[Page, Survey]] = []
    for page in pages[:: max(1, len(pages) // SCORED)][:SCORED]:
        tree = read_tree(page)
        found.append((page, Survey(tree, Shapes(tree), EstimatedLayout().boxes([page])[0])))
    return found


def read_site(
    pages: Sequence[tuple[Page, Survey]], truth: dict[str, dict[str, list[str]]], is_alone: bool
) -> list[Detail]:
    """The pages of a site; what stands on several of them is known if they are not alone."""
    scenes = [read_scene(survey, see(survey, [(0,)])) for _, survey in pages]
    counts = Counter(text for scene in scenes for text in {*scene.texts})
    common = {text for text, count in counts.items() if text and count >= COMMON * len(scenes)}
    counts_of = [Counter(_paths(scene).values()) for scene in scenes]
    several = {path for counts in counts_of for path, count in counts.items() if count > 1}
    single = {path for counts in counts_of for path in counts} - several
    places = [_places(scene, set() if is_alone else common, single) for scene in scenes]
    told: list[dict[int, list[str]]] = [{} for _ in scenes]
    if not is_alone:
        titles = [_title(page) for page, _ in pages]
        told = _tell(scenes, places, titles, common)
    return [
        _detail(page, scene, truth[page.id], own, known)
        for (page, _), scene, own, known in zip(pages, scenes, places, told, strict=True)
    ]


def _title(page: Page) -> str:
    return clean(page.tree.findtext(".//title") or "")


def _places(scene: Scene, common: set[str], single: set[Path]) -> dict[Place, int]:
    """Where each leaf stands: its path if it is single there, else with the label before it and its number."""
    seen: Counter[Place] = Counter()
    found: dict[Place, int] = {}
    label, distance = "", 0
    for block, path in _paths(scene).items():
        distance += 1
        if scene.texts[block] in common:
            label, distance = scene.texts[block], 0
        near = (label, distance) if distance <= FAR else ("", 0)
        place = Place(path, "", 0) if path in single else Place(path, *near)
        found[place._replace(number=seen[place])] = block
        seen[place] += 1
    return found


def _paths(scene: Scene) -> dict[int, Path]:
    """The tags and classes around each leaf with a text."""
    tree = scene.survey.tree
    steps: list[Path] = []
    for item, tag, parent in zip(tree.items, tree.tags, tree.parent.tolist(), strict=True):
        above = steps[parent] if parent >= 0 else ()
        steps.append(above if isinstance(item, str) else (*above, (tag, item.get("class", ""))))
    return {block: steps[rows[0]] for block, rows in enumerate(scene.vision.rows) if scene.texts[block]}


def _labels_before(scene: Scene, common: set[str]) -> dict[int, str]:
    """The text of the site before each leaf, if it is near."""
    found: dict[int, str] = {}
    label, distance = "", 0
    for block, text in enumerate(scene.texts):
        if text:
            distance += 1
            found[block] = label if distance <= FAR else ""
            if text in common:
                label, distance = text, 0
    return found


def _tell(
    scenes: Sequence[Scene], places: Sequence[dict[Place, int]], titles: Sequence[str], common: set[str]
) -> list[dict[int, list[str]]]:
    """What the same places of other pages tell of each leaf."""
    told: list[dict[int, list[str]]] = [{} for _ in scenes]
    labels = [_labels_before(scene, common) for scene in scenes]
    columns: dict[Place, dict[int, int]] = {}
    for number, own in enumerate(places):
        for place, leaf in own.items():
            columns.setdefault(place, {})[number] = leaf
    for leaves in columns.values():
        texts = [scenes[number].texts[leaf] for number, leaf in leaves.items()]
        standing = [scenes[number].standing(leaf) for number, leaf in leaves.items()]
        linked, headed = zip(*standing, strict=True)
        column = Column.of(dict.fromkeys(leaves.values(), 0), len(scenes), texts, linked, headed)
        in_title = mean(
            len(text) > 2 and text in titles[number] for number, text in zip(leaves, texts, strict=True)
        )
        features = [f"!{name}" for name in column.features()]
        features.append(f"!column in title {round(4 * in_title)}")
        words = Counter(word for text in texts for word in {*_words(text)})
        features += [f"~column word {word}" for word, _ in words.most_common(MAX_WORDS)]
        before = Counter(labels[number][leaf] for number, leaf in leaves.items())
        label, shared = before.most_common(1)[0][0], _shared_start(texts)
        if len(texts) > 1 and shared:
            features.append(f"~column begins {shared[:MAX_SHARED]}")
            label = shared if ":" in shared and _words(shared) else label
        features.append(f"~label {' '.join(_words(label))}")
        features += [f"~label word {word}" for word in _words(label)[-4:]]
        for number, leaf in leaves.items():
            told[number][leaf] = [*features, f"!common {scenes[number].texts[leaf] in common}"]
    return told


def _shared_start(texts: Sequence[str]) -> str:
    """The letters with which all of these texts begin."""
    low, high = min(texts), max(texts)
    differ = (number for number, (one, other) in enumerate(zip(low, high, strict=False)) if one != other)
    return low[: next(differ, len(low))]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _detail(
    page: Page,
    scene: Scene,
    truth: dict[str, list[str]],
    places: dict[Place, int],
    told: dict[int, list[str]],
) -> Detail:
    vision = scene.vision
    observed = observe(_title(page), scene, told=told)
    wanted = {value: name for name, values in truth.items() for value in values}
    values = {
        block: wanted[text] for block, raw in enumerate(scene.texts) if raw and (text := clean(raw)) in wanted
    }
    sets = value_sets(vision, values)
    holding = [block for block in range(len(vision)) if vision.children[block] and sets[block] == sets[0]]
    return Detail(scene, observed, truth, values, max(holding, default=0), places)


def learn(training: list[Detail], names: tuple[str, ...]) -> Hcrf:
    """A model of a vertical."""
    seen = [
        names_here
        for one in training
        for block, names_here in enumerate(value_sets(one.scene.vision, one.values))
        if one.scene.vision.children[block] and one.record < block < one.scene.vision.end[one.record]
    ]
    labels = Labels.choose(names, seen)
    truth = [
        label_blocks(labels, one.scene.survey, one.scene.vision, [one.record], one.values) for one in training
    ]
    return train(labels, [one.observed for one in training], truth, of_words=OF_WORDS, of_telling=OF_TELLING)


def find(model: Hcrf, pages: Sequence[Detail], is_alone: bool) -> list[dict[str, str]]:
    """The attributes of the pages of a site: of each the likeliest leaf, among those in the likeliest place."""
    shares = [model.marginals(one.observed).vertex for one in pages]
    found: list[dict[str, str]] = [{} for _ in pages]
    chosen = {} if is_alone else _choose_places(model, pages, shares)
    for number, name in enumerate(model.labels.attributes):
        for one, own, values in zip(pages, shares, found, strict=True):
            leaf = one.places.get(chosen[name]) if name in chosen else None
            if leaf is None and (leaves := list(one.places.values())):
                best = leaves[int(own[leaves, number].argmax())]
                leaf = best if own[best, number] >= LIKELY else None
            if leaf is not None:
                values[name] = one.scene.texts[leaf]
    return found


def _choose_places(model: Hcrf, pages: Sequence[Detail], shares: Sequence[Floats]) -> dict[str, Place]:
    """The place of each attribute on a site: the surest first, and no place twice."""
    votes: dict[Place, Floats] = {}
    for one, own in zip(pages, shares, strict=True):
        for place, leaf in one.places.items():
            votes[place] = votes.get(place, 0.0) + own[leaf] / len(pages)
    names = model.labels.attributes
    pairs = sorted(
        ((float(votes[place][number]), number, place) for place in votes for number in range(len(names))),
        key=lambda pair: -pair[0],
    )
    chosen: dict[str, Place] = {}
    for vote, number, place in pairs:
        if vote < OF_SITE:
            break
        if names[number] not in chosen and place not in chosen.values():
            chosen[names[number]] = place
    return chosen


def evaluate(found: Iterable[dict[str, str]], pages: Iterable[Detail]) -> dict[str, Score]:
    """Page hits of the attributes of a site."""
    scores: dict[str, Score] = {}
    for values, one in zip(found, pages, strict=True):
        for name, true in one.truth.items():
            tally = scores.setdefault(name, Score())
            tally.true += bool(true)
            if name in values:
                tally.extracted += 1
                tally.hits += clean(values[name]) in true
    return {name: tally for name, tally in scores.items() if tally.true}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--vertical", nargs="+", default=VERTICALS, choices=VERTICALS)
    parser.add_argument("--alone", action="store_true", help="each page by itself")
    options = parser.parse_args()
    console, progress = Console(width=140), Console(stderr=True)
    table = Table("vertical", "attribute", "precision", "recall", "F1", "sites")
    verticals: list[float] = []
    started = process_time()
    for vertical in options.vertical:
        own = sites(vertical)
        details = {
            site.name: read_site(survey_pages(site), site.truth(), options.alone)
            for site in track(own, console=progress, description=vertical)
        }
        names = tuple(
            name
            for name in schema_of(vertical).attributes
            if any(name in one.truth for site in details.values() for one in site)
        )
        found: dict[str, list[Score]] = {}
        averages: list[float] = []
        for site in track(own, console=progress, description="sites"):
            known = [one for other in own if other is not site for one in details[other.name][:TAUGHT]]
            test = details[site.name]
            scores = evaluate(find(learn(known, names), test, options.alone), test)
            averages.append(mean(tally.f1 for tally in scores.values()))
            for name, tally in scores.items():
                found.setdefault(name, []).append(tally)
        for name, tallies in found.items():
            figures = [
                mean(getattr(tally, part) for tally in tallies) for part in ("precision", "recall", "f1")
            ]
            table.add_row(vertical, name, *(f"{figure:.3f}" for figure in figures), str(len(tallies)))
        verticals.append(mean(averages))
        table.add_row(vertical, "", "", "", f"{verticals[-1]:.3f}", str(len(own)))
    console.print(table)
    console.print(f"mean over verticals: F1 {mean(verticals):.3f}; {process_time() - started:.0f} s of CPU")


if __name__ == "__main__":
    main()
