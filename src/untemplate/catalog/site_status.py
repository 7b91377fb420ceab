"""How all sites of a catalog are doing, in a few queries: one line a site, and one queue of work for people.

A catalog may have hundreds of sites with dozens of clusters each, so this reads what describes the clusters of the
newest rules and the last runs, but neither bellwethers nor pages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from statistics import fmean
from typing import Any

from sqlalchemy import Connection, Row, Text, func, select, type_coerce

from untemplate.catalog.rule_versions import newest_versions
from untemplate.catalog.runs import PastRun, last_runs
from untemplate.catalog.sql_tables import alarms, clusters, labels, rules, samples, sites
from untemplate.record import Reason
from untemplate.watching import SITE

__all__ = ["DEFAULT_WATCH_HOURS", "Measure", "SiteStatus", "WaitingWork", "read_statuses"]

DEFAULT_WATCH_HOURS = 24.0
"""How often a site is watched if nothing else is set for it."""

# Runs of a kind that are read for each site: the last, and a week of daily runs to compare it with.
LAST_RUNS = 8
# Kinds of runs that say how a site is doing. Those of `learn` and `annotate` list its clusters.
RUN_KINDS = ("extract", "watch", "heal", "learn", "annotate", "flag")

CHANGED, UNLABELED, UNSAVED = "the site changed", "no labels yet", "labels since the last version"
# Kinds of clusters whose pages hardly anybody wants records of, if nobody labeled them.
UNWANTED_KINDS = {"list": "lists", "other": "other pages"}


@dataclass(frozen=True, slots=True)
class Measure:
    """A share from 0 to 1: in the last run, and on average in the runs before. None if there is no such run."""

    now: float | None = None
    before: float | None = None

    @property
    def change(self) -> float:
        """How much it rose, or fell if negative; 0 if that is unknown."""
        return 0.0 if self.now is None or self.before is None else self.now - self.before


@dataclass(frozen=True, slots=True)
class WaitingWork:
    """Something that only a person can do.

    Attributes:
        site: The site.
        cluster: The cluster to label; empty if it is about the site.
        reason: Why, in words.
        pages: About how many pages of a crawl lose values until it is done.
        page: The page to label first, if it is known.
        attributes: The attributes that are missing.
    """

    site: str
    cluster: str
    reason: str
    pages: int
    page: str | None = None
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteStatus:
    """How a site is doing.

    Attributes:
        site: Its name.
        schema: The name of its schema; None if it has no rules yet.
        version: The number of the newest rules.
        saved: When they were saved.
        clusters: How many clusters they have.
        labels: How many labels people gave.
        pages: Pages of the last crawl that was extracted, or else of its clusters.
        coverage: The share of pages that rules match.
        fill: The share of values that come out, of all that the rules should find.
        last_extract: When the site was extracted last.
        last_watch: When it was watched last.
        watch_hours: How often it should be watched.
        alarms: How many alarms are open.
        waiting: What waits for a person, most lost pages first.
    """

    site: str
    schema: str | None = None
    version: int = 0
    saved: datetime | None = None
    clusters: int = 0
    labels: int = 0
    pages: int | None = None
    coverage: Measure = Measure()
    fill: Measure = Measure()
    last_extract: datetime | None = None
    last_watch: datetime | None = None
    watch_hours: float = DEFAULT_WATCH_HOURS
    alarms: int = 0
    waiting: tuple[WaitingWork, ...] = ()

    @property
    def pages_lost(self) -> int:
        """About how many pages lose values until people have done what waits for them."""
        return sum(work.pages for work in self.waiting)

    @property
    def rank(self) -> tuple[object, ...]:
        """What sorts sites, the worst first."""
        return (
            -self.pages_lost,
            -self.alarms,
            -len(self.waiting),
            self.coverage.change + self.fill.change,
            self.site,
        )

    def is_due(self, now: datetime) -> bool:
        """Return True if the site has rules and was not watched within its interval."""
        if not self.version:
            return False
        return self.last_watch is None or now - self.last_watch >= timedelta(hours=self.watch_hours)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON can store it."""
        moments = {"saved": self.saved, "last_extract": self.last_extract, "last_watch": self.last_watch}
        times = {name: moment and moment.isoformat() for name, moment in moments.items()}
        return asdict(self) | times | {"pages_lost": self.pages_lost}


@dataclass(slots=True)
class _ClusterFacts:
    """A cluster of a site's newest rules."""

    name: str
    importance: int
    attributes: set[str] = field(default_factory=set)
    lost: tuple[str, ...] = ()
    samples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _SiteFacts:
    """What the tables contain about a site."""

    site: Row[Any]
    version: Row[Any] | None = None
    clusters: dict[int, _ClusterFacts] = field(default_factory=dict)
    runs: dict[str, list[PastRun]] = field(default_factory=lambda: defaultdict(list))
    alarms: list[Row[Any]] = field(default_factory=list)
    labels: int = 0
    labeled: datetime | None = None

    def last(self, kind: str) -> PastRun | None:
        """Return the last finished run of a kind."""
        return next(iter(self.runs[kind]), None)

    def last_time(self, kind: str) -> datetime | None:
        """Return when the last run of a kind finished."""
        run = self.last(kind)
        return run.finished if run else None


