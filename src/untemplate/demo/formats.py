"""How canonical values are written on a page."""

from __future__ import annotations

from datetime import date

from untemplate.demo.look import Look
from untemplate.demo.verticals import Field

__all__ = ["address_lines", "written"]

_CODES = {"$": "USD", "£": "GBP", "€": "EUR"}


def written(field: Field, value: str, look: Look) -> str:
    """The value as this look writes it; the same on all the site, so that a value has one text."""
    if field.places == ("heading",):
        return value.upper() if look.capitals else value
    match field.kind:
        case "phone":
            return look.phone.format(value[:3], value[3:6], value[6:])
        case "date":
            day = date.fromisoformat(value)
            return look.date.format(day, day=day.day)
        case "money":
            return look.money.format(symbol=value[0], code=_CODES[value[0]], amount=value[1:])
        case "minutes":
            hours, minutes = divmod(int(value), 60)
            return look.minutes.format(total=value) if "{total}" in look.minutes else _hours(hours, minutes)
        case "isbn":
            return f"{value[:3]}-{value[3:]}" if look.isbn_dash else value
        case "address":
            return " ".join(address_lines(value))
        case _:
            return value


def address_lines(value: str) -> tuple[str, str]:
    """Street, and the rest, of an address."""
    street, city, state, code = value.split("|")
    return f"{street},", f"{city}, {state} {code}"


def _hours(hours: int, minutes: int) -> str:
    parts = [f"{hours} hr"] * bool(hours) + [f"{minutes} min"] * bool(minutes)
    return " ".join(parts)
