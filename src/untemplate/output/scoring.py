"""Records against labels: how often what came out is right.

Page hits, as for SWDE: an attribute of a page is hit when the extracted text is one of its true values, white space
squeezed and entities decoded. Of a `many` attribute each value is counted instead of the page, so that a rule which
finds one of three is not taken for perfect; and so are the different values of all records of a list page.
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
"""Attribute → true values on a page; none: the attribute is not there."""


@dataclass(frozen=True, slots=True)
class Miss:
    """An attribute of a page of which something else came out than is true."""

    page: str
    extracted: tuple[str, ...]
    true: tuple[str, ...]


@dataclass
class Score:
    """How often one attribute was extracted, was there to be extracted, and both alike."""

    hits: int = 0
    extracted: int = 0
    true: int = 0
    misses: list[Miss] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """The share of what was extracted that is true; 1 if nothing was."""
        return self.hits / self.extracted if self.extracted else 1.0

    @property
    def recall(self) -> float:
        """The share of what is true that was extracted; 1 if there is nothing."""
        return self.hits / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both."""
        return 2 * self.hits / (self.extracted + self.true) if self.extracted + self.true else 1.0


def true_values(labels: Iterable[Label]) -> dict[str, dict[str, list[str]]]:
    """Labels by page, then by attribute. Those that give only an XPath say where a value is, not what."""
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
    """A score for each attribute of the schema that the truth speaks of; pages are found by id or URL."""
    scores: dict[str, Score] = {}
    for _, own in groupby(records, key=lambda record: (record.page_id, record.url)):
        rows = list(own)
        true = truth.get(rows[0].page_id) or truth.get(rows[0].url) or {}
        for name in schema.attributes:
            if name in true:
                wanted = tuple(_clean(true[name]))
                texts = tuple(_clean(value.text for row in rows for value in row.values.get(name, [])))
                many = schema.attributes[name].many or rows[0].position is not None
                _count(scores.setdefault(name, Score()), rows[0], texts, wanted, many)
    return {name: scores[name] for name in schema.attributes if name in scores}


def _count(score: Score, record: Record, texts: tuple[str, ...], true: tuple[str, ...], many: bool) -> None:
    if many:
        hits = len(set(texts) & set(true))
        score.extracted += len(set(texts))
        score.true += len(set(true))
        right = set(texts) == set(true)
    else:
        hits = int(bool(texts) and texts[0] in true)
        score.extracted += bool(texts)
        score.true += bool(true)
        right = hits == 1 or not (texts or true)
    score.hits += hits
    if not right:
        score.misses.append(Miss(record.page_id, texts, true))


def _clean(texts: Iterable[str]) -> Iterator[str]:
    return (squeeze(html.unescape(text)) for text in texts)
