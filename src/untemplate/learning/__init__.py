"""Labels to rules: features, Apriori search, classifier, range pruner (Vertex III-C)."""

from untemplate.learning.attributes import AttributeReport, learn_rules
from untemplate.learning.list_rules import LearnedList, learn_list
from untemplate.learning.sample_table import Table
from untemplate.learning.stops import learn_stops

__all__ = ["AttributeReport", "LearnedList", "Table", "learn_list", "learn_rules", "learn_stops"]
