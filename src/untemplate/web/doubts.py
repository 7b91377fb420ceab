"""What a person should look at: values that the committee doubts, gaps, and what is not of its type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.rules import Rule
from untemplate.rules.applying import Match, apply_rule
from untemplate.value_types import looks_typed
from untemplate.web.bench import Bench
from untemplate.web.progress import SURE

__all__ = ["Doubt", "find_doubts"]


@dataclass(frozen=True)
class Doubt:
    """An attribute of a page that a person should look at; the less sure, the sooner."""

    page: str
    attribute: str
    texts: tuple[str, ...]
    confidence: float
    reason: str
    others: tuple[str, ...] = ()  # what members of the committee find instead


def find_doubts(bench: Bench, page: Page) -> list[Doubt]:
    """What to look at on one page; labelled attributes are not in doubt."""
    labelled = {label.attribute for label in bench.labels_of(page.id)}
    try:
        found = bench.find(page)
    except PageError:
        return []
    return [
        doubt
        for name, places in found.items()
        if name not in labelled
        for doubt in _doubts(bench, page, bench.rules[name], places)
    ]


def _doubts(bench: Bench, page: Page, rule: Rule, places: list[Match]) -> Iterator[Doubt]:
    attribute = bench.schema.attributes[rule.attribute]
    texts = tuple(place.text for place in places)
    sure = round(min((place.confidence for place in places), default=0.0), 3)
    if not places:
        if attribute.mandatory:
            yield Doubt(
                page.id, rule.attribute, (), 0.0, "missing, though mandatory", _others(bench, page, rule, ())
            )
        return
    others = _others(bench, page, rule, texts)
    if others:
        yield Doubt(page.id, rule.attribute, texts, sure, "the committee disagrees", others)
    elif sure <= SURE:
        yield Doubt(page.id, rule.attribute, texts, sure, "few of the committee agree")
    elif not all(looks_typed(text, attribute.type) for text in texts):
        yield Doubt(page.id, rule.attribute, texts, sure, f"does not look like a {attribute.type}")


def _others(bench: Bench, page: Page, rule: Rule, texts: tuple[str, ...]) -> tuple[str, ...]:
    """What members of the committee find on the page that is not the value."""
    others: dict[str, None] = {}
    for member in rule.committee:
        alone = replace(rule, selectors=(member,), committee=())
        for found in apply_rule(alone, page.tree, bench.wrapper, bench.schema.attributes[rule.attribute]):
            if found.text not in texts:
                others.setdefault(found.text)
    return tuple(others)
