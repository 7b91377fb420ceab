"""What writes new versions of a site: adding a site, saving what its labels teach, watching it, and healing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

from untemplate.catalog import Catalog
from untemplate.clustering import Cluster, guess_kinds
from untemplate.errors import SourceError
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.learning import empty_wrapper, fit_wrapper, learning_sample
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.sources import Pages, fetch_pages, read_pages
from untemplate.watching import (
    Alarm,
    Healed,
    Report,
    borrow_wrapper,
    finish_wrapper,
    heal_site,
    watch,
    watchable_pages,
)
from untemplate.web.background import Job
from untemplate.web.workspace import SAMPLE_PAGES, OpenSite

__all__ = ["add_site", "draft_rules", "is_draft_saved", "run_heal", "run_watch", "save_draft"]

MAX_STORED_PAGES = 100
"""Pages of a cluster that the catalog stores: the sample to label, and others to review."""


# Adding a site


def add_site(
    catalog: Catalog,
    name: str,
    clusters: Iterable[Cluster],
    schema: Schema,
    pages: Pages,
    options: dict[str, Any],
) -> None:
    """Store the clusters of a site and some of their pages in the catalog, so that people can label them.

    Rules that the catalog already has for a cluster stay.

    Args:
        catalog: Where to store them.
        name: The name of the site.
        clusters: The clusters of its pages.
        schema: What to extract.
        pages: The source of the pages; an export reads it again.
        options: How the source is read: the names of its columns, and whether scripts run; see `read_pages`.
    """
    run = catalog.start_run(name, "annotate")
    old_wrappers = _stored_wrappers(catalog, name, schema)
    wrappers: list[Wrapper] = []
    figures: dict[str, dict[str, Any]] = {}
    stored_clusters: list[Cluster] = []
    for cluster in clusters:
        stored = _pages_to_store(cluster)
        catalog.save_pages(name, stored)
        wrappers.append(_describe_cluster(cluster, old_wrappers))
        figures[cluster.id] = {"size": cluster.size, "pages": [page.id for page in stored]}
        stored_clusters.append(cluster)
    for cluster, kind in zip(stored_clusters, guess_kinds(stored_clusters), strict=True):
        figures[cluster.id] |= {"kind": kind.name, "kind_reason": kind.reason}
    rules = Rules(schema, tuple(wrappers))
    if not catalog.history(name) or catalog.rules(name) != rules:
        catalog.save_rules(name, rules, "learned", f"templates of {pages.source}")
    source = str(Path(pages.source).resolve())
    catalog.finish_run(run, {"source": source, "options": options, "clusters": figures})


def _pages_to_store(cluster: Cluster) -> list[Page]:
    """Return the pages worth labeling, best first, and random others."""
    chosen = learning_sample(cluster, ())
    chosen_ids = {id(page) for page in chosen}
    rest = [page for page in cluster.pages if id(page) not in chosen_ids]
    return chosen + Random(0).sample(rest, min(len(rest), MAX_STORED_PAGES - len(chosen)))


def _stored_wrappers(catalog: Catalog, name: str, schema: Schema) -> dict[str, Wrapper]:
    """Return the wrappers of the newest rules by cluster; none if the rules have another schema."""
    if not catalog.history(name):
        return {}
    rules = catalog.rules(name)
    return rules.by_cluster if rules.schema == schema else {}


def _describe_cluster(cluster: Cluster, old_wrappers: Mapping[str, Wrapper]) -> Wrapper:
    """Return the wrapper of a cluster with its current signatures; its rules stay if the template is the same."""
    wrapper = old_wrappers.get(cluster.id)
    if wrapper is None or set(wrapper.signatures).isdisjoint(cluster.signatures):
        return empty_wrapper(cluster)
    return fit_wrapper(wrapper, cluster)


# Saving what the labels teach


def draft_rules(site: OpenSite) -> Rules:
    """Return the newest rules, but for clusters with changed labels the rules that their sessions have learned."""
    changed = site.changed_attributes()
    wrappers = (
        site.session(wrapper.cluster).wrapper if changed.get(wrapper.cluster) else wrapper
        for wrapper in site.rules.wrappers
    )
    return Rules(site.schema, tuple(wrappers))


def is_draft_saved(site: OpenSite) -> bool:
    """Return True if the newest version has the rules that the labels teach."""
    pairs = zip(draft_rules(site).wrappers, site.rules.wrappers, strict=True)
    return all(draft.rules == saved.rules for draft, saved in pairs)


def save_draft(site: OpenSite, note: str = "") -> int:
    """Save the rules that the labels teach as a new version, and return its number.

    Clusters without labels borrow the rules of another cluster if these extract from their pages.

    Raises:
        VersionConflict: Another server has saved a version that this one did not know yet.
    """
    with site.writing:
        based_on = site.version.number
        wrappers = draft_rules(site).wrappers
        clusters = {wrapper.cluster: _stored_cluster(site, wrapper) for wrapper in wrappers}
        own = [wrapper for wrapper in wrappers if wrapper.rules and not _is_borrowed(site, wrapper)]
        lenders = [(wrapper, clusters[wrapper.cluster].pages) for wrapper in own]
        saved = []
        for wrapper in wrappers:
            cluster = clusters[wrapper.cluster]
            if wrapper in own:
                saved.append(_choose_watched_pages(site, wrapper, cluster))
            else:
                saved.append(borrow_wrapper(cluster, lenders, site.schema).wrapper)
        rules = Rules(site.schema, tuple(saved))
        version = site.catalog.save_rules(
            site.name, rules, "learned", note, site.workspace.user, based_on=based_on
        )
    site.workspace.changes.publish(site.name)
    return version


def _is_borrowed(site: OpenSite, wrapper: Wrapper) -> bool:
    """Return True if the rules of a cluster are those of another cluster, not learned from its own labels.

    Borrowed rules are chosen anew at each save, because their owner may have learned better ones.
    """
    if site.labeled_pages(wrapper.cluster):
        return False
    saved_rules = site.wrapper(wrapper.cluster).rules
    other_wrappers = [other for other in site.rules.wrappers if other.cluster != wrapper.cluster]
    return any(other.rules == saved_rules for other in other_wrappers)


def _choose_watched_pages(site: OpenSite, wrapper: Wrapper, cluster: Cluster) -> Wrapper:
    """Return the wrapper with pages to watch, chosen again if its rules have changed.

    Args:
        site: The site of the cluster.
        wrapper: The wrapper with the rules to save.
        cluster: The cluster with its stored pages.
    """
    if wrapper.rules == site.wrapper(wrapper.cluster).rules:
        return wrapper
    labels: dict[str, list[Label]] = {}
    for stored in site.labels():
        labels.setdefault(stored.label.page, []).append(stored.label)
    labeled = [page for page in cluster.pages if page.id in labels]
    unlabeled = [page for page in cluster.pages[:SAMPLE_PAGES] if page.id not in labels]
    return finish_wrapper(wrapper, watchable_pages(cluster, labeled, unlabeled), site.schema, labels)


def _stored_cluster(site: OpenSite, wrapper: Wrapper) -> Cluster:
    """Return a cluster with the pages that the catalog has of it."""
    pages = [site.catalog.page(site.name, id) for id in site.pages[wrapper.cluster]]
    return Cluster(
        wrapper.cluster, pages, wrapper.signatures, wrapper.importance, wrapper.url_pattern, wrapper.core
    )


# Watching and healing


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
    report = watch(site.rules, pages, history=list(_earlier_reports(site)))
    wanted = {bellwether.page for bellwether in site.rules.bellwethers}
    for alarm in report.alarms:
        wanted.update(alarm.pages)
    site.catalog.save_pages(site.name, [page for page in pages if page.id in wanted])
    site.catalog.finish_watch(site.name, report, site.version.number, run)
    site.forget_pages()
    job.result |= {"alarms": len(report.alarms), "clusters": len(report.clusters)}


def run_heal(site: OpenSite, source: str | None, job: Job) -> None:
    """Repair the rules with fresh pages, save them as a new version, and watch whether they work.

    The arguments and exceptions are those of `run_watch`.
    """
    with site.catalog.claim(site.name, "heal"):
        _heal_claimed(site, source, job)


def _heal_claimed(site: OpenSite, source: str | None, job: Job) -> None:
    run = site.catalog.start_run(site.name, "heal")
    based_on = site.version.number
    pages = list(job.counted(_fresh_pages(site, source)))
    healed = heal_site(site.rules, pages)
    with site.writing:
        clusters = _store_fresh_pages(site, healed, pages)
        note = f"{len(healed.healed)} rules learned again, {len(healed.lost)} lost"
        version = site.catalog.save_rules(
            site.name, healed.rules, "healed", note, site.workspace.user, healed.to_label, based_on
        )
        result = {
            "version": version,
            "healed": [asdict(repair) for repair in healed.healed],
            "lost": [asdict(loss) for loss in healed.lost],
            "reused": healed.reused,
            "to_label": healed.to_label,
        }
        site.catalog.finish_run(run, {**result, "clusters": clusters})
    site.catalog.finish_watch(site.name, watch(healed.rules, pages), version)
    site.forget_pages()
    job.result |= result


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
