"""What came out of a page: values that know where they came from, and gaps that know why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from html import escape
from typing import Any, NamedTuple

__all__ = ["MAX_DOUBTFUL_CONFIDENCE", "Reason", "Record", "Value", "html_table"]

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


class Value(NamedTuple):
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


@dataclass(slots=True, repr=False)
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
        >>> record["names"]
        Traceback (most recent call last):
            ...
        KeyError: "no attribute 'names'; did you mean 'name'?"
        >>> record
        Record('7.html', name='Chimichurri Grill', phone=None)
        >>> record.to_dict()["name"]
        'Chimichurri Grill'
    """

    url: str
    page_id: str
    cluster: str | None
    values: dict[str, list[Value]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    position: int | None = None

    def __getitem__(self, attribute: str) -> str | None:
        """Return the text of the first value of an attribute, or None.

        Raises:
            KeyError: the rules have no such attribute. The message names the closest one.
        """
        values = self.values.get(attribute)
        if values is None and attribute not in self.missing:
            raise KeyError(_no_attribute(attribute, self._attributes()))
        return values[0].text if values else None

    def __repr__(self) -> str:
        texts = (f", {name}={_short_repr(self[name])}" for name in self._attributes())
        return f"Record({self.page_id!r}{''.join(texts)})"

    def _attributes(self) -> list[str]:
        """Return all attributes of the rules, with values or without."""
        return list(self.values | self.missing)

    def _repr_html_(self) -> str:
        """Return the record as a table, for notebooks."""
        rows = [(name, " | ".join(value.text for value in values)) for name, values in self.values.items()]
        rows += [(name, f"({reason})") for name, reason in self.missing.items() if not self.values.get(name)]
        return html_table(("attribute", self.url or self.page_id), rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data: `url`, `page`, `cluster`, and each attribute.

        An attribute is its text, a list of texts if there are several, or None. Reasons are in `missing`.
        """
        texts: dict[str, Any] = dict.fromkeys(self.missing)
        for name, values in self.values.items():
            found = [value.text for value in values]
            texts[name] = found if len(found) > 1 else found[0] if found else None
        position = {} if self.position is None else {"position": self.position}
        place = {"url": self.url, "page": self.page_id, "cluster": self.cluster}
        return {**place, **position, **texts}

    def confidence(self, attribute: str) -> float | None:
        """Return the lowest confidence of an attribute's values; None if it has none."""
        values = self.values.get(attribute)
        if not values:
            return None
        return values[0].confidence if len(values) == 1 else min([value.confidence for value in values])

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


def html_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table in HTML, as notebooks show it; everything in it is escaped."""
    lines = ["<table><thead><tr>", *(f"<th>{escape(heading)}</th>" for heading in headings), "</tr></thead>"]
    for row in rows:
        cells = "".join(f"<td>{escape('' if cell is None else str(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return "".join([*lines, "</table>"])


def _no_attribute(attribute: str, known: Sequence[str]) -> str:
    """Say that an attribute does not exist, and which one may be meant."""
    close = get_close_matches(attribute, known, 1, cutoff=0.4)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
    return f"no attribute {attribute!r}; {hint}"


def _short_repr(text: str | None, length: int = 40) -> str:
    return repr(text if text is None or len(text) <= length else f"{text[:length]}…")


def _sure_values(values: Sequence[Value], min_confidence: float) -> list[Value]:
    return [value for value in values if value.confidence >= min_confidence]
