"""Which part of a text is the value, and how the part is split if it is a list of values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from untemplate.value_types import Type, find_typed

__all__ = ["Range"]


@dataclass(frozen=True, slots=True)
class Range:
    """Which part of a node's text is the value (Vertex III-C.4), and how it is split if it is a list of values.

    At most one of three ways is used to find the part; without any, it is the complete text.

    Attributes:
        after: by delimiters: the value follows the first occurrence of this text …
        before: … and ends before the next occurrence of this one.
        start: by tokens: the first one of the value, counted from the text's end if negative.
        stop: the first token that no longer belongs to it, counted likewise; 0 means up to the end.
        delimiter: what separates the tokens, such as `, `.
        type: by type: the part of the text that looks like one.
        separators: the texts between the values, such as `, ` and ` and `, if the part is a list of several. A line
            feed separates the lines that readers see.
        last: True if the value follows the last `after` in front of `before`, such as the last `/` of a path.
    """

    after: str | None = None
    before: str | None = None
    start: int | None = None
    stop: int | None = None
    type: Type | None = None
    separators: tuple[str, ...] = ()
    last: bool = False
    delimiter: str = " "

    @property
    def keeps_lines(self) -> bool:
        """True if the range applies to a text with its line feeds."""
        return "\n" in self.separators

    def cut_values(self, text: str) -> list[str]:
        """Return all values in the text: one, several between separators, or none.

        >>> Range(after="Tags: ", separators=(", ", " and ")).cut_values("Tags: tea, cake and jam")
        ['tea', 'cake', 'jam']
        """
        part = self.prune(text)
        if part is None:
            return []
        if not self.separators:
            return [part]
        pieces = _separator_pattern(self.separators).split(part)
        return [value for piece in pieces if (value := piece.strip())]

    def prune(self, text: str) -> str | None:
        """Return the part of the text that is the value; None if there is no such part."""
        if self.type is not None:
            return find_typed(text, self.type)
        if self.start is not None:
            tokens = text.split(self.delimiter)[self.start : self.stop or None]
            return self.delimiter.join(tokens).strip() or None
        return self._between_delimiters(text)

    def _between_delimiters(self, text: str) -> str | None:
        """Return the text after the first delimiter and before the second; None if one of them is missing."""
        if self.last:
            text, has_end = self._up_to_before(text)
            _, delimiter, text = text.rpartition(self.after or "")
            return text.strip() or None if delimiter and has_end else None
        if self.after:
            _, delimiter, text = text.partition(self.after)
            if not delimiter:
                return None
        text, has_end = self._up_to_before(text)
        return text.strip() or None if has_end else None

    def _up_to_before(self, text: str) -> tuple[str, bool]:
        """Return the text up to the second delimiter, and whether the text contains it."""
        if not self.before:
            return text, True
        text, delimiter, _ = text.partition(self.before)
        return text, bool(delimiter)


@lru_cache(maxsize=1024)
def _separator_pattern(separators: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of all separators, in which longer ones come first."""
    return re.compile("|".join(map(re.escape, sorted(separators, key=len, reverse=True))))
