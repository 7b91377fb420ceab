"""What the model sees of a page: Boolean features of blocks, and how alike neighbouring blocks are.

Features are words that are hashed into a fixed number of slots, so that a model is one matrix, whatever it was
trained on. Numbers become words by their size.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from types import MappingProxyType
from zlib import crc32

import numpy as np

from untemplate.layout import VIEWPORT
from untemplate.lists.groups import Group
from untemplate.lists.hcrf.contents import content, mentions
from untemplate.lists.hcrf.distances import like_siblings
from untemplate.lists.hcrf.scene import Scene
from untemplate.lists.survey import HEADINGS
from untemplate.lists.tree import TEXT, Floats, Ints
from untemplate.page import squeeze

__all__ = ["COMMON_SLOTS", "SLOTS", "TELLING_SLOTS", "Observed", "observe", "observe_records"]

SLOTS = 1 << 14
# The first slots are for features that say what a leaf is, which begin with "!"; then those that any page may have;
# the others are for words, which begin with a tilde.
TELLING_SLOTS = 1 << 10
COMMON_SLOTS = 1 << 13
# Around a leaf: so many elements up, so many of its words, and how long what stands beside it may be.
MAX_ABOVE = 3
MAX_WORDS = 4
MAX_BESIDE = 40
BOLD = 600
# The groups of the page that most look like records are features of their blocks.
MAX_GROUPS = 3
_WORD = re.compile(r"\w+")
_CODED = re.compile(r"\d{3}")


@dataclass(frozen=True, eq=False)
class Observed:
    """The blocks of a page as the model sees them."""

    parent: Ints
    #: the slots of all features, block after block, and how many each has
    slots: Ints
    counts: Ints
    #: the type of the pair or triangle in which each block is the (right) child
    types: Ints

    def part(self, block: int, end: int) -> Observed:
        """The blocks from one to before another, which all stand in the first."""
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        parent = self.parent[block:end] - block
        parent[0] = -1
        slots = self.slots[starts[block] : starts[end]]
        return Observed(parent, slots, self.counts[block:end], self.types[block:end])


_RANGES = {"!": (0, TELLING_SLOTS), "~": (COMMON_SLOTS, SLOTS)}


class _Slots(dict[str, int]):
    """The slot of each feature; the same word always has the same one."""

    def __missing__(self, feature: str) -> int:
        start, end = _RANGES.get(feature[0], (TELLING_SLOTS, COMMON_SLOTS))
        slot = self[feature] = start + crc32(feature.encode("utf-8", "replace")) % (end - start)
        return slot


def observe(
    title: str,
    scene: Scene,
    groups: Sequence[Group] = (),
    is_global: bool = True,
    told: Mapping[int, Sequence[str]] = MappingProxyType({}),
) -> Observed:
    """The features of all blocks: `groups` are the likely records, best first, `title` is that of the page.

    Global features tell what repeats on the page; `told` are features that other pages tell of its leaves.
    """
    vision, view = scene.vision, _View(title, scene, groups, is_global)
    slots, counts = view.slots(range(len(vision)), told)
    return Observed(vision.parent, slots, counts, like_siblings(scene.survey, vision))


def observe_records(title: str, scene: Scene, group: Group) -> dict[int, Observed]:
    """The features of the records of a group alone, by their blocks; the same as if all of the page were observed."""
    vision, view = scene.vision, _View(title, scene, [group], is_global=True)
    types = like_siblings(scene.survey, vision)
    found: dict[int, Observed] = {}
    for run in group.runs:
        block = vision.find(run)
        if block is not None:
            own = slice(block, int(vision.end[block]))
            parent = vision.parent[own] - block
            parent[0] = -1
            found[block] = Observed(parent, *view.slots(range(own.start, own.stop)), types[own])
    return found


class _View:
    """What is known about the blocks of a page."""

    def __init__(self, title: str, scene: Scene, groups: Sequence[Group], is_global: bool) -> None:
        self._scene, self._slots = scene, _Slots()
        survey, vision = scene.survey, scene.vision
        self._survey, self._vision, self._tree, self._texts = survey, vision, survey.tree, scene.texts
        self._title = squeeze(title).lower()
        self._leaves = [block for block, children in enumerate(vision.children) if not children]
        self._order = {block: number for number, block in enumerate(self._leaves)}
        self._places = _describe_boxes(vision.boxes)
        first = [vision.rows[block][0] for block in self._leaves]
        usual_font = float(np.median(survey.font_size[first])) if first else 16.0
        self._fonts: list[int] = np.round(survey.font_size / usual_font * 4).astype(np.int64).tolist()
        self._bold: list[bool] = (survey.font_weight >= BOLD).tolist()
        self._in_link: list[float] = survey.in_link.tolist()
        self._concealed: list[float] = survey.concealed.tolist()
        self._around: dict[int, list[str]] = {}
        self._contents: dict[str, list[str]] = {}
        self._said = {text: mentions(text) for text in {*self._texts}}
        self._repeats = self._count_repeats() if is_global else None
        self._of_columns: dict[int, list[str]] = self._columns() if is_global else {}
        self._marks = [""] * len(vision)
        self._first_text: set[int] = set()
        for rank, group in reversed(list(enumerate(groups[:MAX_GROUPS]))):
            self._mark(str(rank), group)
        self._prices = self._count(lambda block: "price" in self._said[self._texts[block]])
        self._dates = self._count(lambda block: "date" in self._said[self._texts[block]])
        self._images = self._count(lambda block: not self._texts[block])
        self._sizes = vision.end - np.arange(len(vision))
        self._codes = Counter(
            (int(vision.parent[block]), survey.shapes.codes[rows[0]])
            for block, rows in enumerate(vision.rows)
        )
        self._depth = np.zeros(len(vision), np.int64)
        for block in range(1, len(vision)):
            self._depth[block] = self._depth[vision.parent[block]] + 1

    def slots(
        self, blocks: Iterable[int], told: Mapping[int, Sequence[str]] = MappingProxyType({})
    ) -> tuple[Ints, Ints]:
        """The slots of the features of these blocks, one after the other, and how many each has."""
        slots: list[int] = []
        counts: list[int] = []
        for block in blocks:
            before = len(slots)
            slots += map(self._slots.__getitem__, self.features(block))
            slots += map(self._slots.__getitem__, told.get(block, ()))
            counts.append(len(slots) - before)
        return np.array(slots, np.int64), np.array(counts, np.int64)

    def features(self, block: int) -> list[str]:
        return self.inner(block) if self._vision.children[block] else self.leaf(block)

    def leaf(self, block: int) -> list[str]:
        row, text = self._vision.rows[block][0], self._texts[block]
        found = ["leaf", f"font {self._fonts[row]}", *self._places[block], *self._names(row)]
        if self._in_link[row]:
            found.append("link")
        if self._concealed[row]:
            found.append("!concealed")
        if self._bold[row]:
            found.append("bold")
        if self._marks[block]:
            found.append(f"mark {self._marks[block]}")
            if block in self._first_text:
                found.append("first text of a record")
        if self._repeats is not None:
            found += self._repeats[block]
        found += self._of_columns.get(block, ())
        if not text:
            found += self._picture(row)
            return found
        if text not in self._contents:
            self._contents[text] = self._content(text)
        found += self._contents[text]
        found += self._beside(block)
        return found

    def inner(self, block: int) -> list[str]:
        survey, vision, rows = self._survey, self._vision, self._vision.rows[block]
        chars = sum(float(survey.chars[row]) for row in rows)
        links = sum(float(survey.link_chars[row]) for row in rows)
        twins = self._codes[int(vision.parent[block]), survey.shapes.codes[rows[0]]]
        found = [
            "inner",
            *(f"i {feature}" for feature in self._places[block]),
            *(f"~i name {word}" for word in survey.words[rows[0]]),
            f"i chars {_size(chars)}",
            f"i links {round(4 * links / max(chars, 1.0))}",
            f"i blocks {_size(float(self._sizes[block]))}",
            f"i children {_size(float(len(vision.children[block])))}",
            f"i coherence {int(vision.coherence[block])}",
            f"i depth {min(int(self._depth[block]), 12)}",
            f"i prices {_size(float(self._prices[block]))}",
            f"i dates {_size(float(self._dates[block]))}",
            f"i images {_size(float(self._images[block]))}",
            f"i headed {any(survey.headings[row] > 0 for row in rows)}",
            f"i aside {bool(survey.aside[rows[0]])} main {bool(survey.main[rows[0]])}",
            f"i twins {_size(float(twins))}",
        ]
        if self._marks[block]:
            found.append(f"i mark {self._marks[block]}")
        return found

    def _count(self, holds: Callable[[int], bool]) -> Ints:
        """Of each block how many of its leaves are so."""
        marked = np.zeros(len(self._vision) + 1, np.int64)
        marked[1:][[block for block in self._leaves if holds(block)]] = 1
        sums = np.cumsum(marked)
        inside: Ints = sums[self._vision.end] - sums[:-1]
        return inside

    def _names(self, row: int) -> list[str]:
        """The tags and names of the elements around a leaf."""
        tree = self._tree
        start = row if tree.tags[row] != TEXT else int(tree.parent[row])
        found = self._around.get(start)
        if found is None:
            found, above = [], start
            for level in range(MAX_ABOVE):
                if above < 0:
                    break
                found.append(f"tag {level} {tree.tags[above]}")
                if tree.tags[above] in HEADINGS:
                    found.append("heading")
                found += [f"~name {word}" for word in self._survey.words[above]]
                above = int(tree.parent[above])
            self._around[start] = found
        return found

    def _content(self, text: str) -> list[str]:
        lower, parts = text.lower(), text.split()
        words = _WORD.findall(lower)
        length = _size(float(len(words)))
        found = [
            f"letters {_size(float(len(text)))}",
            f"words {length}",
            f"digits {round(4 * sum(map(str.isdigit, text)) / len(text))}",
            f"capitals {round(4 * sum(part[0].isupper() for part in parts) / max(len(parts), 1))}",
            f"!content {content(text)}",
            f"ends {'x' if text[-1].isalnum() else text[-1]}",
            f"~shape {_shape(text)}",
        ]
        found += [f"{kind} words {length}" for kind in self._said[text]]
        for word in (*words[: MAX_WORDS - 1], *words[-1:]):
            found.append(f"~word {'9' * len(word) if word.isdigit() else word}")
        if len(text) > 2 and lower in self._title:
            found.append(f"in title {round(4 * len(text) / len(self._title))}")
        elif len(self._title) > 2 and self._title in lower:
            found.append("has title")
        return found

    def _beside(self, block: int) -> list[str]:
        """What stands before and after, if it is short: often the name of the value."""
        number, found = self._order[block], []
        for name, other in (("before", number - 1), ("after", number + 1)):
            if 0 <= other < len(self._leaves):
                text = self._texts[self._leaves[other]].lower()
                if len(text) <= MAX_BESIDE:
                    found.append(f"~{name} {text}")
                    found += [f"~{name} word {word}" for word in _WORD.findall(text)[-2:]]
                found.append(f"{name} {'text' if text else 'image'}")
        return found

    def _picture(self, row: int) -> Iterator[str]:
        yield "image"
        item = self._tree.items[row]
        if not isinstance(item, str):
            source = (item.get("src") or "").lower()
            yield f"image is {item.tag} jpeg {'.jp' in source} coded {bool(_CODED.search(source))}"
            yield f"image alt {bool(item.get('alt'))}"

    def _count_repeats(self) -> list[list[str]]:
        """Whether what stands in like places of the page repeats, as buttons do, or differs, as values do."""
        places: dict[tuple[int, str, str], int] = {}
        place = [0] * len(self._tree)
        for row, (item, tag, parent) in enumerate(
            zip(self._tree.items, self._tree.tags, self._tree.parent.tolist(), strict=True)
        ):
            name = "" if isinstance(item, str) else item.get("class", "")
            around = place[parent] if parent >= 0 else -1
            place[row] = places.setdefault((around, tag, name), len(places))
        texts = [self._texts[block] or self._scene.source(block) for block in self._leaves]
        spots = [place[self._vision.rows[block][0]] for block in self._leaves]
        by_place, by_text = Counter(spots), Counter(zip(spots, texts, strict=True))
        different = Counter(spot for spot, _ in by_text)
        found: list[list[str]] = [[] for _ in self._vision.rows]
        for block, spot, text in zip(self._leaves, spots, texts, strict=True):
            found[block] = [f"places {_size(float(by_place[spot]))}"]
            if by_place[spot] > 1:
                found[block] += [
                    f"repeated {by_text[spot, text] > 1}",
                    f"different {round(4 * different[spot] / by_place[spot])}",
                ]
        return found

    def _columns(self) -> dict[int, list[str]]:
        """What the column of a leaf is like, and whether it is the first of its record that may be a title."""
        found: dict[int, list[str]] = {}
        for number, column in enumerate(self._scene.columns):
            features = [
                *(f"!{name}" for name in column.features()),
                f"column {min(number, 6)}",
                f"wordy {column.is_wordy}",
            ]
            found |= dict.fromkeys(column.leaves, features)
        for leaf in self._scene.titles(self._scene.columns):
            found[leaf] = [*found[leaf], "!first prominent"]
        images = self._scene.images(self._scene.runs)
        if images:
            filled = round(4 * len(images) / len(self._scene.runs))
            different = round(4 * len({*map(self._scene.source, images)}) / len(images))
            features = [f"!largest image filled {filled} different {different}"]
            found |= dict.fromkeys(images, features)
        return found

    def _mark(self, name: str, group: Group) -> None:
        """Where blocks stand to the records of a group: one, in one, around several."""
        vision = self._vision
        blocks = [block for run in group.runs if (block := vision.find(run)) is not None]
        if not blocks:
            return
        for block in blocks:
            inside = range(block + 1, int(vision.end[block]))
            for other in inside:
                self._marks[other] = f"in {name}"
            text = next((other for other in (block, *inside) if self._texts[other]), None)
            if text is not None and name == "0":
                self._first_text.add(text)
        above: Counter[int] = Counter()
        for block in blocks:
            around = int(vision.parent[block])
            while around >= 0:
                above[around] += 1
                around = int(vision.parent[around])
        regions = {int(around) for around in vision.parent[blocks]}
        for block, count in above.items():
            holds = "all" if count == len(blocks) else "some"
            self._marks[block] = f"{holds} {name} own {block in regions}"
        for block in blocks:
            self._marks[block] = f"is {name}"


def _describe_boxes(boxes: Floats) -> list[tuple[str, ...]]:
    """Where each block stands and how large it is."""
    x, y, width, height = boxes.T
    page = max(float((y + height).max(initial=1.0)), 1.0)
    columns = {
        "x": np.round(8 * (x + width / 2) / VIEWPORT),
        "y": np.round(8 * y / page),
        "down": _sizes(y),
        "width": np.round(8 * width / VIEWPORT),
        "height": _sizes(height),
        "area": _sizes(width * height),
    }
    named = [
        [f"{name} {value}" for value in column.astype(np.int64).tolist()] for name, column in columns.items()
    ]
    return list(zip(*named, strict=True))


def _sizes(numbers: Floats) -> Floats:
    """Numbers as their magnitudes."""
    sizes: Floats = np.floor(np.log2(np.maximum(numbers, 0.0) + 1) * 2)
    return sizes


def _size(number: float) -> int:
    """A number as its magnitude."""
    return int(log2(number + 1) * 2) if number > 0 else 0


def _shape(text: str) -> str:
    """The kinds of characters of a text, repeated ones once."""
    found = ""
    for char in text[:24]:
        kind = "9" if char.isdigit() else "X" if char.isupper() else "x" if char.isalpha() else char
        if not found.endswith(kind):
            found += kind
    return found
