"""The blocks of a list page with their true labels, derived from its true records and cells.

A cell's text locates its leaves; a record is the block of the best group's record that holds its cells. What kind of
thing a column holds (title, link, image, price, date, text) is derived from its content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.lists import Floats, Sheet, hits, letters
from untemplate.labeling.records.hcrf.features import Observed, observe
from untemplate.labeling.records.hcrf.labels import Labels, label_blocks
from untemplate.labeling.records.tree import SHOWN, Ints
from untemplate.labeling.records.vision import VisionTree, see
from untemplate.page import visible_text

KINDS = ("title", "link", "image", "price", "date", "text")
# A page whose best group has a lower score than this teaches nothing: what its records are is not clear.
CLEAR = 0.8
# A column is of a kind when this share of its cells are; a title when this share of them differ.
MOST = 0.7
DIFFERENT = 0.8
_PRICE = re.compile(
    r"^\W*(?:[a-z]{0,4}\s?[$€£¥]|usd|cad|eur|gbp)[a-z]{0,2}\s?\d|^\d[\d.,]*\s?(?:[$€£¥]|usd|cad|eur|gbp)",
    re.I,
)
_DATE = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b.{0,6}\d|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}"
    r"|\b(?:19|20)\d\d-\d\d|\b\d+ \w+ ago\b",
    re.I,
)
_URL = re.compile(r"^\s*(?:https?://|www\.)\S+|^\s*[\w-]+(?:\.[\w-]+)+/\S*\s*$", re.I)
# Longer texts are sentences that name a price or date; how many words a title has at most. Links may be longer.
MAX_TYPED = 40
MAX_TITLE = 25
PATTERNS = {"link": _URL, "price": _PRICE, "date": _DATE}


@dataclass(frozen=True, eq=False)
class Lesson:
    """A list page with its blocks, what the model sees of them, and what they are."""

    sheet: Sheet
    vision: VisionTree
    observed: Observed
    #: the same without global features
    local: Observed
    records: list[int]
    #: the kinds of leaves that hold values
    values: dict[int, str]


def column_kinds(rows: Sequence[Sequence[str]]) -> list[str]:
    """Which column of a page's true records is the title: the first whose texts are words and mostly differ."""
    columns = [
        [cell for row in rows if number < len(row) and (cell := row[number].strip())]
        for number in range(max(map(len, rows), default=0))
    ]
    for number, cells in enumerate(columns):
        kinds = [cell_kind(cell) for cell in cells]
        if (
            len(cells) >= MOST * len(rows)
            and len({*cells}) >= DIFFERENT * len(cells)
            and kinds.count("text") >= MOST * len(cells)
            and np.mean([sum(map(str.isalpha, cell)) * 2 > len(cell) for cell in cells]) >= MOST
            and np.mean([len(cell.split()) for cell in cells]) <= MAX_TITLE
        ):
            return ["title" if number == other else "text" for other in range(len(columns))]
    return ["text"] * len(columns)


def cell_kind(text: str) -> str:
    """What a text is by its content alone."""
    text = text.strip()
    return next(
        (
            kind
            for kind, pattern in PATTERNS.items()
            if (len(text) <= MAX_TYPED or kind == "link") and pattern.search(text)
        ),
        "text",
    )


def lesson(sheet: Sheet, weights: Floats) -> Lesson:
    """The page as the model sees it; likely records are those of these weights."""
    found = sheet.found
    order = np.argsort(-(found.features @ weights), kind="stable")
    groups = [found.groups[number] for number in order[:3].tolist()]
    vision = see(found.survey, groups[0].runs if groups else ())
    title = sheet.page.tree.findtext(".//title") or ""
    observed, local = (observe(title, found.survey, vision, groups, is_global) for is_global in (True, False))
    records: list[int] = []
    values: dict[int, str] = {}
    if sheet.f1.max(initial=0) > 0:
        best = found.groups[int(sheet.f1.argmax())]
        texts = [letters(item) if isinstance(item, str) else "" for item in found.tree.items]
        end = found.tree.end
        inside = ["".join("".join(texts[row : end[row]]) for row in run) for run in best.runs]
        right = hits(inside, sheet.records)
        text = letters(visible_text(sheet.page.tree))
        given = [row for row in sheet.given if any((cell := letters(raw)) and cell in text for raw in row)]
        kinds = column_kinds(given)
        for number, run in enumerate(best.runs):
            block = vision.find(run)
            if block is not None and (number in right or sheet.f1.max() >= CLEAR):
                records.append(block)
                if number in right:
                    _locate(sheet, vision, block, texts, given[right[number]], kinds, values)
        _agree(sheet, vision, records, values)
        _find_images(sheet, vision, records, values)
    return Lesson(sheet, vision, observed, local, records, values)


