"""Monitor: coverage and fill rates over time, alarms with the page before and after, watching and healing."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.errors import CatalogError
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.rules.applying import apply_rule
from untemplate.web.api.annotate import MarkView, PageView, mark_of_found
from untemplate.web.api.common import PROBLEMS, DeskOf, Given, Name, SiteOf, Text
from untemplate.web.api.export import JobView, job_view
from untemplate.web.rendering import Rendering, render
from untemplate.web.rounds import heal_round, watch_round
from untemplate.web.sites import OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["monitor"], responses=PROBLEMS)


class Figures(BaseModel):
    """One cluster at one time."""

    cluster: str
    pages: int
    coverage: float = Field(description="Share of the pages looked at that still look like the cluster's")
    fill: dict[str, float] = Field(description="Per attribute the share of pages on which it came out")


class RoundView(BaseModel):
    """One look at the site."""

    id: int
    started: datetime
    finished: datetime
    clusters: list[Figures]
    alarms: int


class AlarmView(BaseModel):
    """A test that failed."""

    id: int
    cluster: str
    test: str
    attribute: str | None
    expected: str
    seen: str
    pages: list[str]
    since: datetime | None
    raised: datetime
    cleared: datetime | None


class HealView(BaseModel):
    """What healing did."""

    finished: datetime
    version: int | None
    healed: list[dict[str, Any]]
    lost: list[dict[str, Any]]
    reused: dict[str, str]


class MonitorView(BaseModel):
    """A site over time, the oldest first."""

    attributes: list[str]
    rounds: list[RoundView]
    alarms: list[AlarmView]
    heals: list[HealView]


class SideView(BaseModel):
    """A page at one time, with what the rules find on it."""

    page: PageView
    marks: list[MarkView]


class ComparisonView(BaseModel):
    """A page when the rules were saved, if it was kept, and as it is now."""

    before: SideView | None
    after: SideView


class RoundGiven(Given):
    """Where fresh pages are; null: the watched pages are fetched from their URLs."""

    site: Text
    source: Text | None = None


@router.get("/monitor")
def get_monitor(site: SiteOf) -> MonitorView:
    """How the rules of a site held over time, what is wrong, and what was healed."""
    rounds, heals = [], []
    for run in site.catalog.runs(site.name):
        if run.finished is None:
            continue
        if run.kind == "watch" and isinstance(run.figures.get("clusters"), list):
            clusters = [Figures.model_validate(one) for one in run.figures["clusters"]]
            alarms = run.figures.get("alarms", [])
            rounds.append(
                RoundView(
                    id=run.id,
                    started=run.started,
                    finished=run.finished,
                    clusters=clusters,
                    alarms=len(alarms) if isinstance(alarms, list) else alarms,
                )
            )
        elif run.kind == "heal":
            heals.append(
                HealView(
                    finished=run.finished,
                    version=run.figures.get("version"),
                    healed=run.figures.get("healed", []),
                    lost=run.figures.get("lost", []),
                    reused=run.figures.get("reused", {}),
                )
            )
    return MonitorView(
        attributes=list(site.schema.attributes),
        rounds=rounds,
        alarms=[AlarmView(**asdict(one)) for one in site.catalog.alarms(site.name, open_only=False)],
        heals=heals,
    )


@router.get("/compare")
def get_comparison(site: SiteOf, page: Name) -> ComparisonView:
    """A page before and after: when the newest rules were saved, and as it was last seen."""
    wrapper = site.wrapper(site.cluster_of(page))
    assert site.version is not None
    try:
        before = _side(site, wrapper, site.catalog.page(site.name, page, site.version.saved))
    except CatalogError:
        before = None
    return ComparisonView(before=before, after=_side(site, wrapper, site.catalog.page(site.name, page)))


@router.post("/watch")
def post_watch(desk: DeskOf, given: RoundGiven) -> JobView:
    """Begin to look whether the rules still hold on fresh pages."""
    site = desk.site(given.site)
    return job_view(desk.jobs.start("watch", site.name, lambda job: watch_round(site, given.source, job)))


@router.post("/heal")
def post_heal(desk: DeskOf, given: RoundGiven) -> JobView:
    """Begin to repair rules with fresh pages; the result is a new version."""
    site = desk.site(given.site)
    return job_view(desk.jobs.start("heal", site.name, lambda job: heal_round(site, given.source, job)))


def _side(site: OpenSite, wrapper: Wrapper, page: Page) -> SideView:
    rendering = render(page, lambda reference: site.link(page, None, reference))
    view = PageView(
        page=page.id, url=page.url, quirks=rendering.quirks, remote=site.remote, items=rendering.items
    )
    return SideView(page=view, marks=_marks(site, wrapper, page, rendering))


def _marks(site: OpenSite, wrapper: Wrapper, page: Page, rendering: Rendering) -> list[MarkView]:
    return [
        mark_of_found(found, name, rule, rendering)
        for name, rule in wrapper.rules.items()
        for found in apply_rule(rule, page.tree, wrapper, site.schema.attributes[name])
    ]
