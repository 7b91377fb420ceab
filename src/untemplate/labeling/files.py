"""A person's labels in a file: values or XPaths as JSONL, one line per page.

`labels` are those of a page, `records` those of several records of a list page. A line of the rows that
`untemplate records` writes labels of records as well: the columns of a list are the attributes. `template` names the
template of a page, where a person corrected the clusters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from untemplate.errors import LabelError, why
from untemplate.input_files import FileLimits, limited_lines, load_json
from untemplate.labeling.label import Label
from untemplate.lists.rows import ADDRESS_COLUMNS, ROW_COLUMNS, SECTION_COLUMN

__all__ = ["parse_labels", "read_labels", "read_templates", "write_labels"]

# Labels of one page, or of the records of a list page.
_LINE_LIMITS = FileLimits(bytes=16 << 20, values=500_000)

_Record = dict[str, list[Any]]
"""The values of each attribute, as JSON."""


def read_labels(path: str | Path) -> list[Label]:
    """Read a file of labels, JSONL with one line per page.

    Args:
        path: A file with lines such as `{"url": "http://…", "labels": {"name": "Chez Nous", "phone": null}}`.

    Raises:
        LabelError: The file cannot be read or a line is wrong. The message has the line number.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import untemplate as ut
        >>> path = Path(tempfile.mkdtemp(), "labels.jsonl")
        >>> _ = path.write_text('{"page": "7.html", "labels": {"name": "Chez Nous", "phone": null}}')
        >>> [(label.attribute, label.value) for label in ut.read_labels(path)]
        [('name', 'Chez Nous'), ('phone', None)]
    """
    with _open_lines(path) as lines:
        return parse_labels(lines, str(path))


def read_templates(path: str | Path) -> dict[str, str]:
    """Return the names of templates that a file of labels gives, by page id or URL.

    Args:
        path: A file of labels. Lines such as `{"page": "7.html", "template": "c1"}` name a template; the same line
            may have labels.

    Raises:
        LabelError: The file cannot be read or a line is wrong.
    """
    with _open_lines(path) as lines:
        rows = [_parse_row(line, place) for place, line in _numbered(lines, str(path))]
    return {page: row["template"] for page, row in rows if "template" in row}


@contextmanager
def _open_lines(path: str | Path) -> Iterator[Iterator[bytes | None]]:
    try:
        with Path(path).open("rb") as file:
            yield limited_lines(file, _LINE_LIMITS.bytes)
    except OSError as error:
        raise LabelError(f"{path}: cannot read the labels: {why(error)}") from error


def parse_labels(lines: Iterable[str | bytes | None], name: str) -> list[Label]:
    """Return the labels of the lines of a file; `name` is the file's name for error messages.

    A line that is None was too long to be read.

    Raises:
        LabelError: A line is wrong.
    """
    labels: list[Label] = []
    for place, line in _numbered(lines, name):
        labels += _parse_line(line, place)
    return labels


def _numbered(lines: Iterable[str | bytes | None], name: str) -> Iterator[tuple[str, str | bytes]]:
    """Yield the lines that are not empty, each with its place for error messages."""
    for number, line in enumerate(lines, 1):
        if line is None:
            raise LabelError(f"{name}, line {number}: longer than {_LINE_LIMITS.bytes >> 20} MB")
        if line.strip():
            yield f"{name}, line {number}", line


def write_labels(
    labels: Iterable[Label], path: str | Path, templates: Mapping[str, str] | None = None
) -> None:
    """Write labels as JSONL, one line per page, in the order in which pages first appear.

    Args:
        labels: Labels of pages of one or more sites.
        path: The file to write. An existing file is replaced.
        templates: Names of the templates of pages, by page id or URL, as `correct_clusters` returns them.

    Raises:
        OSError: The file cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> import untemplate as ut
        >>> path = Path(tempfile.mkdtemp(), "labels.jsonl")
        >>> ut.write_labels([ut.Label("7.html", "name", "Chez Nous")], path)
        >>> print(path.read_text().strip())
        {"page": "7.html", "labels": {"name": "Chez Nous"}}
    """
    pages: dict[str, dict[str | None, _Record]] = {}
    for label in labels:
        records = pages.setdefault(label.page, {})
        records.setdefault(label.record, {}).setdefault(label.attribute, []).append(_to_json(label))
    templates = templates or {}
    for page in templates:
        pages.setdefault(page, {})
    with Path(path).open("w", encoding="utf-8") as out:
        for page, records in pages.items():
            line: dict[str, Any] = {"page": page}
            if page in templates:
                line["template"] = templates[page]
            if None in records:
                line["labels"] = _unwrap_single(records.pop(None))
            if records:
                line["records"] = [_unwrap_single(record) for record in records.values()]
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def _unwrap_single(record: _Record) -> dict[str, Any]:
    return {name: values[0] if len(values) == 1 else values for name, values in record.items()}


def _to_json(label: Label) -> Any:
    if label.xpath is None and label.source == "person" and label.confidence == 1.0:
        return label.value
    content = {"value": label.value, "source": label.source, "confidence": label.confidence}
    if label.xpath is None:
        return content
    return {"value": label.value, "xpath": label.xpath} | content


def _parse_row(line: str | bytes, place: str) -> tuple[str, dict[str, Any]]:
    """Return the page of a line, and the line as an object."""
    try:
        row = load_json(line, _LINE_LIMITS)
    except ValueError as error:
        raise LabelError(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict):
        raise LabelError(f'{place}: expected an object such as {{"url": "…", "labels": {{"name": "…"}}}}')
    page = row.get("page", row.get("url"))
    if not isinstance(page, str) or not page:
        raise LabelError(f'{place}: needs "url" or "page" with the page\'s URL or id')
    if not isinstance(row.get("template", ""), str):
        raise LabelError(f'{place}: "template" must be a text, the name of the page\'s template')
    return page, row


def _parse_line(line: str | bytes, place: str) -> Iterator[Label]:
    page, row = _parse_row(line, place)
    records = dict(_find_records(row, place))
    if not records and "template" in row:
        return
    if not records or not all(isinstance(attributes, dict) for attributes in records.values()):
        raise LabelError(f'{place}: needs "labels", an object of attribute names and values, or "records"')
    for record, attributes in records.items():
        for attribute, values in attributes.items():
            yield from _parse_values(page, attribute, values, record, place)


def _find_records(row: dict[str, Any], place: str) -> Iterator[tuple[str | None, Any]]:
    """Yield the attributes of each record of a line with the record's name; None for those of the page itself."""
    if "labels" in row:
        yield None, row["labels"]
    records = row.get("records", [])
    if not isinstance(records, list):
        raise LabelError(f'{place}: "records" must be a list of such objects as "labels" is')
    for number, record in enumerate(records, 1):
        yield str(number), record
    if row.keys() >= {*ROW_COLUMNS}:
        ignored = {*ROW_COLUMNS, *ADDRESS_COLUMNS, SECTION_COLUMN}
        yield str(row["xpath"]), {name: text for name, text in row.items() if name not in ignored}


def _parse_values(page: str, attribute: str, values: Any, record: str | None, place: str) -> Iterator[Label]:
    for value in values if isinstance(values, list) else [values]:
        try:
            content = _ValueFile.model_validate(value if isinstance(value, dict) else {"value": value})
        except ValidationError as error:
            raise LabelError(
                f"{place}: the value of {attribute!r} must be text, a list, null or "
                f'{{"value": …, "xpath": …}}, not {json.dumps(value, ensure_ascii=False)[:60]}'
            ) from error
        yield Label(page, attribute, **vars(content), record=record)


class _ValueFile(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    value: Annotated[str, Field(pattern=r"\S")] | None = None
    xpath: str | None = None
    source: str = "person"
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
