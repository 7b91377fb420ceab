"""Lists: the rows of a list page, the columns that were found without labels, and labels of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.labeling import Label
from untemplate.web.api.annotate import ClickBody
from untemplate.web.api.common import ERROR_RESPONSES, NameParam, RequestBody, SiteParam, Text, WorkspaceParam
from untemplate.web.list_labels import (
    ListRow,
    label_cell,
    label_columns,
    learn_list_wrapper,
    list_rows,
    propose_rows,
)
from untemplate.web.page_labels import Click, LabelChange, change_labels, mark_label
from untemplate.web.workspace import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["lists"], responses=ERROR_RESPONSES)

MARKED_ROWS = 60
"""Rows whose values are marked on the page."""


class ColumnView(BaseModel):
    """A column that was found without labels: its name, and the attribute that it may be."""

    name: str
    attribute: str | None
    examples: list[str]


class RowView(BaseModel):
    """A row: its values by attribute or column, and which of them a person labeled."""

    record: str
    cells: dict[str, list[str]]
    labeled: list[str] = []
    contradicted: list[str] = Field(
        default=[], description="Labeled ones for which the rules find something else"
    )


class RowMarkView(BaseModel):
    """A value of a row on the page, or a proposed row as a whole."""

    row: int
    attribute: str | None
    items: list[int]
    text: str


class ListView(BaseModel):
    """The rows of a list page: those that rules find, or else those that repeat."""

    page: str
    attributes: list[dict[str, str]]
    is_proposal: bool = Field(description="Whether the rows were found without labels and rules")
    columns: list[ColumnView] = Field(description="The columns of the proposal")
    rows: list[RowView]
    marks: list[RowMarkView]
    saved: bool = Field(description="Whether the newest version has the rules that the labels teach")
    reason: str | None = Field(description="Why there are no rows, if there are none")


class LabeledListView(BaseModel):
    """The effect of a change of labels of rows."""

    change: LabelChange
    list: ListView


class ColumnsBody(RequestBody):
    """The attributes that columns of the proposal are."""

    site: Text
    page: Text
    columns: Annotated[dict[Text, Text], Field(max_length=100)]


class CellBody(RequestBody):
    """The value of an attribute in a row; a null click if the row does not have it."""

    site: Text
    page: Text
    record: Text
    attribute: Text
    click: ClickBody | None


class ListChangeBody(RequestBody):
    """The ids of labels of rows to restore and to remove: undo or redo."""

    site: Text
    page: Text
    restore: Annotated[tuple[int, ...], Field(max_length=1000)] = ()
    remove: Annotated[tuple[int, ...], Field(max_length=1000)] = ()


@router.get("/list")
def get_list(site: SiteParam, page: NameParam) -> ListView:
    """Return the rows of a list page."""
    return _list_view(site, page)


@router.put("/list/columns")
def put_columns(workspace: WorkspaceParam, body: ColumnsBody) -> LabeledListView:
    """Name the columns of the proposal: the first rows become labels, and rules for all rows are learned."""
    site = workspace.site(body.site)
    change = label_columns(site, body.page, body.columns)
    return LabeledListView(change=change, list=_list_view(site, body.page))


@router.put("/list/cell")
def put_cell(workspace: WorkspaceParam, body: CellBody) -> LabeledListView:
    """Label or correct a value of a row."""
    site = workspace.site(body.site)
    rows = [row for row in list_rows(site, body.page) if row.record == body.record]
    row = rows[0] if rows else ListRow(body.record, {}, {})
    click = Click(**body.click.model_dump()) if body.click else None
    change = label_cell(site, body.page, row, body.attribute, click)
    return LabeledListView(change=change, list=_list_view(site, body.page))


@router.post("/list/change")
def post_list_change(workspace: WorkspaceParam, body: ListChangeBody) -> LabeledListView:
    """Undo or redo a change of labels of rows."""
    site = workspace.site(body.site)
    change = change_labels(site, body.restore, body.remove)
    return LabeledListView(change=change, list=_list_view(site, body.page))


def _list_view(site: OpenSite, page: str) -> ListView:
    """Return the rows of a page by rules and labels, or the proposal if there are neither."""
    rows = list_rows(site, page)
    wrapper = learn_list_wrapper(site, site.cluster_of(page))
    saved = site.wrapper(site.cluster_of(page))
    attributes = [{"name": one.name, "type": one.type} for one in site.schema.attributes.values()]
    is_saved = wrapper is None or (wrapper.rules, wrapper.records) == (saved.rules, saved.records)
    if not rows:
        return _column_proposal(site, page, attributes, is_saved)
    return ListView(
        page=page,
        attributes=attributes,
        is_proposal=False,
        columns=[],
        rows=[
            RowView(
                record=row.record,
                cells=row.cells,
                labeled=list(row.labeled),
                contradicted=list(row.contradicted),
            )
            for row in rows
        ],
        marks=_row_marks(site, page, rows),
        saved=is_saved,
        reason=None,
    )


def _column_proposal(site: OpenSite, page: str, attributes: list[dict[str, str]], is_saved: bool) -> ListView:
    """Return the rows that repeat on a page, with a guess which attributes their columns are."""
    proposal = propose_rows(site, page)
    columns = []
    for name in proposal.columns:
        texts = [text for text in (row.values.get(name) for row in proposal) if text]
        columns.append(ColumnView(name=name, attribute=_guess_attribute(site, name), examples=texts[:3]))
    rows = [
        RowView(record=row.xpath, cells={name: [text] for name, text in row.values.items() if text})
        for row in proposal
    ]
    return ListView(
        page=page,
        attributes=attributes,
        is_proposal=True,
        columns=columns,
        rows=rows,
        marks=list(_proposal_marks(site, page, [row.xpath for row in proposal])),
        saved=is_saved,
        reason=proposal.reason,
    )


def _proposal_marks(site: OpenSite, page: str, xpaths: Sequence[str]) -> Iterator[RowMarkView]:
    """Yield where the first proposed rows are on the page."""
    parsed, rendering = site.rendered_page(page)
    for position, xpath in enumerate(xpaths[:MARKED_ROWS]):
        numbers = (rendering.numbers.get((element, "element")) for element in parsed.tree.xpath(xpath))
        items = [number for number in numbers if number is not None]
        if items:
            yield RowMarkView(row=position, attribute=None, items=items[:1], text="")


def _guess_attribute(site: OpenSite, column: str) -> str | None:
    """Return the attribute that has the name of a column, or a caption like it."""
    for attribute in site.schema.attributes.values():
        if column.lower() in {name.lower() for name in attribute.names}:
            return attribute.name
    return None


def _row_marks(site: OpenSite, page: str, rows: Sequence[ListRow]) -> list[RowMarkView]:
    """Return where the values of the first rows are on the page."""
    parsed, rendering = site.rendered_page(page)
    table, number = site.session(site.cluster_of(page)).table_with(parsed)
    marks = []
    for position, row in enumerate(rows[:MARKED_ROWS]):
        for name, texts in row.cells.items():
            label = Label(page, name, texts[0] if texts else None, row.xpaths.get(name))
            marked = mark_label(label, number, table, rendering, site.schema.attributes[name])
            if marked is not None:
                marks.append(
                    RowMarkView(row=position, attribute=name, items=list(marked.items), text=texts[0])
                )
    return marks
