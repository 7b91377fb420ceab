"""A linear-chain CRF over words: learnt by CRFsuite, kept and applied as arrays.

CRFsuite reads its model files without checks, so that a broken one may crash the process. Weights as arrays are safe
to load, need no extra to label with, and are applied to all nodes of a site at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from untemplate.errors import MissingExtra
from untemplate.labeling.segments.features import word_features
from untemplate.page.arrays import Floats, Ints, Numbered

__all__ = ["CRF", "Words", "learn_crf"]

# The paper's σ = 5 with L1: CRFsuite weighs the sum of absolute weights by 1 / σ.
C1 = 0.2
# CRFsuite has then long converged as far as labels go.
MAX_ITERATIONS = 100

Words = Sequence[tuple[str, Sequence[str]]]
"""A sequence to label: words, each with the features of the node around it."""


@dataclass(frozen=True)
class CRF:
    """Weights of features by label, and of a label after another."""

    labels: tuple[str, ...]
    features: tuple[str, ...]
    weights: Floats  # of each feature for each label
    transitions: Floats  # from each label to each

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {feature: number for number, feature in enumerate(self.features)}

    def _sum(self, features: Iterable[str]) -> Floats:
        known = [self._numbers[feature] for feature in features if feature in self._numbers]
        total: Floats = self.weights[known].sum(axis=0, dtype=np.float32)
        return total

    def tag(self, sequences: Sequence[Words]) -> list[Ints]:
        """The most likely labels of each sequence's words, as numbers of labels: Viterbi's algorithm, all at once."""
        scores, lengths = self._scores(sequences)
        order = np.argsort(-lengths, kind="stable")
        starts = np.concatenate([[0], np.cumsum(lengths)])[order]
        lengths = lengths[order]
        best = np.zeros((len(order), len(self.labels)), np.float32)
        back: list[Ints] = []
        for at, active in _steps(lengths):
            own = scores[starts[:active] + at]
            if at == 0:
                best[:active] = own
                continue
            ways = best[:active, :, None] + self.transitions[None]
            back.append(ways.argmax(axis=1).astype(np.int32))
            best[:active] = ways.max(axis=1) + own
        found = [np.zeros(length, np.int32) for length in lengths.tolist()]
        label = best.argmax(axis=1).astype(np.int32)
        for at, active in reversed(list(_steps(lengths))):
            for number in range(active):
                found[number][at] = label[number]
            if at:
                label[:active] = back[at - 1][np.arange(active), label[:active]]
        tagged: list[Ints] = [found[0]] * len(order) if len(order) else []
        for number, place in enumerate(order.tolist()):
            tagged[place] = found[number]
        return tagged

    def _scores(self, sequences: Sequence[Words]) -> tuple[Floats, Ints]:
        """The score of each label for each word of all sequences, and how many words each has."""
        words, nodes = Numbered[str](), Numbered[Sequence[str]]()
        pairs = np.array(
            [(words[word], nodes[tuple(node)]) for sequence in sequences for word, node in sequence], np.int32
        ).reshape(-1, 2)
        of_words = np.array([self._sum(word_features(word)) for word in words], np.float32)
        of_nodes = np.array([self._sum(node) for node in nodes], np.float32)
        lengths = np.array([len(sequence) for sequence in sequences], np.int32)
        if not len(pairs):
            return np.zeros((0, len(self.labels)), np.float32), lengths
        return of_words[pairs[:, 0]] + of_nodes[pairs[:, 1]], lengths


def _steps(lengths: Ints) -> Iterator[tuple[int, int]]:
    """The places of the longest sequence, and how many sequences reach each; lengths descend."""
    ascending = -lengths
    for at in range(int(lengths.max(initial=0))):
        yield at, int(np.searchsorted(ascending, -at, side="left"))


def learn_crf(sequences: Iterable[tuple[Words, Sequence[str]]]) -> CRF:
    """Learn from sequences and the labels of their words."""
    try:
        from pycrfsuite import Tagger, Trainer
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    features, labels = Numbered[str](), Numbered[str]()
    of_words: dict[str, list[str]] = {}
    # Numbers stand for features: CRFsuite then stumbles over no odd word.
    trainer = Trainer(
        algorithm="lbfgs", params={"c1": C1, "c2": 0.0, "max_iterations": MAX_ITERATIONS}, verbose=False
    )
    for words, given in sequences:
        items = []
        for word, node in words:
            if word not in of_words:
                of_words[word] = [str(features[feature]) for feature in word_features(word)]
            items.append([*of_words[word], *(str(features[feature]) for feature in node)])
        trainer.append(items, [str(labels[label]) for label in given])
    with TemporaryDirectory() as folder:
        path = str(Path(folder) / "crf")
        trainer.train(path)
        tagger = Tagger()
        tagger.open(path)
        learnt = tagger.info()
        tagger.close()
    states = {
        (int(feature), int(label)): weight for (feature, label), weight in learnt.state_features.items()
    }
    used = sorted({feature for feature, _ in states})
    place = {feature: number for number, feature in enumerate(used)}
    weights = np.zeros((len(used), len(labels)), np.float32)
    for (feature, label), weight in states.items():
        weights[place[feature], label] = weight
    transitions = np.zeros((len(labels), len(labels)), np.float32)
    for (before, after), weight in learnt.transitions.items():
        transitions[int(before), int(after)] = weight
    names = list(features)
    return CRF(tuple(labels), tuple(names[feature] for feature in used), weights, transitions)
