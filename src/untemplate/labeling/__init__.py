"""Who says which node is which attribute: people, models, or the page itself, all of one shape."""

from untemplate.labeling.embedded import Embedded
from untemplate.labeling.files import parse_labels, read_labels, write_labels
from untemplate.labeling.finding import Finding, labels_of
from untemplate.labeling.knowledge import Knowledge, train
from untemplate.labeling.label import Label, Labeler

__all__ = [
    "Embedded",
    "Finding",
    "Knowledge",
    "Label",
    "Labeler",
    "labels_of",
    "parse_labels",
    "read_labels",
    "train",
    "write_labels",
]
