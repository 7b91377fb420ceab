"""Counts of records, one by one and in batches."""

from __future__ import annotations

import pyarrow as pa

from untemplate import Attribute, Reason, Record, Schema, Value
from untemplate.output.record_rows import arrow_row, arrow_schema
from untemplate.output.tally import MAX_REASONS, OTHER_REASONS, Tally

SCHEMA = Schema("s", {"name": Attribute("name"), "tags": Attribute("tags", many=True)}, rows=True)
NAME = {"name": [Value("Lamp", "Lamp", "/", "name#1")]}
RECORDS = [
    Record("http://a/1", "1", "c1", NAME, {"tags": Reason.NOT_ON_PAGE}),
    Record("http://a/2", "2", "c1", {}, dict.fromkeys(SCHEMA.attributes, Reason.NOT_ON_PAGE)),
    Record("http://a/3", "3", None, {}, dict.fromkeys(SCHEMA.attributes, Reason.NO_WRAPPER)),
    Record("http://a/4", "4", "c2", {}, dict.fromkeys(SCHEMA.attributes, Reason.NEEDS_LABELS)),
    Record("http://a/5", "5", "c3", NAME, {}, position=1),
    Record("http://a/5", "5", "c3", NAME, {}, position=2),
]


def counted(records: list[Record]) -> Tally:
    tally = Tally()
    assert list(tally.count(records)) == records
    return tally


def test_what_is_counted() -> None:
    tally = counted(RECORDS)
    assert (tally.pages, tally.records, tally.matched, tally.empty) == (5, 6, 4, 1)
    assert tally.filled == {"name": 3}
    assert tally.unmatched == {Reason.NO_WRAPPER: 1, Reason.NEEDS_LABELS: 1}
    assert tally.failed_share() == 2 / 5
    assert tally.failed_share(skipped=5) == 7 / 10


def test_batches_and_sums_count_the_same() -> None:
    rows = [arrow_row(record, SCHEMA) for record in RECORDS]
    batch = pa.RecordBatch.from_pylist(rows, schema=arrow_schema(SCHEMA))
    assert Tally.from_batch(batch, SCHEMA) == counted(RECORDS)
    both = counted(RECORDS[:2])
    both.update(counted(RECORDS[2:]))
    assert both == counted(RECORDS)
    assert Tally.from_dict(both.to_dict()) == both


def test_further_reasons_are_counted_together() -> None:
    many = MAX_REASONS + 10
    tally = counted([Record(f"http://a/{n}", f"{n}", None, {}, {"name": f"bad: {n}"}) for n in range(many)])
    assert tally.unmatched.total() == many
    assert tally.unmatched[OTHER_REASONS] == 10
