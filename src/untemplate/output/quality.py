"""How good extracted records are: how many values they have (`Tally`), and how many are true (`Score`).

We count page hits, as SWDE does: an attribute of a page is a hit if the extracted text is one of its true values
after normalizing white space and decoding entities. For a `many` attribute we count values instead of pages, so
that a rule which finds one of three values is not perfect. For list pages we count the distinct values of all
their records.
"""

from __future__ import annotations

import html
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from untemplate.page import squeeze
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE, Reason, Record
from untemplate.schema import Schema

if TYPE_CHECKING:
    from untemplate.labeling import Label

__all__ = ["CrawlTally", "Miss", "Score", "Tally", "score_records", "true_values"]

# Each unreadable page may have its own reason. Further reasons are counted together.
MAX_REASONS = 100
OTHER_REASONS = f"{Reason.UNREADABLE}: other reasons"


@dataclass
class Tally:
    """Counts of pages, records and values, and of the reasons why pages have no values.

    Attributes:
        pages: all pages.
        records: all records; a list page may have several.
        matched: records of pages that rules match.
        empty: pages that rules match, but from which nothing was extracted.
        filled: attribute → records that have a value.
        doubtful: attribute → records whose value is doubtful: its confidence is at most `MAX_DOUBTFUL_CONFIDENCE`.
        dropped: attribute → records that lost all its values, since less sure than was asked for.
        unmatched: reason → pages that no rules match.
        confidence: attribute → sum of the confidence in its values, one number a record; in thousandths, as sums of
            fractions would depend on the order of the records.
    """

    pages: int = 0
    records: int = 0
    matched: int = 0
    empty: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)
    confidence: Counter[str] = field(default_factory=Counter)

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Tally:
        """Return the tally whose `to_dict` this is."""
        counters = {name: Counter(counts[name]) for name in ("filled", "doubtful", "dropped", "unmatched")}
        confidence = Counter({name: _thousandths(share) for name, share in counts["confidence"].items()})
        return cls(**{**counts, **counters, "confidence": confidence})

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON can store them."""
        return vars(self) | {"confidence": {name: total / 1000 for name, total in self.confidence.items()}}

    def add(self, record: Record) -> None:
        """Count one record: its page if it is the first of it, its values, and why it has none."""
        reason = next(iter(record.missing.values()), "")
        self.pages += record.position in (None, 1)
        self.records += 1
        for name in record.values:
            confidence = record.confidence(name) or 0.0
            self.confidence[name] += _thousandths(confidence)
            self.filled[name] += 1
            if confidence <= MAX_DOUBTFUL_CONFIDENCE:
                self.doubtful[name] += 1
        for name, why in record.missing.items():
            if why == Reason.TOO_DOUBTFUL:
                self.dropped[name] += 1
        if record.cluster is None or reason == Reason.NEEDS_LABELS:
            self._add_reason(reason, 1)
        else:
            self.matched += 1
            self.empty += not record.values and record.position is None

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        """Count records while passing them on."""
        for record in records:
            self.add(record)
            yield record

    def update(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.pages += other.pages
        self.records += other.records
        self.matched += other.matched
        self.empty += other.empty
        self.filled.update(other.filled)
        self.doubtful.update(other.doubtful)
        self.dropped.update(other.dropped)
        self.confidence.update(other.confidence)
        for reason, count in other.unmatched.items():
            self._add_reason(reason, count)

    def failed_share(self, skipped: int = 0) -> float:
        """Return the share of pages from which nothing was extracted although something should have been.

        Args:
            skipped: pages that were not even read; they count as failed.
        """
        failed = self.empty + skipped + self.unmatched.total() - self.unmatched[Reason.NEEDS_LABELS]
        total = self.pages + skipped
        return failed / total if total else 0.0

    def mean_confidence(self, attribute: str) -> float:
        """Return the mean confidence in the values of an attribute; 0 if there are none."""
        return self.confidence[attribute] / 1000 / max(1, self.filled[attribute])

    def _add_reason(self, reason: str, count: int) -> None:
        """Count pages that no rules match by reason; together with others if there are too many reasons."""
        has_room = reason in self.unmatched or len(self.unmatched) < MAX_REASONS
        self.unmatched[reason if has_room else OTHER_REASONS] += count


def _thousandths(share: float) -> int:
    return round(1000 * share)


TrueValues = Mapping[str, Sequence[str]]
"""Attribute → true values on a page; an empty sequence if the attribute is not on the page."""


@dataclass
class CrawlTally:
    """The counts of a crawl's records, by cluster: what `extract` leaves behind to notice a change of the site.

    Tallies of parts of a crawl, as workers count them, merge into that of the crawl.

    Attributes:
        clusters: cluster → the counts of its records. Pages that no rules match are counted under an empty name.
    """

    clusters: dict[str, Tally] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, counts: Mapping[str, Mapping[str, Any]]) -> CrawlTally:
        """Return the tally whose `to_dict` this is."""
        return cls({cluster: Tally.from_dict(tally) for cluster, tally in counts.items()})

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Return the counts as JSON can store them, by cluster."""
        return {cluster: tally.to_dict() for cluster, tally in self.clusters.items()}

    def add(self, record: Record) -> None:
        """Count one record of the crawl."""
        self._of_cluster(record.cluster or "").add(record)

    def merge(self, other: CrawlTally) -> None:
        """Add the counts of another part of the same crawl."""
        for cluster, tally in other.clusters.items():
            self._of_cluster(cluster).update(tally)

    def without_confidence(self) -> CrawlTally:
        """Return the counts without what they say about the committee, because other rules have another one."""
        return CrawlTally(
            {
                cluster: replace(tally, confidence=Counter(), doubtful=Counter())
                for cluster, tally in self.clusters.items()
            }
        )

    def total(self) -> Tally:
        """Return the counts of the whole crawl."""
        total = Tally()
        for tally in self.clusters.values():
            total.update(tally)
        return total

    def _of_cluster(self, cluster: str) -> Tally:
        tally = self.clusters.get(cluster)
        if tally is None:
            tally = self.clusters[cluster] = Tally()
        return tally


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
    """Yield the texts of all values of an attribute, record by record."""
    for record in records:
        for value in record.values.get(attribute, []):
            yield value.text


def _clean_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """Return texts as they are compared: entities decoded, white space squeezed."""
    return tuple(squeeze(html.unescape(text)) for text in texts)
