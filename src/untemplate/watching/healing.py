"""Heal: keep the rules that still hold on a changed site, repair the others (Vertex IV-C, and beyond it).

1. Fresh pages that have the core of an old template are its pages, whatever they share with it. The others are
   clustered anew; bellwethers of a template that a person named stay together. As in the paper, old clusters that
   share URLs with a new one are candidates for it.
2. Of each group some pages are read, once: bellwethers first. `repairing.py` decides which rules still hold there,
   and learns the others again.
3. Each change passes a gate: the records of the same pages before and after. Values that are lost or changed without
   cause refuse it.

A new cluster without bellwethers keeps the rules of an old one that work there. The rules of list pages are kept, but
not repaired, because no values of lists are remembered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from untemplate.clustering import Cluster, cluster, guess_kinds
from untemplate.extraction import Rules
from untemplate.extraction.matching import WrapperIndex
from untemplate.labeling import Labeler
from untemplate.learning import empty_wrapper, fit_wrapper, is_moderate
from untemplate.page import Page, index_pages
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.sources import as_pages
from untemplate.watching.bellwethers import name_watched_pages
from untemplate.watching.comparing import PagePair, compare_pages, is_outage, pair_bellwethers
from untemplate.watching.monitoring import Renewed, renew_bellwethers
from untemplate.watching.repair_reports import Difference, Loss, Refusal, Repair, RepairedCluster
from untemplate.watching.repairing import ClusterRepair
from untemplate.watching.reusing import extract_list, find_holding_wrapper, pages_to_label

__all__ = ["HealCounts", "Healed", "heal", "heal_site"]

# These numbers are our judgment, without a sweep; `benchmarks.measure.unchanged` shows their effect.
# Pages of a group that are read besides its bellwethers.
MAX_OTHER_PAGES = 30
# Rules extract nearly all pages of a cluster already if they extract this share of those read.
MIN_EXTRACTED_SHARE = 0.9
# Bellwethers with a record that a part of a site must have before its rules are repaired apart from the rest.
MIN_SHOWN_BELLWETHERS = 2
# Examples of values that the report of a refused change shows.
MAX_SHOWN_DIFFERENCES = 3


@dataclass(frozen=True)
class HealCounts:
    """What became of rules and clusters, counted as in Figure 5 of the paper. The counts of several sites add up.

    Attributes:
        clusters: clusters with rules that had fresh pages, or new clusters.
        reused: those of them whose rules all hold, so that old rules are reused.
        pages: fresh pages of these clusters.
        reused_pages: fresh pages for which old rules are reused.
        kept: rules of single attributes that hold.
        relearned: rules that were learned again.
        refused: rules that failed a test and stay, because changing them would do harm.
        lost: rules that broke and could not be repaired.
        replaced: bellwethers that were replaced, because their pages were not delivered or show no record any more.
    """

    clusters: int = 0
    reused: int = 0
    pages: int = 0
    reused_pages: int = 0
    kept: int = 0
    relearned: int = 0
    refused: int = 0
    lost: int = 0
    replaced: int = 0

    def __add__(self, other: HealCounts) -> HealCounts:
        """Return the sum of the counts of two sites."""
        counts = asdict(other)
        return HealCounts(**{name: count + counts[name] for name, count in asdict(self).items()})

    def to_dict(self) -> dict[str, int]:
        """Return the counts as JSON data."""
        return asdict(self)


@dataclass(frozen=True)
class Healed:
    """The new rules of a site, and how they came about.

    Attributes:
        rules: the new rules.
        reused: clusters with the old cluster whose rules all hold there.
        healed: rules that were learned again.
        lost: rules that broke and could not be repaired.
        refused: changes that were not made, because they would have done harm.
        to_label: clusters with lost rules or without any, and the pages that a person should label.
        kinds: what the pages of new clusters without rules seem to be: detail, list or other.
        counts: what became of rules and clusters, to be summed over sites.
    """

    rules: Rules
    reused: dict[str, str] = field(default_factory=dict)
    healed: list[Repair] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    refused: list[Refusal] = field(default_factory=list)
    to_label: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    counts: HealCounts = field(default_factory=HealCounts)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the rules themselves, as JSON data."""
        return {
            "reused": self.reused,
            "healed": [asdict(repair) for repair in self.healed],
            "lost": [asdict(loss) for loss in self.lost],
            "refused": [asdict(refusal) for refusal in self.refused],
            "to_label": self.to_label,
            "kinds": self.kinds,
            "counts": self.counts.to_dict(),
        }


