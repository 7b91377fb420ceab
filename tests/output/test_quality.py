"""Counts of records, one by one and summed up, and records against labels."""

from __future__ import annotations

import pytest

from untemplate import Attribute, Label, Reason, Record, Schema, Value
from untemplate.output.quality import MAX_REASONS, OTHER_REASONS, Miss, Tally, score_records, true_values

SCHEMA = Schema("shop", {"name": Attribute("name"), "color": Attribute("color", many=True)})


def record(page: str, **values: list[str]) -> Record:
    found = {name: [Value(text, text, "/", name) for text in texts] for name, texts in values.items()}
    return Record(f"http://a/{page}", page, "c1", found)


def test_page_hits() -> None:
    truth = {
        "1": {"name": ["Lamp", "A lamp"]},  # either is right
        "2": {"name": ["Tom &amp;  Jerry"]},  # entities and white space do not count
        "http://a/3": {"name": ["Chair"]},  # by URL, and missed
        "4": {"name": []},  # not there, but extracted
        "5": {"name": []},
    }
    records = [
        record("1", name=["A lamp"]),
        record("2", name=["Tom & Jerry"]),
        record("3"),
        record("4", name=["Sofa"]),
        record("5"),
        record("6", name=["nobody labeled this"]),
    ]
    scores = score_records(records, truth, SCHEMA)
    assert list(scores) == ["name"]
    name = scores["name"]
    assert (name.hits, name.extracted, name.true) == (2, 3, 3)
    assert (name.precision, name.recall, name.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert name.misses == [Miss("3", (), ("Chair",)), Miss("4", ("Sofa",), ())]


def test_each_of_many_values_counts() -> None:
    scores = score_records(
        [record("1", color=["red", "blue"])], {"1": {"color": ["red", "green", "white"]}}, SCHEMA
    )
    color = scores["color"]
    assert (color.hits, color.extracted, color.true) == (1, 2, 3)
    assert len(color.misses) == 1


def test_nothing_to_find_and_nothing_found_is_perfect() -> None:
    score = score_records([record("1")], {"1": {"name": []}}, SCHEMA)["name"]
    assert (score.precision, score.recall, score.f1, score.misses) == (1, 1, 1, [])


def test_labels_by_page() -> None:
    labels = [
        Label("1", "color", "red"),
        Label("1", "color", "blue"),
        Label("1", "name", None),
        Label("2", "name", None, xpath="/html/body"),  # says where, not what
    ]
    assert true_values(labels) == {"1": {"color": ["red", "blue"], "name": []}}


COUNTED = Schema("s", {"name": Attribute("name"), "tags": Attribute("tags", many=True)}, rows=True)
NAME = {"name": [Value("Lamp", "Lamp", "/", "name#1")]}
DOUBTFUL = NAME | {"tags": [Value("a", "a", "/", "tags#1"), Value("b", "b", "/", "tags#1", confidence=0.5)]}
RECORDS = [
    Record("http://a/1", "1", "c1", NAME, {"tags": Reason.NOT_ON_PAGE}),
    Record("http://a/2", "2", "c1", {}, dict.fromkeys(COUNTED.attributes, Reason.NOT_ON_PAGE)),
    Record("http://a/3", "3", None, {}, dict.fromkeys(COUNTED.attributes, Reason.NO_WRAPPER)),
    Record("http://a/4", "4", "c2", {}, dict.fromkeys(COUNTED.attributes, Reason.NEEDS_LABELS)),
    Record("http://a/5", "5", "c3", NAME, {}, position=1),
    Record("http://a/5", "5", "c3", NAME, {}, position=2),
    Record("http://a/6", "6", "c1", DOUBTFUL, {}),
    Record("http://a/7", "7", "c1", DOUBTFUL, {}).without_doubtful(0.6),
]


def counted(records: list[Record]) -> Tally:
    tally = Tally()
    assert list(tally.count(records)) == records
    return tally


def test_what_is_counted() -> None:
    tally = counted(RECORDS)
    assert (tally.pages, tally.records, tally.matched, tally.empty) == (7, 8, 6, 1)
    assert tally.filled == {"name": 5, "tags": 2}
    assert (tally.doubtful, tally.dropped) == ({"tags": 1}, {})
    assert tally.unmatched == {Reason.NO_WRAPPER: 1, Reason.NEEDS_LABELS: 1}
    assert tally.failed_share() == 2 / 7
    assert tally.failed_share(skipped=5) == 7 / 12


def test_dropped_values_are_counted() -> None:
    tally = counted([record.without_doubtful(1.1) for record in RECORDS])
    assert (tally.filled, tally.doubtful) == ({}, {})
    assert tally.dropped == {"name": 5, "tags": 2}


def test_sums_count_the_same() -> None:
    both = counted(RECORDS[:2])
    both.update(counted(RECORDS[2:]))
    assert both == counted(RECORDS)
    assert Tally.from_dict(both.to_dict()) == both


def test_further_reasons_are_counted_together() -> None:
    many = MAX_REASONS + 10
    tally = counted([Record(f"http://a/{n}", f"{n}", None, {}, {"name": f"bad: {n}"}) for n in range(many)])
    assert tally.unmatched.total() == many
    assert tally.unmatched[OTHER_REASONS] == 10
