"""Findings: where a method found an attribute on a new site, and how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from untemplate.labeling.label import Label
from untemplate.page import Node, Page

__all__ = ["Finding", "labels_of", "merge_findings"]

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


def _labels_of_finding(finding: Finding) -> list[Label]:
    confidence = round(finding.confidence, 3)
    return [
        Label(page.id, finding.attribute, node.text, node.xpath, finding.source, confidence)
        for page, node in finding.places
    ]
