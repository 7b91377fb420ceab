"""Pages to templates (Vertex III-A)."""

from untemplate.clustering.clusters import Cluster, Clustering, cluster
from untemplate.clustering.vectors import cluster_vectors

__all__ = ["Cluster", "Clustering", "cluster", "cluster_vectors"]
