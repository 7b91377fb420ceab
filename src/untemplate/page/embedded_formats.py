"""The formats of embedded data: JSON and application state in scripts, data marked in tags, and HTML inside texts.

`embedded_data.py` collects what these readers return. Pages put JSON into scripts by template, so it comes with
comments, trailing commas, raw line breaks, HTML entities, or several objects in a row. What cannot be repaired is
skipped: it costs nothing but its own values. Of microdata and RDFa, only what vocabularies such as schema.org need is
read: types, properties, and items inside items. Prefixes, languages and `itemref` are not.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson
import re2
from lxml import etree

from untemplate.native import core, is_native
from untemplate.page.dom import HIDDEN_TAGS, squeeze, walk

__all__ = [
    "MAX_SCRIPT_LENGTH",
    "html_lines",
    "html_to_text",
    "parse_assignments",
    "parse_flight",
    "parse_json",
    "read_meta",
    "read_microdata",
    "read_rdfa",
    "resolve_nuxt",
]

MAX_SCRIPT_LENGTH = 5_000_000
"""Longer scripts are skipped: the largest of 300 sites has 2.4 million characters."""

# Shorter objects assigned to a variable are settings, not data.
MIN_STATE_LENGTH = 60
# Assigned values of one script that are read.
MAX_ASSIGNMENTS = 40
# Characters that may be scanned in vain for assigned values, so that hostile scripts take linear time.
MAX_SCANNED = 2 * MAX_SCRIPT_LENGTH

# Marked elements of a page that are read.
MAX_MARKED = 20_000
# Meta tags of a page that are read.
MAX_META = 2_000
# Longer texts are not values.
MAX_TEXT = 20_000

# Elements whose value is in an attribute.
_VALUE_ATTRIBUTE = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "track", "video"), "src"),
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("data", "meter"), "value"),
    "meta": "content",
    "object": "data",
    "time": "datetime",
}


_WRAPPING = re.compile(
    r"^\s*(?:<!--|(?://|/\*)?\s*<!\[CDATA\[(?:\s*\*/)?)|(?:-->|(?://|/\*)?\s*\]\]>(?:\s*\*/)?)\s*$"
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
# These run on texts of strangers, some of which are made to be slow: RE2 takes linear time.
_COMMENTS = re2.compile(r"(?s)/\*.*?\*/|(?m:^\s*//.*$)")
_TRAILING_COMMA = re2.compile(r",\s*([}\]])")
_NO_VALUE = re2.compile(r"([:,\[])\s*(?:undefined|NaN|-?Infinity)\b")
_BETWEEN_OBJECTS = re2.compile(r"}\s*[,;]?\s*{")

_ASSIGNED = re.compile(r"=\s*(?:(?=[\[{])|JSON\.parse\(\s*(?=[\"']))")
_NAME_BEFORE = re.compile(r"([A-Za-z_$][\w$]*)(?:[\"']\s*\])?\s*$")
_SINGLE_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE_OR_QUOTE = re.compile(r"\\(.)|\"", re.DOTALL)
# Chunks of a page that Next.js streams, and the rows in them.
_FLIGHT_PUSH = re.compile(r"__next_f\.push\(\s*(?=\[)")
_FLIGHT_ROW = re.compile(r"(?m)^[0-9a-f]{1,8}:(?=[\[{])")

_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^<>]*>")
_BLOCK_TAGS = frozenset(
    {
        *(
            "article",
            "blockquote",
            "br",
            "dd",
            "div",
            "dt",
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "li",
            "ol",
            "p",
        ),
        *("section", "td", "tr", "ul"),
    }
)
# RE2, since texts of strangers may be made to be slow.
_HIDDEN = re2.compile(r"(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>")
_CONTROL_IN_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_LINE_BREAK = re.compile(r"[\r\n\u2028]+")

_decoder = json.JSONDecoder(strict=False)


def parse_json(text: str) -> Any:
    """Return the data in a JSON text that may be broken; several objects as a list; None if it cannot be read.

    >>> parse_json('/* ours */ {"name": "Grill", "tags": ["bar",],};')
    {'name': 'Grill', 'tags': ['bar']}
    """
    if len(text) > MAX_SCRIPT_LENGTH or not text or text.isspace():
        return None
    for repaired in _repair(text):
        try:
            return orjson.loads(repaired)
        except orjson.JSONDecodeError:
            continue
    return None


def _repair(text: str) -> Iterator[str]:
    """Yield the text as it is, then more and more changed, until it is JSON."""
    yield text
    text = _WRAPPING.sub("", _WRAPPING.sub("", text.strip())).strip().rstrip(";")
    yield text
    text = _CONTROL.sub(" ", text)
    yield text
    # orjson refuses lone surrogates, and RE2 cannot read them.
    text = text.encode("utf-8", "replace").decode()
    text = _NO_VALUE.sub(r"\1null", _TRAILING_COMMA.sub(r"\1", _COMMENTS.sub("", text))).replace("\\'", "'")
    yield text
    if "}" in text:
        yield f"[{_BETWEEN_OBJECTS.sub('},{', text)}]"
    if "&quot;" in text or "&#34;" in text:
        yield html.unescape(text)


def parse_assignments(script: str) -> Iterator[tuple[str, Any]]:
    """Yield the objects and lists that a script assigns to variables, with the variable's last name.

    >>> list(parse_assignments('window.__STATE__ = {"recipe": {"name": "Soup", "author": "Ann", "minutes": "40"}};'))
    [('__STATE__', {'recipe': {'name': 'Soup', 'author': 'Ann', 'minutes': '40'}})]
    """
    if len(script) > MAX_SCRIPT_LENGTH:
        return
    end = count = scanned = 0
    for match in _ASSIGNED.finditer(script):
        if match.start() < end:
            continue
        if count >= MAX_ASSIGNMENTS or scanned > MAX_SCANNED:
            return
        name = _NAME_BEFORE.search(script, max(0, match.start() - 80), match.start())
        if name is None:
            continue
        value, end_of_value = _decode_at(script, match.end())
        if value is None:
            scanned += end_of_value - match.end()
        elif end_of_value - match.end() >= MIN_STATE_LENGTH:
            end = end_of_value
            count += 1
            yield name[1], value


def _decode_at(script: str, start: int) -> tuple[Any, int]:
    """Return the object, the list, or the JSON in a string that begins there, and where it ends; None without one."""
    if script[start] == "'":
        literal = _SINGLE_QUOTED.match(script, start)
        if literal is None:
            return None, len(script)
        body = _ESCAPE_OR_QUOTE.sub(_as_double_quoted, literal[1])
        return _parse_string(f'"{body}"'), literal.end()
    try:
        value, end = _decoder.raw_decode(script, start)
    except json.JSONDecodeError as error:
        return None, error.pos
    except RecursionError:
        return None, len(script)
    # The strict parser reads it again: texts with halves of characters cannot be written to files.
    return parse_json(value if isinstance(value, str) else script[start:end]), end


def _as_double_quoted(match: re.Match[str]) -> str:
    """Return an escape or a quotation mark of a single-quoted text as a double-quoted text writes it."""
    if match[1] is None:
        return '\\"'
    return "'" if match[1] == "'" else match[0]


def _parse_string(literal: str) -> Any:
    """Return the data in the JSON that a string literal contains."""
    try:
        return parse_json(orjson.loads(literal))
    except orjson.JSONDecodeError:
        return None


def parse_flight(scripts: list[str]) -> list[Any]:
    """Return the objects and lists in the rows that Next.js streams by `self.__next_f.push([1, "…"])`."""
    chunks: list[str] = []
    for script in scripts:
        for match in _FLIGHT_PUSH.finditer(script):
            pushed, _ = _decode_at(script, match.end())
            if isinstance(pushed, list) and len(pushed) > 1 and isinstance(pushed[1], str):
                chunks.append(pushed[1])
    stream = "".join(chunks)[:MAX_SCRIPT_LENGTH]
    rows: list[Any] = []
    end = scanned = 0
    for match in _FLIGHT_ROW.finditer(stream):
        if match.start() < end or scanned > MAX_SCANNED:
            continue
        row, end_of_row = _decode_at(stream, match.end())
        if row is None:
            scanned += end_of_row - match.end()
        else:
            rows.append(row)
            end = end_of_row
    return rows


def resolve_nuxt(content: Any) -> Any:
    """Return the state of Nuxt 3 as data: its objects and lists name their parts by the index in one long list.

    >>> resolve_nuxt([{"recipe": 1}, {"name": 2, "tags": 3}, "Soup", [4], "hot"])
    {'recipe': {'name': 'Soup', 'tags': ['hot']}}
    """
    if not isinstance(content, list):
        return content
    resolved = list(map(_empty_like, content))

    def part_at(index: Any) -> Any:
        is_index = isinstance(index, int) and 0 <= index < len(resolved)
        return resolved[index] if is_index else None

    for part, target in zip(content, resolved, strict=True):
        if isinstance(part, list):
            # `["Reactive", 1]` wraps one part.
            target += map(part_at, part)
        elif isinstance(part, dict):
            target.update((key, part_at(index)) for key, index in part.items())
    return resolved[0] if resolved else None


def _empty_like(part: Any) -> Any:
    """Return an empty list or object to fill for one of these, and another part as it is."""
    return type(part)() if isinstance(part, list | dict) else part


@dataclass(frozen=True)
class _Syntax:
    """The attributes of a way to mark data: what begins an item, its type, and the name of a property."""

    scope: str
    type: str
    property_: str


_MICRODATA = _Syntax("itemscope", "itemtype", "itemprop")
_RDFA = _Syntax("typeof", "typeof", "property")


def read_microdata(tree: etree._Element) -> list[dict[str, Any]]:
    """Return the top items of a page's microdata.

    >>> from lxml import etree
    >>> html = '<p itemscope itemtype="http://schema.org/Book"><b itemprop="name">Emma</b></p>'
    >>> read_microdata(etree.HTML(html))
    [{'@type': ['http://schema.org/Book'], 'name': ['Emma']}]
    """
    return _read_items(tree, _MICRODATA)


def read_rdfa(tree: etree._Element) -> list[dict[str, Any]]:
    """Return the top items of a page's RDFa."""
    return _read_items(tree, _RDFA)


