"""Doubtful rows of list pages: what a person should look at of what list rules find."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from untemplate.errors import PageError
from untemplate.extraction import Rules
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE, Record
from untemplate.rules import Wrapper
from untemplate.schema import Attribute
from untemplate.value_types import looks_typed
from untemplate.web.workspace import OpenSite

__all__ = ["DoubtfulRow", "find_doubtful_rows"]


@dataclass(frozen=True)
class DoubtfulRow:
    """A value of a row, or a page without rows, that a person should look at."""

    page: str
    row: int | None  # from 1; None if the page has no rows
    attribute: str | None
    texts: tuple[str, ...]
    confidence: float
    reason: str


def find_doubtful_rows(site: OpenSite, wrapper: Wrapper) -> list[DoubtfulRow]:
    """Return what is doubtful of the rows on the stored pages of a cluster, the most doubtful first.

    These are pages without rows, rows without a mandatory value, values that the committee does not agree on, and
    values that do not look like their type.

    Args:
        site: The site.
        wrapper: Its wrapper with list rules.
    """
    rules = Rules(site.schema, (wrapper,))
    doubts: list[DoubtfulRow] = []
    for id in site.pages[wrapper.cluster]:
        try:
            records = list(rules.extract_page(site.catalog.page(site.name, id)))
        except PageError:
            continue
        rows = [record for record in records if record.position is not None]
        if not rows:
            doubts.append(DoubtfulRow(id, None, None, (), 0.0, "no rows found"))
        for record in rows:
            doubts += _doubts_of_row(site, id, record)
    return sorted(doubts, key=lambda doubt: doubt.confidence)


def _doubts_of_row(site: OpenSite, page: str, record: Record) -> Iterator[DoubtfulRow]:
    for attribute in site.schema.attributes.values():
        values = record.values.get(attribute.name, [])
        texts = tuple(value.text for value in values)
        confidence = min((value.confidence for value in values), default=0.0)
        if reason := _reason_to_doubt(attribute, texts, confidence):
            yield DoubtfulRow(page, record.position, attribute.name, texts, round(confidence, 3), reason)


def _reason_to_doubt(attribute: Attribute, texts: tuple[str, ...], confidence: float) -> str | None:
    """Return why a value of a row is doubtful; None if it is not."""
    if not texts:
        return "missing, though mandatory" if attribute.mandatory else None
    if confidence <= MAX_DOUBTFUL_CONFIDENCE:
        return "few checks agree with it"
    if not all(looks_typed(text, attribute.type) for text in texts):
        return f"does not look like a {attribute.type}"
    return None
