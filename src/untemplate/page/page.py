"""Page and Node: a page is parsed once, into the places that hold its values.

Bytes are decoded as a browser would. Parsing is done by libxml2's HTML parser, which never reaches the
network nor expands entities; limits keep a hostile page from costing more than its own record. Whoever needs
only the beginning of a page reads no more of it: parsing is most of what a page costs.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from untemplate.errors import PageError

__all__ = ["Limits", "Node", "Page", "nodes_at", "squeeze", "static_text", "visible_text"]

# Elements whose content nobody sees.
HIDDEN_TAGS = frozenset({"script", "style", "template", "iframe", "noframes", "noembed"})

# Elements that do not part the words around them.
INLINE_TAGS = frozenset(
    {
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
    }
    | {
        "kbd",
        "mark",
        "nobr",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
    }
    | {"var", "wbr"}
)

# Attributes that hold values; all others describe structure or behaviour.
VALUE_ATTRIBUTES = frozenset(
    {"alt", "content", "data-original", "data-src", "datetime", "href", "poster", "src", "title", "value"}
)

# What browsers assume of a page that declares no encoding and is not UTF-8.
FALLBACK_ENCODING = "cp1252"

# The encodings of the WHATWG standard by their Python names. Python knows more, some of them dangerous to
# decode what strangers wrote: punycode is quadratic, idna and hex raise, unicode_escape warns.
WEB_ENCODINGS = frozenset(
    {"big5hkscs", "cp866", "cp874", "cp932", "cp949", "euc_jp", "gb18030", "iso2022_jp", "koi8-r", "koi8-u"}
    | {"mac-cyrillic", "mac-roman", "utf-8"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)

# Encodings in which letters of ASCII may stand for other ones, or other bytes for them.
_ESCAPING = frozenset({"iso2022_jp", "utf-16-be", "utf-16-le", "utf-32-be", "utf-32-le"})
# Stands where reading stopped.
_END = "untemplate: the end of what was read"
_END_COMMENT = f"<!--{_END}-->".encode()

_SAFE_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_UNSAFE = re.compile(r"[^\w.\-/\[\]]", re.ASCII)
# libxml2 drops everything after </html>; browsers ignore the tag, and so do we.
_CLOSING_TAGS = re.compile(rb"</(?:[bB][oO][dD][yY]|[hH][tT][mM][lL])\s*>")
# libxml2 stops reading at this depth, also when told that trees are huge.
_PARSER_DEPTH = 2048
# libxml2 compares each attribute of a tag with all before it, about 20 ns each: at most two seconds of it.
_MAX_COMPARISONS = 100_000_000
_MAX_ATTRIBUTES = 10_000  # of one tag: its square is the above
_BOMB = 100_000  # bytes; fewer cannot hold enough attributes of different names to take as long
_FEW_ATTRIBUTES = 64  # tags with no more take no time to speak of
_ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\s>]*+))?+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rb"<[a-zA-Z][^\s/>]*+((?:%b){0,%d})" % (_ATTRIBUTE, _MAX_ATTRIBUTES + 1))
# All up to the next tag that has more than a few attributes.
_SMALL_TAGS = re.compile(
    rb"(?:[^<]++|<(?![a-zA-Z])|<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+(?!%b))*+"
    % (_ATTRIBUTE, _FEW_ATTRIBUTES, _ATTRIBUTE)
)


def squeeze(text: str) -> str:
    """The text with each run of white space made one blank, none at the ends."""
    return " ".join(text.split())


@dataclass(frozen=True, slots=True)
class Limits:
    """How big a page may be before it becomes a record with a reason; what is not read of it does not count."""

    bytes: int = 64 << 20
    elements: int = 4_000_000
    depth: int = 2000


DEFAULT_LIMITS = Limits()


class Node:
    """A place in a page that holds a value: a text node, an attribute such as `img/@src`, or a whole element."""

    __slots__ = ("_path", "element", "kind", "text")

    def __init__(self, element: etree._Element, kind: str, text: str, path: str = "") -> None:
        #: the element that carries it; for a tail, the element (or comment) it follows
        self.element = element
        #: "text", "tail" (text after `element`), "@name" for an attribute, "element" for all its text
        self.kind = kind
        #: entities decoded, white space squeezed
        self.text = text
        self._path = path

    def __repr__(self) -> str:
        return f"Node({self.xpath!r}, {self.text!r})"

    @property
    def path(self) -> str:
        """The tag path without positions, such as `html/body/p/text()` or `html/body/img/@src`."""
        if not self._path:
            above = [self.parent, *self.parent.iterancestors()]
            tags = (element.tag for element in reversed(above))
            self._path = "/".join(tags) if self.kind == "element" else "/".join([*tags, self.node_test])
        return self._path

    @property
    def parent(self) -> etree._Element:
        """The element that contains it."""
        return self.element.getparent() if self.kind == "tail" else self.element

    def with_text(self, text: str) -> Node:
        """The same node for a part of its text."""
        return Node(self.element, self.kind, text, self._path)

    @property
    def is_attribute(self) -> bool:
        return self.kind[0] == "@"

    @property
    def is_text(self) -> bool:
        return self.kind in ("text", "tail")

    @property
    def node_test(self) -> str:
        """What XPath calls such a node: `text()`, `@src`; `element()` for a whole element."""
        return "text()" if self.is_text else "element()" if self.kind == "element" else self.kind

    @property
    def xpath(self) -> str:
        """The absolute XPath that selects exactly this node."""
        return self._xpath_in(element_xpath(self.parent))

    @property
    def numbered_xpath(self) -> str:
        """The same with the number of every step, so that it does not depend on what follows the node."""
        steps = element_xpath(self.parent)[1:].split("/")
        return self._xpath_in("".join([f"/{step}" if step[-1] == "]" else f"/{step}[1]" for step in steps]))

    def _xpath_in(self, parent: str) -> str:
        if self.kind == "element":
            return parent
        if self.is_attribute:
            name = self.kind[1:]
            step = self.kind if _SAFE_NAME.fullmatch(name) else f"@*[name()={name!r}]"
            return f"{parent}/{step}"
        if self.kind == "text":
            return f"{parent}/text()[1]"
        index = bool(self.parent.text) + bool(self.element.tail)
        index += sum(1 for sibling in self.element.itersiblings(preceding=True) if sibling.tail)
        return f"{parent}/text()[{index}]"


def element_xpath(element: etree._Element) -> str:
    """The absolute XPath of an element, written so that odd tag names do no harm."""
    path: str = element.getroottree().getpath(element)
    if not _UNSAFE.search(path):
        return path
    steps: list[str] = []
    while element is not None:
        tag = element.tag
        if _SAFE_NAME.fullmatch(tag):
            before = sum(1 for _ in element.itersiblings(tag, preceding=True))
            several = before or next(element.itersiblings(tag), None) is not None
            steps.append(f"{tag}[{before + 1}]" if several else tag)
        else:
            before = sum(1 for _ in element.itersiblings("*", preceding=True))
            steps.append(f"*[{before + 1}]")
        element = element.getparent()
    return "/" + "/".join(reversed(steps))


def nodes_at(root: etree._Element, xpath: str) -> list[tuple[etree._Element, str]]:
    """The element and the kind of each node that an XPath selects; none if it is no XPath of nodes."""
    try:
        results = root.xpath(xpath, smart_strings=True)
    except etree.XPathError:
        return []
    found: list[tuple[etree._Element, str]] = []
    for result in results if isinstance(results, list) else []:
        if isinstance(result, etree._Element):
            found.append((result, "element"))
        elif isinstance(result, etree._ElementUnicodeResult):
            kind = f"@{result.attrname}" if result.is_attribute else "tail" if result.is_tail else "text"
            found.append((result.getparent(), kind))
    return found


class Page:
    """A URL and its HTML, parsed once and lazily."""

    def __init__(
        self,
        url: str = "",
        html: bytes | str = b"",
        id: str = "",
        fetched: datetime | None = None,
        charset: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        """`id` is the page's name within its source; `charset` is the one its HTTP header gave, if known."""
        self.url = url
        self.html = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        self.id = id or url
        self.fetched = fetched
        self.charset = "utf-8" if isinstance(html, str) else charset
        self.limits = limits

    def __repr__(self) -> str:
        return f"Page({self.id!r}, {len(self.html):,} bytes)"

    @cached_property
    def text(self) -> str:
        """The HTML as text, decoded as a browser would."""
        return decode(self.html, self.charset)

    @cached_property
    def tree(self) -> etree._Element:
        """The root element. Raises PageError when the page cannot be read or is over its limits."""
        return self._parse(self._utf8())

    @property
    def is_parsed(self) -> bool:
        """Whether the tree is at hand."""
        return "tree" in vars(self)

    @property
    def has_plain_letters(self) -> bool:
        """Whether letters of ASCII stand as themselves in the HTML, whatever its encoding."""
        return b"\0" not in self.html and self._encoding not in _ESCAPING

    def read(self, end: int) -> etree._Element | None:
        """The comment that stands where reading stopped, in the tree of the first `end` bytes of the HTML.

        Its ancestors are the elements still open there, and all before it is as in the whole tree. None if the
        bytes end inside a tag, a comment or a script, or cannot be read. The page must have plain letters.
        """
        try:
            root = self._parse(self._utf8(end) + _END_COMMENT)
        except PageError:
            return None
        last = root
        while len(last):
            last = last[-1]
        is_end = last.tag is etree.Comment and last.text == _END
        return last if is_end and root.tag == "html" and root[-1].tag in ("body", "head") else None

    @cached_property
    def _encoding(self) -> str:
        return _find_encoding(self.html, self.charset)

    def _utf8(self, end: int | None = None) -> bytes:
        """The HTML up to its end or to that byte, in UTF-8, which it mostly is already."""
        if len(self.html) > self.limits.bytes:
            raise PageError(f"page is larger than {self.limits.bytes:,} bytes")
        html = self.html[len(BOM_UTF8) if self.html.startswith(BOM_UTF8) else 0 : end]
        # What is all ASCII is the same in every encoding of the web but one, which escapes.
        if html.isascii() and b"\x1b" not in html and b"\0" not in html:
            return html
        if self._encoding != "utf-8" or not _is_utf8(html):
            html = _decode(self.html[:end], self._encoding).encode("utf-8", "replace")
        return html.replace(b"\0", b"")

    def _parse(self, html: bytes) -> etree._Element:
        _refuse_attribute_bombs(html)
        html = _CLOSING_TAGS.sub(
            b" ", html
        )  # a blank, so that no word stands in the tree which the bytes lack
        parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, collect_ids=False)
        try:
            root = etree.fromstring(html, parser)
        except (etree.LxmlError, ValueError) as error:
            if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
                raise PageError("page needs too much memory") from error
            raise PageError(f"page cannot be parsed: {squeeze(str(error))}") from error
        if root is None:
            raise PageError("page is empty")
        depth = min(self.limits.depth, _PARSER_DEPTH - 2)
        if html.count(b"<") > depth and _deeper_than(depth)(root):
            raise PageError(f"page is nested deeper than {self.limits.depth:,} elements")
        may_be_big = len(self.html) > 3 * self.limits.elements
        if may_be_big and root.xpath("count(//*)") > self.limits.elements:
            raise PageError(f"page has more than {self.limits.elements:,} elements")
        return root

    @cached_property
    def nodes(self) -> list[Node]:
        """Everything on the page that holds a value, in document order."""
        return list(_walk(self.tree))

    @cached_property
    def title(self) -> str:
        """The text of the title element, squeezed."""
        return squeeze(self.tree.findtext(".//title") or "")

    def release(self) -> None:
        """Forget what was parsed, to free memory; it is parsed again when asked for."""
        for name in ("text", "tree", "nodes", "title", "_encoding"):
            self.__dict__.pop(name, None)


