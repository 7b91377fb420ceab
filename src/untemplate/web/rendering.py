"""A page as plain data that a browser can show without parsing it, so that nothing hostile survives.

The frame creates each element with `createElement` and each text with `createTextNode`. It never creates anything
that is not on the lists here. Nobody parses HTML again, so the tree in the browser is the tree that the rules use.
The number of an item identifies the node that a person clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree

from untemplate.page import VALUE_ATTRIBUTES, Node, Page, squeeze
from untemplate.web.embedded_panel import PanelObject, list_embedded

__all__ = ["LinkResolver", "Rendering", "render", "rewrite_css"]

LinkResolver = Callable[[str], str | None]
"""Maps a reference of the page to the address from which the frame may load it; None if it may not."""

# Elements that are shown. Of other elements only the content is shown, because libxml2 parses what follows a <source>
# or <embed> as its content.
TAGS = frozenset(
    """a abbr acronym address article aside b bdi bdo big blockquote body br button caption center cite code col
    colgroup data dd del details dfn dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6
    head header hgroup hr html i img input ins kbd label legend li main map mark menu meter nav nobr noscript ol
    optgroup option output p picture pre progress q rp rt ruby s samp search section select small span strike strong
    sub summary sup table tbody td textarea tfoot th thead time title tr tt u ul var wbr""".split()  # noqa: SIM905
)
# Elements that are left out with their content.
DROPPED = frozenset(
    """applet audio canvas frameset iframe math noembed noframes object portal script svg template
    video""".split()  # noqa: SIM905
)
ATTRIBUTES = frozenset(
    """align alt bgcolor border cellpadding cellspacing checked class color cols colspan dir disabled face height
    hidden id label lang max min nowrap open placeholder reversed rows rowspan selected size span start title type
    valign value width""".split()  # noqa: SIM905
)
MIN_INLINE_CSS = 4_000
"""Letters of CSS inside a page that make it look as it should, even if the style sheets beside it are missing."""

_INPUTS = frozenset({"button", "checkbox", "radio", "reset", "search", "submit", "text"})
# Attributes with the address of an image; scripts load those of the later ones.
_SOURCES = ("src", "data-src", "data-original")
_CUSTOM = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+")
_REFERENCE = re.compile(
    r"""(@import\s+)(?:"([^"]*)"|'([^']*)')|url\(\s*(?:"([^"]*)"|'([^']*)'|([^)"'\s]*))\s*\)""", re.IGNORECASE
)
_STANDARD = re.compile(
    r"<!doctype\s+html\s*(?:>|system\s+[\"']about:legacy-compat|public\s+[\"'][^\"']*(?:html 4\.01(?: transitional)?"
    r"//[a-z]+[\"']\s+[\"']http|html 4\.0?1?//|xhtml ))",
    re.IGNORECASE,
)

Item = list[Any]
"""An element as [parent, tag, attributes], or a text as [parent, text]; the parent is the number of an item."""


@dataclass
class Rendering:
    """The items of a page, and the node that each of them shows."""

    page: Page
    quirks: bool
    items: list[Item] = field(default_factory=list)
    nodes: list[tuple[etree._Element, str]] = field(default_factory=list)
    numbers: dict[tuple[etree._Element, str], int] = field(default_factory=dict)
    #: the addresses from which the page loads images, style sheets and fonts
    addresses: set[str] = field(default_factory=set)
    #: images and style sheets that the page names and that cannot be loaded
    missing: int = 0
    #: whether the page has style sheets of which none can be loaded, so that it would look like one without any
    is_plain: bool = False

    @cached_property
    def embedded(self) -> list[PanelObject]:
        """The embedded data of the page."""
        return list_embedded(self.page)

    def node(self, number: int, attribute: str | None = None) -> Node | None:
        """Return the node that an item shows, or that of an attribute of the item.

        Args:
            number: The number of the item.
            attribute: The name of an attribute that may contain a value; None for the text of the item.

        Returns:
            None if there is no such item, or if the node cannot be a value, such as an element or white space.
        """
        if not 0 <= number < len(self.nodes):
            return None
        element, kind = self.nodes[number]
        if attribute is not None:
            return _attribute_node(element, attribute) if kind == "element" else None
        if kind == "element":
            return None
        text = squeeze((element.text if kind == "text" else element.tail) or "")
        return Node(element, kind, text) if text else None

    def number(self, node: Node) -> int | None:
        """Return the item that shows a node, or the element of an attribute; None if it is left out."""
        kind = node.kind if node.is_text else "element"
        return self.numbers.get((node.element, kind))

    def texts_inside(self, element: etree._Element) -> list[int]:
        """Return the numbers of all texts inside an element, in document order."""
        numbers: list[int] = []
        for inner in element.iter():
            places = ((inner, "text"),) if inner is element else ((inner, "text"), (inner, "tail"))
            numbers += [self.numbers[place] for place in places if place in self.numbers]
        return sorted(number for number in numbers if self.node(number) is not None)


def _attribute_node(element: etree._Element, attribute: str) -> Node | None:
    """Return the node of an attribute that may contain a value; for `src`, of the source that is shown."""
    if attribute not in VALUE_ATTRIBUTES:  # it may be no name at all, which lxml refuses
        return None
    for name in _SOURCES if attribute == "src" else (attribute,):
        text = squeeze(element.get(name, ""))
        if text:
            return Node(element, f"@{name}", text)
    return None


def render(page: Page, link: LinkResolver) -> Rendering:
    """Return the items of a page in document order.

    Args:
        page: The page to show.
        link: Maps a reference to the address from which the frame may load it.

    Raises:
        PageError: The page cannot be parsed.
    """
    writer = _ItemWriter(page, link)
    for event, element in etree.iterwalk(page.tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            writer.open_element(element)
            continue
        if event == "end":
            writer.close_element(element)
        writer.add_tail(element)
    _count_missing(writer.rendering)
    return writer.rendering


def _count_missing(rendering: Rendering) -> None:
    """Count the images and style sheets that are not shown, and decide whether the page looks plain without them."""
    sheets = images = inline = 0
    missing_sheets = 0
    for (element, kind), item in zip(rendering.nodes, rendering.items, strict=True):
        if kind == "text" and element.tag == "style":
            inline += len(item[1])
        elif kind == "element" and _is_stylesheet(element):
            sheets += 1
            missing_sheets += item[1] != "link"
        elif kind == "element" and element.tag == "img":
            images += "src" not in item[2]
    rendering.missing = missing_sheets + images
    rendering.is_plain = 0 < sheets == missing_sheets and inline < MIN_INLINE_CSS


class _ItemWriter:
    """Adds the items of a page to a rendering while somebody walks through its tree."""

    def __init__(self, page: Page, link: LinkResolver) -> None:
        head = page.text[:2000].lstrip()
        self.rendering = Rendering(page, quirks=_STANDARD.match(_after_comments(head)) is None)
        self._root = page.tree
        self._link = _relative_to_base(page.tree, self._remembering(link))
        self._parents: list[int] = [-1]
        self._dropped: etree._Element | None = None  # the element that is being left out

    def open_element(self, element: etree._Element) -> None:
        """Add an element and the text at its start, unless it or an element around it is left out."""
        if self._dropped is None and element.tag in DROPPED:
            self._dropped = element
        if self._dropped is not None:
            return
        number = self._add(element, "element", _element_item(element, self._parents[-1], self._link))
        self._parents.append(number)
        text = element.text or ""
        if element.tag == "style":
            text = rewrite_css(text, self._link)
        if text:
            self._add(element, "text", [number, text])

    def close_element(self, element: etree._Element) -> None:
        """End an element, or the part of the page that is left out."""
        if self._dropped is None:
            self._parents.pop()
        elif self._dropped is element:
            self._dropped = None

    def add_tail(self, element: etree._Element) -> None:
        """Add the text that follows an element, a comment or a processing instruction."""
        if self._dropped is None and element.tail and element is not self._root:
            self._add(element, "tail", [self._parents[-1], element.tail])

    def _remembering(self, link: LinkResolver) -> LinkResolver:
        """Return a resolver that also writes down the addresses that it gives."""

        def resolve(reference: str) -> str | None:
            address = link(reference)
            if address:
                self.rendering.addresses.add(address)
            return address

        return resolve

    def _add(self, element: etree._Element, kind: str, item: Item) -> int:
        """Add an item and return its number."""
        number = len(self.rendering.items)
        self.rendering.items.append(item)
        self.rendering.nodes.append((element, kind))
        self.rendering.numbers[element, kind] = number
        return number


def rewrite_css(text: str, link: LinkResolver) -> str:
    """Return a style sheet with the addresses that `link` gives to its references; other references become empty."""

    def rewrite_reference(match: re.Match[str]) -> str:
        start, *references = match.groups()
        reference = next(filter(None, references), "")
        address = reference if reference.startswith("data:") else link(reference)
        return f'{start or ""}url("{_css_string(address or "")}")'

    return _REFERENCE.sub(rewrite_reference, text)


def _css_string(text: str) -> str:
    """Escape a text for a quoted string in a style sheet."""
    return re.sub(r'["\\\n\r\f]', lambda char: f"\\{ord(char[0]):x} ", text)


def _after_comments(head: str) -> str:
    """Return the start of a page without leading comments and processing instructions."""
    while head.startswith(("<!--", "<?")):
        _, closing, rest = head.partition("-->" if head.startswith("<!--") else ">")
        if not closing:
            break
        head = rest.lstrip()
    return head


def _relative_to_base(root: etree._Element, link: LinkResolver) -> LinkResolver:
    """Return a resolver that follows references like a browser, from the base of the page if there is one.

    Empty references, references within the page and malformed ones lead nowhere.
    """
    bases = (element.get("href") for element in root.iter("base"))
    base = next(filter(None, bases), None)

    def resolve(reference: str) -> str | None:
        reference = reference.strip()
        if not reference or reference.startswith("#"):
            return None
        try:
            urlsplit(reference)
            return link(urljoin(base, reference) if base else reference)
        except ValueError:
            return None

    return resolve


def _is_stylesheet(element: etree._Element) -> bool:
    """Return True for a `link` element whose relations include a style sheet."""
    return element.tag == "link" and "stylesheet" in element.get("rel", "").lower().split()


def _element_item(element: etree._Element, parent: int, link: LinkResolver) -> Item:
    """Return the item of an element.

    Style sheets keep their address and medium only. An element that must not be shown as such becomes a span.

    Args:
        element: The element.
        parent: The number of the item around it.
        link: Maps a reference to the address from which the frame may load it.
    """
    media = element.get("media") or "all"
    if element.tag == "style":
        return [parent, "style", {"media": media}]
    if _is_stylesheet(element):
        address = link(element.get("href", ""))
        if not address:
            return [parent, "span", {}]
        return [parent, "link", {"rel": "stylesheet", "href": address, "media": media}]
    return [parent, _shown_tag(element.tag), _shown_attributes(element, link)]


def _shown_tag(tag: str) -> str:
    """Return the tag of an ordinary or custom element, and `span` for all others."""
    return tag if tag in TAGS or _CUSTOM.fullmatch(tag) else "span"


def _shown_attributes(element: etree._Element, link: LinkResolver) -> dict[str, str]:
    """Return the attributes that the frame gives to an element.

    They are those of the page that are allowed, with harmless values, and for images the address to load.
    """
    shown = {}
    for name, value in element.attrib.items():
        shown_value = _shown_value(element.tag, name, value, link)
        if shown_value is not None:
            shown[name] = shown_value
    if element.tag == "img" and (address := _image_address(element, link)):
        shown["src"] = address
    return shown


def _shown_value(tag: str, name: str, value: str, link: LinkResolver) -> str | None:
    """Return the value with which an attribute is shown; None if it is left out.

    Args:
        tag: The tag of the element.
        name: The name of the attribute.
        value: Its value on the page.
        link: Maps a reference to the address from which the frame may load it.
    """
    if name == "style":
        return rewrite_css(value, link)
    if name == "background":
        return link(value) or None
    if name == "href":
        return "#" if tag == "a" else None  # so that it looks like a link
    if name == "type" and tag in ("input", "button"):
        return _input_type(value)
    if (tag, name) == ("option", "value"):
        return None
    return value if name in ATTRIBUTES else None


def _input_type(value: str) -> str:
    """Return a harmless type of an input field that looks the same."""
    if value.lower() in _INPUTS:
        return value.lower()
    return "hidden" if value == "hidden" else "text"


def _image_address(element: etree._Element, link: LinkResolver) -> str | None:
    """Return the address of an image, even if scripts of the page would load it only when it comes into view.

    Such a lazy image often has a placeholder as its `src`, an inline `data:` image, which is skipped.
    """
    is_lazy = bool(element.get("data-src") or element.get("data-original"))
    for name in _SOURCES:
        reference: str = element.get(name, "")
        is_inline = reference.startswith("data:image/")
        if is_inline and not is_lazy:
            return reference
        address = None if is_inline else link(reference)
        if address:
            return address
    return None
