"""Heal: keep the rules that still hold on a changed site, repair the others (Vertex IV-C, and beyond it).

As in the paper, fresh pages are clustered anew, the old clusters that share URLs with a new one are candidates for
it, and the field test decides whether their rules are reused.

Departures. The field test compares with golden records instead of old versions of the pages, which hold the same
values, and it decides for each attribute instead of for the whole wrapper. Attributes that fail are not left to a
person: their golden values are found again on the fresh pages and become labels, from which the rule is learnt anew.
It is accepted only if it passes all tests on pages that were held back. What fails is lost until a person labels it:
no value is better than a wrong one. The rules of list pages are kept, not repaired: nothing is remembered of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from untemplate.clustering import Cluster, cluster
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.labeling.golden import GoldenLabeler
from untemplate.learning import Table, learn_rules
from untemplate.page import Page, signature
from untemplate.rules import Wrapper
from untemplate.sampling import sample
from untemplate.schema import Schema
from untemplate.watching.alarm import Alarm
from untemplate.watching.bellwethers import remember
from untemplate.watching.evidence import Pair, by_name, gather, pair
from untemplate.watching.judging import judge_attributes
from untemplate.watching.lists import holding_list
from untemplate.watching.neighborhood import find_alike

__all__ = ["Healed", "Loss", "Repair", "heal", "heal_site"]

# Unlabelled pages to learn with, besides the bellwethers.
SAMPLE = 20
# One labelled page in so many is held back, to test the rule learnt from the others.
HELD_BACK = 3
# A rule that fails the field test on fewer of the bellwethers still holds: now and then data change.
BROKEN_SHARE = 0.1
# How often a rule that fails is learnt again.
ROUNDS = 3
# Pages that a person is asked to label where nothing else helped.
TO_LABEL = 5


@dataclass(frozen=True)
class Repair:
    """A rule that was learnt anew."""

    cluster: str
    attribute: str
    how: str


@dataclass(frozen=True)
class Loss:
    """A rule that broke and could not be repaired."""

    cluster: str
    attribute: str
    why: str


@dataclass
class Healed:
    """The new rules, and how they came about."""

    rules: Rules
    reused: dict[str, str] = field(default_factory=dict)  # new cluster → the old one whose rules all hold
    healed: list[Repair] = field(default_factory=list)
    lost: list[Loss] = field(default_factory=list)
    to_label: dict[str, list[str]] = field(default_factory=dict)  # cluster → pages for a person


def heal(rules: Rules, fresh_pages: Iterable[Page]) -> Rules:
    """The rules with what still holds kept, and what broke repaired or marked as lost."""
    return heal_site(rules, fresh_pages).rules


def heal_site(rules: Rules, fresh_pages: Iterable[Page]) -> Healed:
    """Heal the rules of a site, and report how that went."""
    pages = list(fresh_pages)
    healed = Healed(rules)
    wrappers: list[Wrapper] = []
    for group in cluster(pages):
        fresh = by_name(group.pages)
        candidates = [one for one in rules.wrappers if pair(one, fresh)]
        if candidates:
            wrappers.append(_Patient(group, candidates, rules.schema, healed).heal(wrappers))
        elif holding := holding_list(group, rules):
            empty = _unlabelled(group, wrappers)
            kept = replace(empty, rules=holding.rules, static=holding.static, records=holding.records)
            healed.reused[kept.cluster] = holding.cluster
            wrappers.append(kept)
        else:
            wrappers.append(_unlabelled(group, wrappers))
    seen = {name for page in pages for name in (page.id, page.url)}
    vectors = [signature(page.html) for page in pages]
    for old in rules.wrappers:
        watched = any(known.page in seen or known.url in seen for known in old.bellwethers)
        watched |= bool(old.records) and old.cluster in healed.reused.values()
        if not watched and (old.rules or not any(map(old.matches_signature, vectors))):
            wrappers.append(replace(old, cluster=_free_name(old.cluster, wrappers)))
    healed.rules = Rules(rules.schema, tuple(wrappers))
    return healed


def _unlabelled(group: Cluster, wrappers: Sequence[Wrapper]) -> Wrapper:
    """Pages of a kind that has no rules."""
    name = _free_name(group.id, wrappers)
    return Wrapper(name, group.signatures, group.importance, group.url_pattern, {})


def _free_name(name: str, wrappers: Sequence[Wrapper]) -> str:
    taken = {wrapper.cluster for wrapper in wrappers}
    numbers = (f"c{number}" for number in range(1, len(taken) + 2))
    return name if name not in taken else next(one for one in numbers if one not in taken)


@dataclass
class _Patient:
    """A new cluster, and the old wrappers that share pages with it."""

    group: Cluster
    candidates: Sequence[Wrapper]
    schema: Schema
    healed: Healed

    def heal(self, others: Sequence[Wrapper]) -> Wrapper:
        old, broken = self._choose()
        name = _free_name(old.cluster, others)
        wrapper = replace(
            old,
            cluster=name,
            signatures=self.group.signatures,
            importance=self.group.importance,
            url_pattern=self.group.url_pattern,
        )
        if not broken:
            self.healed.reused[name] = old.cluster
        else:
            wrapper = self._repair(wrapper, broken)
        return self._remember(wrapper)

    def _choose(self) -> tuple[Wrapper, list[str]]:
        """The wrapper whose rules hold best: by signatures as in the paper, then by the field test."""
        ranked = []
        for wrapper in self.candidates:
            broken = self._broken(wrapper, self._pairs)
            ranked.append((-len(broken), *self._match(wrapper), wrapper.importance, wrapper, broken))
        best = max(ranked, key=lambda rank: rank[:-2])
        return best[-2], best[-1]

    def _match(self, wrapper: Wrapper) -> tuple[bool, bool]:
        """The paper's cluster match and page match."""
        cluster_match = set(wrapper.signatures) == set(self.group.signatures)
        page_match = all(wrapper.matches_signature(signature(page.html)) for page in self.group.pages)
        return cluster_match, page_match

    @property
    def _pairs(self) -> list[Pair]:
        fresh = by_name(self.group.pages)
        return [found for wrapper in self.candidates for found in pair(wrapper, fresh)]

    def _repair(self, wrapper: Wrapper, broken: Sequence[str]) -> Wrapper:
        """The wrapper with broken rules learnt anew, and those that new static text breaks in turn."""
        goldens = {page.id: known.golden for known, page in self._pairs if known}
        unsure = {(page.id, name) for known, page in self._pairs if known for name in known.unsure}
        labels = GoldenLabeler(goldens, self.schema).label([page for _, page in self._pairs])
        labels = [label for label in labels if (label.page, label.attribute) not in unsure]
        wrapper = replace(wrapper, lost=())
        treated: set[str] = set()
        while broken := [name for name in broken if name not in treated]:
            treated.update(broken)
            wrapper = _without(wrapper, broken)
            for name in broken:
                own = [label for label in labels if label.attribute == name]
                repaired, how = self._relearn(wrapper, name, own)
                if repaired is None and not self.schema.attributes[name].constant:
                    repaired, how = self._relearn_alike(wrapper, name, how)
                if repaired:
                    self.healed.healed.append(Repair(wrapper.cluster, name, how))
                else:
                    self.healed.lost.append(Loss(wrapper.cluster, name, how))
                wrapper = repaired or replace(wrapper, lost=(*wrapper.lost, name))
            broken = self._broken(wrapper, self._pairs)
        if wrapper.lost:
            self.healed.to_label[wrapper.cluster] = [page.id for page in sample(self.group, TO_LABEL)]
        return wrapper

    def _broken(self, wrapper: Wrapper, pairs: Sequence[Pair]) -> list[str]:
        verdicts = judge_attributes(gather(wrapper, pairs, self.schema), self.schema, BROKEN_SHARE)
        return [name for name, alarms in verdicts.items() if alarms]

    def _relearn(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> tuple[Wrapper | None, str]:
        """The wrapper with a new rule for one attribute, or None; and how, or why not.

        Pages on which the rule fails are learnt from too, as long as others are left to test it on.
        """
        labelled = list(dict.fromkeys(label.page for label in labels))
        if all(label.is_gap for label in labels):
            return None, "its remembered values are not on the fresh pages"
        held_back = labelled[::HELD_BACK] if len(labelled) >= HELD_BACK else []
        why = ""
        for _ in range(ROUNDS):
            repaired = self._learn(wrapper, name, [one for one in labels if one.page not in held_back])
            if repaired is None:
                return None, "no rule tells its remembered values from other texts"
            alarms = self._test(repaired, name, held_back)
            if not alarms and self._errs(repaired, name):
                return (
                    None,
                    "a rule learnt from its remembered values finds others while these are on the page",
                )
            if not alarms:
                return repaired, f"learnt from remembered values on {len(labelled) - len(held_back)} pages"
            why = f"a rule learnt from its remembered values fails: {alarms[0].test} test, {alarms[0].seen}"
            failed = {page for alarm in alarms for page in alarm.pages}
            held_back = [page for page in held_back if page not in failed]
            if not held_back:
                break
        return None, why

    def _test(self, wrapper: Wrapper, name: str, held_back: Sequence[str]) -> list[Alarm]:
        """The tests that a new rule fails on pages it was not learnt from, or on all where there are no such."""
        pairs = [one for one in self._pairs if one[1].id in held_back] or self._pairs
        verdicts = judge_attributes(gather(wrapper, pairs, self.schema), self.schema, BROKEN_SHARE)
        return verdicts.get(name, [])

    def _errs(self, wrapper: Wrapper, name: str) -> bool:
        """Whether a rule finds another value on any page that still shows the remembered one."""
        comparisons = gather(wrapper, self._pairs, self.schema).comparisons[name]
        is_constant = self.schema.attributes[name].constant
        return is_constant and any(one.is_elsewhere and one.found for one in comparisons)

    def _relearn_alike(self, wrapper: Wrapper, name: str, why: str) -> tuple[Wrapper | None, str]:
        """The same for an attribute whose values changed: its labels are places like those remembered."""
        known = [(owner, one) for owner in self.candidates for one in owner.bellwethers]
        profile = next((owner.profiles[name] for owner, _ in known if name in owner.profiles), None)
        golden = [text for _, one in known for text in one.golden.get(name, ())]
        if profile is None or self.schema.attributes[name].many:
            return None, why
        fill = sum(name in one.golden for _, one in known) / len(known)
        pages = [page for _, page in self._pairs]
        labels = find_alike(self.schema.attributes[name], profile, golden, fill, pages)
        repaired, how = self._relearn(wrapper, name, labels)
        return repaired, how.replace("remembered values", "places like those remembered") if repaired else why

    def _learn(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> Wrapper | None:
        by_id = {page.id: page for _, page in self._pairs}
        pages = [by_id[page] for page in dict.fromkeys(label.page for label in labels)]
        table = Table([*pages, *self._others])
        by_page = {
            number: [one for one in labels if one.page == page.id] for number, page in enumerate(pages)
        }
        rules, _ = learn_rules(table, by_page, self.schema)
        if name not in rules:
            return None
        static = tuple(sorted({*wrapper.static, *table.static}))
        return replace(wrapper, rules={**wrapper.rules, name: rules[name]}, static=static)

    @property
    def _others(self) -> list[Page]:
        """Pages to generalise over that are no bellwethers."""
        known = {page.id for _, page in self._pairs}
        return sample([page for page in self.group.pages if page.id not in known], SAMPLE)

    def _remember(self, wrapper: Wrapper) -> Wrapper:
        """The wrapper with fresh bellwethers; what is remembered of lost attributes stays."""
        known = {page.id: golden.golden for golden, page in self._pairs if golden}
        pages = [*(page for _, page in self._pairs), *self._others]
        fresh = remember(wrapper, pages, self.schema, {})
        kept = tuple(
            replace(one, golden={**_only(known.get(one.page, {}), wrapper.lost), **one.golden})
            for one in fresh.bellwethers
        )
        return replace(fresh, bellwethers=kept or wrapper.bellwethers)


def _without(wrapper: Wrapper, names: Sequence[str]) -> Wrapper:
    rules = {name: rule for name, rule in wrapper.rules.items() if name not in names}
    profiles = {name: profile for name, profile in wrapper.profiles.items() if name not in names}
    return replace(wrapper, rules=rules, profiles=profiles)


def _only(golden: Mapping[str, tuple[str, ...]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {name: texts for name, texts in golden.items() if name in names}
