"""The types of values: price, date, phone …; which part of a text looks like one, and what it means.

`TYPES` is the one table of types. To add a type, add its name to `PatternType` and an entry to `TYPES`. Schemas,
rules, XSLT and the comparison of values read the table.

The patterns are the paper's "manually created regexes" (Vertex III-C.4): they select a value within a text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal
from urllib.parse import urljoin

__all__ = [
    "MAX_VALUE_LENGTH",
    "TYPES",
    "Like",
    "PatternType",
    "Price",
    "Type",
    "ValueType",
    "absolute_url",
    "find_all_typed",
    "find_typed",
    "is_one_typed",
    "looks_typed",
    "parse_typed",
]

PatternType = Literal["number", "price", "date", "time", "phone", "zip", "email", "isbn", "url"]
"""The names of types whose values are recognized within a text."""

Like = Literal[PatternType, "state", "rating", "measure", "year", "street"]
"""What values may be like: the names of the ready-made annotators that find anchors."""

Type = Literal["text", PatternType, "image"]
"""The names of all types, as schemas write them."""

MAX_VALUE_LENGTH = 200
"""Characters of a value that is parsed; no number, date … is longer."""

# The region of phone numbers without a country code; the numbers of all our data sets are American.
REGION = "US"
# Fills up a date that names only a year or a month.
_DEFAULT_DATE = datetime(2000, 1, 1)

# Currencies by their sign (U+20A0 to U+20BF are signs of currencies), their code, or as shops of a country write it.
_CODES = (
    "AED|ARS|AUD|BDT|BGN|BHD|BRL|CAD|CFA|CHF|CLP|CNY|COP|CZK|DKK|DZD|EGP|EUR|FCFA|GBP|GHS|HKD|HUF|IDR|ILS|INR|ISK|"
    "JOD|JPY|KES|KRW|KWD|KZT|LKR|MAD|MXN|MYR|NGN|NOK|NZD|OMR|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|"
    "TRY|TWD|TZS|UAH|UGX|USD|UYU|VND|XAF|XOF|ZAR"
)
_WRITTEN = r"Rs\.?|kr\.?|zł|Kč|Ft|lei|лв\.?|руб\.?|грн\.?|RM|Rp\.?|TL"
_NO_LETTER_BEFORE, _NO_LETTER_AFTER = r"(?<![^\W\d_])", r"(?![^\W\d_])"
_CURRENCY = rf"(?:R?[$]|[€£¥฿₠-₿]|{_NO_LETTER_BEFORE}(?:{_CODES}|{_WRITTEN}){_NO_LETTER_AFTER})"
# Every repetition that something must follow is bounded: else a long text takes quadratic time.
_AMOUNT = r"\d[\d,.’' ]{0,20}\d|\d"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec)[a-z]*\.?"


@dataclass(frozen=True, slots=True)
class Price:
    """An amount and its currency, the typed value of a price.

    Args:
        amount: the amount
        currency: the currency as the page writes it, such as `$` or `EUR`; None if the page gives none

    Example:
        >>> from untemplate.value_types import parse_typed
        >>> parse_typed("Our price: $25.99", "price")
        Price(amount=Decimal('25.99'), currency='$')
    """

    amount: Decimal
    currency: str | None


@dataclass(frozen=True, slots=True)
class ValueType:
    """What a type of values is.

    Args:
        pattern: finds a value within a text; None if any text may be a value
        parse: returns the meaning of a part that matches the pattern, None if it has none
        required: what every value contains: "digit" for any digit, otherwise the text itself; None for nothing
        is_link: True for links, which are made absolute
        has_meaning: True if two values are compared by their meaning and not by their words
    """

    pattern: re.Pattern[str] | None = None
    parse: Callable[[str], Any] = str
    required: str | None = None
    is_link: bool = False
    has_meaning: bool = False


def _parse_price(text: str) -> Price | None:
    from price_parser import Price as ParsedPrice

    price = ParsedPrice.fromstring(text)
    return None if price.amount is None else Price(price.amount, price.currency)


def _parse_number(text: str) -> Decimal | None:
    from price_parser import Price as ParsedPrice

    return ParsedPrice.fromstring(text).amount


def _parse_moment(text: str) -> datetime | None:
    from dateutil import parser as dates

    try:
        moment: datetime = dates.parse(text, default=_DEFAULT_DATE)
    except (ValueError, OverflowError):
        return None
    return moment


def _parse_date(text: str) -> date | None:
    moment = _parse_moment(text)
    return moment.date() if moment else None


def _parse_time(text: str) -> time | None:
    moment = _parse_moment(text)
    return moment.time() if moment else None


def _parse_phone(text: str) -> str | None:
    import phonenumbers

    try:
        number = phonenumbers.parse(text, REGION)
    except phonenumbers.NumberParseException:
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _parse_isbn(text: str) -> str:
    return re.sub(r"[- ]", "", text).upper()


def _with_digits(pattern: str, parse: Callable[[str], Any] = str) -> ValueType:
    return ValueType(re.compile(pattern), parse, required="digit", has_meaning=True)


TYPES: dict[Type, ValueType] = {
    "text": ValueType(),
    "number": _with_digits(r"[-+]?\d+(?:[.,]\d+)*", _parse_number),
    "price": _with_digits(rf"(?:{_CURRENCY}\s?(?:{_AMOUNT}))|(?:(?:{_AMOUNT})\s?{_CURRENCY})", _parse_price),
    "date": _with_digits(
        rf"\d{{4}}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{{2,4}}|{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}"
        rf"|\d{{1,2}}(?:st|nd|rd|th)?\s+{_MONTH},?\s+\d{{4}}|{_MONTH},?\s+\d{{4}}|\b[12]\d{{3}}\b",
        _parse_date,
    ),
    "time": _with_digits(
        r"\b\d{1,2}:\d\d(?::\d\d)?\s?(?:[aApP]\.?[mM]\.?)?|\b\d{1,2}\s?[aApP]\.?[mM]\.?\b", _parse_time
    ),
    "phone": _with_digits(r"\+?\(?\d[\d().\-/ ]{5,18}\d(?:\s?(?:x|ext\.?)\s?\d{1,5})?", _parse_phone),
    "zip": _with_digits(r"\b\d{5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]?\s\d[A-Z]{2}\b"),
    "email": ValueType(re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}"), required="@"),
    "isbn": _with_digits(r"\b(?:97[89][- ]?)?(?:\d[- ]?){9}[\dXx]\b", _parse_isbn),
    "url": ValueType(re.compile(r"(?:https?://|www\.)[^\s<>\"']+"), is_link=True),
    "image": ValueType(is_link=True),
}
"""Each type by its name."""


_DIGIT = re.compile(r"\d")
# Addresses of style sheets, scripts, fonts and pages, which appear where images may appear; and sentences, which are
# words without a slash that do not end like the name of a file.
_NOT_AN_IMAGE = re.compile(
    r"\.(?:css|js|json|xml|html?|php|woff2?|ttf)(?:[?#]|$)|^(?=.*\s)[^/]*(?<!\.\w{3})(?<!\.\w{4})$",
    re.IGNORECASE | re.DOTALL,
)


def find_typed(text: str, type: Type) -> str | None:
    """Return the first part of the text that looks like a value of the type; None if there is none.

    >>> find_typed("Call 555-010-1234 today", "phone")
    '555-010-1234'
    """
    return next(find_all_typed(text, type), None)


def find_all_typed(text: str, type: Type) -> Iterator[str]:
    """Yield the parts of the text that look like values of the type."""
    pattern = TYPES[type].pattern
    if pattern is None:
        return iter(())
    # Most texts have no digit, and this test is many times as fast as the patterns.
    if TYPES[type].required == "digit" and not _DIGIT.search(text):
        return iter(())
    return (match[0].strip() for match in pattern.finditer(text))


def looks_typed(text: str, type: Type) -> bool:
    """Return True if the text could be a value of the type: a loose test that no true value should fail."""
    required = TYPES[type].required
    if type == "image" and _NOT_AN_IMAGE.search(text):
        return False
    if required is None:
        return True
    return any(map(str.isdigit, text)) if required == "digit" else required in text


def is_one_typed(text: str, type: Type) -> bool:
    """Return True if the text contains exactly one value of the type. Types without a pattern allow any text.

    >>> is_one_typed("Now $199.99", "price"), is_one_typed("$215.00 now $199.99", "price")
    (True, False)
    >>> is_one_typed("Sold out, back in 3 weeks", "price")
    False
    """
    value_type = TYPES[type]
    if value_type.pattern is None or value_type.required is None:
        return True
    part = find_typed(text, type) if len(text) <= MAX_VALUE_LENGTH else None
    return part is not None and find_typed(text.replace(part, " ", 1), type) is None


def parse_typed(text: str, type: Type, base: str = "") -> Any:
    """Return what the text means: Price, Decimal, date, time, E.164 phone, absolute URL …

    Args:
        text: the text of a value
        type: its type
        base: the URL of the page, for links

    Returns:
        None if the text contains no value of the type.
    """
    if type == "text":
        return text
    if TYPES[type].is_link:
        return absolute_url(text, base)
    return _parse_part(text, type) if len(text) <= MAX_VALUE_LENGTH else None


@lru_cache(maxsize=4096)
def _parse_part(text: str, type: Type) -> Any:
    part = find_typed(text, type)
    return None if part is None else TYPES[type].parse(part)


def absolute_url(text: str, base: str) -> str | None:
    """Return an address, which may be relative to another; None if it is none, such as `http://[`."""
    try:
        return urljoin(base, text.strip())
    except ValueError:
        return None
