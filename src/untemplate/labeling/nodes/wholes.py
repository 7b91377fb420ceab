"""Values that span several nodes, such as an address with a line break: whole elements besides their texts."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from untemplate.page import Node, visible_text

__all__ = ["find_wholes"]

# Elements with more texts, or longer ones, are parts of a page and not a value.
MAX_TEXTS = 12
MAX_LENGTH = 1000


class _Content:
    """What was found inside of an element so far."""

    __slots__ = ("count", "first", "last", "length")

    def __init__(self, first: int) -> None:
        self.first, self.last, self.count, self.length = first, first, 0, 0


def find_wholes(nodes: Sequence[Node]) -> list[tuple[Node, int, int]]:
    """The elements that hold several texts and not much more, with the numbers of the first and the last of them.

    Of elements around the same texts the innermost. Each element is passed once for every text that it may hold.
    """
    contents: dict[etree._Element, _Content | None] = {}
    for number, node in enumerate(nodes):
        if not node.is_text:
            continue
        element = node.parent
        while element is not None:
            content = contents.setdefault(element, _Content(number))
            if content is None:
                break
            content.last, content.count, content.length = (
                number,
                content.count + 1,
                content.length + len(node.text),
            )
            if content.count > MAX_TEXTS or content.length > MAX_LENGTH:
                _give_up(element, contents)
                break
            element = element.getparent()
    spans: dict[tuple[int, int], etree._Element] = {}
    for element, content in contents.items():
        if content is not None and content.count > 1:
            spans.setdefault((content.first, content.last), element)
    return [
        (Node(element, "element", visible_text(element)), first, last)
        for (first, last), element in sorted(spans.items(), key=lambda span: span[0])
    ]


def _give_up(element: etree._Element | None, contents: dict[etree._Element, _Content | None]) -> None:
    """An element that holds too much, and so do all around it."""
    while element is not None and contents.get(element, element) is not None:
        contents[element] = None
        element = element.getparent()
