"""Golden sites: each folder has pages, labels of a few, a schema, and what must come out; one test per field.

To add one: `pages/` (with `pages.csv` for their URLs), `labels.jsonl`, `schema.toml`, `expected.jsonl`. Without
labels the embedded data of the pages teach.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from untemplate import Record, Schema, learn, read_labels, read_pages

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("*/expected.jsonl"))
LABELED = [folder for folder in FOLDERS if (folder / "labels.jsonl").exists()]
FIELDS = [(folder, name) for folder in FOLDERS for name in Schema.load(folder / "schema.toml").attributes]


@cache
def records(folder: Path) -> dict[str, Record]:
    schema = Schema.load(folder / "schema.toml")
    labels = read_labels(folder / "labels.jsonl") if folder in LABELED else None
    rules = learn(read_pages(folder / "pages"), labels, schema)
    return {record.page_id: record for record in rules.extract(read_pages(folder / "pages"))}


def expected(folder: Path) -> dict[str, dict[str, Any]]:
    lines = (folder / "expected.jsonl").read_text("utf-8").splitlines()
    return {row["page"]: row["values"] for row in map(json.loads, lines)}


@pytest.mark.parametrize(
    ("folder", "field"), FIELDS, ids=[f"{folder.name}-{field}" for folder, field in FIELDS]
)
def test_field(folder: Path, field: str) -> None:
    many = Schema.load(folder / "schema.toml").attributes[field].many
    found = {}
    for page, record in records(folder).items():
        texts = [value.text for value in record.values.get(field, [])]
        found[page] = texts if many else record[field]
    assert found == {page: values[field] for page, values in expected(folder).items()}


@pytest.mark.parametrize("folder", LABELED, ids=[folder.name for folder in LABELED])
def test_few_pages_are_labeled(folder: Path) -> None:
    labeled = {label.page for label in read_labels(folder / "labels.jsonl")}
    assert 0 < len(labeled) <= len(expected(folder)) / 2
