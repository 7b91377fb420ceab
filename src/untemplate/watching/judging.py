"""The tests: do the rules of a cluster still hold on these pages? (Vertex IV-B)

The paper's shingle test, whether most bellwethers still look as before, and its field test, whether mandatory
attributes come out and constant ones are what they were.

Departures. A failed shingle test is no alarm if the field test passes and all other tests do: sites change their
advertisements more often than their data. Attributes that are neither mandatory nor constant are watched too: whether
they still come out as often, look as they did, differ from page to page, and whether the committee agrees.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import sqrt

from untemplate.rules import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.watching.alarm import Alarm
from untemplate.watching.evidence import Comparison, Evidence
from untemplate.watching.shape import Shape

__all__ = ["FIELD_SHARE", "SHINGLE_SHARE", "judge_attributes", "judge_structure"]

# Vertex IV-B: the shingle test fails if the signatures of a majority of the bellwethers do not match.
SHINGLE_SHARE = 0.5
# Vertex IV-B: the field test fails if it fails on any of the bellwethers.
FIELD_SHARE = 0.0
# The same for values that may change by nature: gone, not like those before, or found anew on pages that had none.
VOLATILE_SHARE = 0.25
# On pages of which nothing is remembered, a share must have fallen by so many standard deviations.
SIGMAS = 3
# Values that may change still vouch for their rule if they are the same on this share of the pages.
VOUCHING_SHARE = 0.2
# The committee disagrees if its confidence has fallen to this share of what it was.
AGREEMENT_SHARE = 0.5
# Shorter values, in letters and digits, stand somewhere on many a page.
TELLING = 4
# One and the same value on fewer pages, or on a smaller share of them, is a coincidence.
REPEATED_PAGES = 3
REPEATED_SHARE = 0.5


def judge_structure(evidence: Evidence, share: float) -> Alarm | None:
    """The shingle test: whether more than this share of the pages look unlike before."""
    if len(evidence.unlike) <= share * len(evidence.watched):
        return None
    return Alarm(
        evidence.wrapper.cluster,
        "shingle",
        None,
        "pages that match the cluster's signatures",
        f"{len(evidence.unlike)} of {len(evidence.watched)} pages match none",
        evidence.unlike,
    )


def judge_attributes(evidence: Evidence, schema: Schema, share: float) -> dict[str, list[Alarm]]:
    """Per attribute the tests it fails; none if its rule still holds.

    The field test fails if it does so on more than this share of the bellwethers.
    """
    return {
        name: list(_Judge(evidence.wrapper, schema.attributes[name], comparisons, share).alarms())
        for name, comparisons in evidence.comparisons.items()
    }


@dataclass(frozen=True)
class _Judge:
    """The tests of one attribute."""

    wrapper: Wrapper
    attribute: Attribute
    comparisons: Sequence[Comparison]
    share: float

    def alarms(self) -> Iterator[Alarm]:
        """The first test that fails, the plainest first: the others would say the same again."""
        tests = [self._missing, self._changed, self._elsewhere, self._fill]
        tests += [self._shape, self._repeated, self._agreement]
        found = (test() for test in tests)
        yield from islice((alarm for alarm in found if alarm), 1)

    def _alarm(self, test: str, expected: str, seen: Sequence[Comparison], what: str = "") -> Alarm:
        pages = tuple(one.page for one in seen)
        watched = [one for one in self.comparisons if one.golden is not None]
        compared = watched if all(one.golden is not None for one in seen) else self.comparisons
        seen_texts = what or _quote(one.found for one in seen)
        where = f" on {len(seen)} of {len(compared)} pages"
        return Alarm(self.wrapper.cluster, test, self.attribute.name, expected, seen_texts + where, pages)

    def _remembered(self) -> list[Comparison]:
        return [one for one in self.comparisons if one.golden]

    def _missing(self) -> Alarm | None:
        """The field test for a mandatory attribute; gaps that were there before do not count."""
        if not self.attribute.mandatory:
            return None
        missing = [one for one in self.comparisons if not one.found and (one.golden or one.golden is None)]
        if len(missing) <= self.share * len(self.comparisons):
            return None
        return self._alarm("mandatory", _quote(one.golden for one in missing), missing, "nothing")

    def _changed(self) -> Alarm | None:
        """The field test for a constant attribute."""
        if not self.attribute.constant:
            return None
        watched = [one for one in self.comparisons if one.golden is not None]
        changed = [one for one in watched if one.is_other or one.is_missing]
        if len(changed) <= self.share * len(watched):
            return None
        return self._alarm("constant", _quote(one.golden for one in changed), changed)

    def _elsewhere(self) -> Alarm | None:
        """Values that are still on the page, where the rule does not find them; one may be there by chance."""
        remembered = self._remembered()
        common = Counter(one.golden for one in remembered)
        moved = [
            one
            for one in remembered
            if one.is_elsewhere
            and (
                not one.found
                or self.attribute.constant
                or (_is_telling(one.golden) and common[one.golden] == 1)
            )
        ]
        lost = [one for one in moved if not one.found]
        few = len(moved) <= VOLATILE_SHARE * len(remembered) and len(lost) <= self.share * len(remembered)
        if not moved or few or len(moved) - len(lost) == 1 == len(moved) < len(remembered):
            return None
        expected = f"{_quote(one.golden for one in moved)}, still on the page"
        return self._alarm("moved", expected, moved)

    def _fill(self) -> Alarm | None:
        """Values that no longer come out, or come out where there were none."""
        remembered = self._remembered()
        gone = [one for one in remembered if not one.found]
        if len(gone) > VOLATILE_SHARE * len(remembered):
            return self._alarm("fill", _quote(one.golden for one in gone), gone, "nothing")
        gaps = [one for one in self.comparisons if one.golden == ()]
        filled = [one for one in gaps if one.found]
        if len(filled) > VOLATILE_SHARE * len(gaps) and (len(filled) > 1 or self._is_unsure(filled)):
            return self._alarm("fill", "nothing", filled)
        new = [one for one in self.comparisons if one.golden is None]
        empty = [one for one in new if not one.found]
        known = self.wrapper.bellwethers
        usual = sum(self.attribute.name in one.golden for one in known) / len(known) if known else 0.0
        now = 1 - len(empty) / len(new) if new else usual
        if usual - now > max(VOLATILE_SHARE, SIGMAS * _deviation(usual, len(known), now, len(new))):
            return self._alarm("fill", f"a value on {usual:.0%} of the pages", empty, "nothing")
        return None

    def _shape(self) -> Alarm | None:
        """Values that do not look like those that are remembered."""
        golden = self._golden_texts()
        if not golden:
            return None
        shape = Shape.of(golden, self.attribute.type)
        found = [one for one in self.comparisons if one.found]
        odd = [one for one in found if not one.is_same and not all(map(shape.fits, one.found))]
        if not odd or len(odd) <= VOLATILE_SHARE * len(found):
            return None
        return self._alarm("shape", f"values such as {_quote([golden[:3]])}", odd)

    def _repeated(self) -> Alarm | None:
        """One value on page after page, where there were many."""
        golden = self._golden_texts()
        found = [one for one in self.comparisons if one.found]
        if len(found) < REPEATED_PAGES or len(set(golden)) < REPEATED_PAGES:
            return None
        most = Counter(golden).most_common(1)[0][1] / len(golden)
        text, count = Counter(one.found for one in found).most_common(1)[0]
        if count < REPEATED_PAGES or count / len(found) <= max(
            REPEATED_SHARE, min(1 - VOLATILE_SHARE, 2 * most)
        ):
            return None
        return self._alarm("repeated", "values that differ", [one for one in found if one.found == text])

    def _agreement(self) -> Alarm | None:
        """A committee that no longer agrees, on values that nothing else vouches for."""
        found = [one for one in self.comparisons if one.found]
        watched = [one for one in found if one.golden is not None]
        same = sum(one.is_same for one in watched)
        if not self._is_unsure(found) or same > VOUCHING_SHARE * len(watched):
            return None
        unsure = [one for one in found if not one.is_same]
        expected = f"a confidence of {self.wrapper.profiles[self.attribute.name].agreement:.2f}"
        return self._alarm("agreement", expected, unsure, f"{_mean_agreement(found):.2f}")

    def _is_unsure(self, found: Sequence[Comparison]) -> bool:
        profile = self.wrapper.profiles.get(self.attribute.name)
        return (
            profile is not None
            and bool(found)
            and _mean_agreement(found) < AGREEMENT_SHARE * profile.agreement
        )

    def _golden_texts(self) -> list[str]:
        name = self.attribute.name
        return [text for known in self.wrapper.bellwethers for text in known.golden.get(name, ())]


def _deviation(usual: float, before: int, now: float, after: int) -> float:
    """The standard deviation of the difference of two shares, were they the same in truth."""
    if not before or not after:
        return 0.0
    pooled = (usual * before + now * after) / (before + after)
    return sqrt(pooled * (1 - pooled) * (1 / before + 1 / after))


def _is_telling(golden: Sequence[str] | None) -> bool:
    """Whether values are long enough not to stand somewhere on a page by chance."""
    return all(sum(map(str.isalnum, text)) >= TELLING for text in golden or ())


def _mean_agreement(found: Sequence[Comparison]) -> float:
    return sum(one.agreement for one in found) / len(found)


def _quote(values: Iterator[Sequence[str] | None] | Sequence[Sequence[str]]) -> str:
    """The first few values, each with its first text, cut to a readable length."""
    texts = list(dict.fromkeys(value[0] if value else "" for value in values))[:2]
    return ", ".join(
        repr(text if len(text) <= 40 else f"{text[:37]}…") if text else "nothing" for text in texts
    )
