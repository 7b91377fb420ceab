"""Site knowledge corrects the labels of a node classifier: "High-Precision Web Extraction Using Site Knowledge"."""

from untemplate.labeling.segments.classifying import FromLabels, NodeClassifier, NodeCRF, learn_nodes
from untemplate.labeling.segments.crf import CRF
from untemplate.labeling.segments.labeler import SegmentLabeler

__all__ = ["CRF", "FromLabels", "NodeCRF", "NodeClassifier", "SegmentLabeler", "learn_nodes"]
