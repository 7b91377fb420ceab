"""The ground of all automatic labelling: nodes of pages as arrays, what stands around them, data fields."""

from untemplate.labeling.ground.bags import Bags
from untemplate.labeling.ground.fields import Fields
from untemplate.labeling.ground.nodes import Ground
from untemplate.labeling.ground.screen import Screen
from untemplate.labeling.ground.surroundings import words_of

__all__ = ["Bags", "Fields", "Ground", "Screen", "words_of"]
