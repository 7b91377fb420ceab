"""What people make of a site: adding it with its templates, and saving what its labels teach as a new version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from untemplate.catalog import Catalog
from untemplate.clustering import Cluster, guess_kinds
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.learning import empty_wrapper, fit_wrapper, learning_sample
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.sources import Pages
from untemplate.watching import borrow_wrapper, finish_wrapper, watchable_pages
from untemplate.web.list_labels import learn_list_wrapper
from untemplate.web.workspace import SAMPLE_PAGES, OpenSite

__all__ = ["MAX_STORED_PAGES", "add_site", "draft_rules", "is_draft_saved", "save_draft"]

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
    """Return the newest rules, but for clusters with changed labels the rules that these teach."""
    changed, changed_lists = site.changed_attributes(), site.changed_lists()
    wrappers = []
    for wrapper in site.rules.wrappers:
        draft: Wrapper | None = wrapper
        if wrapper.cluster in changed_lists:
            draft = learn_list_wrapper(site, wrapper.cluster)
        elif changed.get(wrapper.cluster):
            draft = site.session(wrapper.cluster).wrapper
        wrappers.append(draft or wrapper)
    schema = replace(site.schema, rows=site.schema.rows or any(wrapper.records for wrapper in wrappers))
    return Rules(schema, tuple(wrappers))


def is_draft_saved(site: OpenSite) -> bool:
    """Return True if the newest version has the rules that the labels teach."""
    pairs = zip(draft_rules(site).wrappers, site.rules.wrappers, strict=True)
    return all((draft.rules, draft.records) == (saved.rules, saved.records) for draft, saved in pairs)


def save_draft(site: OpenSite, note: str = "") -> int:
    """Save the rules that the labels teach as a new version, and return its number.

    Clusters without labels borrow the rules of another cluster if these extract from their pages.

    Raises:
        VersionConflict: Another server has saved a version that this one did not know yet.
    """
    with site.writing:
        based_on = site.version.number
        drafts = draft_rules(site)
        wrappers = drafts.wrappers
        clusters = {wrapper.cluster: site.stored_cluster(wrapper) for wrapper in wrappers}
        own = [wrapper for wrapper in wrappers if wrapper.rules and not _is_borrowed(site, wrapper)]
        lenders = [(wrapper, clusters[wrapper.cluster].pages) for wrapper in own]
        saved = []
        for wrapper in wrappers:
            cluster = clusters[wrapper.cluster]
            if wrapper in own:
                saved.append(_choose_watched_pages(site, wrapper, cluster))
            else:
                saved.append(borrow_wrapper(cluster, lenders, site.schema).wrapper)
        rules = Rules(drafts.schema, tuple(saved))
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
    saved = site.wrapper(wrapper.cluster)
    if (wrapper.rules, wrapper.records) == (saved.rules, saved.records):
        return wrapper
    labels: dict[str, list[Label]] = {}
    for stored in site.labels():
        labels.setdefault(stored.label.page, []).append(stored.label)
    labeled = [page for page in cluster.pages if page.id in labels]
    unlabeled = [page for page in cluster.pages[:SAMPLE_PAGES] if page.id not in labels]
    return finish_wrapper(wrapper, watchable_pages(cluster, labeled, unlabeled), site.schema, labels)
