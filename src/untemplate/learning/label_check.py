"""What new rules return: on labeled pages, where other values are a finding, and on others, as examples for a person.

A person who labels must learn at once that a rule does not do what the labels say, and on which page to look. What
the rules find on a few unlabeled pages shows whether these are the values that were meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.page.locating import letters_and_digits
from untemplate.rules.applying import Match, apply_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import split_records
from untemplate.rules.rule import Wrapper
from untemplate.schema import Attribute, Schema

__all__ = ["ExampleValue", "LabelFit", "check_labels", "choose_examples", "find_examples"]

# Unlabeled pages whose values are looked at, and values of an attribute that are shown.
MAX_EXAMPLE_PAGES = 10
MAX_EXAMPLES = 3


@dataclass(frozen=True)
class LabelFit:
    """How well a rule returns the values it was learned from.

    Attributes:
        labeled: how many values were labeled.
        returned: how many of them come back.
        extra: how many values come back that nobody labeled.
        page: the first page on which the values differ; None if there is none.
    """

    labeled: int = 0
    returned: int = 0
    extra: int = 0
    page: str | None = None

    @property
    def problem(self) -> str | None:
        """The finding as a sentence; None if all labeled values come back and no others."""
        if self.page is None:
            return None
        if self.returned < self.labeled:
            missing = self.labeled - self.returned
            return f"the rule does not return {missing} of {self.labeled} labeled values: look at {self.page}"
        noun = "a value" if self.extra == 1 else f"{self.extra} values"
        return f"the rule returns {noun} that the labels do not have: look at {self.page}"

    def plus(self, other: LabelFit) -> LabelFit:
        """Return the sum over two pages."""
        return LabelFit(
            self.labeled + other.labeled,
            self.returned + other.returned,
            self.extra + other.extra,
            self.page or other.page,
        )


def check_labels(
    wrapper: Wrapper, labeled: Mapping[Page, Sequence[Label]], schema: Schema
) -> dict[str, LabelFit]:
    """Return for each attribute with a rule how well it returns the labels of all pages.

    Values are compared by letters and digits. Labels that only pin a node by an XPath are not judged.
    """
    fits = {name: LabelFit() for name in wrapper.rules}
    for page, labels in labeled.items():
        matches = apply_rules(wrapper, ParsedPage(page.tree), schema.attributes)
        for name, found in matches.items():
            own = [label for label in labels if label.attribute == name]
            if own and not any(label.xpath and label.value is None for label in own):
                texts = [match.text for match in found]
                fits[name] = fits[name].plus(_compare(page, own, texts, schema.attributes[name]))
    return fits


def _compare(page: Page, labels: Sequence[Label], texts: Sequence[str], attribute: Attribute) -> LabelFit:
    """Return how the values of one page agree with its labels; one of several labels is enough for a single value."""
    wanted = Counter(letters_and_digits(label.value or "") for label in labels if not label.is_gap)
    found = Counter(map(letters_and_digits, texts))
    if not attribute.many and found and wanted & found:
        return LabelFit(1, 1)
    returned = (wanted & found).total()
    labeled = wanted.total() if attribute.many else min(1, wanted.total())
    extra = found.total() - returned
    differs = returned < labeled or extra > 0
    return LabelFit(labeled, returned, extra, page.id if differs else None)


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


def find_examples(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> dict[str, list[ExampleValue]]:
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
        trees = [record.tree for record in split_records(wrapper.records, page)[:MAX_EXAMPLES]]
    for tree in trees:
        yield from apply_rules(wrapper, ParsedPage(tree), schema.attributes).items()


def choose_examples(examples: Sequence[ExampleValue]) -> list[ExampleValue]:
    """Return a few different values; among them the least sure one, which is the one to look at."""
    different = list({example.texts: example for example in examples}.values())
    chosen = different[:MAX_EXAMPLES]
    least_sure = min(different, key=lambda example: example.confidence, default=None)
    if least_sure is not None and least_sure.confidence < min(example.confidence for example in chosen):
        chosen[-1] = least_sure
    return chosen
