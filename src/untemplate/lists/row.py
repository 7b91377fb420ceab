"""The rows of a list page: what `find_records` returns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Row", "Rows", "cell_names"]


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a list page.

    Args:
        text: all of its text, with white space squeezed.
        cells: its texts by column, None where it lacks one. All rows of a list have the same columns.
        xpath: the absolute XPath of its first element.
        confidence: the probability that its list is the main list of the page, from 0 to 1.
        list_id: 0 for the main list of the page; `find_records(page, all_lists=True)` numbers the others.
        values: texts and image addresses by attribute name, if a model named the columns.
        page: the id of its page.

    Example:
        >>> row = Row("Assam $4", ["Assam", "$4"], "/html/body/ul/li[1]", 0.9, values={"price": "$4"})
        >>> row.cells[0], row.values["price"]
        ('Assam', '$4')
    """

    text: str
    cells: list[str | None]
    xpath: str
    confidence: float
    list_id: int = 0
    values: dict[str, str] = field(default_factory=dict)
    page: str = ""


class Rows(list[Row]):
    """The rows of a page: a list, in page order, list after list.

    Args:
        rows: the rows.
        reason: why there are none; None if there are rows.
        next_page: the URL of the page that continues the list, if one is linked.

    Example:
        >>> rows = Rows(reason="page is empty")
        >>> len(rows), rows.reason
        (0, 'page is empty')
    """

    def __init__(
        self, rows: Iterable[Row] = (), reason: str | None = None, next_page: str | None = None
    ) -> None:
        super().__init__(rows)
        self.reason = reason
        self.next_page = next_page


def cell_names(count: int) -> list[str]:
    """Return names for the columns of a list that no model named.

    Example:
        >>> cell_names(2)
        ['cell_1', 'cell_2']
    """
    return [f"cell_{number}" for number in range(1, count + 1)]
