"""Features of the blocks of a page for the HCRF, as words: layout, names, contents, neighbors and repetition.

Numbers become words by their magnitude, so that all features are Boolean. Features that begin with "!" are strong
evidence of what a leaf is; those that begin with "~" contain words of the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import log2
from types import MappingProxyType

import numpy as np

from untemplate.layout import VIEWPORT
from untemplate.lists.groups import Group
from untemplate.lists.hcrf_blocks import FeatureSlots, ObservedBlocks, subtree_parents, triangle_types
from untemplate.lists.page_profile import HEADINGS
from untemplate.lists.page_tree import TEXT
from untemplate.lists.scene import Scene, content_type, mentioned_types
from untemplate.lists.vision_tree import VisionTree
from untemplate.page import squeeze
from untemplate.page.arrays import Doubles, Longs

__all__ = [
    "MAX_MARKED_GROUPS",
    "BlockFeatures",
    "LeafFeatures",
    "global_features",
    "observe_page",
    "observe_records",
]

LeafFeatures = Mapping[int, Sequence[str]]
"""Leaf -> more features of it."""

# Elements above a leaf whose names are features, and words of a leaf's text.
MAX_ANCESTORS = 3
MAX_TEXT_WORDS = 4
# Longer texts beside a leaf are no captions.
MAX_NEIGHBOR_LENGTH = 40
# Characters of a text whose kinds form its shape.
MAX_SHAPE_LENGTH = 24
MIN_BOLD_WEIGHT = 600
# The best groups of the page, whose members are marked.
MAX_MARKED_GROUPS = 3
# Columns after this one have the same number.
MAX_COLUMN_NUMBER = 6
MAX_DEPTH = 12
_USUAL_FONT = 16.0
_NOTHING: LeafFeatures = MappingProxyType({})
_WORD = re.compile(r"\w+")
_LONG_NUMBER = re.compile(r"\d{3}")


def observe_page(
    title: str, scene: Scene, groups: Sequence[Group] = (), site_features: LeafFeatures = _NOTHING
) -> ObservedBlocks:
    """Return all blocks of a page with their features.

    Args:
        title: the title of the page.
        scene: its blocks.
        groups: its likely records, the best group first.
        site_features: features of leaves that come from other pages of the site.
    """
    return BlockFeatures(title, scene, groups, global_features(scene)).observe(site_features)


def observe_records(title: str, scene: Scene, group: Group) -> dict[int, ObservedBlocks]:
    """Return the records of a group, by their blocks, with the same features as if the whole page were observed."""
    vision = scene.vision
    features = BlockFeatures(title, scene, [group], global_features(scene))
    types = triangle_types(scene.profile, vision)
    records: dict[int, ObservedBlocks] = {}
    for run in group.runs:
        block = vision.find(run)
        if block is None:
            continue
        end = int(vision.end[block])
        parents = subtree_parents(vision.parent, block, end)
        slots, counts = features.encode(block, end)
        records[block] = ObservedBlocks(parents, slots, counts, types[block:end])
    return records


class BlockFeatures:
    """Computes the features of the blocks of a page.

    Args:
        title: the title of the page.
        scene: its blocks.
        groups: its likely records, the best group first.
        global_features: features of leaves that compare them with the rest of the page.
    """

    def __init__(
        self, title: str, scene: Scene, groups: Sequence[Group], global_features: LeafFeatures
    ) -> None:
        self._profile, self._vision, self._texts = scene.profile, scene.vision, scene.texts
        self._slots = FeatureSlots()
        self._title = squeeze(title).lower()
        self._leaves = _leaves_of(scene.vision)
        self._leaf_numbers = {block: number for number, block in enumerate(self._leaves)}
        self._box_features = _box_features(scene.vision.boxes)
        self._global_features = global_features
        self._marks = _mark_records(scene.vision, groups[:MAX_MARKED_GROUPS])
        self._first_texts = _leading_texts(scene, groups[0]) if groups else set()
        self._measure_rows()
        self._measure_blocks()
        self._name_features: dict[int, list[str]] = {}
        self._text_features: dict[str, list[str]] = {}

    def _measure_rows(self) -> None:
        """Compute columns over the rows of the page tree, as lists: single items of arrays are slow."""
        profile = self._profile
        first_rows = [self._vision.rows[block][0] for block in self._leaves]
        usual_font = float(np.median(profile.font_size[first_rows])) if first_rows else _USUAL_FONT
        self._fonts: list[int] = np.round(profile.font_size / usual_font * 4).astype(np.int64).tolist()
        self._bold: list[bool] = (profile.font_weight >= MIN_BOLD_WEIGHT).tolist()
        self._in_link: list[float] = profile.in_link.tolist()
        self._concealed: list[float] = profile.concealed.tolist()

    def _measure_blocks(self) -> None:
        """Count the kinds of leaves in each block, its descendants and ancestors, and siblings of its shape."""
        vision = self._vision
        self._mentioned = {text: mentioned_types(text) for text in {*self._texts}}
        self._prices = self._count(self._leaves_that_mention("price"))
        self._dates = self._count(self._leaves_that_mention("date"))
        self._images = self._count([leaf for leaf in self._leaves if not self._texts[leaf]])
        self._sizes = vision.end - np.arange(len(vision))
        self._twins = Counter(self._shape_beside(block) for block in range(len(vision)))
        self._depth = [0] * len(vision)
        for block, parent in enumerate(vision.parent.tolist()):
            self._depth[block] = self._depth[parent] + 1 if parent >= 0 else 0

    def _leaves_that_mention(self, name: str) -> list[int]:
        return [leaf for leaf in self._leaves if name in self._mentioned[self._texts[leaf]]]

    def _count(self, leaves: Sequence[int]) -> Longs:
        """Count the given leaves in each block."""
        marked = np.zeros(len(self._vision) + 1, np.int64)
        marked[1:][leaves] = 1
        sums = np.cumsum(marked)
        inside: Longs = sums[self._vision.end] - sums[:-1]
        return inside

    def _shape_beside(self, block: int) -> tuple[int, int]:
        """Return the parent of a block and the code of its shape."""
        return int(self._vision.parent[block]), self._profile.shapes.codes[self._vision.rows[block][0]]

    def observe(self, site_features: LeafFeatures = _NOTHING) -> ObservedBlocks:
        """Return all blocks with their features."""
        slots, counts = self.encode(0, len(self._vision), site_features)
        types = triangle_types(self._profile, self._vision)
        return ObservedBlocks(self._vision.parent, slots, counts, types)

    def encode(self, start: int, end: int, site_features: LeafFeatures = _NOTHING) -> tuple[Longs, Longs]:
        """Return the slots of the features of a range of blocks, and the number of features of each block."""
        blocks = ([*self._features(block), *site_features.get(block, ())] for block in range(start, end))
        return self._slots.encode(blocks)

    def _features(self, block: int) -> list[str]:
        return self._inner_features(block) if self._vision.children[block] else self._leaf_features(block)

    def _leaf_features(self, block: int) -> list[str]:
        row, text = self._vision.rows[block][0], self._texts[block]
        features = ["leaf", f"font {self._fonts[row]}", *self._box_features[block], *self._names(row)]
        if self._in_link[row]:
            features.append("link")
        if self._concealed[row]:
            features.append("!concealed")
        if self._bold[row]:
            features.append("bold")
        if block in self._marks:
            features.append(f"mark {self._marks[block]}")
        if block in self._first_texts:
            features.append("first text of a record")
        features += self._global_features.get(block, ())
        if not text:
            return features + self._image_features(row)
        if text not in self._text_features:
            self._text_features[text] = self._content_features(text)
        return features + self._text_features[text] + self._neighbor_features(block)

    def _inner_features(self, block: int) -> list[str]:
        profile, vision, rows = self._profile, self._vision, self._vision.rows[block]
        chars = sum(float(profile.chars[row]) for row in rows)
        link_chars = sum(float(profile.link_chars[row]) for row in rows)
        features = [
            "inner",
            *(f"i {feature}" for feature in self._box_features[block]),
            *(f"~i name {word}" for word in profile.words[rows[0]]),
            f"i chars {_magnitude(chars)}",
            f"i links {round(4 * link_chars / max(chars, 1.0))}",
            f"i blocks {_magnitude(float(self._sizes[block]))}",
            f"i children {_magnitude(float(len(vision.children[block])))}",
            f"i coherence {int(vision.coherence[block])}",
            f"i depth {min(self._depth[block], MAX_DEPTH)}",
            f"i prices {_magnitude(float(self._prices[block]))}",
            f"i dates {_magnitude(float(self._dates[block]))}",
            f"i images {_magnitude(float(self._images[block]))}",
            f"i headed {any(profile.headings[row] > 0 for row in rows)}",
            f"i aside {bool(profile.aside[rows[0]])} main {bool(profile.main[rows[0]])}",
            f"i twins {_magnitude(float(self._twins[self._shape_beside(block)]))}",
        ]
        if block in self._marks:
            features.append(f"i mark {self._marks[block]}")
        return features

    def _names(self, row: int) -> list[str]:
        """Return the tags and names of the elements around a leaf."""
        tree = self._profile.tree
        start = row if tree.tags[row] != TEXT else int(tree.parent[row])
        if start in self._name_features:
            return self._name_features[start]
        features: list[str] = []
        element = start
        for level in range(MAX_ANCESTORS):
            if element < 0:
                break
            features.append(f"tag {level} {tree.tags[element]}")
            if tree.tags[element] in HEADINGS:
                features.append("heading")
            features += [f"~name {word}" for word in self._profile.words[element]]
            element = int(tree.parent[element])
        self._name_features[start] = features
        return features

    def _content_features(self, text: str) -> list[str]:
        """Return the features of a text by its characters and words, and by the title of the page."""
        lower, parts = text.lower(), text.split()
        words = _WORD.findall(lower)
        length = _magnitude(float(len(words)))
        features = [
            f"letters {_magnitude(float(len(text)))}",
            f"words {length}",
            f"digits {round(4 * sum(map(str.isdigit, text)) / len(text))}",
            f"capitals {round(4 * sum(part[0].isupper() for part in parts) / max(len(parts), 1))}",
            f"!content {content_type(text)}",
            f"ends {'x' if text[-1].isalnum() else text[-1]}",
            f"~shape {_character_shape(text)}",
        ]
        features += [f"{name} words {length}" for name in self._mentioned[text]]
        for word in (*words[: MAX_TEXT_WORDS - 1], *words[-1:]):
            features.append(f"~word {'9' * len(word) if word.isdigit() else word}")
        if len(text) > 2 and lower in self._title:
            features.append(f"in title {round(4 * len(text) / len(self._title))}")
        elif len(self._title) > 2 and self._title in lower:
            features.append("has title")
        return features

    def _neighbor_features(self, block: int) -> list[str]:
        """Return the features of the leaves before and after a leaf; a short text is often its caption."""
        number = self._leaf_numbers[block]
        features: list[str] = []
        for name, neighbor in (("before", number - 1), ("after", number + 1)):
            if not 0 <= neighbor < len(self._leaves):
                continue
            text = self._texts[self._leaves[neighbor]].lower()
            if len(text) <= MAX_NEIGHBOR_LENGTH:
                features.append(f"~{name} {text}")
                features += [f"~{name} word {word}" for word in _WORD.findall(text)[-2:]]
            features.append(f"{name} {'text' if text else 'image'}")
        return features

    def _image_features(self, row: int) -> list[str]:
        element = self._profile.tree.elements[row]
        source = element.get("src", "").lower()
        return [
            "image",
            f"image is {element.tag} jpeg {'.jp' in source} coded {bool(_LONG_NUMBER.search(source))}",
            f"image alt {bool(element.get('alt'))}",
        ]


def _leaves_of(vision: VisionTree) -> list[int]:
    return [block for block, children in enumerate(vision.children) if not children]


def global_features(scene: Scene) -> dict[int, list[str]]:
    """Return features that compare each leaf with the rest of the page: repetition, and its column."""
    features = _repetition_features(scene)
    for leaf, more in _column_features(scene).items():
        features[leaf] += more
    return features


def _repetition_features(scene: Scene) -> dict[int, list[str]]:
    """Return whether the texts in the same context repeat, as buttons do, or differ, as values do."""
    leaves = _leaves_of(scene.vision)
    path_ids = scene.profile.tree.path_ids
    contexts = [path_ids[scene.vision.rows[leaf][0]] for leaf in leaves]
    contents = [(scene.texts[leaf] or scene.image_address(leaf)) for leaf in leaves]
    leaf_counts = Counter(contexts)
    content_counts = Counter(zip(contexts, contents, strict=True))
    different = Counter(context for context, _ in content_counts)
    features: dict[int, list[str]] = {}
    for leaf, context, content in zip(leaves, contexts, contents, strict=True):
        count = leaf_counts[context]
        features[leaf] = [f"places {_magnitude(float(count))}"]
        if count > 1:
            is_repeated = content_counts[context, content] > 1
            features[leaf] += [
                f"repeated {is_repeated}",
                f"different {round(4 * different[context] / count)}",
            ]
    return features


def _column_features(scene: Scene) -> dict[int, list[str]]:
    """Return statistics of each leaf's column, and which leaves are titles and largest images of records."""
    features: dict[int, list[str]] = {}
    for number, column in enumerate(scene.columns):
        statistics = [f"!{name}" for name in column.features()]
        statistics.append(f"column {min(number, MAX_COLUMN_NUMBER)}")
        statistics.append(f"wordy {column.may_be_title}")
        features |= dict.fromkeys(column.leaves, statistics)
    for leaf in scene.titles(scene.columns):
        features[leaf] = [*features[leaf], "!first prominent"]
    images = scene.largest_images(scene.runs)
    if images:
        filled = round(4 * len(images) / len(scene.runs))
        different = round(4 * len({*map(scene.image_address, images)}) / len(images))
        statistics = [f"!largest image filled {filled} different {different}"]
        features |= dict.fromkeys(images, statistics)
    return features


