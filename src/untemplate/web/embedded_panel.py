"""The embedded data of a page as a panel that a person can read, search and click.

Objects are listed as the page has them, each value once, and the values at one path together. A value has a number by
which a click names it. The numbers of a page never change, because they count all values in the order of the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from untemplate.errors import LabelError
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.page.embedded_data import is_script
from untemplate.page.embedded_formats import html_lines, html_to_text
from untemplate.page.locating import clean_value
from untemplate.rules.applying import Match
from untemplate.rules.embedded_values import MAX_EMBEDDED_TEXT
from untemplate.schema import Attribute

__all__ = [
    "MAX_SHOWN_VALUES",
    "PanelObject",
    "PanelPath",
    "PanelValue",
    "find_alike_values",
    "labels_from_embedded",
    "list_embedded",
    "numbers_of_label",
    "numbers_of_match",
    "select_shown",
]

MAX_PANEL_VALUES = 5_000
"""Values of a page that have a number. Pages with more have them in application state."""

MAX_SHOWN_VALUES = 400
"""Values in one answer, of all objects. A search finds the others."""

MAX_OBJECT_VALUES, MAX_PATH_VALUES = 150, 40
"""Values of one object, and of one path, in one answer."""

MAX_SHOWN_TEXT = 400
"""Characters of a value in an answer. A label has all of them."""


@dataclass(frozen=True, slots=True)
class PanelValue:
    """A value: its number on the page, and its text as a page would show it."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class PanelPath:
    """The values at one path of an object.

    Attributes:
        path: The path from the object, such as `recipeIngredient[*]`; a star if it has several values.
        values: The values, in the order of the data.
        hidden: How many more there are.
    """

    path: str
    values: tuple[PanelValue, ...]
    hidden: int = 0


@dataclass(frozen=True, slots=True)
class PanelObject:
    """An object of the embedded data.

    Attributes:
        source: Where it comes from, such as `ld+json`.
        type: Its type, such as `Recipe`; empty if it has none.
        paths: Its values by path.
        hidden: How many values it has at further paths.
    """

    source: str
    type: str
    paths: tuple[PanelPath, ...]
    hidden: int = 0

    @property
    def prefix(self) -> str:
        """What the paths of its values begin with, as rules write them: `ld+json Recipe`."""
        return f"{self.source} {self.type}".strip()

    @property
    def values(self) -> Iterator[PanelValue]:
        """All its values."""
        for path in self.paths:
            yield from path.values


def list_embedded(page: Page) -> list[PanelObject]:
    """Return the embedded data of a page, the state of its scripts last. Texts without letters are left out."""
    objects: list[PanelObject] = []
    number = 0
    for source, type_, values in _read_objects(page):
        paths: dict[tuple[str, ...], list[PanelValue]] = {}
        for keys, raw in values:
            text = html_to_text(raw[:MAX_EMBEDDED_TEXT])
            if number < MAX_PANEL_VALUES and any(map(str.isalnum, text)):
                paths.setdefault(keys, []).append(PanelValue(number, text))
                number += 1
        if paths:
            objects.append(PanelObject(source, type_, tuple(_name_path(*item) for item in paths.items())))
    return objects


def _read_objects(page: Page) -> Iterator[tuple[str, str, list[tuple[tuple[str, ...], str]]]]:
    """Yield the source and the type of each object, and the keys and the raw text of its values."""
    for source in sorted(page.embedded.sources(), key=is_script):
        for data_object, values in page.embedded.outline(source):
            yield source, data_object.type, [(value.keys, value.text) for value in values]


def _name_path(keys: tuple[str, ...], values: Sequence[PanelValue]) -> PanelPath:
    return PanelPath(".".join(keys) + ("[*]" if len(values) > 1 else ""), tuple(values))


def select_shown(objects: Iterable[PanelObject], wanted: str = "") -> list[PanelObject]:
    """Return what fits into a panel: values that contain all wanted words in their path or text, and not too many.

    Args:
        objects: The embedded data of a page.
        wanted: Words that a person looks for; all values if there are none.
    """
    words = wanted.casefold().split()
    room = MAX_SHOWN_VALUES
    shown: list[PanelObject] = []
    for panel_object in objects:
        cut = _cut_object(panel_object, words, min(room, MAX_OBJECT_VALUES))
        room -= sum(1 for _ in cut.values)
        if cut.paths:
            shown.append(cut)
    return shown