def read_meta(tree: etree._Element) -> dict[str, list[str]]:
    """Return the contents of a page's meta tags by name, such as `og:title`."""
    if core and is_native(tree):
        return dict(core.meta_contents(tree, MAX_META))
    contents: dict[str, list[str]] = {}
    for element in islice(tree.iter("meta"), MAX_META):
        content = element.get("content")
        name = content and (element.get("property") or element.get("name"))
        if name and not content.isspace():
            contents.setdefault(squeeze(name).lower(), []).append(content)
    return contents


def _read_items(tree: etree._Element, syntax: _Syntax) -> list[dict[str, Any]]:
    """Return the items that are not inside another one, in document order."""
    items: dict[etree._Element, dict[str, Any]] = {}
    tops: list[dict[str, Any]] = []
    for element in _marked_elements(tree, syntax)[:MAX_MARKED]:
        owner = next((items[above] for above in element.iterancestors() if above in items), None)
        if element.get(syntax.scope) is not None:
            item: dict[str, Any] = {"@type": (element.get(syntax.type) or "").split()}
            items[element] = item
            if owner is None:
                tops.append(item)
        if owner is not None:
            value = items[element] if element in items else _value_of(element)
            for name in _names_of(element, syntax):
                owner.setdefault(name, []).append(value)
    return tops


