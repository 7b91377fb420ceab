"""Watch or heal all sites of a catalog: one call a day. Hosts are fetched in parallel, and sites judged as they come.

A site that cannot be reached, or whose rules cannot be used, costs its own outcome and never the round. What was done
is in the catalog at once, so a round that is interrupted continues with the other sites.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from random import Random
from typing import Any, Protocol

from untemplate.catalog.catalog import Catalog
from untemplate.catalog.site_claims import SiteClaims
from untemplate.catalog.site_workers import SiteWorkers
from untemplate.errors import SourceError, UntemplateError, VersionConflict
from untemplate.extraction import Rules
from untemplate.labeling import Labeler
from untemplate.page import Page
from untemplate.rules.in_words import compare_rules
from untemplate.schema import Schema
from untemplate.sources import Pages, Politeness, fetch_groups
from untemplate.sources.fetch import DEFAULT_POLITENESS
from untemplate.watching import SITE, Alarm, Report, heal_site, renew_missing, watch

__all__ = ["SiteOutcome", "heal_sites", "sites_to_heal", "sites_to_watch", "split_by_site", "watch_sites"]

# Pages of a mixed crawl that are kept for each site besides its bellwethers. Healing learns from 60 of a cluster.
MAX_OTHER_PAGES = 500


@dataclass(frozen=True)
class SiteOutcome:
    """What a round did with one site.

    Attributes:
        site: The name of the site.
        alarms: The alarms that watching raised, or still raises.
        figures: What the catalog keeps of the run.
        version: The version that healing saved; None if it changed nothing.
        problem: Why the site could not be watched or healed, in one line.
        left_out: Why it was left to another process, in one line.
    """

    site: str
    alarms: Sequence[Alarm] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None
    problem: str | None = None
    left_out: str | None = None

    @property
    def has_findings(self) -> bool:
        """True if somebody should look at the site."""
        return bool(self.alarms or self.problem or self.figures.get("lost") or self.figures.get("refused"))


SitePages = Iterable[tuple[str, Pages]]
"""The fresh pages of each site."""


def sites_to_watch(catalog: Catalog, due_only: bool = False) -> list[str]:
    """Return the sites with rules, or only those that were not watched within their interval."""
    now = datetime.now(UTC)
    statuses = [status for status in catalog.statuses() if status.version]
    return sorted(status.site for status in statuses if not due_only or status.is_due(now))


def sites_to_heal(catalog: Catalog, due_only: bool = False) -> list[str]:
    """Return the sites with open alarms, or only those with an alarm that is newer than the last attempt to heal."""
    alarmed = sorted(status.site for status in catalog.statuses() if status.alarms)
    return [site for site in alarmed if not due_only or _has_new_alarm(catalog, site)]


def _has_new_alarm(catalog: Catalog, site: str) -> bool:
    last = max((run.started for run in catalog.runs(site, "heal") if run.finished), default=None)
    return last is None or any(alarm.raised > last for alarm in catalog.alarms(site))


def watch_sites(
    catalog: Catalog,
    sites: Collection[str],
    pages: SitePages | None = None,
    *,
    by: str = "",
    politeness: Politeness = DEFAULT_POLITENESS,
    workers: int | None = None,
    since: datetime | None = None,
) -> Iterator[SiteOutcome]:
    """Watch sites, record their figures and alarms, and yield the outcome of each as soon as it is known.

    Each site is claimed while it is fetched and watched: sites that another process works on are left to it.

    Args:
        catalog: The catalog.
        sites: The sites to watch.
        pages: The fresh pages of each site, such as `split_by_site` returns; None to fetch their bellwethers.
        by: The person who watches; new bellwethers are saved under this name.
        politeness: How to fetch.
        workers: Processes that compare pages; one per core by default, and 1 for none besides this one.
        since: Leave out sites that another process has finished since then, such as the start of a round.
    """
    with catalog.claims("watch") as claims:
        work = _WatchWork(catalog, by, is_request=pages is None)
        yield from _SiteRound(catalog, work, claims, since, workers).run(sites, pages, politeness)


def heal_sites(
    catalog: Catalog,
    sites: Collection[str],
    pages: SitePages | None = None,
    *,
    by: str = "",
    politeness: Politeness = DEFAULT_POLITENESS,
    workers: int | None = None,
    since: datetime | None = None,
    make_labeler: Callable[[Schema], Labeler] | None = None,
) -> Iterator[SiteOutcome]:
    """Heal sites, save what changed as new versions, and yield the outcome of each as soon as it is known.

    Nothing is saved for a site whose rules somebody else changed in the meantime. The arguments are those of
    `watch_sites`, and `by` is the person who heals. A labeler is asked about attributes that what is remembered could
    not heal; then all sites are healed in this process, because what asking costs is counted here.
    """
    workers = 1 if make_labeler else workers
    with catalog.claims("heal") as claims:
        work = _HealWork(catalog, by, make_labeler)
        yield from _SiteRound(catalog, work, claims, since, workers).run(sites, pages, politeness)


def split_by_site(catalog: Catalog, pages: Iterable[Page], sites: Collection[str]) -> SitePages:
    """Return the pages of a mixed crawl by site: all bellwethers, and up to 500 others of each site at random."""
    rules = catalog.site_rules()
    watched = catalog.bellwether_urls()
    random = Random(0)
    samples = {site: _SiteSample(set(watched.get(site, ())), random) for site in sites}
    for page in pages:
        for entry in rules.find_sites(page.url):
            if entry.site in samples:
                samples[entry.site].add(page)
    for site, sample in samples.items():
        yield site, _in_memory(site, [*sample.bellwethers, *sample.others])


@dataclass
class _SiteSample:
    """The pages of one site that are kept from a mixed crawl: a reservoir sample besides the bellwethers."""

    watched: set[str]
    random: Random
    bellwethers: list[Page] = field(default_factory=list)
    others: list[Page] = field(default_factory=list)
    other_pages: int = 0

    def add(self, page: Page) -> None:
        """Keep a bellwether; keep another page with the chance that all others have."""
        if page.url in self.watched:
            self.bellwethers.append(page)
            return
        self.other_pages += 1
        if len(self.others) < MAX_OTHER_PAGES:
            self.others.append(page)
        elif (place := self.random.randrange(self.other_pages)) < MAX_OTHER_PAGES:
            self.others[place] = page


def _in_memory(site: str, pages: Sequence[Page]) -> Pages:
    from untemplate.sources.page_source import InMemory

    return Pages(f"pages of {site}", InMemory(pages))


class _Work(Protocol):
    """What a round does with each site: arguments from the catalog, a task in any process, a record of its result."""

    def prepare(self, site: str, pages: Pages) -> Callable[[], Any]:
        """Return the task; it may run in another process."""

    def record(self, site: str, pages: Pages, result: Any, version: int) -> SiteOutcome:
        """Store the result of the task, given the version of the rules that it used."""

    def record_problem(self, site: str, problem: str) -> None:
        """Store why the site could not be done."""


@dataclass(frozen=True)
class _WatchedSite:
    """What watching found, as it travels between processes; with rules if some bellwethers were replaced."""

    report: Report
    text: str = ""
    replaced: int = 0


@dataclass(frozen=True)
class _WatchWork:
    """Watch a site: alarms and figures go to the catalog, and missing bellwethers are replaced."""

    catalog: Catalog
    by: str
    is_request: bool

    def prepare(self, site: str, pages: Pages) -> Callable[[], _WatchedSite]:
        history = [Report(list(self.catalog.alarms(site)))]
        return partial(_watch_task, self.catalog.rules_text(site), list(pages), history, self.is_request)

    def record(self, site: str, pages: Pages, result: _WatchedSite, version: int) -> SiteOutcome:
        report = result.report
        if result.replaced:
            note = f"{result.replaced} watched pages replaced"
            with suppress(VersionConflict):  # somebody saved other rules, and the next round sees to theirs
                rules = Rules.loads(result.text)
                version = self.catalog.save_version(
                    site, rules, pages, "watched", note, self.by, based_on=version
                )
        self.catalog.finish_watch(site, report, version, replaced=result.replaced)
        return SiteOutcome(site, report.alarms, report.to_dict() | {"replaced": result.replaced})

    def record_problem(self, site: str, problem: str) -> None:
        """Raise an alarm that the next successful run clears. The run stays unfinished, so the site is still due."""
        catalog = self.catalog
        alarm = Alarm(SITE, "reachable", None, "its watched pages", problem, ())
        run = catalog.start_run(site, "watch")
        catalog.record_alarms(site, run, [alarm], catalog.rules(site).by_cluster.keys())


def _watch_task(
    text: str, pages: Sequence[Page], history: Sequence[Report], is_request: bool
) -> _WatchedSite:
    rules = Rules.loads(text)
    report = watch(rules, pages, history=history, is_request=is_request)
    if not report.clusters:
        raise SourceError("none of its watched pages could be read")
    renewed, replaced = renew_missing(rules, pages, report)
    return _WatchedSite(report, renewed.dumps(), replaced) if replaced else _WatchedSite(report)


@dataclass(frozen=True)
class _HealedSite:
    """What healing made of a site, as it travels between processes."""

    text: str
    figures: dict[str, Any]
    has_new_bellwethers: bool


@dataclass(frozen=True)
class _HealWork:
    """Heal a site, and save the rules if anything changed."""

    catalog: Catalog
    by: str
    make_labeler: Callable[[Schema], Labeler] | None

    def prepare(self, site: str, pages: Pages) -> Callable[[], _HealedSite]:
        return partial(_heal_task, self.catalog.rules_text(site), list(pages), self.make_labeler)

    def record(self, site: str, pages: Pages, result: _HealedSite, version: int) -> SiteOutcome:
        catalog = self.catalog
        run = catalog.start_run(site, "heal")
        rules = Rules.loads(result.text)
        figures = dict(result.figures)
        changes = compare_rules(catalog.rules(site, version), rules)
        figures["changes"] = [asdict(change) for change in changes]
        saved = None
        if changes or result.has_new_bellwethers:
            counts = {name: len(figures[name]) for name in ("healed", "refused", "lost")}
            note = ", ".join(f"{count} {name}" for name, count in counts.items())
            saved = catalog.save_version(
                site, rules, pages, "healed", note, self.by, figures["to_label"], based_on=version
            )
            figures["version"] = saved
        catalog.finish_heal(site, run, figures)
        return SiteOutcome(site, figures=figures, version=saved)

    def record_problem(self, site: str, problem: str) -> None:
        """Store nothing: the alarms that healing is for are still open."""


def _heal_task(
    text: str, pages: Sequence[Page], make_labeler: Callable[[Schema], Labeler] | None
) -> _HealedSite:
    rules = Rules.loads(text)
    healed = heal_site(rules, pages, make_labeler(rules.schema) if make_labeler else None)
    return _HealedSite(healed.rules.dumps(), healed.to_dict(), healed.counts.replaced > 0)


class _SiteRound:
    """A pass over sites: each is claimed, its pages fetched, the work done in worker processes, and recorded here."""

    def __init__(
        self, catalog: Catalog, work: _Work, claims: SiteClaims, since: datetime | None, workers: int | None
    ) -> None:
        self.catalog = catalog
        self.work = work
        self.claims = claims
        self.since = since
        self.workers = SiteWorkers(workers or len(os.sched_getaffinity(0)))
        self.left_out: dict[str, str] = {}
        self.running: dict[str, tuple[Pages, int]] = {}

    def run(
        self, sites: Collection[str], pages: SitePages | None, politeness: Politeness
    ) -> Iterator[SiteOutcome]:
        """Yield the outcome of each site as soon as it is known. Arguments as of `watch_sites`."""
        fresh = self._fetch(sites, politeness) if pages is None else self._claimed(pages)
        without_pages = set(sites)
        with self.workers:
            for site, site_pages in fresh:
                without_pages.discard(site)
                yield from self._start(site, site_pages)
                if self.workers.is_busy:
                    yield self._collect()
            while not self.workers.is_idle:
                yield self._collect()
        for site in sorted(without_pages):
            if reason := self.left_out.get(site):
                yield SiteOutcome(site, left_out=reason)
            else:
                yield self._fail(site, "it has no watched pages that could be fetched")

    def _fetch(self, sites: Collection[str], politeness: Politeness) -> SitePages:
        """Fetch the bellwethers of all sites that can be claimed, hosts in parallel."""
        urls_of = self.catalog.bellwether_urls()
        groups = {}
        for site in sites:
            urls = [url for url in urls_of.get(site, ()) if url.startswith(("http://", "https://"))]
            if urls:
                groups[site] = urls
        return fetch_groups(groups, politeness=politeness, is_wanted=self._claim)

    def _claimed(self, pages: SitePages) -> SitePages:
        """Yield the sites that can be claimed."""
        for site, site_pages in pages:
            if self._claim(site):
                yield site, site_pages

    def _claim(self, site: str) -> bool:
        """Claim a site, or keep the reason why that failed."""
        reason = self.claims.take(site, self.since)
        if reason is not None:
            self.left_out[site] = reason
        return reason is None

    def _start(self, site: str, pages: Pages) -> Iterator[SiteOutcome]:
        """Start the work on a site; yield its outcome if it cannot be done."""
        try:
            version = self.catalog.newest_version(site)
            task = self.work.prepare(site, pages)
        except UntemplateError as error:
            yield self._fail(site, _reason(error, pages))
            self.claims.release(site)
        else:
            self.running[site] = (pages, version)
            self.workers.start(site, task)

    def _collect(self) -> SiteOutcome:
        """Wait for a task, store its result, and return the outcome."""
        site, done = self.workers.collect()
        outcome = self._record(site, done)
        self.claims.release(site)
        return outcome

    def _record(self, site: str, done: Future[Any]) -> SiteOutcome:
        pages, version = self.running.pop(site)
        try:
            return self.work.record(site, pages, done.result(), version)
        except VersionConflict as error:
            return SiteOutcome(site, problem=str(error))
        except Exception as error:  # one site must not end the round, and its outcome says what happened
            return self._fail(site, _reason(error, pages))

    def _fail(self, site: str, problem: str) -> SiteOutcome:
        self.work.record_problem(site, problem)
        return SiteOutcome(site, problem=problem)


def _reason(error: Exception, pages: Pages) -> str:
    """Return why a site could not be done, with the reasons why its pages could not be read."""
    text = str(error) if isinstance(error, UntemplateError) else f"{type(error).__name__}: {error}"
    return f"{text} ({pages.skipped})" if pages.skipped and str(pages.skipped) not in text else text
