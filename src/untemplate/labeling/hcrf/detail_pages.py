"""Find the attributes of detail pages: a page is one record, and the model of lists classifies its blocks.

We read the pages of a site together, which the paper does not: an attribute is in the slot whose leaves are
most likely to contain it, on average over the pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from operator import mul
from typing import NamedTuple

from untemplate.errors import PageError
from untemplate.labeling.finding import Finding
from untemplate.labeling.hcrf.site_slots import SlotKey, find_site_texts, find_slots, site_features
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

__all__ = [
    "MIN_PROBABILITY",
    "DetailPage",
    "SlotChoice",
    "choose_slots",
    "find_attributes",
    "read_detail_pages",
]

SOURCE = "hcrf"
# Pages with more elements and texts are skipped. This many need about 5 s, and pages about one record have few.
MAX_DETAIL_ROWS = 30_000
# A leaf with at least this probability contains an attribute, whatever its slot.
MIN_LEAF_PROBABILITY = 0.3
# A slot may contain an attribute with a type if this share of its texts do, as for fields of seed sites.
MIN_TYPED_SHARE = 0.1
# How the evidence for a slot becomes a confidence, chosen by `benchmarks.measure.details --vertical auto restaurant
# --choose`: half of the attributes as the sites of SWDE have them, half removed from their pages before.
CONFIDENCE_OFFSET = -0.98
CONFIDENCE_SLOPES = (1.39, 0.42, 1.17, -0.72)
# Smaller probabilities count as this one, so that logarithms exist.
MIN_PROBABILITY = 1e-6
# Attributes with a lower confidence count as not found. Of 0.1, 0.2 and 0.3 the one that keeps 97 % of what is
# right on these two verticals, by constants of the other one; it finds 18 % (restaurant) and 56 % (auto) of
# what was removed.
MIN_CONFIDENCE = 0.1


@dataclass(frozen=True, eq=False)
class DetailPage:
    """A detail page as the model sees it, and the slots of its leaves on the site."""

    page: Page
    scene: Scene
    observed: ObservedBlocks
    slots: dict[SlotKey, int]

    @cached_property
    def nodes(self) -> dict[int, Node]:
        """The node of each leaf with a text."""
        rows = (row for row, tag in enumerate(self.scene.profile.tree.tags) if tag == TEXT)
        nodes = (node for node in self.page.nodes if node.is_text and "/head/" not in node.path)
        by_row = dict(zip(rows, nodes, strict=True))
        return {leaf: by_row[self.scene.vision.rows[leaf][0]] for leaf in self.slots.values()}


def read_detail_pages(pages: Iterable[Page]) -> list[DetailPage]:
    """Return the pages of a site as the model sees them.

    Pages without text, unreadable pages and pages with more than MAX_DETAIL_ROWS elements and texts are skipped.
    """
    built = ((page, _build_page_scene(page)) for page in pages)
    readable = [(page, scene) for page, scene in built if scene is not None]
    scenes = [scene for _, scene in readable]
    titles = [page.title for page, _ in readable]
    site_texts = find_site_texts(scenes)
    slots = find_slots(scenes, site_texts)
    features: list[dict[int, list[str]]] = [{} for _ in scenes]
    if len(scenes) > 1:
        features = site_features(scenes, slots, titles, site_texts)
    return [
        DetailPage(page, scene, observe_page(page.title, scene, site_features=leaf_features), page_slots)
        for (page, scene), page_slots, leaf_features in zip(readable, slots, features, strict=True)
    ]


def _build_page_scene(page: Page) -> Scene | None:
    try:
        profile = profile_page(page, EstimatedLayout())
    except PageError:
        return None
    if len(profile.tree) > MAX_DETAIL_ROWS:
        return None
    # The page is one record, so that colored words are leaves of their own.
    scene = build_block_scene(profile, build_vision_tree(profile, [(0,)]))
    return scene if any(scene.texts) else None


def find_attributes(model: Hcrf, schema: Schema, pages: Sequence[DetailPage]) -> list[Finding]:
    """Return where the attributes of a model are on detail pages of one site.

    Args:
        model: a model of detail pages.
        schema: the schema that it was trained for.
        pages: pages that were read together.
    """
    probabilities = [model.marginals(page.observed).vertex for page in pages]
    findings: list[Finding] = []
    choices = choose_slots(model, schema, pages, probabilities)
    for number, name in enumerate(model.attributes):
        if name not in choices:
            continue
        nodes: list[tuple[Page, Node]] = []
        for page, by_class in zip(pages, probabilities, strict=True):
            leaves = _leaves_with(page, by_class[:, number], choices[name].slot, schema.attributes[name].many)
            nodes += [(page.page, page.nodes[leaf]) for leaf in leaves]
        coverage = len({id(page) for page, _ in nodes}) / len(pages)
        confidence = choices[name].confidence
        findings.append(Finding(name, confidence, nodes, coverage, confidence >= MIN_CONFIDENCE, SOURCE))
    return findings


def _leaves_with(page: DetailPage, probabilities: Floats, slot: SlotKey, many: bool) -> list[int]:
    """Return the leaves of a page with an attribute: that of its slot, else the likeliest if it is likely enough."""
    leaf = page.slots.get(slot)
    if leaf is None:
        best = max(page.slots.values(), key=lambda leaf: float(probabilities[leaf]))
        return [best] if probabilities[best] >= MIN_LEAF_PROBABILITY else []
    if not many:
        return [leaf]
    same_path = (other for key, other in page.slots.items() if key.path == slot.path)
    likely = {other for other in same_path if probabilities[other] >= MIN_LEAF_PROBABILITY}
    return sorted({leaf} | likely)


class SlotChoice(NamedTuple):
    """The slot of an attribute on a site, and the evidence for it."""

    slot: SlotKey
    #: the mean probability of the attribute in this slot, and in the likeliest other slot
    vote: float
    rival: float
    #: the share of pages that have the slot
    filled: float
    #: the mean probability of the likeliest other attribute in this slot
    other: float

    @property
    def evidence(self) -> tuple[float, float, float, float]:
        """Logarithms: probability, ratio to the rival, share of pages, and probability of another attribute."""
        vote, rival, filled, other = (log(max(share, MIN_PROBABILITY)) for share in self[1:])
        return vote, vote - rival, filled, other

    @property
    def confidence(self) -> float:
        """The probability that the choice is right."""
        return 1 / (1 + exp(-CONFIDENCE_OFFSET - sum(map(mul, CONFIDENCE_SLOPES, self.evidence))))


def choose_slots(
    model: Hcrf, schema: Schema, pages: Sequence[DetailPage], probabilities: Sequence[Floats]
) -> dict[str, SlotChoice]:
    """Return the slot of each attribute on a site: the surest first, and no slot twice.

    Args:
        model: a model of detail pages.
        schema: the schema that it was trained for.
        pages: pages of the site that were read together.
        probabilities: per page, those of the classes of each block.
    """
    votes, texts = _collect_votes(pages, probabilities)
    choices: dict[str, SlotChoice] = {}
    taken: set[SlotKey] = set()
    for number, slot in _rank_pairs(votes, len(model.attributes)):
        attribute = schema.attributes[model.attributes[number]]
        if attribute.name in choices or slot in taken or not _has_typed_values(texts[slot], attribute.type):
            continue
        filled = len(texts[slot]) / len(pages)
        choices[attribute.name] = _make_choice(votes, slot, number, len(model.attributes), filled)
        taken.add(slot)
    return choices


def _collect_votes(
    pages: Sequence[DetailPage], probabilities: Sequence[Floats]
) -> tuple[dict[SlotKey, Floats], dict[SlotKey, list[str]]]:
    """Return the mean probabilities of the classes of each slot, and its texts."""
    votes: dict[SlotKey, Floats] = {}
    texts: dict[SlotKey, list[str]] = {}
    for page, by_class in zip(pages, probabilities, strict=True):
        for slot, leaf in page.slots.items():
            votes[slot] = votes.get(slot, 0.0) + by_class[leaf] / len(pages)
            texts.setdefault(slot, []).append(page.scene.texts[leaf])
    return votes, texts


def _rank_pairs(votes: Mapping[SlotKey, Floats], attributes: int) -> Iterator[tuple[int, SlotKey]]:
    """Yield all pairs of an attribute's number and a slot, the likeliest first."""
    pairs: list[tuple[float, int, SlotKey]] = []
    for slot, vote in votes.items():
        pairs += [(float(vote[number]), number, slot) for number in range(attributes)]
    for _, number, slot in sorted(pairs, key=lambda pair: -pair[0]):
        yield number, slot


def _make_choice(
    votes: Mapping[SlotKey, Floats], slot: SlotKey, number: int, attributes: int, filled: float
) -> SlotChoice:
    rivals = [float(vote[number]) for other, vote in votes.items() if other != slot]
    others = [float(votes[slot][other]) for other in range(attributes) if other != number]
    vote = float(votes[slot][number])
    return SlotChoice(slot, vote, max(rivals, default=0.0), filled, max(others, default=0.0))


def _has_typed_values(texts: Sequence[str], type: Type) -> bool:
    """Return True if enough texts contain a value of a type."""
    if type in ANY_TEXT:
        return True
    return sum(find_typed(text, type) is not None for text in texts) >= MIN_TYPED_SHARE * len(texts)
