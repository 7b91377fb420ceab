"""Trains the rankers of seed labeling on made-up and SWDE sites, and says how well they choose on other verticals.

python -m benchmarks.train.rankers             how well, each vertical of SWDE with rankers trained on the others
python -m benchmarks.train.rankers --write     and writes those of the package and of benchmarks
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np
from lxml.etree import Element, tostring
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import swde
from benchmarks.data.swde import Truth
from benchmarks.train.ranker_fitting import RankingExample, fit_chooser, fit_judge
from untemplate.demo import VERTICALS, Site, make_site
from untemplate.labeling.label import Label
from untemplate.labeling.nodes import Fields
from untemplate.labeling.nodes.fields import Examples, locate_examples
from untemplate.labeling.seed.attribute_model import (
    EVIDENCE,
    SIGNS,
    AttributeModel,
    learn_attribute,
    mean_evidence,
)
from untemplate.labeling.seed.field_ranking import (
    JOINT,
    JOINT_SIGNS,
    JUDGE_SIGNS,
    JUDGED,
    CandidateFields,
    Rankers,
    find_candidates,
    gather_joint_evidence,
    judge_evidence,
    rank_jointly,
)
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.layout import Layout
from untemplate.page import Node, Page
from untemplate.page.arrays import Bools, Doubles, Floats, Ints
from untemplate.schema import Attribute, Schema

# Made-up sites of a vertical, and their pages.
SITES, PAGES = 6, 60
# Of the pages of a real site one of so many.
EVERY = 4
# Sites that teach together, and of how many turns of such sites one is used.
SEEDS = {1: 2, 3: 4}
TEACHERS = {1: "one seed site", 3: "three seed sites"}
VOTING = "several sites by voting"
# New sites that one site teaches, if they are made-up and if they are real; three together teach the first number.
TARGETS, REAL_TARGETS = 3, 9

PACKAGED = Path("src/untemplate/labeling/seed/rankers.json")
HELD_OUT = Path(__file__).parent / "held_out"

# Penalties on squared weights. Of 30, 50, 100, 300 and 1000 for the first, 50 and 100 were best on the four verticals
# of SWDE together, so figures on these are a little too good; the second matters little. For the third, 10, 30, 100
# and 300 lose 1 % of the right fields at limits that report 55, 54, 49 and 46 % of the lacking ones (one seed site).
PENALTY, JOINT_PENALTY, JUDGE_PENALTY = 100.0, 3.0, 100.0
# A field is right if it is nearly as good as the best, wrong if it is worse than so; those between teach nothing.
RIGHT, WRONG = 0.95, 0.9
# How often a site lacks an attribute, to how often it has it: what the judge of the best field expects. With one
# vertical left out, 97 to 99 % of the findings above 0.8 are right; at 0.3 nearly as many, 97 to 98 %.
ABSENT = 0.5
# A site lacks an attribute if all fields with a larger F1 are taken off.
JUDGED_OFF = 0.1
# An attribute whose best field is worse teaches nothing.
WORTH = 0.3
# Values in places where they are not meant: so many a site, what stands around them, in which element, how far down.
DECOYS = 4
AROUND = (
    ("", "Reviews"),
    ("Reviews of", ""),
    ("New", ""),
    ("", "Tickets"),
    ("", "Photos"),
    ("Buy", "today"),
    ("About", ""),
    ("More like", ""),
    ("", "Alerts"),
    ("", "at a glance"),
    ("Compare", "with others"),
    ("", "Home"),
)
SPOTS = (("h2", 0.2), ("h1", 0.0), ("div", 0.5), ("a", 0.8), ("div", 1.0), ("h3", 0.6), ("span", 0.1))
DECOY = "data-decoy"
# The share of sites that lose what names their elements: real ones often have no such names near their values.
BARE = 0.5
NAMES = ("class", "id", "itemprop", "property")
# Limits of confidence that are compared, and the confidence of sure findings.
LIMITS, SURE = (0.1, 0.15, 0.2, 0.3, 0.4, 0.5), 0.8
# Fields that look likeliest, and others at random, that each choice is learned from.
CANDIDATES = 40


Models = dict[str, AttributeModel]
"""What some sites teach together, by attribute."""


@dataclass
class Place:
    """A site with its truth: per attribute the examples, and the F1 of each field."""

    site: SiteFields
    examples: dict[str, Examples | None]
    f1: dict[str, Floats]


@dataclass
class Trial:
    """Some seed sites and a new one: the candidates of each attribute, the evidence for each, and which are right.

    `off` has the evidence for wrong candidates as if the site had no right ones, and their positions.
    """

    vertical: str
    teachers: str
    attributes: Mapping[str, Attribute]
    site: SiteFields
    candidates: dict[str, Ints]
    evidence: dict[str, Floats]
    f1: dict[str, Floats]
    off: dict[str, tuple[Ints, Floats]]


def made_up(vertical: str, number: int) -> Place:
    """A made-up site, its detail pages only."""
    site = make_site(vertical, number, PAGES)

    def holds(node: Node, value: str) -> bool:
        if node.parent.get(DECOY) is not None:
            return False
        return node.text == value or (
            node.is_text and value in node.text and len(node.text) <= 2 * len(value) + 20
        )

    return place(with_decoys(site), site.schema, site.labels, site.truth, holds)


def real(site: swde.Site, layout: Layout | None = None) -> Place:
    """A site of SWDE, whose true values are whole texts."""
    pages, truth = site.pages(), site.truth()

    def holds(node: Node, value: str) -> bool:
        return swde.clean(node.text) == value

    labels = swde.labels_of([page.id for page in pages], truth)
    return place(pages, swde.schema_of(site.vertical), labels, truth, holds, layout)


def place(
    pages: Sequence[Page],
    schema: Schema,
    labels: Sequence[Label],
    truth: Truth,
    holds: Callable[[Node, str], bool],
    layout: Layout | None = None,
) -> Place:
    """A site with its truth; `holds` says whether a node holds a value."""
    site = SiteFields(pages, schema, layout)
    attributes = schema.attributes
    examples = {name: locate_examples(site.fields, labels, one) for name, one in attributes.items()}
    found = {
        name: field_f1(site.fields, held, true)
        for name in attributes
        for held, true in [truth_rows(site.fields, truth, name, holds)]
        if true
    }
    return Place(site, examples, found)


def with_decoys(site: Site) -> list[Page]:
    """The detail pages, with values in places where they are not meant, as real pages have: `Reviews of …`."""
    rng = Random(site.name)
    attributes = [n for n, one in site.schema.attributes.items() if one.type in ("text", "price", "date")]
    decoys = [
        (rng.choice(attributes), *rng.choice(AROUND), rng.choice(SPOTS), rng.choice("abcd"))
        for _ in range(DECOYS)
    ]
    is_bare = rng.random() < BARE
    pages = []
    for page in site.pages:
        if page.id not in site.truth:
            continue
        body = page.tree.find("body")
        for attribute, before, after, (tag, where), name in decoys if body is not None else ():
            values = site.truth[page.id].get(attribute)
            if values:
                element = body.makeelement(tag, {"class": f"box-{name}", DECOY: ""})
                element.text = f"{before} {values[0]} {after}".strip()
                body.insert(int(where * len(body)), element)
        for element in page.tree.iter(Element) if is_bare else ():
            for name in NAMES:
                element.attrib.pop(name, None)
        pages.append(Page(page.url, tostring(page.tree, encoding="utf-8", method="html"), page.id))
    return pages


def truth_rows(
    fields: Fields, truth: Truth, name: str, holds: Callable[[Node, str], bool]
) -> tuple[Bools, int]:
    """The rows that hold an attribute, and on how many pages it is."""
    table = fields.table
    held, true = np.zeros(len(table), np.bool_), 0
    for number, page in enumerate(table.pages):
        values = truth[page.id].get(name, [])
        true += bool(values)
        for row in range(table.starts[number], table.starts[number + 1]) if values else ():
            held[row] = any(holds(table.nodes[row], value) for value in values)
    return held, true


def field_f1(fields: Fields, held: Bools, true: int) -> Floats:
    """The F1 of each field as the one that holds an attribute."""
    hits = np.bincount(fields.field, weights=held[fields.row], minlength=len(fields))
    return (2 * hits / (fields.size + true)).astype(np.float32)


def trials(vertical: str, schema: Schema, places: Sequence[Place], targets: int) -> Iterator[Trial]:
    """Some sites in turn teach others: one alone, three together, and all that taught alone by voting."""
    voters: dict[int, Models] = {}
    for count, step in SEEDS.items():
        for first in range(0, len(places), step):
            turned = [places[(first + n) % len(places)] for n in range(len(places))]
            models = learn_models(schema, turned[:count])
            if count == 1:
                voters[first] = models
            last = count + (targets if count == 1 else TARGETS)
            for target in turned[count:last]:
                yield make_trial(vertical, schema, [models], target, TEACHERS[count])
    for number, target in enumerate(places):
        others = [models for first, models in voters.items() if first != number]
        yield make_trial(vertical, schema, others, target, VOTING)


def learn_models(schema: Schema, seeds: Sequence[Place]) -> Models:
    """What some sites teach together, by attribute."""
    models = {}
    for name in schema.attributes:
        found = [(seed.site, seed.examples[name]) for seed in seeds]
        examples = [(site, example) for site, example in found if example is not None]
        if examples:
            models[name] = learn_attribute(examples)
    return models


def make_trial(vertical: str, schema: Schema, teachers: Sequence[Models], target: Place, kind: str) -> Trial:
    """A new site, with the mean evidence of all teachers for each attribute that it has and they know."""
    by_name = {name: [models[name] for models in teachers if name in models] for name in target.f1}
    attributes = {name: schema.attributes[name] for name, models in by_name.items() if models}
    candidates, evidence, f1, off = {}, {}, {}, {}
    for name, attribute in attributes.items():
        models = by_name[name]
        fields = find_candidates(target.site, attribute, models)
        candidates[name], f1[name] = fields, target.f1[name][fields]
        evidence[name] = mean_evidence(target.site, fields, attribute, models)
        wrong = np.flatnonzero(f1[name] < JUDGED_OFF)
        off[name] = wrong, mean_evidence(target.site, fields[wrong], attribute, models)
    return Trial(vertical, kind, attributes, target.site, candidates, evidence, f1, off)


def choice(f1: Floats, score: Doubles | Floats, evidence: Floats) -> RankingExample | None:
    """What a ranker learns from one attribute of a trial."""
    best = float(f1.max(initial=0))
    if best < WORTH:
        return None
    right = f1 >= RIGHT * best
    others = np.random.default_rng(0).permutation(len(f1))[:CANDIDATES]
    picked = np.unique(np.concatenate([np.argsort(-score)[:CANDIDATES], others, np.flatnonzero(right)]))
    picked = picked[right[picked] | (f1[picked] < WRONG * best)]
    return RankingExample(evidence[picked], right[picked])


def train_rankers(made_up: Sequence[Trial], real: Sequence[Trial]) -> Rankers:
    """Fit the weights one after another: each stage sees what the one before makes of the trials.

    Made-up sites do not teach how attributes stand to each other: that is too regular on them.
    """
    parts = EVIDENCE.index("parts")
    found = [choice(one.f1[n], e[:, parts], e) for one in (*made_up, *real) for n, e in one.evidence.items()]
    rankers = Rankers(fit_chooser([one for one in found if one], SIGNS, PENALTY), {}, {})
    found = []
    for one in real:
        scores = {name: rankers.score(columns, EVIDENCE) for name, columns in one.evidence.items()}
        joint = gather_joint_evidence(one.site, one.attributes, one.candidates, scores, scores)
        found += [choice(one.f1[name], scores[name], columns) for name, columns in joint.items()]
    weights = fit_chooser([one for one in found if one], JOINT_SIGNS, JOINT_PENALTY)
    rankers = Rankers(rankers.evidence, weights, {})
    judgments = [each for one in (*made_up, *real) for each in _judgments(one, rankers)]
    return Rankers(rankers.evidence, rankers.joint, fit_judge(judgments, JUDGE_SIGNS, JUDGE_PENALTY))


def _judgments(trial: Trial, rankers: Rankers) -> Iterator[RankingExample]:
    """The best field of each attribute; and the best of those that are wrong, as if the site had no right one."""
    for name, candidates in _ranked(trial, rankers).items():
        f1 = trial.f1[name]
        right = bool(f1[np.argmax(candidates.score)] >= RIGHT * f1.max())
        yield _judgment(trial, candidates, right, 1.0)
        if len(trial.off[name][0]):
            yield _judgment(trial, _taken_off(trial, name, candidates, rankers), False, ABSENT)


def _taken_off(trial: Trial, name: str, candidates: CandidateFields, rankers: Rankers) -> CandidateFields:
    """The candidates of an attribute as if the site had no right one."""
    wrong, evidence = trial.off[name]
    joint = candidates.joint[wrong]
    joint[:, JOINT.index("score")] = rankers.score(evidence, EVIDENCE)
    return CandidateFields(candidates.fields[wrong], evidence, joint, rankers.score_jointly(joint, JOINT))


def _judgment(trial: Trial, candidates: CandidateFields, right: bool, weight: float) -> RankingExample:
    """What the judge learns from the best one of some candidates."""
    columns = judge_evidence(trial.site, candidates, int(np.argmax(candidates.score)))
    return RankingExample(columns[None], np.array([right]), weight)


def _ranked(trial: Trial, rankers: Rankers) -> dict[str, CandidateFields]:
    return rank_jointly(trial.site, trial.attributes, trial.candidates, trial.evidence, rankers)


def chosen_f1(trial: Trial, rankers: Rankers) -> float:
    """The F1 of the chosen fields as a share of the best fields'."""
    shares = [
        float(trial.f1[name][np.argmax(candidates.score)] / trial.f1[name].max())
        for name, candidates in _ranked(trial, rankers).items()
        if trial.f1[name].max(initial=0) >= WORTH
    ]
    return mean(shares) if shares else 1.0


