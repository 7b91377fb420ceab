"""How well the values that a rule returns agree with labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from untemplate.labeling import Label
from untemplate.page.locating import letters_and_digits
from untemplate.rules.parsed_page import ParsedPage
from untemplate.schema import Attribute

__all__ = ["LabelFit", "compare_labels", "comparison_key"]


@dataclass(frozen=True)
class LabelFit:
    """How well a rule returns the values it was learned from.

    Attributes:
        labeled: how many values were labeled.
        returned: how many of them come back.
        extra: how many values come back that nobody labeled.
        page: the first page on which the values differ; None if there is none.
        fitting: on how many pages the values are the labeled ones.
        lost: how many labeled values do not come back although their page shows them.
    """

    labeled: int = 0
    returned: int = 0
    extra: int = 0
    page: str | None = None
    fitting: int = 0
    lost: int = 0

    @property
    def returns_other_lists(self) -> bool:
        """True if no labeled list comes back, and members that the page shows are missing without replacement.

        Of the lists that such rules find on other pages of `recipes` none is right, in ten cases. Other members in
        place of the labeled ones may be the page's spelling of them.
        """
        is_other_count = self.returned + self.extra != self.labeled
        return not self.fitting and self.lost > 0 and is_other_count

    @property
    def problem(self) -> str | None:
        """The finding as a sentence; None if all labeled values come back and no others."""
        if self.page is None:
            return None
        if self.returned < self.labeled:
            missing = self.labeled - self.returned
            return f"the rule does not return {missing} of {self.labeled} labeled values: look at {self.page}"
        noun = "a value" if self.extra == 1 else f"{self.extra} values"
        return f"the rule returns {noun} that the labels do not have: look at {self.page}"

    def plus(self, other: LabelFit) -> LabelFit:
        """Return the sum over two pages."""
        return LabelFit(
            self.labeled + other.labeled,
            self.returned + other.returned,
            self.extra + other.extra,
            self.page or other.page,
            self.fitting + other.fitting,
            self.lost + other.lost,
        )


def comparison_key(text: str) -> str:
    """Return the letters and digits of a text, by which values are compared; the text itself if it has none."""
    return letters_and_digits(text) or text


def compare_labels(
    labels: Sequence[Label], texts: Sequence[str], attribute: Attribute, page: ParsedPage
) -> LabelFit:
    """Return how the values of one page agree with its labels; one of several labels is enough for a single value."""
    wanted = Counter(comparison_key(label.value or "") for label in labels if not label.is_gap)
    found = Counter(map(comparison_key, texts))
    if not attribute.many and found and wanted & found:
        return LabelFit(1, 1, fitting=1)
    returned = (wanted & found).total()
    labeled = wanted.total() if attribute.many else min(1, wanted.total())
    extra = found.total() - returned
    lost = sum(map(page.shows, (wanted - found).elements()))
    is_same = returned == labeled and extra == 0
    return LabelFit(labeled, returned, extra, fitting=int(is_same), lost=lost)
