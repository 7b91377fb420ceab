"""A page as numbered nodes in reading order: the one view of a page for language models, agents and the shell.

A line of an outline is a block of the page: where it is, then its text nodes, each with its number. The number of a
node is its position in `Page.nodes`, so it does not depend on what is shown. The values of the embedded data follow,
one number for each path. An answer such as "name is node 12" is all that a model has to write.

Outlines keep a budget of tokens. The site's own words are folded, except captions in front of values. If that is not
enough, long texts are cut, then places that repeat show fewer of their nodes, then the outline ends early. `…` with
two numbers says which nodes are folded; `outline_page(page, span=…)` shows them.

Texts of a page are written by others. They can neither begin a line nor forge a number: control characters and
numbers in square brackets are replaced.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from itertools import groupby, islice, zip_longest

from lxml import etree

from untemplate.errors import PageError
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.page.dom import INLINE_TAGS, SAFE_NAME, split_name, squeeze
from untemplate.page.embedded_data import DataPath, is_script
from untemplate.page.embedded_formats import html_to_text
from untemplate.page.page import Node, Page

__all__ = [
    "DEFAULT_BUDGET",
    "Outline",
    "OutlineNode",
    "SiteWords",
    "count_tokens",
    "find_site_words",
    "outline_page",
]

DEFAULT_BUDGET = 3_000
"""Tokens of an outline, at most. The median page of SWDE and of `recipes` needs less (`measure.outline`)."""

SiteWords = frozenset[tuple[str, str]]
"""The texts that the pages of a template share, each with its path: that of nodes or of embedded data."""

# Texts are a site's own words if this share of its pages has them at the same path.
SHARED_BY = 0.8
# Characters of a token, on average, where nothing counts them.
CHARACTERS_PER_TOKEN = 4
# The share of the budget that embedded data may use if the page needs the rest.
DATA_SHARE = 0.3
# Paths of embedded data that are read, and characters of a value. Pages with more have them in application state.
MAX_DATA_PATHS = 400
MAX_DATA_TEXT = 10_000

# Cells of a row of a table belong to one line: the first is often the caption of the second.
_INLINE_TAGS = INLINE_TAGS | {"img", "label", "td", "th"}
# What is folded if no other page of the site is known.
_FRAME_TAGS = frozenset({"footer", "nav"})
_IGNORED_TAGS = frozenset({"noscript", "option", "svg"})
_LINK_KINDS = frozenset({"@data-src", "@datetime", "@href", "@src"})

# Last words of the keys of embedded data whose values name somebody, as in `og:site_name`.
_NAMING_WORDS = (["name"], ["author"])

_FORGED_NUMBER = re.compile(r"\[(\d+)\]")
_ADDRESS = re.compile(r"(?:https?:)?//\S+")
_TELLING_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{2,}")
# Characters of a name of an element, and elements around a node that are searched for one.
MAX_NAME_LENGTH = 24
MAX_NAMED_LEVELS = 4


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much of a page is shown.

    Attributes:
        text: characters of a visible text.
        data: characters of the values at a path of embedded data.
        repeats: nodes at one path outside of rows.
        rows: rows of a list.
        has_names: True if the names of elements inside and around blocks are shown.
    """

    text: int
    data: int
    repeats: int
    rows: int
    has_names: bool = True


# From most to least; the first that keeps the budget is used. Chosen by looking at pages, not swept.
_DETAILS = (
    _Detail(text=300, data=120, repeats=80, rows=20),
    _Detail(text=160, data=60, repeats=60, rows=12),
    _Detail(text=100, data=40, repeats=40, rows=8),
    _Detail(text=60, data=30, repeats=30, rows=5),
    _Detail(text=60, data=30, repeats=30, rows=5, has_names=False),
    _Detail(text=40, data=24, repeats=20, rows=3, has_names=False),
    _Detail(text=25, data=20, repeats=20, rows=2, has_names=False),
)


@dataclass(frozen=True, slots=True)
class OutlineNode:
    """A numbered node of a page.

    Attributes:
        number: its number on the page.
        texts: its text; all values at a path of embedded data.
        xpath: the XPath of its node, or the path of embedded data.
        is_data: True for embedded data.
    """

    number: int
    texts: tuple[str, ...]
    xpath: str
    is_data: bool = False


@dataclass(frozen=True)
class Outline:
    """A page as numbered nodes.

    Attributes:
        text: the lines, as a model reads them.
        nodes: the nodes of these lines by number.
        folded: how many nodes are not shown.

    Example:
        >>> from untemplate import Page
        >>> outline = outline_page(Page(html="<h1>Chez Nous</h1><p class=phone>Tel: <b>555-0100</b></p>"))
        >>> print(outline.text)
        h1 [0] Chez Nous
        p.phone [1] Tel: [2] 555-0100
        >>> outline.nodes[2].xpath
        '/html/body/p/b/text()[1]'
    """

    text: str
    nodes: dict[int, OutlineNode]
    folded: int = 0

    @property
    def tokens(self) -> int:
        """The tokens of the text."""
        return count_tokens(self.text)