@dataclass(frozen=True)
class Verdict:
    """What the judge says about one attribute of a new site.

    Attributes:
        teachers: who taught the attribute.
        share: the F1 of the chosen field as a share of the best field's.
        confidence: the judge's, in the chosen field.
        lacking: the judge's, in the best wrong field if the attribute is taken off the site.
    """

    teachers: str
    share: float
    confidence: float
    lacking: float


def judge_trial(trial: Trial, rankers: Rankers) -> Iterator[Verdict]:
    """The verdict on each attribute that some field of the new site contains."""
    for name, candidates in _ranked(trial, rankers).items():
        f1 = trial.f1[name]
        if f1.max(initial=0) < WORTH:
            continue
        share = float(f1[np.argmax(candidates.score)] / f1.max())
        rest = _taken_off(trial, name, candidates, rankers)
        lacking = _confidence(trial, rest, rankers) if len(rest.fields) else 0.0
        yield Verdict(trial.teachers, share, _confidence(trial, candidates, rankers), lacking)


def _confidence(trial: Trial, candidates: CandidateFields, rankers: Rankers) -> float:
    best = int(np.argmax(candidates.score))
    return rankers.confidence(judge_evidence(trial.site, candidates, best), JUDGED)


def show_silence(console: Console, verdicts: Sequence[Verdict]) -> None:
    """What several limits of confidence lose of what is right, and report of what was taken off."""
    table = Table(
        "teachers", "right, of fields\nabove 0.8", title="right fields lost / lacking ones reported"
    )
    for limit in LIMITS:
        table.add_column(f"limit {limit}")
    for teachers in (*TEACHERS.values(), VOTING):
        judged = [verdict for verdict in verdicts if verdict.teachers == teachers]
        right = np.array([verdict.confidence for verdict in judged if verdict.share >= WRONG])
        lacking = np.array([verdict.lacking for verdict in judged])
        sure = np.array([verdict.share >= WRONG for verdict in judged if verdict.confidence >= SURE])
        shares = [f"{(right < limit).mean():.1%} / {(lacking >= limit).mean():.0%}" for limit in LIMITS]
        table.add_row(teachers, f"{sure.mean():.1%} of {len(sure)}", *shares)
    console.print(table)


