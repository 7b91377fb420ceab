"""Template to the few pages worth labeling (Vertex III-B)."""

from untemplate.sampling.page_selection import sample

__all__ = ["sample"]
