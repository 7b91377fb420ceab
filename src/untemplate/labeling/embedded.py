"""The page itself as a labeler: what its JSON-LD, microdata and Open Graph say, found again in its text.

Only what a reader sees becomes a label: rules are learnt from nodes, and data that stand nowhere else teach none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from lxml import etree

from untemplate.errors import MissingExtra, PageError
from untemplate.labeling.label import Label
from untemplate.page import Node, Page, squeeze
from untemplate.schema import Attribute, Schema

__all__ = ["Embedded", "properties_of"]

SOURCE = "embedded"
"""Who says so, in labels."""

# What schema.org and Open Graph call attributes that schemas often call otherwise.
OTHER_NAMES = {
    "title": ("name", "headline", "og:title"),
    "name": ("og:title",),
    "phone": ("telephone",),
    "address": ("streetAddress",),
    "cuisine": ("servesCuisine",),
    "isbn_13": ("isbn",),
    "publication_date": ("datePublished",),
    "year": ("copyrightYear",),
    "mpaa_rating": ("contentRating",),
    "rating": ("ratingValue",),
    "company": ("hiringOrganization",),
    "location": ("addressLocality", "jobLocation"),
    "salary": ("baseSalary",),
    "ingredients": ("recipeIngredient",),
    "instructions": ("recipeInstructions",),
}
# Items inside items that are read, and properties of a page: more is no description of one thing.
MAX_DEPTH = 8
MAX_PROPERTIES = 2000

_SYNTAXES = ["json-ld", "microdata", "opengraph"]
# An item that stands for its name, such as an author.
_NAME = "name"
_SIGNS = re.compile(r"[\W_]+")


class Embedded:
    """Labels pages by their embedded data, as far as it names the attributes of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """The labels of all pages; pages without embedded data, or that cannot be read, have none."""
        found: list[Label] = []
        for page in pages:
            try:
                nodes, properties = page.nodes, properties_of(page)
            except PageError:
                continue
            for attribute in self.schema.attributes.values():
                values = _values(properties, attribute)
                found += _labels(page, nodes, attribute, values) if values else []
        return found


def properties_of(page: Page) -> dict[str, list[str]]:
    """What a page's embedded data say: values by the name of their property, in order, `og:` before Open Graph's."""
    try:
        import extruct
    except ImportError as error:
        raise MissingExtra("models", "Reading of embedded data") from error
    markup = etree.tostring(page.tree, encoding="unicode", method="html")
    data = extruct.extract(markup, base_url=page.url, syntaxes=_SYNTAXES, errors="ignore")
    found: dict[str, list[str]] = {}
    for item in (*data.get("json-ld", ()), *data.get("microdata", ())):
        for name, value in _walk(item, 0):
            found.setdefault(name, []).append(value)
            if sum(map(len, found.values())) >= MAX_PROPERTIES:
                return found
    for item in data.get("opengraph", ()):
        for name, value in item.get("properties", ()):
            found.setdefault(name, []).append(squeeze(str(value)))
    return found


def _walk(item: Any, depth: int) -> Iterator[tuple[str, str]]:
    """The properties of an item and of those inside; an item that has a name is also the value of its property."""
    if depth > MAX_DEPTH or not isinstance(item, dict):
        return
    properties = item.get("properties", item)
    for name, value in properties.items() if isinstance(properties, dict) else ():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                inner = one.get("properties", one)
                named = inner.get(_NAME) if isinstance(inner, dict) else None
                if isinstance(named, str):
                    yield name, squeeze(named)
                yield from ((n, v) for n, v in _walk(one, depth + 1) if n != _NAME)
            elif isinstance(one, str | int | float) and not str(name).startswith("@"):
                yield name, squeeze(str(one))
    for one in item.get("@graph", ()) if isinstance(item.get("@graph"), list) else ():
        yield from _walk(one, depth + 1)


def _values(properties: dict[str, list[str]], attribute: Attribute) -> list[str]:
    """The values of the first property that means an attribute, by its own name or by another."""
    plain = _plain(attribute.name)
    own = next((values for name, values in properties.items() if _plain(name) == plain), [])
    others = (properties.get(name, []) for name in OTHER_NAMES.get(attribute.name, ()))
    return next((values for values in (own, *others) if any(values)), [])


def _labels(page: Page, nodes: Iterable[Node], attribute: Attribute, values: Sequence[str]) -> list[Label]:
    wanted = {_plain(value) for value in values} - {""}
    kinds = ("@src", "@href") if attribute.type in ("image", "url") else ("text", "tail")
    found: dict[str, Label] = {}
    for node in nodes:
        text = _plain(node.text)
        if text in wanted and text not in found and node.kind in kinds and "/title/" not in node.path:
            found[text] = Label(page.id, attribute.name, node.text, node.xpath, SOURCE)
    return list(found.values())[: None if attribute.many else 1]


def _plain(text: str) -> str:
    """How names and values are compared: signs and case aside."""
    return _SIGNS.sub("", text).lower()
