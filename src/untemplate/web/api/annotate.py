"""Annotate: a cluster's sample pages with what the rules find on them, a page as it looks, and labels given to it."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from untemplate.learning import Table
from untemplate.rules import Rule
from untemplate.rules.applying import Match
from untemplate.rules.in_words import explain_rule
from untemplate.web.api.common import PROBLEMS, DeskOf, Given, Name, SiteOf, Text
from untemplate.web.bench import Bench
from untemplate.web.labels import Change, change_labels, confirm, set_labels
from untemplate.web.marks import Click, spot_of_found, spots_of_label
from untemplate.web.progress import Progress, measure
from untemplate.web.rendering import Item, Rendering
from untemplate.web.sites import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["annotate"], responses=PROBLEMS)

Number = Annotated[int, Field(ge=0, le=10_000_000)]
Id = Annotated[int, Field(ge=1, le=2**31 - 1)]


class AttributeView(BaseModel):
    """An attribute, and the rule that the labels have taught so far."""

    name: str
    type: str
    mandatory: bool
    many: bool
    rule: str | None = Field(description="The rule in words; none before a label")
    coverage: float | None = Field(
        description="Share of the unlabelled sample pages on which it finds something"
    )
    problems: list[str]


class Cell(BaseModel):
    """The values of an attribute on a page, said by a person or found by a rule."""

    state: Literal["labelled", "absent", "found", "doubtful", "missing", "open"]
    texts: list[str]
    confidence: float | None = None


class PageRow(BaseModel):
    """A sample page and its record."""

    page: str
    url: str
    title: str
    labelled: bool
    holds: bool = Field(description="Whether the rules extract from it successfully")
    cells: dict[str, Cell]


class BenchView(BaseModel):
    """A cluster's sample pages in the order of the sample, and how far their labelling is."""

    site: str
    cluster: str
    attributes: list[AttributeView]
    rows: list[PageRow]
    next: str | None = Field(description="The page that the rules are least sure about")
    done: bool = Field(
        description="The paper's stop criterion: rules extract from all remaining sample pages"
    )
    undecided: list[str] = Field(description="Attributes without any label")
    saved: bool = Field(description="Whether the newest version of the rules is what the labels teach")
    changes: int = Field(
        description="Changes of the site, of those that /api/changes tells, that are in this"
    )


class MarkView(BaseModel):
    """Something to mark on a page: a label, or what a rule finds where there is no label."""

    attribute: str
    kind: Literal["label", "found"]
    items: list[int]
    part: str | None
    text: str
    confidence: float


class MarksView(BaseModel):
    """All marks of a page, and the attributes that are said not to be on it."""

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


class ChangeView(BaseModel):
    """Labels that now count, and labels that no longer do."""

    added: list[int]
    removed: list[int]


class LabelledView(BaseModel):
    """What a label changed."""

    change: ChangeView
    bench: BenchView
    marks: MarksView


class ClickGiven(Given):
    """An item of the page, or its attribute; up to another item; or a part of its text."""

    item: Number
    attribute: Text | None = None
    last: Number | None = None
    part: Text | None = None


class LabelsGiven(Given):
    """The values of an attribute on a page, instead of what was said before; null: it is not on this page."""

    site: Text
    page: Text
    attribute: Text
    clicks: Annotated[list[ClickGiven], Field(max_length=200)] | None


class ConfirmGiven(Given):
    """What the rules find on a page is right: all of it that has no label, or these attributes."""

    site: Text
    page: Text
    attributes: Annotated[list[Text], Field(max_length=200)] | None = None


class ChangeGiven(Given):
    """Undo or redo: labels that count again, and labels that no longer do."""

    site: Text
    page: Text
    restore: Annotated[tuple[Id, ...], Field(max_length=1000)] = ()
    remove: Annotated[tuple[Id, ...], Field(max_length=1000)] = ()


@router.get("/bench")
def get_bench(site: SiteOf, cluster: Name) -> BenchView:
    """A cluster's sample pages with their records, and the page to label next."""
    changes = site.desk.changes.count(site.name)
    return _bench_view(site, site.bench(cluster), changes)


@router.get("/page", response_model=PageView)
def get_page(site: SiteOf, page: Name) -> Response:
    """A page as it looks, without anything in it that could act."""
    parsed, rendering = site.shown(page)
    view = {"page": page, "url": parsed.url, "quirks": rendering.quirks, "remote": site.remote}
    content = json.dumps({**view, "items": rendering.items}, separators=(",", ":"))
    return Response(content, media_type="application/json")  # not checked item by item: pages may be huge


@router.get("/marks")
def get_marks(site: SiteOf, page: Name) -> MarksView:
    """What is marked on a page."""
    return _marks_view(site, site.bench(site.cluster_of(page)), page)


