"""Template to the few pages worth labelling (Vertex III-B)."""

from untemplate.sampling.sample import sample

__all__ = ["sample"]
