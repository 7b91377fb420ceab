"""Comparisons of what the rules find on fresh pages with what they found when they were learned."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from untemplate.errors import PageError
from untemplate.labeling.golden import Golden, ValueFinder
from untemplate.page import Page, signature
from untemplate.page.sameness import same_values
from untemplate.rules import Bellwether, Wrapper
from untemplate.rules.applying import apply_wrapper
from untemplate.schema import Schema
from untemplate.watching.bellwethers import mean_confidence

__all__ = ["Comparison", "Evidence", "PagePair", "compare_pages", "pair_bellwethers"]

PagePair = tuple[Bellwether | None, Page]
"""What is remembered of a page, if anything, and the page as it is now."""


@dataclass(frozen=True)
class Comparison:
    """One attribute on one page: what is remembered, and what its rule finds now.

    Attributes:
        page: the page's id.
        golden: the remembered values; empty if there were none, None if nothing is remembered of the page.
        found: the values that the rule finds now.
        is_same: the values found are the remembered ones.
        is_elsewhere: the remembered values are still on the page, but the rule does not find them.
        agreement: the committee's confidence in the values found.
    """

    page: str
    golden: tuple[str, ...] | None
    found: tuple[str, ...] = ()
    is_same: bool = False
    is_elsewhere: bool = False
    agreement: float = 0.0

    @property
    def is_missing(self) -> bool:
        """True if there was a value, and now there is none."""
        return bool(self.golden) and not self.found

    @property
    def is_other(self) -> bool:
        """True if another value is found than is remembered, or one where there was none."""
        return bool(self.found) and self.golden is not None and not self.is_same

    @property
    def is_confirmed(self) -> bool:
        """True if a remembered value comes out again."""
        return self.is_same and bool(self.golden)


@dataclass(frozen=True)
class Evidence:
    """What fresh pages show about the rules of one cluster.

    Attributes:
        wrapper: the rules.
        pages: ids of all pages compared.
        watched: ids of the bellwethers among them; of all pages if there are no bellwethers.
        unlike: ids of watched pages whose structure no signature of the wrapper covers.
        comparisons: by attribute. An attribute without a rule is compared if values of it are remembered.
    """

    wrapper: Wrapper
    pages: tuple[str, ...]
    watched: tuple[str, ...]
    unlike: tuple[str, ...]
    comparisons: dict[str, list[Comparison]]

    @property
    def coverage(self) -> float:
        """The share of watched pages that still have the structure of the cluster."""
        return 1 - len(self.unlike) / len(self.watched) if self.watched else 0.0

    def confirms_a_golden_value(self) -> bool:
        """Return True if any remembered value comes out again."""
        return any(
            comparison.is_confirmed for comparisons in self.comparisons.values() for comparison in comparisons
        )


def pair_bellwethers(wrapper: Wrapper, fresh: Mapping[str, Page]) -> list[PagePair]:
    """Return the wrapper's bellwethers that have a fresh version in an index of pages."""
    pairs: list[PagePair] = []
    for bellwether in wrapper.bellwethers:
        page = fresh.get(bellwether.url) or fresh.get(bellwether.page)
        if page is not None:
            pairs.append((bellwether, page))
    return pairs


def compare_pages(wrapper: Wrapper, pairs: Iterable[PagePair], schema: Schema) -> Evidence:
    """Apply a wrapper to fresh versions of its bellwethers and to other pages, and compare.

    Args:
        wrapper: the rules to check.
        pairs: fresh pages with what is remembered of them; None for pages that are no bellwethers.
        schema: the attributes of the rules.
    """
    pairs = list(pairs)
    pages = [page for _, page in pairs]
    watched = [page for bellwether, page in pairs if bellwether] or pages
    unlike = [page for page in watched if not wrapper.matches_signature(signature(page.html))]
    comparisons: defaultdict[str, list[Comparison]] = defaultdict(list)
    for bellwether, page in pairs:
        for name, comparison in _compare_page(wrapper, bellwether, page, schema).items():
            comparisons[name].append(comparison)
    return Evidence(wrapper, _ids(pages), _ids(watched), _ids(unlike), comparisons)


def _ids(pages: Iterable[Page]) -> tuple[str, ...]:
    return tuple(page.id for page in pages)


def _compare_page(
    wrapper: Wrapper, bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    """Compare all attributes of one page; on a page that cannot be read, nothing is found."""
    try:
        comparisons = _compare_values(wrapper, bellwether, page, schema)
        return _compare_places(comparisons, bellwether, page, schema)
    except PageError:
        return {
            name: Comparison(page.id, bellwether.golden_values(name) if bellwether else None)
            for name in wrapper.rules
        }


def _compare_values(
    wrapper: Wrapper, bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    values_of = apply_wrapper(wrapper, page, schema.attributes)
    golden = bellwether.golden if bellwether else {}
    comparisons = {}
    for name in {**wrapper.rules, **golden}:
        values = values_of.get(name, [])
        remembered = bellwether.golden_values(name) if bellwether else None
        texts = tuple(value.text for value in values)
        is_same = remembered is not None and same_values(remembered, texts, schema.attributes[name].type)
        comparisons[name] = Comparison(page.id, remembered, texts, is_same, agreement=mean_confidence(values))
    return comparisons


def _compare_places(
    comparisons: dict[str, Comparison], bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    """Mark values that are elsewhere on the page. A page without any remembered value is about something else now."""
    if bellwether is None or not any(map(_has_changed, comparisons.values())):
        return comparisons
    present = _still_present(bellwether.golden, page, schema)
    if not present and not any(one.is_confirmed for one in comparisons.values()):
        return {name: replace(comparison, golden=None) for name, comparison in comparisons.items()}
    marked = {}
    for name, comparison in comparisons.items():
        marked[name] = replace(comparison, is_elsewhere=name in present and not comparison.is_same)
    return marked


def _has_changed(comparison: Comparison) -> bool:
    return not comparison.is_same and comparison.golden is not None


def _still_present(golden: Golden, page: Page, schema: Schema) -> set[str]:
    """Return the attributes all of whose remembered values are somewhere on the page."""
    finder = ValueFinder(page)
    present = set()
    for name, texts in golden.items():
        if all(finder.find(text, schema.attributes[name].type) for text in texts):
            present.add(name)
    return present
