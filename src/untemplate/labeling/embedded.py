"""The page itself as a labeler: values of its embedded data that the page shows.

Embedded data name their values. A schema says which of these names mean its attributes (`same_as`), so pages with
such data need no person to label them. Only values that the page shows become labels: others may belong to another
page. Images are an exception, as pages show them in other sizes than their data name, or load them later: beside a
value that the page shows, the address of an image need not be on the page if no other page names it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from untemplate.errors import LabelError, PageError
from untemplate.labeling.label import Finding, Label
from untemplate.labeling.nodes.node_features import find_spans
from untemplate.page import Node, Page
from untemplate.page.embedded_data import META, NAMING_KEYS, TYPED_SOURCES, DataObject, DataPath
from untemplate.page.locating import letters_and_digits
from untemplate.rules.embedded_values import embedded_texts
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.rule import EmbeddedSelector
from untemplate.schema import Attribute, Schema

__all__ = ["EmbeddedLabeler", "find_data_path", "label_by_embedded"]

SOURCE = "embedded"

# Objects of a page that are compared; the first of each type counts.
MAX_COMPARED_OBJECTS = 200
# How sure values are that the page's data name and the page shows. Of what they teach on the sites of `recipes`, 4 %
# is wrong (`python -m benchmarks.measure.todays_pages --no-labels`).
CONFIDENCE = 0.95
# Letters of a text that numbers the steps of a list, such as "Step 1" or "Schritt 1".
MAX_NUMBERING_LETTERS = 8

_Key = tuple[str, str]
"""A source and a type of objects in it."""

_Readings = list[list[str]]
"""Several ways to read the values of one attribute."""


class EmbeddedLabeler:
    """Labels pages by their embedded data, as far as that names attributes of a schema. A labeler.

    It needs no training and no person, but only pages with embedded data get labels.

    Args:
        schema: The attributes to label; each is found by its own name and by those in `same_as`.

    Example:
        >>> from untemplate import Page, Schema
        >>> data = '<script type="application/ld+json">{"@type": "Book", "name": "Emma"}</script>'
        >>> page = Page("http://a.example/1", f"<html><body>{data}<h1>Emma</h1></body></html>")
        >>> [(label.attribute, label.value) for label in EmbeddedLabeler(Schema.load("book")).label([page])]
        [('title', 'Emma')]
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def label(self, pages: Sequence[Page]) -> list[Label]:
        """Return the labels of all pages; pages without embedded data, or that cannot be parsed, have none.

        The type of objects that names most attributes is that of the records, so the values of all pages are from
        objects of one type. Attributes that it does not name may be in meta tags.
        """
        named_pages, roots = self._read_roots(pages)
        site_images = _find_site_images(named_pages)
        labels: list[Label] = []
        for named in named_pages:
            labels += named.find_labels(roots, site_images)
        return labels

    def find(self, pages: Sequence[Page]) -> list[Finding]:
        """Return the same as findings, for the attributes whose values are nodes or elements of their own."""
        named_pages, roots = self._read_roots(pages)
        findings: list[Finding] = []
        for attribute in self.schema.attributes.values():
            places: list[tuple[Page, Node]] = []
            covered = 0
            for named in named_pages:
                nodes = named.find_nodes(attribute, roots)
                places += [(named.page, node) for node in nodes]
                covered += bool(nodes)
            if places:
                coverage = covered / len(named_pages)
                findings.append(Finding(attribute.name, CONFIDENCE, places, coverage, True, SOURCE))
        return findings

    def _read_roots(self, pages: Sequence[Page]) -> tuple[list[_NamedValues], list[_Key]]:
        """Return the named values of each page, and the types of objects that they are read from."""
        named_pages = list(self._read_pages(pages))
        roots = [root for root in (_choose_root(named_pages, self.schema), (META, "")) if root]
        return named_pages, [root for root in roots if _differs(root, named_pages, self.schema)]

    def _read_pages(self, pages: Sequence[Page]) -> Iterator[_NamedValues]:
        for page in pages:
            try:
                _ = page.tree
            except PageError:
                continue
            yield _NamedValues(page, self.schema)


