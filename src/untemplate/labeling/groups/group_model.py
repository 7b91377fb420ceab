"""Labels whole groups of elements: lists of values, and all values of sites with few pages.

The fields of the method "seed" are nodes of many pages that play the same role. A site with two or three pages has no
such fields: its author is the same on all of them, and looks like static text. A list of ingredients has no fields
either, because its members differ in number, and span several nodes. So a linear model judges each group of elements
of a page by itself; what the pages of the site have in common is only used to choose the same group on all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import exp
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from untemplate.errors import MissingExtra, PageError
from untemplate.labeling.groups.element_groups import ALL_MEMBERS, ElementGroup, GroupKey, find_element_groups
from untemplate.labeling.groups.group_features import describe_group
from untemplate.labeling.groups.named_texts import name_texts
from untemplate.labeling.label import Finding, Label
from untemplate.labeling.methods import LabeledSite, StrictFile, read_json, write_json
from untemplate.page import Node, Page
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Attribute, Schema

__all__ = ["GroupModel"]

FILE = "groups.json"
SOURCE = "groups"
# Inverse strength of the penalty on weights, and the weight of all positive examples to that of all negative ones.
# Compared by a trial on 70 sites of `recipes`, five random ones as teachers, three turns. C of 0.1, 0.3 and 1: 0.742,
# 0.749 and 0.749 of F1; a weight of 0.1, 0.3 and 1: 0.752, 0.749 and 0.746, with 17, 19 and 22 % wrong values.
C, POSITIVE_WEIGHT = 0.3, 0.1
# Weights that are smaller are not stored.
MIN_WEIGHT = 1e-3
# Groups of a page that are compared with those of other pages, the best ones.
MAX_COMPARED = 40
# Pages of a site that teach, at most: each has hundreds of groups.
MAX_TRAINING_PAGES = 10
# Values on a page that make a list, rather than a value that now and then is given twice.
MIN_LIST_MEMBERS = 3
# Probability of a list with sections that is preferred to one of its sections.
MIN_COMPLETE_CHANCE = 0.3
# Findings with a lower confidence do not count as found.
MIN_CONFIDENCE = 0.2

_Weights = dict[str, float]


@dataclass(frozen=True)
class GroupModel:
    """A linear model of the groups of each attribute.

    Attributes:
        weights: by attribute, the weight of each feature by its name; that of the empty name is the intercept.
        lists: the attributes whose values are lists of several members on the sites that taught them.
    """

    weights: Mapping[str, Mapping[str, float]]
    lists: frozenset[str] = frozenset()

    @classmethod
    def train(cls, sites: Sequence[LabeledSite], schema: Schema) -> GroupModel:
        """Learn from labeled sites which groups of elements contain an attribute."""
        examples: dict[str, list[_Example]] = {name: [] for name in schema.attributes}
        for number, (pages, labels) in enumerate(sites):
            for name, features, is_right in _examples_of_site(pages, _labels_by_page(labels), schema):
                examples[name].append(_Example(features, is_right, number))
        learned = {name: own for name, own in examples.items() if any(example.is_right for example in own)}
        return cls({name: _fit_weights(own) for name, own in learned.items()}, _long_lists(sites, schema))

    def find(self, pages: Sequence[Page], schema: Schema, names: Collection[str]) -> list[Finding]:
        """Return where some attributes are on pages of one template.

        Args:
            pages: The pages; each costs as much as parsing it twice, so give a few.
            schema: The attributes of the vertical.
            names: Those to find; others, and those that no site taught, are left out.
        """
        wanted = [name for name in schema.attributes if name in self.weights and name in names]
        candidates: list[_PageGroups] = []
        for page in pages:
            try:
                candidates.append(_PageGroups(page))
            except PageError:
                continue
        return [self._find_attribute(candidates, schema.attributes[name]) for name in wanted]

    def _find_attribute(self, pages: Sequence[_PageGroups], attribute: Attribute) -> Finding:
        """Return the groups of one attribute: of each page the one that is best on all pages together."""
        scored = [self._score_page(page, attribute) for page in pages]
        total: defaultdict[GroupKey, float] = defaultdict(float)
        for of_page in scored:
            for key, chance in _best_chances(of_page[:MAX_COMPARED]).items():
                total[key] += chance / len(scored)
        places: list[tuple[Page, Node]] = []
        chances: list[float] = []
        for page, of_page in zip(pages, scored, strict=True):
            if of_page:
                best = max(of_page, key=lambda pair: pair[1] + total[pair[0].key])
                group, chance = _complete_group(best, of_page)
                chances.append((chance + total[group.key]) / 2)
                places += [(page.page, node) for node in group.nodes(attribute.many)]
        confidence = sum(chances) / max(1, len(chances))
        is_found = bool(places) and confidence >= MIN_CONFIDENCE
        coverage = len(chances) / max(1, len(pages))
        return Finding(attribute.name, confidence, places, coverage, is_found, SOURCE)

    def _score_page(self, page: _PageGroups, attribute: Attribute) -> list[_Scored]:
        """Return the groups of a page with the probability that they contain an attribute, best first."""
        weights = self.weights[attribute.name]
        scored = []
        for group in page.groups_for(attribute):
            features = page.describe(group, attribute.many)
            score = weights.get("", 0.0) + sum(
                weights.get(name, 0.0) * value for name, value in features.items()
            )
            scored.append((group, 1 / (1 + exp(-max(-30.0, min(30.0, score))))))
        return sorted(scored, key=lambda pair: -pair[1])

    def save(self, folder: Path) -> None:
        """Write `groups.json`."""
        weights = {name: dict(own) for name, own in self.weights.items()}
        write_json(folder / FILE, {"weights": weights, "lists": sorted(self.lists)})

    @classmethod
    def load(cls, folder: Path) -> GroupModel:
        """Read what `save` wrote."""
        file = _GroupsFile.model_validate(read_json(folder, FILE))
        return cls(file.weights, frozenset(file.lists))


class _PageGroups:
    """The groups of one page and their features. A PageError says that it cannot be parsed."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._groups = find_element_groups(page)
        self._named_texts = name_texts(page)
        self._features: dict[tuple[int, bool], Mapping[str, float]] = {}

    def groups_for(self, attribute: Attribute) -> list[ElementGroup]:
        """Return the groups that may contain an attribute: those with titles of sections only if it is a list."""
        return [group for group in self._groups if attribute.many or not group.titled]

    def describe(self, group: ElementGroup, is_list: bool) -> Mapping[str, float]:
        """Return the features of a group; attributes of one kind share them."""
        key = (id(group), is_list)
        if key not in self._features:
            self._features[key] = describe_group(group, is_list, self._named_texts)
        return self._features[key]


