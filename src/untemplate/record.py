"""What came out of a page: values that know where they came from, and gaps that know why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

__all__ = ["MAX_DOUBTFUL_CONFIDENCE", "Reason", "Record", "Value"]

MAX_DOUBTFUL_CONFIDENCE = 0.5
"""A value is doubtful if its confidence is at most this: at most half of what the rule compares agrees with it."""


class Reason(StrEnum):
    """Why a value is missing. Each reason is also its text in the output.

    Example:
        >>> from untemplate import Reason
        >>> str(Reason.NOT_ON_PAGE)
        'not on this page'
    """

    NOT_ON_PAGE = "not on this page"
    UNDECIDED = "the labels do not decide which values are right"
    NO_RULE = "no rule for this attribute"
    NO_WRAPPER = "no rules match this page"
    NEEDS_LABELS = "this kind of page needs labels"
    NO_RECORDS = "no records on this list page"
    SITE_CHANGED = "site changed"
    TOO_DOUBTFUL = "below the confidence asked for"
    UNREADABLE = "page cannot be read"


@dataclass(frozen=True, slots=True)
class Value:
    """One extracted value, and where it came from.

    Args:
        text: the value as the page writes it
        data: the typed value: a `Price`, a `date` …; None if the text has no such meaning
        xpath: the node that contains it
        rule: the selector that found it
        confidence: the share of the rule's selectors that agree, from 0 to 1

    Example:
        >>> from untemplate import Value
        >>> Value("555-0100", "+15550100", "/html/body/p/text()[1]", "p/text()").confidence
        1.0
    """

    text: str
    data: Any
    xpath: str
    rule: str
    confidence: float = 1.0


@dataclass(slots=True)
class Record:
    """What came out of one page: for each attribute its values, or the reason why there are none.

    Args:
        url: the URL of the page
        page_id: the page's name within its source
        cluster: the cluster whose rules were applied; None if no rules match the page
        values: the values by attribute, in the order of the page
        missing: the reason by attribute that has no value
        position: the place of the record on a list page, from 1; None for a page about one record

    Example:
        >>> from untemplate import Reason, Record, Value
        >>> name = Value("Chimichurri Grill", "Chimichurri Grill", "/html/body/h1/text()[1]", "h1/text()")
        >>> record = Record("http://a.com/7", "7.html", "c1", {"name": [name]}, {"phone": Reason.NOT_ON_PAGE})
        >>> record["name"]
        'Chimichurri Grill'
        >>> print(record["phone"], "-", record.missing["phone"])
        None - not on this page
    """

    url: str
    page_id: str
    cluster: str | None
    values: dict[str, list[Value]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    position: int | None = None

    def __getitem__(self, attribute: str) -> str | None:
        """Return the text of the first value of an attribute, or None."""
        values = self.values.get(attribute)
        return values[0].text if values else None

    def confidence(self, attribute: str) -> float | None:
        """Return the lowest confidence of an attribute's values; None if it has none."""
        return min((value.confidence for value in self.values.get(attribute, ())), default=None)

    def without_doubtful(self, min_confidence: float) -> Record:
        """Return the record without values of a lower confidence; attributes that lose all values get the reason.

        Example:
            >>> from untemplate import Record, Value
            >>> values = {"price": [Value("$9", None, "/html/p/text()", "p/text()", confidence=0.5)]}
            >>> Record("http://a.com/7", "7.html", "c1", values).without_doubtful(0.9).missing["price"]
            <Reason.TOO_DOUBTFUL: 'below the confidence asked for'>
        """
        if min_confidence <= 0:
            return self
        kept = {name: _sure_values(values, min_confidence) for name, values in self.values.items()}
        dropped = {name: Reason.TOO_DOUBTFUL for name, values in kept.items() if not values}
        values = {name: values for name, values in kept.items() if values}
        return replace(self, values=values, missing={**self.missing, **dropped})


def _sure_values(values: Sequence[Value], min_confidence: float) -> list[Value]:
    return [value for value in values if value.confidence >= min_confidence]
