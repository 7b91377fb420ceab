"""The flow, in one screen: sources → cluster → sample → label → learn → extract → watch ⟲ (label, learn)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from untemplate.clustering import sample_pages
from untemplate.extraction import Rules
from untemplate.labeling import Label, label_by_embedded, read_labels, read_templates
from untemplate.learned import Learned
from untemplate.learning import (
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
from untemplate.watching import Lender, add_bellwethers, borrow_wrapper

__all__ = ["learn", "learn_site"]


def learn(
    pages: Iterable[Page] | Page | str | Path,
    labels: Labels | Mapping[str, str] | str | Path | None = None,
    schema: Schema | str | Path | None = None,
    *,
    templates: Mapping[str, str] | None = None,
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
        templates: names that a person gave to the templates of some pages, as for `cluster`; a file of labels may
            have them, too.

    Raises:
        LabelError: no label is about an attribute of the schema or about one of the pages, there is no label, or
            nothing can be learned from the labels, such as when no labeled page can be read.

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
        templates = {**read_templates(labels), **(templates or {})}
        labels = read_labels(labels)
    if isinstance(schema, str | Path):
        schema = Schema.load(schema)
    learned = learn_site(as_pages(pages), labels, schema, templates)
    learned.check_rules()
    return learned.rules


def learn_site(
    pages: Iterable[Page],
    labels: Labels | None = None,
    schema: Schema | None = None,
    templates: Mapping[str, str] | None = None,
) -> Learned:
    """Learn the rules of a site as `learn` does, and report how that went."""
    if labels is None:
        pages = sample_pages(pages)
        labels = label_by_embedded(pages, schema)
    labels = list(flatten_rows(labels))
    schema = schema or labeled_schema(labels)
    by_page, ignored = group_labels(labels, schema)
    site = cluster_labeled(pages, by_page, schema, templates)
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
