"""The flow, in one screen: sources → cluster → sample → label → learn → extract → watch ⟲ (label, learn)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from untemplate.clustering import sample_pages
from untemplate.extraction import Rules
from untemplate.labeling import Label, label_by_embedded, read_labels
from untemplate.learning import (
    AttributeReport,
    Labels,
    LearnedCluster,
    cluster_labeled,
    flatten_rows,
    group_labels,
    labeled_schema,
    learn_parts,
)
from untemplate.page import Page
from untemplate.schema import Schema
from untemplate.sources import as_pages
from untemplate.watching import BorrowedWrapper, Lender, add_bellwethers, borrow_wrapper

__all__ = ["Learned", "learn", "learn_site"]


@dataclass(frozen=True)
class Learned:
    """The rules of a site, and what a person should know about how they were learned."""

    rules: Rules
    labeled: list[LearnedCluster]
    unlabeled: list[BorrowedWrapper]
    ignored: list[str]  # labels that could not be used

    @property
    def reports(self) -> dict[str, list[AttributeReport]]:
        """How learning went for each attribute, by cluster."""
        return {result.wrapper.cluster: result.reports for result in self.labeled}

    @property
    def borrowed(self) -> dict[str, str]:
        """Clusters without labels, with the cluster whose rules they use."""
        return {result.wrapper.cluster: result.lender for result in self.unlabeled if result.lender}

    @property
    def needs_labels(self) -> list[str]:
        """Clusters that have no rules until a person labels more of their pages."""
        results: list[LearnedCluster | BorrowedWrapper] = [*self.labeled, *self.unlabeled]
        return [result.wrapper.cluster for result in results if result.needs_labels]

    @property
    def problems(self) -> list[str]:
        """What was wrong with labels and pages, as sentences."""
        return [*self.ignored, *chain.from_iterable(result.problems for result in self.labeled)]

    @property
    def attributes_to_check(self) -> list[str]:
        """Attributes that were labeled but got no rule, or one that does not return its labels."""
        reports = chain.from_iterable(self.reports.values())
        return list(dict.fromkeys(report.attribute for report in reports if report.needs_check))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rules themselves, as JSON data."""
        clusters = {name: [report.to_dict() for report in reports] for name, reports in self.reports.items()}
        summary = {"borrowed": self.borrowed, "needs_labels": self.needs_labels, "problems": self.problems}
        return {"clusters": clusters, **summary}


def learn(
    pages: Iterable[Page] | Page | str | Path,
    labels: Labels | Mapping[str, str] | str | Path | None = None,
    schema: Schema | str | Path | None = None,
) -> Rules:
    """Cluster the pages of a site, and learn one wrapper for each cluster that has labels.

    Without labels the embedded data of the pages teach, as far as the schema names them. A cluster that has none
    borrows the wrapper of a labeled cluster, if its rules work there.

    Args:
        pages: pages of one site, labeled or not, or the path of a source. They may be a stream; see `cluster` for how
            many are kept.
        labels: values of some pages, or rows that `find_records` returned, or a file of labels, or the values of the
            first page by attribute; None to learn from embedded data.
        schema: the attributes to learn, a schema file, or the name of a ready-made schema. Without one, every labeled
            attribute is a text.

    Raises:
        LabelError: no label is about an attribute of the schema or about one of the pages, or there is no label.

    Example:
        >>> import untemplate as ut
        >>> html = "<h1>{}</h1><p>Tel: <b>{}</b></p>"
        >>> names = {"Grill": "555-0100", "Bistro": "555-0111", "Diner": "555-0122"}
        >>> pages = [ut.Page(id=name, html=html.format(name, phone)) for name, phone in names.items()]
        >>> rules = ut.learn(pages, [ut.Label("Grill", "phone", "555-0100")])
        >>> [record["phone"] for record in rules.extract(pages)]
        ['555-0100', '555-0111', '555-0122']
        >>> ut.learn("<h1>Grill</h1><p>Tel: <b>555-0100</b>", {"phone": "555-0100"}).extract_one(pages[1])["phone"]
        '555-0111'
    """
    if isinstance(labels, Mapping):
        pages = list(as_pages(pages))
        labels = [Label(pages[0].id, name, value) for name, value in labels.items()] if pages else []
    if isinstance(labels, str | Path):
        labels = read_labels(labels)
    if isinstance(schema, str | Path):
        schema = Schema.load(schema)
    return learn_site(as_pages(pages), labels, schema).rules


def learn_site(pages: Iterable[Page], labels: Labels | None = None, schema: Schema | None = None) -> Learned:
    """Learn the rules of a site as `learn` does, and report how that went."""
    if labels is None:
        pages = sample_pages(pages)
        labels = label_by_embedded(pages, schema)
    labels = list(flatten_rows(labels))
    schema = schema or labeled_schema(labels)
    by_page, ignored = group_labels(labels, schema)
    site = cluster_labeled(pages, by_page, schema)
    labeled: list[LearnedCluster] = []
    lenders: list[Lender] = []
    unlabeled = list(site.unlabeled)
    for cluster in site.labeled:
        learned_parts, other_parts = learn_parts(cluster, by_page, schema)
        unlabeled += other_parts
        for part, learned in learned_parts:
            labeled.append(add_bellwethers(learned, part, by_page, schema))
            lenders.append((labeled[-1].wrapper, part.pages))
    borrowed = [borrow_wrapper(cluster, lenders, schema) for cluster in unlabeled]
    wrappers = (*(result.wrapper for result in labeled), *(result.wrapper for result in borrowed))
    schema = replace(schema, rows=any(wrapper.records for wrapper in wrappers))
    return Learned(Rules(schema, wrappers), labeled, borrowed, [*ignored, *site.problems])
