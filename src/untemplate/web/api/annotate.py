"""Annotate and review: sample pages with the values that the rules find, rendered pages, labels, doubtful values."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from untemplate.web.api.common import (
    ERROR_RESPONSES,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
)
from untemplate.web.api.label_views import (
    EmbeddedView,
    LabeledView,
    LabelEventView,
    MarksView,
    PageView,
    ReviewView,
    RowReviewView,
    SessionView,
    label_event,
    labeled_view,
    marks_view,
    propose_alike,
    session_view,
)
from untemplate.web.cluster_session import DoubtfulValue, find_doubtful_values
from untemplate.web.embedded_panel import PanelObject, select_shown
from untemplate.web.list_labels import learn_list_wrapper
from untemplate.web.list_review import find_doubtful_rows
from untemplate.web.page_labels import Click, change_labels, confirm_values, set_absent, set_labels

__all__ = ["router"]

router = APIRouter(prefix="/api", responses=ERROR_RESPONSES)

MAX_EVENTS = 1000
"""Labels in one response, the latest."""

MAX_DOUBTS = 200
"""Doubtful values in one response. More appear when a person has reviewed these."""

SearchParam = Annotated[str, Query(max_length=200)]
LimitParam = Annotated[int | None, Query(ge=1, le=10_000_000)]
ItemNumber = Annotated[int, Field(ge=0, le=10_000_000)]
LabelId = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ClickBody(RequestBody):
    """An item of the page or an attribute of it, a range up to another item, a part of its text, or a whole element.

    Instead of an item, a value of the embedded data by its number, a label that stays by its id, or a value that the
    rule found by its position.
    """

    item: ItemNumber | None = None
    attribute: Text | None = None
    last: ItemNumber | None = None
    part: Text | None = None
    embedded: ItemNumber | None = None
    label: LabelId | None = None
    found: ItemNumber | None = None
    is_whole: bool = False


class LabelsBody(RequestBody):
    """The values of an attribute on a page, which replace its labels; null if the page does not contain it."""

    site: Text
    page: Text
    attribute: Text
    clicks: Annotated[list[ClickBody], Field(max_length=500)] | None


class ConfirmBody(RequestBody):
    """The values that the rules find on a page are right: those of some attributes, or all without a label.

    A named attribute without a value is labeled as not on the page. Without names, such attributes stay unlabeled.
    """

    site: Text
    page: Text
    attributes: Annotated[list[Text], Field(max_length=200)] | None = None


class AbsentBody(RequestBody):
    """An attribute that no page of a template has; the template is that of a page."""

    site: Text
    page: Text
    attribute: Text


class FlagBody(RequestBody):
    """A page to leave aside, with a note for people; null takes the flag away."""

    site: Text
    page: Text
    note: Annotated[str, Field(max_length=500)] | None


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
    return session_view(site, site.session(cluster), changes)


@router.get("/page", tags=["annotate"], response_model=PageView)
def get_page(site: SiteParam, page: NameParam, limit: LimitParam = None) -> Response:
    """Return a page as plain data that cannot run anything, or the first `limit` items of it."""
    parsed, rendering = site.rendered_page(page)
    view = {
        "page": page,
        "url": parsed.url,
        "quirks": rendering.quirks,
        "remote": site.remote,
        "missing": rendering.missing,
        "plain": rendering.is_plain,
    }
    content = json.dumps({**view, "items": rendering.items[:limit]}, separators=(",", ":"))
    return Response(content, media_type="application/json")  # not validated: pages may have many items


@router.get("/marks", tags=["annotate"])
def get_marks(site: SiteParam, page: NameParam) -> MarksView:
    """Return the marks of a page."""
    return marks_view(site, site.session(site.cluster_of(page)), page)


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
    view = labeled_view(site, body.page, set_labels(site, body.page, body.attribute, clicks))
    if clicks and site.schema.attributes[body.attribute].many:
        in_data = clicks[-1].embedded is not None
        view.proposal = propose_alike(site, view, body.attribute, in_data)
    return view


@router.post("/labels/confirm", tags=["annotate"])
def post_confirm(workspace: WorkspaceParam, body: ConfirmBody) -> LabeledView:
    """Label a page with the values that the rules find on it."""
    site = workspace.site(body.site)
    return labeled_view(site, body.page, confirm_values(site, body.page, body.attributes))


@router.post("/labels/absent", tags=["annotate"])
def post_absent(workspace: WorkspaceParam, body: AbsentBody) -> LabeledView:
    """Label all sample pages of a template as not containing an attribute."""
    site = workspace.site(body.site)
    change = set_absent(site, site.cluster_of(body.page), body.attribute)
    return labeled_view(site, body.page, change)


@router.post("/labels/change", tags=["annotate"])
def post_change(workspace: WorkspaceParam, body: LabelChangeBody) -> LabeledView:
    """Undo or redo a change of labels, and return the marks of the page that is shown."""
    site = workspace.site(body.site)
    site.cluster_of(body.page)
    return labeled_view(site, body.page, change_labels(site, body.restore, body.remove))


@router.put("/flag", tags=["annotate"])
def put_flag(workspace: WorkspaceParam, body: FlagBody) -> SessionView:
    """Leave a page aside: it needs no labels, and waits for people with a note. Or take it back."""
    site = workspace.site(body.site)
    site.flag_page(body.page, body.note)
    changes = site.workspace.changes.count(site.name)
    return session_view(site, site.session(site.cluster_of(body.page)), changes)


@router.get("/labels", tags=["annotate"])
def get_labels(site: SiteParam, cluster: NameParam) -> list[LabelEventView]:
    """Return who labeled what and when on the pages of a cluster, the latest first; removed labels, too."""
    site.wrapper(cluster)
    pages = set(site.pages[cluster])
    labels = site.catalog.labels(site.name, removed=True)
    events = [label_event(stored) for stored in labels if stored.label.page in pages]
    return sorted(events, key=lambda event: event.removed or event.added, reverse=True)[:MAX_EVENTS]


@router.get("/review/rows", tags=["review"])
def get_row_review(site: SiteParam, cluster: NameParam) -> RowReviewView:
    """Return the doubtful rows of list pages; nothing if the cluster has no list rules."""
    wrapper = learn_list_wrapper(site, cluster)
    if wrapper is None or not wrapper.records:
        return RowReviewView(is_list=False, pages=0, doubts=[])
    doubts = find_doubtful_rows(site, wrapper)
    return RowReviewView(is_list=True, pages=len(site.pages[cluster]), doubts=doubts[:MAX_DOUBTS])


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
