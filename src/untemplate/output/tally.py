"""What came out of many pages, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from untemplate.output.record_files import column_name
from untemplate.record import Reason, Record
from untemplate.schema import Schema

__all__ = ["Tally"]

# Reasons counted apart: those of unreadable pages may be as many as these pages.
REASONS = 100
OTHER_REASONS = f"{Reason.UNREADABLE}: other reasons"


@dataclass
class Tally:
    """Counts of pages and records, of what was found, and of why pages have no values."""

    pages: int = 0
    records: int = 0
    matched: int = 0  # records of pages that rules match
    empty: int = 0  # pages that rules match, but no rule found anything
    filled: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)  # by reason

    @classmethod
    def from_batch(cls, batch: pa.RecordBatch, schema: Schema) -> Tally:
        """The tally of a batch of records."""
        tally = cls()
        columns = {name: batch[column_name(name)].to_pylist() for name in schema.attributes}
        found = [
            [name for name, column in columns.items() if column[row] not in (None, [])]
            for row in range(batch.num_rows)
        ]
        rows = batch["row"].to_pylist() if schema.rows else [None] * batch.num_rows
        clusters, reasons = (batch[name].to_pylist() for name in ("cluster", "missing"))
        for cluster, row, missing, names in zip(clusters, rows, reasons, found, strict=True):
            tally._add(cluster, row, names, missing[0][1] if missing else "")
        return tally

    @classmethod
    def from_dict(cls, counts: Mapping[str, Any]) -> Tally:
        """The tally of which this is `to_dict`."""
        return cls(
            **{**counts, "filled": Counter(counts["filled"]), "unmatched": Counter(counts["unmatched"])}
        )

    def to_dict(self) -> dict[str, Any]:
        """The counts as JSON knows them."""
        return dict(vars(self))

    def count(self, records: Iterable[Record]) -> Iterator[Record]:
        """Pass records on, and count them."""
        for record in records:
            reason = next(iter(record.missing.values()), "")
            self._add(record.cluster, record.position, record.values, reason)
            yield record

    def update(self, other: Tally) -> None:
        """Count what another has counted as well."""
        self.pages += other.pages
        self.records += other.records
        self.matched += other.matched
        self.empty += other.empty
        self.filled.update(other.filled)
        for reason, count in other.unmatched.items():
            self._add_reason(reason, count)

    def failed_share(self, skipped: int = 0) -> float:
        """The share of pages out of which nothing came although something should have, skipped pages included."""
        failed = self.empty + skipped + self.unmatched.total() - self.unmatched[Reason.NEEDS_LABELS]
        total = self.pages + skipped
        return failed / total if total else 0.0

    def _add(self, cluster: str | None, row: int | None, found: Collection[str], reason: str) -> None:
        self.pages += row in (None, 1)
        self.records += 1
        self.filled.update(iter(found))
        if cluster is None or reason == Reason.NEEDS_LABELS:
            self._add_reason(reason, 1)
        else:
            self.matched += 1
            self.empty += not found and row is None

    def _add_reason(self, reason: str, count: int) -> None:
        known = reason in self.unmatched or len(self.unmatched) < REASONS
        self.unmatched[reason if known else OTHER_REASONS] += count
