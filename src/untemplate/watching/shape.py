"""What an attribute's values look like, to notice values that do not belong there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from untemplate.page.sameness import folded_words
from untemplate.schema import Type
from untemplate.value_types import find_typed, looks_typed

__all__ = ["Shape"]

# Fewer values do not tell of which characters all others are.
ENOUGH = 5


@dataclass(frozen=True)
class Shape:
    """How long an attribute's values are, and of which characters."""

    type: Type
    fewest: int
    most: int
    letters: frozenset[bool]  # whether they have any; both, if some have and some do not
    digits: frozenset[bool]
    is_typed: bool  # each of them is a value of its type and nothing besides

    @classmethod
    def of(cls, values: Iterable[str], type: Type) -> Shape:
        """The shape that all these values have."""
        texts = list(values)
        lengths = [len(folded_words(text)) for text in texts]
        return cls(
            type,
            min(lengths, default=0),
            max(lengths, default=0),
            _traits((any(map(str.isalpha, text)) for text in texts), len(texts)),
            _traits((any(map(str.isdigit, text)) for text in texts), len(texts)),
            all(find_typed(text, type) == text for text in texts),
        )

    def fits(self, text: str) -> bool:
        """Whether a text could be one more of the values: of their type or, if that says nothing, much like them."""
        if self.is_typed:
            return find_typed(text, self.type) == text
        words = len(folded_words(text))
        if not (self.fewest - 1) / 2 <= words <= 2 * self.most + 1 or not looks_typed(text, self.type):
            return False
        return any(map(str.isalpha, text)) in self.letters and any(map(str.isdigit, text)) in self.digits


def _traits(traits: Iterable[bool], count: int) -> frozenset[bool]:
    return frozenset(traits) if count >= ENOUGH else frozenset((False, True))
