"""The whole flow, readable in one screen: pages and labels to rules.

sources → cluster → sample → label → learn → extract
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from random import Random
from typing import Any

from untemplate.clustering import Cluster, cluster
from untemplate.errors import LabelError, PageError
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.labeling.list_labels import labels_of_rows
from untemplate.learning import AttributeReport, Table, learn_list, learn_rules
from untemplate.lists import Row
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.rules.in_words import explain_rule
from untemplate.sampling import sample
from untemplate.schema import Attribute, Schema
from untemplate.watching import POOL, remember

__all__ = ["Learned", "borrow", "labelled_schema", "learn", "learn_site", "learning_sample", "watchable"]

# Unlabelled pages that rules are learnt with, besides the labelled ones: the paper's sample size.
SAMPLE = 20
# Labelled pages that rules of one cluster are learnt from.
MAX_LABELLED = 20
# An unlabelled page with more tags is not learnt with: it would cost more than all others together.
MAX_TAGS = 50_000
# A cluster without labels borrows a wrapper that fills this share of what it fills on its own pages.
BORROWED_FILL = 0.6
# One attribute proves nothing: every page has a heading.
MIN_BORROWED = 2
BORROWING_PAGES = 10


@dataclass
class Learned:
    """Rules, and what a person should know about how they came about."""

    rules: Rules
    reports: dict[str, list[AttributeReport]] = field(default_factory=dict)
    borrowed: dict[str, str] = field(default_factory=dict)  # cluster → the cluster whose rules it uses
    needs_labels: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """All but the rules themselves, as JSON knows it."""
        return {
            "clusters": {
                cluster: [
                    {
                        "attribute": report.attribute,
                        "rule": explain_rule(report.rule) if report.rule else None,
                        "coverage": round(report.coverage, 3),
                        "label_next": report.label_next,
                        "problems": report.problems,
                    }
                    for report in reports
                ]
                for cluster, reports in self.reports.items()
            },
            "borrowed": self.borrowed,
            "needs_labels": self.needs_labels,
            "problems": self.problems,
        }


def learn(
    pages: Iterable[Page], labels: Iterable[Label] | Iterable[Row], schema: Schema | None = None
) -> Rules:
    """Cluster the pages, and learn one wrapper for each cluster that has labels.

    What `find_records` found will do as labels. Without a schema every attribute that is labelled is a text.
    """
    return learn_site(pages, labels, schema).rules


def learn_site(
    pages: Iterable[Page], labels: Iterable[Label] | Iterable[Row], schema: Schema | None = None
) -> Learned:
    """Learn the rules of a site, and report how that went."""
    pages, labels = list(pages), _as_labels(labels)
    schema = schema or labelled_schema(labels)
    learned = Learned(Rules(schema, ()))
    by_page = _labels_by_page(labels, schema, learned)
    clusters = _clusters(pages, by_page, learned)
    wrappers: list[Wrapper] = []
    unlabelled: list[Cluster] = []
    for group in clusters:
        labelled = [page for page in group.pages if _of(page, by_page)]
        if labelled:
            wrappers.append(_learn_wrapper(group, labelled, by_page, schema, learned))
        else:
            unlabelled.append(group)
    for group in unlabelled:
        wrappers.append(borrow(group, clusters, wrappers, schema, learned))
    learned.rules = Rules(replace(schema, rows=any(one.records for one in wrappers)), tuple(wrappers))
    return learned


def labelled_schema(labels: Iterable[Label]) -> Schema:
    """A schema of all attributes that are labelled, as texts."""
    return Schema("labelled", {label.attribute: Attribute(label.attribute) for label in labels})


def _as_labels(labels: Iterable[Label] | Iterable[Row]) -> list[Label]:
    found: list[Label] = []
    for label in labels:
        found += labels_of_rows([label]) if isinstance(label, Row) else [label]
    return found


def _labels_by_page(labels: Iterable[Label], schema: Schema, learned: Learned) -> dict[str, list[Label]]:
    by_page: dict[str, list[Label]] = {}
    unknown: set[str] = set()
    for label in labels:
        if label.attribute in schema.attributes:
            by_page.setdefault(label.page, []).append(label)
        else:
            unknown.add(label.attribute)
    if unknown:
        names = ", ".join(sorted(unknown))
        learned.problems.append(f"labels for {names} left out: schema {schema.name!r} has no such attribute")
    if not by_page:
        raise LabelError(f"no labels for the attributes of schema {schema.name!r}: label a page first")
    return by_page


def _of(page: Page, by_page: dict[str, list[Label]]) -> list[Label]:
    return by_page.get(page.id) or by_page.get(page.url) or []


def _clusters(pages: list[Page], by_page: dict[str, list[Label]], learned: Learned) -> list[Cluster]:
    """The site's clusters; labelled pages that fit none are a cluster of their own."""
    names = {name for page in pages for name in (page.id, page.url)}
    missing = [name for name in by_page if name not in names]
    if len(missing) == len(by_page):
        raise LabelError(f"none of the labelled pages is among the pages given, such as {missing[0]}")
    learned.problems += [f"{name}: labelled, but not among the pages" for name in missing]
    found = cluster(pages)
    stray = [page for page in found.unassigned if _of(page, by_page)]
    return [*found, *cluster(stray)] if stray else list(found)


