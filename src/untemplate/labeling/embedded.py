"""The page itself as a labeler: values of its JSON-LD, microdata and Open Graph that appear in its text.

Only visible values become labels. Rules are learned from nodes, so data that appear nowhere else teach nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from lxml import etree

from untemplate.errors import MissingExtra, PageError
from untemplate.labeling.label import Label
from untemplate.page import Node, Page, squeeze
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Attribute, Schema

__all__ = ["EmbeddedLabeler", "embedded_properties"]

SOURCE = "embedded"

# How schema.org and Open Graph name attributes that schemas often name differently.
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
# Levels of items inside items that are read, and properties of a page. More do not describe one thing.
MAX_DEPTH = 8
MAX_PROPERTIES = 2000

_SYNTAXES = ["json-ld", "microdata", "opengraph"]
# An item with this property can be replaced by its name, such as an author.
_NAME = "name"


class EmbeddedLabeler:
    """Labels pages by their embedded data, as far as that names attributes of a schema. A labeler.

    It needs no training and no person, but only pages with embedded data get labels.

    Args:
        schema: The attributes to label.

    Raises:
        MissingExtra: The library that reads embedded data is not installed.

    Example:
        >>> from untemplate import Page, Schema
        >>> data = '<script type="application/ld+json">{"name": "Emma"}</script>'
        >>> page = Page("http://a.example/1", f"<html><body>{data}<h1>Emma</h1></body></html>")
        >>> [(label.attribute, label.value) for label in EmbeddedLabeler(Schema.load("book")).label([page])]
        [('title', 'Emma')]
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """Return the labels of all pages; pages without embedded data, or that cannot be parsed, have none."""
        labels: list[Label] = []
        for page in pages:
            try:
                nodes, properties = page.nodes, embedded_properties(page)
            except PageError:
                continue
            for attribute in self.schema.attributes.values():
                values = _values_of(properties, attribute)
                labels += _find_labels(page, nodes, attribute, values) if values else []
        return labels


def embedded_properties(page: Page) -> dict[str, list[str]]:
    """Return the values in a page's embedded data by the name of their property, in page order.

    Names of Open Graph begin with `og:`.

    Raises:
        MissingExtra: The library that reads embedded data is not installed.
    """
    try:
        import extruct
    except ImportError as error:
        raise MissingExtra("models", "Reading of embedded data") from error
    markup = etree.tostring(page.tree, encoding="unicode", method="html")
    data = extruct.extract(markup, base_url=page.url, syntaxes=_SYNTAXES, errors="ignore")
    properties: dict[str, list[str]] = {}
    items = (*data.get("json-ld", ()), *data.get("microdata", ()))
    for name, value in islice(_read_items(items, 0), MAX_PROPERTIES):
        properties.setdefault(name, []).append(value)
    if sum(map(len, properties.values())) == MAX_PROPERTIES:
        return properties
    for item in data.get("opengraph", ()):
        for name, value in item.get("properties", ()):
            properties.setdefault(name, []).append(squeeze(str(value)))
    return properties


def _read_items(items: Any, depth: int) -> Iterator[tuple[str, str]]:
    for item in items if isinstance(items, list | tuple) else ():
        if depth <= MAX_DEPTH and isinstance(item, dict):
            yield from _read_item(item, depth)


def _read_item(item: dict[Any, Any], depth: int) -> Iterator[tuple[str, str]]:
    """Yield the properties of an item and of the items inside it."""
    for name, value in _properties(item).items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from _read_inner_item(name, part, depth + 1)
            elif isinstance(part, str | int | float) and not str(name).startswith("@"):
                yield name, squeeze(str(part))
    yield from _read_items(item.get("@graph"), depth + 1)


def _read_inner_item(name: str, item: dict[Any, Any], depth: int) -> Iterator[tuple[str, str]]:
    """Yield the properties of an item that is the value of a property; its name counts as that value."""
    item_name = _properties(item).get(_NAME)
    if isinstance(item_name, str):
        yield name, squeeze(item_name)
    for inner_name, value in _read_items([item], depth):
        if inner_name != _NAME:
            yield inner_name, value


def _properties(item: dict[Any, Any]) -> dict[Any, Any]:
    """Return the properties of an item: microdata has them one level below, JSON-LD in the item itself."""
    properties = item.get("properties", item)
    return properties if isinstance(properties, dict) else {}


def _values_of(properties: dict[str, list[str]], attribute: Attribute) -> list[str]:
    """Return the values of the first property that means an attribute, by the same name or by another."""
    wanted = letters_and_digits(attribute.name)
    names = [name for name in properties if letters_and_digits(name) == wanted][:1]
    for name in (*names, *OTHER_NAMES.get(attribute.name, ())):
        values = properties.get(name, [])
        if any(values):
            return values
    return []


def _find_labels(
    page: Page, nodes: Iterable[Node], attribute: Attribute, values: Sequence[str]
) -> list[Label]:
    """Return a label for the first node with each value; only one unless the attribute has many values."""
    wanted = {letters_and_digits(value) for value in values} - {""}
    kinds = ("@src", "@href") if attribute.type in ("image", "url") else ("text", "tail")
    labels: dict[str, Label] = {}
    for node in nodes:
        if node.kind not in kinds or "/title/" in node.path:
            continue
        text = letters_and_digits(node.text)
        if text in wanted and text not in labels:
            labels[text] = Label(page.id, attribute.name, node.text, node.xpath, SOURCE)
    return list(labels.values())[: None if attribute.many else 1]
