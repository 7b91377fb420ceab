"""Repair the rules of one cluster after a change of the site (Vertex IV-C, and beyond it).

As in the paper, the field test decides whether rules of an old cluster are reused for a new one.

Departures. The field test compares with golden records instead of old versions of the pages, and decides for each
attribute instead of the whole wrapper. Attributes that fail are not left to a person. Their golden values are
searched for on the fresh pages and become labels, from which the rule is learned again. Values that changed are
searched for by their surroundings: the caption, the names around them, their shape. A new rule is accepted only if
it passes all tests on pages that were held back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from untemplate.clustering import Cluster
from untemplate.labeling import Label
from untemplate.labeling.golden import GoldenLabeler
from untemplate.learning import SampleTable, learn_sample
from untemplate.page import Node, Page, index_pages, signature
from untemplate.page.captions import text_before
from untemplate.page.dom import words_around
from untemplate.page.sameness import folded_words
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.sampling import sample
from untemplate.schema import Attribute, Schema
from untemplate.value_types import find_typed
from untemplate.watching.bellwethers import (
    NAMED_LEVELS,
    PagePair,
    compare_pages,
    finish_wrapper,
    pair_bellwethers,
)
from untemplate.watching.judging import Alarm, ValueShape, judge_attributes

__all__ = ["ClusterRepair", "Loss", "Repair", "RepairedCluster", "find_alike"]

# Unlabeled pages to learn with, besides the bellwethers.
MAX_UNLABELED = 20
# One labeled page in this many is held back, to test the rule learned from the others.
HELD_BACK_STEP = 3
# A rule may fail the field test on this share of the bellwethers: data change now and then.
MAX_FAILED_SHARE = 0.1
# How often a rule that fails is learned again.
MAX_ROUNDS = 3
# Pages that a person should label where nothing else helped.
PAGES_TO_LABEL = 5

# Similar surroundings: the same caption, or most of the names. A lower score is a guess.
MIN_SCORE = 0.5
# How much better than any other place the best one must be.
MIN_MARGIN = 0.2
# Nodes of one place that are scored: the others are like them.
MAX_SCORED_NODES = 5
# A place on a smaller share of the pages that had a value does not show that value.
MIN_FOUND_SHARE = 0.5


@dataclass(frozen=True)
class Repair:
    """A rule that was learned again."""

    cluster: str
    attribute: str
    how: str


@dataclass(frozen=True)
class Loss:
    """A rule that broke and could not be repaired."""

    cluster: str
    attribute: str
    why: str


@dataclass(frozen=True)
class RepairedCluster:
    """The new wrapper of a cluster, and how it came about.

    Attributes:
        wrapper: the rules, with fresh bellwethers.
        reused: the old cluster whose rules all hold; None if some had to be repaired, or there were none.
        repairs: rules that were learned again.
        losses: rules that could not be repaired.
        to_label: ids of pages that a person should label.
    """

    wrapper: Wrapper
    reused: str | None = None
    repairs: list[Repair] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    to_label: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Attempt:
    """A wrapper with a new rule, and how it was learned; or no wrapper, and why not."""

    wrapper: Wrapper | None
    note: str


@dataclass(frozen=True)
class ClusterRepair:
    """The repair of a new cluster from old wrappers that share pages with it.

    Args:
        group: the fresh pages.
        candidates: the old wrappers, each with a bellwether among the pages.
        schema: the attributes of the rules.
    """

    group: Cluster
    candidates: Sequence[Wrapper]
    schema: Schema

    @cached_property
    def _pairs(self) -> list[PagePair]:
        """Bellwethers of all candidates, with their fresh pages."""
        fresh = index_pages(self.group.pages)
        return [pair for wrapper in self.candidates for pair in pair_bellwethers(wrapper, fresh)]

    @cached_property
    def _bellwethers(self) -> dict[str, Bellwether]:
        """What is remembered, by the id of the fresh page."""
        return {page.id: bellwether for bellwether, page in self._pairs if bellwether}

    @cached_property
    def _unlabeled(self) -> list[Page]:
        """Pages to generalize over that are no bellwethers."""
        others = [page for page in self.group.pages if page.id not in self._bellwethers]
        return sample(others, MAX_UNLABELED)

    @cached_property
    def _best(self) -> tuple[Wrapper, dict[str, Alarm]]:
        judged = [(wrapper, self._find_alarms(wrapper)) for wrapper in self.candidates]
        return max(judged, key=lambda pair: (-len(pair[1]), *self._match(pair[0]), pair[0].importance))

    @property
    def best_candidate(self) -> Wrapper:
        """The wrapper whose rules hold best: by the field test, then by signatures as in the paper."""
        return self._best[0]

    def _match(self, wrapper: Wrapper) -> tuple[bool, bool]:
        """Return the paper's cluster match and page match."""
        cluster_match = set(wrapper.signatures) == set(self.group.signatures)
        page_match = all(wrapper.matches_signature(signature(page.html)) for page in self.group.pages)
        return cluster_match, page_match

    def _find_alarms(self, wrapper: Wrapper, pairs: Sequence[PagePair] = ()) -> dict[str, Alarm]:
        """Return the alarms of a wrapper by attribute, on all bellwethers by default."""
        evidence = compare_pages(wrapper, pairs or self._pairs, self.schema)
        return judge_attributes(evidence, self.schema, MAX_FAILED_SHARE)

    def repair(self, wrapper: Wrapper) -> RepairedCluster:
        """Repair the broken rules of the best candidate, which is given as wrapper of the new cluster.

        New rules may need other static text, which may break further rules; these are repaired in turn.
        """
        broken = list(self._best[1])
        if not broken:
            return RepairedCluster(self._refresh_bellwethers(wrapper), self.best_candidate.cluster)
        labels = self._golden_labels()
        wrapper = replace(wrapper, lost=())
        repairs: list[Repair] = []
        losses: list[Loss] = []
        treated: set[str] = set()
        while broken:
            treated.update(broken)
            wrapper = _without_rules(wrapper, broken)
            for name in broken:
                attempt = self._relearn(wrapper, name, labels)
                if attempt.wrapper:
                    repairs.append(Repair(wrapper.cluster, name, attempt.note))
                else:
                    losses.append(Loss(wrapper.cluster, name, attempt.note))
                wrapper = attempt.wrapper or replace(wrapper, lost=(*wrapper.lost, name))
            broken = [name for name in self._find_alarms(wrapper) if name not in treated]
        to_label = [page.id for page in sample(self.group, PAGES_TO_LABEL)] if wrapper.lost else []
        return RepairedCluster(self._refresh_bellwethers(wrapper), None, repairs, losses, to_label)

    def _golden_labels(self) -> list[Label]:
        """Return the remembered values as labels of the fresh pages, without those that were doubtful."""
        goldens = {page: bellwether.golden for page, bellwether in self._bellwethers.items()}
        labels = GoldenLabeler(goldens, self.schema).label([page for _, page in self._pairs])
        doubtful: set[tuple[str, str]] = set()
        for bellwether, page in self._pairs:
            doubtful |= {(page.id, name) for name in (bellwether.unsure if bellwether else ())}
        return [label for label in labels if (label.page, label.attribute) not in doubtful]

    def _relearn(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> _Attempt:
        """Learn the rule of an attribute from remembered values or, if these changed, from similar places."""
        attempt = self._learn_and_test(wrapper, name, [label for label in labels if label.attribute == name])
        if attempt.wrapper or self.schema.attributes[name].constant:
            return attempt
        second = self._learn_and_test(wrapper, name, self._similar_places(name))
        if not second.wrapper:
            return attempt
        return replace(second, note=second.note.replace("remembered values", "places like those remembered"))

    def _learn_and_test(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> _Attempt:
        """Learn a rule from most labeled pages, and test it on the others.

        Pages on which the rule fails are learned from too, as long as others are left to test it on.
        """
        if all(label.is_gap for label in labels):
            return _Attempt(None, "its remembered values are not on the fresh pages")
        labeled = list(dict.fromkeys(label.page for label in labels))
        held_back = labeled[::HELD_BACK_STEP] if len(labeled) >= HELD_BACK_STEP else []
        attempt = _Attempt(None, "")
        for _ in range(MAX_ROUNDS):
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
        alarm = self._test_rule(repaired, name, held_back)
        if alarm is None:
            return self._accept(repaired, name, len({label.page for label in used})), ()
        why_not = f"a rule learned from its remembered values fails: {alarm.test} test, {alarm.seen}"
        return _Attempt(None, why_not), alarm.pages

    def _learn_rule(self, wrapper: Wrapper, name: str, labels: Sequence[Label]) -> Wrapper | None:
        """Return the wrapper with a new rule for one attribute; None if none is found."""
        pages = {page.id: page for _, page in self._pairs}
        labels_of: dict[Page, list[Label]] = {}
        for label in labels:
            labels_of.setdefault(pages[label.page], []).append(label)
        learned = learn_sample(SampleTable([*labels_of, *self._unlabeled]), labels_of, self.schema)
        if name not in learned.rules:
            return None
        static = tuple(sorted({*wrapper.static, *learned.static}))
        return replace(wrapper, rules={**wrapper.rules, name: learned.rules[name]}, static=static)

    def _test_rule(self, wrapper: Wrapper, name: str, held_back: Sequence[str]) -> Alarm | None:
        """Test a new rule on the pages held back, or on all pages if there are none."""
        pairs = [pair for pair in self._pairs if pair[1].id in held_back]
        return self._find_alarms(wrapper, pairs).get(name)

    def _accept(self, wrapper: Wrapper, name: str, pages: int) -> _Attempt:
        """Accept a rule that passed the tests, unless it is constant and finds another value than is on the page."""
        if self.schema.attributes[name].constant:
            comparisons = compare_pages(wrapper, self._pairs, self.schema).comparisons[name]
            if any(comparison.is_elsewhere and comparison.found for comparison in comparisons):
                why_not = "a rule learned from its remembered values finds others while these are on the page"
                return _Attempt(None, why_not)
        return _Attempt(wrapper, f"learned from remembered values on {pages} pages")

    def _similar_places(self, name: str) -> list[Label]:
        """Return labels of values that changed, found by their surroundings; none if `many` or never seen."""
        profiles = [wrapper.profiles[name] for wrapper in self.candidates if name in wrapper.profiles]
        if not profiles or self.schema.attributes[name].many:
            return []
        bellwethers = list(chain.from_iterable(wrapper.bellwethers for wrapper in self.candidates))
        values = [bellwether.golden.get(name, ()) for bellwether in bellwethers]
        golden = list(chain.from_iterable(values))
        fill = sum(name in bellwether.golden for bellwether in bellwethers) / len(bellwethers)
        pages = [page for _, page in self._pairs]
        return find_alike(self.schema.attributes[name], profiles[0], golden, fill, pages)

    def _refresh_bellwethers(self, wrapper: Wrapper) -> Wrapper:
        """Return the wrapper with fresh bellwethers. Values of lost attributes stay remembered."""
        pages = [*(page for _, page in self._pairs), *self._unlabeled]
        fresh = finish_wrapper(wrapper, pages, self.schema, {})
        kept = []
        for bellwether in fresh.bellwethers:
            old = self._bellwethers.get(bellwether.page)
            lost = _select_golden(old.golden, wrapper.lost) if old else {}
            kept.append(replace(bellwether, golden={**lost, **bellwether.golden}))
        return replace(fresh, bellwethers=tuple(kept) or wrapper.bellwethers)


def _without_rules(wrapper: Wrapper, names: Sequence[str]) -> Wrapper:
    rules = {name: rule for name, rule in wrapper.rules.items() if name not in names}
    profiles = {name: profile for name, profile in wrapper.profiles.items() if name not in names}
    return replace(wrapper, rules=rules, profiles=profiles)


def _select_golden(golden: Mapping[str, tuple[str, ...]], names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    return {name: texts for name, texts in golden.items() if name in names}


@dataclass
class _SimilarPlace:
    """Nodes with the same path and caption on several pages, as a candidate for a value that changed."""

    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by page
    labels: dict[str, Label] = field(default_factory=dict)  # the first node of each page
    scores: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)

    def is_plausible(self, expected_pages: float, golden: Sequence[str]) -> bool:
        """Return True if it is on about as many pages as expected, once a page, and not always the same."""
        if any(len(texts) > 1 for texts in self.texts.values()):
            return False
        different = {texts[0] for texts in self.texts.values()}
        varies = len(different) > 1 or len(set(golden)) == 1 or len(self.texts) == 1
        return varies and len(self.texts) >= MIN_FOUND_SHARE * expected_pages

    def agrees_with(self, other: _SimilarPlace) -> bool:
        """Return True if two places show the same texts on all pages that have both."""
        return all(self.texts[page] == other.texts[page] for page in self.texts.keys() & other.texts.keys())


def find_alike(
    attribute: Attribute, profile: Profile, golden: Sequence[str], fill: float, pages: Sequence[Page]
) -> list[Label]:
    """Return labels at the place whose surroundings are most similar to those remembered.

    Args:
        attribute: the attribute to find.
        profile: the captions and names that used to be around its values.
        golden: its remembered values, for their shape.
        fill: the share of pages that used to have a value.
        pages: fresh pages.

    Returns:
        No labels if no place is similar enough, or if another is nearly as similar but shows other texts.
    """
    readable = [page for page in pages if not page.why_unreadable()]
    places = _group_places(readable, attribute, profile, ValueShape.of(golden, attribute.type))
    plausible = [place for place in places if place.is_plausible(fill * len(readable), golden)]
    best = max(plausible, key=lambda place: place.score, default=None)
    if best is None or best.score < MIN_SCORE:
        return []
    rivals = [place for place in plausible if place.score > best.score - MIN_MARGIN]
    return list(best.labels.values()) if all(map(best.agrees_with, rivals)) else []


def _group_places(
    pages: Iterable[Page], attribute: Attribute, profile: Profile, shape: ValueShape
) -> Iterable[_SimilarPlace]:
    """Return all places with texts of the right shape: nodes with the same path and caption."""
    places: defaultdict[tuple[str, str, bool], _SimilarPlace] = defaultdict(_SimilarPlace)
    for page in pages:
        for node, text, caption in _fitting_nodes(page, attribute, shape):
            place = places[node.path, caption, text == node.text]
            place.texts[page.id].append(text)
            place.labels.setdefault(page.id, Label(page.id, attribute.name, text, node.xpath, "neighborhood"))
            if len(place.scores) < MAX_SCORED_NODES:
                place.scores.append(_surroundings_score(node, caption, profile))
    return places.values()


def _fitting_nodes(page: Page, attribute: Attribute, shape: ValueShape) -> Iterator[tuple[Node, str, str]]:
    """Yield nodes that contain a text of the right shape, that text, and its caption."""
    is_link = attribute.type in ("url", "image")
    for node in page.nodes:
        if node.is_attribute != is_link:
            continue
        text = node.text if is_link else find_typed(node.text, attribute.type) or node.text
        if shape.fits(text):
            before = node.text.partition(text)[0]
            yield node, text, " ".join(folded_words(before) or folded_words(text_before(node)))


def _surroundings_score(node: Node, caption: str, profile: Profile) -> float:
    """Return from 0 to 1 how similar the surroundings are: half for the caption, half for the names."""
    captions = {" ".join(folded_words(text)) for text in profile.captions}
    names = set(words_around(node.parent, NAMED_LEVELS))
    shared = sum(name in names for name in profile.names) / len(profile.names) if profile.names else 0.0
    has_caption = bool(caption) and caption in captions
    return has_caption / 2 + shared / 2
