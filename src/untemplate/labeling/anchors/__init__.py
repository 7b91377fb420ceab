"""Site-level extractors, found by anchors and scored by what other sites of the domain taught."""

from untemplate.labeling.anchors.features import FEATURES, PAIR, Features
from untemplate.labeling.anchors.labeler import Anchors, Chosen, learn_anchors
from untemplate.labeling.anchors.scoring import MODELS, Model, Scorer

__all__ = ["FEATURES", "MODELS", "PAIR", "Anchors", "Chosen", "Features", "Model", "Scorer", "learn_anchors"]
