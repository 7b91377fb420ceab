"""Typed values: the part of a text that looks like a price, a phone number …, and what it means.

The patterns are the paper's "manually created regexes" (Vertex III-C.4): they select a value within a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any
from urllib.parse import urljoin

import phonenumbers
from dateutil import parser as dates
from price_parser import Price as ParsedPrice

from untemplate.schema import Type

__all__ = ["Price", "find_all_typed", "find_typed", "looks_typed", "parse_typed"]

# Where a phone number without a country code is from; the numbers of all data sets we know are American.
REGION = "US"
# No value of these types is longer; longer texts are not parsed.
MAX_LENGTH = 200
# What a date that names only a year or a month is filled up with.
_DEFAULT = datetime(2000, 1, 1)

_CURRENCY = r"(?:[$€£¥₹₽₩]|\b(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|Rs\.?|kr\.?)\b)"
# Every repetition that something must follow is bounded: else a long text takes quadratic time.
_AMOUNT = r"\d[\d,.’' ]{0,20}\d|\d"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"
_PATTERNS: dict[Type, re.Pattern[str]] = {
    "price": re.compile(rf"(?:{_CURRENCY}\s?(?:{_AMOUNT}))|(?:(?:{_AMOUNT})\s?{_CURRENCY})"),
    "number": re.compile(r"[-+]?\d+(?:[.,]\d+)*"),
    "date": re.compile(
        rf"\d{{4}}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{{2,4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
        rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}|{_MONTH},?\s+\d{{4}}|\b[12]\d{{3}}\b"
    ),
    "time": re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\s?(?:[aApP]\.?[mM]\.?)?|\b\d{1,2}\s?[aApP]\.?[mM]\.?\b"),
    "phone": re.compile(r"\+?\(?\d[\d().\-/ ]{5,18}\d(?:\s?(?:x|ext\.?)\s?\d{1,5})?"),
    "zip": re.compile(r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"),
    "email": re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"),
    "isbn": re.compile(r"\b(?:97[89][- ]?)?(?:\d[- ]?){9}[\dXx]\b"),
    "url": re.compile(r"(?:https?://|www\.)[^\s<>\"']+"),
}


_WITH_DIGITS = frozenset({"price", "number", "date", "time", "phone", "zip", "isbn"})


@dataclass(frozen=True, slots=True)
class Price:
    """An amount and its currency, as far as the text tells it."""

    amount: Decimal
    currency: str | None


def find_typed(text: str, type: Type) -> str | None:
    """The first part of the text that looks like a value of the type; None if there is none."""
    return next(find_all_typed(text, type), None)


def find_all_typed(text: str, type: Type) -> Iterator[str]:
    """The parts of the text that look like values of the type."""
    pattern = _PATTERNS.get(type)
    return (found[0].strip() for found in pattern.finditer(text)) if pattern else iter(())


def looks_typed(text: str, type: Type) -> bool:
    """Whether the text could be a value of the type at all: a loose test that no true value should fail."""
    if type in _WITH_DIGITS:
        return any(map(str.isdigit, text))
    return "@" in text if type == "email" else True


def parse_typed(text: str, type: Type, base: str = "") -> Any:
    """What the text means: Price, Decimal, date, time, E.164 phone, absolute URL …; None if nothing such."""
    if type == "text":
        return text
    if type in ("url", "image"):
        return _absolute(text, base)
    return _parse(text, type) if len(text) <= MAX_LENGTH else None


@lru_cache(maxsize=4096)
def _parse(text: str, type: Type) -> Any:
    part = find_typed(text, type)
    if part is None:
        return None
    match type:
        case "price":
            price = ParsedPrice.fromstring(part)
            return None if price.amount is None else Price(price.amount, price.currency)
        case "number":
            return ParsedPrice.fromstring(part).amount
        case "date" | "time":
            return _moment(part, type)
        case "phone":
            return _phone(part)
        case "isbn":
            return re.sub(r"[- ]", "", part).upper()
        case _:
            return part


def _absolute(text: str, base: str) -> str | None:
    try:
        return urljoin(base, text.strip())
    except ValueError:
        return None


def _moment(text: str, type: Type) -> date | time | None:
    try:
        moment: datetime = dates.parse(text, default=_DEFAULT)
    except (ValueError, OverflowError):
        return None
    return moment.date() if type == "date" else moment.time()


def _phone(text: str) -> str | None:
    try:
        number = phonenumbers.parse(text, REGION)
    except phonenumbers.NumberParseException:
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
