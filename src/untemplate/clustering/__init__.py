"""Pages to templates (Vertex III-A)."""

from untemplate.clustering.clusters import Cluster, Clustering, cluster, cluster_vectors
from untemplate.clustering.kinds import Kind, guess_kinds
from untemplate.clustering.site_sample import sample_pages

__all__ = ["Cluster", "Clustering", "Kind", "cluster", "cluster_vectors", "guess_kinds", "sample_pages"]
