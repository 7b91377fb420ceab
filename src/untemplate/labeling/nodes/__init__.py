"""What all methods share: the nodes of a site's pages as a table, data fields, bags of features, and examples."""

from untemplate.labeling.nodes.fields import Fields
from untemplate.labeling.nodes.node_features import Bags
from untemplate.labeling.nodes.node_table import NodeTable, Screen

__all__ = ["Bags", "Fields", "NodeTable", "Screen"]
