"""Cleaning up the values of an attribute: all of its labels are cut in the same way, and its rule is learned again.

A rule cuts values as its labels do (Vertex III-C.4 calls it range pruning). So there is no second place where values
are changed: a preview learns from labels that are cut, and applying it stores them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from untemplate.catalog import StoredLabel
from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.page import squeeze
from untemplate.schema import Attribute
from untemplate.value_types import Type
from untemplate.web.page_labels import LabelChange, replace_labels
from untemplate.web.site_schema import ChangedAttribute, change_schema
from untemplate.web.workspace import OpenSite

__all__ = ["CleanedPage", "ValueCut", "apply_cut", "preview_cut"]

_TRIMMED_SIGNS = " .,;:!?·•|/\\-–—_*#()[]{}<>\"'“”„‘’«»"


@dataclass(frozen=True, slots=True)
class ValueCut:
    """Which part of a value stays.

    Attributes:
        after: What follows the first occurrence of this text; the value as it is if it does not contain the text.
        before: What comes before the next occurrence of this text; likewise.
        trims: Whether signs and blanks at both ends are removed.
        type: The new type of the attribute; None if it stays the same.
    """

    after: str = ""
    before: str = ""
    trims: bool = False
    type: Type | None = None

    def cut(self, value: str) -> str:
        """Return the part of a value that stays."""
        if self.after and self.after in value:
            value = value.partition(self.after)[2]
        if self.before:
            value = value.partition(self.before)[0]
        return squeeze(value.strip(_TRIMMED_SIGNS) if self.trims else value)


@dataclass(frozen=True, slots=True)
class CleanedPage:
    """The values of an attribute on a page: as they are, and as they would be."""

    page: str
    title: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def preview_cut(site: OpenSite, cluster: str, attribute: str, cut: ValueCut) -> list[CleanedPage]:
    """Return what cutting the labels of an attribute would change on all sample pages of a cluster.

    Raises:
        LabelError: The attribute has no label there, or nothing would be left of one.
    """
    labels = _cut_labels(_labels_to_cut(site, cluster, attribute), cut)
    session = site.session(cluster)
    with session.lock:
        found = session.try_labels(_as_changed(site.schema.attributes[attribute], cut), labels)
        values = {page.id: session.values_of(page, attribute) for page in session.pages.values()}
        titles = {page.id: page.title for page in session.pages.values()}
    return [CleanedPage(page, titles[page], tuple(values[page]), tuple(found[page])) for page in found]


def apply_cut(site: OpenSite, cluster: str, attribute: str, cut: ValueCut) -> LabelChange:
    """Cut the labels of an attribute, give it its new type, and return which labels have changed.

    Raises:
        LabelError: The attribute has no label there, or nothing would be left of one.
    """
    stored = _labels_to_cut(site, cluster, attribute)
    labels = _cut_labels(stored, cut)
    if cut.type is not None:
        attributes = site.schema.attributes.values()
        changed = [
            ChangedAttribute(_as_changed(one, cut) if one.name == attribute else one, one.name)
            for one in attributes
        ]
        change_schema(site, changed)
    added: list[int] = []
    removed: list[int] = []
    for page in dict.fromkeys(label.page for label in labels):
        change = replace_labels(site, page, [attribute], [label for label in labels if label.page == page])
        added += change.added
        removed += change.removed
    return LabelChange(tuple(added), tuple(removed))


def _as_changed(attribute: Attribute, cut: ValueCut) -> Attribute:
    return replace(attribute, type=cut.type or attribute.type)


def _labels_to_cut(site: OpenSite, cluster: str, attribute: str) -> list[StoredLabel]:
    """Return all labels of an attribute on the pages of a cluster, those of list rows aside."""
    if attribute not in site.schema.attributes:
        raise LabelError(f"schema {site.schema.name!r} has no attribute {attribute!r}")
    site.wrapper(cluster)
    pages = set(site.pages[cluster])
    labels = [stored for stored in site.labels() if stored.label.page in pages]
    own = [one for one in labels if one.label.attribute == attribute and one.label.record is None]
    if all(one.label.is_gap for one in own):
        raise LabelError(f"label a value of {attribute} first: the rule follows from the labels")
    return own


def _cut_labels(stored: Sequence[StoredLabel], cut: ValueCut) -> list[Label]:
    """Return labels with the parts of their values that stay; gaps stay gaps."""
    labels = []
    for label in (one.label for one in stored):
        if label.value is None:
            labels.append(label)
            continue
        value = cut.cut(label.value)
        if not value:
            raise LabelError(f"nothing would be left of {label.value!r}")
        labels.append(replace(label, value=value))
    return labels
