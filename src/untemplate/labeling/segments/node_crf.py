"""Node classifiers: which attribute each leaf of a site contains, judged by the leaf alone.

The paper's classifier is a linear-chain CRF over the words of a node, with the binary features that the paper lists.
CRFsuite learns it. We store and apply its weights as arrays: CRFsuite reads model files without checks, so a broken
one may crash the process. Arrays are safe to load, need no extra, and label all nodes of a site at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import numpy as np

from untemplate.errors import LabelError, MissingExtra
from untemplate.labeling.label import Label, Labeler
from untemplate.labeling.nodes import Fields
from untemplate.labeling.nodes.fields import Examples, locate_examples, pinned_rows
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite
from untemplate.page import Page
from untemplate.page.arrays import Floats, Ints, Numbered
from untemplate.schema import Schema

__all__ = [
    "CRF",
    "NODE_FEATURES",
    "REGEX_FEATURES",
    "LabelerClassifier",
    "LeafScores",
    "NodeCRF",
    "NodeClassifier",
    "WordSequence",
    "captioned_words",
    "crf_node_features",
    "crf_word_features",
    "leaf_classes",
    "leaf_words",
    "learn_crf",
    "learn_node_crf",
    "mean_chances",
    "train_node_crf",
]

# Words of a node that are classified; their mean decides.
MAX_WORDS = 200
# The share of nodes without an attribute that the CRF learns from: with all of them it takes most nodes for noise.
NOISE_SHARE = 0.1
# The paper's σ = 5 with L1: CRFsuite weighs the sum of absolute weights by 1 / σ.
C1 = 0.2
# Leaves after a static one that it may be the caption of, and words of it that count.
MAX_CAPTION_DISTANCE, MAX_CAPTION_WORDS = 4, 8
# By then the classes do not change any more.
MAX_ITERATIONS = 100

REGEX_FEATURES: dict[str, re.Pattern[str]] = {
    "isAllCapsWord": re.compile(r"\W*[^\W\d_a-z]+\W*\Z"),
    "hasTwoContinuousCaps": re.compile(r".*[A-Z]{2}"),
    "isDay": re.compile(
        r"(?i)\W*(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?)\W*\Z"
    ),
    "1-2digitNumber": re.compile(r".*(?<!\d)\d{1,2}(?!\d)"),
    "3digitNumber": re.compile(r".*(?<!\d)\d{3}(?!\d)"),
    "4digitNumber": re.compile(r".*(?<!\d)\d{4}(?!\d)"),
    "5digitNumber": re.compile(r".*(?<!\d)\d{5}(?!\d)"),
    ">5digitNumber": re.compile(r".*\d{6}"),
    "dashBetweenDigits": re.compile(r".*\d-\d"),
    "isAlpha": re.compile(r"[^\W\d_]+\Z"),
    "isNumber": re.compile(r"\d+\Z"),
}

NODE_FEATURES = (
    "noOfWords>20",
    "noOfWords>50",
    "noOfWords>100",
    "propOfTitleCase<0.2",
    "propOfTitleCase>0.8",
    "overlapWithTitle",
    "prefixOverlapWithTitle",
)
# Intervals into which a share from 0 to 1 is divided; the paper does not say how many.
SHARE_INTERVALS = 4

_EDGES = re.compile(r"^\W+|\W+$")

WordSequence = Sequence[tuple[str, Sequence[str]]]
"""Words to classify, each with the features of the node around it."""


def crf_word_features(word: str) -> list[str]:
    """Return the word itself, in lower case without punctuation around it, and the names of the patterns it fits."""
    patterns = [name for name, pattern in REGEX_FEATURES.items() if pattern.match(word[:100])]
    return [f"word {_bare_word(word)}", *patterns]


def crf_node_features(words: Sequence[str], title: Sequence[str]) -> tuple[str, ...]:
    """Return the features that all words of a node share: its length, capitals, and overlap with the title."""
    count = max(1, len(words))
    capitals = sum(word[:1].isupper() for word in words) / count
    node_words = [_bare_word(word) for word in words]
    title_words = [_bare_word(word) for word in title]
    in_title = set(title_words)
    overlap = sum(word in in_title for word in node_words) / count
    prefix = _shared_prefix(node_words, title_words) / count
    flags = (count > 20, count > 50, count > 100, capitals < 0.2, capitals > 0.8)
    names = [name for name, flag in zip(NODE_FEATURES, flags, strict=False) if flag]
    overlap_name, prefix_name = NODE_FEATURES[len(flags) :]
    return (*names, f"{overlap_name} {_share_interval(overlap)}", f"{prefix_name} {_share_interval(prefix)}")


def _shared_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    length = 0
    while length < min(len(one), len(other)) and one[length] == other[length]:
        length += 1
    return length


def _bare_word(word: str) -> str:
    return _EDGES.sub("", word).lower()


def _share_interval(share: float) -> int:
    """Return 0 for nothing, the last number for everything, and the numbers between for the rest."""
    return 0 if share == 0 else min(SHARE_INTERVALS, 1 + int(share * (SHARE_INTERVALS - 1)))


def leaf_words(site: SegmentedSite, leaf: int) -> WordSequence:
    """Return the words of a leaf, punctuation included, with the features of the leaf."""
    words = _first_words(site.texts[site.text[leaf]])
    node = crf_node_features(words, _first_words(site.titles[site.page[leaf]]))
    return tuple((word, node) for word in words)


def captioned_words(site: SegmentedSite, leaf: int) -> WordSequence:
    """Return the words of a leaf with the features of the leaf and the words of the static text shortly before it."""
    caption, distance = site.captions[leaf]
    if distance > MAX_CAPTION_DISTANCE:
        return leaf_words(site, leaf)
    kind = "caption" if distance == 1 else "near"
    bare = filter(None, map(_bare_word, caption.split()[:MAX_CAPTION_WORDS]))
    added = tuple(f"{kind} {word}" for word in bare)
    return tuple((word, (*node, *added)) for word, node in leaf_words(site, leaf))


def _first_words(text: str) -> list[str]:
    return text.split()[:MAX_WORDS]


@dataclass(frozen=True)
class CRF:
    """A linear-chain CRF over words.

    Attributes:
        labels: The classes of words: attributes, and noise.
        features: The features that have any weight.
        weights: Of each feature for each class.
        transitions: From each class to each.
    """

    labels: tuple[str, ...]
    features: tuple[str, ...]
    weights: Floats
    transitions: Floats

    @cached_property
    def _feature_numbers(self) -> dict[str, int]:
        return {feature: number for number, feature in enumerate(self.features)}

    def _sum_weights(self, features: Iterable[str]) -> Floats:
        numbers = [self._feature_numbers[feature] for feature in features if feature in self._feature_numbers]
        total: Floats = self.weights[numbers].sum(axis=0, dtype=np.float32)
        return total

    def marginals(self, sequences: Sequence[WordSequence]) -> list[Floats]:
        """Return the probability of each class for the words of each sequence: a row a word, a column a label.

        This is the forward-backward algorithm on all sequences at once, the longest first.
        """
        scores, lengths = self._score_words(sequences)
        order = np.argsort(-lengths, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(lengths)])
        starts, lengths = bounds[order], lengths[order]
        forward, backward = scores.copy(), np.zeros_like(scores)
        steps = list(_steps(lengths))
        for at, active in steps[1:]:
            words = starts[:active] + at
            ways = forward[words - 1][:, :, None] + self.transitions[None]
            forward[words] += np.logaddexp.reduce(ways, axis=1)
        for at, active in reversed(steps[1:]):
            words = starts[:active] + at
            ways = (scores[words] + backward[words])[:, None, :] + self.transitions[None]
            backward[words - 1] = np.logaddexp.reduce(ways, axis=2)
        both = forward + backward
        chances: Floats = np.exp(both - np.logaddexp.reduce(both, axis=1, keepdims=True))
        return [chances[start:stop] for start, stop in pairwise(bounds.tolist())]

    def _score_words(self, sequences: Sequence[WordSequence]) -> tuple[Floats, Ints]:
        """Return the score of each class for each word of all sequences, and the number of words of each sequence."""
        words, nodes = Numbered[str](), Numbered[Sequence[str]]()
        pairs: list[tuple[int, int]] = []
        for sequence in sequences:
            pairs += ((words[word], nodes[tuple(node)]) for word, node in sequence)
        word_scores = np.array([self._sum_weights(crf_word_features(word)) for word in words], np.float32)
        node_scores = np.array([self._sum_weights(node) for node in nodes], np.float32)
        lengths = np.array([len(sequence) for sequence in sequences], np.int32)
        if not pairs:
            return np.zeros((0, len(self.labels)), np.float32), lengths
        numbers = np.array(pairs, np.int32)
        return word_scores[numbers[:, 0]] + node_scores[numbers[:, 1]], lengths


def _steps(lengths: Ints) -> Iterator[tuple[int, int]]:
    """Yield each position with the number of sequences that reach it; lengths descend."""
    ascending = -lengths
    for at in range(int(lengths.max(initial=0))):
        yield at, int(np.searchsorted(ascending, -at, side="left"))


def learn_crf(sequences: Iterable[tuple[WordSequence, Sequence[str]]]) -> CRF:
    """Learn a CRF from sequences and the classes of their words.

    Raises:
        MissingExtra: CRFsuite is not installed.
    """
    try:
        from pycrfsuite import Trainer
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    features, labels = Numbered[str](), Numbered[str]()
    word_items: dict[str, list[str]] = {}
    # CRFsuite gets numbers instead of features: then no odd word can confuse it.
    trainer = Trainer(
        algorithm="lbfgs", params={"c1": C1, "c2": 0.0, "max_iterations": MAX_ITERATIONS}, verbose=False
    )
    for words, word_labels in sequences:
        items = []
        for word, node in words:
            if word not in word_items:
                word_items[word] = [str(features[feature]) for feature in crf_word_features(word)]
            items.append([*word_items[word], *(str(features[feature]) for feature in node)])
        trainer.append(items, [str(labels[label]) for label in word_labels])
    return _read_weights(_train_crfsuite(trainer), list(features), list(labels))


def _train_crfsuite(trainer: Any) -> Any:
    """Train, and return what CRFsuite reports about its model."""
    from pycrfsuite import Tagger

    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "crf")
        trainer.train(path)
        tagger = Tagger()
        tagger.open(path)
        info = tagger.info()
        tagger.close()
    return info


def _read_weights(info: Any, features: Sequence[str], labels: Sequence[str]) -> CRF:
    """Return the weights of a model of CRFsuite as arrays, without the features that have none."""
    used = sorted({int(feature) for feature, _ in info.state_features})
    positions = {feature: number for number, feature in enumerate(used)}
    weights = np.zeros((len(used), len(labels)), np.float32)
    for (feature, label), weight in info.state_features.items():
        weights[positions[int(feature)], int(label)] = weight
    transitions = np.zeros((len(labels), len(labels)), np.float32)
    for (before, after), weight in info.transitions.items():
        transitions[int(before), int(after)] = weight
    return CRF(tuple(labels), tuple(features[feature] for feature in used), weights, transitions)


@dataclass(frozen=True)
class LeafScores:
    """How a classifier judges the leaves of a site.

    Attributes:
        names: The classes: attributes, and noise.
        chances: The probability of each class (column) for each leaf (row).
    """

    names: tuple[str, ...]
    chances: Floats

    @classmethod
    def of_labels(cls, labels: Sequence[str], confidence: Sequence[float] | None = None) -> LeafScores:
        """Return scores that agree with labels; where these are not sure, the leaf may be noise."""
        names = tuple(dict.fromkeys([NOISE, *labels]))
        chances = np.zeros((len(labels), len(names)), np.float32)
        sure = np.ones(len(labels), np.float32) if confidence is None else np.array(confidence, np.float32)
        chances[:, 0] = 1 - sure
        chances[np.arange(len(labels)), [names.index(label) for label in labels]] += sure
        return cls(names, chances)

    @property
    def labels(self) -> list[str]:
        """The most likely class of each leaf."""
        return [self.names[number] for number in self.chances.argmax(axis=1).tolist()]


class NodeClassifier(Protocol):
    """Anything that classifies leaves; site knowledge corrects it, whatever it is."""

    def classify(self, site: SegmentedSite) -> LeafScores:
        """Return how likely each leaf contains each attribute."""
        ...


@dataclass(frozen=True)
class NodeCRF:
    """The paper's classifier: a CRF classifies the words of each node separately; the mean of the words counts.

    Attributes:
        crf: Classifies words.
        taught: How many sites taught each attribute.
        stripped: Of each attribute, how many labels left out a caption inside of the node's text, minus how many
            included it.
    """

    crf: CRF
    taught: Mapping[str, int] = field(default_factory=dict)
    stripped: Mapping[str, int] = field(default_factory=dict)

    def classify(self, site: SegmentedSite) -> LeafScores:
        leaves = np.flatnonzero(~site.is_static)
        sequences = Numbered[WordSequence]()
        numbers = [sequences[captioned_words(site, leaf)] for leaf in leaves.tolist()]
        distinct = mean_chances(self.crf, self.crf.marginals(list(sequences)))
        chances = np.repeat(noise_only(self.crf), len(site), axis=0)
        if numbers:
            chances[leaves] = distinct[numbers]
        return LeafScores(self.crf.labels, chances)

    def strips_captions(self, name: str) -> bool:
        """Return True if most labels of training sites leave out captions; all attributes decide for a new one."""
        return (self.stripped.get(name, 0) or sum(self.stripped.values())) > 0


def mean_chances(crf: CRF, marginals: Sequence[Floats]) -> Floats:
    """Return the mean of the words' marginals for each sequence; a sequence without words is noise."""
    means = [words.mean(axis=0, keepdims=True) if len(words) else noise_only(crf) for words in marginals]
    return np.concatenate(means) if means else np.zeros((0, len(crf.labels)), np.float32)


