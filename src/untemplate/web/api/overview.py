"""Overview: the sites of the catalog, their clusters, how healthy their rules are, and what waits for a person."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.rules import Wrapper
from untemplate.web.api.common import PROBLEMS, DeskOf, Given, SiteOf
from untemplate.web.progress import measure
from untemplate.web.sites import Desk, OpenSite

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["overview"], responses=PROBLEMS)


class Fill(BaseModel):
    """An attribute, and the share of watched pages on which its rule found something."""

    attribute: str
    share: float | None = Field(description="None without a rule")
    lost: bool = Field(description="A change of the site broke its rule")


class ClusterView(BaseModel):
    """The pages of one template."""

    cluster: str
    url_pattern: str
    pages: int = Field(description="Pages in the source")
    labelled: int = Field(description="Pages with labels")
    first: str | None = Field(description="The first page worth labelling")
    attributes: list[Fill]
    alarms: int


class Waiting(BaseModel):
    """Pages of a cluster that wait for a person, and the one to begin with."""

    cluster: str
    reason: str
    pages: int = 0
    page: str | None = None
    attributes: list[str] = []


class SiteView(BaseModel):
    """A site and how it stands."""

    site: str
    schema_name: str | None
    version: int | None
    saved: datetime | None
    labels: int
    clusters: list[ClusterView]
    waiting: list[Waiting]
    alarms: int
    remote: bool = Field(description="Whether pages may load what did not come with them")


class SettingsGiven(Given):
    """Whether the pages of a site may load images and stylesheets from other hosts."""

    remote: bool


class FrameView(BaseModel):
    """Where pages are shown."""

    address: str


@router.get("/sites")
def get_sites(desk: DeskOf) -> list[SiteView]:
    """All sites of the catalog."""
    return [_site_view(desk, name) for name in desk.catalog.sites()]


@router.get("/frame")
def get_frame(desk: DeskOf) -> FrameView:
    """The address below which the other origin shows pages."""
    return FrameView(address=desk.frame)


@router.put("/settings")
def put_settings(site: SiteOf, given: SettingsGiven) -> SiteView:
    """Let the pages of a site load what did not come with them, or not; it is off whenever the server starts."""
    site.remote = given.remote
    site.desk.changes.tell(site.name)
    return _site_view(site.desk, site.name)


def _site_view(desk: Desk, name: str) -> SiteView:
    versions = desk.catalog.history(name)
    labels = desk.catalog.labels(name)
    view = SiteView(
        site=name,
        schema_name=None,
        version=None,
        saved=None,
        labels=len(labels),
        clusters=[],
        waiting=[],
        alarms=0,
        remote=False,
    )
    if not versions:
        return view
    site = desk.site(name)
    alarms = desk.catalog.alarms(name)
    labelled = {given.label.page for given in labels}
    clusters = [
        _cluster_view(site, wrapper, labelled, sum(alarm.cluster == wrapper.cluster for alarm in alarms))
        for wrapper in site.rules.wrappers
    ]
    return view.model_copy(
        update={
            "schema_name": site.schema.name,
            "version": versions[-1].number,
            "saved": versions[-1].saved,
            "clusters": clusters,
            "waiting": _waiting(site, clusters),
            "alarms": len(alarms),
            "remote": site.remote,
        }
    )


def _cluster_view(site: OpenSite, wrapper: Wrapper, labelled: set[str], alarms: int) -> ClusterView:
    ids = site.pages[wrapper.cluster]
    size = site.figures.get("clusters", {}).get(wrapper.cluster, {}).get("size", len(ids))
    return ClusterView(
        cluster=wrapper.cluster,
        url_pattern=wrapper.url_pattern,
        pages=size,
        labelled=len(labelled & set(ids)),
        first=ids[0] if ids else None,
        attributes=[
            Fill(attribute=name, share=_share(wrapper, name), lost=name in wrapper.lost)
            for name in site.schema.attributes
        ],
        alarms=alarms,
    )


def _share(wrapper: Wrapper, attribute: str) -> float | None:
    if attribute not in wrapper.rules or not wrapper.bellwethers:
        return None
    filled = sum(attribute in bellwether.golden for bellwether in wrapper.bellwethers)
    return round(filled / len(wrapper.bellwethers), 3)


def _waiting(site: OpenSite, clusters: list[ClusterView]) -> list[Waiting]:
    """What a change broke, what is labelled in part, then clusters that nobody has labelled, the biggest first."""
    waiting = [
        Waiting(
            cluster=task.cluster,
            pages=len(task.pages),
            page=next(iter(task.pages), None),
            attributes=list(task.attributes),
            reason="the site changed",
        )
        for task in site.catalog.pages_to_label(site.name)
        if task.attributes
    ]
    told = {one.cluster for one in waiting}
    begun = (cluster for cluster, changed in site.fresh_labels().items() if changed and cluster not in told)
    waiting += filter(None, (_begun(site, cluster) for cluster in begun))
    waiting += [
        Waiting(cluster=one.cluster, reason="no labels yet", pages=one.pages, page=one.first)
        for one in sorted(clusters, key=lambda one: -one.pages)
        if one.cluster not in told and not one.labelled and not site.wrapper(one.cluster).rules
    ]
    return waiting


def _begun(site: OpenSite, cluster: str) -> Waiting | None:
    """What is left to do on a cluster with labels that are not in its rules yet."""
    bench = site.opened(cluster)
    if bench is None:  # parsing its pages only to count them would take too long
        return Waiting(cluster=cluster, reason="labels since the last version")
    progress = measure(bench)
    if progress.done:
        return None if bench.is_saved else Waiting(cluster=cluster, reason="rules to save")
    return Waiting(
        cluster=cluster,
        reason="labelled in part",
        pages=sum(not state.holds for state in progress.pages),
        page=progress.next,
        attributes=list(progress.undecided),
    )
