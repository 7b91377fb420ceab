"""A page as plain data that a browser can show without parsing it, so that nothing hostile survives.

The frame makes each element with `createElement` and each text with `createTextNode`: what is not on the lists here
never exists there, and since nobody parses HTML again, the browser's tree is the one that rules see. An item's number
says which node was clicked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree

from untemplate.page import VALUE_ATTRIBUTES, Node, Page, squeeze

__all__ = ["Link", "Rendering", "render", "rewrite_css"]

Link = Callable[[str], str | None]
"""A reference as the page has it to the address from which the frame may load it; None: from nowhere."""

# What is shown. Of other elements only the content is: libxml2 puts what follows a <source> or <embed> into it.
TAGS = frozenset(
    """a abbr acronym address article aside b bdi bdo big blockquote body br button caption center cite code col
    colgroup data dd del details dfn dir div dl dt em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6
    head header hgroup hr html i img input ins kbd label legend li main map mark menu meter nav nobr noscript ol
    optgroup option output p picture pre progress q rp rt ruby s samp search section select small span strike strong
    sub summary sup table tbody td textarea tfoot th thead time title tr tt u ul var wbr""".split()  # noqa: SIM905
)
# What is left out with all that is in it.
DROPPED = frozenset(
    """applet audio canvas frameset iframe math noembed noframes object portal script svg template
    video""".split()  # noqa: SIM905
)
ATTRIBUTES = frozenset(
    """align alt bgcolor border cellpadding cellspacing checked class color cols colspan dir disabled face height
    hidden id label lang max min nowrap open placeholder reversed rows rowspan selected size span start title type
    valign value width""".split()  # noqa: SIM905
)
_INPUTS = frozenset({"button", "checkbox", "radio", "reset", "search", "submit", "text"})
# Where an image may be; the later ones are for scripts to load.
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
"""[parent, tag, attributes] of an element, [parent, text] of a text; the parent is an item's number."""


@dataclass
class Rendering:
    """A page's items, and the node that each of them shows."""

    quirks: bool
    items: list[Item] = field(default_factory=list)
    nodes: list[tuple[etree._Element, str]] = field(default_factory=list)
    numbers: dict[tuple[etree._Element, str], int] = field(default_factory=dict)

    def node(self, number: int, attribute: str | None = None) -> Node | None:
        """The node that an item shows, or an attribute of it; None if it holds no value."""
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
        """The item that shows a node; of an attribute, its element; None where it is left out."""
        kind = node.kind if node.is_text else "element"
        return self.numbers.get((node.element, kind))


def _attribute_node(element: etree._Element, attribute: str) -> Node | None:
    """An attribute that holds a value; for the source of an image, the one it is shown from."""
    names = _SOURCES if attribute == "src" else (attribute,)
    for name in names:
        if name in VALUE_ATTRIBUTES and (text := squeeze(element.get(name) or "")):
            return Node(element, f"@{name}", text)
    return None


def render(page: Page, link: Link) -> Rendering:
    """The items of a page in document order; `link` says where its images and stylesheets are."""
    root = page.tree
    head = page.text[:2000].lstrip()
    rendering = Rendering(quirks=_STANDARD.match(_after_comments(head)) is None)
    resolved = _resolver(root, link)
    parents: list[int] = [-1]
    dropped: etree._Element | None = None
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            if dropped is None and element.tag in DROPPED:
                dropped = element
            if dropped is not None:
                continue
            number = _add(rendering, element, "element", _element_item(element, parents[-1], resolved))
            parents.append(number)
            text = element.text or ""
            if element.tag == "style":
                text = rewrite_css(text, resolved)
            if text:
                _add(rendering, element, "text", [number, text])
            continue
        if event == "end":
            if dropped is None:
                parents.pop()
            elif dropped is element:
                dropped = None
        if dropped is None and element.tail and element is not root:
            _add(rendering, element, "tail", [parents[-1], element.tail])
    return rendering


def rewrite_css(text: str, link: Link) -> str:
    """A stylesheet whose references lead to what came with the page; others lead nowhere."""

    def new(match: re.Match[str]) -> str:
        start, *references = match.groups()
        reference = next(filter(None, references), "")
        address = reference if reference.startswith("data:") else link(reference)
        return f'{start or ""}url("{_css_string(address or "")}")'

    return _REFERENCE.sub(new, text)


def _css_string(text: str) -> str:
    return re.sub(r'["\\\n\r\f]', lambda char: f"\\{ord(char[0]):x} ", text)


def _after_comments(head: str) -> str:
    while head.startswith(("<!--", "<?")):
        _, closing, rest = head.partition("-->" if head.startswith("<!--") else ">")
        if not closing:
            break
        head = rest.lstrip()
    return head


def _resolver(root: etree._Element, link: Link) -> Link:
    """Follows references as a browser would, from the page's base if it gives one."""
    base = next((element.get("href") for element in root.iter("base") if element.get("href")), None)

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


def _add(rendering: Rendering, element: etree._Element, kind: str, item: Item) -> int:
    number = len(rendering.items)
    rendering.items.append(item)
    rendering.nodes.append((element, kind))
    rendering.numbers[element, kind] = number
    return number


def _is_stylesheet(element: etree._Element) -> bool:
    return element.tag == "link" and "stylesheet" in (element.get("rel") or "").lower().split()


def _element_item(element: etree._Element, parent: int, link: Link) -> Item:
    tag = element.tag
    if _is_stylesheet(element):
        address = link(element.get("href") or "")
        shown = {"rel": "stylesheet", "href": address, "media": element.get("media") or "all"}
        return [parent, "link", shown] if address else [parent, "span", {}]
    if tag == "style":
        return [parent, "style", {"media": element.get("media") or "all"}]
    return [
        parent,
        tag if tag in TAGS or _CUSTOM.fullmatch(tag) else "span",
        dict(_attributes(element, link)),
    ]


def _attributes(element: etree._Element, link: Link) -> Iterator[tuple[str, str]]:
    tag = element.tag
    for name, value in element.attrib.items():
        if name == "style":
            yield "style", rewrite_css(value, link)
        elif name == "background":
            if address := link(value):
                yield "background", address
        elif name == "href":
            if tag == "a":
                yield "href", "#"  # so that it looks like a link
        elif name == "type" and tag in ("input", "button"):
            yield (
                "type",
                value.lower() if value.lower() in _INPUTS else "hidden" if value == "hidden" else "text",
            )
        elif name in ATTRIBUTES and not (name == "value" and tag == "option"):
            yield name, value
    if tag == "img" and (address := _image(element, link)):
        yield "src", address


def _image(element: etree._Element, link: Link) -> str | None:
    """Where an image is, also one that the page's scripts would have loaded when it came into view."""
    for name in _SOURCES:
        reference: str = element.get(name) or ""
        if reference.startswith("data:image/"):
            if element.get("data-src") or element.get("data-original"):
                continue
            return reference
        if address := link(reference):
            return address
    return None
