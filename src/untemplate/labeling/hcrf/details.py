"""Detail pages: a page is one record, and its blocks are labelled by the same model as those of lists.

The pages of a site are read together, which the paper does not: an attribute is in the place whose leaves are
likeliest to hold it, the mean over pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from operator import mul
from typing import NamedTuple

from untemplate.errors import PageError
from untemplate.labeling.finding import Finding
from untemplate.labeling.hcrf.places import Place, find_places, site_texts, tell
from untemplate.labeling.nodes.fields import ANY_TEXT
from untemplate.layout import EstimatedLayout
from untemplate.lists.block_features import observe_page
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.hcrf_input import ObservedBlocks
from untemplate.lists.page_profile import profile_page
from untemplate.lists.page_tree import TEXT, Floats
from untemplate.lists.scene import Scene, build_block_scene
from untemplate.lists.vision_tree import build_vision_tree
from untemplate.page import Node, Page
from untemplate.schema import Schema, Type
from untemplate.value_types import find_typed

__all__ = ["Choice", "Detail", "choose_places", "find_details", "read_details"]

SOURCE = "hcrf"
# Pages that show more elements and texts are left out: so many take some 5 s, and pages of one record have few.
MAX_ROWS = 30_000
# A leaf that is so likely holds an attribute, wherever it stands.
LIKELY = 0.3
# In places of an attribute with a type so many of the texts have values of it, as fields of seed sites do.
TYPED = 0.1
# How the evidence of a place becomes a chance to be right, chosen by `benchmarks.measure.details --vertical auto
# restaurant --choose`: half of the attributes as the sites of SWDE have them, half taken off their pages before.
OFFSET = -0.98
SLOPES = (1.39, 0.42, 1.17, -0.72)
LEAST = 1e-6
# Below this chance an attribute counts as not found. Of 0.1, 0.2 and 0.3 the one that keeps 97 % of what is right on
# these two verticals, by constants of the other one; it finds 18 % (restaurant) and 56 % (auto) of what is taken off.
MIN_CONFIDENCE = 0.1


@dataclass(frozen=True, eq=False)
class Detail:
    """A detail page as the model sees it, and where its leaves stand among those of its site."""

    page: Page
    scene: Scene
    observed: ObservedBlocks
    places: dict[Place, int]

    @cached_property
    def nodes(self) -> dict[int, Node]:
        """The node of each leaf with a text."""
        rows = (row for row, tag in enumerate(self.scene.profile.tree.tags) if tag == TEXT)
        nodes = (node for node in self.page.nodes if node.is_text and "/head/" not in node.path)
        by_row = dict(zip(rows, nodes, strict=True))
        leaves = self.places.values()
        return {leaf: by_row[self.scene.vision.rows[leaf][0]] for leaf in leaves}


def read_details(pages: Iterable[Page]) -> list[Detail]:
    """The pages of a site, those left out that cannot be read, show no text or far too much."""
    seen: list[tuple[Page, Scene]] = []
    for page in pages:
        try:
            survey = profile_page(page, EstimatedLayout())
        except PageError:
            continue
        if len(survey.tree) > MAX_ROWS:
            continue
        # A page is one record, so that colored words are leaves of their own.
        scene = build_block_scene(survey, build_vision_tree(survey, [(0,)]))
        if any(scene.texts):
            seen.append((page, scene))
    scenes = [scene for _, scene in seen]
    titles = [page.title for page, _ in seen]
    common = site_texts(scenes)
    places = find_places(scenes, common)
    told = tell(scenes, places, titles, common) if len(scenes) > 1 else [{} for _ in scenes]
    return [
        Detail(page, scene, observe_page(title, scene, site_features=known), own)
        for (page, scene), title, own, known in zip(seen, titles, places, told, strict=True)
    ]


def find_details(model: Hcrf, schema: Schema, details: Sequence[Detail]) -> list[Finding]:
    """Where the attributes of a model stand on detail pages of one site that were read together."""
    shares = [model.marginals(one.observed).vertex for one in details]
    chosen = choose_places(model, schema, details, shares)
    findings: list[Finding] = []
    for number, name in enumerate(model.attributes):
        if name not in chosen:
            continue
        choice = chosen[name]
        nodes: list[tuple[Page, Node]] = []
        for one, own in zip(details, shares, strict=True):
            leaves = _leaves(one, own[:, number], choice.place, schema.attributes[name].many)
            nodes += [(one.page, one.nodes[leaf]) for leaf in leaves]
        coverage = len({id(page) for page, _ in nodes}) / len(details)
        sure = choice.confidence
        findings.append(Finding(name, sure, nodes, coverage, sure >= MIN_CONFIDENCE, SOURCE))
    return findings


class Choice(NamedTuple):
    """The place of an attribute on a site, and how likely its leaves hold it, the mean over pages."""

    place: Place
    vote: float
    #: that of the likeliest other place
    rival: float
    #: the share of pages that have the place
    filled: float
    #: how likely it holds another attribute
    other: float

    @property
    def evidence(self) -> tuple[float, float, float, float]:
        """How likely it is, how much likelier than elsewhere, on how many pages, and how likely something else."""
        vote, rival, filled, other = (log(max(one, LEAST)) for one in self[1:])
        return vote, vote - rival, filled, other

    @property
    def confidence(self) -> float:
        """The chance to be right."""
        return 1 / (1 + exp(-OFFSET - sum(map(mul, SLOPES, self.evidence))))


def choose_places(
    model: Hcrf, schema: Schema, details: Sequence[Detail], shares: Sequence[Floats]
) -> dict[str, Choice]:
    """The place of each attribute on a site: the surest first, and no place twice."""
    votes: dict[Place, Floats] = {}
    texts: dict[Place, list[str]] = {}
    for one, own in zip(details, shares, strict=True):
        for place, leaf in one.places.items():
            votes[place] = votes.get(place, 0.0) + own[leaf] / len(details)
            texts.setdefault(place, []).append(one.scene.texts[leaf])
    names = model.attributes
    pairs = [
        (float(vote[number]), number, place) for place, vote in votes.items() for number in range(len(names))
    ]
    chosen: dict[str, Choice] = {}
    taken: set[Place] = set()
    for vote, number, place in sorted(pairs, key=lambda pair: -pair[0]):
        attribute = schema.attributes[names[number]]
        if attribute.name not in chosen and place not in taken and _is_typed(texts[place], attribute.type):
            rival = max((float(own[number]) for other, own in votes.items() if other != place), default=0.0)
            other = max((float(votes[place][one]) for one in range(len(names)) if one != number), default=0.0)
            chosen[attribute.name] = Choice(place, vote, rival, len(texts[place]) / len(details), other)
            taken.add(place)
    return chosen


def _is_typed(texts: Sequence[str], type: Type) -> bool:
    """Whether a place may hold values of a type."""
    if type in ANY_TEXT:
        return True
    return sum(find_typed(text, type) is not None for text in texts) >= TYPED * len(texts)


def _leaves(detail: Detail, likely: Floats, place: Place, many: bool) -> list[int]:
    """The leaves of a page that hold an attribute: that in its place, else the likeliest if it is likely enough."""
    leaf = detail.places.get(place)
    if leaf is None:
        best = max(detail.places.values(), key=lambda one: float(likely[one]))
        return [best] if likely[best] >= LIKELY else []
    if not many:
        return [leaf]
    alike = (
        other for at, other in detail.places.items() if at.path == place.path and likely[other] >= LIKELY
    )
    return sorted({leaf, *alike})
