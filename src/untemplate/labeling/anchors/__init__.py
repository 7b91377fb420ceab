"""Site-level extractors, found by anchors and scored by what other sites of the domain taught."""

from untemplate.labeling.anchors.anchors_model import AnchorsModel, Lessons, learn_lessons
from untemplate.labeling.anchors.features import FEATURES, PAIR, Features
from untemplate.labeling.anchors.scoring import MODELS, Scorer, ScorerKind

__all__ = [
    "FEATURES",
    "MODELS",
    "PAIR",
    "AnchorsModel",
    "Features",
    "Lessons",
    "Scorer",
    "ScorerKind",
    "learn_lessons",
]
