"""What a text is by its content alone: a link, a price, a date, or words."""

from __future__ import annotations

import re

__all__ = ["TYPED", "content", "mentions"]

_CURRENCY = r"(?:us|c|cad?|au?|nz|hk)?[$€£¥]|\b(?:usd|cad|cdn|aud|eur|gbp|inr|rs)\b\.?"
_AMOUNT = r"\d[\d.,]*"
_MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\b\.?"
_LINK = re.compile(r"^(?:https?://|www\.)\S+|^[\w-]+(?:\.[\w-]+)+(?:/\S*| › .*)$", re.I)
_PRICE = re.compile(rf"(?:{_CURRENCY})[$\s]*{_AMOUNT}|{_AMOUNT}\s?(?:[€£¥]|\b(?:usd|cad|eur|gbp)\b)", re.I)
_DATE = re.compile(
    rf"\b{_MONTH},?\s?\d|\d\s?{_MONTH}|\b\d{{1,2}}[/.-]\d{{1,2}}[/.-](?:\d\d){{1,2}}\b"
    r"|\b(?:19|20)\d\d-\d\d\b|\b\d+ (?:sec|min|hour|day|week|month|year)[a-z]* ago\b",
    re.I,
)
_DIGIT = re.compile(r"\d")
_PATTERNS = {"link": _LINK, "price": _PRICE, "date": _DATE}
TYPED = tuple(_PATTERNS)
# Longer texts are sentences that mention a price or date. Links may be longer.
MAX_TYPED = 40


def content(text: str) -> str | None:
    """Which of TYPED a text is, if any."""
    text = text.strip()
    for kind in mentions(text):
        if len(text) <= MAX_TYPED or kind == "link":
            return kind
    return None


def mentions(text: str) -> list[str]:
    """Which of TYPED there are in a text."""
    has_digit = _DIGIT.search(text) is not None
    return [kind for kind in TYPED if (has_digit or kind == "link") and _PATTERNS[kind].search(text)]
