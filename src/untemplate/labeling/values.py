"""A person's labels: values or XPaths in a JSONL file, a page a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import LabelError, why
from untemplate.labeling.label import Label

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
    pages: dict[str, dict[str, list[Any]]] = {}
    for label in labels:
        pages.setdefault(label.page, {}).setdefault(label.attribute, []).append(_to_json(label))
    with Path(path).open("w", encoding="utf-8") as out:
        for page, attributes in pages.items():
            values = {name: items[0] if len(items) == 1 else items for name, items in attributes.items()}
            out.write(json.dumps({"page": page, "labels": values}, ensure_ascii=False) + "\n")


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
    attributes = row.get("labels")
    if not isinstance(attributes, dict):
        raise LabelError(f'{where}: needs "labels", an object of attribute names and values')
    for attribute, given in attributes.items():
        for value in given if isinstance(given, list) else [given]:
            yield _parse_value(page, attribute, value, where)


def _parse_value(page: str, attribute: str, value: Any, where: str) -> Label:
    try:
        given = _Given.model_validate(value if isinstance(value, dict) else {"value": value})
    except ValidationError as error:
        raise LabelError(
            f"{where}: the value of {attribute!r} must be text, a list, null or "
            f'{{"value": …, "xpath": …}}, not {json.dumps(value, ensure_ascii=False)[:60]}'
        ) from error
    return Label(page, attribute, **vars(given))


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    value: Annotated[str, Field(pattern=r"\S")] | None = None
    xpath: str | None = None
    source: str = "person"
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
