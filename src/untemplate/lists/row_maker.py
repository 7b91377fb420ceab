"""Make the rows that callers get of the records of a list."""

from __future__ import annotations

from untemplate.lists.cells import shipped_seam_weights
from untemplate.lists.groups import Group, drop_hidden_members
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.list_table import ListTable, build_table
from untemplate.lists.model_columns import classify_records
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import Run
from untemplate.lists.rows import Row
from untemplate.page import NumberedXPaths, Page, squeeze
from untemplate.page.dom import complete_text

__all__ = ["RowMaker"]


class RowMaker:
    """Makes the rows of the lists of one page.

    Args:
        page: the page.
        profile: its profile.
    """

    def __init__(self, page: Page, profile: PageProfile) -> None:
        self._page, self._profile, self._tree = page, profile, profile.tree
        self._paths = NumberedXPaths()

    def make_rows(
        self, group: Group, confidence: float, list_id: int = 0, model: Hcrf | None = None
    ) -> list[Row]:
        """Return the records of a group as rows with the same columns.

        Args:
            group: the records; members that are hidden or duplicates are dropped.
            confidence: how likely they are the main list of the page.
            list_id: the number of the list on its page.
            model: names the columns.
        """
        group = drop_hidden_members(self._profile, group)
        table = build_table(self._profile, group, shipped_seam_weights())
        values: list[dict[str, str]] = [{} for _ in group.runs]
        if model is not None:
            values = self._name_values(model, group, table)
        return [
            Row(self._text(run), cells, self._xpath(run), confidence, list_id, named)
            for run, cells, named in zip(group.runs, table.texts, values, strict=True)
        ]

    def _name_values(self, model: Hcrf, group: Group, table: ListTable) -> list[dict[str, str]]:
        """Return the cells and images of each record by the names that a model gives to them."""
        title = self._page.tree.findtext(".//title") or ""
        namer = classify_records(model, title, self._profile, group, table.lines)
        values: list[dict[str, str]] = []
        columns = namer.attribute_columns(table.lines)
        for run, cells, numbers in zip(group.runs, table.texts, columns, strict=True):
            texts = {name: text for name, number in numbers.items() if (text := cells[number])}
            values.append(namer.image_addresses(run) | texts)
        return values

    def _text(self, run: Run) -> str:
        texts = (self._tree.texts[row] or complete_text(self._tree.elements[row]) for row in run)
        return squeeze(" ".join(texts))

    def _xpath(self, run: Run) -> str:
        """Return the XPath of a run's first element; of a run of texts, that of the element around them."""
        elements = self._tree.elements_of(run) or [self._tree.elements[run[0]]]
        return self._paths.xpath(elements[0])
