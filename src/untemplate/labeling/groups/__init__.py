"""Groups of elements that look alike as values: lists of ingredients or steps, and values of sites with few pages."""

from untemplate.labeling.groups.group_model import GroupModel

__all__ = ["GroupModel"]
