"""Learning the range pruner: how the value is cut out of its node's text (Vertex III-C.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from untemplate.rules.rule import Range
from untemplate.schema import Type
from untemplate.value_types import find_typed

__all__ = ["learn_range"]


Example = tuple[str, str, int]
"""A node's text, the value in it, and where that starts."""


def learn_range(examples: Sequence[Example], others: Sequence[str], type_: Type) -> Range | None:
    """The range that cuts each value out of its text, and something out of other texts; None if none does.

    The type's own pattern goes before delimiters, and delimiters before token offsets, unless they cut something
    out of less than half as many of the others.
    """
    fitting = [
        candidate
        for candidate in _candidates(examples, type_)
        if all(candidate.prune(text) == value for text, value, _ in examples)
    ]
    cuts = [sum(candidate.prune(text) is not None for text in others) for candidate in fitting]
    good = (candidate for candidate, count in zip(fitting, cuts, strict=True) if 2 * count >= max(cuts))
    return next(good, None)


def _candidates(examples: Sequence[Example], type_: Type) -> Iterator[Range]:
    if all(find_typed(text, type_) == value for text, value, _ in examples):
        yield Range(type=type_)
    before = [text[:start] for text, _, start in examples]
    after = [text[start + len(value) :] for text, value, start in examples]
    left_end = _common_end(before)
    right_start = _common_end([text[::-1] for text in after])[::-1]
    if (left_end or not any(before)) and (right_start or not any(after)):
        yield Range(after=left_end or None, before=right_start or None)
    starts = {len(text.split()) for text in before}
    stops = {len(text.split()) for text in after}
    lengths = {len(value.split(" ")) for _, value, _ in examples}
    if len(starts) == 1 and len(stops) == 1:
        yield Range(start=min(starts), stop=-min(stops))
    if len(starts) == 1 and len(lengths) == 1:
        yield Range(start=min(starts), stop=min(starts) + min(lengths))
    if len(stops) == 1 and len(lengths) == 1:
        yield Range(start=-min(stops) - min(lengths), stop=-min(stops))


def _common_end(texts: Sequence[str]) -> str:
    """The longest text that all texts end with, without a word that it cuts in two."""
    shortest = min(texts, key=len)
    length = 0
    while length < len(shortest) and len({text[len(text) - length - 1] for text in texts}) == 1:
        length += 1
    end = shortest[len(shortest) - length :]
    cuts_word = end[:1].isalnum() and any(
        len(text) > length and text[len(text) - length - 1].isalnum() for text in texts
    )
    return end[len(end.split(" ")[0]) :] if cuts_word else end
