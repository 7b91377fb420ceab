"""Make the rows that callers get of the records of a list."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urljoin

from untemplate.lists.addresses import RecordAddresses, base_address, find_addresses
from untemplate.lists.cells import shipped_seam_weights
from untemplate.lists.column_names import TITLE, NamedColumn, SiteColumns, name_columns
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
        columns: the columns of earlier pages of the site, which this page adds to.
    """

    def __init__(self, page: Page, profile: PageProfile, columns: SiteColumns | None = None) -> None:
        self._page, self._profile, self._tree = page, profile, profile.tree
        self._paths = NumberedXPaths()
        self._columns = SiteColumns() if columns is None else columns
        self._base = base_address(page)

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
        columns = name_columns(self._tree, group.runs, table.lines, table.texts, self._columns)
        addresses = self._find_addresses(group, table, columns)
        if model is None:
            named = {column.name: column.texts for column in columns}
        else:
            named = self._name_by_model(model, group, table)
        own = {"url": [record.url for record in addresses], "image": [record.image for record in addresses]}
        named = {name: texts for name, texts in own.items() if any(texts)} | named
        return [
            Row(
                self._text(run),
                table.texts[record],
                self._xpath(run),
                confidence,
                list_id,
                {name: texts[record] for name, texts in named.items()},
                self._page.id,
                addresses[record].links,
            )
            for record, run in enumerate(group.runs)
        ]

    def _find_addresses(
        self, group: Group, table: ListTable, columns: Sequence[NamedColumn]
    ) -> list[RecordAddresses]:
        title = next((column.number for column in columns if column.name == TITLE), None)
        lines = [] if title is None else [cells[title] for cells in table.lines]
        return find_addresses(
            [self._tree.elements_of(run) for run in group.runs],
            self._base,
            [self._tree.elements[line[0]] for line in lines if line],
        )

    def _name_by_model(self, model: Hcrf, group: Group, table: ListTable) -> dict[str, list[str | None]]:
        """Return the cells and images of all records by the names that a model gives to them."""
        title = self._page.tree.findtext(".//title") or ""
        namer = classify_records(model, title, self._profile, group, table.lines)
        values: dict[str, list[str | None]] = {}
        columns = namer.attribute_columns(table.lines)
        for record, (run, cells, numbers) in enumerate(zip(group.runs, table.texts, columns, strict=True)):
            images = {name: urljoin(self._base, path) for name, path in namer.image_addresses(run).items()}
            for name, text in (images | {name: cells[number] for name, number in numbers.items()}).items():
                values.setdefault(name, [None] * len(group))[record] = text
        return {name: values[name] for name in model.attributes if name in values}

    def _text(self, run: Run) -> str:
        texts = (self._tree.texts[row] or complete_text(self._tree.elements[row]) for row in run)
        return squeeze(" ".join(texts))

    def _xpath(self, run: Run) -> str:
        """Return the XPath of a run's first element; of a run of texts, that of the element around them."""
        elements = self._tree.elements_of(run) or [self._tree.elements[run[0]]]
        return self._paths.xpath(elements[0])
