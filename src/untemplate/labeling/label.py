"""Labels, and the protocol of everything that labels pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from untemplate.page import Page

__all__ = ["Label", "Labeler"]


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
