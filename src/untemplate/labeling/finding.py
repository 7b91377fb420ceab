"""What a method found on a new site: per attribute the nodes that hold it, and how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from untemplate.labeling.label import Label
from untemplate.page import Node, Page

__all__ = ["Finding", "labels_of", "merge"]

SOURCE = "seed"

# Values that a report shows.
EXAMPLES = 3


@dataclass(frozen=True)
class Finding:
    """Where an attribute stands on a site: its nodes with their pages, in page order."""

    attribute: str
    confidence: float
    places: Sequence[tuple[Page, Node]] = field(repr=False)
    #: the share of the readable pages that have it
    coverage: float
    #: whether the method is sure enough to label
    found: bool
    #: who says so, in labels
    source: str = SOURCE

    @property
    def examples(self) -> list[str]:
        """A few different values."""
        return list(dict.fromkeys(node.text for _, node in self.places))[:EXAMPLES]

    def page_ids(self) -> set[int]:
        """The pages with a value, by `id()`."""
        return {id(page) for page, _ in self.places}

    def on(self, pages: Collection[int]) -> Finding:
        """What was found on some pages, given by their `id()`."""
        places = [place for place in self.places if id(place[0]) in pages]
        return replace(self, places=places, found=self.found and bool(places))


def merge(findings: Sequence[Finding], pages: int) -> Finding:
    """What was found on pages of different templates, as one; the best of them if none is sure."""
    sure = [finding for finding in findings if finding.found]
    if not sure:
        return max(findings, key=lambda finding: finding.confidence)
    places = [place for finding in sure for place in finding.places]
    confidence = sum(finding.confidence * len(finding.places) for finding in sure) / len(places)
    share = len({id(page) for page, _ in places}) / pages
    return replace(sure[0], confidence=confidence, places=places, coverage=share)


def labels_of(findings: Iterable[Finding]) -> list[Label]:
    """The labels of what was found."""
    return [
        Label(page.id, finding.attribute, node.text, node.xpath, finding.source, round(finding.confidence, 3))
        for finding in findings
        if finding.found
        for page, node in finding.places
    ]
