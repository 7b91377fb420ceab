"""What the model sees of a page: Boolean features of blocks, and how alike neighbouring blocks are.

Features are words that are hashed into a fixed number of slots, so that a model is one matrix, whatever it was
trained on. Numbers become words by their size.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from types import MappingProxyType
from zlib import crc32

import numpy as np

from untemplate.labeling.records.groups import Group
from untemplate.labeling.records.hcrf.contents import TYPED, content, mentions
from untemplate.labeling.records.hcrf.distances import like_siblings
from untemplate.labeling.records.hcrf.scene import Scene
from untemplate.labeling.records.survey import HEADINGS
from untemplate.labeling.records.tree import TEXT, Ints
from untemplate.layout import VIEWPORT
from untemplate.page import squeeze

__all__ = ["COMMON_SLOTS", "SLOTS", "TELLING_SLOTS", "Observed", "observe"]

SLOTS = 1 << 14
# The first slots are for features that say what a leaf is, which begin with "!"; then those that any page may have;
# the others are for words, which begin with a tilde.
TELLING_SLOTS = 1 << 10
COMMON_SLOTS = 1 << 13
# Around a leaf: so many elements up, so many of its words, and how long what stands beside it may be.
MAX_ABOVE = 3
MAX_WORDS = 4
MAX_BESIDE = 40
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


class _Slots:
    """The slot of each feature; the same word always has the same one."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def slot(self, feature: str) -> int:
        known = self._known.get(feature)
        if known is None:
            code = crc32(feature.encode("utf-8", "replace"))
            start, end = _RANGES.get(feature[0], (TELLING_SLOTS, COMMON_SLOTS))
            known = start + code % (end - start)
            self._known[feature] = known
        return known


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
    view = _View(title, scene, groups, is_global)
    vision = scene.vision
    known = _Slots()
    slots: list[int] = []
    counts: list[int] = []
    for block, children in enumerate(vision.children):
        features = view.inner(block) if children else view.leaf(block)
        before = len(slots)
        slots += [known.slot(feature) for feature in (*features, *told.get(block, ()))]
        counts.append(len(slots) - before)
    types = like_siblings(scene.survey, vision)
    return Observed(vision.parent, np.array(slots, np.int64), np.array(counts, np.int64), types)


