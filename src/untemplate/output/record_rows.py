"""A record as a row of a table: its columns, and its cells as JSON or Arrow can store them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from untemplate.record import Record, Value
from untemplate.schema import Attribute, Schema

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "RESERVED",
    "arrow_row",
    "arrow_schema",
    "column_name",
    "column_names",
    "confidence_column",
    "encode_json",
    "nest_confidence",
    "record_batch",
    "record_row",
    "select_columns",
]

RESERVED = ("url", "page", "cluster", "row", "data", "confidence", "missing")
"""Columns that every record has. An attribute with such a name gets an underscore at its end."""

# How the column with the confidence in an attribute's value is called: `price.confidence` beside `price`.
_CONFIDENCE = ".confidence"

encode_json = json.JSONEncoder(ensure_ascii=False).encode


def column_name(attribute: str) -> str:
    """Return the name of an attribute's column."""
    is_taken = attribute in RESERVED or attribute.endswith(_CONFIDENCE)
    return f"{attribute}_" if is_taken else attribute


def confidence_column(attribute: str) -> str:
    """Return the name of the column with the confidence in an attribute's values, such as `price.confidence`."""
    return column_name(attribute) + _CONFIDENCE


def column_names(schema: Schema, confidence: bool = True) -> list[str]:
    """Return the names of all columns, in their order.

    Args:
        schema: the schema of the records.
        confidence: include a column for the confidence in each attribute's value, beside it.
    """
    names = ["url", "page", "cluster", *(["row"] if schema.rows else [])]
    for name in schema.attributes:
        names += [column_name(name), confidence_column(name)] if confidence else [column_name(name)]
    return [*names, "data", "missing"]


def record_row(record: Record, schema: Schema) -> dict[str, Any]:
    """Return a record as column → value, with values that JSON can store.

    The cell of an attribute is the text of its value, or a list of texts for a `many` attribute. `data` contains
    typed values that differ from their text, `confidence` the lowest confidence of each attribute's values, and
    `missing` the reason for each missing value.
    """
    row: dict[str, Any] = {
        "url": _as_unicode(record.url),
        "page": _as_unicode(record.page_id),
        "cluster": record.cluster,
    }
    if schema.rows:
        row["row"] = record.position
    data: dict[str, Any] = {}
    confidence: dict[str, float | None] = {}
    for name, attribute in schema.attributes.items():
        values = record.values.get(name, [])
        row[column_name(name)] = _text_cell(values, attribute)
        if not values:
            continue
        confidence[name] = record.confidence(name)
        if any(value.data is not None and value.data != value.text for value in values):
            data[name] = _typed_cell(values, attribute)
    row["data"] = data
    row["confidence"] = confidence
    row["missing"] = dict(record.missing)
    return row


def arrow_row(record: Record, schema: Schema) -> dict[str, Any]:
    """Return a record as a row of an Arrow table, with the columns of `arrow_schema`.

    `data` is JSON in a text, `missing` a list of pairs, and the confidence in each attribute has its own column.
    """
    row = record_row(record, schema)
    cells = row | {"data": encode_json(row["data"]), "missing": list(row["missing"].items())}
    for name in schema.attributes:
        cells[confidence_column(name)] = row["confidence"].get(name)
    return {name: cells[name] for name in column_names(schema)}


def nest_confidence(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of an Arrow table as `record_row` has it: the confidence of all attributes in one cell."""
    nested: dict[str, Any] = {}
    confidence: dict[str, float] = {}
    for column, cell in row.items():
        if not column.endswith(_CONFIDENCE):
            nested[column] = cell
        elif cell is not None:
            confidence[_attribute_name(column.removesuffix(_CONFIDENCE))] = cell
    missing = nested.pop("missing")
    return {**nested, "data": json.loads(row["data"]), "confidence": confidence, "missing": dict(missing)}


def _attribute_name(column: str) -> str:
    """Return the attribute that a column belongs to."""
    is_renamed = column.endswith("_") and column_name(column[:-1]) == column
    return column[:-1] if is_renamed else column


def select_columns(batch: pa.RecordBatch, confidence: bool) -> pa.RecordBatch:
    """Return a batch of records with or without the columns of confidence."""
    if confidence:
        return batch
    return batch.select([name for name in batch.schema.names if not name.endswith(_CONFIDENCE)])


def arrow_schema(schema: Schema, confidence: bool = True) -> pa.Schema:
    """Return the columns that records have in Arrow record batches; files may leave out the confidence."""
    import pyarrow as pa

    types = {name: pa.string() for name in column_names(schema, confidence)}
    for name, attribute in schema.attributes.items():
        if attribute.many:
            types[column_name(name)] = pa.list_(pa.string())
        if confidence:
            types[confidence_column(name)] = pa.float64()
    types["missing"] = pa.map_(pa.string(), pa.string())
    if schema.rows:
        types["row"] = pa.int32()
    return pa.schema(list(types.items()))


def record_batch(records: Iterable[Record], schema: Schema) -> pa.RecordBatch:
    """Return records as an Arrow batch."""
    import pyarrow as pa

    rows = [arrow_row(record, schema) for record in records]
    return pa.RecordBatch.from_pylist(rows, schema=arrow_schema(schema))


def _text_cell(values: Sequence[Value], attribute: Attribute) -> list[str] | str | None:
    """Return the texts of a `many` attribute, or the first text; None if there is none."""
    if attribute.many:
        return [_as_unicode(value.text) for value in values]
    return _as_unicode(values[0].text) if values else None


def _typed_cell(values: Sequence[Value], attribute: Attribute) -> Any:
    """Return the typed data of a `many` attribute as a list, or that of the first value."""
    if attribute.many:
        return [_as_plain(value.data) for value in values]
    return _as_plain(values[0].data)


def _as_unicode(text: str) -> str:
    """Return a text without lone surrogates, which file names may contain and UTF-8 cannot."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def _as_plain(value: Any) -> Any:
    """Return typed data as JSON can store it: dates in ISO form, decimals as numbers, dataclasses as dicts."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: _as_plain(field) for name, field in asdict(value).items()}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)
