"""Elements of a parsed page: their visible text, the words that name them, and their XPaths.

The names that the authors of a template give to elements help on any site: a value inside
`<span class="productPrice" itemprop="price">` is probably a price.

`element_xpath` writes the XPath of one element. It counts the siblings before the element, which takes quadratic
time for all rows of a long list; `NumberedXPaths` writes those of many elements in linear time. `nodes_at` is the
one function that reads an XPath.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from lxml import etree

from untemplate.native import is_native
from untemplate.native.shown_text import CROSSED_OUT_TAGS, HIDDEN_TAGS, INLINE_TAGS, SAFE_NAME, hides_element

__all__ = [
    "CROSSED_OUT_TAGS",
    "HIDDEN_TAGS",
    "INLINE_TAGS",
    "NAMING_ATTRIBUTES",
    "SAFE_NAME",
    "NumberedXPaths",
    "attribute_step",
    "complete_text",
    "element_names",
    "element_texts",
    "element_xpath",
    "is_hidden",
    "nodes_at",
    "split_name",
    "squeeze",
    "visible_lines",
    "visible_text",
    "walk",
    "words_around",
]

# Inline elements, comments and instructions do not separate the words around them.
_NOT_SEPARATING = INLINE_TAGS | {etree.Comment, etree.PI}

# Separates lines of a text; no page contains it.
_LINE_END = "\0"
# The start of an element that is not shown.
_HIDDEN_START = -1

NAMING_ATTRIBUTES = ("class", "id", "itemprop", "property")
"""Attributes that name an element."""

_WORDS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
# Words that say something: no numbers, no single letters, no codes such as `Ci`.
_TELLING_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")

_UNSAFE = re.compile(r"[^\w.\-/\[\]]", re.ASCII)


def squeeze(text: str) -> str:
    """Return the text with each run of white space replaced by one blank, and none at the ends.

    >>> squeeze(" Chimichurri\\n   Grill ")
    'Chimichurri Grill'
    """
    return " ".join(text.split())


def is_hidden(element: etree._Element) -> bool:
    """Return True if browsers show nothing of an element: a script, `hidden`, or hidden by its own style.

    What style sheets hide is not known here.
    """
    if element.tag in HIDDEN_TAGS or element.get("hidden") is not None:
        return True
    style = element.get("style")
    return style is not None and hides_element(style)


def visible_text(element: etree._Element) -> str:
    """Return all text of an element as readers see it.

    Block elements and line breaks separate words; inline elements such as `<b>` do not. Hidden parts are left out.
    Whether the element itself is hidden does not matter: a tab that opens on a click has a text.

    >>> from lxml import etree
    >>> visible_text(etree.HTML("<p>1<b>2</b>3<br>4<script>5</script><i hidden>6</i></p>"))
    '123 4'
    """
    if is_native(element):
        text: str = element.visible_text()
        return text
    if element.tag in HIDDEN_TAGS:
        return ""
    if not len(element):  # most elements that are values contain no others, and this is ten times as fast
        return squeeze(element.text or "")
    return squeeze(_visible_string(element, " "))


def complete_text(element: etree._Element) -> str:
    """Return the same text as `visible_text`, with the parts that only an attribute or a style hides.

    >>> from lxml import etree
    >>> complete_text(etree.HTML("<p>1<b>2</b><script>3</script><i hidden>4</i></p>"))
    '124'
    """
    return squeeze(_visible_string(element, " ", with_hidden=True))


def visible_lines(element: etree._Element) -> str:
    """Return the same text as `visible_text`, with a line feed for the blank where a new line begins.

    >>> from lxml import etree
    >>> visible_lines(etree.HTML("<p>1 <b>egg</b><br>2 cups <a>milk</a></p>"))
    '1 egg\\n2 cups milk'
    """
    lines = _visible_string(element, _LINE_END).split(_LINE_END)
    return "\n".join(filter(None, map(squeeze, lines)))


def walk(element: etree._Element) -> etree.iterwalk:
    """Return an iterator over the events "start", "end", "comment" and "pi" of an element and all inside it."""
    if is_native(element):
        return element.walk()
    return etree.iterwalk(element, events=("start", "end", "comment", "pi"))


def _visible_string(element: etree._Element, line_end: str, with_hidden: bool = False) -> str:
    """Return the visible texts of an element in order, with `line_end` where a line begins or ends."""
    if is_native(element):
        text: str = element.visible_string(line_end, with_hidden)
        return text
    parts = list(_visible_parts(element, line_end, with_hidden))
    return "".join(parts[:-1] if element.tail else parts)


def _visible_parts(element: etree._Element, line_end: str, with_hidden: bool) -> Iterator[str]:
    """Yield the visible texts of an element, the lines between them, and at last what follows the element."""
    skipped = None
    walker = walk(element)
    for event, inside in walker:
        if event == "start" and inside is not element and _is_textless(inside, with_hidden):
            skipped = inside
            walker.skip_subtree()
            continue
        if inside.tag not in _NOT_SEPARATING and inside is not skipped:
            yield line_end
        text = inside.text if event == "start" else inside.tail
        if text:
            yield text


def _is_textless(element: etree._Element, with_hidden: bool) -> bool:
    """Return True if an element has no text for readers; `with_hidden` if only scripts and the like have none."""
    return element.tag in HIDDEN_TAGS if with_hidden else is_hidden(element)


def element_texts(root: etree._Element, max_length: int) -> dict[etree._Element, str]:
    """Return the visible text of every element of a page that has a text of at most this length.

    The texts are those of `visible_text`, but one walk over the page, and one over each hidden part, finds them all.
    """
    texts: dict[etree._Element, str] = {}
    roots = [root]
    while roots:
        page_text, spans, hidden = _element_spans(roots.pop(), max_length)
        for element, (start, end) in spans.items():
            text = squeeze(page_text[start:end])
            if 0 < len(text) <= max_length:
                texts[element] = text
        roots += [element for element in hidden if element.tag not in HIDDEN_TAGS]
    return texts


def _element_spans(
    root: etree._Element, max_length: int
) -> tuple[str, dict[etree._Element, tuple[int, int]], list[etree._Element]]:
    """Return the visible text of an element, where the elements inside are in it, and the hidden ones.

    This runs for every element of a page, so it stays one loop. Longer texts are left out.
    """
    parts: list[str] = []
    length = 0
    open_starts: list[int] = []
    spans: dict[etree._Element, tuple[int, int]] = {}
    hidden: list[etree._Element] = []
    walker = walk(root)
    for event, element in walker:
        if event == "start":
            if element is not root and is_hidden(element):
                hidden.append(element)
                open_starts.append(_HIDDEN_START)
                walker.skip_subtree()
                continue
            open_starts.append(length)
            text = (
                _keep_edges(element.text) if element.tag in INLINE_TAGS else " " + _keep_edges(element.text)
            )
        else:
            text = _keep_edges(element.tail)
            if event == "end":
                start = open_starts.pop()
                if _HIDDEN_START < start < length <= start + max_length + 2:
                    spans[element] = (start, length)
                if start > _HIDDEN_START and element.tag not in INLINE_TAGS:
                    text = " " + text
        parts.append(text)
        length += len(text)
    return "".join(parts), spans, hidden


def _keep_edges(text: str | None) -> str:
    """Return a text with white space squeezed, but with the blanks at its ends that separate it from others."""
    if not text:
        return ""
    if text.isspace():
        return " "
    before = " " if text[0].isspace() else ""
    after = " " if text[-1].isspace() else ""
    return f"{before}{' '.join(text.split())}{after}"


def split_name(name: str) -> list[str]:
    """Return the words of a name in lower case, split at capitals, digits and signs.

    It splits any text in the same way, so that names can be compared with texts.

    >>> split_name("productTitle_2 ISBN-13")
    ['product', 'title', '2', 'isbn', '13']
    """
    return [word.lower() for word in _WORDS.findall(name)]


def element_names(element: etree._Element, attributes: tuple[str, ...] = NAMING_ATTRIBUTES) -> str:
    """Return the names that these attributes give an element, separated by blanks; empty if it has none."""
    return " ".join(filter(None, map(element.get, attributes)))


def words_around(element: etree._Element | None, levels: int) -> Iterator[str]:
    """Yield the words that name an element and its ancestors, the nearest first.

    Numbers, single letters and codes are skipped: they name nothing.

    Args:
        element: where to start
        levels: how many elements to read, the first included
    """
    while element is not None and levels:
        names = element_names(element, (*NAMING_ATTRIBUTES, "name"))
        for word in filter(_TELLING_WORD.fullmatch, _WORDS.findall(names)):
            yield word.lower()
        element = element.getparent()
        levels -= 1


def element_xpath(element: etree._Element) -> str:
    """Return the absolute XPath of an element.

    Tags that XPath cannot name become `*` with a number.

    >>> from lxml import etree
    >>> element_xpath(etree.HTML("<p>1<p>2")[0][1])
    '/html/body/p[2]'
    """
    if is_native(element):
        native_path: str = element.xpath()
        return native_path
    path: str = element.getroottree().getpath(element)
    if not _UNSAFE.search(path):
        return path
    steps: list[str] = []
    while element is not None:
        steps.append(_step(element))
        element = element.getparent()
    return "/" + "/".join(reversed(steps))


def _step(element: etree._Element) -> str:
    """Return the step of an XPath that selects this element among its siblings."""
    tag = element.tag
    if not SAFE_NAME.fullmatch(tag):
        before = sum(1 for _ in element.itersiblings("*", preceding=True))
        return f"*[{before + 1}]"
    before = sum(1 for _ in element.itersiblings(tag, preceding=True))
    is_only_one = not before and next(element.itersiblings(tag), None) is None
    return tag if is_only_one else f"{tag}[{before + 1}]"


def attribute_step(name: str) -> str:
    """Return the step of an XPath that selects the attribute of this name."""
    return f"@{name}" if SAFE_NAME.fullmatch(name) else f"@*[name()={name!r}]"


def nodes_at(root: etree._Element, xpath: str) -> list[tuple[etree._Element, str]]:
    """Return the element and the kind of each node that an XPath selects.

    Kinds are those of `Node`: "element", "text", "tail" or "@name".

    Returns:
        The nodes in document order. Empty if the text is no XPath, or an XPath of something else than nodes.
    """
    try:
        results = root.xpath(xpath, smart_strings=True)
    except etree.XPathError:
        return []
    if not isinstance(results, list):
        return []
    nodes: list[tuple[etree._Element, str]] = []
    for result in results:
        if isinstance(result, etree._Element):
            nodes.append((result, "element"))
        elif isinstance(result, etree._ElementUnicodeResult):
            nodes.append((result.getparent(), _string_kind(result)))
    return nodes


def _string_kind(result: etree._ElementUnicodeResult) -> str:
    """Return the kind of a text or an attribute that an XPath selected."""
    if result.is_attribute:
        return f"@{result.attrname}"
    return "tail" if result.is_tail else "text"


class NumberedXPaths:
    """The absolute XPaths of many elements of a page, in time linear in the page; every step has its number."""

    def __init__(self) -> None:
        self._steps: dict[etree._Element, str] = {}
        self._paths: dict[etree._Element, str] = {}

    def xpath(self, element: etree._Element) -> str:
        """Return the XPath of an element, such as `/html/body[1]/p[2]`."""
        waiting: list[etree._Element] = []
        ancestor = element
        while ancestor is not None and ancestor not in self._paths:
            waiting.append(ancestor)
            ancestor = ancestor.getparent()
        path = "" if ancestor is None else self._paths[ancestor]
        for inner in reversed(waiting):
            path = f"{path}/{self._numbered_step(inner)}"
            if inner is not element:
                self._paths[inner] = path
        return path

    def _numbered_step(self, element: etree._Element) -> str:
        """Return the step of an element. The first request for one child numbers all its siblings."""
        parent = element.getparent()
        if parent is None:
            return "html"
        if element not in self._steps:
            self._number_children(parent)
        return self._steps[element]

    def _number_children(self, parent: etree._Element) -> None:
        """Remember the step of each child element: its number among those with the same tag."""
        counts: Counter[str] = Counter()
        for number, child in enumerate(parent.iterchildren(etree.Element), 1):
            counts[child.tag] += 1
            is_safe = SAFE_NAME.fullmatch(child.tag)
            self._steps[child] = f"{child.tag}[{counts[child.tag]}]" if is_safe else f"*[{number}]"