@dataclass(frozen=True)
class _NamedValues:
    """The embedded values of one page whose names mean attributes of the schema."""

    page: Page
    schema: Schema

    @cached_property
    def values(self) -> dict[_Key, dict[str, _Readings]]:
        """By source and type of object: attribute → the ways to read its values."""
        values: dict[_Key, dict[str, _Readings]] = {}
        for source in (*TYPED_SOURCES, META):
            for type, data_object in self._first_of_types(source).items():
                if readings := dict(self._read_object(source, data_object)):
                    values[source, type] = readings
        return values

    def _first_of_types(self, source: str) -> dict[str, DataObject]:
        """Return the first object of each type.

        The data as a whole, which have no type, count if no object before them has one.
        """
        objects: dict[str, DataObject] = {}
        for data_object in self.page.embedded.objects(source)[:MAX_COMPARED_OBJECTS]:
            if data_object.type or not objects:
                objects.setdefault(data_object.type, data_object)
        return objects

    def _read_object(self, source: str, data_object: DataObject) -> Iterator[tuple[str, _Readings]]:
        for attribute in self.schema.attributes.values():
            if path := find_data_path(source, data_object, attribute):
                ways = _ways_to_read(path, attribute)
                readings = [_read_texts(selector, self.page, attribute) for selector in ways]
                if any(readings):
                    yield attribute.name, sorted(filter(None, readings), key=_has_numbering)

    @cached_property
    def image_keys(self) -> set[str]:
        """The addresses of all images that the data name, in letters and digits."""
        return set(map(letters_and_digits, chain.from_iterable(self._read_images())))

    def _read_images(self) -> Iterator[list[str]]:
        for values in self.values.values():
            for name, readings in values.items():
                if self.schema.attributes[name].type == "image":
                    yield from readings

    def find_labels(self, roots: Sequence[_Key], site_images: Collection[str]) -> list[Label]:
        """Return the labels of the page: of each attribute what the first root says that the page shows.

        If the page shows some of it, the data are about this page, and its image need not be shown.

        Args:
            roots: the types of objects to read, the best first.
            site_images: the images that several pages name, in letters and digits.
        """
        attributes = self.schema.attributes
        texts = {name: self._shown_texts(attribute, roots) for name, attribute in attributes.items()}
        if any(texts.values()):
            for name, attribute in attributes.items():
                texts[name] = texts[name] or self._own_images(attribute, roots, site_images)
        labels: list[Label] = []
        for name, values in texts.items():
            written = map(self._as_written, values)
            labels += [Label(self.page.id, name, value, None, SOURCE) for value in written]
        return labels

    def find_nodes(self, attribute: Attribute, roots: Sequence[_Key]) -> list[Node]:
        """Return the nodes or elements whose texts are the values of an attribute; none if one value has none."""
        values = map(self._as_written, self._shown_texts(attribute, roots))
        nodes = [self._node_by_key.get(letters_and_digits(value)) for value in values]
        complete = [node for node in nodes if node is not None]
        return complete if len(complete) == len(nodes) else []

    @cached_property
    def _node_by_key(self) -> dict[str, Node]:
        """The first visible text, or else element, or else link, with these letters and digits."""
        texts = [node for node in self.page.nodes if node.is_text and "/title/" not in node.path]
        links = [node for node in self.page.nodes if node.kind in ("@src", "@href")]
        nodes: dict[str, Node] = {}
        for node in (*texts, *(span[0] for span in find_spans(texts)), *links):
            nodes.setdefault(letters_and_digits(node.text), node)
        return nodes

    def _readings(self, attribute: Attribute, roots: Sequence[_Key]) -> Iterator[list[str]]:
        for root in roots:
            for texts in self.values.get(root, {}).get(attribute.name, ()):
                yield texts if attribute.many else texts[:1]

    def _shown_texts(self, attribute: Attribute, roots: Sequence[_Key]) -> list[str]:
        """Return the first reading of an attribute that the page shows; none if it shows no reading."""
        for texts in self._readings(attribute, roots):
            if all(self._shows(text, attribute) for text in texts):
                return texts
        return []

    def _own_images(
        self, attribute: Attribute, roots: Sequence[_Key], site_images: Collection[str]
    ) -> list[str]:
        """Return the first reading of an image that is an address, and not that of an image of the site."""
        if attribute.type != "image":
            return []
        for texts in self._readings(attribute, roots):
            if all(_is_absolute(text) and letters_and_digits(text) not in site_images for text in texts):
                return texts
        return []

    def _shows(self, text: str, attribute: Attribute) -> bool:
        """Return True if the page shows a text, or has a link of this address."""
        if attribute.type in ("image", "url"):
            return letters_and_digits(text) in self._links
        return self._parsed.shows(text)

    @cached_property
    def _parsed(self) -> ParsedPage:
        return ParsedPage(self.page.tree)

    def _as_written(self, text: str) -> str:
        """Return a text as a node of the page writes it, if one has the same letters and digits."""
        return self._texts.get(letters_and_digits(text), text)

    @cached_property
    def _texts(self) -> dict[str, str]:
        """The texts of the page by their letters and digits, without the page's title."""
        visible = (node.text for node in self.page.nodes if node.is_text and "/title/" not in node.path)
        return {letters_and_digits(text): text for text in visible}

    @cached_property
    def _links(self) -> set[str]:
        return {letters_and_digits(node.text) for node in self.page.nodes if node.kind in ("@src", "@href")}