class _View:
    def __init__(self, title: str, scene: Scene, groups: Sequence[Group], is_global: bool) -> None:
        self._scene = scene
        survey, vision = scene.survey, scene.vision
        self._survey, self._vision, self._tree, self._texts = survey, vision, survey.tree, scene.texts
        self._title = squeeze(title).lower()
        self._leaves = [block for block, children in enumerate(vision.children) if not children]
        self._order = {block: number for number, block in enumerate(self._leaves)}
        self._height = max(float((vision.boxes[:, 1] + vision.boxes[:, 3]).max(initial=1.0)), 1.0)
        sizes = [survey.font_size[vision.rows[block][0]] for block in self._leaves]
        self._usual_font = float(np.median(sizes)) if sizes else 16.0
        self._repeats = self._count_repeats() if is_global else None
        self._of_columns: dict[int, list[str]] = self._columns() if is_global else {}
        self._marks = [""] * len(vision)
        self._first_text: set[int] = set()
        for rank, group in reversed(list(enumerate(groups[:MAX_GROUPS]))):
            self._mark(str(rank), group)
        self._prices = self._count(lambda block: mentions(self._texts[block], "price"))
        self._dates = self._count(lambda block: mentions(self._texts[block], "date"))
        self._images = self._count(lambda block: not self._texts[block])
        self._sizes = vision.end - np.arange(len(vision))
        self._codes = Counter(
            (int(vision.parent[block]), survey.shapes.codes[rows[0]])
            for block, rows in enumerate(vision.rows)
        )
        self._depth = np.zeros(len(vision), np.int64)
        for block in range(1, len(vision)):
            self._depth[block] = self._depth[vision.parent[block]] + 1

    def leaf(self, block: int) -> Iterator[str]:
        survey, row, text = self._survey, self._vision.rows[block][0], self._texts[block]
        yield "leaf"
        yield from self._place(block)
        yield from self._names(row)
        if survey.in_link[row]:
            yield "link"
        if survey.concealed[row]:
            yield "!concealed"
        ratio = float(survey.font_size[row]) / self._usual_font
        yield f"font {round(ratio * 4)}"
        if survey.font_weight[row] >= 600:
            yield "bold"
        if self._marks[block]:
            yield f"mark {self._marks[block]}"
            if block in self._first_text:
                yield "first text of a record"
        if self._repeats is not None:
            yield from self._repeats[block]
        yield from self._of_columns.get(block, ())
        if text:
            yield from self._content(text)
            yield from self._beside(block)
        else:
            yield from self._picture(row)

    def inner(self, block: int) -> Iterator[str]:
        survey, vision, rows = self._survey, self._vision, self._vision.rows[block]
        yield "inner"
        for feature in self._place(block):
            yield f"i {feature}"
        for word in survey.words[rows[0]]:
            yield f"~i name {word}"
        chars = sum(float(survey.chars[row]) for row in rows)
        links = sum(float(survey.link_chars[row]) for row in rows)
        yield f"i chars {_size(chars)}"
        yield f"i links {round(4 * links / max(chars, 1.0))}"
        yield f"i blocks {_size(float(self._sizes[block]))}"
        yield f"i children {_size(float(len(vision.children[block])))}"
        yield f"i coherence {int(vision.coherence[block])}"
        yield f"i depth {min(int(self._depth[block]), 12)}"
        for name, count in (("prices", self._prices), ("dates", self._dates), ("images", self._images)):
            yield f"i {name} {_size(float(count[block]))}"
        yield f"i headed {any(survey.headings[row] > 0 for row in rows)}"
        yield f"i aside {bool(survey.aside[rows[0]])} main {bool(survey.main[rows[0]])}"
        twins = self._codes[int(vision.parent[block]), survey.shapes.codes[rows[0]]]
        yield f"i twins {_size(float(twins))}"
        if self._marks[block]:
            yield f"i mark {self._marks[block]}"

    def _count(self, holds: Callable[[int], bool]) -> Ints:
        """Of each block how many of its leaves are so."""
        marked = np.zeros(len(self._vision) + 1, np.int64)
        marked[1:][[block for block in self._leaves if holds(block)]] = 1
        sums = np.cumsum(marked)
        inside: Ints = sums[self._vision.end] - sums[:-1]
        return inside

    def _place(self, block: int) -> Iterator[str]:
        x, y, width, height = self._vision.boxes[block].tolist()
        yield f"x {round(8 * (x + width / 2) / VIEWPORT)}"
        yield f"y {round(8 * y / self._height)}"
        yield f"down {_size(y)}"
        yield f"width {round(8 * width / VIEWPORT)}"
        yield f"height {_size(height)}"
        yield f"area {_size(width * height)}"

    def _names(self, row: int) -> Iterator[str]:
        """The tags and names of the elements around a leaf."""
        above = row if self._tree.tags[row] != TEXT else int(self._tree.parent[row])
        for level in range(MAX_ABOVE):
            if above < 0:
                return
            yield f"tag {level} {self._tree.tags[above]}"
            if self._tree.tags[above] in HEADINGS:
                yield "heading"
            for word in self._survey.words[above]:
                yield f"~name {word}"
            above = int(self._tree.parent[above])

    def _content(self, text: str) -> Iterator[str]:
        lower = text.lower()
        words = _WORD.findall(lower)
        yield f"letters {_size(float(len(text)))}"
        yield f"words {_size(float(len(words)))}"
        yield f"digits {round(4 * sum(map(str.isdigit, text)) / len(text))}"
        yield f"capitals {round(4 * sum(word[:1].isupper() for word in text.split()) / max(len(text.split()), 1))}"
        yield f"!content {content(text)}"
        for kind in TYPED:
            if mentions(text, kind):
                yield f"{kind} words {_size(float(len(words)))}"
        yield f"ends {text[-1] if not text[-1].isalnum() else 'x'}"
        for word in [*words[: MAX_WORDS - 1], *words[-1:]]:
            yield f"~word {'9' * len(word) if word.isdigit() else word}"
        yield f"~shape {_shape(text)}"
        if len(text) > 2 and lower in self._title:
            yield f"in title {round(4 * len(text) / len(self._title))}"
        elif len(self._title) > 2 and self._title in lower:
            yield "has title"

    def _beside(self, block: int) -> Iterator[str]:
        """What stands before and after, if it is short: often the name of the value."""
        number = self._order[block]
        for name, other in (("before", number - 1), ("after", number + 1)):
            if 0 <= other < len(self._leaves):
                text = self._texts[self._leaves[other]].lower()
                if len(text) <= MAX_BESIDE:
                    yield f"~{name} {text}"
                    for word in _WORD.findall(text)[-2:]:
                        yield f"~{name} word {word}"
                yield f"{name} {'text' if text else 'image'}"

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