def noise_only(crf: CRF) -> Floats:
    """Return one row of chances that says noise."""
    return np.array([[label == NOISE for label in crf.labels]], np.float32)


@dataclass(frozen=True)
class LabelerClassifier:
    """Uses any labeler as a node classifier, such as knowledge of seed sites."""

    labeler: Labeler

    def classify(self, site: SegmentedSite) -> LeafScores:
        table = site.table
        page_numbers = {page.id: number for number, page in enumerate(table.pages)}
        classes, confidence = np.full(len(table), NOISE, object), np.ones(len(table), np.float32)
        for label in self.labeler.label(table.pages):
            if label.xpath is None:
                continue
            page = page_numbers[label.page]
            for row in pinned_rows(table, range(table.starts[page], table.starts[page + 1]), label.xpath):
                inside = table.rows_inside(row)
                classes[inside], confidence[inside] = label.attribute, label.confidence
        names: list[str] = np.where(site.is_static, NOISE, classes[site.row]).tolist()
        return LeafScores.of_labels(names, confidence[site.row].tolist())


def train_node_crf(
    sites: Sequence[tuple[Sequence[Page], Sequence[Label]]], schema: Schema, captions: bool = True
) -> NodeCRF:
    """Learn a node classifier from the pages and labels of seed sites.

    Args:
        sites: The pages and labels of each site.
        schema: The attributes.
        captions: Whether the static text before a node counts; in the paper it does not.

    Raises:
        LabelError: No label is found on the pages.
    """
    segmented = [(SegmentedSite(pages), labels) for pages, labels in sites]
    examples = [(site, leaf_classes(site, labels, schema)) for site, labels in segmented]
    if not any(any(classes) for _, classes in examples):
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    stripped: Counter[str] = Counter()
    for site, labels in segmented:
        for name, rows in _locate_all(site, labels, schema).items():
            stripped[name] += rows.stripped - rows.unstripped
    return replace(learn_node_crf(examples, captions), stripped=dict(stripped))


