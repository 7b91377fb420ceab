"""CSV files for people who open them in a spreadsheet."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untemplate.atomic_file import complete_file
from untemplate.output.record_rows import TEXT_COLUMNS, column_names, encode_json, record_row
from untemplate.record import Record
from untemplate.schema import Schema

__all__ = ["CsvOptions", "write_spreadsheet"]

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet runs a cell that begins with one of these as a formula, which may send data away."""

JSON_COLUMNS = ("data", "missing")


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written.

    Attributes:
        safe: Put an apostrophe in front of values that a spreadsheet would run as a formula. Numbers stay.
        bom: Begin with a byte-order mark, without which Excel misreads letters such as é.
        plain: Leave out the columns that contain JSON, and join several values by semicolons.
    """

    safe: bool = False
    bom: bool = False
    plain: bool = False


def write_spreadsheet(records: Iterable[Record], path: Path, schema: Schema, options: CsvOptions) -> int:
    """Write records to a CSV file as a spreadsheet needs it, and return how many there were.

    Args:
        records: The records; they are written as they come.
        path: The file.
        schema: The schema of the records.
        options: What the spreadsheet needs.
    """
    columns = column_names(schema, TEXT_COLUMNS)
    if options.plain:
        columns = [name for name in columns if name not in JSON_COLUMNS]
    encoding = "utf-8-sig" if options.bom else "utf-8"
    count = 0
    with complete_file(path) as part, part.open("w", encoding=encoding, newline="") as out:
        table = csv.writer(out)
        table.writerow(columns)
        for record in records:
            row = record_row(record, schema)
            table.writerow([_cell(row[name], options) for name in columns])
            count += 1
    return count


def _cell(value: Any, options: CsvOptions) -> Any:
    """Return a value as a cell of a spreadsheet."""
    if isinstance(value, list) and options.plain:
        value = "; ".join(map(str, value))
    elif isinstance(value, list | dict):
        value = encode_json(value)
    if options.safe and isinstance(value, str) and value.startswith(FORMULA_STARTS) and not _is_number(value):
        return f"'{value}"
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
