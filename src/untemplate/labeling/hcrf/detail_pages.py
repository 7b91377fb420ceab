"""Find the attributes of detail pages: a page is one record, and the model of lists classifies its blocks.

The paper labels each detail page by itself. We read the pages of a site together. A slot is the same position on
several pages: its leaves are a column, like those of the records of a list, and share its features. An attribute is
in the slot whose leaves are most likely to contain it, on average over the pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, log
from operator import mul
from statistics import mean
from typing import NamedTuple

from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling.label import Finding
from untemplate.labeling.nodes.fields import ANY_TEXT
from untemplate.layout import EstimatedLayout
from untemplate.lists.block_features import observe_page
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.hcrf_blocks import ObservedBlocks
from untemplate.lists.page_profile import profile_page
from untemplate.lists.page_tree import TEXT
from untemplate.lists.scene import Column, Scene, build_block_scene
from untemplate.lists.vision_tree import build_vision_tree
from untemplate.page import Node, Page
from untemplate.page.arrays import Doubles
from untemplate.schema import Schema, Type
from untemplate.value_types import find_typed

__all__ = [
    "MIN_PROBABILITY",
    "ClassPath",
    "DetailPage",
    "SlotChoice",
    "SlotKey",
    "choose_slots",
    "find_attributes",
    "find_site_texts",
    "find_slots",
    "read_detail_pages",
    "site_features",
]

# A text on this share of a site's pages, and on at least two, belongs to the site: captions, menus and the like.
MIN_SITE_TEXT_SHARE = 0.5
# The caption of a value is the site text before it, at most this many leaves away.
MAX_CAPTION_DISTANCE = 4
# Words of a slot that are features, those on the most pages; and letters with which all of its texts begin.
MAX_SLOT_WORDS = 12
MAX_SHARED_START = 8
# Words of a caption that are features, the last ones.
MAX_CAPTION_WORDS = 4

_WORD = re.compile(r"\w+")

ClassPath = tuple[tuple[str, str], ...]
"""The tags and classes from the root of a page to a leaf."""


class SlotKey(NamedTuple):
    """The position of a leaf, comparable between the pages of a site.

    The path is enough if no page has two leaves with it. Otherwise the caption before the leaf, its distance and a
    running number make the position unique.
    """

    path: ClassPath
    caption: str = ""
    distance: int = 0
    number: int = 0


def find_site_texts(scenes: Sequence[Scene]) -> set[str]:
    """Return the texts that belong to the site itself, such as captions and menus."""
    counts: Counter[str] = Counter()
    for scene in scenes:
        counts.update({*scene.texts} - {""})
    min_count = max(2, MIN_SITE_TEXT_SHARE * len(scenes))
    return {text for text, count in counts.items() if count >= min_count}


def find_slots(scenes: Sequence[Scene], site_texts: Collection[str]) -> list[dict[SlotKey, int]]:
    """Return per page its leaves with a text by their slots."""
    paths = [_leaf_paths(scene) for scene in scenes]
    repeated: set[ClassPath] = set()
    for leaf_paths in paths:
        counts = Counter(leaf_paths.values())
        repeated.update(path for path, count in counts.items() if count > 1)
    pages = zip(scenes, paths, strict=True)
    return [_page_slots(scene, leaf_paths, repeated, site_texts) for scene, leaf_paths in pages]


def _page_slots(
    scene: Scene, paths: Mapping[int, ClassPath], repeated: Collection[ClassPath], site_texts: Collection[str]
) -> dict[SlotKey, int]:
    captions = _captions_before(scene, site_texts)
    counts: Counter[SlotKey] = Counter()
    slots: dict[SlotKey, int] = {}
    for leaf, path in paths.items():
        slot = SlotKey(path)
        if path in repeated:
            text = scene.texts[leaf]
            caption, distance = (text, 0) if text in site_texts else captions[leaf]
            slot = SlotKey(path, caption, distance)
        slots[slot._replace(number=counts[slot])] = leaf
        counts[slot] += 1
    return slots


def _leaf_paths(scene: Scene) -> dict[int, ClassPath]:
    """Return the path of each leaf with a text."""
    tree = scene.profile.tree
    paths: list[ClassPath] = []
    for tag, class_name, parent in zip(tree.tags, tree.classes, tree.parent.tolist(), strict=True):
        above = paths[parent] if parent >= 0 else ()
        paths.append(above if tag == TEXT else (*above, (tag, class_name)))
    return {leaf: paths[rows[0]] for leaf, rows in enumerate(scene.vision.rows) if scene.texts[leaf]}


def _captions_before(scene: Scene, site_texts: Collection[str]) -> dict[int, tuple[str, int]]:
    """Return the site text before each leaf with a text, and its distance in leaves; ("", 0) if it is too far."""
    captions: dict[int, tuple[str, int]] = {}
    caption, distance = "", 0
    for leaf, text in enumerate(scene.texts):
        if not text:
            continue
        distance += 1
        captions[leaf] = (caption, distance) if distance <= MAX_CAPTION_DISTANCE else ("", 0)
        if text in site_texts:
            caption, distance = text, 0
    return captions


def site_features(
    scenes: Sequence[Scene],
    slots: Sequence[Mapping[SlotKey, int]],
    titles: Sequence[str],
    site_texts: Collection[str],
) -> list[dict[int, list[str]]]:
    """For each page, map each leaf to features computed from the same slot on the site's other pages.

    Args:
        scenes: the pages.
        slots: their leaves by slots, as from `find_slots`.
        titles: their titles.
        site_texts: the texts of the site itself.
    """
    captions = [_captions_before(scene, site_texts) for scene in scenes]
    features: list[dict[int, list[str]]] = [{} for _ in scenes]
    for leaves in _leaves_by_slot(slots):
        texts = [scenes[page].texts[leaf] for page, leaf in leaves.items()]
        usual_caption = Counter(captions[page][leaf][0] for page, leaf in leaves.items()).most_common(1)[0][0]
        shared = _slot_statistics(scenes, leaves, titles) + _slot_words(texts, usual_caption)
        for (page, leaf), text in zip(leaves.items(), texts, strict=True):
            features[page][leaf] = [*shared, f"!common {text in site_texts}"]
    return features


def _leaves_by_slot(slots: Sequence[Mapping[SlotKey, int]]) -> list[dict[int, int]]:
    """Return for each slot the pages that have it, by number, with their leaf."""
    columns: dict[SlotKey, dict[int, int]] = {}
    for page, leaves in enumerate(slots):
        for slot, leaf in leaves.items():
            columns.setdefault(slot, {})[page] = leaf
    return list(columns.values())


def _slot_statistics(scenes: Sequence[Scene], leaves: Mapping[int, int], titles: Sequence[str]) -> list[str]:
    """Return statistics of a slot's texts."""
    texts = [scenes[page].texts[leaf] for page, leaf in leaves.items()]
    contexts = [scenes[page].link_and_heading(leaf) for page, leaf in leaves.items()]
    linked, headed = zip(*contexts, strict=True)
    column = Column.measure(dict.fromkeys(leaves.values(), 0), len(scenes), texts, linked, headed)
    pages = zip(leaves, texts, strict=True)
    in_title = mean(len(text) > 2 and text in titles[page] for page, text in pages)
    return [*(f"!{name}" for name in column.features()), f"!column in title {round(4 * in_title)}"]