def learn_node_crf(
    sites: Sequence[tuple[SegmentedSite, Sequence[str | None]]], captions: bool = True
) -> NodeCRF:
    """Learn a node classifier from sites and the classes of their leaves; leaves of class None are ignored.

    With captions, each leaf is learned twice: without the static text before it, and with it. Otherwise the CRF would
    rely on the captions of the training sites, and recognize no value after another one.
    """
    sequences: list[tuple[WordSequence, list[str]]] = []
    taught: Counter[str] = Counter()
    for describe in (leaf_words, captioned_words) if captions else (leaf_words,):
        random = np.random.default_rng(0)
        for site, classes in sites:
            sequences += _labeled_words(site, classes, random, describe)
    for _, classes in sites:
        taught.update(list(dict.fromkeys(filter(None, classes))))
    return NodeCRF(learn_crf(sequences), taught)


def _labeled_words(
    site: SegmentedSite,
    classes: Sequence[str | None],
    random: np.random.Generator,
    describe: Callable[[SegmentedSite, int], WordSequence],
) -> Iterator[tuple[WordSequence, list[str]]]:
    """Yield the words of each leaf that has a class, with that class for each word; of noise only a random share."""
    for leaf, name in enumerate(classes):
        if name is None or site.is_static[leaf]:
            continue
        if name != NOISE or random.random() < NOISE_SHARE:
            words = describe(site, leaf)
            yield words, [name] * len(words)


def leaf_classes(site: SegmentedSite, labels: Sequence[Label], schema: Schema) -> list[str | None]:
    """Return the class of each leaf according to labels of pages; None if they say nothing about it.

    A value may span several leaves. A leaf is noise if the labels say so for every attribute that they know.
    """
    table, examples = site.table, _locate_all(site, labels, schema)
    classes = np.full(len(table), None, object)
    if examples:
        classes[np.all([rows.negative for rows in examples.values()], axis=0)] = NOISE
    for name, rows in examples.items():
        for row in np.flatnonzero(rows.positive).tolist():
            classes[table.rows_inside(row)] = name
    classes_of_leaves: list[str | None] = classes[site.row].tolist()
    return classes_of_leaves


def _locate_all(site: SegmentedSite, labels: Sequence[Label], schema: Schema) -> dict[str, Examples]:
    """Return the examples of each attribute that has any."""
    fields = Fields(site.table)
    examples: dict[str, Examples] = {}
    for name, attribute in schema.attributes.items():
        if rows := locate_examples(fields, labels, attribute):
            examples[name] = rows
    return examples
