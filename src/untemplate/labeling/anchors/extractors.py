"""Annotators mark nodes that may contain an attribute; candidate extractors are near the marked nodes.

An annotator looks at each node alone and makes mistakes. Common types have one, the schema's hints declare others,
and seed sites teach small classifiers.

An XPath is a data field: a tag path with its nearest classes or ids, or the caption before it, and the position
among equal ones. An offset counts leaves: text nodes in document order, with the adjacent ones of one value joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol, cast

import numpy as np
import re2

from untemplate.labeling.nodes import Fields, NodeTable
from untemplate.labeling.nodes.fields import kinds_of
from untemplate.labeling.seed.attribute_model import AttributeModel
from untemplate.labeling.seed.site_fields import SiteFields, hash_words
from untemplate.page.arrays import Bools, Floats, Ints, group_rows
from untemplate.schema import Attribute, Hints, Schema, Type
from untemplate.value_types import Like, find_typed

__all__ = [
    "OFFSET",
    "WINDOW",
    "Annotator",
    "Extractors",
    "KindAnnotator",
    "LeafSequence",
    "LearnedAnnotator",
    "PatternAnnotator",
    "WordListAnnotator",
    "annotate_site",
    "annotation_threshold",
    "choose_xpaths",
    "type_annotator",
]

# Longer texts are not values of a type; what matches inside them does so by chance.
MAX_CHARACTERS = 200
# A text is marked if the models of words and shape, or the model of captions, give it at least this score: halfway
# between the scores of other texts and of the attribute's own on sites that the models did not learn from.
MIN_SCORE = 0.5

_STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|District of Columbia|Florida|Georgia|"
    "Hawaii|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|"
    "Mississippi|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|"
    "North Dakota|Ohio|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|"
    "Vermont|Virginia|Washington|West Virginia|Wisconsin|Wyoming"
)
_STATE_CODES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|"
    "W[AIVY]"
)
_STREETS = (
    "St|Street|Ave|Avenue|Blvd|Boulevard|Rd|Road|Dr|Drive|Ln|Lane|Way|Hwy|Highway|Pkwy|Parkway|Pl|Place|Court"
)
_UNITS = "mm|cm|m|km|in|inch(?:es)?|ft|feet|kg|g|lbs?|pounds|oz|mpg|mph|hp|cc|L|liters?|cyl(?:inders?)?|pages|minutes"
_PATTERNS: dict[Like, re.Pattern[str]] = {
    "rating": re.compile(
        r"\b\d{1,2}(?:\.\d{1,2})?\s?(?:/|out of|of)\s?(?:5|10|100)\b|\b\d(?:\.\d{1,2})?\s?stars?\b|[★☆]{3}",
        re.I,
    ),
    # Also a height as 6-9 or 6'9".
    "measure": re.compile(
        rf"(?<![\w.])\d{{1,6}}(?:[.,]\d{{1,3}})?\s?-?(?:{_UNITS})\b|\b\d{{1,2}}\s?['’-]\s?\d{{1,2}}\b", re.I
    ),
    "year": re.compile(r"\b(?:1[89]|20)\d\d\b"),
    "street": re.compile(rf"\b\d{{1,6}}\s(?:[\w.'’#-]{{1,30}}\s){{1,5}}(?:{_STREETS})\b", re.I),
    # A code alone, or before a zip code, or at the end: `OR` and `IN` are words too.
    "state": re.compile(rf"\b(?:{_STATES})\b|\b(?:{_STATE_CODES})\b(?=\W*(?:\d{{5}}|$))"),
}


class Annotator(Protocol):
    """Marks rows of a site that may contain an attribute; may be wrong."""

    def marks(self, site: SiteFields) -> Bools:
        """Return for each row of the site's table whether it is marked."""
        ...


@dataclass(frozen=True)
class PatternAnnotator:
    """Marks texts that a function finds something in.

    It gets complete texts: static parts, such as `$`, may belong to the value.
    """

    finds: Callable[[str], object]

    def marks(self, site: SiteFields) -> Bools:
        table = site.table
        matches = [len(text) <= MAX_CHARACTERS and bool(self.finds(text)) for text in table.texts]
        return np.array(matches, np.bool_)[table.text] & table.has_kind(["text()"])


