"""The wrapper of one cluster, learned from the labels of some of its pages (Vertex III-C).

This is the one place where a cluster is learned. `learn_cluster` chooses the pages to learn from, decides whether
they show one record each or lists, and reports what a person should know. Its last step, `learn_sample`, learns from
pages that are chosen already: `heal` and the web server call it with pages that they keep parsed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import chain
from random import Random

from untemplate.clustering import Cluster
from untemplate.clustering import cluster as cluster_pages
from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.labeling.list_labels import labels_of_rows
from untemplate.learning.list_rules import learn_list
from untemplate.learning.reports import AttributeReport, find_example_values
from untemplate.learning.sample_rules import learn_sample
from untemplate.learning.sample_table import SampleTable
from untemplate.lists import Row
from untemplate.page import Page, names_of_pages
from untemplate.rules import Wrapper
from untemplate.rules.applying import apply_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.sampling import sample
from untemplate.schema import Attribute, Schema

__all__ = [
    "LabeledSite",
    "Labels",
    "LabelsByPage",
    "LearnedCluster",
    "cluster_labeled",
    "empty_wrapper",
    "fit_wrapper",
    "flatten_rows",
    "group_labels",
    "is_moderate",
    "labeled_schema",
    "labels_of_page",
    "learn_cluster",
    "learn_parts",
    "learning_sample",
]

# Unlabeled pages that rules are learned with, besides the labeled ones: the paper's sample size.
MAX_UNLABELED_PAGES = 20
# Labeled pages that rules of one cluster are learned from.
MAX_LABELED_PAGES = 20
# Unlabeled pages with more tags are skipped: one would cost more than all others together.
MAX_TAGS = 50_000

# What labels say that a page is.
DETAIL_KIND, LIST_KIND, OTHER_KIND = "detail", "list", "other"
# A cluster is split if at least this many of its sample pages, and half of them, lack every mandatory attribute.
MIN_SPLIT_PAGES = 4

_TAG = re.compile(rb"<[a-zA-Z][a-zA-Z0-9]*\s[^<>\x80-\xff]{4,100}>")

LabelsByPage = Mapping[str, Sequence[Label]]
"""Labels by the id or the URL of their page."""

Labels = Iterable[Label] | Iterable[Row]
"""Labels of pages, or rows that were found on list pages and that label themselves."""


@dataclass(frozen=True)
class LearnedCluster:
    """What was learned about one cluster.

    Attributes:
        wrapper: the rules of the cluster, still without bellwethers.
        reports: one for each labeled attribute.
        problems: labels or pages that could not be used, as sentences.
        is_list: whether the labels are of records of list pages.
        labeled_pages: the labeled pages that were used.
        sample_pages: the unlabeled pages that were used.
    """

    wrapper: Wrapper
    reports: list[AttributeReport]
    problems: list[str]
    is_list: bool
    labeled_pages: list[Page]
    sample_pages: list[Page]

    @property
    def needs_labels(self) -> bool:
        """True if the labels of list pages were not enough for any rule."""
        return self.is_list and not self.wrapper.rules

    def release_pages(self) -> None:
        """Free the memory of the pages that were parsed for learning."""
        for page in (*self.labeled_pages, *self.sample_pages):
            page.release()


def learn_cluster(cluster: Cluster, labels: LabelsByPage, schema: Schema) -> LearnedCluster:
    """Learn the wrapper of a cluster.

    Args:
        cluster: pages of one template.
        labels: the labels of some of its pages; labels of other pages are ignored.
        schema: the attributes to learn.

    Returns:
        The wrapper with how learning went. Labeled pages that cannot be read are reported as problems.
    """
    labeled = [page for page in cluster.pages if labels_of_page(page, labels)]
    readable, problems = _select_readable(labeled[:MAX_LABELED_PAGES])
    page_labels = {page: labels_of_page(page, labels) for page in readable}
    is_list = any(map(_has_records, page_labels.values()))
    unlabeled = learning_sample(cluster, readable if is_list else labeled)
    if is_list:
        learned = learn_list(page_labels, unlabeled, schema)
    else:
        learned = learn_sample(SampleTable([*readable, *unlabeled]), page_labels, schema)
    wrapper = replace(
        empty_wrapper(cluster), rules=learned.rules, static=learned.static, records=learned.records
    )
    examples = find_example_values(wrapper, unlabeled, schema)
    return LearnedCluster(
        wrapper,
        [replace(report, examples=examples.get(report.attribute, ())) for report in learned.reports],
        [*problems, *learned.problems],
        is_list,
        readable,
        unlabeled,
    )


def _select_readable(pages: Iterable[Page]) -> tuple[list[Page], list[str]]:
    """Return the pages that can be parsed, and why the others cannot."""
    readable, problems = [], []
    for page in pages:
        if problem := page.why_unreadable():
            problems.append(f"{page.id}: {problem}")
        else:
            readable.append(page)
    return readable, problems


def _has_records(labels: Iterable[Label]) -> bool:
    return any(label.record is not None for label in labels)


def group_labels(labels: Iterable[Label], schema: Schema) -> tuple[dict[str, list[Label]], list[str]]:
    """Return the labels by page, and a message for each attribute that the schema does not have.

    Raises:
        LabelError: no label is about an attribute of the schema.
    """
    by_page: dict[str, list[Label]] = {}
    unknown: set[str] = set()
    for label in labels:
        if label.attribute in schema.attributes:
            by_page.setdefault(label.page, []).append(label)
        else:
            unknown.add(label.attribute)
    if not by_page:
        raise LabelError(f"no labels for the attributes of schema {schema.name!r}: label a page first")
    return by_page, [_explain_unknown(name, schema) for name in sorted(unknown)]


def flatten_rows(labels: Labels) -> Iterator[Label]:
    """Yield labels as they are, and rows of list pages as labels."""
    for label in labels:
        yield from labels_of_rows([label]) if isinstance(label, Row) else [label]


@dataclass(frozen=True)
class LabeledSite:
    """The clusters of a site, by whether they have labels.

    Attributes:
        labeled: clusters with labeled pages; labeled pages that fit no template form their own.
        unlabeled: the other clusters.
        problems: labeled pages that are not among the pages, as sentences.
    """

    labeled: list[Cluster]
    unlabeled: list[Cluster]
    problems: list[str]


def cluster_labeled(
    pages: Iterable[Page],
    labels: LabelsByPage,
    schema: Schema,
    templates: Mapping[str, str] | None = None,
) -> LabeledSite:
    """Cluster a stream of pages. Labels help: they say which pages are of the same kind.

    Args:
        pages: the pages.
        labels: the labels of some of them.
        schema: the schema of the labels.
        templates: names that a person gave to the templates of some pages.

    Raises:
        LabelError: none of the labeled pages is among the pages.
    """
    kinds = _kinds_of_pages(labels, schema)
    clusters = cluster_pages(pages, kinds, templates=templates, always_kept=labels)
    strays = [page for page in clusters.unassigned if labels_of_page(page, labels)]
    stray_clusters = cluster_pages(strays, kinds)
    for number, stray_cluster in enumerate(stray_clusters, len(clusters) + 1):
        stray_cluster.id = f"c{number}"
    labeled, unlabeled = _separate_labeled([*clusters, *stray_clusters], labels)
    found = names_of_pages(chain.from_iterable(cluster.pages for cluster in labeled))
    untagged = names_of_pages(stray_clusters.unassigned)
    problems = [
        f"{name}: labeled, but it has too few tags to belong to a template"
        if name in untagged
        else f"{name}: labeled, but not among the pages"
        for name in labels
        if name not in found
    ]
    if len(problems) == len(labels):
        raise LabelError(_no_labeled_page(labels, untagged))
    return LabeledSite(labeled, unlabeled, problems)


def _no_labeled_page(labels: LabelsByPage, untagged: Collection[str]) -> str:
    """Return why not one labeled page can be learned from."""
    if given := [name for name in labels if name in untagged]:
        return f"none of the labeled pages has enough tags to belong to a template, such as {given[0]}"
    return f"none of the labeled pages is among the pages given, such as {next(iter(labels))}"


def _separate_labeled(
    clusters: Iterable[Cluster], labels: LabelsByPage
) -> tuple[list[Cluster], list[Cluster]]:
    labeled: list[Cluster] = []
    unlabeled: list[Cluster] = []
    for cluster in clusters:
        has_labels = any(labels_of_page(page, labels) for page in cluster.pages)
        (labeled if has_labels else unlabeled).append(cluster)
    return labeled, unlabeled


def _kinds_of_pages(labels: LabelsByPage, schema: Schema) -> dict[str, str]:
    """Return what labels say about the kind of pages, by the name of the page.

    A page without any mandatory value is of another kind than the pages that have values.
    """
    mandatory = {name for name, attribute in schema.attributes.items() if attribute.mandatory}
    kinds = {page: _kind_of_page(page_labels, mandatory) for page, page_labels in labels.items()}
    return {page: kind for page, kind in kinds.items() if kind}


def _kind_of_page(labels: Sequence[Label], mandatory: set[str]) -> str | None:
    """Return what its labels say about the kind of a page; None if they do not decide."""
    if _has_records(labels):
        return LIST_KIND
    gaps = {label.attribute for label in labels if label.is_gap}
    if not all(label.is_gap for label in labels):
        return DETAIL_KIND
    return OTHER_KIND if mandatory and mandatory <= gaps else None


def learn_parts(
    cluster: Cluster, labels: LabelsByPage, schema: Schema
) -> tuple[list[tuple[Cluster, LearnedCluster]], list[Cluster]]:
    """Learn the wrapper of a cluster, and check that it is one template.

    If half of its pages lack every mandatory attribute, it is not. Then the cluster is split, and the parts with
    labels are learned. A template that a person named is never split.

    Returns:
        Each part that has labels with its wrapper, and the other parts. Usually that is the cluster itself, and none.
    """
    learned = learn_cluster(cluster, labels, schema)
    if cluster.named:
        return [(cluster, learned)], []
    kinds = _kinds_by_rules(learned, schema)
    if 2 * list(kinds.values()).count(OTHER_KIND) < max(MIN_SPLIT_PAGES, len(kinds)):
        return [(cluster, learned)], []
    parts = cluster_pages(cluster.pages, {**kinds, **_kinds_of_pages(labels, schema)})
    for part in parts:
        part.id = f"{cluster.id}-{part.id.removeprefix('c')}"
    labeled, unlabeled = _separate_labeled(parts, labels)
    return [(part, learn_cluster(part, labels, schema)) for part in labeled], unlabeled


def _kinds_by_rules(learned: LearnedCluster, schema: Schema) -> dict[str, str]:
    """Return the kinds of the sample pages by id: pages on which no rule of a mandatory attribute finds anything."""
    wrapper = learned.wrapper
    mandatory = {name for name in wrapper.rules if schema.attributes[name].mandatory}
    if not mandatory or learned.is_list:
        return {}
    rules = replace(wrapper, rules={name: wrapper.rules[name] for name in mandatory})
    kinds: dict[str, str] = {}
    for page in learned.sample_pages:
        matches = apply_rules(rules, ParsedPage(page.tree), schema.attributes)
        kinds[page.id] = DETAIL_KIND if any(matches.values()) else OTHER_KIND
    return kinds


def _explain_unknown(attribute: str, schema: Schema) -> str:
    similar = get_close_matches(attribute, schema.attributes, n=1)
    hint = f" (did you mean {similar[0]!r}?)" if similar else ""
    return f"Ignored labels for {attribute!r}: schema {schema.name!r} has no such attribute{hint}"


def labels_of_page(page: Page, labels: LabelsByPage) -> Sequence[Label]:
    """Return the labels of a page by its id or, if there are none, by its URL."""
    return page.entry_in(labels) or ()


def labeled_schema(labels: Iterable[Label]) -> Schema:
    """Return a schema of all labeled attributes, as texts."""
    return Schema("labeled", {label.attribute: Attribute(label.attribute) for label in labels})


def learning_sample(cluster: Cluster, excluded: Collection[Page]) -> list[Page]:
    """Return unlabeled pages to generalize over: the structurally most diverse, filled up with others at random.

    Args:
        cluster: the pages to choose from.
        excluded: pages that are labeled or used otherwise.
    """
    candidates = [page for page in _without_pages(cluster.pages, excluded) if is_moderate(page)]
    chosen = sample(candidates, MAX_UNLABELED_PAGES)
    rest = _without_pages(candidates, chosen)
    extra = Random(0).sample(rest, min(len(rest), MAX_UNLABELED_PAGES - len(chosen)))
    return [*chosen, *_select_readable(extra)[0]]


def _without_pages(pages: Iterable[Page], excluded: Iterable[Page]) -> list[Page]:
    excluded = set(excluded)
    return [page for page in pages if page not in excluded]


def is_moderate(page: Page) -> bool:
    """Return True unless a page is so large that parsing it would cost more than all others of a sample."""
    return page.html.count(b"<") <= MAX_TAGS


def empty_wrapper(cluster: Cluster) -> Wrapper:
    """Return a wrapper without rules, which recognizes the pages of a cluster."""
    return Wrapper(
        cluster.id,
        cluster.signatures,
        cluster.importance,
        cluster.url_pattern,
        {},
        core=cluster.core,
        named=cluster.named,
    )


def fit_wrapper(wrapper: Wrapper, cluster: Cluster) -> Wrapper:
    """Return a wrapper with the same rules that recognizes the pages of another cluster."""
    return replace(
        wrapper,
        cluster=cluster.id,
        signatures=cluster.signatures,
        importance=cluster.importance,
        url_pattern=cluster.url_pattern,
        core=cluster.core,
        named=cluster.named,
    )
