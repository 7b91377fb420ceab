"""The tests that decide whether the rules of a cluster still hold, and the alarms they raise (Vertex IV-B).

The paper has two tests. The shingle test checks whether most bellwethers still have their structure. The field test
checks whether mandatory attributes come out, and whether constant ones have their old value.

Departures. A failed shingle test raises no alarm if all other tests pass: sites change their advertisements more
often than their data. Attributes that are neither mandatory nor constant are tested too: whether they come out as
often as before, look as before, differ from page to page, and whether the committee agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import sqrt
from typing import Any

from untemplate.rules import Wrapper
from untemplate.rules.applying import NOT_SHOWN
from untemplate.schema import Attribute, Schema
from untemplate.value_types import TYPES
from untemplate.watching.bellwethers import MIN_GOLDEN_CONFIDENCE
from untemplate.watching.comparing import Comparison, Evidence
from untemplate.watching.value_shape import MIN_VALUES_FOR_SHAPE, MIN_VALUES_FOR_TRAITS, ValueShape

__all__ = [
    "MAX_CHANGED_PAGES",
    "MAX_ODD_PAGES",
    "MAX_UNLIKE_PAGES",
    "MIN_AGREEMENT_SHARE",
    "MIN_SIGMAS",
    "Alarm",
    "judge_attributes",
    "judge_delivery",
    "judge_matching",
    "judge_structure",
    "make_delivery_alarm",
    "share_deviation",
]

# All shares are of the pages compared.
# Vertex IV-B: the shingle test fails if the signatures of a majority of the bellwethers do not match.
MAX_UNLIKE_PAGES = 0.5
# Vertex IV-B: the field test fails if it fails on any of the bellwethers.
MAX_ODD_PAGES = 0.0
# The following numbers are our judgment, without a sweep; `benchmarks.measure.redesigns` and
# `benchmarks.measure.repairs` show their effect on made-up sites and on real pages.
# Pages come and go. If more than this share of the bellwethers is gone at once, the site changed.
MAX_MISSING_BELLWETHERS = 0.5
# The field test for values that may change by nature: missing, unlike those before, or new on pages that had none.
MAX_CHANGED_PAGES = 0.25
# Values that the committee doubts may be wrong, and wrong values come and go. The test fails if a majority of them
# is gone at once, as in the shingle test, and more than a single one.
MAX_DOUBTFUL_PAGES = 0.5
MAX_SINGLE_PAGES = 1
# On pages that are no bellwethers, a share must have fallen by this many standard deviations.
MIN_SIGMAS = 3
# Values that may change still confirm their rule if they are the same on this share of the pages.
MIN_CONFIRMING_SHARE = 0.2
# The committee disagrees if its confidence has fallen below this share of what it was.
MIN_AGREEMENT_SHARE = 0.5
# Shorter values, in letters and digits, occur somewhere on many pages.
MIN_DISTINCTIVE_LENGTH = 4
# The same value on fewer pages, or on a smaller share of them, is a coincidence.
MIN_REPEATED_PAGES = 3
MIN_REPEATED_SHARE = 0.5


@dataclass(frozen=True)
class Alarm:
    """A test that failed.

    Args:
        cluster: the cluster whose rules failed.
        test: the name of the test, such as `mandatory`, `moved` or `shingle`.
        attribute: the attribute that failed; None if the structure of the pages changed.
        expected: what the test expected, in words.
        seen: what it found instead, in words.
        pages: ids of the pages on which it failed.
        since: when the alarm was first raised, if that is known.

    Example:
        >>> from untemplate import Alarm
        >>> print(Alarm("c1", "mandatory", "phone", "'555-0100'", "nothing on 3 of 20 pages", ("1", "2", "3")))
        c1, mandatory test: phone: expected '555-0100'; seen nothing on 3 of 20 pages
    """

    cluster: str
    test: str
    attribute: str | None
    expected: str
    seen: str
    pages: tuple[str, ...]
    since: datetime | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What an alarm shares with earlier ones about the same problem."""
        return self.cluster, self.test, self.attribute

    def to_dict(self) -> dict[str, Any]:
        """Return the alarm as JSON data."""
        return asdict(self) | {"since": self.since and self.since.isoformat()}

    def __str__(self) -> str:
        what = f"{self.attribute}: " if self.attribute else ""
        return f"{self.cluster}, {self.test} test: {what}expected {self.expected}; seen {self.seen}"


def judge_structure(evidence: Evidence, max_share: float) -> Alarm | None:
    """Run the shingle test: return an alarm if more than this share of the pages have a new structure."""
    if len(evidence.unlike) <= max_share * len(evidence.watched):
        return None
    return Alarm(
        evidence.wrapper.cluster,
        "shingle",
        None,
        "pages with the structure of the cluster",
        f"{len(evidence.unlike)} of {len(evidence.watched)} pages have another",
        evidence.unlike,
    )


