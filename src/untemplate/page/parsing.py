"""Bytes to tree: decode as browsers do, parse with libxml2, and refuse pages over their limits.

The parser never reaches the network nor expands entities. The limits keep a hostile page from costing more than its
own record.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass
from functools import cache

from lxml import etree
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

from untemplate.errors import PageError
from untemplate.native import core
from untemplate.page.dom import squeeze

__all__ = [
    "DEFAULT_LIMITS",
    "MAX_PATH_CHARACTERS",
    "Limits",
    "decode",
    "find_encoding",
    "parse_html",
    "parse_natively",
    "to_utf8",
]

# What browsers assume for a page that declares no encoding and is not UTF-8.
FALLBACK_ENCODING = "cp1252"

# The encodings of the WHATWG standard by their Python names. Python has more, and some are dangerous for bytes that
# strangers wrote: punycode is quadratic, idna and hex raise, unicode_escape warns.
WEB_ENCODINGS = frozenset(
    {"big5hkscs", "cp866", "cp874", "cp932", "cp949", "euc_jp", "gb18030", "iso2022_jp", "koi8-r", "koi8-u"}
    | {"mac-cyrillic", "mac-roman", "utf-8"}
    | {f"cp{number}" for number in range(1250, 1259)}
    | {f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)}
)
# libxml2 drops everything after </html>; browsers ignore the tag, and so do we.
_CLOSING_TAG = re.compile(rb"</(?:[bB][oO][dD][yY]|[hH][tT][mM][lL])\s*>")
# Elements that the parser may nest around those of the page: `html`, `head` or `body`, and `p`.
_IMPLIED_ELEMENTS = 8
# libxml2 stops at this depth, even with `huge_tree`.
_PARSER_DEPTH = 2048

MAX_PATH_CHARACTERS = 20_000_000
"""Characters of all different tag paths of a page together, of which nodes and learning keep copies. The pages of our
data have a thousandth of it."""

# Pages that are no deeper, with names that are no longer, have paths of at most this many characters.
_USUAL_DEPTH = 40
_LONG_NAME = re.compile(rb"<[a-zA-Z][^\s/>]{24}")
_MAX_USUAL_PATH = _USUAL_DEPTH * 25

# Comments that follow each other without an element between them; templates write a few.
_MAX_COMMENT_RUN = 200

# libxml2 compares each attribute of a tag with all before it, about 20 ns each before version 2.14. We allow two
# seconds of that. The native core counts in the same way.
_MAX_COMPARISONS = 100_000_000
_MAX_ATTRIBUTES = 10_000  # in one tag: the square root of the above
_MIN_BOMB_BYTES = 100_000  # a smaller page has no room for that many attributes with different names
_FEW_ATTRIBUTES = 64  # tags with no more are parsed in negligible time
_ATTRIBUTE = rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"?+|'[^']*+'?+|[^\s>]*+))?+"
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_TAG = re.compile(rb"<[a-zA-Z][^\s/>]*+((?:%b){0,%d})" % (_ATTRIBUTE, _MAX_ATTRIBUTES + 1))
# Everything up to the next tag that has more than a few attributes. Most tags are written in the usual way, which is
# tried first because it is faster.
_USUAL_TAG = rb"<[a-zA-Z][a-zA-Z0-9]*+(?:\s++[\w:.-]++(?:=\"[^\"]*+\")?+){0,%d}+\s*+/?+>" % _FEW_ATTRIBUTES
_SMALL_TAGS = re.compile(
    rb"(?:[^<]*+(?:</|%b|<(?![a-zA-Z])|<[a-zA-Z][^\s/>]*+(?:%b){0,%d}+(?!%b)))*+[^<]*+"
    % (_USUAL_TAG, _ATTRIBUTE, _FEW_ATTRIBUTES, _ATTRIBUTE)
)


@dataclass(frozen=True, slots=True)
class Limits:
    """How big a page may be. A page over a limit raises `PageError`, which becomes a record with that reason.

    Args:
        bytes: the size of the HTML
        elements: the number of elements
        depth: how many elements may be nested in each other

    Example:
        >>> from untemplate import Limits, Page
        >>> Page(html="<p>" * 20, limits=Limits(bytes=50)).tree
        Traceback (most recent call last):
            ...
        untemplate.errors.PageError: page is larger than 50 bytes
    """

    bytes: int = 64 << 20
    elements: int = 4_000_000
    depth: int = 2000


DEFAULT_LIMITS = Limits()


def decode(html: bytes, charset: str | None = None) -> str:
    """Return the HTML as text, decoded as browsers do.

    The encoding is the first that applies: byte-order mark, `charset` of the HTTP header, `<meta>`, UTF-8 if the
    bytes are valid UTF-8, else Windows-1252.
    """
    return _decode_as(html, find_encoding(html, charset))


def find_encoding(html: bytes, charset: str | None) -> str:
    """Return the Python name of the encoding that a browser would use for this page."""
    encoding, _ = read_bom(html)
    if encoding is not None:
        return encoding
    declared = html_body_declared_encoding(html)
    if declared and declared.startswith("utf-16"):  # we read this as ASCII, so it cannot be true
        declared = "utf-8"
    for encoding in (_resolve(charset), declared):
        if encoding in WEB_ENCODINGS or encoding in ("utf-16-le", "utf-16-be"):
            return encoding
    return "utf-8" if _is_utf8(html) else FALLBACK_ENCODING


def to_utf8(html: bytes, encoding: str) -> bytes:
    """Return the HTML in UTF-8, without byte-order mark and NUL bytes."""
    body = html.removeprefix(BOM_UTF8)
    if encoding != "utf-8" or not _is_utf8(body):
        body = _decode_as(html, encoding).encode("utf-8", "replace")
    return body.replace(b"\0", b"")


def _decode_as(html: bytes, encoding: str) -> str:
    """Return the HTML as text, without byte-order mark; bytes that are invalid become U+FFFD."""
    _, mark = read_bom(html)
    return html[len(mark or b"") :].decode(encoding, "replace")


def _is_utf8(html: bytes) -> bool:
    """Return True if the bytes are valid UTF-8."""
    if core:
        is_valid: bool = core.is_utf8(html)
        return is_valid
    try:
        html.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _resolve(charset: str | None) -> str | None:
    """Return the Python name of a charset from an HTTP header; None if it is unknown."""
    encoding = resolve_encoding(charset) if charset else None
    return "utf-16-le" if encoding == "utf-16" else encoding


def parse_html(html: bytes, limits: Limits) -> etree._Element:
    """Return the root element of a page in UTF-8.

    Raises:
        PageError: the page is empty, cannot be parsed, or is over its limits. The message is the reason.
    """
    if core:
        parse_natively(html, limits)  # only to refuse what is over the limits, in a fraction of the time
    else:
        _refuse_attribute_bombs(html)
    tags = _Tags(html)
    html = tags.without_closing_tags()
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=True, collect_ids=False)
    try:
        root = etree.fromstring(html, parser)
    except (etree.LxmlError, ValueError) as error:
        if getattr(error, "code", None) == etree.ErrorTypes.ERR_NO_MEMORY:
            raise PageError("page needs too much memory") from error
        raise PageError(f"page cannot be parsed: {squeeze(str(error))}") from error
    if root is None:
        raise PageError("page is empty")
    if not core:
        _refuse_big_trees(root, tags, limits)
    if _may_have_long_paths(root, tags) and _path_characters(root) > MAX_PATH_CHARACTERS:
        raise PageError("page nests elements too deeply for the length of their names")
    if html.count(b"<!") + html.count(b"<?") > _MAX_COMMENT_RUN:
        _shorten_comment_runs(root)
    return root


def parse_natively(html: bytes, limits: Limits, start: int = 0) -> etree._Element | None:
    """Return the root element of a page in UTF-8, parsed by the native core; None if it has no elements.

    Args:
        html: the page.
        limits: how big it may be.
        start: the byte at which it begins: after a byte-order mark.

    Raises:
        PageError: the page is over its limits. The message is the same as that of `parse_html`.
    """
    if core is None:
        raise ValueError("there is no native core")
    return core.parse(html, limits.elements, limits.depth, start)


def _shorten_comment_runs(root: etree._Element) -> None:
    """Remove comments where very many follow each other without an element between them; their texts become one.

    Whoever asks for the nearest element beside a text walks over all comments between them. Without a limit that is
    quadratic for a page of texts and comments.
    """
    runs: list[list[etree._Element]] = []
    for comment in root.iter(etree.Comment, etree.ProcessingInstruction):
        if runs and comment.getprevious() is runs[-1][-1]:
            runs[-1].append(comment)
        else:
            runs.append([comment])
    for run in runs:
        surplus = run[_MAX_COMMENT_RUN:]
        if not surplus:
            continue
        last = run[_MAX_COMMENT_RUN - 1]
        text = "".join(comment.tail or "" for comment in run[_MAX_COMMENT_RUN - 1 :])
        for comment in surplus:
            comment.getparent().remove(comment)
        last.tail = text


class _Tags:
    """Where a page may have tags. To find them in an array is several times faster than to search the bytes."""

    def __init__(self, html: bytes) -> None:
        import numpy as np  # here, as extraction with the native core needs none

        data = np.frombuffer(html + b"\0", np.uint8)
        starts = np.flatnonzero(data == ord("<"))
        letters = data[starts + 1] | 0x20  # in lower case
        self.html = html
        self.count = len(starts)
        self.opening_count = int(np.count_nonzero((letters >= ord("a")) & (letters <= ord("z"))))
        closing = starts[letters == ord("/")]
        names = data[np.minimum(closing + 2, len(html))] | 0x20
        self._closing = closing[(names == ord("b")) | (names == ord("h"))]

    def without_closing_tags(self) -> bytes:
        """Return the HTML with a blank for each tag that closes the body or the page.

        A blank, so that the words around the tag stay two words.
        """
        parts: list[bytes] = []
        end = 0
        for start in self._closing.tolist():
            if match := _CLOSING_TAG.match(self.html, start):
                parts += self.html[end:start], b" "
                end = match.end()
        return b"".join([*parts, self.html[end:]]) if parts else self.html


def _refuse_big_trees(root: etree._Element, tags: _Tags, limits: Limits) -> None:
    """Raise PageError if the tree is over the limits.

    The number of tags shows that most pages cannot be, which is faster to check than the tree.
    """
    depth = min(limits.depth, _PARSER_DEPTH - 2)
    if tags.opening_count + _IMPLIED_ELEMENTS > depth and _deeper_than(depth)(root):
        raise PageError(f"page is nested deeper than {limits.depth:,} elements")
    # A parser may also make an element of a closing tag.
    if tags.count + _IMPLIED_ELEMENTS > limits.elements and root.xpath("count(//*)") > limits.elements:
        raise PageError(f"page has more than {limits.elements:,} elements")


def _may_have_long_paths(root: etree._Element, tags: _Tags) -> bool:
    """Return False if the tag paths of a page cannot be too long together, which is true of nearly all pages."""
    count = tags.opening_count + _IMPLIED_ELEMENTS
    if count * _MAX_USUAL_PATH > MAX_PATH_CHARACTERS:
        return True
    is_usual = count <= _USUAL_DEPTH or not _deeper_than(_USUAL_DEPTH)(root)
    return not is_usual or _LONG_NAME.search(tags.html) is not None


def _path_characters(root: etree._Element) -> int:
    """Return the number of characters of all different tag paths, counted until there are too many."""
    total = 0
    level: dict[str, list[etree._Element]] = {"": [root]}
    while level and total <= MAX_PATH_CHARACTERS:
        deeper: dict[str, list[etree._Element]] = {}
        for path, elements in level.items():
            for element in elements:
                deeper.setdefault(f"{path}{element.tag}/", []).extend(element.iterchildren("*"))
        total += sum(map(len, deeper))
        level = {path: elements for path, elements in deeper.items() if elements}
    return total


@cache
def _deeper_than(depth: int) -> etree.XPath:
    """Return an XPath that is true if any element is nested deeper. It goes level by level: linear time."""
    return etree.XPath(f"boolean({'/*' * (depth + 1)})")


def _refuse_attribute_bombs(html: bytes) -> None:
    """Raise PageError if the tags have so many attributes that libxml2 would take seconds to parse them."""
    if len(html) < _MIN_BOMB_BYTES:
        return
    comparisons = position = 0
    while small_tags := _SMALL_TAGS.match(html, position):
        tag = _TAG.match(html, small_tags.end())
        if tag is None:
            return
        comparisons += len(_ATTRIBUTES.findall(tag[1])) ** 2
        if comparisons > _MAX_COMPARISONS:
            raise PageError(f"page has tags with more than {_MAX_ATTRIBUTES:,} attributes")
        position = tag.end()
