"""What the API sends about labels: a session with its records, and the marks of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from untemplate.catalog import StoredLabel
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.rules import Rule
from untemplate.rules.applying import Match
from untemplate.rules.in_words import explain_rule
from untemplate.web.cluster_session import (
    ClusterSession,
    DoubtfulValue,
    LabelingProgress,
    PageState,
    lowest_confidence,
    measure_progress,
)
from untemplate.web.embedded_panel import PanelObject, numbers_of_label, numbers_of_match
from untemplate.web.item_proposals import LabeledPlace, propose_clicks
from untemplate.web.list_review import DoubtfulRow
from untemplate.web.page_labels import Click, LabelChange, MarkedItems, mark_label, mark_match
from untemplate.web.rendering import Item, Rendering
from untemplate.web.workspace import OpenSite

__all__ = [
    "EmbeddedView",
    "LabelEventView",
    "LabeledView",
    "MarkView",
    "MarksView",
    "PageView",
    "ReviewView",
    "RowReviewView",
    "SessionView",
    "label_event",
    "labeled_view",
    "mark_view",
    "marks_view",
    "propose_alike",
    "session_view",
]


class AttributeView(BaseModel):
    """An attribute, and the rule that was learned from the labels so far."""

    name: str
    type: str
    mandatory: bool
    many: bool
    description: str
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
    flag: str | None = Field(description="The note of the person who left the page aside; none if nobody did")
    cells: dict[str, CellView]


class RemainingView(BaseModel):
    """Something that is left to do before labeling is done, in words."""

    attribute: str
    reason: str
    pages: int = Field(
        default=0, description="The number of sample pages that it concerns; 0 if it concerns them all"
    )
    page: str | None = Field(default=None, description="The page to begin with")


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
    unlearned: list[str] = Field(description="Attributes with labels that no rule fits")
    remaining: list[RemainingView] = Field(description="Why labeling is not done yet")
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
    label: int | None = Field(default=None, description="The id of the label")
    found: int | None = Field(default=None, description="The position among the values that the rule finds")
    by: str | None = Field(default=None, description="Who gave the label")
    at: datetime | None = Field(default=None, description="When the label was given")
    embedded: list[int] = Field(default=[], description="The values of the embedded data that it means")


class LabelEventView(BaseModel):
    """A label: who gave it and when, and who removed it and when."""

    id: int
    page: str
    attribute: str
    value: str | None = Field(description="None: the page does not contain the attribute")
    row: str | None = Field(description="The row of a list page that it belongs to")
    by: str
    added: datetime
    removed: datetime | None
    removed_by: str | None


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
    missing: int = Field(description="Images and style sheets that could not be loaded")
    plain: bool = Field(description="Whether none of its style sheets could be loaded")
    items: list[Item]


class ProposalView(BaseModel):
    """All places that are like the last two that were labeled, as clicks that label them."""

    attribute: str
    clicks: list[Click]
    whole: list[Click] = Field(
        description="The list items that contain such places, with all their texts, if they have more"
    )


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


class RowReviewView(BaseModel):
    """The doubtful rows on the stored pages of a cluster of list pages."""

    is_list: bool = Field(description="Whether the cluster has list rules")
    pages: int = Field(description="The number of pages that were checked")
    doubts: list[DoubtfulRow]


def labeled_view(site: OpenSite, page: str, change: LabelChange) -> LabeledView:
    """Return the session and the marks of a page after a change of labels."""
    changes = site.workspace.changes.count(site.name)
    session = site.session(site.cluster_of(page))
    return LabeledView(
        change=change,
        session=session_view(site, session, changes),
        marks=marks_view(site, session, page),
    )


def label_event(stored: StoredLabel) -> LabelEventView:
    """Return a label with who gave and removed it."""
    label = stored.label
    return LabelEventView(
        id=stored.id,
        page=label.page,
        attribute=label.attribute,
        value=label.value,
        row=label.record,
        by=stored.by,
        added=stored.added,
        removed=stored.removed,
        removed_by=stored.removed_by,
    )


def propose_alike(site: OpenSite, view: LabeledView, attribute: str, in_data: bool) -> ProposalView | None:
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
    added = view.change.added
    clicks = propose_clicks(rendering, places, added, in_data)
    whole = propose_clicks(rendering, places, added, in_data, whole_items=True)
    return ProposalView(attribute=attribute, clicks=clicks, whole=whole) if clicks or whole else None


def session_view(site: OpenSite, session: ClusterSession, changes: int) -> SessionView:
    """Return a session as the API sends it.

    `changes` is the number of the latest change of the site, read before the session learned its labels.
    """
    with session.lock:
        progress = measure_progress(session)
        return SessionView(
            site=site.name,
            cluster=session.cluster,
            attributes=[_attribute_view(session, name) for name in session.schema.attributes],
            rows=_session_rows(session, progress, {page: flag["note"] for page, flag in site.flags.items()}),
            next=progress.next,
            done=progress.done,
            undecided=list(progress.undecided),
            unlearned=list(progress.unlearned),
            remaining=[] if progress.done else _work_left(session, progress),
            saved=session.is_saved,
            changes=changes,
        )


def _work_left(session: ClusterSession, progress: LabelingProgress) -> list[RemainingView]:
    """Return why labeling is not done yet: attributes without a label, missing values, and doubtful ones."""
    views = [
        RemainingView(attribute=name, reason=_why_undecided(progress, name)) for name in progress.undecided
    ]
    counted = [state for state in progress.pages if state.page not in session.flagged]
    unfinished = [state for state in counted if not state.is_extracted]
    needed = _needed_attributes(session)
    for name in session.schema.attributes:
        views += _unfinished_views(name, unfinished, name in needed)
    return views


def _unfinished_views(attribute: str, states: Sequence[PageState], is_needed: bool) -> list[RemainingView]:
    """Return views of the pages on which an attribute is missing, if each page should have it, or doubtful."""
    missing = [state.page for state in states if is_needed and attribute in state.gaps]
    doubtful = [state.page for state in states if attribute in state.doubts]
    return [
        *_remaining_views(attribute, "is not found", missing),
        *_remaining_views(attribute, "is doubtful", doubtful),
    ]


def _why_undecided(progress: LabelingProgress, attribute: str) -> str:
    return "has labels that no rule fits" if attribute in progress.unlearned else "has no label yet"


def _needed_attributes(session: ClusterSession) -> list[str]:
    """Return the attributes that each page should have: the mandatory ones or, without any, all."""
    attributes = session.schema.attributes
    return [name for name, attribute in attributes.items() if attribute.mandatory] or list(attributes)


def _remaining_views(attribute: str, reason: str, pages: Sequence[str]) -> list[RemainingView]:
    """Return a view of pages that are left; none without pages."""
    return (
        [RemainingView(attribute=attribute, reason=reason, pages=len(pages), page=pages[0])] if pages else []
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
        description=attribute.description,
        rule=explain_rule(rule) if rule else None,
        coverage=round(session.coverage(name), 3) if rule else None,
        problems=report.problems if report else [],
    )


def _session_rows(
    session: ClusterSession, progress: LabelingProgress, notes: Mapping[str, str]
) -> list[PageRowView]:
    """Return the records of all sample pages; `notes` are those of the pages that were left aside."""
    rows = []
    for state in progress.pages:
        page = session.pages[state.page]
        row = PageRowView(
            page=page.id,
            url=page.url,
            title=page.title,
            labeled=state.is_labeled,
            extracted=state.is_extracted,
            flag=notes.get(page.id),
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


def marks_view(site: OpenSite, session: ClusterSession, page: str) -> MarksView:
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
                marks += _rule_marks(matches, session.rules[name], rendering)
    absent = [stored.label.attribute for stored in labels if stored.label.is_gap]
    return MarksView(page=page, marks=marks, absent=absent)


def _rule_marks(matches: Sequence[Match], rule: Rule, rendering: Rendering) -> list[MarkView]:
    """Return the marks of all values that a rule found, each with its position among them."""
    marks = []
    for position, match in enumerate(matches):
        marks.append(mark_view(match, rule, rendering).model_copy(update={"found": position}))
    return marks


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
            by=stored.by,
            at=stored.added,
            embedded=[] if label.xpath else numbers_of_label(label, rendering.embedded),
        )
        marks.append(mark)
    return marks
