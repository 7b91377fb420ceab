"""Page and rules to record: match, apply, normalize (Vertex IV-A)."""

from untemplate.extraction.rules import Rules

__all__ = ["Rules"]
