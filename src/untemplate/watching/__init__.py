"""Notice that a site changed, keep the rules that still hold, repair the others (Vertex IV-B, IV-C)."""

from untemplate.watching.bellwethers import remember

__all__ = ["remember"]