@dataclass(frozen=True)
class KindAnnotator:
    """Marks all nodes of an attribute's kind: the targets of images or links."""

    attribute: Attribute

    def marks(self, site: SiteFields) -> Bools:
        return site.table.has_kind(kinds_of(self.attribute))


class WordListAnnotator:
    """Marks texts that equal one of some words, ignoring case and punctuation."""

    def __init__(self, words: Iterable[str]) -> None:
        self._hashes = np.array(sorted({hash_words(word) for word in words} - {0}), np.uint64)

    def marks(self, site: SiteFields) -> Bools:
        marked: Bools = np.isin(site.value_hashes, self._hashes)[site.fields.value]
        return marked


@dataclass(frozen=True)
class LearnedAnnotator:
    """Marks texts that equal or resemble the attribute's values on seed sites, or follow a similar caption."""

    model: AttributeModel

    def marks(self, site: SiteFields) -> Bools:
        seen = np.isin(site.value_hashes, self.model.values)
        words, shape = (self.model.parts[part].score(site.parts[part][0]) for part in ("words", "shape"))
        captions = self.model.parts["caption"].score(site.parts["caption"][0]) >= MIN_SCORE
        values: Bools = (seen | ((words + shape) / 2 >= MIN_SCORE))[site.fields.value]
        return values | captions[site.fields.caption]


def annotate_site(site: SiteFields, schema: Schema, models: Mapping[str, AttributeModel]) -> dict[str, Bools]:
    """Return the marked rows of each attribute that has an annotator.

    For attributes with a type, elements around a marked node are not marked: they contain more than the value.

    Args:
        site: The pages.
        schema: The attributes, and hints that declare annotators.
        models: What seed sites taught about attributes.
    """
    marks = {}
    for name, attribute in schema.attributes.items():
        hints = schema.hints.get(name, Hints())
        annotators = _declared_annotators(hints) or _default_annotators(attribute, models.get(name))
        if annotators:
            marked = np.any([annotator.marks(site) for annotator in annotators], axis=0)
            marks[name] = marked if attribute.type == "text" else site.table.drop_spans_around(marked)
    return marks


def _declared_annotators(hints: Hints) -> list[Annotator]:
    annotators: list[Annotator] = []
    if hints.like:
        annotators.append(type_annotator(hints.like))
    if hints.pattern:
        annotators.append(PatternAnnotator(re2.compile(hints.pattern).search))
    if hints.words:
        annotators.append(WordListAnnotator(hints.words))
    return annotators


def _default_annotators(attribute: Attribute, model: AttributeModel | None) -> list[Annotator]:
    """Return the annotator of the attribute's type; for plain text what seed sites taught, if they did."""
    if attribute.type in ("url", "image"):
        return [KindAnnotator(attribute)]
    if attribute.type != "text":
        return [PatternAnnotator(partial(find_typed, type=attribute.type))]
    return [] if model is None else [LearnedAnnotator(model)]


def type_annotator(like: Like) -> Annotator:
    """Return the annotator of a common type."""
    if like in _PATTERNS:
        return PatternAnnotator(_PATTERNS[like].search)
    return PatternAnnotator(partial(find_typed, type=cast(Type, like)))


# Leaves from an anchor within which other attributes are searched: the paper's ω.
WINDOW = 7
# What `Fields.grouping` contains for an extractor by offset.
OFFSET = 3
# Part of the expected annotations that an XPath needs (the analysis of section 6 gives the expected number): new
# sites are not better than those on which recall was measured.
MARGIN = 0.5
# Bounds of the threshold.
MIN_THRESHOLD, MAX_THRESHOLD = 0.04, 0.5


class LeafSequence:
    """The rows of a table as leaves. An element that spans several texts is at the leaf of its first text.

    Adjacent text nodes in the same slot are one value, such as the paragraphs of a description, if their number
    differs from page to page. A fixed number of them are several attributes.

    Attributes:
        row: The first row of each leaf.
        page: The page of each leaf.
        of: The leaf of each row, −1 if it has none.
    """

    def __init__(self, table: NodeTable) -> None:
        rows = np.flatnonzero(table.is_text & ~table.is_excluded).astype(np.int32)
        starts = ~_continues_value(table, rows)
        self.row: Ints = rows[starts]
        self.page: Ints = table.page[self.row]
        self.of: Ints = np.full(len(table), -1, np.int32)
        self.of[rows] = np.cumsum(starts, dtype=np.int32) - 1
        self.of = self.of[table.first]

    def __len__(self) -> int:
        return len(self.row)

    def shift(self, rows: Ints, offset: int) -> Ints:
        """Return the rows `offset` leaves after these on the same page; −1 beyond its first or last leaf."""
        if not len(self):
            return np.full(len(rows), -1, np.int32)
        leaves = self.of[rows]
        moved = leaves + offset
        inside = (leaves >= 0) & (moved >= 0) & (moved < len(self))
        moved = np.where(inside, moved, 0)
        inside &= self.page[moved] == self.page[np.where(leaves >= 0, leaves, 0)]
        return np.where(inside, self.row[moved], -1).astype(np.int32)


