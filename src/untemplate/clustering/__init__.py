"""Pages to templates (Vertex III-A)."""

from untemplate.clustering.clusters import Cluster, Clustering, cluster, cluster_vectors
from untemplate.clustering.corrections import correct_clusters, name_templates
from untemplate.clustering.kinds import Kind, guess_kinds
from untemplate.clustering.site_sample import sample_pages
from untemplate.clustering.templates import MIN_SIMILARITY

__all__ = [
    "MIN_SIMILARITY",
    "Cluster",
    "Clustering",
    "Kind",
    "cluster",
    "cluster_vectors",
    "correct_clusters",
    "guess_kinds",
    "name_templates",
    "sample_pages",
]
