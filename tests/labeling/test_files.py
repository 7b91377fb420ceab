"""Labels files: every form of a value, read and written, and errors with their line."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Label, LabelError, Page, Row, Rows, read_labels, write_labels
from untemplate.output.record_files import write_rows


def read(tmp_path: Path, text: str) -> list[Label]:
    path = tmp_path / "labels.jsonl"
    path.write_text(text, encoding="utf-8")
    return read_labels(path)


def test_every_form_of_a_value(tmp_path: Path) -> None:
    labels = read(
        tmp_path,
        '{"url": "http://a/", "labels": {"name": "Chimichurri", "phone": null, "cuisine": ["A", "B"]}}\n'
        "\n"
        '{"page": "2.htm", "labels": {"name": {"value": "Café", "xpath": "/html/p/text()[1]"}, "price": 5}}\n'
        '{"page": "3.htm", "labels": {"name": {"xpath": "/html/p/text()[1]"}, "cuisine": []}}\n',
    )
    assert labels == [
        Label("http://a/", "name", "Chimichurri"),
        Label("http://a/", "phone", None),
        Label("http://a/", "cuisine", "A"),
        Label("http://a/", "cuisine", "B"),
        Label("2.htm", "name", "Café", "/html/p/text()[1]"),
        Label("2.htm", "price", "5"),
        Label("3.htm", "name", None, "/html/p/text()[1]"),
    ]


def test_a_byte_order_mark_and_no_last_line_end(tmp_path: Path) -> None:
    assert read(tmp_path, '\ufeff{"page": "1", "labels": {"a": "b"}}') == [Label("1", "a", "b")]
    assert read(tmp_path, "") == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "not JSON"),
        ("[1]", "expected an object such as"),
        ('{"labels": {}}', 'needs "url" or "page"'),
        ('{"page": 7, "labels": {}}', 'needs "url" or "page"'),
        ('{"page": "", "labels": {}}', 'needs "url" or "page"'),
        ('{"page": "1"}', 'needs "labels"'),
        ('{"page": "1", "labels": ["a"]}', 'needs "labels"'),
        ('{"page": "1", "labels": {"a": "  "}}', "the value of 'a' must be text"),
        ('{"page": "1", "labels": {"a": true}}', "the value of 'a' must be text"),
        ('{"page": "1", "labels": {"a": {"valu": "x"}}}', "the value of 'a' must be text"),
        ('{"page": "1", "labels": {"a": [["x"]]}}', "the value of 'a' must be text"),
        ('{"page": "1", "labels": {"a": {"value": "x", "confidence": 2}}}', "the value of 'a' must be text"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(LabelError) as error:
        read(tmp_path, '{"page": "0", "labels": {}}\n\n' + line + "\n")
    assert str(error.value).startswith(f"{tmp_path / 'labels.jsonl'}, line 3: {said}")
    assert "\n" not in str(error.value)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match="cannot read the labels"):
        read_labels(tmp_path / "none.jsonl")
    with pytest.raises(LabelError, match="cannot read the labels"):
        read_labels(tmp_path)


words = st.text(min_size=1, max_size=8).filter(lambda text: text.strip() and text.isprintable())
label = st.builds(
    Label,
    page=words,
    attribute=words,
    value=st.none() | words,
    xpath=st.none() | words,
    source=st.sampled_from(["person", "model"]),
    confidence=st.sampled_from([1.0, 0.5, 0.0]),
)


@given(st.lists(label, max_size=8))
def test_what_is_written_is_read_again(tmp_path_factory: pytest.TempPathFactory, labels: list[Label]) -> None:
    path = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    write_labels(labels, path)
    order = {label.page: number for number, label in reversed(list(enumerate(labels)))}
    first = {(label.page, label.attribute): n for n, label in reversed(list(enumerate(labels)))}
    expected = sorted(labels, key=lambda label: (order[label.page], first[label.page, label.attribute]))
    assert read_labels(path) == expected


def test_pinned_labels_without_a_value_survive(tmp_path: Path) -> None:
    labels = [Label("1", "name", None, "/html/p/text()[1]"), Label("1", "phone", None, source="model")]
    write_labels(labels, tmp_path / "labels.jsonl")
    assert read_labels(tmp_path / "labels.jsonl") == labels


def test_labels_of_several_records_of_a_page(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"page": "1", "records": [{"name": "Bell", "tag": ["a", "b"]}, {"name": "Moka", "tag": null}]}'
    )
    labels = read_labels(path)
    assert [(one.record, one.attribute, one.value) for one in labels] == [
        ("1", "name", "Bell"),
        ("1", "tag", "a"),
        ("1", "tag", "b"),
        ("2", "name", "Moka"),
        ("2", "tag", None),
    ]
    write_labels(labels, path)
    assert read_labels(path) == labels


def test_rows_are_labels(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    row = Row(
        "Bell",
        ["Bell"],
        "/html/body/p",
        0.9,
        0,
        {"url": "/bell", "section": "Shoes", "title": "Bell", "price": None},
    )
    write_rows([(Page("http://a.example", "<p>Bell", id="1"), Rows([row]))], path)
    assert read_labels(path) == [
        Label("1", "title", "Bell", record="/html/body/p"),
        Label("1", "price", None, record="/html/body/p"),
    ]
