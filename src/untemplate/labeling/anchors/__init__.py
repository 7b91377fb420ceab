"""The method "anchors": site-level extractors, found near anchors and scored by what other sites taught.

`annotators` mark nodes that may contain an attribute, `extractors` are candidates near the marked nodes,
`extractor_options` computes their features, `extractor_scoring` chooses the best combination, `anchors_training`
learns.
"""

from untemplate.labeling.anchors.anchors_model import AnchorsModel

__all__ = ["AnchorsModel"]
