"""Annotators: what marks nodes that may hold an attribute, by themselves and with mistakes.

There are ready-made ones for common types, the schema's hints declare others, and seed sites teach small classifiers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
    "Classifier",
    "Dictionary",
    "NodeKind",
    "Pattern",
    "annotate",
    "annotators_of",
    "ready_made",
]

# Longer texts are no values of a type; what is found in them is found by chance.
MAX_TEXT = 200
# From here on the models of words and shape, or that of labels, take a text for the attribute's: halfway between what
# other texts and its own score on sites that they did not learn from.
LIKELY = 0.5

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
    """Marks rows of a site; may be noisy."""

    def marks(self, site: SiteFields) -> Bools:
        """Whether each row of the site's table may hold the attribute."""
        ...


@dataclass(frozen=True)
class Pattern:
    """Marks texts in which something is found, whole ones: what all pages share, such as `$`, may be part of it."""

    finds: Callable[[str], object]

    def marks(self, site: SiteFields) -> Bools:
        table = site.table
        found = np.array([len(one) <= MAX_TEXT and bool(self.finds(one)) for one in table.texts], np.bool_)
        return found[table.text] & table.has_kind(["text()"])


@dataclass(frozen=True)
class NodeKind:
    """Marks nodes of an attribute's kind: what images and links point to."""

    attribute: Attribute

    def marks(self, site: SiteFields) -> Bools:
        return site.table.has_kind(kinds_of(self.attribute))


class Dictionary:
    """Marks texts that are one of some words, whatever their case and punctuation."""

    def __init__(self, words: Iterable[str]) -> None:
        self._hashes = np.array(sorted({hash_of(word) for word in words} - {0}), np.uint64)

    def marks(self, site: SiteFields) -> Bools:
        found: Bools = np.isin(site.value_hashes, self._hashes)[site.fields.value]
        return found


@dataclass(frozen=True)
class Classifier:
    """Marks texts that are like the attribute's on seed sites, or the same, or have the like of its labels."""

    model: AttributeModel

    def marks(self, site: SiteFields) -> Bools:
        known = np.isin(site.value_hashes, self.model.values)
        words, shape = (self.model.parts[part].score(site.parts[part][0]) for part in ("words", "shape"))
        labels = self.model.parts["caption"].score(site.parts["caption"][0]) >= LIKELY
        marked: Bools = (known | ((words + shape) / 2 >= LIKELY))[site.fields.value]
        return marked | labels[site.fields.caption]


def ready_made(like: Like) -> Annotator:
    """The annotator of a common type."""
    if like in _PATTERNS:
        return Pattern(_PATTERNS[like].search)
    return Pattern(partial(find_typed, type=cast(Type, like)))


def annotators_of(attribute: Attribute, hints: Hints, model: AttributeModel | None) -> Iterator[Annotator]:
    """Those that the schema declares; without any, by the attribute's type; of plain text, what seed sites taught."""
    declared = [
        *([ready_made(hints.like)] if hints.like else []),
        *([Pattern(re2.compile(hints.pattern).search)] if hints.pattern else []),
        *([Dictionary(hints.words)] if hints.words else []),
    ]
    if declared:
        yield from declared
    elif attribute.type in ("url", "image"):
        yield NodeKind(attribute)
    elif attribute.type != "text":
        yield Pattern(partial(find_typed, type=attribute.type))
    elif model is not None:
        yield Classifier(model)


def annotate(site: SiteFields, schema: Schema, models: Mapping[str, AttributeModel]) -> dict[str, Bools]:
    """Of each attribute that has any annotator, the rows that are marked; of one with a type no more than that."""
    marks = {}
    for name, attribute in schema.attributes.items():
        found = [
            one.marks(site)
            for one in annotators_of(attribute, schema.hints.get(name, Hints()), models.get(name))
        ]
        if found:
            marked = np.any(found, axis=0)
            marks[name] = marked if attribute.type == "text" else site.table.drop_spans_around(marked)
    return marks
