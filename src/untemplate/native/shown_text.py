"""What browsers show of a page, as far as tags and attributes decide it; and names that XPath can contain."""

from __future__ import annotations

import re

__all__ = [
    "CROSSED_OUT_TAGS",
    "HIDDEN_TAGS",
    "HIDING_STYLES",
    "INLINE_TAGS",
    "SAFE_NAME",
    "TITLE_TAGS",
    "UNSHOWN_TAGS",
    "hides_element",
]

HIDDEN_TAGS = frozenset({"script", "style", "template", "iframe", "noframes", "noembed"})
"""Browsers show nothing of what these elements contain."""

UNSHOWN_TAGS = HIDDEN_TAGS | {"noscript"}
"""Elements whose own text browsers do not show, scripts being on."""

CROSSED_OUT_TAGS = frozenset({"del", "s", "strike"})
"""Elements that show their text crossed out: a former price."""

TITLE_TAGS = frozenset({"b", "strong", "h1", "h2", "h3", "h4", "h5", "h6", "dt", "legend", "caption"})
"""Elements that show a text as a title."""

INLINE_TAGS = frozenset(
    {
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em"),
        *("font", "i", "ins", "kbd", "mark", "nobr", "q", "s", "samp", "small", "span", "strike", "strong"),
        *("sub", "sup", "time", "tt", "u", "var", "wbr"),
    }
)
"""Elements that do not separate the words around them."""

HIDING_STYLES = ("display:none", "visibility:hidden", "visibility:collapse")
"""How the style of an element says that nothing of it is shown; blanks may be around the colon."""

SAFE_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
"""Names that XPath can contain as they are. The HTML parser also accepts names such as `a"b`."""

_HIDING_STYLE = re.compile(
    r"(?i)(?:^|;)\s*(?:" + "|".join(style.replace(":", r"\s*:\s*") for style in HIDING_STYLES) + ")"
)


def hides_element(style: str) -> bool:
    """Return True if this `style` attribute hides its element.

    >>> hides_element("color: red; display : none")
    True
    """
    return _HIDING_STYLE.search(style) is not None