def _mark_records(vision: VisionTree, groups: Sequence[Group]) -> dict[int, str]:
    """Return how blocks relate to the records of groups: is one, is in one, contains some or all of them.

    Where groups overlap, the marks of better groups replace those of others.
    """
    marks: dict[int, str] = {}
    for rank in range(len(groups) - 1, -1, -1):
        blocks = [block for run in groups[rank].runs if (block := vision.find(run)) is not None]
        for block in blocks:
            marks |= dict.fromkeys(range(block + 1, int(vision.end[block])), f"in {rank}")
        marks |= _mark_regions(vision, blocks, rank)
        marks |= dict.fromkeys(blocks, f"is {rank}")
    return marks


def _mark_regions(vision: VisionTree, blocks: Sequence[int], rank: int) -> dict[int, str]:
    """Return marks of the blocks that contain records."""
    records_inside: Counter[int] = Counter()
    parents: list[int] = vision.parent.tolist()
    for block in blocks:
        parent = parents[block]
        while parent >= 0:
            records_inside[parent] += 1
            parent = parents[parent]
    regions = {parents[block] for block in blocks}
    marks: dict[int, str] = {}
    for block, count in records_inside.items():
        contains = "all" if count == len(blocks) else "some"
        marks[block] = f"{contains} {rank} own {block in regions}"
    return marks


