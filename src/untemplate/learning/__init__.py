"""Labels to rules: features, Apriori search, classifier, range pruner (Vertex III-C)."""

from untemplate.learning.lists import LearnedList, learn_list
from untemplate.learning.stops import learn_stops
from untemplate.learning.table import Table
from untemplate.learning.wrapper import AttributeReport, learn_rules

__all__ = ["AttributeReport", "LearnedList", "Table", "learn_list", "learn_rules", "learn_stops"]
