"""The method "segments", after "High-Precision Web Extraction Using Site Knowledge".

Three steps, as in the paper: `segmenting` divides pages at their static text, `node_crf` labels each node by itself,
and `site_knowledge` selects segments and corrects labels by what the pages of the site have in common.
`segments_model` puts them together.
"""

from untemplate.labeling.segments.segments_model import CorrectedSeedModel, SegmentsModel

__all__ = ["CorrectedSeedModel", "SegmentsModel"]