def write(rankers: Rankers, path: Path) -> None:
    rounded = {
        stage: {name: float(f"{weight:.4g}") for name, weight in weights.items()}
        for stage, weights in asdict(rankers).items()
    }
    path.write_text(json.dumps(rounded, indent=1) + "\n", "utf-8")


def held_out(vertical: str) -> Rankers:
    """The rankers that never saw a vertical of SWDE."""
    return Rankers(**json.loads((HELD_OUT / f"rankers-without-{vertical}.json").read_text("utf-8")))


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.train.rankers", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--write", action="store_true", help=f"write {PACKAGED} and {HELD_OUT.name}/")
    options = parser.parse_args(arguments)
    console = Console(stderr=True)
    made: list[Trial] = []
    for vertical in track(VERTICALS, "made-up sites", console=console):
        places = [made_up(vertical, number) for number in range(SITES)]
        made += trials(vertical, Schema.load(vertical), places, TARGETS)
    found: list[Trial] = []
    for vertical in track(swde.VERTICALS, "SWDE", console=console):
        places = [real(site) for site in swde.chosen_sites([vertical], (), EVERY)]
        found += trials(vertical, swde.schema_of(vertical), places, REAL_TARGETS)
    verdicts: list[Verdict] = []
    for vertical in swde.VERTICALS:
        rankers = train_rankers(made, [one for one in found if one.vertical != vertical])
        trials_of_vertical = [one for one in found if one.vertical == vertical]
        figure = mean(chosen_f1(one, rankers) for one in trials_of_vertical)
        for one in trials_of_vertical:
            verdicts += judge_trial(one, rankers)
        print(f"{vertical}: {figure:.3f} of the best fields' F1, trained on other verticals", flush=True)
        if options.write:
            write(rankers, HELD_OUT / f"rankers-without-{vertical}.json")
    show_silence(Console(width=None if sys.stdout.isatty() else 120), verdicts)
    if options.write:
        write(train_rankers(made, found), PACKAGED)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
