"""Labels of made-up sites against their truth."""

from __future__ import annotations

from untemplate import Label, Page
from untemplate.demo import Site

__all__ = ["details", "share_right"]


def details(site: Site) -> list[Page]:
    return [page for page in site.pages if page.id in site.truth]


def share_right(labels: list[Label], site: Site) -> float:
    """The share of labels whose value is true, or has the truth in it."""
    right = [
        any(true in (label.value or "") for true in site.truth[label.page][label.attribute])
        for label in labels
    ]
    return sum(right) / max(1, len(right))