def _locate(
    sheet: Sheet,
    vision: VisionTree,
    block: int,
    texts: Sequence[str],
    cells: Sequence[str],
    kinds: Sequence[str],
    values: dict[int, str],
) -> None:
    """The kinds of the leaves in a record that hold its cells."""
    end = sheet.found.tree.end
    leaves = [leaf for leaf in range(block, int(vision.end[block])) if not vision.children[leaf]]
    said = ["".join("".join(texts[row : end[row]]) for row in vision.rows[leaf]) for leaf in leaves]
    leaves, said = (
        [leaf for leaf, text in zip(leaves, said, strict=True) if text],
        [text for text in said if text],
    )
    places = np.cumsum([0, *map(len, said)]).tolist()
    starts = {place: index for index, place in enumerate(places)}
    whole = "".join(said)
    wanted = [(letters(cell), kind) for cell, kind in zip(cells, kinds, strict=False)]
    for cell, kind in sorted(wanted, key=lambda pair: -len(pair[0])):
        place = whole.find(cell) if cell else -1
        while place >= 0 and not (place in starts and place + len(cell) in starts):
            place = whole.find(cell, place + 1)
        if place >= 0:
            span = leaves[starts[place] : starts[place + len(cell)]]
        else:
            span = [
                leaf
                for leaf, text in zip(leaves, said, strict=True)
                if cell and cell in text and 2 * len(cell) >= len(text)
            ][:1]
        for leaf in span:
            items = (
                item for row in vision.rows[leaf] for item in sheet.found.tree.items[row : int(end[row])]
            )
            own = cell_kind("".join(item for item in items if isinstance(item, str)))
            values.setdefault(leaf, kind if kind == "title" else own)


def _agree(sheet: Sheet, vision: VisionTree, records: Sequence[int], values: dict[int, str]) -> None:
    """Leaves in the same place of their records are what most of them are: the truth has gaps and misprints."""
    tree = sheet.found.tree
    places: dict[tuple[str, ...], list[int]] = {}
    for block in records:
        top = vision.rows[block][0]
        for leaf in range(block, int(vision.end[block])):
            row = vision.rows[leaf][0]
            if vision.children[leaf] or tree.tags[row] in SHOWN:
                continue
            steps: list[str] = []
            while row > top:
                item = tree.items[row]
                steps.append(tree.tags[row] + ("" if isinstance(item, str) else item.get("class", "")))
                row = int(tree.parent[row])
            places.setdefault(tuple(steps), []).append(leaf)
    for leaves in places.values():
        (kind, count), *_ = Counter(values.get(leaf, "") for leaf in leaves).most_common(1)
        if kind and 2 * count > len(leaves):
            for leaf in leaves:
                values.setdefault(leaf, kind)


def _find_images(sheet: Sheet, vision: VisionTree, records: Sequence[int], values: dict[int, str]) -> None:
    """The largest image of each record, if most records have one of their own."""
    tree = sheet.found.tree
    largest: dict[int, str] = {}
    for block in records:
        images = [
            leaf
            for leaf in range(block, int(vision.end[block]))
            if not vision.children[leaf] and tree.tags[vision.rows[leaf][0]] in SHOWN
        ]
        if images:
            leaf = max(images, key=lambda image: float(vision.boxes[image, 2] * vision.boxes[image, 3]))
            item = tree.items[vision.rows[leaf][0]]
            largest[leaf] = "" if isinstance(item, str) else item.get("src") or item.get("data-src") or ""
    if len(largest) >= MOST * len(records) and len({*largest.values()}) >= DIFFERENT * len(largest):
        values.update(dict.fromkeys(largest, "image"))


def true_labels(lesson: Lesson, labels: Labels) -> Ints:
    """The number of the true label of each block."""
    return label_blocks(labels, lesson.sheet.found.survey, lesson.vision, lesson.records, lesson.values)
