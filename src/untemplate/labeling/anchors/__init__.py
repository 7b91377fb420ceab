"""Site-level extractors, found by anchors and scored by what other sites of the domain taught."""

from untemplate.labeling.anchors.features import FEATURES, PAIR, Features
from untemplate.labeling.anchors.labeler import Anchors, Lessons, learn_lessons
from untemplate.labeling.anchors.scoring import MODELS, Model, Scorer

__all__ = ["FEATURES", "MODELS", "PAIR", "Anchors", "Features", "Lessons", "Model", "Scorer", "learn_lessons"]
