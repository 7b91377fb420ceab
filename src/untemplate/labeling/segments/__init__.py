"""Site knowledge corrects the labels of a node classifier: "High-Precision Web Extraction Using Site Knowledge"."""

from untemplate.labeling.segments.classifying import FromLabels, NodeClassifier, NodeCRF, learn_nodes
from untemplate.labeling.segments.crf import CRF
from untemplate.labeling.segments.segments_model import CorrectedSeedModel, SegmentLabeler, SegmentsModel

__all__ = [
    "CRF",
    "CorrectedSeedModel",
    "FromLabels",
    "NodeCRF",
    "NodeClassifier",
    "SegmentLabeler",
    "SegmentsModel",
    "learn_nodes",
]