@router.put("/labels")
def put_labels(desk: DeskOf, given: LabelsGiven) -> LabelledView:
    """Label an attribute on a page; the rules are learnt anew."""
    site = desk.site(given.site)
    clicks = None
    if given.clicks is not None:
        clicks = [Click(one.item, one.attribute, one.last, one.part) for one in given.clicks]
    return _labelled(site, given.page, set_labels(site, given.page, given.attribute, clicks))


@router.post("/labels/confirm")
def post_confirm(desk: DeskOf, given: ConfirmGiven) -> LabelledView:
    """Label a page with what the rules find on it."""
    site = desk.site(given.site)
    return _labelled(site, given.page, confirm(site, given.page, given.attributes))


@router.post("/labels/change")
def post_change(desk: DeskOf, given: ChangeGiven) -> LabelledView:
    """Undo or redo a change of labels; the page says what is shown."""
    site = desk.site(given.site)
    site.cluster_of(given.page)
    return _labelled(site, given.page, change_labels(site, given.restore, given.remove))


def _labelled(site: OpenSite, page: str, change: Change) -> LabelledView:
    changes = site.desk.changes.count(site.name)
    bench = site.bench(site.cluster_of(page))
    return LabelledView(
        change=ChangeView(added=list(change.added), removed=list(change.removed)),
        bench=_bench_view(site, bench, changes),
        marks=_marks_view(site, bench, page),
    )


def _bench_view(site: OpenSite, bench: Bench, changes: int) -> BenchView:
    with bench.lock:
        progress = measure(bench)
        return BenchView(
            site=site.name,
            cluster=bench.cluster,
            attributes=[_attribute_view(bench, name) for name in bench.schema.attributes],
            rows=_rows(bench, progress),
            next=progress.next,
            done=progress.done,
            undecided=list(progress.undecided),
            saved=bench.is_saved,
            changes=changes,
        )


def _attribute_view(bench: Bench, name: str) -> AttributeView:
    attribute, report = bench.schema.attributes[name], bench.reports.get(name)
    rule = bench.rules.get(name)
    return AttributeView(
        name=name,
        type=attribute.type,
        mandatory=attribute.mandatory,
        many=attribute.many,
        rule=explain_rule(rule) if rule else None,
        coverage=round(bench.coverage(name), 3) if rule else None,
        problems=report.problems if report else [],
    )


def _rows(bench: Bench, progress: Progress) -> list[PageRow]:
    rows = []
    for state in progress.pages:
        page = bench.pages[state.page]
        labels = bench.labels_of(page.id)
        found = bench.find(page)
        cells: dict[str, Cell] = {}
        for name in bench.schema.attributes:
            own = [label for label in labels if label.attribute == name]
            if own:
                texts = [label.value or "" for label in own if not label.is_gap]
                cells[name] = Cell(state="labelled" if texts else "absent", texts=texts)
            elif places := found.get(name):
                texts = [place.text for place in places]
                sure = min(place.confidence for place in places)
                doubtful = name in state.doubts
                cells[name] = Cell(
                    state="doubtful" if doubtful else "found", texts=texts, confidence=round(sure, 3)
                )
            else:
                cells[name] = Cell(state="missing" if name in found else "open", texts=[])
        rows.append(
            PageRow(
                page=page.id,
                url=page.url,
                title=page.title,
                labelled=state.is_labelled,
                holds=state.holds,
                cells=cells,
            )
        )
    return rows


def mark_of_found(found: Match, name: str, rule: Rule, rendering: Rendering) -> MarkView:
    """What a rule finds, to be marked on its page."""
    spot = spot_of_found(found, rule, rendering)
    return MarkView(
        attribute=name,
        kind="found",
        items=list(spot.items),
        part=spot.part,
        text=found.text,
        confidence=round(found.confidence, 3),
    )


def _marks_view(site: OpenSite, bench: Bench, page: str) -> MarksView:
    parsed, rendering = site.shown(page)
    marks: list[MarkView] = []
    with bench.lock:
        table, number = bench.table, list(bench.pages).index(page) if page in bench.pages else -1
        if number < 0 or bench.pages[page] is not parsed:
            table, number = Table([parsed]), 0
        given = site.labels(page)
        for one in given:
            attribute = bench.schema.attributes.get(one.label.attribute)
            spots = spots_of_label(one.label, number, table, rendering, attribute) if attribute else []
            marks += [
                MarkView(
                    attribute=one.label.attribute,
                    kind="label",
                    items=list(spot.items),
                    part=spot.part,
                    text=one.label.value or "",
                    confidence=1.0,
                )
                for spot in spots
            ]
        labelled = {one.label.attribute for one in given}
        for name, places in bench.find(parsed).items():
            for place in [] if name in labelled else places:
                marks.append(mark_of_found(place, name, bench.rules[name], rendering))
    absent = [one.label.attribute for one in given if one.label.is_gap]
    return MarksView(page=page, marks=marks, absent=absent)
