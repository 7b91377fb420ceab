"""What a rule adds where an XPath is not enough: a classifier among nodes, a range inside a text (Vertex III-C.3, 4).

The classifier is Naive Bayes. As in the paper, all HTML attributes are features, not only stable ones; features are
chosen by their mutual information with "is the value"; counts are smoothed, since there are few positive examples.
The range prunes the text around a value, such as `Tel:` in front of a number.

A range also separates values that share one text: `apples, pears and plums` is a list of three. The labels of a page
teach both where the text is and what separates its values. The place is learned as that of a single value, the list;
the range then cuts the list out of its text and splits it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from operator import attrgetter
from typing import NamedTuple

from untemplate.labeling import Label
from untemplate.learning.occurrences import (
    LocatedLabels,
    PageLabels,
    occurrences_in_elements,
    occurrences_in_nodes,
)
from untemplate.learning.sample_table import SampleTable
from untemplate.learning.search import features_of_row
from untemplate.learning.selectors import pick_rows
from untemplate.learning.variants import LearningTarget
from untemplate.page import Node
from untemplate.page.captions import MAX_CAPTION_LENGTH, CaptionFinder, join_texts
from untemplate.page.locating import Occurrence, is_separator, locate_list
from untemplate.rules.feature import Feature
from untemplate.rules.node_selection import feature_matches_at_or_above
from untemplate.rules.rule import CandidateClassifier, Selector
from untemplate.rules.value_range import Range
from untemplate.schema import Attribute, Type
from untemplate.value_types import find_typed

__all__ = [
    "ListExample",
    "explain_lost_values",
    "learn_classifier",
    "learn_list_range",
    "learn_part_range",
    "learn_range",
    "locate_shared_texts",
]

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
    return _first_frequent(fitting, hits)


def _first_frequent(candidates: Sequence[Range], hits: Sequence[int]) -> Range | None:
    """Return the first range with at least half as many hits as the best one.

    One with delimiters needs almost as many hits as the best range with delimiters: it may be too specific.
    """
    counted = list(zip(candidates, hits, strict=True))
    most_delimited = max((count for candidate, count in counted if _has_delimiters(candidate)), default=0)
    for candidate, count in counted:
        is_specific = _has_delimiters(candidate) and count < MIN_DELIMITER_SHARE * most_delimited
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
    for after_text, before_text in product(_shorter_ends(left), _shorter_ends(right[::-1])):
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


class ListExample(NamedTuple):
    """A text that contains a list of several values.

    Attributes:
        text: the text of the node.
        part: the list in it, from the first value to the last.
        start: where the list starts.
        values: the labeled values in it, in order.
        lost: how many values of the list may have no label that was found.
    """

    text: str
    part: str
    start: int
    values: tuple[str, ...]
    lost: int = 0


def locate_shared_texts(table: SampleTable, labels: PageLabels, attribute: Attribute) -> LocatedLabels | None:
    """Find texts that contain all labeled values of their page, with separators between them.

    Each page counts as having one label, the list. On a page with one label, the list is that value.

    Returns:
        None if no page has several labels, or if one has them in several texts.
    """
    several = {page: page_labels for page, page_labels in labels.items() if len(page_labels) > 1}
    if not several:
        return None
    one = {page: page_labels for page, page_labels in labels.items() if page not in several}
    in_nodes = dict(occurrences_in_nodes(table, one, attribute))
    in_elements = dict(occurrences_in_elements(table.with_elements, one))
    remarks: list[str] = []
    for page, page_labels in several.items():
        of_nodes = _find_list(table, page, page_labels)
        of_elements = _find_list(table.with_elements, page, page_labels, only_elements=True)
        in_nodes[page], in_elements[page] = [of_nodes], [of_elements]
        if not of_nodes and not of_elements:
            return None
        remarks += _explain_list(table, page, (of_nodes or of_elements)[0])
    return LocatedLabels(in_nodes, in_elements, remarks)


def _explain_list(table: SampleTable, page: int, found: Occurrence) -> list[str]:
    """Return a sentence about labeled values that are not in the list; none if all are."""
    if not found.lost:
        return []
    return [explain_lost_values(table, page, found.lost, len(found.values) + found.lost)]


def _find_list(
    table: SampleTable, page: int, labels: Sequence[Label], only_elements: bool = False
) -> list[Occurrence]:
    """Return the rows of a page whose texts are, or contain, a list of labeled values."""
    values = [label.value or "" for label in labels]
    start, nodes = table.starts[page], table.rows_of_page(page)
    rows = [row for row, node in enumerate(nodes) if node.kind == "element" or not only_elements]
    found = locate_list([nodes[row] for row in rows], values)
    return [replace(occurrence, row=start + rows[occurrence.row]) for occurrence in found]


def explain_lost_values(table: SampleTable, page: int, lost: int, labeled: int) -> str:
    """Return a sentence that says how many values of a labeled list were not found."""
    return f"{table.pages[page].id}: {lost} of {labeled} labeled values are no text of their own on the page"


def learn_part_range(
    target: LearningTarget, selectors: Sequence[Selector], chosen: Sequence[Occurrence], type_: Type
) -> Range | None:
    """Return the range that cuts the values out of the texts in which they were chosen; None if no range does."""
    rows = target.table.rows
    unlabeled: list[Node] = []
    for page in target.unlabeled_pages:
        unlabeled += [rows[row] for row in pick_rows(target, selectors, page)]
    nodes = [rows[occurrence.row] for occurrence in chosen]
    if any(occurrence.values for occurrence in chosen):
        return _learn_shared_range(nodes, chosen, unlabeled)
    count = max(occurrence.nodes for occurrence in chosen)
    joined = [join_texts(node, count) for node in nodes]
    examples = [(text, part.text, part.start) for text, part in zip(joined, chosen, strict=True)]
    return learn_range(examples, [join_texts(node, count) for node in unlabeled], type_)


def _learn_shared_range(
    nodes: Sequence[Node], chosen: Sequence[Occurrence], unlabeled: Sequence[Node]
) -> Range | None:
    """Return the range that splits texts into their labeled values, at separators or else at the ends of lines."""
    for text_of in (attrgetter("text"), Node.lines):
        examples: list[ListExample] = []
        for node, found in zip(nodes, chosen, strict=True):
            text = text_of(node)
            part = text[found.start : found.start + len(found.text)]
            examples.append(ListExample(text, part, found.start, found.values or (part,), found.lost))
        if range_ := learn_list_range(examples, [text_of(node) for node in unlabeled]):
            return range_
    return None


def learn_list_range(examples: Sequence[ListExample], unlabeled: Sequence[str]) -> Range | None:
    """Return the range that cuts lists out of their texts and splits them into the labeled values.

    The separators are the texts between labeled values, alone and combined: `, ` and ` and ` also mean `, and `.
    Returns None if no range gives the values of all examples.
    """
    separators = _learn_separators(examples)
    range_: Range | None = Range()
    if any(example.part != example.text for example in examples):
        parts = [(example.text, example.part, example.start) for example in examples]
        range_ = learn_range(parts, unlabeled, "text")
    if range_ is None or not separators:
        return None
    range_ = replace(range_, separators=separators)
    return range_ if all(_gives_values(range_, example) for example in examples) else None


def _learn_separators(examples: Iterable[ListExample]) -> tuple[str, ...]:
    """Return the texts between the values of lists, and their combinations, without those inside a value."""
    seen: set[str] = set()
    for example in examples:
        seen.update(gap for gap in _gaps(example) if is_separator(gap))
    values = "\n".join(chain.from_iterable(example.values for example in examples))
    derived = {separator for separator in _derive_separators(seen) if separator not in values}
    return tuple(sorted(seen | derived, key=lambda separator: (-len(separator), separator)))


def _derive_separators(seen: set[str]) -> Iterator[str]:
    """Yield the words among separators alone, and after each sign: `, ` and ` and ` also mean `, and `."""
    with_words = {separator for separator in seen if any(map(str.isalpha, separator))}
    signs = {separator.rstrip() for separator in seen - with_words} - {""}
    for word in {separator.split()[-1] for separator in with_words}:
        yield f" {word} "
        for sign in signs:
            yield f"{sign} {word} "


def _gaps(example: ListExample) -> Iterator[str]:
    """Yield the texts between the values of a list."""
    end = example.start + len(example.values[0])
    for value in example.values[1:]:
        start = example.text.find(value, end)
        yield example.text[end : max(start, end)]
        end = start + len(value)


def _gives_values(range_: Range, example: ListExample) -> bool:
    """Return True if a range gives the values of a list in order, and no others than may have been lost."""
    found = range_.cut_values(example.text)
    rest = iter(found)
    has_all = all(value in rest for value in example.values)
    return has_all and len(found) <= len(example.values) + example.lost
