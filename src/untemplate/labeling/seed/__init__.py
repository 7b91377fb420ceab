"""One labelled seed site teaches a vertical: "From One Tree to a Forest", faithfully and better."""

from untemplate.labeling.seed.finding import Finding, labels_of
from untemplate.labeling.seed.knowledge import Knowledge, train

__all__ = ["Finding", "Knowledge", "labels_of", "train"]
