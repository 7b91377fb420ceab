"""Records against labels."""

from __future__ import annotations

import pytest

from untemplate import Attribute, Label, Record, Schema, Value
from untemplate.output.scores import Miss, score_records, true_values

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
