"""Where a labeled value is on a page: the one locator that all labelers and learners share.

A label names a value by its text, or pins a node by an XPath. It may match a text node, several consecutive text
nodes, a whole element, a part of a node, or an attribute such as `img/@src`. Callers decide which of these modes they
can use; the modes themselves are defined here.

Texts are compared in steps, from strict to loose (`MATCH_STEPS`): with white space and entities normalized; with
typographic variants of quotes, dashes and the like made equal; by letters and digits alone. A looser step is tried
only where a stricter one finds nothing.

Two locators stay separate because they answer other questions: `labeling/golden.py` recognizes values that are
written in another way today, and `labeling/list_labels.py` matches texts that spread over any number of elements.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import ceil
from typing import Literal, TypeVar
from urllib.parse import urljoin

from lxml import etree

from untemplate.native import core
from untemplate.page import Node, nodes_at, squeeze
from untemplate.page.captions import join_texts

__all__ = [
    "MATCH_STEPS",
    "MAX_OCCURRENCES",
    "MAX_SPAN_NODES",
    "MatchMode",
    "MatchStep",
    "Occurrence",
    "clean_value",
    "comparable_text",
    "is_separator",
    "letters_and_digits",
    "locate_elements",
    "locate_list",
    "locate_pairs",
    "locate_parts",
    "locate_similar",
    "locate_value",
    "locate_xpath",
    "match_texts",
    "nodes_by_xpath",
]

MAX_SPAN_NODES = 12
"""Values that span more consecutive text nodes than this are not searched for."""

MAX_OCCURRENCES = 100
"""Occurrences of one value that are kept: a text with more says little, and comparing all takes quadratic time."""

MatchMode = Literal["node", "span", "element", "part", "pair", "attribute"]
"""How a value fills the place where it occurs.

`node`: all of a text node; `span`: several consecutive text nodes; `element`: all text of an element; `part`: a part
of a text node or of an element's text; `pair`: from the middle of one text node to that of a later one; `attribute`:
the value of an HTML attribute.
"""

MatchStep = Literal["exact", "typographic", "letters"]
"""How strictly a value is compared with the texts of a page."""

MATCH_STEPS: tuple[MatchStep, ...] = ("exact", "typographic", "letters")
"""All steps, the strictest first."""

# Values with fewer letters, or fewer letters and digits, are not compared by these alone: `5.0` is not 50.
MIN_COMPARED_LETTERS = 4
MIN_COMPARED_SIGNS = 6

# A value is searched in the texts of elements up to this length: it is not a part of an article.
MAX_PART_CONTEXT = 500

# Values of one list: the share that must be in a text, how often the first may occur there, and the greatest length
# of a text between two that may be a value which was not found.
MIN_LIST_SHARE = 0.6
MAX_LIST_STARTS = 20
MAX_LOST_LENGTH = 100

# Typographic variants that Unicode's compatibility forms leave apart.
_VARIANTS = {"'": "‘’‚‛′`´ʼ", '"': "“”„‟″«»", "-": "‐‑‒–—―−", "x": "×", "/": "⁄"}
_PLAIN_SIGNS = str.maketrans(
    {
        **{variant: sign for sign, variants in _VARIANTS.items() for variant in variants},
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff"),
    }
)
_SIGN_PATTERNS = {sign: f"[{re.escape(sign)}{variants}]" for sign, variants in _VARIANTS.items()}

# Up to three signs, a word of up to five letters such as `and`, or both.
_SEPARATOR = re.compile(r"\s*(?:[^\w\s]{1,3}\s*)?(?:[^\W\d_]{1,5}\s+)?")

K = TypeVar("K")
_RowTexts = Sequence[tuple[int, str]]
_SIGNS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A place where a value occurs.

    Attributes:
        row: index of its first node among the nodes that were searched.
        mode: how the value fills the place.
        text: the value as it is written there.
        start: for a part or a pair, the offset in the node's text.
        nodes: for a span or a pair, the number of text nodes.
        values: if the text is a list of several labeled values, these, as they are written there.
        lost: how many further labeled values of the list were not found.
    """

    row: int
    mode: MatchMode
    text: str
    start: int = 0
    nodes: int = 1
    values: tuple[str, ...] = ()
    lost: int = 0

    @property
    def all_values(self) -> tuple[str, ...]:
        """The labeled values here: those of the list, or the one that the text is."""
        return self.values or (self.text,)


