"""The one shape of every labeller and of what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from untemplate.page import Page

__all__ = ["Label", "Labeler"]


@dataclass(frozen=True, slots=True)
class Label:
    """ "This node holds this attribute on this page", with who said so and how sure.

    `page` is the page's id or its URL. An `xpath` pins the node; neither value nor XPath: "not on this page".
    An attribute with several values on a page has several labels, in page order. On a list page `record` tells the
    records apart: it is the XPath of a record's first element, or any name that the labels of a record share.
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
    """Anything that labels pages; the learner never knows who did."""

    def label(self, pages: Sequence[Page]) -> list[Label]: ...
