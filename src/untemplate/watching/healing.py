"""Heal: keep the rules that still hold on a changed site, repair the others (Vertex IV-C, and beyond it).

As in the paper, fresh pages are clustered anew, and old clusters that share URLs with a new one are candidates for
it. `repairing.py` decides which rules still hold, and learns the others again. The rules of list pages are kept or
dropped, but not repaired, because no values of lists are remembered.

Rules are reused without a change of the site, too. A cluster that nobody labeled borrows the rules of a labeled one,
if they work on its pages about as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from untemplate.clustering import Cluster, cluster, guess_kinds
from untemplate.extraction import Rules
from untemplate.learning import empty_wrapper, fit_wrapper, is_moderate, learning_sample
from untemplate.page import Page, index_pages, signature
from untemplate.record import Record
from untemplate.rules import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.watching.bellwethers import finish_wrapper, pair_bellwethers
from untemplate.watching.repairing import ClusterRepair, Loss, Repair, RepairedCluster

__all__ = ["BorrowedWrapper", "Healed", "Lender", "borrow_wrapper", "extract_list", "heal", "heal_site"]

# A wrapper is lent if it fills at least this share of what it fills on its own pages.
MIN_LENT_FILL = 0.8
# Wrappers with fewer rules are not lent: every page has a heading.
MIN_LENT_RULES = 2
# Pages of a cluster on which foreign rules are tried.
MAX_TRIED_PAGES = 10
# A value that is the same on at least this many pages, all that were tried, is not a value of these pages.
MIN_COMPARED_PAGES = 3


@dataclass(frozen=True)
class Healed:
    """The new rules of a site, and how they came about.

    Attributes:
        rules: the new rules.
        reused: new clusters with the old cluster whose rules all hold there.
        healed: rules that were learned again.
        lost: rules that broke and could not be repaired.
        to_label: clusters with lost rules, and the pages that a person should label.
    """

    rules: Rules
    reused: dict[str, str] = field(default_factory=dict)
    healed: list[Repair] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    to_label: dict[str, list[str]] = field(default_factory=dict)


def heal(rules: Rules, fresh_pages: Iterable[Page]) -> Rules:
    """Return rules that fit the site as it is now: those that still hold are kept, broken ones are repaired.

    A broken rule is learned again from the values that are remembered of the bellwethers. A rule that cannot be
    repaired is dropped until a person labels pages: no value is better than a wrong one.

    Args:
        rules: the rules of a site before it changed.
        fresh_pages: pages of the site as they are now, with fresh versions of the bellwethers among them.

    Example:
        >>> import untemplate as ut
        >>> pages = [ut.Page(id=f"{n}", html=f"<h1>Book {n}</h1><p>{n} $</p>") for n in range(5)]
        >>> rules = ut.learn(pages, [ut.Label("1", "title", "Book 1")])
        >>> changed = [ut.Page(id=f"{n}", html=f"<p>{n} $</p><div>Book {n}</div>") for n in range(5)]
        >>> print(rules.extract_one(changed[3])["title"])
        None
        >>> ut.heal(rules, changed).extract_one(changed[3])["title"]
        'Book 3'
    """
    return heal_site(rules, fresh_pages).rules


def heal_site(rules: Rules, fresh_pages: Iterable[Page]) -> Healed:
    """Heal the rules of a site as `heal` does, and report how that went."""
    pages = list(fresh_pages)
    outcomes: list[RepairedCluster] = []
    for group in cluster(pages):
        taken = [outcome.wrapper.cluster for outcome in outcomes]
        outcomes.append(_heal_cluster(group, rules, taken))
    wrappers = [outcome.wrapper for outcome in outcomes]
    reused = {outcome.wrapper.cluster: outcome.reused for outcome in outcomes if outcome.reused}
    for old in _unseen_wrappers(rules, pages, set(reused.values())):
        wrappers.append(
            replace(old, cluster=_free_name(old.cluster, [wrapper.cluster for wrapper in wrappers]))
        )
    healed = Healed(Rules(rules.schema, tuple(wrappers)), reused)
    for outcome in outcomes:
        healed.healed.extend(outcome.repairs)
        healed.lost.extend(outcome.losses)
        if outcome.to_label:
            healed.to_label[outcome.wrapper.cluster] = outcome.to_label
    return healed


def _heal_cluster(group: Cluster, rules: Rules, taken: Sequence[str]) -> RepairedCluster:
    """Return the wrapper of a new cluster: repaired, kept from a list, or empty. Its name is not one of the taken."""
    fresh = index_pages(group.pages)
    candidates = [wrapper for wrapper in rules.wrappers if pair_bellwethers(wrapper, fresh)]
    if candidates:
        repair = ClusterRepair(group, candidates, rules.schema)
        old = repair.best_candidate
        wrapper = replace(fit_wrapper(old, group), cluster=_free_name(old.cluster, taken))
        return repair.repair(wrapper)
    empty = replace(empty_wrapper(group), cluster=_free_name(group.id, taken))
    if kept := _find_list_wrapper(group, rules):
        wrapper = replace(empty, rules=kept.rules, static=kept.static, records=kept.records)
        return RepairedCluster(wrapper, reused=kept.cluster)
    return RepairedCluster(empty)


def _free_name(name: str, taken: Sequence[str]) -> str:
    """Return a cluster's name if it is free, else the first free one of c1, c2 and so on."""
    if name not in taken:
        return name
    number = 1
    while f"c{number}" in taken:
        number += 1
    return f"c{number}"