def clean_value(value: str) -> str:
    """Return a label's value as node texts are written: entities decoded, white space squeezed."""
    return squeeze(html.unescape(value))


letters_and_digits: Callable[[str], str] = (
    core.letters_and_digits if core else lambda text: _SIGNS.sub("", text.lower())
)
"""Returns only the letters and digits of a text, in lower case: the loosest form in which texts are compared."""


def comparable_text(text: str, step: MatchStep) -> str:
    """Return a text in the form in which a step compares it.

    >>> comparable_text("Chef’s  pie", "typographic")
    "Chef's pie"
    >>> comparable_text("Chef’s pie", "letters")
    'chefspie'
    """
    if step == "exact":
        return clean_value(text)
    if step == "letters":
        return letters_and_digits(html.unescape(text))
    return squeeze(unicodedata.normalize("NFKC", html.unescape(text)).translate(_PLAIN_SIGNS))


def locate_similar(nodes: Sequence[Node], value: str, step: MatchStep) -> list[Occurrence]:
    """Return the nodes whose complete text equals a value in a step that is looser than "exact".

    Short values are not compared by letters and digits alone.
    """
    wanted = comparable_text(value, step)
    if step == "letters" and not _is_comparable(value):
        return []
    rows = (row for row, node in enumerate(nodes) if comparable_text(node.text, step) == wanted)
    return [
        Occurrence(row, _complete_mode(nodes[row]), nodes[row].text) for row in islice(rows, MAX_OCCURRENCES)
    ]


def _is_comparable(value: str) -> bool:
    """Return True if a value is long enough to be compared by letters and digits alone."""
    if sum(map(str.isalpha, value)) >= MIN_COMPARED_LETTERS:
        return True
    return len(letters_and_digits(value)) >= MIN_COMPARED_SIGNS


def _complete_mode(node: Node) -> MatchMode:
    if node.kind == "element":
        return "element"
    return "attribute" if node.is_attribute else "node"


def locate_value(
    nodes: Sequence[Node], value: str, url: str = "", prefers_links: bool = False
) -> list[Occurrence]:
    """Return all exact occurrences of a value among the nodes of a page, text nodes before attributes.

    Args:
        nodes: the page's nodes in document order.
        value: the text to find, as a label gives it.
        url: the page's address; an attribute such as `img/1.png` then also matches the absolute link.
        prefers_links: return only attributes if any match, as for values of type `url` and `image`.
    """
    value = clean_value(value)
    attributes = [
        Occurrence(row, "attribute", value)
        for row, node in enumerate(nodes)
        if node.is_attribute and _is_link_or_text(node.text, value, url)
    ]
    if attributes and prefers_links:
        return attributes
    texts = [(row, node.text) for row, node in enumerate(nodes) if node.is_text]
    complete = [Occurrence(row, "node", value) for row, text in texts if text == value]
    spans = islice(_spans_of_nodes(nodes, texts, value), MAX_OCCURRENCES)
    return [*complete, *spans, *_parts_of_nodes(texts, value), *attributes]


def _is_link_or_text(text: str, value: str, url: str) -> bool:
    """Return True if an attribute is the value, or a relative form of the same link."""
    if text == value:
        return True
    if "/" not in value or text.rpartition("/")[2] != value.rpartition("/")[2]:
        return False
    try:
        return urljoin(url, text) == value
    except ValueError:
        return False


