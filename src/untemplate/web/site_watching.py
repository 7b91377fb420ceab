"""Watching a site and healing its rules, as jobs. Repaired rules are proposed with their values before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from untemplate.errors import CatalogError, SourceError
from untemplate.page import Page
from untemplate.sources import fetch_pages, read_pages
from untemplate.watching import Alarm, Healed, Report, heal_site, watch
from untemplate.web.background import Job
from untemplate.web.site_updates import MAX_STORED_PAGES
from untemplate.web.workspace import OpenSite, ProposedRepair

__all__ = [
    "ValueChange",
    "approve_repair",
    "compare_values",
    "run_heal",
    "run_watch",
    "take_repair",
]

SHOWN_CHANGES = 5
"""Pages on which a person compares the values of a repaired rule."""


@dataclass(frozen=True)
class ValueChange:
    """The values of an attribute on a page, remembered from before and found by a repaired rule."""

    page: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def run_watch(site: OpenSite, source: str | None, job: Job) -> None:
    """Test the rules on fresh pages, and record the figures and alarms in the catalog.

    Args:
        site: The site to watch.
        source: Where the fresh pages are; None to fetch the bellwethers by their URLs.
        job: The job that counts the pages and gets the result.

    Raises:
        SourceError: There is no source, and the bellwethers have no URLs.
        CatalogError: Another process watches or heals the site.
    """
    with site.catalog.claim(site.name, "watch"):
        _watch_claimed(site, source, job)


def _watch_claimed(site: OpenSite, source: str | None, job: Job) -> None:
    run = site.catalog.start_run(site.name, "watch")
    pages = list(job.counted(_fresh_pages(site, source)))
    job.enter("testing the rules")
    report = watch(site.rules, pages, history=list(_earlier_reports(site)))
    wanted = {bellwether.page for bellwether in site.rules.bellwethers}
    for alarm in report.alarms:
        wanted.update(alarm.pages)
    site.catalog.save_pages(site.name, [page for page in pages if page.id in wanted])
    site.catalog.finish_watch(site.name, report, site.version.number, run)
    site.forget_pages()
    job.result |= {"alarms": len(report.alarms), "clusters": len(report.clusters)}
    job.summary = f"{len(report.alarms)} alarms" if report.alarms else "all rules still work"


def run_heal(site: OpenSite, source: str | None, job: Job) -> None:
    """Repair the rules with fresh pages, and propose the result to a person; `approve_repair` saves it.

    The arguments and exceptions are those of `run_watch`.
    """
    with site.catalog.claim(site.name, "heal"):
        based_on = site.version.number
        pages = list(job.counted(_fresh_pages(site, source)))
        job.enter("learning broken rules again")
        healed = heal_site(site.rules, pages)
        job.enter("comparing values")
        if healed.rules == site.rules:
            job.summary = "all rules still work: nothing to repair"
            return
        site.workspace.repairs[site.name] = ProposedRepair(job.id, based_on, healed, pages, source)
        job.result |= {"healed": len(healed.healed), "lost": len(healed.lost)}
        job.summary = f"{_count_rules(healed)}; approve it in Monitor"


def approve_repair(site: OpenSite, job: int) -> int:
    """Save the rules that a heal job proposed as a new version, watch whether they work, and return the version.

    Raises:
        CatalogError: The job did not propose anything, or somebody has decided about it already.
        VersionConflict: Somebody has saved other rules in the meantime.
    """
    repair = take_repair(site, job)
    healed, pages = repair.healed, repair.pages
    run = site.catalog.start_run(site.name, "heal")
    with site.writing:
        clusters = _store_fresh_pages(site, healed, pages)
        note = _count_rules(healed)
        version = site.catalog.save_rules(
            site.name, healed.rules, "healed", note, site.workspace.user, healed.to_label, repair.based_on
        )
        figures = {**healed.to_dict(), "version": version, "clusters": clusters}
        if repair.source:
            figures["source"] = str(Path(repair.source).resolve())
        site.catalog.finish_heal(site.name, run, figures)
    site.catalog.finish_watch(site.name, watch(healed.rules, pages), version)
    site.forget_pages()
    return version


def take_repair(site: OpenSite, job: int) -> ProposedRepair:
    """Return the rules that a heal job proposed, which no longer wait then; raise CatalogError if there are none."""
    repair = site.workspace.repairs.get(site.name)
    if repair is None or repair.job != job:
        raise CatalogError(f"{site.name}: no repair is waiting; heal the site again")
    del site.workspace.repairs[site.name]
    site.workspace.changes.publish(site.name)
    return repair


def compare_values(site: OpenSite, repair: ProposedRepair, cluster: str, attribute: str) -> list[ValueChange]:
    """Return the values of a repaired rule before and after, on fresh pages of its cluster.

    Pages with a remembered value come first.
    """
    remembered = {
        bellwether.page: bellwether.golden.get(attribute, ())
        for bellwether in site.rules.bellwethers
        if bellwether.page
    }
    changes: list[ValueChange] = []
    for page in sorted(repair.pages, key=lambda page: page.id not in remembered):
        record = repair.healed.rules.extract_one(page)
        if record.cluster == cluster:
            after = tuple(value.text for value in record.values.get(attribute, ()))
            changes.append(ValueChange(page.id, tuple(remembered.get(page.id, ())), after))
        page.release()
        if len(changes) == SHOWN_CHANGES:
            break
    return changes


def _count_rules(healed: Healed) -> str:
    return f"{len(healed.healed)} rules learned again, {len(healed.lost)} lost"


def _fresh_pages(site: OpenSite, source: str | None) -> Iterator[Page]:
    """Yield the pages of a source; without a source, fetch the bellwethers.

    Raises:
        SourceError: There is no source, and no watched page has a URL to fetch.
    """
    if source:
        yield from read_pages(source, **site.figures.get("options", {}))
        return
    urls = [bellwether.url for bellwether in site.rules.bellwethers]
    urls = [url for url in urls if url.startswith(("http://", "https://"))]
    if not urls:
        raise SourceError(f"{site.name}: the watched pages have no URLs to fetch; say where fresh pages are")
    yield from fetch_pages(urls, render=site.figures.get("options", {}).get("render", False))


def _earlier_reports(site: OpenSite) -> Iterator[Report]:
    """Yield the alarms of earlier watch runs, the latest last.

    Runs that were interrupted, or that recorded only the number of alarms, are skipped.
    """
    for run in site.catalog.runs(site.name, "watch"):
        if run.finished and isinstance(run.figures.get("alarms"), list):
            yield Report([_alarm_from_figures(figures) for figures in run.figures["alarms"]], [])


def _alarm_from_figures(figures: Mapping[str, Any]) -> Alarm:
    since = datetime.fromisoformat(figures["since"]) if figures["since"] else None
    return Alarm(**{**figures, "pages": tuple(figures["pages"]), "since": since})


def _store_fresh_pages(site: OpenSite, healed: Healed, pages: Sequence[Page]) -> dict[str, Any]:
    """Store fresh pages of each cluster, and return the size and the stored pages of each, those to label first.

    Args:
        site: The site of the pages.
        healed: The repaired rules, which assign the pages to clusters, and the pages that a person has to label.
        pages: All fresh pages. Pages that belong to no cluster are not stored.
    """
    stored: dict[str, list[Page]] = {wrapper.cluster: [] for wrapper in healed.rules.wrappers}
    sizes = dict.fromkeys(stored, 0)
    for page in pages:
        cluster = healed.rules.extract_one(page).cluster
        if cluster is None:
            continue
        sizes[cluster] += 1
        if len(stored[cluster]) < MAX_STORED_PAGES or page.id in healed.to_label.get(cluster, ()):
            stored[cluster].append(page)
        page.release()
    figures = {}
    for cluster, cluster_pages in stored.items():
        site.catalog.save_pages(site.name, cluster_pages)
        ids = dict.fromkeys([*healed.to_label.get(cluster, ()), *(page.id for page in cluster_pages)])
        figures[cluster] = {"size": sizes[cluster], "pages": list(ids)}
    return figures
