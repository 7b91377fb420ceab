"""Counts of what was extracted from many pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from untemplate.output.record_rows import column_name
from untemplate.record import Reason, Record
from untemplate.schema import Schema

__all__ = ["Tally"]

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
        unmatched: reason → pages that no rules match.
    """

    pages: int = 0
    records: int = 0
    matched: int = 0
    empty: int = 0
    filled: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)

    @classmethod
    def from_batch(cls, batch: pa.RecordBatch, schema: Schema) -> Tally:
        """Count a batch of records, with the columns of `arrow_schema`."""
        tally = cls()
        columns = {name: batch[column_name(name)].to_pylist() for name in schema.attributes}
        positions = batch["row"].to_pylist() if schema.rows else [None] * batch.num_rows
        clusters, reasons = batch["cluster"].to_pylist(), batch["missing"].to_pylist()
        for row, (cluster, position, missing) in enumerate(zip(clusters, positions, reasons, strict=True)):
            filled = [name for name, column in columns.items() if column[row] not in (None, [])]
            tally._add_record(cluster, position, filled, missing[0][1] if missing else "")
        return tally

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Tally:
        """Return the tally whose `to_dict` this is."""
        counters = {name: Counter(counts[name]) for name in ("filled", "unmatched")}
        return cls(**{**counts, **counters})

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON can store them."""
        return dict(vars(self))

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        """Count records while passing them on."""
        for record in records:
            reason = next(iter(record.missing.values()), "")
            self._add_record(record.cluster, record.position, record.values, reason)
            yield record

    def update(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.pages += other.pages
        self.records += other.records
        self.matched += other.matched
        self.empty += other.empty
        self.filled.update(other.filled)
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

    def _add_record(
        self, cluster: str | None, position: int | None, filled: Collection[str], reason: str
    ) -> None:
        self.pages += position in (None, 1)
        self.records += 1
        self.filled.update(iter(filled))
        if cluster is None or reason == Reason.NEEDS_LABELS:
            self._add_reason(reason, 1)
        else:
            self.matched += 1
            self.empty += not filled and position is None

    def _add_reason(self, reason: str, count: int) -> None:
        has_room = reason in self.unmatched or len(self.unmatched) < MAX_REASONS
        self.unmatched[reason if has_room else OTHER_REASONS] += count