def read_statuses(connection: Connection) -> list[SiteStatus]:
    """Return the status of every site, the worst first."""
    statuses = [_describe_site(facts) for facts in _collect_facts(connection)]
    return sorted(statuses, key=lambda status: status.rank)


def _collect_facts(connection: Connection) -> Iterable[_SiteFacts]:
    """Read all sites, the clusters of their newest rules, their last runs, open alarms and labels."""
    facts = {row.id: _SiteFacts(row) for row in connection.execute(select(sites))}
    site_of_version = {}
    for row in newest_versions(connection):
        facts[row.site_id].version = row
        site_of_version[row.id] = facts[row.site_id]
    _collect_clusters(connection, site_of_version)
    for run in last_runs(connection, RUN_KINDS, LAST_RUNS):
        facts[run.site_id].runs[run.kind].append(run)
    for alarm in connection.execute(select(alarms).where(alarms.c.cleared.is_(None)).order_by(alarms.c.id)):
        facts[alarm.site_id].alarms.append(alarm)
    counts = select(labels.c.site_id, func.count().label("total"), func.max(labels.c.given).label("last"))
    for row in connection.execute(counts.group_by(labels.c.site_id)):
        facts[row.site_id].labels, facts[row.site_id].labeled = row.total, row.last
    return facts.values()


def _collect_clusters(connection: Connection, site_of_version: Mapping[int, _SiteFacts]) -> None:
    """Add the clusters of the newest versions to their sites, with what has a rule, what was lost, and samples."""
    of_newest = clusters.c.version_id.in_(site_of_version)
    facts: dict[int, _ClusterFacts] = {}
    columns = select(clusters.c.id, clusters.c.version_id, clusters.c.name, clusters.c.importance)
    for row in connection.execute(columns.where(of_newest).order_by(clusters.c.id)):
        facts[row.id] = _ClusterFacts(row.name, row.importance)
        site_of_version[row.version_id].clusters[row.id] = facts[row.id]
    ruled = select(rules.c.cluster_id, rules.c.attribute).join(clusters).where(of_newest)
    for cluster_id, attribute in connection.execute(ruled):
        facts[cluster_id].attributes.add(attribute)
    # Most clusters have lost nothing, and the rest of their content is large: only the others are read.
    has_lost = type_coerce(clusters.c.content, Text).like('%"lost":["%')
    losing = select(clusters.c.id, clusters.c.content).where(of_newest & has_lost)
    for cluster_id, content in connection.execute(losing):
        facts[cluster_id].lost = tuple(content["lost"])
    chosen = select(samples.c.cluster_id, samples.c.page).join(clusters).where(of_newest)
    for cluster_id, page in connection.execute(chosen.order_by(samples.c.id)):
        facts[cluster_id].samples.append(page)


def _describe_site(facts: _SiteFacts) -> SiteStatus:
    """Return the status of one site."""
    hours = facts.site.watch_hours or DEFAULT_WATCH_HOURS
    if facts.version is None:
        return SiteStatus(site=facts.site.name, watch_hours=hours, labels=facts.labels)
    extract = facts.last("extract")
    measured = _measure_runs(facts)
    sizes = _cluster_sizes(facts)
    return SiteStatus(
        site=facts.site.name,
        schema=facts.version.content["schema"]["name"],
        version=facts.version.number,
        saved=facts.version.saved,
        clusters=len(facts.clusters),
        labels=facts.labels,
        pages=extract.figures["pages"] if extract else sum(sizes.values()),
        coverage=_compare_runs([coverage for coverage, _ in measured]),
        fill=_compare_runs([fill for _, fill in measured]),
        last_extract=facts.last_time("extract"),
        last_watch=facts.last_time("watch"),
        watch_hours=hours,
        alarms=len(facts.alarms),
        waiting=tuple(sorted(_list_work(facts, sizes), key=lambda work: -work.pages)),
    )


def _compare_runs(shares: Sequence[float | None]) -> Measure:
    """Return the first share, that of the last run, beside the mean of the others."""
    known = [share for share in shares if share is not None]
    if not known:
        return Measure()
    return Measure(round(known[0], 4), round(fmean(known[1:]), 4) if known[1:] else None)


def _measure_runs(facts: _SiteFacts) -> list[tuple[float | None, float | None]]:
    """Return the coverage and the fill rate of each extract run or, if there are none, of each watch run."""
    if crawls := facts.runs["extract"]:
        return [_measure_crawl(run, facts) for run in crawls]
    return [_measure_watched(run) for run in facts.runs["watch"]]


def _measure_crawl(run: PastRun, facts: _SiteFacts) -> tuple[float | None, float | None]:
    """Return the coverage and the fill rate of an extract run."""
    figures = run.figures
    needing_labels = figures["unmatched"].get(Reason.NEEDS_LABELS, 0)
    pages = figures["pages"] - needing_labels
    covered = figures["pages"] - sum(figures["unmatched"].values())
    expected: set[str] = set()
    for cluster in facts.clusters.values():
        expected.update(cluster.attributes, cluster.lost)
    values = figures["matched"] * len(expected)
    filled = sum(figures["filled"].get(name, 0) for name in expected)
    return (covered / pages if pages > 0 else None), (filled / values if values else None)


