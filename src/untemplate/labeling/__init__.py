"""Who says which node is which attribute: people, trained methods, or the page itself. All of them are labelers."""

from untemplate.labeling.embedded import EmbeddedLabeler, label_by_embedded
from untemplate.labeling.files import parse_labels, read_labels, read_templates, write_labels
from untemplate.labeling.knowledge import Knowledge, train
from untemplate.labeling.label import Finding, Label, Labeler, labels_of

__all__ = [
    "EmbeddedLabeler",
    "Finding",
    "Knowledge",
    "Label",
    "Labeler",
    "label_by_embedded",
    "labels_of",
    "parse_labels",
    "read_labels",
    "read_templates",
    "train",
    "write_labels",
]
