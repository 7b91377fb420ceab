"""A record as a row of a table: its columns, and its cells as JSON or Arrow can store them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from untemplate.record import Record, Value
from untemplate.schema import Attribute, Schema
from untemplate.value_types import Type, parse_typed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "BATCH_COLUMNS",
    "RESERVED",
    "TEXT_COLUMNS",
    "ExtraColumns",
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

# The columns with the meaning of an attribute's value, by its type: what each adds to the attribute's name.
_TYPED: dict[Type, tuple[str, ...]] = {
    "number": (".number",),
    "price": (".amount", ".currency"),
    "date": (".date",),
    "time": (".time",),
    "phone": (".e164",),
    "zip": (".zip",),
    "email": (".email",),
    "isbn": (".isbn",),
    "url": (".url",),
    "image": (".url",),
}
_SUFFIXES = (_CONFIDENCE, *dict.fromkeys(suffix for suffixes in _TYPED.values() for suffix in suffixes))

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, separators=(",", ":"), default=date.isoformat
)


def encode_json(value: Any) -> str:
    """Return a value as JSON, without blanks between its parts.

    >>> encode_json({"name": "Café", "opened": date(2020, 1, 31), "stars": 2**70})
    '{"name":"Café","opened":"2020-01-31","stars":1180591620717411303424}'
    """
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:  # as for integers of more than 64 bits
        return _ENCODER.encode(value)


class ExtraColumns(NamedTuple):
    """Which columns CSV and Parquet files have beside the texts of values.

    Attributes:
        confidence: How sure each value is, such as `price.confidence`.
        typed: What each value means, such as `price.amount` and `price.currency`.
    """

    confidence: bool = False
    typed: bool = False


TEXT_COLUMNS = ExtraColumns()
"""The columns of CSV and Parquet files unless the caller wants more."""

BATCH_COLUMNS = ExtraColumns(confidence=True)
"""The columns of record batches, from which those of every file can be made."""


class _TypedColumn(NamedTuple):
    """A column with the meaning of values; `suffix` says which part of it, such as `.amount`."""

    attribute: Attribute
    suffix: str

    @property
    def name(self) -> str:
        return column_name(self.attribute.name) + self.suffix

    def cell(self, texts: Any, data: Any) -> Any:
        """Return the cell of a record with these texts of the attribute, and this typed data of it."""
        if not self.attribute.many:
            return self._part(texts, data)
        return [
            self._part(text, datum) for text, datum in zip(texts, data or [None] * len(texts), strict=True)
        ]

    def _part(self, text: str | None, data: Any) -> Any:
        if data is None and text is not None:  # rows leave out data that equal their text
            data = _as_plain(parse_typed(text, self.attribute.type))
        if data is None:
            return None
        if self.suffix == ".date":
            return date.fromisoformat(data)
        if self.suffix == ".number":
            return float(data)
        if self.attribute.type != "price":
            return data
        part = data[self.suffix[1:]]
        return float(part) if self.suffix == ".amount" else part


@lru_cache(maxsize=4096)
def column_name(attribute: str) -> str:
    """Return the name of an attribute's column."""
    is_taken = attribute in RESERVED or attribute.endswith(_SUFFIXES)
    return f"{attribute}_" if is_taken else attribute


def confidence_column(attribute: str) -> str:
    """Return the name of the column with the confidence in an attribute's values, such as `price.confidence`."""
    return column_name(attribute) + _CONFIDENCE


def column_names(schema: Schema, extras: ExtraColumns = BATCH_COLUMNS) -> list[str]:
    """Return the names of all columns, in their order.

    Args:
        schema: the schema of the records.
        extras: which columns to include beside that of each attribute; by default those of record batches.
    """
    names = ["url", "page", "cluster", *(["row"] if schema.rows else [])]
    for name, attribute in schema.attributes.items():
        names.append(column_name(name))
        if extras.typed:
            names += [column.name for column in _typed_columns(attribute)]
        if extras.confidence:
            names.append(confidence_column(name))
    return [*names, "data", "missing"]


def _typed_columns(attribute: Attribute) -> Iterator[_TypedColumn]:
    """Yield the columns with the meaning of an attribute's values; a text has none."""
    for suffix in _TYPED.get(attribute.type, ()):
        yield _TypedColumn(attribute, suffix)


def _typed_cells(row: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the cells that say what the values of a row of an Arrow table mean, by column."""
    data = json.loads(row["data"])
    cells: dict[str, Any] = {}
    for name, attribute in schema.attributes.items():
        for column in _typed_columns(attribute):
            cells[column.name] = column.cell(row[column_name(name)], data.get(name))
    return cells


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
        values = record.values.get(name, ())
        row[column_name(name)] = _text_cell(values, attribute)
        if values:
            confidence[name] = record.confidence(name)
        for value in values:
            # Most data are the text itself, which is faster to test than whether they are equal.
            if value.data is not value.text and value.data is not None and value.data != value.text:
                data[name] = _typed_cell(values, attribute)
                break
    row["data"] = data
    row["confidence"] = confidence
    row["missing"] = dict(record.missing)
    return row


def arrow_row(record: Record, schema: Schema, extras: ExtraColumns = BATCH_COLUMNS) -> dict[str, Any]:
    """Return a record as a row of an Arrow table, with the columns of `arrow_schema`.

    `data` is JSON in a text, `missing` a list of pairs, and the confidence in each attribute has its own column.
    """
    row = record_row(record, schema)
    cells = row | {"data": encode_json(row["data"]), "missing": list(row["missing"].items())}
    for name in schema.attributes:
        cells[confidence_column(name)] = row["confidence"].get(name)
    if extras.typed:
        cells |= _typed_cells(cells, schema)
    return {name: cells[name] for name in column_names(schema, extras)}


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


def select_columns(batch: pa.RecordBatch, schema: Schema, extras: ExtraColumns) -> pa.RecordBatch:
    """Return a batch of records, which has the confidence of values, with the columns that a file shall have."""
    import pyarrow as pa

    columns = arrow_schema(schema, extras)
    if extras.typed:
        rows = [row | _typed_cells(row, schema) for row in batch.to_pylist()]
        return pa.RecordBatch.from_pylist(rows, columns)
    return batch if extras.confidence else batch.select(columns.names)


def arrow_schema(schema: Schema, extras: ExtraColumns = BATCH_COLUMNS) -> pa.Schema:
    """Return the columns of records in Arrow: by default those of record batches, otherwise those of a file."""
    import pyarrow as pa

    numbers = {".amount": pa.float64(), ".number": pa.float64(), ".date": pa.date32()}
    types = {name: pa.string() for name in column_names(schema, extras)}
    for name, attribute in schema.attributes.items():
        cells = {column_name(name): pa.string()}
        if extras.typed:
            cells |= {
                column.name: numbers.get(column.suffix, pa.string()) for column in _typed_columns(attribute)
            }
        types |= {column: pa.list_(cell) if attribute.many else cell for column, cell in cells.items()}
        if extras.confidence:
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
        return {field.name: _as_plain(getattr(value, field.name)) for field in fields(value)}
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)