def _slot_words(texts: Sequence[str], caption: str) -> list[str]:
    """Return the words of a slot's texts and of its caption."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({*_split_words(text)})
    features = [f"~column word {word}" for word, _ in counts.most_common(MAX_SLOT_WORDS)]
    start = _shared_start(texts) if len(texts) > 1 else ""
    if start:
        features.append(f"~column begins {start[:MAX_SHARED_START]}")
    if ":" in start and _split_words(start):
        caption = start
    words = _split_words(caption)
    features.append(f"~label {' '.join(words)}")
    return features + [f"~label word {word}" for word in words[-MAX_CAPTION_WORDS:]]


def _shared_start(texts: Sequence[str]) -> str:
    """Return the characters with which all texts begin."""
    # What the first and the last text in alphabetical order share, all texts share.
    low, high = min(texts), max(texts)
    for index, char in enumerate(low):
        if high[index : index + 1] != char:
            return low[:index]
    return low


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


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
        """The node of each leaf with a text: the texts of an element have the same order in both."""
        tree = self.scene.profile.tree
        nodes_of_element: dict[etree._Element, list[Node]] = {}
        for node in self.page.nodes:
            if node.is_text:
                nodes_of_element.setdefault(node.parent, []).append(node)
        rows_of_element: dict[etree._Element, list[int]] = {}
        for row, tag in enumerate(tree.tags):
            if tag == TEXT:
                rows_of_element.setdefault(tree.elements[row], []).append(row)
        by_row: dict[int, Node] = {}
        for element, rows in rows_of_element.items():
            by_row.update(zip(rows, nodes_of_element.get(element, ()), strict=False))
        first_rows = {leaf: self.scene.vision.rows[leaf][0] for leaf in self.slots.values()}
        return {leaf: by_row[row] for leaf, row in first_rows.items() if row in by_row}


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
            nodes += [(page.page, page.nodes[leaf]) for leaf in leaves if leaf in page.nodes]
        coverage = len({id(page) for page, _ in nodes}) / len(pages)
        confidence = choices[name].confidence
        findings.append(Finding(name, confidence, nodes, coverage, confidence >= MIN_CONFIDENCE, SOURCE))
    return findings


def _leaves_with(page: DetailPage, probabilities: Doubles, slot: SlotKey, many: bool) -> list[int]:
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
    model: Hcrf, schema: Schema, pages: Sequence[DetailPage], probabilities: Sequence[Doubles]
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
    pages: Sequence[DetailPage], probabilities: Sequence[Doubles]
) -> tuple[dict[SlotKey, Doubles], dict[SlotKey, list[str]]]:
    """Return the mean probabilities of the classes of each slot, and its texts."""
    votes: dict[SlotKey, Doubles] = {}
    texts: dict[SlotKey, list[str]] = {}
    for page, by_class in zip(pages, probabilities, strict=True):
        for slot, leaf in page.slots.items():
            votes[slot] = votes.get(slot, 0.0) + by_class[leaf] / len(pages)
            texts.setdefault(slot, []).append(page.scene.texts[leaf])
    return votes, texts


def _rank_pairs(votes: Mapping[SlotKey, Doubles], attributes: int) -> Iterator[tuple[int, SlotKey]]:
    """Yield all pairs of an attribute's number and a slot, the likeliest first."""
    pairs: list[tuple[float, int, SlotKey]] = []
    for slot, vote in votes.items():
        pairs += [(float(vote[number]), number, slot) for number in range(attributes)]
    for _, number, slot in sorted(pairs, key=lambda pair: -pair[0]):
        yield number, slot


def _make_choice(
    votes: Mapping[SlotKey, Doubles], slot: SlotKey, number: int, attributes: int, filled: float
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
