"""Labels to rules: features, Apriori search, classifier, range pruner (Vertex III-C)."""

from untemplate.learning.cluster_rules import (
    LabeledSite,
    Labels,
    LabelsByPage,
    LearnedCluster,
    cluster_labeled,
    empty_wrapper,
    fit_wrapper,
    flatten_rows,
    group_labels,
    is_moderate,
    labeled_schema,
    labels_of_page,
    learn_cluster,
    learn_parts,
    learning_sample,
)
from untemplate.learning.reports import AttributeReport
from untemplate.learning.sample_rules import learn_sample
from untemplate.learning.sample_table import SampleTable

__all__ = [
    "AttributeReport",
    "LabeledSite",
    "Labels",
    "LabelsByPage",
    "LearnedCluster",
    "SampleTable",
    "cluster_labeled",
    "empty_wrapper",
    "fit_wrapper",
    "flatten_rows",
    "group_labels",
    "is_moderate",
    "labeled_schema",
    "labels_of_page",
    "learn_cluster",
    "learn_parts",
    "learn_sample",
    "learning_sample",
]
