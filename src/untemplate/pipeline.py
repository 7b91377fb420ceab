"""The flow, readable in one screen: pages and labels to the rules of a site.

sources → cluster → sample → label → learn → extract → watch ⟲ (label, learn)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from untemplate.clustering import Cluster, cluster
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.labeling.list_labels import labels_of_rows
from untemplate.learning import (
    AttributeReport,
    LabelsByPage,
    LearnedCluster,
    empty_wrapper,
    group_labels,
    labeled_schema,
    labels_of_page,
    learn_cluster,
)
from untemplate.lists import Row
from untemplate.page import Page
from untemplate.schema import Schema
from untemplate.watching.bellwethers import finish_wrapper, watchable_pages
from untemplate.watching.reusing import find_lender, lend_wrapper

__all__ = ["Learned", "learn", "learn_site"]


@dataclass(frozen=True)
class Learned:
    """The rules of a site, and what a person should know about how they were learned."""

    rules: Rules
    reports: dict[str, list[AttributeReport]]  # by cluster
    borrowed: dict[str, str]  # cluster → the cluster whose rules it uses
    needs_labels: list[str]  # clusters
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rules themselves, as JSON data."""
        return {
            "clusters": {name: [report.to_dict() for report in self.reports[name]] for name in self.reports},
            "borrowed": self.borrowed,
            "needs_labels": self.needs_labels,
            "problems": self.problems,
        }


def learn(
    pages: Iterable[Page], labels: Iterable[Label] | Iterable[Row], schema: Schema | None = None
) -> Rules:
    """Cluster the pages of a site, and learn one wrapper for each cluster that has labels.

    A cluster without labels borrows the wrapper of a labeled cluster, if its rules work there.

    Args:
        pages: pages of one site, labeled or not.
        labels: which values are on some of the pages; rows that `find_records` returned are labels, too.
        schema: the attributes to learn. Without one, every labeled attribute is a text.

    Raises:
        LabelError: no label is about an attribute of the schema, or none about one of the pages.

    Example:
        >>> import untemplate as ut
        >>> html = "<h1>{}</h1><p>Tel: <b>{}</b></p>"
        >>> names = {"Grill": "555-0100", "Bistro": "555-0111", "Diner": "555-0122"}
        >>> pages = [ut.Page(id=name, html=html.format(name, phone)) for name, phone in names.items()]
        >>> rules = ut.learn(pages, [ut.Label("Grill", "phone", "555-0100")])
        >>> [record["phone"] for record in rules.extract(pages)]
        ['555-0100', '555-0111', '555-0122']
    """
    return learn_site(pages, labels, schema).rules


def learn_site(
    pages: Iterable[Page], labels: Iterable[Label] | Iterable[Row], schema: Schema | None = None
) -> Learned:
    """Learn the rules of a site as `learn` does, and report how that went."""
    pages, labels = list(pages), list(_flatten_rows(labels))
    schema = schema or labeled_schema(labels)
    by_page, problems = group_labels(labels, pages, schema)
    clusters = _cluster_pages(pages, by_page)
    learned = [
        (group, _learn_wrapper(group, by_page, schema)) for group in clusters if _is_labeled(group, by_page)
    ]
    needs_labels = [group.id for group, result in learned if result.needs_labels]
    wrappers = [result.wrapper for _, result in learned]
    lenders = [(result.wrapper, group.pages) for group, result in learned]
    borrowed: dict[str, str] = {}
    for group in clusters:
        if _is_labeled(group, by_page):
            continue
        if lender := find_lender(group, lenders, schema):
            borrowed[group.id] = lender.cluster
            wrappers.append(lend_wrapper(lender, group, schema))
        else:
            needs_labels.append(group.id)
            wrappers.append(empty_wrapper(group))
    for _, result in learned:
        problems += result.problems
    rules = Rules(replace(schema, rows=any(wrapper.records for wrapper in wrappers)), tuple(wrappers))
    reports = {group.id: result.reports for group, result in learned}
    return Learned(rules, reports, borrowed, needs_labels, problems)


def _flatten_rows(labels: Iterable[Label] | Iterable[Row]) -> Iterator[Label]:
    for label in labels:
        yield from labels_of_rows([label]) if isinstance(label, Row) else [label]


def _cluster_pages(pages: list[Page], labels: LabelsByPage) -> list[Cluster]:
    """Return the site's clusters; labeled pages that fit none form their own."""
    clusters = cluster(pages)
    strays = [page for page in clusters.unassigned if labels_of_page(page, labels)]
    return [*clusters, *cluster(strays)] if strays else list(clusters)


def _is_labeled(group: Cluster, labels: LabelsByPage) -> bool:
    return any(labels_of_page(page, labels) for page in group.pages)


def _learn_wrapper(group: Cluster, labels: LabelsByPage, schema: Schema) -> LearnedCluster:
    """Learn a cluster, and choose its bellwethers. Lists have none: they show other records every day."""
    learned = learn_cluster(group, labels, schema)
    wrapper = learned.wrapper
    if not learned.is_list:
        candidates = watchable_pages(group, learned.labeled_pages, learned.sample_pages)
        page_labels = {page.id: labels_of_page(page, labels) for page in learned.labeled_pages}
        wrapper = finish_wrapper(wrapper, candidates, schema, page_labels)
    learned.release_pages()
    return replace(learned, wrapper=wrapper)
