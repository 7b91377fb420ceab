"""Page and rules to record: match, apply, normalize (Vertex IV-A)."""

from untemplate.extraction.extractor import Rules

__all__ = ["Rules"]
