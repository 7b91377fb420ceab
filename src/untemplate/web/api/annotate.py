"""Annotate and review: sample pages with the values that the rules find, rendered pages, labels, doubtful values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from untemplate.catalog import StoredLabel
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.rules import Rule
from untemplate.rules.applying import Match
from untemplate.rules.in_words import explain_rule
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
)
from untemplate.web.cluster_session import (
    ClusterSession,
    DoubtfulValue,
    LabelingProgress,
    PageState,
    find_doubtful_values,
    lowest_confidence,
    measure_progress,
)
from untemplate.web.embedded_panel import (
    PanelObject,
    numbers_of_label,
    numbers_of_match,
    select_shown,
)
from untemplate.web.item_proposals import LabeledPlace, propose_clicks
from untemplate.web.page_labels import (
    Click,
    LabelChange,
    MarkedItems,
    change_labels,
    confirm_values,
    mark_label,
    mark_match,
    set_labels,
)
from untemplate.web.rendering import Item, Rendering
from untemplate.web.workspace import OpenSite

__all__ = ["MarkView", "PageView", "mark_view", "router"]

router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)

MAX_DOUBTS = 200
"""Doubtful values in one response. More appear when a person has reviewed these."""

SearchParam = Annotated[str, Query(max_length=200)]
ItemNumber = Annotated[int, Field(ge=0, le=10_000_000)]
LabelId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class AttributeView(BaseModel):
    """An attribute, and the rule that was learned from the labels so far."""

    name: str
    type: str
    mandatory: bool
    many: bool
    rule: str | None = Field(description="The rule in words; none before the first label")
    coverage: float | None = Field(
        description="Share of the unlabeled sample pages on which it finds a value"
    )
    problems: list[str]


class CellView(BaseModel):
    """The values of an attribute on a page, labeled by a person or found by a rule."""

    state: Literal["labeled", "absent", "found", "doubtful", "missing", "open"]
    texts: list[str]
    confidence: float | None = None


class PageRowView(BaseModel):
    """A sample page and its record."""

    page: str
    url: str
    title: str
    labeled: bool
    extracted: bool = Field(description="Whether the rules extract from it successfully")
    cells: dict[str, CellView]


class SessionView(BaseModel):
    """The sample pages of a cluster in the order of the sample, and how far their labeling is."""

    site: str
    cluster: str
    attributes: list[AttributeView]
    rows: list[PageRowView]
    next: str | None = Field(description="The page that the rules are least sure about")
    done: bool = Field(
        description="The paper's stop criterion: the rules extract from all remaining sample pages"
    )
    undecided: list[str] = Field(description="Attributes without any label")
    saved: bool = Field(description="Whether the newest version has the rules that the labels teach")
    changes: int = Field(description="The number of the latest change, as in /api/changes, that is included")


class MarkView(BaseModel):
    """Something to mark on a page: a label, or a value that a rule finds where there is no label."""

    attribute: str
    kind: Literal["label", "found"]
    items: list[int]
    part: str | None
    text: str
    confidence: float
    label: int | None = Field(None, description="The id of the label")
    embedded: list[int] = Field([], description="The values of the embedded data that it means")


class MarksView(BaseModel):
    """All marks of a page, and the attributes that are labeled as not on it."""

    page: str
    marks: list[MarkView]
    absent: list[str]


class PageView(BaseModel):
    """A page as plain data: elements `[parent, tag, attributes]` and texts `[parent, text]` in document order."""

    page: str
    url: str
    quirks: bool
    remote: bool
    items: list[Item]


class ProposalView(BaseModel):
    """All places that are like the last two that were labeled, as clicks that label them."""

    attribute: str
    clicks: list[Click]


class LabeledView(BaseModel):
    """The effect of a change of labels."""

    change: LabelChange
    session: SessionView
    marks: MarksView
    proposal: ProposalView | None = None


class EmbeddedView(BaseModel):
    """The embedded data of a page, or those of its values in which a person looks for something."""

    page: str
    total: int = Field(description="The number of values that the page has")
    shown: int = Field(description="The number of values in this answer")
    objects: list[PanelObject]


class ReviewView(BaseModel):
    """The doubtful values on the stored pages of a cluster."""

    pages: int = Field(description="The number of pages that were checked")
    doubts: list[DoubtfulValue]


class ClickBody(RequestBody):
    """An item of the page or an attribute of it, a range up to another item, or a part of its text.

    Instead of an item, a value of the embedded data by its number, or a label that stays by its id.
    """

    item: ItemNumber | None = None
    attribute: Text | None = None
    last: ItemNumber | None = None
    part: Text | None = None
    embedded: ItemNumber | None = None
    label: LabelId | None = None


class LabelsBody(RequestBody):
    """The values of an attribute on a page, which replace its labels; null if the page does not contain it."""

    site: Text
    page: Text
    attribute: Text
    clicks: Annotated[list[ClickBody], Field(max_length=500)] | None


class ConfirmBody(RequestBody):
    """The values that the rules find on a page are right: those of some attributes, or all without a label."""

    site: Text
    page: Text
    attributes: Annotated[list[Text], Field(max_length=200)] | None = None


class LabelChangeBody(RequestBody):
    """The ids of labels to restore, and of labels to remove: undo or redo."""

    site: Text
    page: Text
    restore: Annotated[tuple[LabelId, ...], Field(max_length=1000)] = ()
    remove: Annotated[tuple[LabelId, ...], Field(max_length=1000)] = ()


@router.get("/session", tags=["annotate"])
def get_session(site: SiteParam, cluster: NameParam) -> SessionView:
    """Return the sample pages of a cluster with their records, and the page to label next."""
    changes = site.workspace.changes.count(site.name)
    return _session_view(site, site.session(cluster), changes)


@router.get("/page", tags=["annotate"], response_model=PageView)
def get_page(site: SiteParam, page: NameParam) -> Response:
    """Return a page as plain data that cannot run anything."""
    parsed, rendering = site.rendered_page(page)
    view = {"page": page, "url": parsed.url, "quirks": rendering.quirks, "remote": site.remote}
    content = json.dumps({**view, "items": rendering.items}, separators=(",", ":"))
    return Response(content, media_type="application/json")  # not validated: pages may have many items


@router.get("/marks", tags=["annotate"])
def get_marks(site: SiteParam, page: NameParam) -> MarksView:
    """Return the marks of a page."""
    return _marks_view(site, site.session(site.cluster_of(page)), page)


@router.get("/embedded", tags=["annotate"])
def get_embedded(site: SiteParam, page: NameParam, find: SearchParam = "") -> EmbeddedView:
    """Return the embedded data of a page, as far as they fit into a panel; `find` searches in all of them."""
    _, rendering = site.rendered_page(page)
    objects = rendering.embedded
    shown = select_shown(objects, find)
    return EmbeddedView(page=page, total=_count_values(objects), shown=_count_values(shown), objects=shown)


def _count_values(objects: Iterable[PanelObject]) -> int:
    return sum(sum(1 for _ in panel_object.values) for panel_object in objects)


@router.put("/labels", tags=["annotate"])
def put_labels(workspace: WorkspaceParam, body: LabelsBody) -> LabeledView:
    """Label an attribute on a page, and learn its rule again."""
    site = workspace.site(body.site)
    clicks = None
    if body.clicks is not None:
        clicks = [Click(**click.model_dump()) for click in body.clicks]
    view = _labeled_view(site, body.page, set_labels(site, body.page, body.attribute, clicks))
    if clicks and site.schema.attributes[body.attribute].many:
        in_data = clicks[-1].embedded is not None
        view.proposal = _propose_alike(site, view, body.attribute, in_data)
    return view


@router.post("/labels/confirm", tags=["annotate"])
def post_confirm(workspace: WorkspaceParam, body: ConfirmBody) -> LabeledView:
    """Label a page with the values that the rules find on it."""
    site = workspace.site(body.site)
    return _labeled_view(site, body.page, confirm_values(site, body.page, body.attributes))


@router.post("/labels/change", tags=["annotate"])
def post_change(workspace: WorkspaceParam, body: LabelChangeBody) -> LabeledView:
    """Undo or redo a change of labels, and return the marks of the page that is shown."""
    site = workspace.site(body.site)
    site.cluster_of(body.page)
    return _labeled_view(site, body.page, change_labels(site, body.restore, body.remove))


@router.get("/review", tags=["review"])
def get_review(site: SiteParam, cluster: NameParam) -> ReviewView:
    """Return values with low confidence, disagreement or the wrong type, and missing mandatory values."""
    session = site.session(cluster)
    doubts: list[DoubtfulValue] = []
    for id in site.pages[cluster]:
        page = session.pages.get(id) or site.catalog.page(site.name, id)
        with session.lock:
            doubts += find_doubtful_values(session, page)
    doubts.sort(key=lambda doubt: doubt.confidence)
    return ReviewView(pages=len(site.pages[cluster]), doubts=doubts[:MAX_DOUBTS])


def _labeled_view(site: OpenSite, page: str, change: LabelChange) -> LabeledView:
    """Return the session and the marks of a page after a change of labels."""
    changes = site.workspace.changes.count(site.name)
    session = site.session(site.cluster_of(page))
    return LabeledView(
        change=change,
        session=_session_view(site, session, changes),
        marks=_marks_view(site, session, page),
    )


def _propose_alike(site: OpenSite, view: LabeledView, attribute: str, in_data: bool) -> ProposalView | None:
    """Return what else a person may mean who labeled a second place; None if there is nothing like both.

    Args:
        site: The site of the page.
        view: The labels after the change.
        attribute: The attribute that was labeled.
        in_data: Whether the place is a value of the embedded data.
    """
    places = [
        LabeledPlace(mark.label, mark.items, mark.embedded)
        for mark in view.marks.marks
        if mark.attribute == attribute and mark.label is not None
    ]
    _, rendering = site.rendered_page(view.marks.page)
    clicks = propose_clicks(rendering, places, view.change.added, in_data)
    return ProposalView(attribute=attribute, clicks=clicks) if clicks else None


def _session_view(site: OpenSite, session: ClusterSession, changes: int) -> SessionView:
    """Return a session as the API sends it.

    `changes` is the number of the latest change of the site, read before the session learned its labels.
    """
    with session.lock:
        progress = measure_progress(session)
        return SessionView(
            site=site.name,
            cluster=session.cluster,
            attributes=[_attribute_view(session, name) for name in session.schema.attributes],
            rows=_session_rows(session, progress),
            next=progress.next,
            done=progress.done,
            undecided=list(progress.undecided),
            saved=session.is_saved,
            changes=changes,
        )


def _attribute_view(session: ClusterSession, name: str) -> AttributeView:
    """Return an attribute with its rule in words, and the problems of learning it."""
    attribute, report = session.schema.attributes[name], session.reports.get(name)
    rule = session.rules.get(name)
    return AttributeView(
        name=name,
        type=attribute.type,
        mandatory=attribute.mandatory,
        many=attribute.many,
        rule=explain_rule(rule) if rule else None,
        coverage=round(session.coverage(name), 3) if rule else None,
        problems=report.problems if report else [],
    )


def _session_rows(session: ClusterSession, progress: LabelingProgress) -> list[PageRowView]:
    """Return the records of all sample pages."""
    rows = []
    for state in progress.pages:
        page = session.pages[state.page]
        row = PageRowView(
            page=page.id,
            url=page.url,
            title=page.title,
            labeled=state.is_labeled,
            extracted=state.is_extracted,
            cells=_record_cells(session, page, state),
        )
        rows.append(row)
    return rows


def _record_cells(session: ClusterSession, page: Page, state: PageState) -> dict[str, CellView]:
    """Return the cells of a page's row by attribute.

    Labels come before found values. Without either, a cell is missing if the attribute has a rule, else open.
    """
    labels = session.labels_of(page.id)
    found = session.find(page)
    cells = {}
    for name in session.schema.attributes:
        attribute_labels = [label for label in labels if label.attribute == name]
        if attribute_labels:
            cells[name] = _labeled_cell(attribute_labels)
        elif matches := found.get(name):
            cells[name] = _found_cell(matches, is_doubtful=name in state.doubts)
        else:
            cells[name] = CellView(state="missing" if name in found else "open", texts=[])
    return cells


def _labeled_cell(labels: Sequence[Label]) -> CellView:
    """Return the cell of an attribute with labels: its values, or that the page does not contain it."""
    texts = [label.value or "" for label in labels if not label.is_gap]
    if not texts:
        return CellView(state="absent", texts=[])
    return CellView(state="labeled", texts=texts)


def _found_cell(matches: Sequence[Match], is_doubtful: bool) -> CellView:
    """Return the cell of an attribute without labels, with the values that its rule found."""
    return CellView(
        state="doubtful" if is_doubtful else "found",
        texts=[match.text for match in matches],
        confidence=round(lowest_confidence(matches), 3),
    )


def mark_view(match: Match, rule: Rule, rendering: Rendering) -> MarkView:
    """Return the mark of a value that a rule found."""
    marked = mark_match(match, rule, rendering)
    return MarkView(
        attribute=rule.attribute,
        kind="found",
        **asdict(marked),
        text=match.text,
        confidence=round(match.confidence, 3),
        embedded=numbers_of_match(match, rendering.embedded) if match.node.kind == "data" else [],
    )


def _marks_view(site: OpenSite, session: ClusterSession, page: str) -> MarksView:
    """Return the marks of a page: its labels, and found values of attributes without a label.

    Args:
        site: The site of the page.
        session: The session of its cluster, with the current labels learned.
        page: The id of the page.
    """
    parsed, rendering = site.rendered_page(page)
    with session.lock:
        labels = site.labels(page)
        labeled = {stored.label.attribute for stored in labels}
        marks = _label_marks(session, parsed, rendering, labels)
        for name, matches in session.find(parsed).items():
            if name not in labeled:
                marks += [mark_view(match, session.rules[name], rendering) for match in matches]
    absent = [stored.label.attribute for stored in labels if stored.label.is_gap]
    return MarksView(page=page, marks=marks, absent=absent)


def _label_marks(
    session: ClusterSession, page: Page, rendering: Rendering, labels: Sequence[StoredLabel]
) -> list[MarkView]:
    """Return a mark for each label with a value; without items if the page does not show it."""
    table, number = session.table_with(page)
    marks = []
    for stored in labels:
        label = stored.label
        attribute = session.schema.attributes.get(label.attribute)
        if attribute is None or label.is_gap:
            continue
        marked = mark_label(label, number, table, rendering, attribute) or MarkedItems(())
        mark = MarkView(
            attribute=label.attribute,
            kind="label",
            **asdict(marked),
            text=label.value or "",
            confidence=1.0,
            label=stored.id,
            embedded=[] if label.xpath else numbers_of_label(label, rendering.embedded),
        )
        marks.append(mark)
    return marks