def judge_matching(evidence: Evidence, unmatched: Sequence[str], max_share: float) -> Alarm | None:
    """Return an alarm if more than this share of the watched pages get no record, because no rules match them.

    Args:
        evidence: the comparisons of one cluster.
        unmatched: ids of the watched pages that the site's rules do not assign to the cluster.
        max_share: the share of pages that may not match.
    """
    if len(unmatched) <= max_share * len(evidence.watched):
        return None
    seen = f"{len(unmatched)} of {len(evidence.watched)} pages match other rules, or none"
    return Alarm(
        evidence.wrapper.cluster, "match", None, "pages that match the rules", seen, tuple(unmatched)
    )


def judge_delivery(wrapper: Wrapper, missing: Sequence[str]) -> Alarm | None:
    """Return an alarm if most bellwethers were not delivered, or show no record any more.

    Args:
        wrapper: the rules of the cluster.
        missing: ids of these bellwethers.
    """
    if len(missing) <= MAX_MISSING_BELLWETHERS * len(wrapper.bellwethers):
        return None
    return make_delivery_alarm(wrapper, missing)


def make_delivery_alarm(wrapper: Wrapper, missing: Sequence[str], attribute: str | None = None) -> Alarm:
    """Return the alarm about bellwethers without a record, or about an attribute of these."""
    seen = f"none on {len(missing)} of {len(wrapper.bellwethers)} watched pages"
    return Alarm(
        wrapper.cluster, "bellwethers", attribute, "a record on each watched page", seen, tuple(missing)
    )


def judge_attributes(evidence: Evidence, schema: Schema, max_share: float) -> dict[str, Alarm]:
    """Return an alarm for each attribute whose rule no longer holds.

    Args:
        evidence: the comparisons of one cluster.
        schema: says which attributes are mandatory or constant.
        max_share: the share of bellwethers on which the field test may fail.
    """
    alarms = {}
    for name, comparisons in evidence.comparisons.items():
        judge = _AttributeJudge(evidence.wrapper, schema.attributes[name], comparisons, max_share)
        if alarm := judge.first_alarm():
            alarms[name] = alarm
    return alarms


