"""Records as a table in memory, for people who analyze them."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from untemplate.lists import Row
from untemplate.record import Record

__all__ = ["to_frame"]


def to_frame(records: Iterable[Record | Row]) -> Any:
    """Return records, or rows of a list page, as a table: a DataFrame if pandas is installed, else an Arrow table.

    Records have the columns `url`, `page`, `cluster` and one for each attribute. An attribute that has several values
    in some record is a list in all of them.

    Args:
        records: what `Rules.extract` or `find_records` returns.

    Example:
        >>> from untemplate import Record, Value, to_frame
        >>> name = Value("Grill", "Grill", "/html/body/h1/text()[1]", "name#1")
        >>> list(to_frame([Record("http://a.com/7", "7.html", "c1", {"name": [name]})])["name"])
        ['Grill']
    """
    dictionaries = [dict(item.values) if isinstance(item, Row) else item.to_dict() for item in records]
    columns: dict[str, None] = {}
    for dictionary in dictionaries:
        columns.update(dict.fromkeys(dictionary))
    table = {name: _align([dictionary.get(name) for dictionary in dictionaries]) for name in columns}
    if find_spec("pandas") is None:
        return pa.table(table)
    return import_module("pandas").DataFrame(table)


def _align(cells: list[Any]) -> list[Any]:
    """Return the cells of a column, all as lists if one is."""
    if not any(isinstance(cell, list) for cell in cells):
        return cells
    return [cell if cell is None or isinstance(cell, list) else [cell] for cell in cells]
