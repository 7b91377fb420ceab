"""What sites with a truth for their detail pages share: labels for one page, and how values are compared."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import lxml.html
from lxml import etree

from untemplate import Label, Page, Schema

__all__ = ["Fields", "LabeledSite", "choose_half", "key", "keys", "visible_key", "without_scripts"]

Fields = Mapping[str, Sequence[str]]
"""Attribute → true values in page order; an attribute that is not `many` has one."""

# What embedded data call the attributes of the benchmarks, where their names differ.
EMBEDDED_NAMES = {
    "title": ("name", "headline", "og:title"),
    "description": ("og:description",),
    "ingredients": ("recipeIngredient",),
    "instructions_list": ("recipeInstructions",),
    "categories": ("category",),
}

_NOT_COMPARED = re.compile(r"[\W_]+")
_SCRIPT = re.compile(rb"(?is)<script\b.*?</script\s*>")
_HIDDEN_TAGS = ("script", "style", "noscript", "template")


@dataclass(frozen=True)
class LabeledSite:
    """All pages of a site, the truth of its detail pages, and which of them is labeled.

    Attributes:
        name: the name of the site's folder.
        schema: what is extracted.
        pages: every page of the site.
        truth: page id → the fields that are judged there.
        labeled: the id of the page that the labels are of.
        others: the ids of pages of other kinds, which should get no record.
    """

    name: str
    schema: Schema
    pages: list[Page] = field(repr=False)
    truth: dict[str, Fields] = field(repr=False)
    labeled: str
    others: frozenset[str] = frozenset()

    @property
    def named_schema(self) -> Schema:
        """The schema with the names that schema.org and Open Graph have for its attributes."""
        named = {
            name: replace(attribute, same_as=EMBEDDED_NAMES.get(name, ()))
            for name, attribute in self.schema.attributes.items()
        }
        return replace(self.schema, attributes=named)

    @property
    def given(self) -> Fields:
        """The fields that are labeled."""
        return self.truth[self.labeled]

    def labels(self) -> list[Label]:
        """Return what a person would say about the labeled page."""
        labels: list[Label] = []
        for name, values in self.given.items():
            labels += [Label(self.labeled, name, value) for value in values]
        return labels

    def judged(self, page: str) -> Fields:
        """Return the fields that are judged on a page: those with a true value that were labeled, too."""
        return {name: values for name, values in self.truth.get(page, {}).items() if name in self.given}


def key(value: object) -> str:
    """Return the letters and digits of a value in lower case: how values are compared."""
    return _NOT_COMPARED.sub("", str(value or "")).lower()


def keys(values: Iterable[object]) -> list[str]:
    """Return the keys of several values, in their order."""
    return [key(value) for value in values]


def visible_key(html: bytes) -> str:
    """Return the letters and digits of a page outside its scripts and style sheets; "" for a broken page."""
    try:
        tree = lxml.html.document_fromstring(html.decode("utf-8", "replace").encode())
    except (etree.LxmlError, ValueError):
        return ""
    for element in list(tree.iter(*_HIDDEN_TAGS)):
        element.drop_tree()
    return key("".join(tree.itertext()))


def without_scripts(html: bytes) -> bytes:
    """Return a page without script elements, and so without most embedded data."""
    return _SCRIPT.sub(b"", html)


def choose_half(names: Sequence[str], half: str, count: int | None) -> list[str]:
    """Return the even or odd names in their order, or all; of these `count` at equal distances."""
    chosen = {"even": names[::2], "odd": names[1::2], "all": names}[half]
    if count is None or count >= len(chosen):
        return list(chosen)
    return [chosen[number * len(chosen) // count] for number in range(count)]