def _spans_of_nodes(nodes: Sequence[Node], texts: _RowTexts, value: str) -> Iterator[Occurrence]:
    """Yield where consecutive nodes are together the value, with the blanks that readers see, or a blank each.

    A span is extended as long as the value begins with it, so the time is linear for most pages.
    """
    wanted = value.replace(" ", "")
    for index, (row, text) in enumerate(texts):
        if text[:1] != wanted[:1]:
            continue
        joined = text.replace(" ", "")
        for count, (_, text) in enumerate(texts[index + 1 : index + MAX_SPAN_NODES], 2):
            if not wanted.startswith(joined):
                break
            joined += text.replace(" ", "")
            if joined == wanted:
                shown = join_texts(nodes[row], count)
                with_blanks = " ".join(text for _, text in texts[index : index + count])
                if value in (shown, with_blanks):
                    yield Occurrence(row, "span", shown, nodes=count)


def _parts_of_nodes(texts: _RowTexts, value: str) -> Iterator[Occurrence]:
    """Yield the nodes whose text contains the value, but not in the middle of a word."""
    pattern = _part_pattern(value, "exact")
    for row, text in texts:
        if value in text and value != text and (match := pattern.search(text)):
            yield Occurrence(row, "part", value, match.start())


def locate_parts(nodes: Sequence[Node], value: str, step: MatchStep) -> list[Occurrence]:
    """Return the text nodes and elements that contain a value; of elements inside each other, the innermost."""
    if step == "letters" and not _is_comparable(value):
        return []
    # Each letter and digit of the value is one of the text. A label may be as long as a file.
    min_length = min(sum(map(str.isalnum, text)) for text in (value, comparable_text(value, step)))
    found: list[Occurrence] = []
    for row, node in enumerate(nodes):
        is_short = node.is_text or (node.kind == "element" and len(node.text) <= MAX_PART_CONTEXT)
        if not is_short or len(node.text) < min_length:
            continue
        if match := _part_pattern(value, step).search(node.text):
            found.append(Occurrence(row, "part", match[0], match.start()))
    return _innermost(nodes, found)[:MAX_OCCURRENCES]


def locate_pairs(nodes: Sequence[Node], value: str) -> list[Occurrence]:
    """Return where a value begins in one text node and ends in a later one (Vertex III-C.4)."""
    return list(islice(_pairs_of_nodes(nodes, clean_value(value)), MAX_OCCURRENCES))


def _pairs_of_nodes(nodes: Sequence[Node], value: str) -> Iterator[Occurrence]:
    """Yield the pairs of nodes between which the joined texts contain the value, whatever blanks are between them."""
    words = value.split()
    if not words or sum(map(len, words)) > sum(len(node.text) for node in nodes if node.is_text):
        return
    first_word = _part_pattern(words[0], "exact")
    pattern = re.compile(r"\s*".join(map(re.escape, words)) + (r"(?!\w)" if value[-1:].isalnum() else ""))
    for row, node in enumerate(nodes):
        for match in first_word.finditer(node.text) if node.is_text else ():
            start = match.start()
            if value.startswith(node.text[start:]) and (pair := _shortest_pair(node, start, pattern)):
                yield Occurrence(row, "pair", pair[0], start, pair[1])


def _shortest_pair(node: Node, start: int, pattern: re.Pattern[str]) -> tuple[str, int] | None:
    """Return what a pattern matches from inside a node to a later one, and over how many nodes; None if nothing."""
    for count in range(2, MAX_SPAN_NODES + 1):
        if match := pattern.match(join_texts(node, count), start):
            return match[0], count
    return None


@lru_cache(maxsize=4096)
def _part_pattern(value: str, step: MatchStep) -> re.Pattern[str]:
    """Return a pattern that finds a value inside a text, but not in the middle of a word."""
    wanted = comparable_text(value, step)
    if step == "letters":
        inside = r"[\W_]*".join(map(re.escape, wanted))
    elif step == "typographic":
        inside = "".join(_SIGN_PATTERNS.get(sign) or re.escape(sign) for sign in wanted)
    else:
        inside = re.escape(wanted)
    start = r"(?<!\w)" if wanted[:1].isalnum() else ""
    end = r"(?!\w)" if wanted[-1:].isalnum() else ""
    return re.compile(start + inside + end, re.IGNORECASE if step == "letters" else 0)


# Values of a list in one text