def _measure_watched(run: PastRun) -> tuple[float | None, float | None]:
    """Return the coverage and the fill rate of a watch run."""
    figures = run.figures.get("clusters", [])
    fills = list(chain.from_iterable(cluster["fill"].values() for cluster in figures))
    pages = sum(cluster["pages"] for cluster in figures)
    covered = sum(cluster["pages"] * cluster["coverage"] for cluster in figures)
    return (covered / pages if pages else None), (fmean(fills) if fills else None)


def _cluster_sizes(facts: _SiteFacts) -> dict[str, int]:
    """Return about how many pages each cluster has: in the last crawl, when it was added, or when it was learned."""
    sizes = {cluster.name: cluster.importance for cluster in facts.clusters.values()}
    for kind, key in (("annotate", "size"), ("heal", "size"), ("extract", "pages")):
        run = facts.last(kind)
        if run is not None:
            sizes |= {name: counts[key] for name, counts in run.figures.get("clusters", {}).items()}
    return {cluster.name: sizes[cluster.name] for cluster in facts.clusters.values()}


def _list_work(facts: _SiteFacts, sizes: Mapping[str, int]) -> Iterator[WaitingWork]:
    """Yield what waits for a person: broken clusters, those without labels, alarms, and labels that nobody saved."""
    site = facts.site.name
    alarms: dict[str, list[Row[Any]]] = defaultdict(list)
    for alarm in facts.alarms:
        alarms[alarm.cluster].append(alarm)
    yield from _work_on_clusters(facts, sizes, alarms)
    # An alarm about the site often follows from those about its clusters.
    if SITE in alarms and sizes.keys().isdisjoint(alarms):
        yield _alarmed_work(site, alarms[SITE], sum(sizes.values()))
    if facts.labeled and facts.version is not None and facts.labeled > facts.version.saved:
        yield WaitingWork(site, "", UNSAVED, 0)
    yield from _flagged_work(facts)


def _flagged_work(facts: _SiteFacts) -> Iterator[WaitingWork]:
    """Yield the pages that somebody left aside, each with the note for others."""
    run = facts.last("flag")
    for page, flag in run.figures["flags"].items() if run else ():
        note = f": {flag['note']}" if flag["note"] else ""
        yield WaitingWork(facts.site.name, flag["cluster"], f"flagged by {flag['by']}{note}", 1, page)


def _work_on_clusters(
    facts: _SiteFacts, sizes: Mapping[str, int], alarms: Mapping[str, Sequence[Row[Any]]]
) -> Iterator[WaitingWork]:
    """Yield what each cluster needs of a person: labels for lost attributes, first labels, or a look at alarms."""
    site = facts.site.name
    has_unlabeled = not all(cluster.attributes for cluster in facts.clusters.values())
    kinds = _cluster_kinds(facts) if has_unlabeled else {}
    for cluster in facts.clusters.values():
        name, page = cluster.name, next(iter(cluster.samples), None)
        if cluster.lost:
            yield WaitingWork(site, name, CHANGED, sizes[name], page, cluster.lost)
        elif not cluster.attributes:
            yield _unlabeled_work(site, name, kinds.get(name, ""), sizes[name], page)
        elif name in alarms:
            yield _alarmed_work(site, alarms[name], sizes[name], name)


def _cluster_kinds(facts: _SiteFacts) -> dict[str, str]:
    """Return what the pages of clusters seem to be, as far as runs guessed that; the newest guess counts."""
    kinds: dict[str, str] = {}
    for run in reversed(facts.runs["annotate"]):
        kinds |= {name: cluster.get("kind", "") for name, cluster in run.figures.get("clusters", {}).items()}
    for run in [*reversed(facts.runs["learn"]), *reversed(facts.runs["heal"])]:
        kinds |= run.figures.get("kinds", {})
    return kinds


def _unlabeled_work(site: str, cluster: str, kind: str, pages: int, page: str | None) -> WaitingWork:
    """Return the work that a cluster without rules means. Nothing is lost if it seems to be a list, or help pages."""
    if kind in UNWANTED_KINDS:
        return WaitingWork(site, cluster, f"{UNLABELED}: {UNWANTED_KINDS[kind]}, it seems", 0, page)
    return WaitingWork(site, cluster, UNLABELED, pages, page)


def _alarmed_work(site: str, raised: Sequence[Row[Any]], pages: int, cluster: str = "") -> WaitingWork:
    """Return the work that the open alarms of a cluster, or of the site, mean if healing does not clear them."""
    attributes = tuple(dict.fromkeys(alarm.attribute for alarm in raised if alarm.attribute))
    page = next(chain.from_iterable(alarm.pages for alarm in raised), None)
    tests = ", ".join(dict.fromkeys(alarm.test for alarm in raised))
    return WaitingWork(site, cluster, f"alarm: {tests}", pages, page, attributes)
