"""Page and Node: a page is parsed once, into the nodes that contain its values.

A page has two trees. `Page.tree` is lxml's, with XPath and everything else that lxml can do. `Page.root` is for
extraction: the native core parses it several times as fast. Both have the same elements and texts.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cached_property
from typing import TypeVar

from lxml import etree

from untemplate.errors import PageError
from untemplate.native import core, is_native
from untemplate.page.dom import HIDDEN_TAGS, attribute_step, element_xpath, squeeze, visible_lines, walk
from untemplate.page.embedded_data import EmbeddedData
from untemplate.page.parsing import (
    DEFAULT_LIMITS,
    MAX_PATH_CHARACTERS,
    Limits,
    decode,
    find_encoding,
    parse_html,
    parse_natively,
    to_utf8,
)
from untemplate.page.signatures import MAX_TAG_BYTES, Markup

__all__ = ["VALUE_ATTRIBUTES", "Node", "Page", "index_pages", "names_of_pages"]

T = TypeVar("T")

# Attributes that may contain values; all others describe structure or behavior.
VALUE_ATTRIBUTES = frozenset(
    {"alt", "content", "data-original", "data-src", "datetime", "href", "poster", "src", "title", "value"}
)


class Node:
    """A place in a page that contains a value.

    That is a text node, an attribute such as `img/@src`, an element whose texts together are the value, or a value
    of the embedded data. `Page.nodes` lists the first two kinds in document order.

    Args:
        element: the element that has the node; for a "tail", the element or comment right before the text
        kind: "text" (the text at the start of `element`), "tail" (the text after `element`), "@name" for an
            attribute, "element" for all text inside `element`, or "data" for embedded data, whose `element` is the
            root
        text: the text, with entities decoded and white space squeezed
        path: the tag path, if it is known already; the path of embedded data, such as `ld+json Recipe.name`

    Example:
        >>> from untemplate import Page
        >>> page = Page(html="<h1>Chimichurri Grill</h1><img src=/grill.jpg>")
        >>> page.nodes
        [Node('/html/body/h1/text()[1]', 'Chimichurri Grill'), Node('/html/body/img/@src', '/grill.jpg')]
        >>> page.nodes[0].path
        'html/body/h1/text()'
    """

    __slots__ = ("_path", "element", "kind", "text")

    def __init__(self, element: etree._Element, kind: str, text: str, path: str = "") -> None:
        self.element = element
        self.kind = kind
        self.text = text
        self._path = path

    def __repr__(self) -> str:
        return f"Node({self.xpath!r}, {self.text!r})"

    @property
    def path(self) -> str:
        """The tag path without positions, such as `html/body/p/text()` or `html/body/img/@src`."""
        if not self._path:
            ancestors = [self.parent, *self.parent.iterancestors()]
            steps = [element.tag for element in reversed(ancestors)]
            if self.kind != "element":
                steps.append(self.node_test)
            self._path = "/".join(steps)
        return self._path

    @property
    def parent(self) -> etree._Element:
        """The element that contains the node."""
        return self.element.getparent() if self.kind == "tail" else self.element

    def with_text(self, text: str) -> Node:
        """Return a copy of the node with another text, usually a part of its text."""
        return Node(self.element, self.kind, text, self._path)

    def lines(self) -> str:
        """Return the text with a line feed for each blank at which a new line begins.

        In elements these are the lines that readers see, in text nodes those of the HTML.
        """
        if self.kind == "element":
            return visible_lines(self.element)
        if not self.is_text:
            return self.text
        raw = self.element.text if self.kind == "text" else self.element.tail
        return "\n".join(filter(None, map(squeeze, (raw or "").splitlines())))

    @property
    def is_attribute(self) -> bool:
        """True for attributes."""
        return self.kind[0] == "@"

    @property
    def is_text(self) -> bool:
        """True for text nodes: the text of an element, or a text after an element."""
        return self.kind in ("text", "tail")

    @property
    def node_test(self) -> str:
        """The last step of an XPath to such a node: `text()`, `@src`, or `element()`."""
        if self.is_text:
            return "text()"
        return f"{self.kind}()" if self.kind in ("element", "data") else self.kind

    @property
    def xpath(self) -> str:
        """The absolute XPath that selects exactly this node; for embedded data, its path."""
        if self.kind == "data":
            return self._path
        return self._xpath_inside(element_xpath(self.parent))

    @property
    def numbered_xpath(self) -> str:
        """The same XPath with a number in every step, so that it does not depend on what follows the node."""
        if self.kind == "data":
            return self._path
        if self.kind[0] != "@" and is_native(self.element):
            path: str = self.element.node_xpath(self.kind)
            return path
        parent = self.parent
        steps = element_xpath(parent)[1:].split("/")
        numbered = [step if step[-1] == "]" else f"{step}[1]" for step in steps]
        return self._xpath_inside("/" + "/".join(numbered))

    def _xpath_inside(self, parent: str) -> str:
        if self.kind == "element":
            return parent
        if self.is_attribute:
            return f"{parent}/{attribute_step(self.kind[1:])}"
        return f"{parent}/text()[{self._text_number()}]"

    def _text_number(self) -> int:
        """Return the position of this text node among those of its parent, from 1."""
        if self.kind == "text":
            return 1
        if is_native(self.element):
            native_number: int = self.element.text_number()
            return native_number
        number = bool(self.parent.text) + bool(self.element.tail)
        return number + sum(1 for sibling in self.element.itersiblings(preceding=True) if sibling.tail)


class Page:
    """A URL and its HTML, parsed once and only when needed.

    Args:
        url: where the page is from; URL patterns of rules are matched with it. HTML may be given instead, alone.
        html: the HTML, as bytes or text
        id: the page's name within its source, such as a path in a folder; the URL by default
        fetched: when the page was fetched
        charset: the encoding that the HTTP header gave; bytes without one are decoded as browsers do
        limits: how big the page may be

    Raises:
        PageError: not here, but when `tree`, `nodes` or `title` are first used: the page is empty, is over its
            limits, or cannot be parsed.

    Example:
        >>> from untemplate import Page
        >>> page = Page("http://example.com/7", "<title>Grill</title><p>Tel: <b>555-0100</b>")
        >>> page.title
        'Grill'
        >>> [node.text for node in page.nodes]
        ['Grill', 'Tel:', '555-0100']
        >>> Page("<h1>HTML alone</h1>").nodes[0].text
        'HTML alone'
    """

    def __init__(
        self,
        url: str = "",
        html: bytes | str = b"",
        id: str = "",
        fetched: datetime | None = None,
        charset: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        if not html and url.lstrip().startswith("<"):
            url, html = "", url
        self.url = url
        self.html = html.encode("utf-8", "surrogatepass") if isinstance(html, str) else html
        self.id = id or url
        self.fetched = fetched
        self.charset = "utf-8" if isinstance(html, str) else charset
        self.limits = limits
        self._native_root: etree._Element | None = None
        self._is_utf8 = False

    def __repr__(self) -> str:
        return f"Page({self.id!r}, {len(self.html):,} bytes)"

    def is_named_in(self, names: Container[str]) -> bool:
        """Return True if the names contain the page's id or URL. Labels may use either."""
        return self.id in names or self.url in names

    def entry_in(self, entries: Mapping[str, T]) -> T | None:
        """Return what is stored for the page under its id or, if that is missing or empty, under its URL."""
        return entries.get(self.id) or entries.get(self.url)

    @cached_property
    def text(self) -> str:
        """The HTML as text, decoded as a browser would."""
        return decode(self.html, self.charset)

    @cached_property
    def tree(self) -> etree._Element:
        """The root element. Raises PageError if the page cannot be parsed or is over its limits."""
        return parse_html(self._utf8(), self.limits)

    @property
    def root(self) -> etree._Element:
        """The root element for extraction: of the native core, unless there is none or lxml has parsed the page.

        Raises:
            PageError: the page cannot be parsed or is over its limits.
        """
        if core is None or self.is_parsed:
            return self.tree
        if self._native_root is None:
            self._check_size()
            start = core.utf8_start(self.html, self.charset)
            self._is_utf8 = start >= 0
            html = self.html if self._is_utf8 else self._utf8()
            self._native_root = parse_natively(html, self.limits, max(start, 0))
        # lxml says what is wrong with a page without elements.
        return self.tree if self._native_root is None else self._native_root

    @property
    def markup(self) -> Markup:
        """What signature and tag runs are read from: the parsed page if its parser read the tags, or its bytes."""
        if core is None or self.is_parsed or len(self.html) > MAX_TAG_BYTES:
            return self.html
        with suppress(PageError):  # whoever needs the tree gets it
            root = self.root
            if self._is_utf8 and is_native(root) and root.has_tags():
                return root
        return self.html

    def why_unreadable(self) -> str | None:
        """Parse the page, and return why it cannot be read; None if it can."""
        try:
            return None if self.tree is not None else "page is empty"
        except PageError as error:
            return str(error)

    @property
    def is_parsed(self) -> bool:
        """True if the tree is in memory."""
        return "tree" in vars(self)

    def _check_size(self) -> None:
        """Raise PageError if the page has too many bytes."""
        if len(self.html) > self.limits.bytes:
            raise PageError(f"page is larger than {self.limits.bytes:,} bytes")

    def _utf8(self) -> bytes:
        """Return the HTML in UTF-8; most pages are UTF-8 already."""
        self._check_size()
        # ASCII bytes are the same in every encoding of the web but one, which has escape sequences.
        body = self.html.removeprefix(BOM_UTF8)
        if body.isascii() and b"\x1b" not in body and b"\0" not in body:
            return body
        return to_utf8(self.html, find_encoding(self.html, self.charset))

    @cached_property
    def nodes(self) -> list[Node]:
        """All text nodes and value attributes of the page, in document order."""
        return list(_walk_nodes(self.tree))

    def path_texts(self) -> list[tuple[str, str]]:
        """Return path and text of each node in document order; much faster than `nodes`, which need the tree of lxml.

        Raises:
            PageError: the page cannot be parsed or is over its limits.
        """
        root = self.root
        if not is_native(root):
            return [(node.path, node.text) for node in self.nodes]
        pairs: list[tuple[str, str]] = core.path_texts(root, VALUE_ATTRIBUTES, MAX_PATH_CHARACTERS)  # type: ignore[union-attr]
        return pairs

    @cached_property
    def title(self) -> str:
        """The text of the title element, squeezed."""
        return squeeze(self.tree.findtext(".//title") or "")

    @cached_property
    def embedded(self) -> EmbeddedData:
        """What the page tells programs: JSON-LD, microdata, meta tags …; each is read when it is first asked for."""
        return EmbeddedData(self.root)

    @contextmanager
    def temporarily_parsed(self) -> Iterator[None]:
        """Free what is parsed inside a `with` block at its end, unless the page was parsed before."""
        was_parsed = self.is_parsed
        try:
            yield
        finally:
            if not was_parsed:
                self.release()

    def release(self) -> None:
        """Free the memory of what was parsed. The page is parsed again when needed."""
        self._native_root = None
        for name in ("text", "tree", "nodes", "title", "embedded"):
            self.__dict__.pop(name, None)