@dataclass(frozen=True)
class _AttributeJudge:
    """The tests of one attribute."""

    wrapper: Wrapper
    attribute: Attribute
    comparisons: Sequence[Comparison]
    max_share: float

    def first_alarm(self) -> Alarm | None:
        """Return the alarm of the first test that fails, simplest test first; the others would repeat it."""
        tests = (
            self._test_mandatory,
            self._test_constant,
            self._test_moved,
            self._test_missing,
            self._test_filled,
            self._test_fill_of_others,
            self._test_shape,
            self._test_odd_values,
            self._test_repeated,
            self._test_seen,
            self._test_agreement,
        )
        for test in tests:
            if alarm := test():
                return alarm
        return None

    def _alarm_above(
        self, limit: float, test: str, odd: Sequence[Comparison], expected: str = "", seen: str = ""
    ) -> Alarm | None:
        """Return an alarm about comparisons that failed, if they are more than this number.

        Args:
            limit: as many may fail.
            test: the name of the test.
            odd: the comparisons that failed.
            expected: what the test expected, by default the remembered values.
            seen: what was found, by default the values.
        """
        if len(odd) <= limit:
            return None
        is_watched = all(comparison.golden is not None for comparison in odd)
        compared = len(self._watched) if is_watched else len(self.comparisons)
        what = seen or _quote(comparison.found for comparison in odd)
        return Alarm(
            self.wrapper.cluster,
            test,
            self.attribute.name,
            expected or _quote(comparison.golden for comparison in odd),
            f"{what} on {len(odd)} of {compared} pages",
            tuple(comparison.page for comparison in odd),
        )

    @property
    def _watched(self) -> list[Comparison]:
        """Comparisons of pages that are remembered, with or without a value."""
        return [comparison for comparison in self.comparisons if comparison.golden is not None]

    @property
    def _remembered(self) -> list[Comparison]:
        """Comparisons of pages with a remembered value."""
        return [comparison for comparison in self.comparisons if comparison.golden]

    @property
    def _found(self) -> list[Comparison]:
        return [comparison for comparison in self.comparisons if comparison.found]

    def _test_mandatory(self) -> Alarm | None:
        """The field test of a mandatory attribute. Gaps that are remembered do not count."""
        if not self.attribute.mandatory:
            return None
        missing = [
            comparison for comparison in self.comparisons if not comparison.found and comparison.golden != ()
        ]
        return self._alarm_above(self.max_share * len(self.comparisons), "mandatory", missing, seen="nothing")

    def _test_constant(self) -> Alarm | None:
        """The field test of a constant attribute."""
        if not self.attribute.constant:
            return None
        changed = [comparison for comparison in self._watched if comparison.is_other or comparison.is_missing]
        return self._alarm_above(self.max_share * len(self._watched), "constant", changed)

    def _test_moved(self) -> Alarm | None:
        """Fail if values are still on the page, where the rule does not find them."""
        moved = self._moved_values()
        lost = [comparison for comparison in moved if not comparison.found]
        remembered = len(self._remembered)
        if len(moved) <= MAX_CHANGED_PAGES * remembered and len(lost) <= self.max_share * remembered:
            return None
        if not lost and self._may_be_chance(moved):
            return None
        expected = f"{_quote(comparison.golden for comparison in moved)}, still on the page"
        return self._alarm_above(0, "moved", moved, expected)

    def _may_be_chance(self, moved: Sequence[Comparison]) -> bool:
        """Return True if old values may be elsewhere by chance, such as a price of yesterday among related products.

        That is so for a single page, and for values that change by nature: most old values that no longer come out
        are nowhere on their pages.
        """
        if len(self._remembered) > 1 and len(moved) == 1:
            return True
        changed = [one for one in self._remembered if one.is_other and not one.is_elsewhere]
        return not self.attribute.constant and len(moved) <= len(changed)

    def _moved_values(self) -> list[Comparison]:
        pages_with = Counter(comparison.golden for comparison in self._remembered)
        return [
            comparison
            for comparison in self._remembered
            if self._has_moved(comparison, pages_with[comparison.golden])
        ]

    def _has_moved(self, comparison: Comparison, pages_with_value: int) -> bool:
        """Return True if a value is elsewhere on its page, and not by chance."""
        if not comparison.is_elsewhere:
            return False
        if not comparison.found or self.attribute.constant:
            return True
        return pages_with_value == 1 and _is_distinctive(comparison.golden or ())

    def _test_missing(self) -> Alarm | None:
        """Fail if values no longer come out, remembered ones or others that were doubtful."""
        had_value = [
            comparison for comparison in self.comparisons if comparison.golden or comparison.was_doubtful
        ]
        missing = [comparison for comparison in had_value if not comparison.found]
        expected = "" if any(comparison.golden for comparison in missing) else "a value"
        alarm = self._alarm_above(MAX_CHANGED_PAGES * len(had_value), "fill", missing, expected, "nothing")
        return alarm or self._test_doubtful()

    def _test_doubtful(self) -> Alarm | None:
        """Fail if most doubtful values are gone: a rule finds them in its own way, which may break by itself."""
        doubtful = [comparison for comparison in self.comparisons if comparison.was_doubtful]
        missing = [comparison for comparison in doubtful if not comparison.found]
        limit = max(MAX_SINGLE_PAGES, MAX_DOUBTFUL_PAGES * len(doubtful))
        return self._alarm_above(limit, "fill", missing, "a value", "nothing")

    def _test_filled(self) -> Alarm | None:
        """Fail if values come out where there were none. On a single page they must also be doubtful."""
        gaps = [comparison for comparison in self.comparisons if comparison.golden == ()]
        filled = [comparison for comparison in gaps if comparison.found]
        if len(filled) == 1 and not self._is_unsure(filled):
            return None
        return self._alarm_above(MAX_CHANGED_PAGES * len(gaps), "fill", filled, "nothing")

    def _test_fill_of_others(self) -> Alarm | None:
        """Fail if pages that are no bellwethers have a value clearly less often than bellwethers had."""
        others = [comparison for comparison in self.comparisons if comparison.golden is None]
        bellwethers = self.wrapper.bellwethers
        if not others or not bellwethers:
            return None
        empty = [comparison for comparison in others if not comparison.found]
        usual = sum(self.attribute.name in bellwether.golden for bellwether in bellwethers) / len(bellwethers)
        now = 1 - len(empty) / len(others)
        deviation = share_deviation(usual, len(bellwethers), now, len(others))
        if usual - now <= max(MAX_CHANGED_PAGES, MIN_SIGMAS * deviation):
            return None
        return self._alarm_above(0, "fill", empty, f"a value on {usual:.0%} of the pages", "nothing")

    def _test_shape(self) -> Alarm | None:
        """Fail if values do not look like those that are remembered."""
        golden = self._golden_texts()
        if len(golden) < MIN_VALUES_FOR_SHAPE:
            return None
        shape = ValueShape.of(golden, self.attribute.type)
        changed = [comparison for comparison in self._found if not comparison.is_same]
        odd = [comparison for comparison in changed if not all(map(shape.fits, comparison.found))]
        expected = f"values such as {_quote([golden[:3]])}"
        return self._alarm_above(MAX_CHANGED_PAGES * len(self._found), "shape", odd, expected)

    def _test_odd_values(self) -> Alarm | None:
        """Fail if a value on a page without a remembered one neither looks like a value nor convinces the committee.

        Single pages matter here: most pages of a site are not remembered, and a rule that breaks on few of them
        finds something else there.
        """
        golden = self._golden_texts()
        profile = self.wrapper.profiles.get(self.attribute.name)
        if profile is None or len(golden) < MIN_VALUES_FOR_TRAITS:
            return None
        shape = ValueShape.of(golden, self.attribute.type)
        min_confidence = MIN_GOLDEN_CONFIDENCE * profile.agreement
        new = [one for one in self._found if not one.golden and not one.was_doubtful]
        doubtful = [comparison for comparison in new if comparison.agreement < min_confidence]
        odd = [comparison for comparison in doubtful if not any(map(shape.fits, comparison.found))]
        return self._alarm_above(0, "shape", odd, f"values such as {_quote([golden[:3]])}")

    def _test_repeated(self) -> Alarm | None:
        """Fail if one value comes out on page after page, where there were many."""
        golden = self._golden_texts()
        if len(self._found) < MIN_REPEATED_PAGES or len(set(golden)) < MIN_REPEATED_PAGES:
            return None
        usual_share = Counter(golden).most_common(1)[0][1] / len(golden)
        texts, count = Counter(comparison.found for comparison in self._found).most_common(1)[0]
        max_share = max(MIN_REPEATED_SHARE, min(1 - MAX_CHANGED_PAGES, 2 * usual_share))
        if count < MIN_REPEATED_PAGES or count / len(self._found) <= max_share:
            return None
        repeated = [comparison for comparison in self._found if comparison.found == texts]
        return self._alarm_above(0, "repeated", repeated, "values that differ")

    def _test_seen(self) -> Alarm | None:
        """Fail if the embedded data have values that pages used to show, and no longer do. Nobody reads links."""
        profile = self.wrapper.profiles.get(self.attribute.name)
        if profile is None or profile.agreement <= NOT_SHOWN or TYPES[self.attribute.type].is_link:
            return None
        unseen = [comparison for comparison in self._remembered if comparison.is_unseen]
        limit = max(self.max_share, MAX_CHANGED_PAGES) * len(self._remembered)
        return self._alarm_above(limit, "seen", unseen, "values that the page shows")

    def _test_agreement(self) -> Alarm | None:
        """Fail if the committee no longer agrees, and no remembered values confirm the rule."""
        watched = [comparison for comparison in self._found if comparison.golden is not None]
        same = sum(comparison.is_same for comparison in watched)
        if not self._is_unsure(self._found) or same > MIN_CONFIRMING_SHARE * len(watched):
            return None
        changed = [comparison for comparison in self._found if not comparison.is_same]
        expected = f"a confidence of {self.wrapper.profiles[self.attribute.name].agreement:.2f}"
        return self._alarm_above(0, "agreement", changed, expected, f"{_mean_agreement(self._found):.2f}")

    def _is_unsure(self, comparisons: Sequence[Comparison]) -> bool:
        """Return True if the committee's confidence has clearly fallen."""
        profile = self.wrapper.profiles.get(self.attribute.name)
        if profile is None or not comparisons:
            return False
        return _mean_agreement(comparisons) < MIN_AGREEMENT_SHARE * profile.agreement

    def _golden_texts(self) -> list[str]:
        texts: list[str] = []
        for bellwether in self.wrapper.bellwethers:
            texts += bellwether.golden.get(self.attribute.name, ())
        return texts


def share_deviation(usual: float, before: int, now: float, after: int) -> float:
    """Return the standard deviation of the difference of two shares, if they were the same in truth.

    Args:
        usual: the first share.
        before: the number of pages it was measured on.
        now: the second share.
        after: the number of pages it was measured on.
    """
    pooled = (usual * before + now * after) / (before + after)
    return sqrt(pooled * (1 - pooled) * (1 / before + 1 / after))


def _is_distinctive(texts: Sequence[str]) -> bool:
    """Return True if values are too long to occur somewhere on a page by chance."""
    return all(sum(map(str.isalnum, text)) >= MIN_DISTINCTIVE_LENGTH for text in texts)


def _mean_agreement(comparisons: Sequence[Comparison]) -> float:
    return sum(comparison.agreement for comparison in comparisons) / len(comparisons)


def _quote(values: Iterable[Sequence[str] | None]) -> str:
    """Return the first two different values, each by its first text, shortened."""
    texts = list(dict.fromkeys(value[0] if value else "" for value in values))[:2]
    return ", ".join(_quote_text(text) for text in texts)


def _quote_text(text: str) -> str:
    if not text:
        return "nothing"
    return repr(text if len(text) <= 40 else f"{text[:37]}…")
