"""Titles of sections between the members of a list, and numbers that count its members.

A recipe may have the steps of the dough, then those of the filling, each under a title. Whether titles are values is
up to those who label; so both are candidates. Numbers of steps are values for nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from lxml import etree

from untemplate.page import Node, visible_text
from untemplate.page.locating import letters_and_digits

__all__ = ["TextRange", "find_titled_members", "node_of_member", "strip_numbers"]

# A list has at least this many members, and at most this share of them begin a section.
MIN_MEMBERS, MAX_TITLE_SHARE = 3, 0.7
# A longer text is no title.
MAX_TITLE_LENGTH = 100
# Members of a list that numbers may count: with a word before or a sign after each number, and without.
MIN_MARKED, MIN_PLAIN_NUMBERED = 2, 3

_NUMBERED = re.compile(r"([^\W\d_]{1,12} )?(\d{1,2})(\s?[.:)–-])?\s*(?=[^\W\d_]|[(\"'“„«¡¿])")
# `Step 2` counts a member, and is no title.
_NUMBER_ALONE = re.compile(r"(?:[^\W\d_]{1,12} ?)?\d{1,2}\W?")


@dataclass(frozen=True)
class TextRange:
    """Where the texts of an element are among all texts of its page.

    Attributes:
        first: the number of the first text.
        count: how many texts it has.
        length: the length of all of them.
    """

    first: int
    count: int
    length: int

    @property
    def end(self) -> int:
        """The number of the first text after the element."""
        return self.first + self.count


def find_titled_members(
    members: Sequence[etree._Element],
    texts: Sequence[Node],
    ranges: dict[etree._Element, TextRange],
    slot_of: Callable[[etree._Element], str],
) -> tuple[etree._Element, ...]:
    """Return the members of a list with the titles of its sections, in page order; nothing if it has no sections.

    A title is a short text between two members. The first section has one if it looks like the others.

    Args:
        members: the elements, in page order.
        texts: all texts of the page.
        ranges: the texts of each element that may be a value.
        slot_of: names what an element looks like.
    """
    if len(members) < MIN_MEMBERS:
        return ()
    titles: dict[etree._Element, etree._Element] = {}
    for member, following in pairwise(members):
        title = next(_elements_before(ranges[following].first, texts, ranges), None)
        if title is not None and _separates(title, member, following, ranges):
            titles[following] = title
    if not titles or len(titles) > MAX_TITLE_SHARE * len(members):
        return ()
    slots = {slot_of(title) for title in titles.values()}
    before = _elements_before(ranges[members[0]].first, texts, ranges)
    first_title = next((element for element in before if slot_of(element) in slots), None)
    if first_title is not None:
        titles[members[0]] = first_title
    return tuple(_merge(members, titles))


def _separates(
    title: etree._Element,
    member: etree._Element,
    following: etree._Element,
    ranges: dict[etree._Element, TextRange],
) -> bool:
    """Return True if an element between two members may be the title of the second one's section.

    What is in the same item as the first one is a note on it.
    """
    if ranges[title].first < ranges[member].end or not _may_be_title(visible_text(title)):
        return False
    around_following = set(following.iterancestors())
    around_member = {ancestor for ancestor in member.iterancestors() if ancestor not in around_following}
    return not any(ancestor in around_member for ancestor in title.iterancestors())


def _merge(
    members: Sequence[etree._Element], titles: dict[etree._Element, etree._Element]
) -> Iterator[etree._Element]:
    for member in members:
        if member in titles:
            yield titles[member]
        yield member


def _may_be_title(text: str) -> bool:
    return 0 < len(text) <= MAX_TITLE_LENGTH and not _NUMBER_ALONE.fullmatch(text)


def _elements_before(
    end: int, texts: Sequence[Node], ranges: dict[etree._Element, TextRange]
) -> Iterator[etree._Element]:
    """Yield the elements that end right before a text, the innermost first."""
    element: etree._Element | None = texts[end - 1].parent if end else None
    while element is not None and element in ranges and ranges[element].end == end:
        yield element
        element = element.getparent()


def strip_numbers(texts: Sequence[str]) -> tuple[str, ...]:
    """Return texts without the numbers that count them; as they are if not all are counted.

    Counting may begin again, since sections count by themselves; but plain numbers may be amounts, so they may not.

    >>> strip_numbers(["Step 1 Peel.", "Step 2 Boil.", "Step 1 Serve."])
    ('Peel.', 'Boil.', 'Serve.')
    >>> strip_numbers(["1 onion", "2 carrots"])
    ('1 onion', '2 carrots')
    """
    matches = [match for match in map(_NUMBERED.match, texts) if match]
    if len(matches) < len(texts) or not _count_members(matches):
        return tuple(texts)
    return tuple(text[match.end() :] for text, match in zip(texts, matches, strict=True))


def _count_members(matches: Sequence[re.Match[str]]) -> bool:
    """Return True if numbers at the start of texts count these texts, rather than being amounts."""
    is_marked = all(match[1] or match[3] for match in matches)
    if len(matches) < (MIN_MARKED if is_marked else MIN_PLAIN_NUMBERED):
        return False
    numbers = [int(match[2]) for match in matches]
    return all(_follows(*pair, is_marked) for pair in pairwise([0, *numbers]))


def _follows(number: int, following: int, may_restart: bool) -> bool:
    return following == number + 1 or (may_restart and following == 1)


def node_of_member(element: etree._Element, text: str) -> Node:
    """Return the innermost element inside of a member that has a text of it; else the member with that text."""
    wanted = letters_and_digits(text)
    innermost = element
    for inner in element.iterdescendants(etree.Element):
        if letters_and_digits(visible_text(inner)) == wanted:
            innermost = inner
    return Node(innermost, "element", text)
