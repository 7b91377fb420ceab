"""A look at a site as it is now: watch whether the rules still hold, and heal those that do not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from untemplate.errors import SourceError
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.sources import fetch_pages, read_pages
from untemplate.watching import Alarm, Healed, Report, heal_site, watch
from untemplate.web.intake import KEPT
from untemplate.web.jobs import Job
from untemplate.web.sites import OpenSite

__all__ = ["heal_round", "watch_round"]


def watch_round(site: OpenSite, source: str | None, job: Job) -> None:
    """Look at fresh pages, or at the watched ones fetched anew; figures and alarms go into the catalog."""
    run = site.catalog.start_run(site.name, "watch")
    pages = list(job.counted(_fresh(site, source)))
    report = watch(site.rules, pages, history=list(_reports(site)))
    watched = {one.page for wrapper in site.rules.wrappers for one in wrapper.bellwethers}
    named = {page for alarm in report.alarms for page in alarm.pages}
    site.catalog.save_pages(site.name, [page for page in pages if page.id in watched | named])
    _finish(site, run, site.rules, report)
    site.forget_pages()
    job.result |= {"alarms": len(report.alarms), "clusters": len(report.clusters)}


def heal_round(site: OpenSite, source: str | None, job: Job) -> None:
    """Repair the rules with fresh pages, save them as a version, and look whether they hold."""
    run = site.catalog.start_run(site.name, "heal")
    pages = list(job.counted(_fresh(site, source)))
    healed = heal_site(site.rules, pages)
    with site.writing:
        clusters = _keep(site, healed.rules, pages, healed.to_label)
        version = site.catalog.save_rules(
            site.name, healed.rules, "healed", _note(healed), site.desk.by, healed.to_label
        )
        result = {
            "version": version,
            "healed": [asdict(repair) for repair in healed.healed],
            "lost": [asdict(loss) for loss in healed.lost],
            "reused": healed.reused,
            "to_label": healed.to_label,
        }
        site.catalog.finish_run(run, {**result, "clusters": clusters})
    _finish(site, site.catalog.start_run(site.name, "watch"), healed.rules, watch(healed.rules, pages))
    site.forget_pages()
    job.result |= result


def _fresh(site: OpenSite, source: str | None) -> Iterator[Page]:
    """The pages of a source; without one, the watched pages as their hosts give them now."""
    if source:
        yield from read_pages(source, **site.figures.get("columns", {}))
        return
    watched = [one.url for wrapper in site.rules.wrappers for one in wrapper.bellwethers]
    urls = [url for url in watched if url.startswith(("http://", "https://"))]
    if not urls:
        raise SourceError(f"{site.name}: the watched pages have no URLs to fetch; say where fresh pages are")
    yield from fetch_pages(urls)


def _finish(site: OpenSite, run: int, rules: Rules, report: Report) -> None:
    seen = {one.cluster for one in report.clusters}
    unseen = {wrapper.cluster for wrapper in rules.wrappers} - seen
    site.catalog.record_alarms(site.name, run, report.alarms, unseen)
    site.catalog.finish_run(
        run,
        {
            "clusters": [asdict(one) for one in report.clusters],
            "alarms": [
                {**asdict(one), "since": one.since and one.since.isoformat()} for one in report.alarms
            ],
        },
    )


def _reports(site: OpenSite) -> Iterator[Report]:
    """Earlier reports, the latest last."""
    for run in site.catalog.runs(site.name, "watch"):
        if run.finished and isinstance(run.figures.get("alarms"), list):
            yield Report([_alarm(one) for one in run.figures["alarms"]], [])


def _alarm(kept: Mapping[str, Any]) -> Alarm:
    since = kept["since"]
    return Alarm(**{**kept, "pages": tuple(kept["pages"]), "since": since and datetime.fromisoformat(since)})


def _keep(
    site: OpenSite, rules: Rules, pages: Iterable[Page], to_label: Mapping[str, list[str]]
) -> dict[str, Any]:
    """Keep fresh pages of each cluster, those to label first; what is kept of which cluster."""
    kept: dict[str, list[Page]] = {wrapper.cluster: [] for wrapper in rules.wrappers}
    sizes = dict.fromkeys(kept, 0)
    for page in pages:
        cluster = rules.extract_one(page).cluster
        if cluster is None:
            continue
        sizes[cluster] += 1
        if len(kept[cluster]) < KEPT or page.id in to_label.get(cluster, ()):
            kept[cluster].append(page)
        page.release()
    for group in kept.values():
        site.catalog.save_pages(site.name, group)
    return {
        cluster: {
            "size": sizes[cluster],
            "pages": list(dict.fromkeys([*to_label.get(cluster, ()), *(page.id for page in group)])),
        }
        for cluster, group in kept.items()
    }


def _note(healed: Healed) -> str:
    return f"{len(healed.healed)} rules learnt anew, {len(healed.lost)} lost"
