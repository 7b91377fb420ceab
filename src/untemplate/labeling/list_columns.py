"""Which columns of a list are the attributes of a schema.

These are tried in order: the page's embedded data, if they contain the values of a column; a column with the name of
the attribute, or with another of its names; and the only column whose name is the attribute's type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from untemplate.errors import PageError
from untemplate.labeling.embedded import find_data_path
from untemplate.lists.column_names import TITLE
from untemplate.lists.list_headers import to_name
from untemplate.lists.rows import ADDRESS_COLUMNS, Rows
from untemplate.page import Page
from untemplate.page.embedded_data import TYPED_SOURCES, DataObject
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Attribute, Schema

__all__ = ["map_columns", "select_attributes"]

# Rows whose text the embedded data must have before they say what a column is.
MIN_EQUAL_VALUES = 2
# Objects of embedded data that are compared.
MAX_OBJECTS = 500
# Attributes with these names are what readers see as the heading of a record.
_TITLE_NAMES = frozenset({"title", "name", "headline"})
# Types of attributes, and the columns that `find_records` names by what they contain.
_TYPE_COLUMNS = {"price": "price", "date": "date", "url": "url", "image": "image"}


def select_attributes(page: Page, rows: Rows, schema: Schema) -> Rows:
    """Return the rows with the attributes of a schema as their values, besides `url` and `image`.

    Example:
        >>> import untemplate as ut
        >>> row = ut.Row("Emma £4", [], "", 1.0, values={"url": "/emma", "title": "Emma", "our_price": "£4"})
        >>> [emma] = select_attributes(ut.Page(html="<p>"), ut.Rows([row]), ut.Schema.load("book"))
        >>> emma.values["title"], emma.values["price"]
        ('Emma', None)
    """
    columns = map_columns(page, rows, schema)
    selected = []
    for row in rows:
        values = {name: row.values[name] for name in ADDRESS_COLUMNS if name in row.values}
        for attribute in schema.attributes:
            column = columns.get(attribute)
            values[attribute] = row.values.get(column) if column else None
        selected.append(replace(row, values=values))
    return Rows(selected, rows.reason, rows.next_page)


def map_columns(page: Page, rows: Rows, schema: Schema) -> dict[str, str]:
    """Return attribute → the name of its column in the rows of a page, for the attributes that are known.

    Args:
        page: the list page.
        rows: its rows, as `find_records` returns them.
        schema: the attributes.
    """
    names = rows.columns
    mapped: dict[str, str] = {}
    said_by_data = dict(_columns_of_data(page, rows, schema))
    for attribute in schema.attributes.values():
        free = [name for name in names if name not in mapped.values()]
        column = said_by_data.get(attribute.name)
        if column not in free:
            column = _column_of_name(attribute, free)
        if column is not None:
            mapped[attribute.name] = column
    return mapped


def _column_of_name(attribute: Attribute, columns: Sequence[str]) -> str | None:
    """Return the column with a name of an attribute, or of its type."""
    wanted = [to_name(attribute.name), *map(to_name, attribute.same_as)]
    if not _TITLE_NAMES.isdisjoint(wanted):
        wanted.append(TITLE)
    if attribute.type in _TYPE_COLUMNS:
        wanted.append(_TYPE_COLUMNS[attribute.type])
    return next((name for name in wanted if name in columns), None)


def _columns_of_data(page: Page, rows: Rows, schema: Schema) -> Iterator[tuple[str, str]]:
    """Yield attributes with the column that has most of their values in the embedded data."""
    cells: dict[str, set[str]] = {}
    for row in rows:
        for name, text in row.values.items():
            if text:
                cells.setdefault(letters_and_digits(text), set()).add(name)
    objects = list(_data_objects(page))
    for attribute in schema.attributes.values():
        counts: Counter[str] = Counter()
        values = chain.from_iterable(
            _values_of(*source_and_object, attribute) for source_and_object in objects
        )
        for value in dict.fromkeys(values):
            counts.update(cells.get(value, ()))
        if counts and counts.most_common(1)[0][1] >= MIN_EQUAL_VALUES:
            yield attribute.name, counts.most_common(1)[0][0]


def _data_objects(page: Page) -> Iterator[tuple[str, DataObject]]:
    """Yield the objects of a page's embedded data, each with its source."""
    try:
        embedded = page.embedded
    except PageError:
        return
    for source in TYPED_SOURCES:
        for data_object in embedded.objects(source)[:MAX_OBJECTS]:
            yield source, data_object


def _values_of(source: str, data_object: DataObject, attribute: Attribute) -> list[str]:
    """Return the letters and digits of an attribute's values in an object."""
    path = find_data_path(source, data_object, attribute)
    texts = data_object.read(path, data_object.walk_along(path)) if path else []
    return [letters for text in texts if (letters := letters_and_digits(text))]
