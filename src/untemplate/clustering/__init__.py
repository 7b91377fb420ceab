"""Pages to templates (Vertex III-A): signatures, clusters and their URL patterns."""

from untemplate.clustering.signatures import NO_TAGS, Signature, signature
from untemplate.clustering.templates import Cluster, Clustering, cluster
from untemplate.clustering.urls import learn_url_pattern, url_matches
from untemplate.clustering.vectors import cluster_vectors

__all__ = [
    "NO_TAGS",
    "Cluster",
    "Clustering",
    "Signature",
    "cluster",
    "cluster_vectors",
    "learn_url_pattern",
    "signature",
    "url_matches",
]