def _continues_value(table: NodeTable, rows: Ints) -> Bools:
    """Return for each of these rows whether it continues the value of the row before."""
    if not len(rows):
        return np.zeros(0, np.bool_)
    slot, page, static = table.slot[rows], table.page[rows], table.is_static[rows]
    same = np.zeros(len(rows), np.bool_)
    same[1:] = (slot[1:] == slot[:-1]) & (page[1:] == page[:-1]) & ~static[1:] & ~static[:-1]
    run = np.cumsum(~same) - 1
    first = np.flatnonzero(~same)
    length = np.diff(np.append(first, len(rows)))
    # Runs of different pages correspond if they are in the same slot after the same caption.
    kind = group_rows(slot[first], table.caption[rows[first]])
    longest = np.zeros(int(kind.max()) + 1, np.int64)
    np.maximum.at(longest, kind, length)
    shortest = np.full(len(longest), len(rows) + 1)
    np.minimum.at(shortest, kind, length)
    varies = (longest != shortest)[kind]
    continued: Bools = same & varies[run]
    return continued


def annotation_threshold(recall: float, share: float) -> float:
    """Return the share of all pages on which an XPath must be annotated (section 6: τ ≤ φ R).

    Args:
        recall: The recall of the annotator.
        share: The share of pages that have the attribute.
    """
    return min(MAX_THRESHOLD, max(MIN_THRESHOLD, MARGIN * recall * share))


def choose_xpaths(fields: Fields, marks: Bools, candidates: Ints, share: float) -> Ints:
    """Return the XPaths with annotated nodes on at least this share of the pages, the most annotated first.

    This is algorithm 1 of the paper.
    """
    counts = np.bincount(fields.field, weights=marks[fields.row], minlength=len(fields))[candidates]
    enough = counts >= max(1.0, share * len(fields.table.pages))
    order = np.argsort(-counts[enough], kind="stable")
    return candidates[enough][order]


class Extractors(Fields):
    """The fields of a site, and after them extractors at offsets from some of them.

    Attributes:
        origins: Of each extractor, the field of its anchor and the offset from it; itself and 0 for XPaths.
        exceptions: Of each extractor, the share of its anchor's pages that have no such leaf.
    """

    def __init__(
        self, base: Fields, leaves: LeafSequence, anchors: Sequence[int], window: int = WINDOW
    ) -> None:
        """Add extractors up to `window` leaves before and after the anchors. Equal extractors are added once."""
        self.table = base.table
        self._base = base
        rows, numbers, exceptions = [base.row], [base.field], [0.0] * len(base)
        origins = [(number, 0) for number in range(len(base))]
        seen = {base.rows_of(number).tobytes() for number in range(len(base))}
        offsets = (*range(-window, 0), *range(1, window + 1))
        for anchor in anchors:
            anchor_rows = base.rows_of(anchor)
            for offset in offsets:
                shifted = leaves.shift(anchor_rows, offset)
                shifted = shifted[shifted >= 0]
                if len(shifted) < 2 or shifted.tobytes() in seen:
                    continue
                seen.add(shifted.tobytes())
                rows.append(shifted)
                numbers.append(np.full(len(shifted), len(origins), np.int32))
                exceptions.append(1 - len(shifted) / len(anchor_rows))
                origins.append((anchor, offset))
        self.row = np.concatenate(rows)
        self.field = np.concatenate(numbers)
        self.grouping = np.concatenate([base.grouping, np.full(len(origins) - len(base), OFFSET, np.int32)])
        self.origins = origins
        self.exceptions: Floats = np.array(exceptions, np.float32)

    @cached_property
    def _stripped(self) -> tuple[Ints, list[str], Ints, list[str]]:
        return self._base._stripped
