"""The range pruner: which part of a node's text is the value (Vertex III-C.4)."""

from __future__ import annotations

from dataclasses import dataclass

from untemplate.schema import Type
from untemplate.value_types import find_typed

__all__ = ["Range"]


@dataclass(frozen=True, slots=True)
class Range:
    """One way to cut a value out of a text.

    By delimiters: what stands between the first `after` and the next `before`. By tokens: those from `start`
    to `stop`, each counted from the text's start or, when negative, from its end (0: up to the end).
    By `type`: the part that looks like one. Exactly one of the three is used.
    """

    after: str | None = None
    before: str | None = None
    start: int | None = None
    stop: int | None = None
    type: Type | None = None

    def prune(self, text: str) -> str | None:
        """The part of the text that is the value; None if there is no such part."""
        if self.type is not None:
            return find_typed(text, self.type)
        if self.start is not None:
            tokens = text.split(" ")[self.start : self.stop or None]
            return " ".join(tokens) or None
        part: str | None = text
        if self.after:
            part = text.partition(self.after)[2] if self.after in text else None
        if part is not None and self.before:
            part = part.partition(self.before)[0] if self.before in part else None
        return part.strip() or None if part else None
