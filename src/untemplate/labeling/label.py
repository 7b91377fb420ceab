"""Labels, findings of methods, and the protocol of everything that labels pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from untemplate.page import Node, Page

__all__ = ["Finding", "Label", "Labeler", "PageToCheck", "labels_of", "merge_findings", "pages_to_check"]


@dataclass(frozen=True, slots=True)
class Label:
    """The statement "this node contains this attribute on this page", with who said so and how sure that is.

    A label without value and XPath says that the attribute is not on the page. An attribute with several values on a
    page has several labels, in page order.

    Attributes:
        page: The page's id or its URL.
        attribute: The name of the attribute in the schema.
        value: The text of the value.
        xpath: The XPath of the node; needed only if the value appears more than once on the page.
        source: Who labeled: a person, or the name of a method.
        confidence: How sure that is, from 0 to 1.
        record: On list pages, the record that the value belongs to: the XPath of the record's first element, or any
            name that all labels of a record share.

    Example:
        >>> import untemplate as ut
        >>> ut.Label("http://a.example/7", "phone", "555-0100").is_gap
        False
        >>> ut.Label("http://a.example/8", "phone", None).is_gap
        True
    """

    page: str
    attribute: str
    value: str | None
    xpath: str | None = None
    source: str = "person"
    confidence: float = 1.0
    record: str | None = None

    @property
    def is_gap(self) -> bool:
        """Whether it says that the attribute is not on the page."""
        return self.value is None and self.xpath is None


class Labeler(Protocol):
    """Anything that labels pages: a trained method, embedded data, remembered values, or your own class.

    The learner does not know who labeled, so a new labeler needs no other change.

    Example:
        >>> import untemplate as ut
        >>> class HeadingLabeler:
        ...     def label(self, pages):
        ...         return [ut.Label(page.id, "name", page.tree.findtext(".//h1")) for page in pages]
        >>> HeadingLabeler().label([ut.Page(html="<h1>Chez Nous</h1>", id="7")])[0].value
        'Chez Nous'
    """

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """Return the labels of pages of one site."""
        ...


# Values that a report shows.
EXAMPLE_COUNT = 3


@dataclass(frozen=True)
class Finding:
    """Where an attribute is on a site that nobody labeled.

    Attributes:
        attribute: The name of the attribute in the schema.
        confidence: How sure the method is, from 0 to 1.
        places: The nodes with the attribute's values, each with its page, in page order.
        coverage: The share of the readable pages that have a value.
        found: Whether the method is sure enough to label.
        source: Who labels, for `Label.source`.

    Example:
        >>> import untemplate as ut
        >>> page = ut.Page(html="<h1>Chez Nous</h1>", id="7")
        >>> finding = ut.Finding("name", 0.9, [(page, page.nodes[0])], coverage=1.0, found=True)
        >>> finding.examples
        ['Chez Nous']
    """

    attribute: str
    confidence: float
    places: Sequence[tuple[Page, Node]] = field(repr=False)
    coverage: float
    found: bool
    source: str = "seed"

    @property
    def examples(self) -> list[str]:
        """A few different values."""
        return list(dict.fromkeys(node.text for _, node in self.places))[:EXAMPLE_COUNT]

    def page_ids(self) -> set[int]:
        """Return the pages with a value, by `id()`."""
        return {id(page) for page, _ in self.places}

    def on_pages(self, pages: Collection[int]) -> Finding:
        """Return the finding without values on other pages than these, which are given by `id()`."""
        places = [place for place in self.places if id(place[0]) in pages]
        return replace(self, places=places, found=self.found and bool(places))

    def with_floor(self, min_confidence: float) -> Finding:
        """Return the finding; as not found if its confidence is lower."""
        return replace(self, found=self.found and self.confidence >= min_confidence)


def merge_findings(findings: Sequence[Finding], page_count: int) -> Finding:
    """Merge the findings of one attribute on different templates; if none is sure, return the most confident one."""
    sure = [finding for finding in findings if finding.found]
    if not sure:
        return max(findings, key=lambda finding: finding.confidence)
    places: list[tuple[Page, Node]] = []
    for finding in sure:
        places += finding.places
    merged = replace(sure[0], places=places)
    confidence = sum(finding.confidence * len(finding.places) for finding in sure) / len(places)
    return replace(merged, confidence=confidence, coverage=len(merged.page_ids()) / page_count)


def labels_of(findings: Iterable[Finding]) -> list[Label]:
    """Return a label for each value of the findings that are sure enough."""
    labels: list[Label] = []
    for finding in findings:
        if finding.found:
            labels += _labels_of_finding(finding)
    return labels


# Findings that are surer need no check: of these, 98 % are to be right.
SURE_CONFIDENCE = 0.8


@dataclass(frozen=True)
class PageToCheck:
    """A page whose label settles attributes that a method is not sure of.

    Attributes:
        page: The page's id.
        attributes: The attributes that the method found there, or would have, and is not sure of.
    """

    page: str
    attributes: tuple[str, ...]


def pages_to_check(findings: Iterable[Finding]) -> list[PageToCheck]:
    """Return the fewest pages that show a value of each attribute that the findings are not sure of.

    Attributes that were found nowhere are not among them: any page may show one.
    """
    doubtful = {f.attribute: f for f in findings if f.places and f.confidence < SURE_CONFIDENCE}
    attributes_by_page: dict[str, list[str]] = {}
    for name, finding in doubtful.items():
        for page in dict.fromkeys(page.id for page, _ in finding.places):
            attributes_by_page.setdefault(page, []).append(name)
    chosen: list[PageToCheck] = []
    open_names = set(doubtful)
    while open_names:
        best = max(
            attributes_by_page, key=lambda page: len(open_names.intersection(attributes_by_page[page]))
        )
        settled = tuple(name for name in attributes_by_page[best] if name in open_names)
        chosen.append(PageToCheck(best, settled))
        open_names.difference_update(settled)
    return chosen


def _labels_of_finding(finding: Finding) -> list[Label]:
    confidence = round(finding.confidence, 3)
    return [
        Label(page.id, finding.attribute, node.text, node.xpath, finding.source, confidence)
        for page, node in finding.places
    ]
