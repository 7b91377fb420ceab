"""Records: what a value is found by, and what a missing one tells."""

from __future__ import annotations

import pytest

from untemplate import Reason, Record, Value


def test_a_record_gives_the_text_of_its_first_value() -> None:
    values = [
        Value("a", "A", "/html/p[1]/text()[1]", "r1"),
        Value("b", "B", "/html/p[2]/text()[1]", "r1", 0.5),
    ]
    record = Record("http://a/", "1.htm", "c1", {"name": values, "phone": []}, {"phone": Reason.NOT_ON_PAGE})
    assert record["name"] == "a"
    assert record["phone"] is None
    with pytest.raises(KeyError, match="no attribute 'never heard of'; there are name, phone"):
        record["never heard of"]
    assert [value.data for value in record.values["name"]] == ["A", "B"]
    assert record.missing["phone"] == "not on this page"


def test_records_do_not_share_their_contents() -> None:
    first, second = Record("", "1", None), Record("", "2", None)
    first.missing["name"] = Reason.NO_WRAPPER
    first.values["name"] = []
    assert (second.values, second.missing) == ({}, {})


def test_values_below_a_confidence_become_gaps_with_a_reason() -> None:
    sure, doubtful = Value("a", "A", "/", "r1", 0.9), Value("b", "B", "/", "r1", 0.5)
    values = {"name": [sure], "phone": [doubtful], "tags": [sure, doubtful]}
    record = Record("http://a/", "1.htm", "c1", values, {"price": Reason.NO_RULE})
    assert record.without_doubtful(0.0) is record
    assert record.without_doubtful(0.5) == record
    strict = record.without_doubtful(0.9)
    assert strict.values == {"name": [sure], "tags": [sure]}
    assert strict.missing == {"price": Reason.NO_RULE, "phone": Reason.TOO_DOUBTFUL}
    assert [record.confidence(name) for name in ("name", "tags", "price")] == [0.9, 0.5, None]
    assert record["phone"] == "b"
