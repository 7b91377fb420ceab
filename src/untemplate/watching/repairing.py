"""Repair the rules of one cluster after a change of the site (Vertex IV-C, and beyond it).

As in the paper, the field test decides whether rules of an old cluster are reused for a new one.

Departures. The field test compares with golden records instead of old versions of the pages, and decides for each
attribute instead of the whole wrapper. Attributes that fail are not left to a person. Their golden values are
searched for on the fresh pages and become labels, from which the rule is learned again. Values that changed are
searched for by their surroundings: the caption, the names around them, their shape. A new rule is accepted only if
it passes all tests on pages that were held back.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from untemplate.labeling import Label, Labeler
from untemplate.labeling.golden import GoldenLabeler
from untemplate.learning import SampleTable, learn_sample
from untemplate.learning.model_labels import choose_pages
from untemplate.learning.outvoting import confirm_labels
from untemplate.page import Page, Signature, signature
from untemplate.page.same_values import same_values
from untemplate.rules import Bellwether, Rule, Wrapper
from untemplate.rules.applying import Match, apply_wrapper
from untemplate.sampling import sample
from untemplate.schema import Schema
from untemplate.watching.comparing import Comparison, Evidence, PagePair, compare_pages
from untemplate.watching.judging import MAX_CHANGED_PAGES, Alarm, judge_attributes, make_delivery_alarm
from untemplate.watching.repair_reports import Difference, Loss, Refusal, Repair, RepairedCluster
from untemplate.watching.reusing import PAGES_TO_LABEL
from untemplate.watching.similar_places import find_alike
from untemplate.watching.value_shape import MIN_VALUES_FOR_SHAPE, ValueShape

__all__ = ["ClusterRepair"]

# These numbers are our judgment, without a sweep; `benchmarks.measure.redesigns` and
# `benchmarks.measure.repairs` show their effect on made-up sites and on real pages.
# Unlabeled pages to learn with, besides the bellwethers.
MAX_UNLABELED = 20
# One labeled page in this many is held back, to test the rule learned from the others.
HELD_BACK_STEP = 3
# A rule may fail the field test on this share of the bellwethers: data change now and then.
MAX_FAILING_SHARE = 0.1
# How often a rule that fails is learned again.
MAX_LEARNING_ROUNDS = 3
# Fewer remembered pages than the first number do not decide about a rule that works on at least as many other pages
# as the second number says: their data may have changed.
MIN_JUDGING_PAGES = 3
MIN_OUTVOTING_PAGES = 5
VALUES_NOT_FOUND = "its remembered values are not on the fresh pages"
# What a rule is said to be learned from instead of remembered values.
SIMILAR_PLACES = "places like those remembered"
ASKED_LABELS = "the labeler's answers"


@dataclass(frozen=True)
class _Attempt:
    """A wrapper with a rule that was learned again, or why there is none.

    Attributes:
        wrapper: the wrapper; None if there is no rule.
        note: what the rule was learned from, or why there is none.
        harm: what the rule does worse than the old one, if that is too much.
        confirmed: how many remembered values it finds.
        filled: how many remembered gaps it fills.
        doubts_gaps: it was learned without the remembered gaps, because no rule fits these and the other pages.
    """

    wrapper: Wrapper | None
    note: str
    harm: tuple[Difference, ...] = ()
    confirmed: int = 0
    filled: int = 0
    doubts_gaps: bool = False

    def is_better_than(self, other: _Attempt) -> bool:
        """Return True if this rule does no harm and, unless the other one does, fills fewer gaps at no cost."""
        if self.wrapper is None or self.harm:
            return False
        return bool(other.harm) or (self.filled < other.filled and self.confirmed >= other.confirmed)


@dataclass(frozen=True)
class ClusterRepair:
    """The repair of fresh pages' rules, from old wrappers that have bellwethers among them.

    All pages should be parsed; they stay so.

    Args:
        candidates: the old wrappers.
        pairs: their bellwethers, with their fresh pages.
        others: other fresh pages of the same template.
        signatures: signatures of the fresh pages.
        schema: the attributes of the rules.
        labeler: labels a few bellwethers where neither remembered values nor similar places give a rule.
    """

    candidates: Sequence[Wrapper]
    pairs: Sequence[PagePair]
    others: Sequence[Page]
    signatures: Sequence[Signature]
    schema: Schema
    labeler: Labeler | None = None
    _tables: dict[tuple[Page, ...], SampleTable] = field(default_factory=dict)

    @cached_property
    def _bellwethers(self) -> dict[str, Bellwether]:
        """What is remembered, by the id of the fresh page."""
        return {page.id: bellwether for bellwether, page in self.pairs if bellwether}

    @cached_property
    def _unlabeled(self) -> list[Page]:
        """Pages to generalize over that are no bellwethers."""
        return sample(self.others, MAX_UNLABELED)

    @cached_property
    def _best(self) -> tuple[Wrapper, dict[str, Alarm]]:
        judged = [(wrapper, self._find_alarms(wrapper)) for wrapper in self.candidates]
        return max(judged, key=lambda pair: (-len(pair[1]), *self._match(pair[0]), pair[0].importance))

    @property
    def best_candidate(self) -> Wrapper:
        """The wrapper whose rules hold best: by the field test, then by signatures as in the paper."""
        return self._best[0]

    @cached_property
    def _before(self) -> Evidence:
        """What the rules of the best candidate find."""
        return compare_pages(self.best_candidate, self.pairs, self.schema)

    def _match(self, wrapper: Wrapper) -> tuple[bool, bool]:
        """Return the paper's cluster match and page match."""
        cluster_match = set(wrapper.signatures) == set(self.signatures)
        pages = [*(page for _, page in self.pairs), *self.others]
        page_match = all(wrapper.matches_signature(signature(page.html)) for page in pages)
        return cluster_match, page_match

    def _find_alarms(self, wrapper: Wrapper, pairs: Sequence[PagePair] = ()) -> dict[str, Alarm]:
        """Return the alarms of a wrapper by attribute, on all bellwethers by default."""
        evidence = compare_pages(wrapper, pairs or self.pairs, self.schema)
        alarms = judge_attributes(evidence, self.schema, MAX_FAILING_SHARE)
        if evidence.gone and not evidence.pages:
            alarms |= {name: make_delivery_alarm(wrapper, evidence.gone, name) for name in wrapper.rules}
        return alarms

    def repair(self, wrapper: Wrapper) -> RepairedCluster:
        """Repair the broken rules of the best candidate, which is given as wrapper of the fresh pages.

        New rules may need other static text, which may break further rules; these are repaired in turn.
        """
        broken, refusals = self._find_broken(wrapper.cluster)
        if not broken:
            return RepairedCluster(wrapper, refusals=refusals)
        labels = self._golden_labels()
        repaired = RepairedCluster(replace(wrapper, lost=()), refusals=refusals)
        treated = {refusal.attribute for refusal in refusals}
        while broken:
            treated.update(broken)
            repaired = replace(repaired, wrapper=_without_rules(repaired.wrapper, broken))
            for name in broken:
                repaired = self._treat(repaired, name, labels)
            alarms = self._find_alarms(repaired.wrapper)
            broken = [name for name in alarms if name not in treated]
        if repaired.wrapper.lost:
            pages = [*(page for _, page in self.pairs), *self.others]
            repaired.to_label.extend(page.id for page in sample(pages, PAGES_TO_LABEL))
        return repaired

    def _find_broken(self, cluster: str) -> tuple[list[str], list[Refusal]]:
        """Return the attributes whose rules have to be learned again, and those that fail on too few pages."""
        broken: list[str] = []
        refusals: list[Refusal] = []
        for name, alarm in self._best[1].items():
            if self._is_outvoted(name):
                why = f"{alarm.test} test fails on {len(alarm.pages)} page, and holds on all others"
                refusals.append(Refusal(cluster, name, why))
            else:
                broken.append(name)
        return broken, refusals

    def _is_outvoted(self, name: str) -> bool:
        """Return True if the rule works as usual on many other pages, and few remembered ones say that it fails."""
        if len(self._remembered(name)) >= MIN_JUDGING_PAGES or len(self.others) < MIN_OUTVOTING_PAGES:
            return False
        return name in self.best_candidate.rules and self._test_on_others(self.best_candidate, name) is None

    def _treat(self, repaired: RepairedCluster, name: str, labels: Sequence[Label]) -> RepairedCluster:
        """Return the cluster with the rule of an attribute learned again, kept, or lost."""
        wrapper = repaired.wrapper
        attempt = self._weigh(self._relearn(wrapper, name, labels), name)
        if attempt.harm or attempt.filled:
            # Pages that were held back may show what the rule has to exclude.
            second = self._weigh(self._learn_from_all(wrapper, name, labels), name)
            attempt = second if second.is_better_than(attempt) else attempt
        if attempt.wrapper and not attempt.harm:
            repair = Repair(wrapper.cluster, name, attempt.note)
            return replace(repaired, wrapper=attempt.wrapper, repairs=[*repaired.repairs, repair])
        why = "a rule learned again does worse" if attempt.harm else attempt.note
        if old_rule := self._mostly_right_rule(name):
            refusal = Refusal(wrapper.cluster, name, f"the old rule stays: {why}", attempt.harm)
            return replace(
                repaired,
                wrapper=replace(wrapper, rules={**wrapper.rules, name: old_rule}),
                refusals=[*repaired.refusals, refusal],
            )
        return replace(
            repaired,
            wrapper=replace(wrapper, lost=(*wrapper.lost, name)),
            losses=[*repaired.losses, Loss(wrapper.cluster, name, why)],
        )

    def _mostly_right_rule(self, name: str) -> Rule | None:
        """Return the old rule if it finds more remembered values than it misses."""
        remembered = self._remembered(name)
        is_mostly_right = 2 * _count_confirmed(remembered) > len(remembered)
        return self.best_candidate.rules.get(name) if is_mostly_right else None

    def _remembered(self, name: str) -> list[Comparison]:
        """Return what the old rule finds on the pages of which values of an attribute are remembered."""
        return [comparison for comparison in self._before.comparisons.get(name, ()) if comparison.golden]

    def _weigh(self, attempt: _Attempt, name: str) -> _Attempt:
        """Return an attempt with what its rule does better and worse than the old one on remembered pages.

        It may miss a few values that the old rule finds, and find a few on pages that never had any, if it finds far
        more that are right. What it finds on such pages must look like a value.
        """
        if attempt.wrapper is None:
            return attempt
        before = {comparison.page: comparison for comparison in self._before.comparisons.get(name, ())}
        after = compare_pages(attempt.wrapper, self.pairs, self.schema).comparisons.get(name, ())
        confirmed = _count_confirmed(after)
        gained = confirmed - _count_confirmed(before.values())
        harmed = _find_harmed(before, after)
        filled = [new for new in after if new.is_filled_gap]
        harm: Sequence[Difference] = ()
        if len(harmed) > MAX_FAILING_SHARE * (gained + len(harmed)):
            harm = harmed
        elif len(filled) > max(1, MAX_CHANGED_PAGES * gained) and not attempt.doubts_gaps:
            harm = _as_differences(filled)
        else:
            harm = _as_differences(new for new in filled if self._is_implausible(name, new))
        return replace(attempt, harm=tuple(harm), confirmed=confirmed, filled=len(filled))

    def _is_implausible(self, name: str, filled: Comparison) -> bool:
        """Return True if what is found on a page without a value is another attribute's value, or no such value."""
        attribute = self.schema.attributes[name]
        golden = self._bellwethers[filled.page].golden
        if any(same_values(texts, filled.found, attribute.type) for texts in golden.values()):
            return True
        values = self._golden_texts(name)
        shape = ValueShape.of(values, attribute.type)
        return len(values) >= MIN_VALUES_FOR_SHAPE and not all(map(shape.fits, filled.found))

    def _golden_texts(self, name: str) -> list[str]:
        texts: list[str] = []
        for bellwether in self._bellwethers.values():
            texts += bellwether.golden.get(name, ())
        return texts

    def _golden_labels(self) -> list[Label]:
        """Return the remembered values as labels of the fresh pages, without those that were doubtful.

        Pages that show another record now say nothing about remembered values.
        """
        goldens = {page: bellwether.golden for page, bellwether in self._bellwethers.items()}
        pages = [page for _, page in self.pairs if page.id not in self._before.reused]
        labels = GoldenLabeler(goldens, self.schema).label(pages)
        doubtful: set[tuple[str, str]] = set()
        for page_id, bellwether in self._bellwethers.items():
            doubtful |= {(page_id, name) for name in bellwether.unsure}
        return [label for label in labels if (label.page, label.attribute) not in doubtful]

    def _relearn(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> _Attempt:
        """Return the first attempt to learn the rule of an attribute again that succeeds; else the first of all."""
        own_labels = [label for label in labels if label.attribute == name]
        failed: list[_Attempt] = []
        for attempt in self._attempts(wrapper, name, own_labels):
            if attempt.wrapper:
                return attempt
            failed.append(attempt)
        return failed[0]

    def _attempts(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> Iterator[_Attempt]:
        """Learn a rule from remembered values, from similar places if values changed, and from the labeler's answers.

        A remembered gap is only what the old rule did not find, so a rule is also learned without the gaps.
        """
        yield self._learn_and_test(wrapper, name, labels)
        values = [label for label in labels if not label.is_gap]
        if len(values) < len(labels):
            yield replace(self._learn_and_test(wrapper, name, values), doubts_gaps=True)
        if not self.schema.attributes[name].constant:
            similar = self._learn_and_test(wrapper, name, self._similar_places(name))
            yield replace(similar, note=similar.note.replace("remembered values", SIMILAR_PLACES))
        answers = [label for label in self._answers if label.attribute == name]
        asked = self._learn_and_test(wrapper, name, answers)
        yield replace(asked, note=asked.note.replace("remembered values", ASKED_LABELS))

    def _learn_from_all(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> _Attempt:
        """Learn a rule from all labeled pages, and test it there."""
        labels = [label for label in labels if label.attribute == name]
        if all(label.is_gap for label in labels):
            return _Attempt(None, VALUES_NOT_FOUND)
        attempt, _ = self._learn_without(wrapper, name, labels, ())
        return attempt

    def _learn_and_test(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> _Attempt:
        """Learn a rule from most labeled pages, and test it on the others.

        Pages on which the rule fails are learned from too, as long as others are left to test it on.
        """
        if all(label.is_gap for label in labels):
            return _Attempt(None, VALUES_NOT_FOUND)
        labeled = list(dict.fromkeys(label.page for label in labels))
        held_back = labeled[::HELD_BACK_STEP] if len(labeled) >= HELD_BACK_STEP else []
        attempt = _Attempt(None, "")
        for _ in range(MAX_LEARNING_ROUNDS):
            attempt, failed = self._learn_without(wrapper, name, labels, held_back)
            held_back = [page for page in held_back if page not in failed]
            if not failed or not held_back:
                break
        return attempt

    def _learn_without(
        self, wrapper: Wrapper, name: str, labels: Sequence[Label], held_back: Sequence[str]
    ) -> tuple[_Attempt, Sequence[str]]:
        """Learn a rule without the labels of some pages, and test it on these.

        Returns:
            The attempt, and the pages on which the rule fails. No pages if there is no rule to test.
        """
        used = [label for label in labels if label.page not in held_back]
        repaired = self._learn_rule(wrapper, name, used)
        if repaired is None:
            return _Attempt(None, "no rule tells its remembered values from other texts"), ()
        alarm = self._test_rule(repaired, name, held_back) or self._test_on_others(repaired, name)
        if alarm is None:
            return self._accept(repaired, name, len({label.page for label in used})), ()
        why_not = f"a rule learned from its remembered values fails: {alarm.test} test, {alarm.seen}"
        return _Attempt(None, why_not), alarm.pages

    def _learn_rule(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> Wrapper | None:
        """Return the wrapper with a new rule for one attribute; None if none is found."""
        pages = {page.id: page for _, page in self.pairs}
        labels_of: dict[Page, list[Label]] = {}
        for label in labels:
            labels_of.setdefault(pages[label.page], []).append(label)
        learned = learn_sample(self._table((*labels_of, *self._unlabeled)), labels_of, self.schema)
        if name not in learned.rules:
            return None
        static = tuple(sorted({*wrapper.static, *learned.static}))
        rule = {name: learned.rules[name]}
        if self._finds_same(replace(wrapper, rules=rule), replace(wrapper, rules=rule, static=static)):
            static = wrapper.static  # other static text may change what the other rules find
        return replace(wrapper, rules={**wrapper.rules, **rule}, static=static)

    def _finds_same(self, wrapper: Wrapper, other: Wrapper) -> bool:
        """Return True if two wrappers find the same values on all pages."""
        pages = [page for _, page in self.pairs if not page.why_unreadable()]
        return all(
            _texts(apply_wrapper(wrapper, page, self.schema.attributes))
            == _texts(apply_wrapper(other, page, self.schema.attributes))
            for page in [*pages, *self.others]
        )

    def _table(self, pages: tuple[Page, ...]) -> SampleTable:
        """Return the table of some pages; attributes that are labeled on the same pages share it."""
        if pages not in self._tables:
            self._tables[pages] = SampleTable(pages)
        return self._tables[pages]

    def _test_rule(self, wrapper: Wrapper, name: str, held_back: Sequence[str]) -> Alarm | None:
        """Test a new rule on the pages held back, or on all pages if there are none."""
        pairs = [pair for pair in self.pairs if pair[1].id in held_back]
        return self._find_alarms(wrapper, pairs).get(name)

    def _test_on_others(self, wrapper: Wrapper, name: str) -> Alarm | None:
        """Test a new rule on pages that are not remembered: one that fits these alone finds nothing there."""
        if not self.others:
            return None
        return self._find_alarms(wrapper, [(None, page) for page in self.others]).get(name)

    def _accept(self, wrapper: Wrapper, name: str, pages: int) -> _Attempt:
        """Accept a rule that passed the tests, unless it is constant and finds another value than is on the page."""
        if self.schema.attributes[name].constant:
            comparisons = compare_pages(wrapper, self.pairs, self.schema).comparisons[name]
            if any(comparison.is_elsewhere and comparison.found for comparison in comparisons):
                why_not = "a rule learned from its remembered values finds others while these are on the page"
                return _Attempt(None, why_not)
        return _Attempt(wrapper, f"learned from remembered values on {pages} pages")

    @cached_property
    def _answers(self) -> list[Label]:
        """What the labeler says about a few bellwethers, as far as its answers agree; it is asked once."""
        if self.labeler is None:
            return []
        pages = choose_pages((page for _, page in self.pairs), PAGES_TO_LABEL)
        return confirm_labels(pages, self.labeler.label(pages), self.schema, self._unlabeled).labels

    def _similar_places(self, name: str) -> list[Label]:
        """Return labels of values that changed, found by their surroundings; none if `many` or never seen."""
        profiles = [wrapper.profiles[name] for wrapper in self.candidates if name in wrapper.profiles]
        if not profiles or self.schema.attributes[name].many:
            return []
        bellwethers = list(chain.from_iterable(wrapper.bellwethers for wrapper in self.candidates))
        values = [bellwether.golden.get(name, ()) for bellwether in bellwethers]
        golden = list(chain.from_iterable(values))
        fill = sum(name in bellwether.golden for bellwether in bellwethers) / len(bellwethers)
        pages = [page for _, page in self.pairs]
        return find_alike(self.schema.attributes[name], profiles[0], golden, fill, pages)


def _texts(values_of: Mapping[str, Sequence[Match]]) -> dict[str, list[str]]:
    return {name: [value.text for value in values] for name, values in values_of.items()}


def _as_differences(filled: Iterable[Comparison]) -> list[Difference]:
    return [Difference(comparison.page, (), comparison.found) for comparison in filled]


def _count_confirmed(comparisons: Iterable[Comparison]) -> int:
    return sum(comparison.is_confirmed for comparison in comparisons)


def _find_harmed(before: Mapping[str, Comparison], after: Iterable[Comparison]) -> list[Difference]:
    """Return the remembered values that came out before, by page, and do not after."""
    harmed = []
    for comparison in after:
        old = before.get(comparison.page, comparison)
        if old.is_confirmed and not comparison.is_confirmed:
            harmed.append(Difference(comparison.page, old.found, comparison.found))
    return harmed


def _without_rules(wrapper: Wrapper, names: Sequence[str]) -> Wrapper:
    rules = {name: rule for name, rule in wrapper.rules.items() if name not in names}
    profiles = {name: profile for name, profile in wrapper.profiles.items() if name not in names}
    return replace(wrapper, rules=rules, profiles=profiles)