def _marked_elements(tree: etree._Element, syntax: _Syntax) -> list[etree._Element]:
    """Return the elements that begin an item or are a property, in document order."""
    if is_native(tree):
        found: list[etree._Element] = tree.elements_with(syntax.scope, syntax.property_)
    else:
        found = tree.xpath(f".//*[@{syntax.scope} or @{syntax.property_}]")
    return found


def _names_of(element: etree._Element, syntax: _Syntax) -> Iterator[str]:
    """Yield the properties that an element has, without the address or the prefix of the vocabulary."""
    for name in (element.get(syntax.property_) or "").split():
        short = name.rstrip("/#").rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]
        if short and not short.startswith("@"):
            yield short


def _value_of(element: etree._Element) -> str:
    """Return the value of a property: an attribute such as `content` or `href`, or the text of the element.

    The text of an element with others inside is its HTML: blocks and line breaks in it may separate values.
    """
    attribute = _VALUE_ATTRIBUTE.get(element.tag, "content")
    if (value := element.get("content") or element.get(attribute)) is not None:
        return squeeze(value)
    if not len(element):
        return squeeze(element.text or "")
    if is_native(element):
        markup: str = element.html_string(MAX_TEXT)
        return markup
    return "".join(_html_parts(element))[:MAX_TEXT]


def _html_parts(top: etree._Element) -> Iterator[str]:
    """Yield the HTML of an element without attributes, comments and scripts."""
    walker = walk(top)
    for event, element in walker:
        is_hidden = element.tag in HIDDEN_TAGS
        if event == "start":
            if is_hidden:
                walker.skip_subtree()
            else:
                yield f"<{element.tag}>{html.escape(element.text or '')}"
            continue
        if event == "end" and not is_hidden:
            yield f"</{element.tag}>"
        if element is not top:
            yield html.escape(element.tail or "")


def html_to_text(text: str) -> str:
    """Return a text of embedded data as a page would show it: without tags, entities decoded, white space squeezed.

    >>> html_to_text("<p>Salt &amp;amp; <b>pep</b>per</p>")
    'Salt & pepper'
    """
    return squeeze(_without_tags(text))


def html_lines(text: str) -> list[str]:
    r"""Return the lines of a text of embedded data: blocks, line breaks and raw line feeds separate them.

    >>> html_lines("<li>Chop.</li><li>Cook<br>slowly.</li>\nServe.")
    ['Chop.', 'Cook', 'slowly.', 'Serve.']
    """
    return list(filter(None, map(squeeze, _LINE_BREAK.split(_without_tags(text)))))


def _without_tags(text: str) -> str:
    """Return the text with a line feed for each block tag, and nothing for other tags and control characters."""
    if "&" in text:
        text = html.unescape(html.unescape(text))
    if "<" in text:
        text = _TAG.sub(_replace_tag, _HIDDEN.sub("", text))
    # Most texts have nothing but printable characters, which is faster to test.
    return text if text.isprintable() else _CONTROL_IN_TEXT.sub(" ", text)


def _replace_tag(match: re.Match[str]) -> str:
    return "\n" if match[2] and match[2].lower() in _BLOCK_TAGS else ""
