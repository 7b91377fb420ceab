"""What a rule adds where an XPath is not enough: a classifier among nodes, a range inside a text (Vertex III-C.3, 4).

The classifier is Naive Bayes. As in the paper, all HTML attributes are features, not only stable ones; features are
chosen by their mutual information with "is the value"; counts are smoothed, since there are few positive examples.
The range prunes the text around a value, such as `Tel:` in front of a number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import features_of_row
from untemplate.page.captions import MAX_CAPTION_LENGTH, CaptionFinder
from untemplate.rules.feature import Feature
from untemplate.rules.node_selection import feature_matches_at_or_above
from untemplate.rules.rule import CandidateClassifier, Range
from untemplate.schema import Type
from untemplate.value_types import find_typed

__all__ = ["learn_classifier", "learn_range"]

MAX_CLASSIFIER_FEATURES = 10
# Features that say less, as a share of what the best one says, are left out.
MIN_INFORMATION_SHARE = 0.5
# Ancestors whose attributes are weak features.
MAX_WEAK_LEVEL = 4
# Negative examples beyond these are ignored: each adds features that have to be counted.
MAX_NEGATIVES = 200

# Ends of the text beside a value, shorter than all of it, that are tried as delimiters.
MAX_SHORTER_ENDS = 5
# Delimiters that find something in a smaller share of the texts than shorter ones do repeat a value of the examples.
MIN_DELIMITER_SHARE = 0.8
# What separates the parts of a text, other than blanks.
_DELIMITERS = (", ", "; ", " | ", " - ", " – ", ": ", "/")
_WORD_OR_SIGN = re.compile(r"\w+|[^\w\s]|\s+")
_DIGIT = re.compile(r"\d")

_Presence = Mapping[Feature, Sequence[bool]]
"""For each feature, whether each example has it."""

Example = tuple[str, str, int]
"""A node's text, the value in it, and where the value starts."""


def learn_classifier(
    table: SampleTable, positives: Sequence[int], negatives: Sequence[int]
) -> CandidateClassifier | None:
    """Return a classifier that separates positive from negative rows, by the features that say most about it.

    It has as many features as possible: one that knows a single feature is lost where a page lacks it.
    Returns None if no classifier separates all rows.
    """
    rows = [*positives, *negatives[:MAX_NEGATIVES]]
    truth = [number < len(positives) for number in range(len(rows))]
    presence = _find_presence(table, rows, _candidate_features(table, positives, rows))
    information = {
        feature: _mutual_information(present, truth)
        for feature, present in presence.items()
        if sum(present) > 1
    }
    ranked = sorted(information, key=lambda f: (-information[f], f.distance, f.type, f.values))
    informative = [f for f in ranked if information[f] >= MIN_INFORMATION_SHARE * information[ranked[0]]]
    for count in range(min(MAX_CLASSIFIER_FEATURES, len(informative)), 0, -1):
        classifier = _fit_naive_bayes(informative[:count], presence, truth)
        if _separates(classifier, presence, truth):
            return classifier
    return None


def _candidate_features(table: SampleTable, positives: Sequence[int], rows: Sequence[int]) -> set[Feature]:
    """Return the stable features of positive rows, and all HTML attributes near any row."""
    features: set[Feature] = set()
    for row in positives:
        features |= features_of_row(table, row)
    for row in rows:
        features |= set(_weak_features(table, row))
    return features


def _find_presence(table: SampleTable, rows: Sequence[int], features: set[Feature]) -> _Presence:
    captions = CaptionFinder(table.static)
    nodes = [table.rows[row] for row in rows]
    return {
        feature: [feature_matches_at_or_above(feature, node, captions) for node in nodes]
        for feature in features
    }


def _weak_features(table: SampleTable, row: int) -> Iterator[Feature]:
    """Yield every HTML attribute of the elements near a node, except the node itself."""
    node = table.rows[row]
    element = node.parent
    for level in range(1, MAX_WEAK_LEVEL + 1):
        for name, value in element.attrib.items():
            is_node = level == 1 and node.kind == f"@{name}"
            if name not in ("id", "class") and 0 < len(value) <= MAX_CAPTION_LENGTH and not is_node:
                yield Feature(f"@{name}", level, (value,))
        element = element.getparent()
        if element is None:
            return


def _mutual_information(present: Sequence[bool], truth: Sequence[bool]) -> float:
    total = len(truth)
    pairs = list(zip(present, truth, strict=True))
    information = 0.0
    for has_feature in (True, False):
        for is_value in (True, False):
            both = pairs.count((has_feature, is_value))
            if both:
                independent = present.count(has_feature) * truth.count(is_value) / total
                information += both / total * math.log(both / independent)
    return information


def _fit_naive_bayes(
    features: Sequence[Feature], presence: _Presence, truth: Sequence[bool]
) -> CandidateClassifier:
    positive, negative = truth.count(True), truth.count(False)
    if_present, if_absent = [], []
    for feature in features:
        among_positive = list(zip(presence[feature], truth, strict=True)).count((True, True))
        among_negative = sum(presence[feature]) - among_positive
        likely = (among_positive + 1) / (positive + 2)
        unlikely = (among_negative + 1) / (negative + 2)
        if_present.append(round(math.log(likely / unlikely), 4))
        if_absent.append(round(math.log((1 - likely) / (1 - unlikely)), 4))
    prior = round(math.log(positive / max(negative, 1)), 4)
    return CandidateClassifier(prior, tuple(features), tuple(if_present), tuple(if_absent))


