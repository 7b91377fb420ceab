"""What lists look like: whether a list on another page looks like the labeled ones, or has titles of sections.

Whether titles of sections are members, too, cannot be known from a labeled list without sections. Titles of items,
such as ingredients, are not items. Titles of sentences, such as the steps of a recipe, may be members: nothing
decides that until a list with titles is labeled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from lxml import etree

from untemplate.native import core, is_native
from untemplate.native.shown_text import TITLE_TAGS
from untemplate.page import HIDDEN_TAGS, Node, visible_text
from untemplate.page.dom import walk
from untemplate.page.locating import letters_and_digits
from untemplate.rules.rule import ListLook

__all__ = ["are_sentences", "describe_lists", "is_title", "looks_alike"]

# Members with so many letters and digits are sentences. In either half of the sites of `recipes`, all but two lists
# of ingredients have a lower median, and all but six lists of steps a higher one.
MIN_SENTENCE_LETTERS = 40

SENTENCE_ENDS = (".", "!", "?", "\u3002")
"""Signs at the end of a sentence."""

# A text is shown as a title by the element that contains it, or by the one around that.
MAX_TITLE_LEVEL = 2

_LOOSE_TEXT = "text()"

_Place = tuple[etree._Element, str]
"""An element, and which part of it is meant: "element" for all of it, or one of its texts."""


def are_sentences(texts: Iterable[str]) -> bool:
    """Return True if the members of a list are sentences rather than short items."""
    lengths = sorted(map(len, map(letters_and_digits, texts)))
    if not lengths:
        return False
    middle = len(lengths) // 2
    median = lengths[middle] if len(lengths) % 2 else (lengths[middle - 1] + lengths[middle]) / 2
    return median >= MIN_SENTENCE_LETTERS


def describe_lists(lists: Sequence[Sequence[Node]]) -> ListLook:
    """Return what labeled lists look like.

    Args:
        lists: the members on each labeled page, in document order. Not all are empty.
    """
    members: list[Node] = []
    is_punctuated = False
    tags: set[str] = set()
    for of_page in filter(None, lists):
        members += of_page
        tags |= _tags_between(of_page)
        is_punctuated |= _are_punctuated([node.text for node in of_page])
    return ListLook(
        min(map(len, filter(None, lists))),
        are_sentences(node.text for node in members),
        any(map(is_title, members)),
        tuple(sorted(tags)),
        is_punctuated,
    )


def looks_alike(look: ListLook, members: Sequence[Node]) -> bool:
    """Return False if a list looks so different from the labeled ones that it may be wrong.

    Complete sentences in place of items without a full stop are something else, as one list of `changes` shows; on
    the even half of `recipes` there is none. A list of sentences may be wrong if there is something else between its
    members, or a title among them. It may be, too, if it is a single text instead of several: then the page writes
    all members as one text, or the text is another one. On `recipes` no such text was right, in eight cases. These
    rules were chosen with counts on both halves of the sites.
    """
    if not look.of_sentences:
        texts = [node.text for node in members]
        return look.is_punctuated or not (are_sentences(texts) and _are_punctuated(texts))
    if len(members) == 1:
        return look.members == 1
    if not look.has_titles and any(map(is_title, members)):
        return False
    return _tags_between(members).issubset(look.between)


def _are_punctuated(texts: Sequence[str]) -> bool:
    """Return True if more than half of the members of a list end with a full stop or the like."""
    return 2 * sum(text.endswith(SENTENCE_ENDS) for text in texts) > len(texts)


def is_title(node: Node) -> bool:
    """Return True if a text is shown as a title, or ends with a colon."""
    if node.text.endswith((":", "\uff1a")):
        return True
    if is_native(node.element):
        is_shown: bool = core.is_shown_as_title(node.element, node.kind, node.text)  # type: ignore[union-attr]
        return is_shown
    element = node.parent
    if node.kind == "element":
        return element.tag in TITLE_TAGS or _is_emphasized(element, node.text)
    for _ in range(MAX_TITLE_LEVEL):
        if element is None or element.tag in TITLE_TAGS:
            return element is not None
        element = element.getparent()
    return False


def _is_emphasized(element: etree._Element, text: str) -> bool:
    """Return True if one emphasized element contains all text of an element."""
    if not len(element):
        return False
    first = next(element.iterdescendants(*TITLE_TAGS), None)
    return first is not None and visible_text(first) == text


def _tags_between(members: Sequence[Node]) -> set[str]:
    """Return the tags of the outermost elements with words between the first and the last member of a list.

    Text that is not in an element of its own counts as `text()`.

    Args:
        members: nodes of one page, in document order.
    """
    if is_native(members[0].element):
        found: set[str] = core.tags_between([(node.element, node.kind) for node in members])  # type: ignore[union-attr]
        return found
    places = {(node.element, node.kind) for node in members}
    around = set(_elements_around_members(members))
    tags: set[str] = set()
    since_member: set[str] | None = None  # None before the first member
    for place, tag in _walk(_shared_element(members), places, around):
        if place in places:
            tags |= since_member or set()
            since_member = set()
        elif since_member is not None and _has_words(place):
            since_member.add(tag)
    return tags


def _elements_around_members(members: Iterable[Node]) -> Iterator[etree._Element]:
    for node in members:
        if node.kind != "element":
            yield node.parent
        yield from node.parent.iterancestors()


def _shared_element(members: Sequence[Node]) -> etree._Element:
    """Return the smallest element around the first and the last member."""
    last = set(_elements_around_members(members[-1:]))
    return next(element for element in _elements_around_members(members[:1]) if element in last)


def _walk(
    root: etree._Element, places: set[_Place], around: set[etree._Element]
) -> Iterator[tuple[_Place, str]]:
    """Yield the members, the outermost elements without members, and loose texts, each with its tag."""
    walker = walk(root)
    for event, element in walker:
        if event == "start" and element in around and (element, "element") not in places:
            yield (element, "text"), _LOOSE_TEXT
            continue
        if event == "start":
            walker.skip_subtree()
            if element.tag not in HIDDEN_TAGS:
                yield (element, "element"), element.tag
            continue
        if element is not root:
            yield (element, "tail"), _LOOSE_TEXT


def _has_words(place: _Place) -> bool:
    element, kind = place
    if kind == "element":
        return any(map(str.isalpha, visible_text(element)))
    text = element.text if kind == "text" else element.tail
    return any(map(str.isalpha, text or ""))
