"""Heal: keep the rules that still hold on a changed site, repair the others (Vertex IV-C, and beyond it).

As in the paper, fresh pages are clustered anew, and old clusters that share URLs with a new one are candidates for
it. `repairing.py` decides which rules still hold, and learns the others again. The rules of list pages are kept or
dropped, but not repaired, because no values of lists are remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from untemplate.clustering import Cluster, cluster
from untemplate.extraction import Rules
from untemplate.learning import empty_wrapper, fit_wrapper
from untemplate.page import Page, index_pages, signature
from untemplate.rules import Wrapper
from untemplate.watching.comparing import pair_bellwethers
from untemplate.watching.repairing import ClusterRepair, Loss, Repair, RepairedCluster
from untemplate.watching.reusing import find_list_wrapper

__all__ = ["Healed", "heal", "heal_site"]


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
        wrappers.append(replace(old, cluster=_free_name(old.cluster, [one.cluster for one in wrappers])))
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
    if kept := find_list_wrapper(group, rules):
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
