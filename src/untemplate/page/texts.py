"""The text of elements: white space squeezed, and only what a visitor can read."""

from __future__ import annotations

from lxml import etree

__all__ = ["HIDDEN_TAGS", "INLINE_TAGS", "squeeze", "visible_text"]

# Browsers show nothing of what these elements contain.
HIDDEN_TAGS = frozenset({"script", "style", "template", "iframe", "noframes", "noembed"})

# Elements that do not separate the words around them.
INLINE_TAGS = frozenset(
    {
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "ins", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong"),
        *("sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
_NOT_SEPARATING = INLINE_TAGS | HIDDEN_TAGS


def squeeze(text: str) -> str:
    """Return the text with each run of white space replaced by one blank, and none at the ends.

    >>> squeeze(" Chimichurri\\n   Grill ")
    'Chimichurri Grill'
    """
    return " ".join(text.split())


def visible_text(element: etree._Element) -> str:
    """Return all visible text of an element as a browser shows it.

    Block elements and line breaks separate words; inline elements such as `<b>` do not.

    >>> from lxml import etree
    >>> visible_text(etree.HTML("<p>1<b>2</b>3<br>4<script>5</script></p>"))
    '123 4'
    """
    parts: list[str] = []
    walker = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, inside in walker:
        if event == "start":
            if inside.tag in HIDDEN_TAGS:
                walker.skip_subtree()
            else:
                parts += ("" if inside.tag in INLINE_TAGS else " ", inside.text or "")
            continue
        if event == "end" and inside.tag not in _NOT_SEPARATING:
            parts.append(" ")
        if inside is not element:
            parts.append(inside.tail or "")
    return squeeze("".join(parts))