@cache
def _deeper_than(depth: int) -> etree.XPath:
    """Whether any element is nested deeper; level by level, so linear in the elements."""
    return etree.XPath(f"boolean({'/*' * (depth + 1)})")


def decode(html: bytes, charset: str | None = None) -> str:
    """Decode as browsers do: byte-order mark, HTTP charset, meta, UTF-8 if valid, else the usual fallback."""
    return _decode(html, _find_encoding(html, charset))


def _find_encoding(html: bytes, charset: str | None) -> str:
    encoding, _ = read_bom(html)
    if encoding is not None:
        return encoding
    declared = html_body_declared_encoding(html)
    if declared and declared.startswith("utf-16"):  # read as ASCII, so it cannot be true
        declared = "utf-8"
    for encoding in (_resolve(charset), declared):
        if encoding in WEB_ENCODINGS or encoding in ("utf-16-le", "utf-16-be"):
            return encoding
    return "utf-8" if _is_utf8(html) else FALLBACK_ENCODING


def _decode(html: bytes, encoding: str) -> str:
    _, mark = read_bom(html)
    return html[len(mark or b"") :].decode(encoding, "replace")


def _is_utf8(html: bytes) -> bool:
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _resolve(charset: str | None) -> str | None:
    encoding = resolve_encoding(charset) if charset else None
    return "utf-16-le" if encoding == "utf-16" else encoding


