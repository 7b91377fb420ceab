"""What came out of a list page: rows of cells, and why there are none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

__all__ = ["Row", "Rows", "cell_names"]


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a list page."""

    #: all its text, white space squeezed
    text: str
    #: its texts by column, None where it lacks one; rows of a list have the same columns
    cells: list[str | None]
    #: the absolute XPath of its first element
    xpath: str
    #: how sure it is that its list is the records of the page, from 0 to 1
    confidence: float
    #: 0 is the page's records; with `all_lists` the others follow
    list_id: int = 0
    #: by attribute name, where a model named the columns
    values: dict[str, str] = field(default_factory=dict)
    #: the id of its page
    page: str = ""


class Rows(list[Row]):
    """The rows of a page, in page order, list after list; if there are none, `reason` says why.

    `next_page` is the URL of the page that goes on with the list, if one is linked.
    """

    def __init__(
        self, rows: Iterable[Row] = (), reason: str | None = None, next_page: str | None = None
    ) -> None:
        super().__init__(rows)
        self.reason = reason
        self.next_page = next_page


def cell_names(count: int) -> list[str]:
    """What the columns of a list are called that nobody named."""
    return [f"cell_{number}" for number in range(1, count + 1)]