def count_tokens(text: str) -> int:
    """Return the number of tokens of a text: by tiktoken if that is installed, else four characters each."""
    encode = _find_encoder()
    return len(encode(text)) if encode else -(-len(text) // CHARACTERS_PER_TOKEN)


@cache
def _find_encoder() -> Callable[[str], Sequence[int]] | None:
    try:
        encoding = import_module("tiktoken").get_encoding("o200k_base")
    except (ImportError, OSError):  # not installed, or its table cannot be downloaded
        return None
    encoder: Callable[[str], Sequence[int]] = encoding.encode_ordinary
    return encoder


def find_site_words(pages: Iterable[Page], share: float = SHARED_BY) -> SiteWords:
    """Return the texts that this share of the pages of a template have in common, of nodes and of embedded data.

    Pages that cannot be read are ignored. Fewer than two pages have nothing in common.
    """
    counts: Counter[tuple[str, str]] = Counter()
    readable = 0
    for page in pages:
        with page.temporarily_parsed():
            try:
                pairs = set(page.path_texts())
            except PageError:
                continue
            pairs.update((str(path), text) for path, texts in _read_data(page) for text in texts)
        readable += 1
        counts.update(pairs)
    needed = max(2.0, share * readable)
    return frozenset(pair for pair, count in counts.items() if count >= needed)


def outline_page(
    page: Page,
    site_words: SiteWords = frozenset(),
    budget: int = DEFAULT_BUDGET,
    rows: Sequence[etree._Element] = (),
    links: bool = False,
    span: range | None = None,
) -> Outline:
    """Return a page as numbered nodes.

    Args:
        page: the page.
        site_words: what pages of its template share, from `find_site_words`; without it, navigation is folded.
        budget: tokens of the text, at most.
        rows: on a list page, the first element of each row. Lines then begin with the number of their row.
        links: True to show the targets of links and images, too.
        span: only nodes with these numbers, and nothing folded but what the budget requires.

    Raises:
        PageError: the page cannot be read.
    """
    entries = _visible_entries(page, site_words, rows, links)
    data = _data_entries(page, site_words, links)
    if span is not None:
        entries = [replace(entry, is_folded=False) for entry in entries if entry.number in span]
        data = [replace(entry, is_folded=False) for entry in data if entry.number in span]
    count = len(entries) + len(data)
    for detail in _DETAILS:
        visible_lines, data_lines = _write_visible(entries, detail), _write_data(data, detail)
        outline = _join_outline([*visible_lines, *data_lines], count)
        if outline.tokens <= budget:
            return outline
    return _join_outline(_shorten_outline(visible_lines, data_lines, budget), count)


@dataclass(frozen=True, slots=True)
class _Item:
    """A node that may be shown.

    Attributes:
        number: its number on the page.
        texts: its text, or the values at a path of embedded data.
        path: the tag path, or the path of embedded data.
        node: the node; None for embedded data.
        block: the element whose texts are one line.
        is_folded: True for the site's own words that are no caption.
        row: the number of its row, from 1; 0 outside of rows.
    """

    number: int
    texts: tuple[str, ...]
    path: str
    node: Node | None = None
    block: etree._Element | None = None
    is_folded: bool = False
    row: int = 0

    @property
    def list_element(self) -> etree._Element | None:
        """The element around the block, in which blocks at the same path are a list."""
        return None if self.block is None else self.block.getparent()

    def shown(self) -> OutlineNode:
        xpath = self.node.xpath if self.node else self.path
        return OutlineNode(self.number, self.texts, xpath, is_data=self.node is None)


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    entries: list[_Item]


def _visible_entries(
    page: Page, site_words: SiteWords, rows: Sequence[etree._Element], links: bool
) -> list[_Item]:
    """Return what readers see of a page, in order; with links, also the attributes that contain addresses."""
    row_numbers = {element: number for number, element in enumerate(rows, 1)}
    row_parent = rows[0].getparent() if rows else None
    row = 0
    entries: list[_Item] = []
    for number, node in enumerate(page.nodes):
        if not _is_worded(node, links):
            continue
        block, ancestors = _find_block(node)
        tags = {element.tag for element in ancestors}
        if tags & _IGNORED_TAGS:
            continue
        row = _find_row(ancestors, row_numbers, row_parent, row)
        is_folded = (node.path, node.text) in site_words if site_words else bool(tags & _FRAME_TAGS)
        entries.append(_Item(number, (node.text,), node.path, node, block, is_folded, row))
    return _unfold_lines(entries)


def _is_worded(node: Node, links: bool) -> bool:
    """Return True if a node is a text, or with links an address, of more than punctuation."""
    return (node.is_text or (links and node.kind in _LINK_KINDS)) and any(map(str.isalnum, node.text))


def _find_block(node: Node) -> tuple[etree._Element, list[etree._Element]]:
    """Return the element that makes the line of a node, and all elements around the node, the nearest first."""
    ancestors = [node.parent, *node.parent.iterancestors()]
    block = next((element for element in ancestors if element.tag not in _INLINE_TAGS), ancestors[-1])
    return block, ancestors


def _find_row(
    ancestors: Sequence[etree._Element],
    row_numbers: dict[etree._Element, int],
    row_parent: etree._Element | None,
    row_before: int,
) -> int:
    """Return the row of a node: that of its element, or the row before it if it is still among the rows."""
    for element in ancestors:
        if element in row_numbers:
            return row_numbers[element]
    return row_before if row_parent is not None and row_parent in ancestors else 0


def _unfold_lines(entries: Sequence[_Item]) -> list[_Item]:
    """Return the entries, of which only complete lines of the site's own words stay folded.

    Words are shown in a line with other texts, as captions are; in a line at the same path and in the same element as
    a line with other texts, as a member of a list is that several pages have; and right in front of other texts.
    """
    shown_blocks = {entry.block for entry in entries if not entry.is_folded}
    shown_lists = {(entry.path, entry.list_element) for entry in entries if not entry.is_folded}
    unfolded: list[_Item] = []
    for entry, following in zip_longest(entries, entries[1:]):
        is_beside_others = entry.block in shown_blocks or (entry.path, entry.list_element) in shown_lists
        is_shown = is_beside_others or _leads_to_text(entry, following, shown_blocks)
        unfolded.append(replace(entry, is_folded=False) if is_shown else entry)
    return unfolded


def _leads_to_text(entry: _Item, following: _Item | None, shown_blocks: Collection[etree._Element]) -> bool:
    """Return True if an entry is short and right in front of a text that is shown."""
    return len(entry.texts[0]) <= MAX_CAPTION_LENGTH and bool(following and following.block in shown_blocks)


def _read_data(page: Page) -> Iterator[tuple[DataPath, list[str]]]:
    """Yield the paths of the embedded data with their values as a page would show them, application state last."""
    for source in sorted(page.embedded.sources(), key=is_script):
        for data_object, values in page.embedded.outline(source):
            by_keys: dict[tuple[str, ...], list[str]] = {}
            for value in values:
                text = html_to_text(value.text[:MAX_DATA_TEXT])
                if any(map(str.isalnum, text)):
                    by_keys.setdefault(value.keys, []).append(text)
            for keys, texts in by_keys.items():
                yield DataPath(source, data_object.type, keys), texts


def _data_entries(page: Page, site_words: SiteWords, links: bool) -> list[_Item]:
    """Return the paths of the embedded data. Repeated values, addresses, and the site's own words are folded.

    The site's own words are shown if they are names, or in an object with values of this page: an author may be the
    same on all pages.
    """
    data = list(islice(_read_data(page), MAX_DATA_PATHS))
    page_objects = {
        (path.source, path.type) for path, texts in data if not _are_shared(path, texts, site_words)
    }
    entries: list[_Item] = []
    known: set[tuple[str, ...]] = set()
    for number, (path, texts) in enumerate(data, len(page.nodes)):
        values = tuple(texts)
        is_of_page = bool(path.type) and (path.source, path.type) in page_objects
        is_name = split_name(path.keys[-1])[-1:] in _NAMING_WORDS
        is_folded = _are_shared(path, texts, site_words) and not (is_of_page or is_name)
        is_folded |= values in known or (not links and all(map(_ADDRESS.fullmatch, texts)))
        if not is_folded:
            known.add(values)
        entries.append(_Item(number, values, str(path), is_folded=is_folded))
    return entries


def _are_shared(path: DataPath, texts: Iterable[str], site_words: SiteWords) -> bool:
    return all((str(path), text) in site_words for text in texts)


def _write_visible(entries: Sequence[_Item], detail: _Detail) -> list[_Line]:
    """Return the lines of the visible part of a page: one for each block, and one for each run of folded nodes."""
    lines: list[_Line] = []
    place, row = "", 0
    limited = _limit_repeats(entries, detail)
    for block, group in groupby(limited, key=lambda entry: None if entry.is_folded else entry.block):
        members = list(group)
        if block is None:
            lines.append(_Line(_write_folded(members), []))
            continue
        words = [] if members[0].row == row else [f"row {members[0].row}:" if members[0].row else "no row:"]
        block_place = _name_place(block) if detail.has_names else _name_element(block)
        if block_place != place:
            words.append(block_place)
        words += _write_members(members, block, detail)
        lines.append(_Line(" ".join(words), members))
        place, row = block_place, members[0].row
    return lines


def _limit_repeats(entries: Sequence[_Item], detail: _Detail) -> Iterator[_Item]:
    """Yield the entries; those of further rows, and of further lines at a path outside of rows, as folded."""
    counts: Counter[str] = Counter()
    block, is_more = None, False
    for entry in entries:
        if entry.row:
            is_more = entry.row > detail.rows
        elif entry.block is not block and not entry.is_folded:
            counts[entry.path] += 1
            is_more = counts[entry.path] > detail.repeats
        block = entry.block
        yield replace(entry, is_folded=True) if is_more else entry


def _write_members(members: Sequence[_Item], block: etree._Element, detail: _Detail) -> Iterator[str]:
    """Yield the words of a line: each node with its number, and the name of its own element if it has one."""
    name = ""
    for entry in members:
        node = entry.node
        if node is None:
            continue
        own_name = "" if node.parent is block else _name_element(node.parent)
        if detail.has_names and own_name != name and "." in own_name:
            yield own_name
        name = own_name
        kind = "" if node.is_text else f"{node.kind} "
        yield f"[{entry.number}] {kind}{_cut_line(entry.texts[0], detail.text)}"


def _write_data(entries: Iterable[_Item], detail: _Detail) -> list[_Line]:
    """Return a line for each path of embedded data that is not folded; those of one object follow its type."""
    lines: list[_Line] = []
    place = ""
    for entry in entries:
        if entry.is_folded:
            continue
        source, _, names = _clean(entry.path).partition(" ")
        type_, dot, keys = names.partition(".")
        entry_place = f"{source} {type_}" if dot else source
        count = f" ({len(entry.texts)} values)" if len(entry.texts) > 1 else ""
        line = f"[{entry.number}] {keys or names}{count}: {_cut_line(' | '.join(entry.texts), detail.data)}"
        lines.append(_Line(line if entry_place == place else f"{entry_place}: {line}", [entry]))
        place = entry_place
    return lines


def _write_folded(entries: Sequence[_Item]) -> str:
    first, last = entries[0].number, entries[-1].number
    return f"… {first}" if first == last else f"… {first}-{last}"


def _join_outline(lines: Sequence[_Line], count: int) -> Outline:
    """Return the outline of these lines, on a page with this many nodes."""
    nodes: dict[int, OutlineNode] = {}
    for line in lines:
        nodes |= {entry.number: entry.shown() for entry in line.entries}
    return Outline("\n".join(line.text for line in lines), nodes, count - len(nodes))


def _shorten_outline(visible: Sequence[_Line], data: Sequence[_Line], budget: int) -> list[_Line]:
    """Return the first lines of both parts that keep the budget."""
    least_data = _fill(data, int(DATA_SHARE * budget))
    kept = _fill(visible, budget - _tokens_of(least_data))
    return [*kept, *_fill(data, budget - _tokens_of(kept))]


def _fill(lines: Sequence[_Line], budget: int) -> list[_Line]:
    """Return the first lines that have no more than this many tokens."""
    kept: list[_Line] = []
    for line in lines:
        budget -= count_tokens(f"{line.text}\n")
        if budget < 0:
            break
        kept.append(line)
    return kept


def _tokens_of(lines: Iterable[_Line]) -> int:
    return sum(count_tokens(f"{line.text}\n") for line in lines)


def _name_place(block: etree._Element) -> str:
    """Return the name of an element, after that of the nearest element around it that has more than a tag."""
    name = _name_element(block)
    for ancestor in islice(block.iterancestors(), MAX_NAMED_LEVELS):
        if "." in (outer := _name_element(ancestor)):
            return f"{outer} {name}"
    return name


def _name_element(element: etree._Element) -> str:
    """Return the tag of an element, with the first of its names that is made of words."""
    tag = element.tag if SAFE_NAME.fullmatch(element.tag) else "*"
    for attribute in ("itemprop", "class", "id"):
        for name in (element.get(attribute) or "").split():
            if _TELLING_NAME.fullmatch(name):
                return f"{tag}.{name[:MAX_NAME_LENGTH]}"
    return tag


def _cut_line(text: str, length: int) -> str:
    text = _clean(text)
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def _clean(text: str) -> str:
    """Return a text in one line that contains no control characters and no number of a node."""
    printed = "".join(char if char.isprintable() else " " for char in text)
    return _FORGED_NUMBER.sub(r"(\1)", squeeze(printed))
