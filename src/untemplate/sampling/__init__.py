"""Template to the few pages worth labeling (Vertex III-B)."""

from untemplate.sampling.selection import sample

__all__ = ["sample"]
