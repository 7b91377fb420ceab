"""What came out of a page: values that know where they came from, and gaps that know why."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

__all__ = ["Reason", "Record", "Value"]


class Reason(StrEnum):
    """Why a value is missing."""

    NOT_ON_PAGE = "not on this page"
    NO_RULE = "no rule for this attribute"
    NO_WRAPPER = "no rules match this page"
    NEEDS_LABELS = "this kind of page needs labels"
    NO_RECORDS = "no records on this list page"
    BAD_TYPE = "what the rule found is not of the attribute's type"
    SITE_CHANGED = "site changed"
    UNREADABLE = "page cannot be read"


@dataclass(frozen=True, slots=True)
class Value:
    """One value: as on the page, typed, and where it came from."""

    text: str
    data: Any
    xpath: str
    rule: str
    confidence: float = 1.0


@dataclass(slots=True)
class Record:
    """What came out of one page: per attribute its values, or the reason why there is none.

    A record that is one of several on a list page has its `position` there, counted from 1.
    """

    url: str
    page_id: str
    cluster: str | None
    values: dict[str, list[Value]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    position: int | None = None

    def __getitem__(self, attribute: str) -> str | None:
        """The text of the first value, or None."""
        values = self.values.get(attribute)
        return values[0].text if values else None