def heal(rules: Rules | str | Path, fresh_pages: Iterable[Page] | str | Path) -> Rules:
    """Return rules that fit the site as it is now: those that still hold are kept, broken ones are repaired.

    A broken rule is learned again from the values that are remembered of the bellwethers. A rule that cannot be
    repaired is dropped until a person labels pages: no value is better than a wrong one.

    Args:
        rules: the rules of a site before it changed, or their file.
        fresh_pages: pages of the site as they are now, with fresh versions of the bellwethers among them, or the path
            of a source of them.

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
    if isinstance(rules, str | Path):
        rules = Rules.load(rules)
    return heal_site(rules, as_pages(fresh_pages)).rules


def heal_site(rules: Rules, fresh_pages: Iterable[Page], labeler: Labeler | None = None) -> Healed:
    """Heal the rules of a site as `heal` does, and report how that went.

    Args:
        rules: the rules of a site before it changed.
        fresh_pages: pages of the site as they are now.
        labeler: asked about attributes that what is remembered could not heal; its labels pass the same gate.
    """
    healing = _SiteHealing(rules, list(fresh_pages), labeler)
    for group in healing.find_groups():
        healing.heal_group(group)
    return healing.finish()


@dataclass(frozen=True)
class _Group:
    """Fresh pages of one template.

    Attributes:
        pages: the pages.
        owner: the old wrapper whose core they have; None for a new cluster.
        cluster: the new cluster; None if there is an owner.
    """

    pages: Sequence[Page]
    owner: Wrapper | None = None
    cluster: Cluster | None = None


@dataclass(frozen=True)
class _Outcome:
    """The proposed wrapper of a group.

    Attributes:
        repaired: the wrapper, and how its rules came about.
        old: the name of the cluster whose rules are reused or repaired; None if there are no rules.
    """

    repaired: RepairedCluster
    old: str | None = None


class _SiteHealing:
    """The wrappers of a site while it heals: old ones at first, replaced or joined by new ones group by group."""

    def __init__(self, rules: Rules, pages: list[Page], labeler: Labeler | None) -> None:
        self.rules = rules
        self.labeler = labeler
        self.pages = pages
        self.fresh = index_pages(pages)
        self.wrappers = {wrapper.cluster: wrapper for wrapper in rules.wrappers}
        self.old_names = set(self.wrappers)
        self.standing: set[str] = set()  # old wrappers that some fresh pages still match
        self.report = Healed(rules)
        self.counts = HealCounts()

    # Which pages belong together

    def find_groups(self) -> list[_Group]:
        """Return the pages of each old wrapper with rules, by their cores, and clusters of all pages without one."""
        owned = self._pages_by_owner()
        groups = [_Group(pages, self.wrappers[name]) for name, pages in owned.items()]
        self.standing = set(owned)
        named = set(chain.from_iterable(owned.values()))
        rest = [page for page in self.pages if page not in named]
        names = name_watched_pages(self.rules.wrappers)
        return groups + [_Group(fresh.pages, cluster=fresh) for fresh in cluster(rest, templates=names)]

    def _pages_by_owner(self) -> dict[str, list[Page]]:
        """Return the fresh pages that have the core of an old template, by its name."""
        index = WrapperIndex(self.rules.wrappers)
        owned: defaultdict[str, list[Page]] = defaultdict(list)
        for page in self.pages:
            match = index.match(page)
            if match.wrapper and not match.possible:
                owned[match.wrapper.cluster].append(page)
        watched_by = self._watched_by()
        return {name: pages for name, pages in owned.items() if self._is_standing(name, pages, watched_by)}

    def _watched_by(self) -> dict[Page, str]:
        """Return the cluster of each fresh version of a bellwether."""
        watched_by: dict[Page, str] = {}
        for wrapper in self.rules.wrappers:
            watched_by |= {page: wrapper.cluster for _, page in pair_bellwethers(wrapper, self.fresh)}
        return watched_by

    def _is_standing(self, name: str, pages: Sequence[Page], watched_by: Mapping[Page, str]) -> bool:
        """Return True if pages with the core of an old template are made from it.

        If they are the bellwethers of others, or if most bellwethers are elsewhere and there are few other pages, the
        site has changed. Then they are clustered anew.
        """
        own = sum(watched_by.get(page) == name for page in pages)
        strange = sum(watched_by.get(page, name) != name for page in pages)
        elsewhere = list(watched_by.values()).count(name) - own
        return strange <= own and (elsewhere <= own or 2 * elsewhere <= len(pages))

    # What becomes of a group

    def heal_group(self, group: _Group) -> None:
        """Propose rules for the pages of a group, and adopt them if they pass the gate.

        Nothing changes where the server is down or asks to log in: repairing rules on such pages would lose them.
        """
        pages = self._read_some(group.pages)
        if group.cluster and is_outage(self.rules.wrappers, pages):
            return
        outcome = self._propose_for_owner(group.owner, pages) if group.owner else None
        if group.cluster:
            outcome = self._propose_for_cluster(group.cluster, pages)
        if outcome:
            self._adopt(outcome, group, pages)
        if outcome and group.cluster and not outcome.old:
            [kind] = guess_kinds([replace(group.cluster, pages=pages)])
            self.report.kinds[outcome.repaired.wrapper.cluster] = kind.name
        for page in pages:
            page.release()

    def _read_some(self, pages: Sequence[Page]) -> list[Page]:
        """Parse the bellwethers among the pages and some others, evenly spread, and return those that can be read.

        They stay in memory until the group is healed: no page is parsed twice.
        """
        watched = self._watched_by()
        bellwethers = [page for page in pages if page in watched]
        others = [page for page in pages if page not in watched and is_moderate(page)]
        others = others[:: max(1, len(others) // MAX_OTHER_PAGES)][:MAX_OTHER_PAGES]
        readable = [page for page in others if not page.why_unreadable()]
        for page in bellwethers:
            page.why_unreadable()
        return [*bellwethers, *readable]

    def _make_repair(
        self, candidates: Sequence[Wrapper], pages: Sequence[Page], group: Cluster | None = None
    ) -> ClusterRepair:
        fresh = index_pages(pages)
        pairs: list[PagePair] = []
        for wrapper in candidates:
            pairs += pair_bellwethers(wrapper, fresh)
        remembered = {page for _, page in pairs}
        others = [page for page in pages if page not in remembered]
        signatures = group.signatures if group else candidates[0].signatures
        return ClusterRepair(candidates, pairs, others, signatures, self.rules.schema, self.labeler)

    def _propose_for_owner(self, owner: Wrapper, pages: Sequence[Page]) -> _Outcome | None:
        """Propose the rules of pages that have the core of an old template; None if these never had rules."""
        if not owner.rules and not owner.lost:
            return None
        repair = self._make_repair([owner], pages)
        if owner.records or not repair.pairs:
            return _Outcome(RepairedCluster(owner), owner.cluster)
        return _Outcome(repair.repair(owner), owner.cluster)

    def _propose_for_cluster(self, group: Cluster, pages: Sequence[Page]) -> _Outcome | None:
        """Propose the rules of a new cluster: repaired, reused, or none; None if nothing has to change."""
        if candidates := self._find_candidates(pages):
            repair = self._make_repair(candidates, pages, group)
            return self._propose_repair(repair, group, pages)
        old = self._find_reusable(pages)
        if old is None:
            empty = replace(empty_wrapper(group), cluster=self._free_name())
            return _Outcome(RepairedCluster(empty, to_label=[*pages_to_label(pages)]))
        if self._extracts_already(old, pages):
            return _Outcome(RepairedCluster(old), old.cluster)
        return _Outcome(RepairedCluster(self._fit(old, group)), old.cluster)

    def _propose_repair(self, repair: ClusterRepair, group: Cluster, pages: Sequence[Page]) -> _Outcome:
        old = repair.best_candidate
        repaired = repair.repair(self._fit(old, group))
        if repaired.is_unchanged and self._extracts_already(old, pages):
            return _Outcome(replace(repaired, wrapper=old), old.cluster)
        return _Outcome(repaired, old.cluster)

    def _fit(self, old: Wrapper, group: Cluster) -> Wrapper:
        """Return an old wrapper that recognizes the pages of a new cluster, under its name if that is free."""
        fitted = fit_wrapper(old, group)
        if old.cluster not in self.standing:
            return replace(fitted, cluster=old.cluster)
        pairs = pair_bellwethers(old, index_pages(group.pages))
        bellwethers = tuple(bellwether for bellwether, _ in pairs if bellwether)
        return replace(fitted, cluster=self._free_name(), bellwethers=bellwethers)

    def _find_candidates(self, pages: Sequence[Page]) -> list[Wrapper]:
        """Return the old wrappers with bellwethers among the pages that still show a record.

        If most bellwethers of a wrapper are here, they count even if they show none: the site has changed. A wrapper
        with pages of its own needs two, because a single page may be an exception.
        """
        fresh = index_pages(pages)
        candidates: list[Wrapper] = []
        for wrapper in self.rules.wrappers:
            pairs = pair_bellwethers(wrapper, fresh)
            if not pairs or wrapper.records:
                continue
            shown = len(pairs) - len(compare_pages(wrapper, pairs, self.rules.schema).gone)
            needed = MIN_SHOWN_BELLWETHERS if wrapper.cluster in self.standing else 1
            if shown >= needed or 2 * len(pairs) > len(wrapper.bellwethers):
                candidates.append(wrapper)
        return candidates

    def _find_reusable(self, pages: Sequence[Page]) -> Wrapper | None:
        """Return the old wrapper whose rules hold on pages without bellwethers."""
        schema = self.rules.schema
        for wrapper in self.rules.wrappers:
            if wrapper.records and 2 * _count_lists(wrapper, pages, schema) > len(pages):
                return wrapper
        details = [wrapper for wrapper in self.rules.wrappers if not wrapper.records]
        return find_holding_wrapper(details, pages, schema)

    def _extracts_already(self, wrapper: Wrapper, pages: Sequence[Page]) -> bool:
        """Return True if the rules as they are extract values from nearly all pages by this wrapper."""
        records = [self._current().extract_one(page) for page in pages]
        extracted = sum(bool(record.values) and record.cluster == wrapper.cluster for record in records)
        return extracted >= MIN_EXTRACTED_SHARE * len(pages)

    def _current(self) -> Rules:
        return Rules(self.rules.schema, tuple(self.wrappers.values()))

    def _free_name(self) -> str:
        """Return the first name of c1, c2 and so on that no cluster has, or had before."""
        number = 1
        while f"c{number}" in self.wrappers:
            number += 1
        return f"c{number}"

    # The gate

    def _adopt(self, outcome: _Outcome, group: _Group, pages: Sequence[Page]) -> None:
        """Adopt the wrapper of a group unless that does harm, renew its bellwethers, and report it."""
        wrapper = outcome.repaired.wrapper
        proposed = {**self.wrappers, wrapper.cluster: wrapper}
        caused = {repair.attribute for repair in outcome.repaired.repairs}
        caused |= {loss.attribute for loss in outcome.repaired.losses}
        harm = self._find_harm(proposed, pages, caused) if wrapper not in self.rules.wrappers else []
        if harm:
            self._refuse(outcome, harm)
            return
        self.standing.add(wrapper.cluster)
        renewed = self._renew(outcome, pages)
        self.wrappers = {**self.wrappers, wrapper.cluster: renewed.wrapper}
        self._report(outcome, len(group.pages), renewed.replaced)

    def _find_harm(
        self, proposed: Mapping[str, Wrapper], pages: Sequence[Page], caused: Collection[str]
    ) -> list[tuple[str, Difference]]:
        """Return the values of attributes whose rules hold that would be lost or changed."""
        before, after = self._current(), Rules(self.rules.schema, tuple(proposed.values()))
        harm: list[tuple[str, Difference]] = []
        for page in pages:
            old, new = _texts_of(before, page), _texts_of(after, page)
            for name, texts in old.items():
                if name not in caused and new.get(name) != texts:
                    harm.append((name, Difference(page.id, texts, new.get(name, ()))))
        return harm

    def _refuse(self, outcome: _Outcome, harm: Sequence[tuple[str, Difference]]) -> None:
        """Report a change that is not made, with examples of the values that it would have lost or changed."""
        name = outcome.old or outcome.repaired.wrapper.cluster
        by_attribute: defaultdict[str, list[Difference]] = defaultdict(list)
        for attribute, difference in harm:
            by_attribute[attribute].append(difference)
        for attribute, differences in by_attribute.items():
            why = f"values of {len(differences)} pages would be lost or changed without cause"
            shown = tuple(differences[:MAX_SHOWN_DIFFERENCES])
            self.report.refused.append(Refusal(name, attribute, why, shown))
        if outcome.old:
            self.standing.add(outcome.old)

    def _renew(self, outcome: _Outcome, pages: Sequence[Page]) -> Renewed:
        """Return the adopted wrapper with fresh bellwethers."""
        wrapper, schema = outcome.repaired.wrapper, self.rules.schema
        if wrapper.records or not wrapper.rules:
            return Renewed(wrapper, [], 0)
        pairs = pair_bellwethers(wrapper, index_pages(pages))
        gone = compare_pages(wrapper, pairs, schema).gone
        doubted = [refusal.attribute for refusal in outcome.repaired.refusals if refusal.attribute]
        return renew_bellwethers(wrapper, pages, schema, gone=gone, doubted=doubted)

    # The report

    def _report(self, outcome: _Outcome, pages: int, replaced: int) -> None:
        """Add what became of a group to the report."""
        repaired, report = outcome.repaired, self.report
        wrapper = repaired.wrapper
        report.healed.extend(repaired.repairs)
        report.lost.extend(repaired.losses)
        report.refused.extend(repaired.refusals)
        if repaired.to_label:
            report.to_label[wrapper.cluster] = repaired.to_label
        is_reused = outcome.old is not None and repaired.is_unchanged
        if is_reused and outcome.old:
            report.reused[wrapper.cluster] = outcome.old
        self.counts += HealCounts(
            clusters=1,
            reused=int(is_reused),
            pages=pages,
            reused_pages=pages if is_reused else 0,
            kept=len(wrapper.rules) - len(repaired.repairs) - len(repaired.refusals),
            relearned=len(repaired.repairs),
            lost=len(repaired.losses),
            replaced=replaced,
        )

    def finish(self) -> Healed:
        """Return the report, without new wrappers that would take pages from rules that hold."""
        self._drop_usurpers()
        self._drop_moved_bellwethers()
        counts = replace(self.counts, refused=len(self.report.refused))
        return replace(self.report, rules=self._current(), counts=counts)

    def _drop_usurpers(self) -> None:
        """Drop new wrappers without rules that match fresh pages which matched a wrapper with rules before."""
        added = {name for name, wrapper in self.wrappers.items() if not (wrapper.rules or wrapper.lost)}
        added -= self.old_names
        if not added:
            return
        before, after = WrapperIndex(self.rules.wrappers), WrapperIndex(list(self.wrappers.values()))
        for page in self.pages:
            taker = after.match(page).wrapper
            if taker and taker.cluster in added and _has_rules(before.match(page).wrapper):
                self.wrappers.pop(taker.cluster, None)
                self.report.to_label.pop(taker.cluster, None)

    def _drop_moved_bellwethers(self) -> None:
        """Let old clusters forget bellwethers that a new one watches: their template was divided."""
        added = [wrapper for name, wrapper in self.wrappers.items() if name not in self.old_names]
        moved = {bellwether.page for bellwether in chain.from_iterable(one.bellwethers for one in added)}
        for name in self.old_names & self.wrappers.keys():
            wrapper = self.wrappers[name]
            kept = tuple(bellwether for bellwether in wrapper.bellwethers if bellwether.page not in moved)
            self.wrappers[name] = replace(wrapper, bellwethers=kept)


def _has_rules(wrapper: Wrapper | None) -> bool:
    return wrapper is not None and bool(wrapper.rules)


def _count_lists(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> int:
    """Return on how many pages the rules of a list find records."""
    return sum(bool(extract_list(wrapper, page, schema)) for page in pages)


def _texts_of(rules: Rules, page: Page) -> dict[str, tuple[str, ...]]:
    """Return the texts of all values that rules extract from a page, by attribute."""
    texts: dict[str, tuple[str, ...]] = {}
    for record in rules.extract_page(page):
        for name, values in record.values.items():
            texts[name] = (*texts.get(name, ()), *(value.text for value in values))
    return texts