def _leading_texts(scene: Scene, group: Group) -> set[int]:
    """Return the first leaf with a text of each record."""
    first_texts: set[int] = set()
    for run in group.runs:
        block = scene.vision.find(run)
        if block is not None:
            inside = range(block, int(scene.vision.end[block]))
            with_text = [leaf for leaf in inside if scene.texts[leaf]]
            first_texts.update(with_text[:1])
    return first_texts


def _box_features(boxes: Doubles) -> list[tuple[str, ...]]:
    """Return where each block is and how large it is."""
    x, y, width, height = boxes.T
    page_height = max(float((y + height).max(initial=1.0)), 1.0)
    columns = {
        "x": np.round(8 * (x + width / 2) / VIEWPORT),
        "y": np.round(8 * y / page_height),
        "down": _magnitudes(y),
        "width": np.round(8 * width / VIEWPORT),
        "height": _magnitudes(height),
        "area": _magnitudes(width * height),
    }
    named = [_name_numbers(name, column) for name, column in columns.items()]
    return list(zip(*named, strict=True))


def _name_numbers(name: str, column: Doubles) -> Iterator[str]:
    return (f"{name} {value}" for value in column.astype(np.int64).tolist())


def _magnitudes(numbers: Doubles) -> Doubles:
    magnitudes: Doubles = np.floor(np.log2(np.maximum(numbers, 0.0) + 1) * 2)
    return magnitudes


def _magnitude(number: float) -> int:
    return int(log2(number + 1) * 2) if number > 0 else 0


def _character_shape(text: str) -> str:
    """Return the kinds of characters of a text, repeated ones once: "X9-9" for "AB12-3"."""
    shape = ""
    for char in text[:MAX_SHAPE_LENGTH]:
        kind = _character_kind(char)
        if not shape.endswith(kind):
            shape += kind
    return shape


def _character_kind(char: str) -> str:
    if char.isdigit():
        return "9"
    if char.isupper():
        return "X"
    return "x" if char.isalpha() else char