def _cut_object(panel_object: PanelObject, words: Sequence[str], room: int) -> PanelObject:
    """Return an object with those of its values that contain all words, as far as there is room."""
    paths: list[PanelPath] = []
    hidden = 0
    for path in panel_object.paths:
        where = f"{panel_object.prefix} {path.path}".casefold()
        fitting = [value for value in path.values if _contains(f"{where} {value.text.casefold()}", words)]
        kept = tuple(map(_cut_text, fitting[: min(room, MAX_PATH_VALUES)]))
        room -= len(kept)
        if kept:
            paths.append(PanelPath(path.path, kept, len(fitting) - len(kept)))
        else:
            hidden += len(fitting)
    return PanelObject(panel_object.source, panel_object.type, tuple(paths), hidden)


def _contains(text: str, words: Sequence[str]) -> bool:
    return all(word in text for word in words)


def _cut_text(value: PanelValue) -> PanelValue:
    if len(value.text) <= MAX_SHOWN_TEXT:
        return value
    return PanelValue(value.number, f"{value.text[:MAX_SHOWN_TEXT]}…")


# From clicks to labels, and from labels and found values to what is marked in the panel


def labels_from_embedded(number: int, page: Page, attribute: Attribute) -> list[Label]:
    """Return the labels that a click on an embedded value means.

    They have a text and no XPath: the learner finds all places that show the text, and the embedded value is one of
    them. For an attribute with many values, a text of several lines is one label a line, like the steps of a recipe.

    Raises:
        LabelError: The page has no such value.
    """
    raw = _raw_text(number, page)
    lines = html_lines(raw) if attribute.many else []
    texts = lines if len(lines) > 1 else [html_to_text(raw)]
    return [Label(page.id, attribute.name, text) for text in texts if any(map(str.isalnum, text))]


def _raw_text(number: int, page: Page) -> str:
    """Return the text of a value as the data have it, with its HTML."""
    count = 0
    for _, _, values in _read_objects(page):
        for _, raw in values:
            if any(map(str.isalnum, html_to_text(raw[:MAX_EMBEDDED_TEXT]))):
                if count == number:
                    return raw[:MAX_EMBEDDED_TEXT]
                count += 1
    raise LabelError("the embedded data of this page have no such value; load the page again")


def numbers_of_label(label: Label, objects: Iterable[PanelObject]) -> list[int]:
    """Return the embedded values that a label without a place on the page may mean: those with its text."""
    wanted = clean_value(label.value or "")
    return [value.number for value in _all_values(objects) if value.text == wanted]


def numbers_of_match(match: Match, objects: Iterable[PanelObject]) -> list[int]:
    """Return the embedded values that a rule may have found: those with the same text in objects of the same type."""
    path = match.node.xpath
    near = [one for one in objects if path.startswith(one.prefix)]
    return [value.number for value in _all_values(near) if value.text == match.text]


def find_alike_values(
    objects: Iterable[PanelObject], newest: Sequence[int], others: Sequence[Sequence[int]]
) -> list[int]:
    """Return all values at the path of two labeled ones; nothing if they have no common path, or all are labeled.

    Args:
        objects: The embedded data of the page.
        newest: The numbers of the values that were labeled last.
        others: The numbers of the values that were labeled before, by label.
    """
    labeled = set(newest).union(*others)
    for panel_object in objects:
        for path in panel_object.paths:
            numbers = {value.number for value in path.values}
            has_both = not numbers.isdisjoint(newest) and any(not numbers.isdisjoint(one) for one in others)
            if has_both and not numbers <= labeled and len(numbers) <= MAX_SHOWN_VALUES:
                return sorted(numbers)
    return []


def _all_values(objects: Iterable[PanelObject]) -> Iterator[PanelValue]:
    for panel_object in objects:
        yield from panel_object.values