class _TagPath(dict[str, "_TagPath"]):
    """The tag path of open elements, and those of the elements in it by tag.

    Elements with the same path share it, so a page needs memory for each path once.

    Attributes:
        prefix: the path with a slash at its end.
        of_texts: the path of the texts in such an element.
    """

    __slots__ = ("of_texts", "prefix")

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self.prefix = prefix
        self.of_texts = f"{prefix}text()"

    def __missing__(self, tag: str) -> _TagPath:
        self[tag] = path = _TagPath(f"{self.prefix}{tag}/")
        return path


def _walk_nodes(root: etree._Element) -> Iterator[Node]:
    """Yield the nodes of a page in document order.

    This runs for every element of every page. It stays one function, since a call for each element would take more
    time than everything else in the loop.
    """
    path = _TagPath("")
    open_paths: list[_TagPath] = []
    walker = walk(root)
    for event, element in walker:
        if event == "start":
            open_paths.append(path)
            path = path[element.tag]
            if element.tag in HIDDEN_TAGS:
                walker.skip_subtree()
                continue
            for name, value in element.items():
                if name in VALUE_ATTRIBUTES and (text := squeeze(value)):
                    yield Node(element, "@" + name, text, f"{path.prefix}@{name}")
            raw, kind = element.text, "text"
        else:
            if event == "end":
                path = open_paths.pop()
            raw, kind = element.tail, "tail"
        if raw and (text := squeeze(raw)):
            yield Node(element, kind, text, path.of_texts)


# Pages by id or URL: labels, remembered records and commands name a page by either


def index_pages(pages: Iterable[Page]) -> dict[str, Page]:
    """Return the pages by id and by URL. If one page's id is another page's URL, the URL counts.

    >>> page = Page("http://example.com/7", id="7.html")
    >>> index_pages([page]) == {"7.html": page, "http://example.com/7": page}
    True
    """
    index: dict[str, Page] = {}
    for page in pages:
        index.setdefault(page.id, page)
        if page.url:
            index[page.url] = page
    return index


def names_of_pages(pages: Iterable[Page]) -> set[str]:
    """Return the ids and URLs of the pages."""
    names: set[str] = set()
    for page in pages:
        names.update((page.id, page.url))
    return names
