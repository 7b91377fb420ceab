"""Algorithm 3 of Vertex: an Apriori search for the most general precise feature set (Vertex III-C.2).

Departures: feature sets are bit sets over the sample's rows, and a set that selects the same rows as one seen
before is looked at again only if it is nearer (else it can only be less general); at most `BEAM` sets of a size
are extended; a set may select several nodes on a few unlabelled pages and still count as precise
(`AMBIGUOUS_SHARE`), since rare pages that show a thing twice would otherwise forbid the plainest rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from untemplate.learning.sample_table import Table, bits_of
from untemplate.rules.feature import Feature

__all__ = ["Candidate", "Search", "disjunctions"]

# Beam and ambiguity were swept with `python -m benchmarks.measure.constants`: twice as much of either is not better.
MAX_FEATURES = 4
BEAM = 60
MAX_DISJUNCTION = 3
AMBIGUOUS_SHARE = 0.1

# Which of several features that select the same rows is kept: what names things before what only counts them.
_PREFERENCE = (
    "id",
    "@itemprop",
    "@property",
    "label",
    "text",
    "class",
    "token",
    "inside-word",
    "word",
    "tag",
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A feature set, the rows it selects, and the paper's measures of it."""

    features: tuple[Feature, ...]
    bits: int
    precision: float  # on labelled pages
    distance: int
    support: float  # share of the unlabelled pages on which it selects something
    is_precise: bool

    @property
    def by_distance(self) -> tuple[float, int, float, int]:
        """The paper's order: precision, then the smallest distance, then support."""
        return (-self.precision, self.distance, -self.support, len(self.features))

    @property
    def by_support(self) -> tuple[float, float, int, int]:
        """Support before distance, for sets that only tell apart what a specific description leaves."""
        return (-self.precision, -self.support, self.distance, len(self.features))


class Search:
    """Searches for feature sets that select all positive rows and, best of all, nothing else."""

    def __init__(
        self,
        table: Table,
        positives: Iterable[int],
        judged: Collection[int],
        universe: int,
        many: bool = False,
    ) -> None:
        """`judged` are the pages whose rows are all known; `universe` the rows that may be selected at all."""
        self.table = table
        self.positive = bits_of(positives)
        self.universe = universe | self.positive
        self.judged = sum(table.page_bits[page] for page in set(judged))
        self.open_pages = [bits for page, bits in enumerate(table.page_bits) if page not in judged]
        self.many = many

    def best_by_distance(self, features: Iterable[Feature]) -> Candidate | None:
        """The paper's choice; imprecise only if no precise set exists."""
        singles = self._singles(features)
        best: Candidate | None = None
        level, seen = singles, {candidate.bits: candidate.distance for candidate in singles}
        for _ in range(MAX_FEATURES):
            for candidate in level:
                if best is None or self._beats(candidate, best):
                    best = candidate
            if best is None:
                break
            rest = [c for c in level if not c.is_precise and not (best.is_precise and _is_hopeless(c, best))]
            level = self._extend(sorted(rest, key=lambda c: c.by_distance)[:BEAM], singles, seen)
        return best

    def best_by_support(self, features: Iterable[Feature]) -> Candidate | None:
        """The precise set with the largest support; None if no set is precise."""
        singles = self._singles(features)
        best: Candidate | None = None
        level, seen = singles, {candidate.bits: candidate.distance for candidate in singles}
        for _ in range(MAX_FEATURES):
            for candidate in level:
                if candidate.is_precise and (best is None or candidate.by_support < best.by_support):
                    best = candidate
            rest = [c for c in level if not c.is_precise and (best is None or c.support > best.support)]
            level = self._extend(sorted(rest, key=lambda c: c.by_support)[:BEAM], singles, seen)
        return best

    @staticmethod
    def _beats(candidate: Candidate, best: Candidate) -> bool:
        if candidate.is_precise != best.is_precise:
            return candidate.is_precise
        return candidate.by_distance < best.by_distance

    def judge(self, features: tuple[Feature, ...], bits: int) -> Candidate:
        """A feature set with the paper's measures."""
        selected = (bits & self.judged).bit_count()
        counts = [(bits & page).bit_count() for page in self.open_pages]
        several = 0 if self.many else sum(count > 1 for count in counts)
        precision = self.positive.bit_count() / selected if selected else 0.0
        return Candidate(
            features,
            bits,
            precision,
            distance=max((feature.distance for feature in features), default=0),
            support=sum(count > 0 for count in counts) / len(counts) if counts else 0.0,
            is_precise=precision == 1 and several <= AMBIGUOUS_SHARE * len(counts),
        )

    def _singles(self, features: Iterable[Feature]) -> list[Candidate]:
        by_rows: dict[int, Feature] = {}
        for feature in sorted(features, key=_preference):
            bits = self.table.bits([feature]) & self.universe
            if bits & self.positive == self.positive and bits != self.universe:
                by_rows.setdefault(bits, feature)
        return [self.judge((feature,), bits) for bits, feature in by_rows.items()]

    def _extend(
        self, candidates: Sequence[Candidate], singles: Sequence[Candidate], seen: dict[int, int]
    ) -> list[Candidate]:
        extended = []
        for candidate in candidates:
            for single in singles:
                bits = candidate.bits & single.bits
                distance = max(candidate.distance, single.distance)
                if distance < seen.get(bits, distance + 1):
                    seen[bits] = distance
                    extended.append(self.judge(candidate.features + single.features, bits))
        return extended


def disjunctions(features_of: Sequence[set[Feature]]) -> set[Feature]:
    """Features all nodes share, and for each type and level on which they differ "one of up to three values".

    As in the paper, a disjunction that would need a fourth value is not made.
    """
    shared = set.intersection(*features_of) if features_of else set()
    made = set(shared)
    values: dict[tuple[str, int], list[set[str]]] = {}
    for features in features_of:
        own: dict[tuple[str, int], set[str]] = {}
        for feature in features:
            own.setdefault((feature.type, feature.level), set()).update(feature.values)
        for place, found in own.items():
            values.setdefault(place, []).append(found)
    for (type_, level), found_sets in values.items():
        union = set().union(*found_sets)
        in_all = len(found_sets) == len(features_of)
        if in_all and 1 < len(union) <= MAX_DISJUNCTION:
            made.add(Feature(type_, level, tuple(sorted(union))))
    return made


def _is_hopeless(candidate: Candidate, best: Candidate) -> bool:
    """Whether no extension can beat the best: distance only grows, support only shrinks."""
    return (candidate.distance, -candidate.support) >= (best.distance, -best.support)


def _preference(feature: Feature) -> tuple[int, int, str]:
    known = _PREFERENCE.index(feature.kind) if feature.kind in _PREFERENCE else len(_PREFERENCE)
    return (feature.distance, known, feature.type)
