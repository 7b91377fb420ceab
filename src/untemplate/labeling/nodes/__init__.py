"""The table of all automatic labelling: nodes of pages as arrays, what stands around them, data fields."""

from untemplate.labeling.nodes.bags import Bags
from untemplate.labeling.nodes.fields import Fields
from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.labeling.nodes.screen import Screen

__all__ = ["Bags", "Fields", "NodeTable", "Screen"]