def _find_site_images(pages: Sequence[_NamedValues]) -> set[str]:
    """Return the images that several pages name, such as a site's logo, in letters and digits."""
    counts = Counter(chain.from_iterable(named.image_keys for named in pages))
    return {key for key, count in counts.items() if count > 1}


def _is_absolute(address: str) -> bool:
    return address.startswith(("https://", "http://"))


def find_data_path(source: str, data_object: DataObject, attribute: Attribute) -> DataPath | None:
    """Return where an object has an attribute: the shortest path with the first of its names that there is.

    The name may be of a property of the object or of one inside it, such as `offers.price`.
    """
    # Meta tags are not about one record: only names such as `og:title` that the schema gives count.
    names = attribute.same_as if source == META else (attribute.name, *attribute.same_as)
    for name in names:
        wanted = letters_and_digits(name)
        paths = {path for value in data_object.values if (path := _path_to(value.keys, wanted))}
        if paths:
            return DataPath(source, data_object.type, min(paths, key=len), NAMING_KEYS)
    return None


def _path_to(keys: tuple[str, ...], wanted: str) -> tuple[str, ...]:
    """Return the keys up to the one with this name; none if there is no such key.

    What names any object, such as `name`, must be of the object itself.
    """
    for number, key in enumerate(keys, 1):
        if letters_and_digits(key) == wanted and (number == 1 or key not in NAMING_KEYS):
            return keys[:number]
    return ()


def _ways_to_read(path: DataPath, attribute: Attribute) -> Iterator[EmbeddedSelector]:
    """Yield the ways to read the values at a path, the one that says most first.

    The members of a list, and its parts, may have names that the page does not show.
    """
    if not attribute.many:
        yield EmbeddedSelector(path)
        return
    yield EmbeddedSelector(path, skips_repeats=True)
    yield EmbeddedSelector(replace(path, ends=("text",)))


def _read_texts(selector: EmbeddedSelector, page: Page, attribute: Attribute) -> list[str]:
    """Return the values that a selector selects; a list that is one text is read line by line."""
    texts = embedded_texts(selector, page.embedded)
    if attribute.many and len(texts) == 1:
        return embedded_texts(replace(selector, lines=True), page.embedded)
    return texts


def _has_numbering(texts: Sequence[str]) -> bool:
    """Return True if many texts only count the others: they are the same but for digits, as "Step 1" and "Step 2"."""
    words: Counter[str] = Counter()
    for key in map(letters_and_digits, texts):
        without_digits = "".join(letter for letter in key if not letter.isdigit())
        if without_digits != key and len(without_digits) <= MAX_NUMBERING_LETTERS:
            words[without_digits] += 1
    return bool(words) and 3 * max(words.values()) >= len(texts) > 1


def _choose_root(pages: Sequence[_NamedValues], schema: Schema) -> _Key | None:
    """Return the source and type of the objects that name most attributes, all pages together."""
    counts: Counter[_Key] = Counter()
    for named in pages:
        counts.update({key: len(values) for key, values in named.values.items() if key[0] != META})
    ranked = (key for key, _ in counts.most_common())
    return next((key for key in ranked if _differs(key, pages, schema)), None)


def _differs(key: _Key, pages: Sequence[_NamedValues], schema: Schema) -> bool:
    """Return False for data whose mandatory values are the same on all pages: they are about the site."""
    if len(pages) == 1:
        return True
    names = [attribute.name for attribute in schema.attributes.values() if attribute.mandatory]
    on_pages = filter(None, (named.values.get(key) for named in pages))
    compared = [[values.get(name) for name in names] if names else values for values in on_pages]
    return len(set(map(repr, compared))) > 1


def label_by_embedded(pages: Sequence[Page], schema: Schema | None) -> list[Label]:
    """Return the labels that the embedded data of pages give.

    Args:
        pages: pages of one site.
        schema: the attributes to label.

    Raises:
        LabelError: there is no schema, or the pages have no embedded data that it names.
    """
    if schema is None:
        raise LabelError(
            "nothing to learn from: give labels, or a schema that names the embedded data of the pages"
        )
    labels = EmbeddedLabeler(schema).label(pages)
    if not labels:
        raise LabelError(
            f"the pages show no embedded data (JSON-LD, microdata, Open Graph) that schema {schema.name!r} names: "
            "label a page, or add the names of its data to the schema as same_as"
        )
    return labels