def is_separator(text: str) -> bool:
    """Return True if a text between two values can separate them: signs, a short word, or a blank.

    >>> [is_separator(text) for text in (", ", " and ", ", und ", "/", " then add the ", "")]
    [True, True, True, True, False, False]
    """
    return bool(text) and _SEPARATOR.fullmatch(text) is not None


def locate_list(nodes: Sequence[Node], values: Sequence[str]) -> list[Occurrence]:
    """Return the nodes in whose text several values follow each other, with nothing but separators between them.

    Each occurrence is the text from the first value to the last. A few values may be missing, as labels may be wrong.
    Of elements inside each other only the innermost counts.
    """
    needed = max(2, ceil(MIN_LIST_SHARE * len(values)))
    lengths = sorted(map(len, map(letters_and_digits, values)))
    least = sum(lengths[:needed])
    candidates = [(row, node) for row, node in enumerate(nodes) if len(node.text) >= least]
    for step in MATCH_STEPS:
        patterns = [_list_pattern(value, step) for value in values]
        lists = (_list_in_text(row, node, patterns) for row, node in candidates)
        found = [occurrence for occurrence in lists if len(occurrence.values) >= needed]
        if found:
            return _innermost(nodes, found)[:MAX_OCCURRENCES]
    return []


def _list_pattern(value: str, step: MatchStep) -> re.Pattern[str]:
    """Return a pattern for a value of a list; short values are not compared by letters and digits alone."""
    return _part_pattern(value, step if _is_comparable(value) else "typographic")


def _list_in_text(row: int, node: Node, patterns: Sequence[re.Pattern[str]]) -> Occurrence:
    """Return where values follow each other in the text of a node; the occurrence has none if they do not."""
    matches = _follow_in_text(node.text, patterns)
    if not matches:
        return Occurrence(row, "part", "")
    start = matches[0].start()
    # If the last values were not found, the list may go on to the end of the text.
    end = matches[-1].end() if matches[-1].re is patterns[-1] else len(node.text)
    text = node.text[start:end]
    mode = _complete_mode(node) if text == node.text else "part"
    found = tuple(match[0] for match in matches)
    return Occurrence(row, mode, text, start, values=found, lost=len(patterns) - len(found))


def _follow_in_text(text: str, patterns: Sequence[re.Pattern[str]]) -> list[re.Match[str]]:
    """Return the longest run of matches of the patterns in their order, with separators between them."""
    for number, pattern in enumerate(patterns):
        starts = list(islice(pattern.finditer(text), MAX_LIST_STARTS))
        if starts:
            return max((_run_from(start, patterns[number + 1 :]) for start in starts), key=len)
    return []


def _run_from(start: re.Match[str], patterns: Iterable[re.Pattern[str]]) -> list[re.Match[str]]:
    """Return a match and those that follow it, each after a separator or a value that was not found."""
    matches = [start]
    is_missing = False
    for pattern in patterns:
        match = pattern.search(start.string, matches[-1].end())
        gap = start.string[matches[-1].end() : match.start()] if match else ""
        if is_separator(gap) or (is_missing and _may_contain_value(gap)):
            matches += [match] if match else []
            is_missing = False
        else:
            is_missing = True
    return matches


def _may_contain_value(gap: str) -> bool:
    """Return True if a text between two values may be a value that was not found, with separators around it."""
    return 0 < len(gap) <= MAX_LOST_LENGTH and not gap.lstrip()[:1].isalnum()


def _innermost(nodes: Sequence[Node], occurrences: Sequence[Occurrence]) -> list[Occurrence]:
    """Return the occurrences without those in elements that contain another such element."""
    elements = [nodes[found.row].element for found in occurrences if nodes[found.row].kind == "element"]
    outer: set[etree._Element] = set()
    for element in elements:
        outer.update(element.iterancestors())
    return [
        found
        for found in occurrences
        if nodes[found.row].kind != "element" or nodes[found.row].element not in outer
    ]