def _unseen_wrappers(rules: Rules, pages: Sequence[Page], reused: set[str]) -> list[Wrapper]:
    """Return the old wrappers to keep because there are no fresh pages to judge them by."""
    fresh = index_pages(pages)
    signatures = [signature(page.html) for page in pages]
    unseen = []
    for wrapper in rules.wrappers:
        is_reused_list = bool(wrapper.records) and wrapper.cluster in reused
        if is_reused_list or pair_bellwethers(wrapper, fresh):
            continue
        if wrapper.rules or not any(map(wrapper.matches_signature, signatures)):
            unseen.append(wrapper)
    return unseen


# Reuse

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
    [kind] = guess_kinds([cluster])
    for wrapper, own_pages in lenders:
        is_for_list = wrapper.records is not None
        if len(wrapper.rules) < MIN_LENT_RULES or (kind.name == "list" and not is_for_list):
            continue
        fill = _fill_rate(wrapper, cluster.pages, schema)
        if fill > best_fill and fill >= MIN_LENT_FILL * _fill_rate(wrapper, own_pages, schema):
            best, best_fill = wrapper, fill
    return best


def _fill_rate(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> float:
    """Return the share of rules that find a value on a few pages; pages without a mandatory value count as empty.

    Attributes count as empty, too, if what is found says that the pages are of another kind: the same text on all
    pages, such as the name of the site, or several different texts on most pages, such as the titles of a list.
    """
    rules = Rules(_with_many_values(schema), (wrapper.for_any_page(),))
    records = list(rules.extract(_select_few([page for page in pages if is_moderate(page)])))
    names = {name for name in wrapper.rules if _is_plausible(schema.attributes[name], records)}
    mandatory = {name for name in wrapper.rules if schema.attributes[name].mandatory}
    if not records or not mandatory <= names:
        return 0.0
    filled = [len(names & record.values.keys()) for record in records if mandatory <= record.values.keys()]
    return sum(filled) / (len(wrapper.rules) * len(records))


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
    with_several = sum(len(page_texts) > 1 for page_texts in texts)
    is_list = not attribute.many and 2 * with_several > len(records)
    return not (is_list or (is_repeated and not attribute.constant))


def _select_few(pages: Sequence[Page]) -> Sequence[Page]:
    """Return a few pages, evenly spread."""
    return pages[:: max(1, len(pages) // MAX_TRIED_PAGES)][:MAX_TRIED_PAGES]


def _find_list_wrapper(cluster: Cluster, rules: Rules) -> Wrapper | None:
    """Return the wrapper of list pages that still finds records on most pages of a fresh cluster."""
    pages = _select_few(cluster.pages)
    for wrapper in rules.wrappers:
        if not wrapper.records:
            continue
        with_records = sum(bool(extract_list(wrapper, page, rules.schema)) for page in pages)
        if 2 * with_records > len(pages):
            return wrapper
    return None


def extract_list(wrapper: Wrapper, page: Page, schema: Schema) -> list[Record]:
    """Return the records that the rules of one list find on a page, whatever the page's URL and signature."""
    rules = Rules(schema, (wrapper.for_any_page(),))
    records = [record for record in rules.extract_page(page) if record.position]
    page.release()
    return records
