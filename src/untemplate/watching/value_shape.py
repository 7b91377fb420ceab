"""How the values of an attribute look: their length, their characters, and whether they are of its type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from untemplate.page.same_values import folded_words
from untemplate.schema import Type
from untemplate.value_types import find_typed, looks_typed

__all__ = ["MIN_VALUES_FOR_SHAPE", "MIN_VALUES_FOR_TRAITS", "ValueShape"]

# Fewer values do not show how long values are.
MIN_VALUES_FOR_SHAPE = 3
# Fewer values do not show which characters all values have.
MIN_VALUES_FOR_TRAITS = 5


@dataclass(frozen=True)
class ValueShape:
    """How long an attribute's values are, and which characters they have.

    Attributes:
        type: the attribute's type.
        fewest: words of the shortest value.
        most: words of the longest value.
        letters: whether values have letters; both if some have and some do not.
        digits: the same for digits.
        is_typed: each value is a value of the type and nothing else.
    """

    type: Type
    fewest: int
    most: int
    letters: frozenset[bool]
    digits: frozenset[bool]
    is_typed: bool

    @classmethod
    def of(cls, values: Iterable[str], type: Type) -> ValueShape:
        """Return the shape that all these values have."""
        texts = list(values)
        lengths = [len(folded_words(text)) for text in texts]
        return cls(
            type,
            min(lengths, default=0),
            max(lengths, default=0),
            _traits(texts, str.isalpha),
            _traits(texts, str.isdigit),
            all(find_typed(text, type) == text for text in texts),
        )

    def fits(self, text: str) -> bool:
        """Return True if a text could be another of the values: of their type or, without one, similar to them."""
        if self.is_typed:
            return find_typed(text, self.type) == text
        words = len(folded_words(text))
        if not (self.fewest - 1) / 2 <= words <= 2 * self.most + 1:
            return False
        has_traits = _has(text, str.isalpha) in self.letters and _has(text, str.isdigit) in self.digits
        return has_traits and looks_typed(text, self.type)


def _has(text: str, is_kind: Callable[[str], bool]) -> bool:
    return any(map(is_kind, text))


def _traits(texts: Sequence[str], is_kind: Callable[[str], bool]) -> frozenset[bool]:
    if len(texts) < MIN_VALUES_FOR_TRAITS:
        return frozenset((False, True))
    return frozenset(_has(text, is_kind) for text in texts)
