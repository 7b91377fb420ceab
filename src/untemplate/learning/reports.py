"""What learning reports: the rules, how learning each attribute went, and values that show it.

What new rules find on a few unlabeled pages tells a person more than the rules do: whether these are the values that
were meant, and how sure they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from untemplate.page import Page
from untemplate.rules.applying import Match, apply_rules
from untemplate.rules.in_words import explain_rule
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import split_records
from untemplate.rules.rule import RecordRule, Rule, Wrapper
from untemplate.schema import Schema

__all__ = ["AttributeReport", "ExampleValue", "LearnedRules", "choose_examples", "find_example_values"]

# Unlabeled pages whose values are looked at, and values of an attribute that are shown.
MAX_EXAMPLE_PAGES = 10
MAX_SHOWN_EXAMPLES = 3


@dataclass(frozen=True)
class ExampleValue:
    """What a rule finds on an unlabeled page.

    Attributes:
        page: the page's id.
        texts: the values; several for a `many` attribute.
        confidence: how sure the least sure of them is.
    """

    page: str
    texts: tuple[str, ...]
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Return the example as JSON data."""
        return asdict(self) | {"texts": list(self.texts)}


@dataclass(frozen=True)
class AttributeReport:
    """How learning one attribute went: for the person who labels.

    Attributes:
        attribute: its name.
        rule: the rule learned; None if there is none.
        coverage: share of the unlabeled sample pages on which the rule finds something.
        problems: what was wrong with labels or rule, as sentences.
        label_next: a page on which the rule finds nothing, so that a label there helps most.
        unfit: a labeled page on which the rule does not return the labeled values; None if it returns them all.
        examples: what the rule finds on unlabeled pages.
        exact_pages: labeled pages on which its selectors select the labeled values and nothing else.
    """

    attribute: str
    rule: Rule | None = None
    coverage: float = 0.0
    problems: list[str] = field(default_factory=list)
    label_next: str | None = None
    unfit: str | None = None
    examples: Sequence[ExampleValue] = ()
    exact_pages: int = 0

    @property
    def needs_check(self) -> bool:
        """True if labels led to no rule, or to one that does not return them.

        An attribute whose labels all say "not on this page" needs no rule.
        """
        return self.unfit is not None or (self.rule is None and bool(self.problems))

    @property
    def confidence(self) -> float | None:
        """How sure the values on unlabeled pages are, on average; None if there are none."""
        if not self.examples:
            return None
        return round(sum(example.confidence for example in self.examples) / len(self.examples), 3)

    def with_other_look(self, page: str) -> AttributeReport:
        """Return a report that asks for the label of a page whose list does not look like the labeled ones."""
        problem = (
            f"the list of {page} does not look like the labeled ones, as if it had titles of sections. Such lists "
            "are not extracted until one is labeled: label that page"
        )
        return replace(self, problems=[*self.problems, problem], label_next=page)

    def with_dispute(self, page: str) -> AttributeReport:
        """Return a report that asks for the label of a page on which the labels so far allow several values."""
        problem = f"the labels fit several places, whose values differ on {page}: label that page"
        rule = replace(self.rule, disputed=True) if self.rule else None
        return replace(self, rule=rule, problems=[*self.problems, problem], label_next=page)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON data, with the rule in words."""
        return {
            "attribute": self.attribute,
            "rule": explain_rule(self.rule) if self.rule else None,
            "coverage": round(self.coverage, 3),
            "label_next": self.label_next,
            "unfit": self.unfit,
            "problems": self.problems,
            "confidence": self.confidence,
            "examples": [example.to_dict() for example in choose_examples(self.examples)],
        }


@dataclass(frozen=True)
class LearnedRules:
    """What was learned from the labeled pages of one cluster.

    Attributes:
        rules: by attribute.
        static: keys of the template's own words.
        reports: one for each labeled attribute.
        records: on list pages, where records begin; then rules and static text are those of each record.
        problems: what was wrong with the labels, as sentences.
    """

    rules: dict[str, Rule] = field(default_factory=dict)
    static: tuple[str, ...] = ()
    reports: list[AttributeReport] = field(default_factory=list)
    records: RecordRule | None = None
    problems: list[str] = field(default_factory=list)


def find_example_values(
    wrapper: Wrapper, pages: Sequence[Page], schema: Schema
) -> dict[str, list[ExampleValue]]:
    """Return for each attribute with a rule what it finds on some unlabeled pages; on list pages, in their records.

    Args:
        wrapper: the new rules.
        pages: readable pages without labels.
        schema: the attributes of the rules.
    """
    examples: dict[str, list[ExampleValue]] = {name: [] for name in wrapper.rules}
    for page in pages[:MAX_EXAMPLE_PAGES]:
        for name, matches in _find_on_page(wrapper, page, schema):
            if matches:
                texts = tuple(match.text for match in matches)
                sure = round(min(match.confidence for match in matches), 3)
                examples[name].append(ExampleValue(page.id, texts, sure))
    return examples


def _find_on_page(wrapper: Wrapper, page: Page, schema: Schema) -> Iterator[tuple[str, list[Match]]]:
    """Yield each attribute and what its rule finds on a page, or in the first records of a list page."""
    trees = [page.tree]
    if wrapper.records:
        trees = [record.tree for record in split_records(wrapper.records, page)[:MAX_SHOWN_EXAMPLES]]
    for tree in trees:
        yield from apply_rules(wrapper, ParsedPage(tree), schema.attributes).items()


def choose_examples(examples: Sequence[ExampleValue]) -> list[ExampleValue]:
    """Return a few different values; among them the least sure one, which is the one to look at."""
    different = list({example.texts: example for example in examples}.values())
    chosen = different[:MAX_SHOWN_EXAMPLES]
    least_sure = min(different, key=lambda example: example.confidence, default=None)
    if least_sure is not None and least_sure.confidence < min(example.confidence for example in chosen):
        chosen[-1] = least_sure
    return chosen
