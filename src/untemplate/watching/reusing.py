"""Reuse: rules of one cluster that also hold on the pages of another (Vertex IV-C).

A cluster that nobody labeled borrows the rules of a labeled one, if they work on its pages about as well. After a
change of the site, list pages keep the rules that still find records on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from untemplate.clustering import Cluster
from untemplate.extraction import Rules
from untemplate.learning import empty_wrapper, fit_wrapper, is_moderate, learning_sample
from untemplate.page import Page
from untemplate.record import Record
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.watching.bellwethers import finish_wrapper

__all__ = ["BorrowedWrapper", "Lender", "borrow_wrapper", "extract_list", "find_list_wrapper"]

# A wrapper is lent if it fills at least this share of what it fills on its own pages.
MIN_LENT_FILL = 0.6
# Wrappers with fewer rules are not lent: every page has a heading.
MIN_LENT_RULES = 2
# Pages of a cluster on which foreign rules are tried.
MAX_TRIED_PAGES = 10


Lender = tuple[Wrapper, Sequence[Page]]
"""A wrapper that was learned from labels, and the pages of its own cluster."""


@dataclass(frozen=True)
class BorrowedWrapper:
    """The wrapper of a cluster without labels, and the cluster that its rules are from; None if it has no rules."""

    wrapper: Wrapper
    lender: str | None = None

    @property
    def needs_labels(self) -> bool:
        """True if no rules of other clusters work, so that a person has to label pages."""
        return self.lender is None


def borrow_wrapper(cluster: Cluster, lenders: Sequence[Lender], schema: Schema) -> BorrowedWrapper:
    """Return a wrapper for a cluster without labels, with the rules that work best on its pages.

    Args:
        cluster: the cluster that needs rules.
        lenders: the wrappers to choose from. One that works clearly worse than on its own pages is not borrowed.
        schema: the attributes of the rules.
    """
    lender = _find_lender(cluster, lenders, schema)
    if lender is None:
        return BorrowedWrapper(empty_wrapper(cluster))
    wrapper = fit_wrapper(lender, cluster)
    if not wrapper.records:
        wrapper = finish_wrapper(wrapper, learning_sample(cluster, ()), schema, {})
    return BorrowedWrapper(wrapper, lender.cluster)


def _find_lender(cluster: Cluster, lenders: Sequence[Lender], schema: Schema) -> Wrapper | None:
    best, best_fill = None, 0.0
    for wrapper, own_pages in lenders:
        if len(wrapper.rules) < MIN_LENT_RULES:
            continue
        fill = _fill_rate(wrapper, cluster.pages, schema)
        if fill > best_fill and fill >= MIN_LENT_FILL * _fill_rate(wrapper, own_pages, schema):
            best, best_fill = wrapper, fill
    return best


def _fill_rate(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> float:
    """Return the share of rules that find a value on a few pages; pages without a mandatory value count as empty."""
    rules = Rules(schema, (replace(wrapper, url_pattern="*"),))
    records = list(rules.extract(_few([page for page in pages if is_moderate(page)])))
    if not records:
        return 0.0
    mandatory = [name for name in wrapper.rules if schema.attributes[name].mandatory]
    complete = [record for record in records if all(record[name] for name in mandatory)]
    return sum(len(record.values) for record in complete) / (len(wrapper.rules) * len(records))


def _few(pages: Sequence[Page]) -> Sequence[Page]:
    """Return a few pages, evenly spread."""
    return pages[:: max(1, len(pages) // MAX_TRIED_PAGES)][:MAX_TRIED_PAGES]


def find_list_wrapper(cluster: Cluster, rules: Rules) -> Wrapper | None:
    """Return the wrapper of list pages that still finds records on most pages of a fresh cluster."""
    pages = _few(cluster.pages)
    for wrapper in rules.wrappers:
        if not wrapper.records:
            continue
        with_records = sum(bool(extract_list(wrapper, page, rules.schema)) for page in pages)
        if 2 * with_records > len(pages):
            return wrapper
    return None


def extract_list(wrapper: Wrapper, page: Page, schema: Schema) -> list[Record]:
    """Return the records that the rules of one list find on a page, whatever the page's URL and signature."""
    rules = Rules(schema, (replace(wrapper, signatures=(), url_pattern="*"),))
    records = [record for record in rules.extract_page(page) if record.position]
    page.release()
    return records