_Scored = tuple[ElementGroup, float]
"""A group and the probability that it contains an attribute."""


def _best_chances(of_page: Sequence[_Scored]) -> dict[GroupKey, float]:
    """Return the probability of each key: a list with the titles of its sections has the key of that without."""
    best: dict[GroupKey, float] = {}
    for group, chance in of_page:
        best.setdefault(group.key, chance)
    return best


def _complete_group(best: _Scored, of_page: Sequence[_Scored]) -> _Scored:
    """Return the group of all elements that look like the best group, if probable: lists may have sections."""
    slot, part = best[0].key
    if part == ALL_MEMBERS:
        return best
    complete = next(scored for scored in of_page if scored[0].key == (slot, ALL_MEMBERS))
    return complete if complete[1] >= MIN_COMPLETE_CHANCE else best


class _GroupsFile(StrictFile):
    weights: dict[str, dict[str, float]]
    lists: list[str]


class _Example(NamedTuple):
    """The features of a group, whether it has exactly the labeled values, and the number of its site."""

    features: Mapping[str, float]
    is_right: bool
    site: int


def _some_labeled(pages: Iterable[Page], values: Mapping[str, object]) -> list[Page]:
    """Return the first labeled pages of a site that can be read."""
    labeled = (page for page in pages if page.is_named_in(values) and not page.why_unreadable())
    return list(islice(labeled, MAX_TRAINING_PAGES))


def _long_lists(sites: Sequence[LabeledSite], schema: Schema) -> frozenset[str]:
    """Return the attributes with many values whose labels have several of them on most pages."""
    counts: defaultdict[str, list[int]] = defaultdict(list)
    for _, labels in sites:
        for values in _labels_by_page(labels).values():
            for name, texts in values.items():
                counts[name].append(len(texts))
    many = [name for name, attribute in schema.attributes.items() if attribute.many and counts[name]]
    return frozenset(name for name in many if median(counts[name]) >= MIN_LIST_MEMBERS)


def _labels_by_page(labels: Iterable[Label]) -> dict[str, dict[str, list[str]]]:
    """Return the labeled values by page and attribute."""
    values: dict[str, dict[str, list[str]]] = {}
    for label in labels:
        if label.value is not None:
            values.setdefault(label.page, {}).setdefault(label.attribute, []).append(label.value)
    return values


def _examples_of_site(
    pages: Iterable[Page], values: Mapping[str, Mapping[str, Sequence[str]]], schema: Schema
) -> Iterator[tuple[str, Mapping[str, float], bool]]:
    """Yield the groups of labeled pages as examples: an attribute, the features, whether the values are those."""
    for page in map(_PageGroups, _some_labeled(pages, values)):
        for name, texts in (page.page.entry_in(values) or {}).items():
            attribute = schema.attributes.get(name)
            if attribute is None:
                continue
            groups = page.groups_for(attribute)
            wanted = tuple(map(letters_and_digits, texts))
            right = [_has_values(group, wanted, attribute.many) for group in groups]
            if any(right):
                for group, is_right in zip(groups, right, strict=True):
                    yield name, page.describe(group, attribute.many), is_right


def _has_values(group: ElementGroup, wanted: tuple[str, ...], is_list: bool) -> bool:
    return group.letters == wanted if is_list else group.letters[:1] == wanted[:1]


def _fit_weights(examples: Sequence[_Example]) -> _Weights:
    """Fit a logistic model and return its weights by feature; the intercept has the empty name.

    With several sites, only features that groups of several sites have are used: others are about one site.
    """
    try:
        from sklearn.feature_extraction import DictVectorizer
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    known = _shared_features(examples)
    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform(
        [{name: value for name, value in one.features.items() if name in known} for one in examples]
    )
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    right = np.array([example.is_right for example in examples])
    weight = np.where(right, POSITIVE_WEIGHT * (~right).sum() / max(1, right.sum()), 1.0)
    model = LogisticRegression(C=C, solver="liblinear", random_state=0)
    model.fit(matrix, right, sample_weight=weight)
    named = zip(vectorizer.get_feature_names_out(), model.coef_[0].tolist(), strict=True)
    weights = {name: round(value, 4) for name, value in named if abs(value) >= MIN_WEIGHT}
    return {"": round(float(model.intercept_[0]), 4), **weights}


def _shared_features(examples: Sequence[_Example]) -> set[str]:
    """Return the features of groups of two sites or more; all features if there is one site only."""
    sites_with: defaultdict[str, set[int]] = defaultdict(set)
    for example in examples:
        for name in example.features:
            sites_with[name].add(example.site)
    min_sites = min(2, len({example.site for example in examples}))
    return {name for name, sites in sites_with.items() if len(sites) >= min_sites}