def _refuse_attribute_bombs(html: bytes) -> None:
    if len(html) < _BOMB:
        return
    comparisons = place = 0
    while small := _SMALL_TAGS.match(html, place):
        tag = _TAG.match(html, small.end())
        if tag is None:
            return
        comparisons += len(_ATTRIBUTES.findall(tag[1])) ** 2
        if comparisons > _MAX_COMPARISONS:
            raise PageError(f"page has tags with more than {_MAX_ATTRIBUTES:,} attributes")
        place = tag.end()


def _walk(root: etree._Element) -> Iterator[Node]:
    paths: list[str] = [""]  # tag paths of the open elements, each with a slash at its end
    hidden: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            path = f"{paths[-1]}{element.tag}/"
            paths.append(path)
            if hidden is not None:
                continue
            if element.tag in HIDDEN_TAGS:
                hidden = element
                continue
            for name, value in element.attrib.items():
                if name in VALUE_ATTRIBUTES and (text := squeeze(value)):
                    yield Node(element, "@" + name, text, f"{path}@{name}")
            if element.text and (text := squeeze(element.text)):
                yield Node(element, "text", text, path + "text()")
            continue
        if event == "end":
            paths.pop()
            if hidden is element:
                hidden = None
        if hidden is None and element.tail and (text := squeeze(element.tail)):
            yield Node(element, "tail", text, paths[-1] + "text()")


