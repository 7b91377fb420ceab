"""Compare records with labels: how often is what was extracted right?

We count page hits, as SWDE does: an attribute of a page is a hit if the extracted text is one of its true values
after normalizing white space and decoding entities. For a `many` attribute we count values instead of pages, so
that a rule which finds one of three values is not perfect. For list pages we count the distinct values of all
their records.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from untemplate.labeling import Label
from untemplate.page import squeeze
from untemplate.record import Record
from untemplate.schema import Schema

__all__ = ["Miss", "Score", "score_records", "true_values"]

TrueValues = Mapping[str, Sequence[str]]
"""Attribute → true values on a page; an empty sequence if the attribute is not on the page."""


@dataclass(frozen=True, slots=True)
class Miss:
    """An attribute of a page whose extracted values are not the true ones."""

    page: str
    extracted: tuple[str, ...]
    true: tuple[str, ...]


@dataclass
class Score:
    """Counts of one attribute: what was extracted, what is true, and what is both (hits)."""

    hits: int = 0
    extracted: int = 0
    true: int = 0
    misses: list[Miss] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of extracted values that are true; 1 if nothing was extracted."""
        return self.hits / self.extracted if self.extracted else 1.0

    @property
    def recall(self) -> float:
        """The share of true values that were extracted; 1 if there are none."""
        return self.hits / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.hits / (self.extracted + self.true) if self.extracted + self.true else 1.0

    def add_page(self, page: str, extracted: tuple[str, ...], true: tuple[str, ...]) -> None:
        """Count a page as one value: the first extracted text must be one of the true ones."""
        is_hit = bool(extracted) and extracted[0] in true
        self.hits += is_hit
        self.extracted += bool(extracted)
        self.true += bool(true)
        if not is_hit and (extracted or true):
            self.misses.append(Miss(page, extracted, true))

    def add_values(self, page: str, extracted: tuple[str, ...], true: tuple[str, ...]) -> None:
        """Count each distinct value of a page."""
        self.hits += len(set(extracted) & set(true))
        self.extracted += len(set(extracted))
        self.true += len(set(true))
        if set(extracted) != set(true):
            self.misses.append(Miss(page, extracted, true))


def true_values(labels: Iterable[Label]) -> dict[str, dict[str, list[str]]]:
    """Return the labeled values by page, then by attribute.

    Labels with only an XPath are ignored: they say where a value is, but not which.
    """
    by_page: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for label in labels:
        if label.value is None and label.xpath is not None:
            continue
        values = by_page[label.page].setdefault(label.attribute, [])
        if label.value is not None:
            values.append(label.value)
    return dict(by_page)


def score_records(
    records: Iterable[Record], truth: Mapping[str, TrueValues], schema: Schema
) -> dict[str, Score]:
    """Return a score for each attribute of the schema that the truth mentions.

    Args:
        records: the extracted records; those of one page follow each other.
        truth: page id or URL → the page's true values. Other pages are ignored.
        schema: the attributes to score.
    """
    scores: dict[str, Score] = {}
    for _, group in groupby(records, key=lambda record: (record.page_id, record.url)):
        page_records = list(group)
        first = page_records[0]
        true_of_page = truth.get(first.page_id) or truth.get(first.url) or {}
        for name in schema.attributes.keys() & true_of_page.keys():
            score = scores.setdefault(name, Score())
            is_many = schema.attributes[name].many or first.position is not None
            add = score.add_values if is_many else score.add_page
            add(
                first.page_id,
                _clean_texts(_extracted_texts(page_records, name)),
                _clean_texts(true_of_page[name]),
            )
    return {name: scores[name] for name in schema.attributes if name in scores}


def _extracted_texts(records: Iterable[Record], attribute: str) -> Iterator[str]:
    for record in records:
        for value in record.values.get(attribute, []):
            yield value.text


def _clean_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(squeeze(html.unescape(text)) for text in texts)
