"""Records to JSONL, CSV and Parquet: the same rows in each, whole files or none."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from untemplate import Attribute, InputError, Price, Reason, Record, Schema, Value
from untemplate.output import record_files as output
from untemplate.output.record_files import open_records, write_records
from untemplate.output.record_rows import (
    ExtraColumns,
    arrow_row,
    column_name,
    column_names,
    confidence_column,
    nest_confidence,
    record_row,
)
from untemplate.value_types import Type, parse_typed


def value(text: str, data: Any = None, confidence: float = 1.0) -> Value:
    return Value(text, text if data is None else data, "/html/p/text()[1]", "rule", confidence)


RECORDS = [
    Record(
        "http://a/1",
        "1.htm",
        "c1",
        {
            "name": [value('Chez "Ü", \n漢')],
            "cuisine": [value("French", confidence=0.99), value("Bistro", confidence=0.75)],
            "opened": [value("May 3, 2024", date(2024, 5, 3))],
            "price": [value("$25.99", Price(Decimal("25.99"), "USD"))],
        },
        {"url": Reason.NO_RULE},
    ),
    Record(
        "http://a/2",
        "2.htm",
        None,
        {"url": [value("http://b/", confidence=0.5)]},
        {"name": Reason.NOT_ON_PAGE},
    ),
]

ROWS = [
    {
        "url": "http://a/1",
        "page": "1.htm",
        "cluster": "c1",
        "name": 'Chez "Ü", \n漢',
        "cuisine": ["French", "Bistro"],
        "opened": "May 3, 2024",
        "price": "$25.99",
        "url_": None,
        "data": {"opened": "2024-05-03", "price": {"amount": 25.99, "currency": "USD"}},
        "missing": {"url": "no rule for this attribute"},
    },
    {
        "url": "http://a/2",
        "page": "2.htm",
        "cluster": None,
        "name": None,
        "cuisine": [],
        "opened": None,
        "price": None,
        "url_": "http://b/",
        "data": {},
        "missing": {"name": "not on this page"},
    },
]


CONFIDENCE = [{"name": 1.0, "cuisine": 0.75, "opened": 1.0, "price": 1.0}, {"url": 0.5}]


def with_confidence(row: dict[str, Any], confidence: dict[str, float]) -> dict[str, Any]:
    """Return a row as it is in JSONL."""
    return {
        **{name: row[name] for name in row if name != "missing"},
        "confidence": confidence,
        "missing": row["missing"],
    }


JSON_ROWS = [with_confidence(row, confidence) for row, confidence in zip(ROWS, CONFIDENCE, strict=True)]


@pytest.fixture
def schema(tmp_path: Path) -> Schema:
    path = tmp_path / "schema.toml"
    path.write_text(
        'name = "s"\n[attributes.name]\n[attributes.cuisine]\nmany = true\n'
        '[attributes.opened]\ntype = "date"\n[attributes.price]\ntype = "price"\n[attributes.url]\n'
    )
    return Schema.load(path)


def read(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows = [{name: cell or None for name, cell in row.items()} for row in csv.DictReader(file)]
        in_json = ("cuisine", "data", "missing")
        return [
            {name: json.loads(cell) if name in in_json and cell else cell for name, cell in row.items()}
            for row in rows
        ]
    table = pq.read_table(path).to_pylist()
    return [row | {"data": json.loads(row["data"]), "missing": dict(row["missing"])} for row in table]


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet", ".JSONL"])
def test_the_same_rows_in_each_format(tmp_path: Path, schema: Schema, ending: str) -> None:
    path = tmp_path / f"records{ending}"
    assert write_records(iter(RECORDS), path, schema) == 2
    rows = read(path.rename(path.with_suffix(ending.lower())))
    expected = JSON_ROWS if ending.lower() == ".jsonl" else ROWS
    assert rows == expected
    assert list(rows[0]) == list(expected[0])


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_confidence_has_a_column_beside_each_value(tmp_path: Path, schema: Schema, ending: str) -> None:
    path = tmp_path / f"records{ending}"
    write_records(RECORDS, path, schema, confidence=True)
    rows = read(path)
    assert list(rows[0])[3:7] == ["name", "name.confidence", "cuisine", "cuisine.confidence"]
    for row, plain, confidence in zip(rows, ROWS, CONFIDENCE, strict=True):
        assert {name: row[name] for name in plain} == plain
        cells = {name: row[confidence_column(name)] for name in schema.attributes}
        assert {name: float(cell) for name, cell in cells.items() if cell is not None} == confidence


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_typed_columns_stand_beside_the_texts(tmp_path: Path, schema: Schema, ending: str) -> None:
    path = tmp_path / f"records{ending}"
    write_records(RECORDS, path, schema, typed=True)
    rows = read(path)
    typed = ["opened", "opened.date", "price", "price.amount", "price.currency", "url_"]
    assert [name for name in rows[0] if name in typed] == typed
    for row, plain in zip(rows, ROWS, strict=True):
        assert {name: row[name] for name in plain} == plain
    cells = [rows[0]["opened.date"], rows[0]["price.amount"], rows[0]["price.currency"]]
    assert cells == (
        [date(2024, 5, 3), 25.99, "USD"] if ending == ".parquet" else ["2024-05-03", "25.99", "USD"]
    )
    assert rows[1]["opened.date"] is None
    assert rows[1]["price.amount"] is None


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_every_type_has_typed_columns(tmp_path: Path, ending: str) -> None:
    texts: dict[Type, tuple[str, Any]] = {
        "number": ("about 1,200", 1200.0),
        "date": ("3 May 2024", date(2024, 5, 3)),
        "time": ("8:30 pm", "20:30:00"),
        "phone": ("(212) 586-8655", "+12125868655"),
        "zip": ("NY 10036", "10036"),
        "email": ("to a@b.example", "a@b.example"),
        "isbn": ("0-306-40615-2", "0306406152"),
        "url": ("http://a/b", "http://a/b"),
        "image": ("http://a/b.png", "http://a/b.png"),
    }
    schema = Schema("s", {type: Attribute(type, type=type, many=True) for type in texts})
    values = {
        type: [Value(text, parse_typed(text, type), "/", "r"), Value("–", None, "/", "r")]
        for type, (text, _) in texts.items()
    }
    path = tmp_path / f"records{ending}"
    write_records([Record("http://a/1", "1", "c1", values)], path, schema, typed=True)
    columns = column_names(schema, ExtraColumns(typed=True))
    if ending == ".parquet":
        [row] = pq.read_table(path).to_pylist()
    else:
        with path.open(encoding="utf-8", newline="") as file:
            [row] = [
                {name: json.loads(cell) if cell.startswith("[") else cell for name, cell in line.items()}
                for line in csv.DictReader(file)
            ]
    for type, (_text, meaning) in texts.items():
        column = columns[columns.index(column_name(type)) + 1]
        is_date_text = type == "date" and ending == ".csv"
        expected = meaning.isoformat() if is_date_text else meaning
        nothing = "–" if type in ("url", "image") else None  # any text is an address
        assert row[column] == [expected, nothing], column


def test_names_of_columns_are_never_taken_twice() -> None:
    names = ("price", "price.confidence", "price.amount", "confidence", "missing")
    schema = Schema(
        "s", {name: Attribute(name, type="price" if name == "price" else "text") for name in names}
    )
    columns = column_names(schema, ExtraColumns(confidence=True, typed=True))
    assert len(set(columns)) == len(columns)
    record = Record("http://a/1", "1", "c1", {name: [value(name)] for name in names})
    assert nest_confidence(arrow_row(record, schema)) == record_row(record, schema)


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_no_records_make_an_empty_file(tmp_path: Path, schema: Schema, ending: str) -> None:
    path = tmp_path / f"records{ending}"
    assert write_records([], path, schema) == 0
    assert read(path) == []


def test_jsonl_to_standard_output(schema: Schema, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(RECORDS, "-", schema)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == JSON_ROWS


def test_parquet_is_written_in_batches(
    tmp_path: Path, schema: Schema, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "ROW_GROUP_SIZE", 2)
    path = tmp_path / "records.parquet"
    write_records(RECORDS[:1] * 5, path, schema)
    assert pq.ParquetFile(path).num_row_groups == 3
    assert pq.read_metadata(path).num_rows == 5


@pytest.mark.parametrize("ending", [".jsonl", ".csv", ".parquet"])
def test_the_file_appears_only_when_complete(tmp_path: Path, schema: Schema, ending: str) -> None:
    path = tmp_path / "out" / f"records{ending}"
    path.parent.mkdir()
    path.write_text("before")

    def failing() -> Iterator[Record]:
        yield RECORDS[0]
        assert path.read_text() == "before"
        raise RuntimeError("half-way")

    with pytest.raises(RuntimeError, match="half-way"):
        write_records(failing(), path, schema)
    assert path.read_text() == "before"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path, schema: Schema) -> None:
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    write_records(RECORDS, tmp_path / "link.jsonl", schema)
    assert (tmp_path / "link.jsonl").is_symlink()
    assert read(tmp_path / "real.jsonl") == JSON_ROWS
    (tmp_path / "null.jsonl").symlink_to("/dev/null")
    write_records(RECORDS, tmp_path / "null.jsonl", schema)
    assert Path("/dev/null").is_char_device()


def test_names_that_are_not_unicode_are_written(tmp_path: Path, schema: Schema) -> None:
    for ending in (".jsonl", ".csv", ".parquet"):
        path = tmp_path / f"records{ending}"
        write_records([Record("", "caf\udce9.htm", None)], path, schema)
        assert read(path)[0]["page"] == "caf?.htm"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("records.txt", "unknown format; end the name in .jsonl, .csv, .parquet, or give -"),
        ("records", "unknown format"),
        ("none/records.csv", "cannot write: No such file or directory"),
        ("folder.csv", "is a folder"),
    ],
)
def test_names_that_cannot_be_written(tmp_path: Path, schema: Schema, name: str, said: str) -> None:
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=said), open_records(tmp_path / name, schema):
        pass
