"""A person corrects clusters: some are one template, or a page is of another template than its cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import numpy as np

from untemplate.clustering.clusters import Cluster, Clustering
from untemplate.errors import InputError
from untemplate.page import Page
from untemplate.page.arrays import Hashes
from untemplate.page.tag_arrays import read_tags
from untemplate.page.traits import class_pairs, tag_runs

__all__ = ["correct_clusters", "name_templates"]


def name_templates(clusters: Iterable[Cluster]) -> dict[str, str]:
    """Return the template of each page by the page's id: the id of its cluster.

    `cluster` makes the same clusters again if it gets these names.
    """
    names: dict[str, str] = {}
    for cluster in clusters:
        names |= dict.fromkeys((page.id for page in cluster.pages), cluster.id)
    return names


def correct_clusters(
    clustering: Clustering, merged: Iterable[Sequence[str]] = (), split: Iterable[str] = ()
) -> dict[str, str]:
    """Return names of templates, by page id, for which `cluster` makes the clusters that a person wants.

    Args:
        clustering: the clusters to correct.
        merged: ids of clusters that are one template, such as `["c1", "c3"]`.
        split: ids or URLs of pages that are of another template than their cluster. Pages that are more like such a
            page than like the rest of the cluster go with it.

    Raises:
        InputError: there is no such cluster, or no such page in one.

    Example:
        >>> from untemplate import Page, cluster
        >>> pages = [Page(f"http://a.com/{n}", "<h1>x</h1>" + "<p>y" * n, id=str(n)) for n in range(6)]
        >>> names = correct_clusters(cluster(pages), split=["5"])
        >>> [[page.id for page in found.pages] for found in cluster(pages, templates=names)]
        [['2', '3', '4', '5'], ['0', '1']]
    """
    clusters = {cluster.id: cluster for cluster in clustering}
    first_of = {name: name for name in clusters}
    for names in merged:
        for name in names:
            _check_cluster(name, clusters)
            first_of[name] = first_of[names[0]]
    templates = {page: first_of[name] for page, name in name_templates(clustering).items()}
    for number, name in enumerate(split, 1):
        page, cluster = _find_page(name, clustering)
        others = [other for other in cluster.pages if templates.get(other.id) == first_of[cluster.id]]
        for other in others:
            del templates[other.id]
        templates[_least_similar(page, others).id] = first_of[cluster.id]
        templates[page.id] = f"{cluster.id}-{number}"
    return templates


def _check_cluster(name: str, clusters: Mapping[str, Cluster]) -> None:
    if name not in clusters:
        raise InputError(f"{name}: no such cluster; there are {', '.join(clusters) or 'none'}")


def _find_page(name: str, clustering: Clustering) -> tuple[Page, Cluster]:
    """Return the page with an id or URL, and its cluster."""
    known: list[str] = []
    for cluster in clustering:
        for page in cluster.pages:
            if name in (page.id, page.url):
                return page, cluster
            known.append(page.id)
    close = get_close_matches(name, known, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    raise InputError(f"{name}: no cluster has a page with this id or URL{hint}")


def _least_similar(page: Page, others: Sequence[Page]) -> Page:
    """Return the page whose markup has least in common with that of a page."""
    traits = _markup_traits(page)
    return min(others, key=lambda other: _share_in_common(traits, _markup_traits(other)))


def _markup_traits(page: Page) -> Hashes:
    tags = read_tags(page.html)
    return np.union1d(tag_runs(tags), class_pairs(tags))


def _share_in_common(first: Hashes, second: Hashes) -> float:
    return len(np.intersect1d(first, second)) / max(1, len(np.union1d(first, second)))
