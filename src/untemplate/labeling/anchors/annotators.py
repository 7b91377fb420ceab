"""Annotators mark nodes that may contain an attribute. They look at each node alone and make mistakes.

Common types have an annotator, the schema's hints declare others, and seed sites teach small classifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol, cast

import numpy as np
import re2

from untemplate.labeling.nodes.examples import kinds_of
from untemplate.labeling.seed.attribute_model import AttributeModel
from untemplate.labeling.seed.site_fields import SiteFields, hash_of
from untemplate.page.arrays import Bools
from untemplate.schema import Attribute, Hints, Like, Schema, Type
from untemplate.value_types import find_typed

__all__ = [
    "Annotator",
    "KindAnnotator",
    "LearnedAnnotator",
    "PatternAnnotator",
    "WordListAnnotator",
    "annotate_site",
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
        self._hashes = np.array(sorted({hash_of(word) for word in words} - {0}), np.uint64)

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
