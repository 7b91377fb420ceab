"""The method "anchors": site-level extractors, found near anchors and scored by what other sites taught.

`extractors` annotates nodes and finds candidates near them, `extractor_options` computes their features,
`extractor_scoring` chooses the best combination, `anchors_model` learns and applies all of it.
"""

from untemplate.labeling.anchors.anchors_model import AnchorsModel

__all__ = ["AnchorsModel"]