def _learn_wrapper(
    group: Cluster,
    labelled: Sequence[Page],
    by_page: dict[str, list[Label]],
    schema: Schema,
    learned: Learned,
) -> Wrapper:
    readable = []
    for page in labelled[:MAX_LABELLED]:
        try:
            assert page.tree is not None
            readable.append(page)
        except PageError as error:
            learned.problems.append(f"{page.id}: {error}")
    if any(label.record is not None for page in readable for label in _of(page, by_page)):
        return _learn_list_wrapper(group, readable, by_page, schema, learned)
    table = Table([*readable, *learning_sample(group, labelled)])
    labels = {number: _of(page, by_page) for number, page in enumerate(readable)}
    rules, reports = learn_rules(table, labels, schema)
    learned.reports[group.id] = reports
    wrapper = _wrapper(group, Wrapper("", (), 0, "", rules, tuple(sorted(table.static))))
    given = {page.id: _of(page, by_page) for page in readable}
    wrapper = remember(wrapper, watchable(group, readable, table.pages), schema, given)
    for page in table.pages:
        page.release()
    return wrapper


def _learn_list_wrapper(
    group: Cluster,
    labelled: Sequence[Page],
    by_page: dict[str, list[Label]],
    schema: Schema,
    learned: Learned,
) -> Wrapper:
    """The wrapper of list pages. It has no bellwethers: what a list shows today is no measure of tomorrow's."""
    others = learning_sample(group, labelled)
    found = learn_list({page: _of(page, by_page) for page in labelled}, others, schema)
    learned.reports[group.id] = found.reports
    learned.problems += found.problems
    if not found.rules:
        learned.needs_labels.append(group.id)
    for page in (*labelled, *others):
        page.release()
    return _wrapper(group, Wrapper("", (), 0, "", found.rules, found.static, records=found.records))


def watchable(group: Cluster, labelled: Sequence[Page], learnt_with: Sequence[Page]) -> Iterator[Page]:
    """Pages to watch: labelled ones, then by turns pages that rules were learnt with and others.

    The former are diverse, the latter tell of rules that hold only where they were learnt.
    """
    yield from labelled
    known = {id(page) for page in learnt_with}
    others = [page for page in group.pages if id(page) not in known and _is_moderate(page)]
    others = Random(0).sample(others, min(len(others), POOL))
    for pages in zip_longest(learnt_with[len(labelled) :], others):
        yield from (page for page in pages if page is not None)


def learning_sample(group: Cluster, labelled: Sequence[Page]) -> list[Page]:
    """Pages to generalise over: the structurally most diverse, filled up with others at random."""
    known = {id(page) for page in labelled}
    others = [page for page in group.pages if id(page) not in known and _is_moderate(page)]
    chosen = sample(others, SAMPLE)
    known = {id(page) for page in chosen}
    rest = [page for page in others if id(page) not in known]
    for page in Random(0).sample(rest, min(len(rest), SAMPLE - len(chosen))):
        try:
            assert page.tree is not None
            chosen.append(page)
        except PageError:
            continue
    return chosen


def _is_moderate(page: Page) -> bool:
    return page.html.count(b"<") <= MAX_TAGS


def _wrapper(group: Cluster, like: Wrapper) -> Wrapper:
    return replace(
        like,
        cluster=group.id,
        signatures=group.signatures,
        importance=group.importance,
        url_pattern=group.url_pattern,
    )


def borrow(
    group: Cluster, clusters: Sequence[Cluster], wrappers: Sequence[Wrapper], schema: Schema, learned: Learned
) -> Wrapper:
    """The wrapper of the labelled cluster whose rules hold on these pages, or one that says labels are needed."""
    own_pages = {other.id: other.pages for other in clusters}
    best, best_fill = None, 0.0
    for wrapper in wrappers:
        if len(wrapper.rules) < MIN_BORROWED or wrapper.cluster in learned.borrowed:
            continue
        here = _fill(wrapper, group.pages, schema)
        if here > best_fill and here >= BORROWED_FILL * _fill(wrapper, own_pages[wrapper.cluster], schema):
            best, best_fill = wrapper, here
    if best is None:
        learned.needs_labels.append(group.id)
        return _wrapper(group, Wrapper("", (), 0, "", {}))
    learned.borrowed[group.id] = best.cluster
    own = _wrapper(group, best)
    return own if own.records else remember(own, learning_sample(group, ()), schema, {})


def _fill(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> float:
    """The share of values that come out on a few pages, those without a mandatory one counted as empty."""
    rules = Rules(schema, (replace(wrapper, url_pattern="*"),))
    moderate = [page for page in pages if _is_moderate(page)]
    few = moderate[:: max(1, len(moderate) // BORROWING_PAGES)][:BORROWING_PAGES]
    records = list(rules.extract(few))
    mandatory = [name for name in wrapper.rules if schema.attributes[name].mandatory]
    counts = [len(record.values) if all(record[name] for name in mandatory) else 0 for record in records]
    return sum(counts) / (len(wrapper.rules) * len(records)) if records else 0.0
