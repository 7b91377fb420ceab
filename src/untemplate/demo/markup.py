"""Writing HTML: elements, nested wrappers, and the sloppiness of real pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

__all__ = ["element", "escape_text", "fence", "roughen", "wrap"]

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)((?:\s[^<>]*)?)>")
_QUOTED = re.compile(r'="([\w-]+)"')


def escape_text(text: str) -> str:
    """Text as it stands between tags."""
    return escape(text, quote=False)


def element(tag: str, content: str = "", /, **attributes: str) -> str:
    """An element. Attributes that are empty are left out; `class_` is `class`, `data_src` is `data-src`."""
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value
    )
    if tag in _VOID:
        return f"<{tag}{given}>"
    return f"<{tag}{given}>{content}</{tag}>"


def wrap(content: str, tags: Sequence[str], /, **attributes: str) -> str:
    """Content within nested elements, outermost first, the innermost with the attributes.

    "table" stands for a table of one cell.
    """
    for index, tag in enumerate(reversed(tags)):
        given = attributes if index == 0 else {}
        if tag == "table":
            cell = element("td", content, **given)
            content = element("table", element("tr", cell), width="100%", border="0")
        else:
            content = element(tag, content, **given)
    return content


def fence(kind: str, content: str) -> str:
    """Noise between comments, as ad servers and caches leave them: what changes from visit to visit."""
    return f"<!-- {kind} -->{content}<!-- /{kind} -->" if content else ""


def roughen(html: str, unclosed: tuple[str, ...], shouted: bool) -> str:
    """Leave out closing tags that browsers imply, and write tags in capitals, attributes without quotes."""
    if unclosed:
        html = re.sub(rf"</(?:{'|'.join(unclosed)})>(?=\s*<)", "", html)
    if shouted:
        html = _TAG.sub(_shout, html)
    return html


def _shout(tag: re.Match[str]) -> str:
    attributes = _QUOTED.sub(r"=\1", tag[3])
    return f"<{tag[1]}{tag[2].upper()}{attributes}>"
