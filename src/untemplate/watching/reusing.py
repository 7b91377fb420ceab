"""Reuse rules for other pages than those they were learned on: which wrapper works on a cluster without labels?

Clusters that nobody labeled borrow the rules of a labeled one when a site is learned, and fresh clusters without
bellwethers those of an old one when it heals (Vertex IV-C).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from untemplate.clustering import Cluster, guess_kinds
from untemplate.errors import PageError
from untemplate.extraction import Rules
from untemplate.learning import empty_wrapper, fit_wrapper, is_moderate, learning_sample
from untemplate.page import Page
from untemplate.record import Record, Value
from untemplate.rules import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.watching.bellwethers import finish_wrapper

__all__ = [
    "PAGES_TO_LABEL",
    "BorrowedWrapper",
    "Lender",
    "borrow_wrapper",
    "extract_list",
    "fill_rate",
    "find_holding_wrapper",
    "pages_to_label",
]

# These numbers are our judgment, without a sweep; `benchmarks.measure.unchanged` shows their effect.
# A wrapper is lent if it fills at least this share of what it fills on its own pages.
MIN_LENT_FILL = 0.8
# Wrappers with fewer rules are not lent: every page has a heading.
MIN_LENT_RULES = 2
# Pages of a cluster on which foreign rules are tried.
MAX_TRIED_PAGES = 10
# A value that is the same on at least this many pages, all that were tried, is not a value of these pages.
MIN_COMPARED_PAGES = 3
# Elements of an XPath that say which kind of place a text has: its own and those around it.
PLACE_STEPS = 3

PAGES_TO_LABEL = 5
"""Pages that a person should label where nothing else helps; a labeler is asked about as many."""

_POSITION = re.compile(r"\[\d+\]")

_Place = tuple[str, str]
"""A kind of place, and a text there."""

Lender = tuple[Wrapper, Sequence[Page]]
"""A wrapper that was learned from labels, and the pages of its own cluster."""


@dataclass(frozen=True)
class BorrowedWrapper:
    """The wrapper of a cluster without labels.

    Attributes:
        wrapper: the wrapper, with or without rules.
        lender: the cluster that its rules are from; None if it has no rules.
        kind: what its pages seem to be: detail, list or other.
        to_label: ids of pages that a person should label, if it has no rules.
    """

    wrapper: Wrapper
    lender: str | None = None
    kind: str = ""
    to_label: tuple[str, ...] = ()

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
    [kind] = guess_kinds([cluster])
    lender = _find_lender(cluster, kind.name, lenders, schema)
    if lender is None:
        return BorrowedWrapper(empty_wrapper(cluster), None, kind.name, pages_to_label(cluster.pages))
    wrapper = replace(fit_wrapper(lender, cluster), lender=lender.cluster)
    if not wrapper.records:
        wrapper = finish_wrapper(wrapper, learning_sample(cluster, ()), schema, {})
    return BorrowedWrapper(wrapper, lender.cluster, kind.name)


def pages_to_label(pages: Sequence[Page]) -> tuple[str, ...]:
    """Return the ids of some pages of a template that has no rules, evenly spread, for a person to label."""
    step = max(1, len(pages) // PAGES_TO_LABEL)
    return tuple(page.id for page in pages[::step][:PAGES_TO_LABEL])


def _find_lender(cluster: Cluster, kind: str, lenders: Sequence[Lender], schema: Schema) -> Wrapper | None:
    best, best_fill = None, 0.0
    for wrapper, own_pages in lenders:
        is_for_list = wrapper.records is not None
        if len(wrapper.rules) < MIN_LENT_RULES or (kind == "list" and not is_for_list):
            continue
        fill = fill_rate(wrapper, cluster.pages, schema, _find_unselected(wrapper, own_pages, schema))
        if fill > best_fill and fill >= MIN_LENT_FILL * fill_rate(wrapper, own_pages, schema):
            best, best_fill = wrapper, fill
    return best


def find_holding_wrapper(
    wrappers: Sequence[Wrapper], pages: Sequence[Page], schema: Schema
) -> Wrapper | None:
    """Return the wrapper whose rules work best on some pages, and about as well as on its bellwethers; or None."""
    best, best_fill = None, 0.0
    for wrapper in wrappers:
        if len(wrapper.rules) < MIN_LENT_RULES or not wrapper.bellwethers:
            continue
        fill = fill_rate(wrapper, pages, schema)
        if fill > best_fill and fill >= MIN_LENT_FILL * _remembered_fill(wrapper):
            best, best_fill = wrapper, fill
    return best


def _remembered_fill(wrapper: Wrapper) -> float:
    """Return the share of rules that found a value on the bellwethers."""
    filled = sum(len(wrapper.rules.keys() & bellwether.golden.keys()) for bellwether in wrapper.bellwethers)
    return filled / (len(wrapper.rules) * len(wrapper.bellwethers))


def fill_rate(
    wrapper: Wrapper, pages: Sequence[Page], schema: Schema, excluded: Collection[_Place] = ()
) -> float:
    """Return the share of rules that find a value on a few pages; pages without a mandatory value count as empty.

    Attributes count as empty, too, if what is found says that the pages are of another kind: the same text on all
    pages, such as the name of the site, or several different texts on most pages, such as the titles of a list.

    Args:
        wrapper: the rules.
        pages: the pages to try them on.
        schema: the attributes of the rules.
        excluded: texts that are no values, see `_find_unselected`.
    """
    records = _without_places(_extract_few(wrapper, pages, schema), excluded)
    if not records:
        return 0.0
    plausible = {name for name in wrapper.rules if _is_plausible(schema.attributes[name], records)}
    mandatory = {name for name in wrapper.rules if schema.attributes[name].mandatory}
    if not mandatory <= plausible:
        return 0.0
    complete = [record for record in records if mandatory <= record.values.keys()]
    filled = sum(len(plausible & record.values.keys()) for record in complete)
    return filled / (len(wrapper.rules) * len(records))


def _extract_few(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> list[Record]:
    """Return all records of a few pages, each with all values that the rules find. Unparsed pages are released."""
    rules = Rules(_with_many_values(schema), (wrapper.for_any_page(),))
    records: list[Record] = []
    for page in _choose_tried(pages):
        with page.temporarily_parsed():
            records += rules.extract_page(page)
    return records


def _find_unselected(wrapper: Wrapper, own_pages: Sequence[Page], schema: Schema) -> set[_Place]:
    """Return the texts that most of the wrapper's own pages show, and that its rules select on none of them.

    If the rules select such a text on other pages, they went astray: "Home", the first step of a path of links on all
    pages, is not the category of a page where it is the only step.
    """
    pages = _choose_tried(own_pages)
    counts: Counter[_Place] = Counter()
    for page in pages:
        with page.temporarily_parsed(), suppress(PageError):
            counts.update({(_place_path(node.xpath), node.text) for node in page.nodes})
    selected: set[_Place] = set()
    for record in _extract_few(wrapper, own_pages, schema):
        selected |= _places_of(record)
    return {place for place, count in counts.items() if 2 * count > len(pages)} - selected


def _places_of(record: Record) -> set[_Place]:
    places: set[_Place] = set()
    for values in record.values.values():
        places.update((_place_path(value.xpath), value.text) for value in values)
    return places


def _place_path(xpath: str) -> str:
    """Return the last elements of an XPath without positions: the kind of place, which templates of a site share."""
    elements = _POSITION.sub("", xpath).removesuffix("/text()")
    return "/".join(elements.split("/")[-PLACE_STEPS:])


def _without_places(records: Sequence[Record], excluded: Collection[_Place]) -> list[Record]:
    """Return records without the values at some places."""
    return [replace(record, values=dict(_values_elsewhere(record, excluded))) for record in records]


def _values_elsewhere(record: Record, excluded: Collection[_Place]) -> Iterator[tuple[str, list[Value]]]:
    for name, values in record.values.items():
        kept = [value for value in values if (_place_path(value.xpath), value.text) not in excluded]
        if kept:
            yield name, kept


def _with_many_values(schema: Schema) -> Schema:
    """Return a schema by which rules return all values that they find, not only the first."""
    attributes = {name: replace(attribute, many=True) for name, attribute in schema.attributes.items()}
    return replace(schema, attributes=attributes)


def _is_plausible(attribute: Attribute, records: Sequence[Record]) -> bool:
    """Return True if the values of several pages may be those of an attribute."""
    if len(records) < MIN_COMPARED_PAGES:
        return True
    texts = [frozenset(value.text for value in record.values.get(attribute.name, ())) for record in records]
    is_repeated = len(set(texts)) == 1 and bool(texts[0])
    if is_repeated and not attribute.constant:
        return False
    with_several = sum(len(page_texts) > 1 for page_texts in texts)
    return attribute.many or 2 * with_several <= len(records)


def _choose_tried(pages: Sequence[Page]) -> Sequence[Page]:
    """Return a few pages of moderate size, evenly spread."""
    moderate = [page for page in pages if is_moderate(page)]
    return moderate[:: max(1, len(moderate) // MAX_TRIED_PAGES)][:MAX_TRIED_PAGES]


def extract_list(wrapper: Wrapper, page: Page, schema: Schema) -> list[Record]:
    """Return the records that the rules of one list find on a page, whatever the page's URL and signature."""
    rules = Rules(schema, (wrapper.for_any_page(),))
    with page.temporarily_parsed():
        return [record for record in rules.extract_page(page) if record.position]