def visible_text(element: etree._Element) -> str:
    """All visible text of an element as a browser shows it: only blocks and line breaks part words."""
    parts: list[str] = []
    hidden = None
    for event, inside in etree.iterwalk(element, events=("start", "end", "comment", "pi")):
        if event == "start":
            if hidden is None and inside.tag in HIDDEN_TAGS:
                hidden = inside
            if hidden is None:
                parts += ("" if inside.tag in INLINE_TAGS else " ", inside.text or "")
            continue
        if event == "end" and hidden is None:
            parts.append("" if inside.tag in INLINE_TAGS else " ")
        if inside is hidden:
            hidden = None
        if hidden is None and inside is not element:
            parts.append(inside.tail or "")
    return squeeze("".join(parts))


def static_text(pages: Iterable[Page], share: float = 0.8) -> frozenset[tuple[str, str]]:
    """The (path, text) pairs that stand on at least this share of the pages: the template's own words.

    Linear in the number of nodes. Pages that cannot be read do not count.
    """
    counts: Counter[tuple[str, str]] = Counter()
    total = 0
    for page in pages:
        try:
            nodes = page.nodes
        except PageError:
            continue
        total += 1
        counts.update({(node.path, node.text) for node in nodes})
    return frozenset(pair for pair, count in counts.items() if count >= share * total and total > 1)
