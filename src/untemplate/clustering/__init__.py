"""Pages to templates (Vertex III-A)."""

from untemplate.clustering.clusters import Cluster, Clustering, cluster
from untemplate.clustering.kinds import Kind, guess_kinds
from untemplate.clustering.site_sample import sample_pages
from untemplate.clustering.vectors import cluster_vectors

__all__ = ["Cluster", "Clustering", "Kind", "cluster", "cluster_vectors", "guess_kinds", "sample_pages"]