def _separates(classifier: CandidateClassifier, presence: _Presence, truth: Sequence[bool]) -> bool:
    for example, is_value in enumerate(truth):
        present = {feature: presence[feature][example] for feature in classifier.features}
        if (classifier.probability(present.__getitem__) > 0.5) != is_value:
            return False
    return True


def learn_range(examples: Sequence[Example], unlabeled: Sequence[str], type_: Type) -> Range | None:
    """Return the range that cuts each value out of its text, and something out of unlabeled texts.

    The type's own pattern is preferred to delimiters, and delimiters to token offsets, unless they find something in
    less than half as many unlabeled texts as another range does. The longest delimiters are taken that find about as
    much as shorter ones. Returns None if no range fits all examples.
    """
    fitting = [
        candidate for candidate in _candidate_ranges(examples, type_) if _fits_examples(candidate, examples)
    ]
    has_digits = all(_DIGIT.search(value) for _, value, _ in examples)
    hits = [_count_hits(candidate, unlabeled, has_digits) for candidate in fitting]
    best = max(
        (count for candidate, count in zip(fitting, hits, strict=True) if _has_delimiters(candidate)),
        default=0,
    )
    for candidate, count in zip(fitting, hits, strict=True):
        is_specific = _has_delimiters(candidate) and count < MIN_DELIMITER_SHARE * best
        if 2 * count >= max(hits) and not is_specific:
            return candidate
    return None


def _has_delimiters(candidate: Range) -> bool:
    return candidate.after is not None or candidate.before is not None


def _count_hits(candidate: Range, unlabeled: Sequence[str], has_digits: bool) -> int:
    """Count the texts in which a range finds something, with a digit in it if all labeled values have one."""
    values = filter(None, map(candidate.prune, unlabeled))
    return sum(not has_digits or _DIGIT.search(value) is not None for value in values)


def _fits_examples(candidate: Range, examples: Sequence[Example]) -> bool:
    return all(candidate.prune(text) == value for text, value, _ in examples)


def _candidate_ranges(examples: Sequence[Example], type_: Type) -> Iterator[Range]:
    """Yield ranges to try, best first."""
    if all(find_typed(text, type_) == value for text, value, _ in examples):
        yield Range(type=type_)
    before = [text[:start] for text, _, start in examples]
    after = [text[start + len(value) :] for text, value, start in examples]
    yield from _delimiter_ranges(before, after)
    values = [value for _, value, _ in examples]
    yield from _token_ranges(before, after, values, " ")
    for delimiter in _DELIMITERS:
        if all(delimiter in text for text, _, _ in examples):
            yield from _token_ranges(before, after, values, delimiter)


def _delimiter_ranges(before: Sequence[str], after: Sequence[str]) -> Iterator[Range]:
    """Yield the ranges between texts that all examples have on either side of the value, the longest texts first.

    Shorter ones are for texts that repeat a date or a path only in the examples.
    """
    left = _common_end(before)
    right = _common_end([text[::-1] for text in after])[::-1]
    if any(before) and not left:
        return
    if any(after) and not right:
        return
    for after_text in _shorter_ends(left):
        for before_text in _shorter_ends(right[::-1]):
            range_ = Range(after=after_text or None, before=before_text[::-1] or None)
            yield range_
            if after_text:
                yield replace(range_, last=True)


def _shorter_ends(text: str) -> list[str]:
    """Return a text and its shorter ends, each from the beginning of a word or of a sign."""
    starts = [match.start() for match in _WORD_OR_SIGN.finditer(text)]
    return [text, *(text[start:] for start in starts[1:][-MAX_SHORTER_ENDS:])]


def _token_ranges(
    before: Sequence[str], after: Sequence[str], values: Sequence[str], delimiter: str
) -> Iterator[Range]:
    """Yield ranges by the number of tokens before, after or in the value, where it is the same in all examples."""
    starts = {_count_tokens(text, delimiter) for text in before}
    stops = {_count_tokens(text, delimiter) for text in after}
    lengths = {len(value.split(delimiter)) for value in values}
    start, stop, length = min(starts), min(stops), min(lengths)
    if len(starts) == len(stops) == 1:
        yield Range(start=start, stop=-stop, delimiter=delimiter)
    if len(starts) == len(lengths) == 1:
        yield Range(start=start, stop=start + length, delimiter=delimiter)
    if len(stops) == len(lengths) == 1:
        yield Range(start=-stop - length, stop=-stop, delimiter=delimiter)


def _count_tokens(text: str, delimiter: str) -> int:
    return len(text.split()) if delimiter == " " else text.count(delimiter)


def _common_end(texts: Sequence[str]) -> str:
    """Return the longest text that all texts end with, without a word that is cut in two."""
    shortest = min(texts, key=len)
    length = 0
    while length < len(shortest) and len({text[len(text) - length - 1] for text in texts}) == 1:
        length += 1
    end = shortest[len(shortest) - length :]
    if end[:1].isalnum() and any(text[: len(text) - length][-1:].isalnum() for text in texts):
        return end[len(end.split(" ")[0]) :]
    return end
