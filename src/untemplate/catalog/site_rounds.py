"""Watch or heal all sites of a catalog: one call a day. Hosts are fetched in parallel, and sites judged as they come.

A site that cannot be reached, or whose rules cannot be used, costs its own outcome and never the round. What was done
is in the catalog at once, so a round that is interrupted continues with the other sites.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from multiprocessing import get_context
from random import Random
from typing import Any, TypeVar

from untemplate.catalog.catalog import Catalog
from untemplate.errors import SourceError, UntemplateError, VersionConflict
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.rules.in_words import compare_rules
from untemplate.sources import Pages, Politeness, fetch_groups
from untemplate.sources.fetch import DEFAULT_POLITENESS
from untemplate.watching import Alarm, Report, heal_site, watch

__all__ = ["SiteOutcome", "heal_sites", "sites_to_heal", "sites_to_watch", "split_by_site", "watch_sites"]

# Pages of a mixed crawl that are kept for each site besides its bellwethers. Healing learns from 60 of a cluster.
MAX_OTHER_PAGES = 500

T = TypeVar("T")


@dataclass(frozen=True)
class SiteOutcome:
    """What a round did with one site.

    Attributes:
        site: The name of the site.
        alarms: The alarms that watching raised, or still raises.
        figures: What the catalog keeps of the run.
        version: The version that healing saved; None if it changed nothing.
        problem: Why the site could not be watched or healed, in one line.
    """

    site: str
    alarms: Sequence[Alarm] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None
    problem: str | None = None

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
    politeness: Politeness = DEFAULT_POLITENESS,
    workers: int | None = None,
) -> Iterator[SiteOutcome]:
    """Watch sites, record their figures and alarms, and yield the outcome of each as soon as it is known.

    Args:
        catalog: The catalog.
        sites: The sites to watch.
        pages: The fresh pages of each site, such as `split_by_site` returns; None to fetch their bellwethers.
        politeness: How to fetch.
        workers: Processes that compare pages; one per core by default, and 1 for none besides this one.
    """

    is_request = pages is None

    def prepare(site: str, pages: Pages) -> tuple[Any, ...]:
        return catalog.rules_text(site), list(pages), list(catalog.alarms(site)), is_request

    def record(site: str, pages: Pages, report: Report, version: int) -> SiteOutcome:
        run = catalog.start_run(site, "watch")
        clusters = set(catalog.rules(site, version).by_cluster)
        watched = {figures.cluster for figures in report.clusters}
        catalog.record_alarms(site, run, report.alarms, clusters - watched)
        catalog.finish_run(run, report.to_dict())
        return SiteOutcome(site, report.alarms, report.to_dict())

    fresh = _fetch_sites(catalog, sites, politeness) if pages is None else pages
    yield from _run_sites(catalog, sites, fresh, workers, _watch_task, prepare, record)


def heal_sites(
    catalog: Catalog,
    sites: Collection[str],
    pages: SitePages | None = None,
    *,
    by: str = "",
    politeness: Politeness = DEFAULT_POLITENESS,
    workers: int | None = None,
) -> Iterator[SiteOutcome]:
    """Heal sites, save what changed as new versions, and yield the outcome of each as soon as it is known.

    Nothing is saved for a site whose rules somebody else changed in the meantime. The arguments are those of
    `watch_sites`, and `by` is the person who heals.
    """

    def prepare(site: str, pages: Pages) -> tuple[Any, ...]:
        return catalog.rules_text(site), list(pages)

    def record(site: str, pages: Pages, healed: _HealedSite, version: int) -> SiteOutcome:
        run = catalog.start_run(site, "heal")
        rules = Rules.loads(healed.text)
        figures = dict(healed.figures)
        changes = compare_rules(catalog.rules(site, version), rules)
        figures["changes"] = [asdict(change) for change in changes]
        saved = None
        if changes or healed.has_new_bellwethers:
            counts = {name: len(figures[name]) for name in ("healed", "refused", "lost")}
            note = ", ".join(f"{count} {name}" for name, count in counts.items())
            saved = catalog.save_version(
                site, rules, pages, "healed", note, by, figures["to_label"], based_on=version
            )
            figures["version"] = saved
        catalog.finish_run(run, figures)
        return SiteOutcome(site, figures=figures, version=saved)

    fresh = _fetch_sites(catalog, sites, politeness) if pages is None else pages
    yield from _run_sites(catalog, sites, fresh, workers, _heal_task, prepare, record)


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


def _fetch_sites(catalog: Catalog, sites: Collection[str], politeness: Politeness) -> SitePages:
    """Fetch the bellwethers of all sites, hosts in parallel."""
    urls_of = catalog.bellwether_urls()
    groups = {}
    for site in sites:
        urls = [url for url in urls_of.get(site, ()) if url.startswith(("http://", "https://"))]
        if urls:
            groups[site] = urls
    return fetch_groups(groups, politeness=politeness)


@dataclass(frozen=True)
class _HealedSite:
    """What healing made of a site, as it travels between processes."""

    text: str
    figures: dict[str, Any]
    has_new_bellwethers: bool


def _watch_task(text: str, pages: Sequence[Page], open_alarms: list[Alarm], is_request: bool) -> Report:
    rules = Rules.loads(text)
    report = watch(rules, pages, history=[Report(open_alarms)], is_request=is_request)
    if not report.clusters:
        raise SourceError("none of its bellwethers could be read")
    return report


def _heal_task(text: str, pages: Sequence[Page]) -> _HealedSite:
    healed = heal_site(Rules.loads(text), pages)
    return _HealedSite(healed.rules.dumps(), healed.to_dict(), healed.counts.replaced > 0)


def _run_sites(
    catalog: Catalog,
    sites: Collection[str],
    fresh: SitePages,
    workers: int | None,
    task: Callable[..., T],
    prepare: Callable[[str, Pages], tuple[Any, ...]],
    record: Callable[[str, Pages, T, int], SiteOutcome],
) -> Iterator[SiteOutcome]:
    """Run a task for each site in worker processes, and record its result in this one.

    Args:
        catalog: The catalog.
        sites: The sites.
        fresh: Their fresh pages, as they come.
        workers: Processes; see `watch_sites`.
        task: The work; it may run in another process.
        prepare: Returns the arguments of the task.
        record: Stores the result of the task, given the version of the rules that it used.
    """
    without_pages = set(sites)
    with ExitStack() as stack:
        workers = workers or len(os.sched_getaffinity(0))
        pool = (
            stack.enter_context(ProcessPoolExecutor(workers, get_context("spawn"))) if workers > 1 else None
        )
        running: dict[Future[T], tuple[str, Pages, int]] = {}
        for site, pages in fresh:
            without_pages.discard(site)
            try:
                version = catalog.newest_version(site)
                arguments = prepare(site, pages)
            except UntemplateError as error:
                yield SiteOutcome(site, problem=_reason(error, pages))
                continue
            running[_submit(pool, task, arguments)] = (site, pages, version)
            if len(running) > workers:
                yield from _collect_done(running, record)
        while running:
            yield from _collect_done(running, record)
    for site in sorted(without_pages):
        yield SiteOutcome(site, problem="it has no bellwethers that could be fetched")


def _submit(
    pool: ProcessPoolExecutor | None, task: Callable[..., T], arguments: tuple[Any, ...]
) -> Future[T]:
    """Start a task in another process, or do it here."""
    if pool is not None:
        return pool.submit(task, *arguments)
    done: Future[T] = Future()
    try:
        done.set_result(task(*arguments))
    except Exception as error:  # as a pool does: whoever asks for the result gets it
        done.set_exception(error)
    return done


def _collect_done(
    running: dict[Future[T], tuple[str, Pages, int]],
    record: Callable[[str, Pages, T, int], SiteOutcome],
) -> Iterator[SiteOutcome]:
    """Wait for a task, and yield the outcomes of all that are done."""
    for done in wait(running, return_when=FIRST_COMPLETED).done:
        site, pages, version = running.pop(done)
        try:
            yield record(site, pages, done.result(), version)
        except VersionConflict as error:
            yield SiteOutcome(site, problem=str(error))
        except Exception as error:  # one site must not end the round, and its outcome says what happened
            yield SiteOutcome(site, problem=_reason(error, pages))


def _reason(error: Exception, pages: Pages) -> str:
    """Return why a site could not be done, with the reasons why its pages could not be read."""
    text = str(error) if isinstance(error, UntemplateError) else f"{type(error).__name__}: {error}"
    return f"{text} ({pages.skipped})" if pages.skipped and str(pages.skipped) not in text else text
