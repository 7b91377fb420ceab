"""Node classifiers: what says of each leaf of a site, by itself, which attribute it may hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from untemplate.errors import LabelError
from untemplate.labeling.label import Label, Labeler
from untemplate.labeling.nodes import Fields
from untemplate.labeling.nodes.examples import find_examples, pinned_rows
from untemplate.labeling.segments.correcting import NOISE
from untemplate.labeling.segments.crf import CRF, Words, learn_crf
from untemplate.labeling.segments.features import node_features, split_words
from untemplate.labeling.segments.segmenting import Segmented
from untemplate.page import Page
from untemplate.page.arrays import Ints, Numbered
from untemplate.schema import Schema

__all__ = [
    "FromLabels",
    "NodeCRF",
    "NodeClassifier",
    "leaf_labels",
    "learn_node_crf",
    "learn_nodes",
    "majority",
    "words_of",
]

# The share of nodes without an attribute that the CRF learns from: with all of them it labels most nodes noise.
NOISE_SHARE = 0.1


class NodeClassifier(Protocol):
    """Anything that labels leaves; site knowledge corrects it, whatever it is."""

    def classify(self, site: Segmented) -> list[str]:
        """The attribute of each leaf, or noise."""
        ...


@dataclass(frozen=True)
class NodeCRF:
    """The paper's: a CRF labels the words of each node by themselves, and their majority is the node's."""

    crf: CRF
    #: how many sites taught each attribute
    taught: Mapping[str, int] = field(default_factory=dict)

    def classify(self, site: Segmented) -> list[str]:
        leaves = np.flatnonzero(~site.is_static)
        sequences = Numbered[Words]()
        numbers = [sequences[tuple(words_of(site, leaf))] for leaf in leaves.tolist()]
        found = [majority(self.crf, tagged) for tagged in self.crf.tag(list(sequences))]
        labels = [NOISE] * len(site)
        for leaf, number in zip(leaves.tolist(), numbers, strict=True):
            labels[leaf] = found[number]
        return labels


@dataclass(frozen=True)
class FromLabels:
    """Any labeller as a node classifier: what it labelled, such as knowledge of seed sites."""

    labeler: Labeler

    def classify(self, site: Segmented) -> list[str]:
        table = site.table
        pages = {page.id: number for number, page in enumerate(table.pages)}
        rows = [NOISE] * len(table)
        for label in self.labeler.label(table.pages):
            if label.xpath is None:
                continue
            page = pages[label.page]
            for row in pinned_rows(table, range(table.starts[page], table.starts[page + 1]), label.xpath):
                own = range(table.first[row], table.last[row] + 1)
                rows[own.start : own.stop] = [label.attribute] * len(own)
        return [NOISE if static else rows[row] for row, static in zip(site.row, site.is_static, strict=True)]


def learn_node_crf(sites: Sequence[tuple[Segmented, Sequence[str | None]]]) -> NodeCRF:
    """Learn from sites and the labels of their leaves: noise where there is no attribute, None where nobody knows."""
    random = np.random.default_rng(0)
    sequences: list[tuple[Words, list[str]]] = []
    for site, labels in sites:
        for leaf, label in enumerate(labels):
            if label is None or site.is_static[leaf] or (label == NOISE and random.random() >= NOISE_SHARE):
                continue
            words = words_of(site, leaf)
            sequences.append((words, [label] * len(words)))
    taught = Counter(name for _, labels in sites for name in set(labels) if name)
    return NodeCRF(learn_crf(sequences), taught)


def learn_nodes(sites: Sequence[tuple[Sequence[Page], Sequence[Label]]], schema: Schema) -> NodeCRF:
    """A node classifier from the pages and labels of seed sites."""
    segmented = [(Segmented(pages), labels) for pages, labels in sites]
    examples = [(site, leaf_labels(site, labels, schema)) for site, labels in segmented]
    if not any(name for _, labels in examples for name in labels):
        raise LabelError(f"no label of schema {schema.name!r} is found on the pages of its seed site")
    return learn_node_crf(examples)


def leaf_labels(site: Segmented, labels: Sequence[Label], schema: Schema) -> list[str | None]:
    """What labels of pages say about each leaf; None where they say nothing. A value may span several of them."""
    table, fields = site.table, Fields(site.table)
    rows: list[str | None] = [None] * len(table)
    found = {name: find_examples(fields, labels, one) for name, one in schema.attributes.items()}
    known = {name: examples for name, examples in found.items() if examples is not None}
    noise = np.all([one.negative for one in known.values()], axis=0) & bool(known)
    for row in np.flatnonzero(noise).tolist():
        rows[row] = NOISE
    for name, examples in known.items():
        for row in np.flatnonzero(examples.positive).tolist():
            own = range(table.first[row], table.last[row] + 1)
            rows[own.start : own.stop] = [name] * len(own)
    return [rows[row] for row in site.row]


def majority(crf: CRF, tagged: Ints) -> str:
    """The label of most words; of several alike the first's."""
    return crf.labels[Counter(tagged.tolist()).most_common(1)[0][0]] if len(tagged) else NOISE


def words_of(site: Segmented, leaf: int) -> Words:
    """The words of a leaf as the CRF sees them."""
    words = split_words(site.texts[site.text[leaf]])
    node = node_features(words, split_words(site.titles[site.page[leaf]]))
    return [(word, node) for word in words]
