"""Learning the Naive Bayes classifier that picks among a selector's candidates (Vertex III-C.3).

As in the paper: all HTML attributes are features here, not only stable ones; features are chosen by their mutual
information with "is the value"; counts are smoothed, since there are few positive examples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from untemplate.learning.features import node_features
from untemplate.learning.sample_table import Table
from untemplate.page.captions import MAX_CAPTION_LENGTH, CaptionFinder
from untemplate.rules.feature import Feature
from untemplate.rules.rule import CandidateClassifier
from untemplate.rules.selecting import feature_matches_at_or_above

__all__ = ["learn_classifier"]

MAX_FEATURES = 10
# Ancestors whose weak attributes are looked at.
MAX_WEAK_LEVEL = 4
# Of more other nodes than this, each with features of its own, the first stand for all.
MAX_NEGATIVES = 200


def learn_classifier(
    table: Table, positives: Sequence[int], negatives: Sequence[int]
) -> CandidateClassifier | None:
    """The classifier with the fewest features that tells positive from negative rows; None if none does."""
    negatives = negatives[:MAX_NEGATIVES]
    strong = {feature for row in positives for feature in node_features(table, row)}
    weak = {feature for row in [*positives, *negatives] for feature in _weak_features(table, row)}
    examples = [(row, True) for row in positives] + [(row, False) for row in negatives]
    known = CaptionFinder(table.static)
    held = {
        feature: [feature_matches_at_or_above(feature, table.rows[row], known) for row, _ in examples]
        for feature in strong | weak
    }
    labels = [label for _, label in examples]
    information = {f: _information(held[f], labels) for f in held if sum(held[f]) > 1}
    chosen = sorted(information, key=lambda f: (-information[f], f.distance, f.type, f.values))
    for count in range(1, min(MAX_FEATURES, len(chosen)) + 1):
        classifier = _fit(chosen[:count], held, labels)
        if _separates(classifier, held, labels):
            return classifier
    return None


def _weak_features(table: Table, row: int) -> set[Feature]:
    """Every attribute of the elements near a node."""
    found = set()
    element = table.rows[row].parent
    for level in range(1, MAX_WEAK_LEVEL + 1):
        for name, value in element.attrib.items():
            is_itself = level == 1 and table.rows[row].kind == f"@{name}"
            if name not in ("id", "class") and value and len(value) <= MAX_CAPTION_LENGTH and not is_itself:
                found.add(Feature(f"@{name}", level, (value,)))
        element = element.getparent()
        if element is None:
            break
    return found


def _information(held: Sequence[bool], labels: Sequence[bool]) -> float:
    """The mutual information of a feature with the labels."""
    total = len(labels)
    information = 0.0
    for holds in (True, False):
        for label in (True, False):
            both = sum(h == holds and y == label for h, y in zip(held, labels, strict=True))
            if both:
                independent = held.count(holds) * labels.count(label) / total
                information += both / total * math.log(both / independent)
    return information


def _fit(
    features: Sequence[Feature], held: dict[Feature, list[bool]], labels: Sequence[bool]
) -> CandidateClassifier:
    positive, negative = labels.count(True), labels.count(False)
    present, absent = [], []
    for feature in features:
        among = sum(h and y for h, y in zip(held[feature], labels, strict=True))
        beside = sum(held[feature]) - among
        likely, unlikely = (among + 1) / (positive + 2), (beside + 1) / (negative + 2)
        present.append(round(math.log(likely / unlikely), 4))
        absent.append(round(math.log((1 - likely) / (1 - unlikely)), 4))
    prior = round(math.log(positive / max(negative, 1)), 4)
    return CandidateClassifier(prior, tuple(features), tuple(present), tuple(absent))


def _separates(
    classifier: CandidateClassifier, held: dict[Feature, list[bool]], labels: Sequence[bool]
) -> bool:
    for example, label in enumerate(labels):
        probability = classifier.probability(lambda feature, i=example: held[feature][i])  # type: ignore[misc]
        if (probability > 0.5) != label:
            return False
    return True
