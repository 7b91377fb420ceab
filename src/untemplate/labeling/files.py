"""A person's labels: values or XPaths in a JSONL file, a page a line.

`labels` are those of a page, `records` those of several records of a list page. A line of the rows that
`untemplate records` writes labels a record too: its cells are the values of `cell_1`, `cell_2` and so on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import LabelError, why
from untemplate.labeling.label import Label
from untemplate.lists.row import cell_names

__all__ = ["parse_labels", "read_labels", "write_labels"]


def read_labels(path: str | Path) -> list[Label]:
    """Read a labels file; what is wrong with it is said with its line number."""
    try:
        with Path(path).open(encoding="utf-8-sig") as lines:
            return parse_labels(lines, str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise LabelError(f"{path}: cannot read the labels: {why(error)}") from error


def parse_labels(lines: Iterable[str], name: str) -> list[Label]:
    """The labels of the lines of a file of that name."""
    return [
        label
        for number, line in enumerate(lines, 1)
        if line.strip()
        for label in _parse_line(line, f"{name}, line {number}")
    ]


def write_labels(labels: Iterable[Label], path: str | Path) -> None:
    """Write labels as JSONL, a page a line, in the order in which pages first appear."""
    pages: dict[str, dict[str | None, dict[str, list[Any]]]] = {}
    for label in labels:
        of_page = pages.setdefault(label.page, {})
        of_page.setdefault(label.record, {}).setdefault(label.attribute, []).append(_to_json(label))
    with Path(path).open("w", encoding="utf-8") as out:
        for page, records in pages.items():
            line: dict[str, Any] = {"page": page}
            if None in records:
                line["labels"] = _values(records.pop(None))
            if records:
                line["records"] = [_values(attributes) for attributes in records.values()]
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def _values(attributes: dict[str, list[Any]]) -> dict[str, Any]:
    return {name: items[0] if len(items) == 1 else items for name, items in attributes.items()}


def _to_json(label: Label) -> Any:
    plain = label.xpath is None and label.source == "person" and label.confidence == 1.0
    if plain:
        return label.value
    extra = {"xpath": label.xpath, "source": label.source, "confidence": label.confidence}
    return {"value": label.value, **{key: value for key, value in extra.items() if value is not None}}


def _parse_line(line: str, where: str) -> Iterator[Label]:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise LabelError(f"{where}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise LabelError(f'{where}: expected an object such as {{"url": "…", "labels": {{"name": "…"}}}}')
    page = row.get("page", row.get("url"))
    if not isinstance(page, str) or not page:
        raise LabelError(f'{where}: needs "url" or "page" with the page\'s URL or id')
    parts = dict(_parts(row, where))
    if not parts or not all(isinstance(part, dict) for part in parts.values()):
        raise LabelError(f'{where}: needs "labels", an object of attribute names and values, or "records"')
    for record, attributes in parts.items():
        for attribute, given in attributes.items():
            for value in given if isinstance(given, list) else [given]:
                yield _parse_value(page, attribute, value, record, where)


def _parts(row: dict[str, Any], where: str) -> Iterator[tuple[str | None, Any]]:
    """Attributes and their values, with the record that they are of."""
    if "labels" in row:
        yield None, row["labels"]
    records = row.get("records", [])
    if not isinstance(records, list):
        raise LabelError(f'{where}: "records" must be a list of such objects as "labels" is')
    yield from ((str(number), record) for number, record in enumerate(records, 1))
    if isinstance(cells := row.get("cells"), list):
        yield str(row.get("xpath")), dict(zip(cell_names(len(cells)), cells, strict=True))


def _parse_value(page: str, attribute: str, value: Any, record: str | None, where: str) -> Label:
    try:
        given = _Given.model_validate(value if isinstance(value, dict) else {"value": value})
    except ValidationError as error:
        raise LabelError(
            f"{where}: the value of {attribute!r} must be text, a list, null or "
            f'{{"value": …, "xpath": …}}, not {json.dumps(value, ensure_ascii=False)[:60]}'
        ) from error
    return Label(page, attribute, **vars(given), record=record)


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    value: Annotated[str, Field(pattern=r"\S")] | None = None
    xpath: str | None = None
    source: str = "person"
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
