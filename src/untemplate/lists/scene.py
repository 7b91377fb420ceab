"""A scene: the blocks of a page together with the columns of its likeliest records.

The HCRF paper has a feature that says whether an element repeats in the neighboring record. We align all
records of the likeliest group instead, so that a leaf has the evidence of its whole column. These are the
model's global features.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from lxml import etree

from untemplate.lists.addresses import image_address
from untemplate.lists.cells import Line
from untemplate.lists.page_profile import HEADINGS, PageProfile
from untemplate.lists.page_tree import TEXT, Run
from untemplate.lists.vision_tree import VisionTree, build_vision_tree
from untemplate.page import squeeze
from untemplate.page.arrays import Longs

__all__ = [
    "CONTENT_TYPES",
    "MIN_HALF",
    "MIN_MOST",
    "Column",
    "Scene",
    "build_block_scene",
    "build_scene",
    "content_type",
    "mentioned_types",
]

# The shares that count as "most" and "half". Selected, as the next three, by looking at the titles that they
# give on the first pages of `lists`.
MIN_MOST = 0.7
MIN_HALF = 0.5
# A column may contain titles if this share of its texts differ and they have at most this many words on average.
MIN_TITLE_DISTINCT = 0.5
MAX_TITLE_WORDS = 25
# The prominence of headings. Links have 1, other texts 0.
_HEADING_PROMINENCE = 2
# A text is a heading if its row or one of the next ancestors is; this many rows are checked.
MAX_HEADING_DISTANCE = 4

_CURRENCY = r"(?:us|c|cad?|au?|nz|hk)?[$€£¥]|\b(?:usd|cad|cdn|aud|eur|gbp|inr|rs)\b\.?"
_AMOUNT = r"\d[\d.,]*"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b\.?"
_LINK = re.compile(r"^(?:https?://|www\.)\S+|^[\w-]+(?:\.[\w-]+)+(?:/\S*| › .*)$", re.I)
_PRICE = re.compile(rf"(?:{_CURRENCY})[$\s]*{_AMOUNT}|{_AMOUNT}\s?(?:[€£¥]|\b(?:usd|cad|eur|gbp)\b)", re.I)
_DATE = re.compile(
    rf"\b{_MONTH},?\s?\d|\d\s?{_MONTH}|\b\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:\d\d){{1,2}}\b"
    r"|\b(?:19|20)\d\d-\d\d\b|\b\d+ (?:sec|min|hour|day|week|month|year)[a-z]* ago\b",
    re.I,
)
_DIGIT = re.compile(r"\d")
_PATTERNS = {"link": _LINK, "price": _PRICE, "date": _DATE}
CONTENT_TYPES = tuple(_PATTERNS)
# Longer texts are sentences that mention a price or date. Links may be longer.
MAX_TYPED_LENGTH = 40


def content_type(text: str) -> str | None:
    """Return which of CONTENT_TYPES a text is, by its characters alone; None for other texts.

    Example:
        >>> content_type("$10.50"), content_type("Amber chair")
        ('price', None)
    """
    text = text.strip()
    for name in mentioned_types(text):
        if len(text) <= MAX_TYPED_LENGTH or name == "link":
            return name
    return None


def mentioned_types(text: str) -> list[str]:
    """Return which of CONTENT_TYPES occur in a text."""
    has_digit = _DIGIT.search(text) is not None
    possible = CONTENT_TYPES if has_digit else ("link",)
    return [name for name in possible if _PATTERNS[name].search(text)]


@dataclass(frozen=True)
class Column:
    """Leaves at the same position of their records, and statistics of their texts."""

    leaves: list[int]
    #: the number of the record of each leaf
    records: list[int]
    #: the share of records that have the column
    filled: float
    #: the share of different texts
    distinct: float
    #: the share of texts of each of CONTENT_TYPES
    typed: dict[str, float]
    #: the mean number of words
    words: float
    #: the shares of texts that are mostly letters, in links, in headings
    lettered: float
    linked: float
    headed: float

    @classmethod
    def measure(
        cls,
        records: Mapping[int, int],
        total: int,
        texts: Sequence[str],
        linked: Sequence[float],
        headed: Sequence[bool],
    ) -> Column:
        """Return the column of some leaves.

        Args:
            records: leaf -> the number of its record.
            total: the number of all records.
            texts: the text of each leaf.
            linked: whether each leaf is in a link.
            headed: whether each leaf is in a heading.
        """
        types, count = [content_type(text) for text in texts], len(texts)
        return cls(
            list(records),
            list(records.values()),
            count / total,
            len({*texts}) / count,
            {name: types.count(name) / count for name in CONTENT_TYPES},
            sum(len(text.split()) for text in texts) / count,
            sum(map(_is_mostly_letters, texts)) / count,
            sum(linked) / count,
            sum(headed) / count,
        )

    @property
    def content_type(self) -> str | None:
        """Which of CONTENT_TYPES most texts are."""
        return next((name for name, share in self.typed.items() if share >= MIN_MOST), None)

    @property
    def may_be_title(self) -> bool:
        """Whether the texts may be titles: short, different, and made of words."""
        is_varied = self.distinct >= MIN_TITLE_DISTINCT and self.lettered >= MIN_MOST
        return self.content_type is None and is_varied and self.words <= MAX_TITLE_WORDS

    @property
    def is_heading(self) -> bool:
        """Whether most of the texts are in headings."""
        return self.headed >= MIN_MOST

    @property
    def prominence(self) -> int:
        """2 for headings, 1 for links, 0 for other texts."""
        if self.is_heading:
            return _HEADING_PROMINENCE
        return 1 if self.linked >= MIN_MOST else 0

    def features(self) -> Iterator[str]:
        """Yield the statistics as words, for a model."""
        yield f"column filled {round(4 * self.filled)}"
        yield f"column distinct {round(4 * self.distinct)} of {min(len(self.leaves), 3)}"
        for name, share in self.typed.items():
            yield f"column {name} {round(4 * share)}"
        yield f"column words {int(2 * np.log2(self.words + 1))}"
        yield f"column letters {round(4 * self.lettered)}"
        yield f"column linked {round(2 * self.linked)} headed {round(2 * self.headed)}"


def _is_mostly_letters(text: str) -> bool:
    return sum(map(str.isalpha, text)) * 2 > len(text)


@dataclass(frozen=True, eq=False)
class Scene:
    """The blocks of a page, and the columns of its likeliest records."""

    profile: PageProfile
    vision: VisionTree
    #: the text of each leaf; "" for inner blocks and images
    texts: list[str]
    #: per row of the page tree, the leaf that shows it; -1 for none
    leaf: Longs
    runs: Sequence[Run]
    columns: list[Column] = field(default_factory=list)

    @staticmethod
    def titles(columns: Iterable[Column]) -> list[int]:
        """Return the title leaf of each record: its first text of the highest prominence.

        The highest prominence is that of columns that half of the records have. Records without a heading have a link
        as their title, but a plain text only if all titles are.
        """
        candidates = [column for column in columns if column.may_be_title]
        usual = [column.prominence for column in candidates if column.filled >= MIN_HALF]
        highest = max(usual, default=_HEADING_PROMINENCE)
        lowest = min(highest, 1)
        eligible = [column for column in candidates if lowest <= column.prominence <= highest]
        titles: dict[int, int] = {}
        for column in sorted(eligible, key=lambda column: -column.prominence):
            for record, leaf in zip(column.records, column.leaves, strict=True):
                titles.setdefault(record, leaf)
        return list(titles.values())

    def columns_of(self, lines: Sequence[Sequence[Line | None]]) -> list[Column]:
        """Return the columns of aligned records, without cells that are not shown."""
        columns: list[Column] = []
        for number in range(len(lines[0]) if lines else 0):
            leaves = self._column_leaves([row[number] for row in lines])
            if leaves:
                texts = [self.texts[leaf] for leaf in leaves]
                linked, headed = zip(*map(self.link_and_heading, leaves), strict=True)
                columns.append(Column.measure(leaves, len(lines), texts, linked, headed))
        return columns

    def _column_leaves(self, cells: Sequence[Line | None]) -> dict[int, int]:
        """Map the leaves of a column's cells that are shown to the numbers of their records."""
        records: dict[int, int] = {}
        for record, line in enumerate(cells):
            leaf = -1 if line is None else int(self.leaf[line[0]])
            if leaf >= 0 and self.texts[leaf]:
                records[leaf] = record
        return records

    def largest_images(self, runs: Sequence[Run]) -> list[int]:
        """Return the leaf of the largest image of each record that has one."""
        images = (self.images_inside(run) for run in runs)
        return [max(leaves, key=self._area) for leaves in images if leaves]

    def images_inside(self, run: Run) -> list[int]:
        """Return the leaves of a record that are images, in page order."""
        return [leaf for leaf in self.leaves_inside(run) if not self.texts[leaf]]

    def leaves_inside(self, run: Run) -> list[int]:
        """Return the leaves of a record, in page order."""
        leaves = np.unique(self.leaf[self.profile.tree.rows_inside(run)])
        return [leaf for leaf in leaves.tolist() if leaf >= 0]

    def leaves_of_element(self, element: etree._Element) -> list[int]:
        """Return the leaves inside an element, in page order; none if the element shows nothing."""
        elements = self.profile.tree.elements
        return self.leaves_inside((elements.index(element),)) if element in elements else []

    def link_and_heading(self, leaf: int) -> tuple[bool, bool]:
        """Return whether a leaf is in a link, and whether it is in a heading."""
        row = self.vision.rows[leaf][0]
        return bool(self.profile.in_link[row]), self._is_heading(row)

    def image_address(self, leaf: int) -> str:
        """Return the address of an image; "" for texts, and for images that only a script knows."""
        row = self.vision.rows[leaf][0]
        if self.profile.tree.tags[row] == TEXT:
            return ""
        return image_address(self.profile.tree.elements[row])

    def _area(self, block: int) -> float:
        return float(self.vision.boxes[block, 2] * self.vision.boxes[block, 3])

    def _is_heading(self, row: int) -> bool:
        tree = self.profile.tree
        for _ in range(MAX_HEADING_DISTANCE):
            if row < 0:
                return False
            if tree.tags[row] in HEADINGS:
                return True
            row = int(tree.parent[row])
        return False


def build_scene(
    profile: PageProfile, runs: Sequence[Run] = (), lines: Sequence[Sequence[Line | None]] = ()
) -> Scene:
    """Return the scene of a page whose likeliest records are these runs.

    Args:
        profile: the page.
        runs: the records.
        lines: their aligned cells. Each becomes one leaf.
    """
    cells: list[Line] = []
    for row in lines:
        cells += filter(None, row)
    scene = build_block_scene(profile, build_vision_tree(profile, runs, cells), runs)
    return replace(scene, columns=scene.columns_of(lines))


def build_block_scene(profile: PageProfile, vision: VisionTree, runs: Sequence[Run] = ()) -> Scene:
    """Return the scene of a page whose vision tree is known, without columns."""
    texts = [
        "" if children else squeeze("".join(profile.tree.texts_inside(rows)))
        for rows, children in zip(vision.rows, vision.children, strict=True)
    ]
    return Scene(profile, vision, texts, vision.leaf_of_row(profile.tree.end), runs)