def locate_elements(
    nodes: Sequence[Node], value: str | None, root: etree._Element, xpath: str | None = None
) -> list[Occurrence]:
    """Return the element nodes whose texts together are a value, or that an XPath selects."""
    elements = [(row, node) for row, node in enumerate(nodes) if node.kind == "element"]
    if xpath is not None:
        selected = _elements_at(root, xpath)
        return [Occurrence(row, "element", node.text) for row, node in elements if node.element in selected]
    text = clean_value(value or "")
    same = (Occurrence(row, "element", text) for row, node in elements if node.text == text)
    return list(islice(same, MAX_OCCURRENCES))


def _elements_at(root: etree._Element, xpath: str) -> set[etree._Element]:
    """Return the elements that an XPath selects."""
    return {element for element, kind in nodes_at(root, xpath) if kind == "element"}


def locate_xpath(
    nodes: Sequence[Node], root: etree._Element, xpath: str, value: str | None = None
) -> list[Occurrence]:
    """Return the occurrences that an XPath pins.

    Args:
        nodes: the page's nodes in document order.
        root: the root element of their tree.
        xpath: selects elements, text nodes or attributes.
        value: the part of the selected text that is meant; None for all of it.
    """
    return list(islice(_pinned(nodes, root, xpath, value), MAX_OCCURRENCES))


def _pinned(
    nodes: Sequence[Node], root: etree._Element, xpath: str, value: str | None
) -> Iterator[Occurrence]:
    """Yield the occurrences at each result of an XPath; see `locate_xpath`."""
    wanted = None if value is None else squeeze(value)
    for kind, rows in nodes_by_xpath(dict(enumerate(nodes)), root, xpath):
        texts = [(row, nodes[row].text) for row in rows if nodes[row].is_text]
        if kind == "element":
            yield from _inside_element(nodes, texts, wanted)
        elif kind.startswith("@"):
            yield Occurrence(rows[0], "attribute", nodes[rows[0]].text if wanted is None else wanted)
        else:
            yield from _inside_texts(texts, wanted)


def _inside_element(nodes: Sequence[Node], texts: _RowTexts, value: str | None) -> list[Occurrence]:
    """Return all of an element's text as one occurrence, or the first of its text nodes that contains the value."""
    if not texts:
        return []
    row, all_text = texts[0][0], join_texts(nodes[texts[0][0]], len(texts))
    if value not in (None, all_text, " ".join(text for _, text in texts)):
        return _inside_texts(texts, value)[:1]
    if len(texts) == 1:
        return [Occurrence(row, "node", all_text)]
    return [Occurrence(row, "span", all_text, nodes=len(texts))]


def _inside_texts(texts: _RowTexts, value: str | None) -> list[Occurrence]:
    """Return the texts that are the value or contain it, preferably as words; all texts if no value is named."""
    occurrences: list[Occurrence] = []
    for row, text in texts:
        if value is None or value == text:
            occurrences.append(Occurrence(row, "node", text))
        elif value in text:
            words = _part_pattern(value, "exact").search(text)  # the R of "Rated R"
            occurrences.append(Occurrence(row, "part", value, words.start() if words else text.index(value)))
    return occurrences


def nodes_by_xpath(
    nodes: Mapping[K, Node], root: etree._Element, xpath: str
) -> Iterator[tuple[str, list[K]]]:
    """Yield for each result of an XPath its kind, and the keys of the nodes that belong to it.

    For an element these are all nodes inside it, in the order given; for a text or an attribute, its own node.
    Results that have no such node are skipped, and so is an XPath that is not valid.
    """
    for element, kind in nodes_at(root, xpath):
        if kind == "element":
            inside = set(element.iter())
            keys = [key for key, node in nodes.items() if node.parent in inside]
        else:
            keys = [key for key, node in nodes.items() if node.element is element and node.kind == kind]
        if keys:
            yield kind, keys


def match_texts(texts: Mapping[int, str], value: str) -> list[int]:
    """Return the keys of all texts that equal a value; if there are none, of the shortest text that contains it."""
    value = clean_value(value)
    same = [key for key, text in texts.items() if text == value]
    if same:
        return same
    around = [(len(text), key) for key, text in texts.items() if value in text]
    return [key for _, key in sorted(around)[:1]]
