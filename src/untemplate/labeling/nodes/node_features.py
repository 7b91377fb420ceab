"""Features of a page's texts and of the elements around them, the input of the models of all methods.

Elements contribute names, emphasis, table headers, and values that span several texts. The words and the shape of a
text, its captions and names become bags of hashed features, one bag per distinct text, caption or slot. Features are
hashed by their names, which begin with the kind of feature. To rename a kind, train all models anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from lxml import etree

from untemplate.page import Node, squeeze, visible_text
from untemplate.page.arrays import Floats, Ints, Numbered
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.page.dom import element_names, split_name

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "HASHED_FEATURES",
    "Bags",
    "HeaderFinder",
    "Span",
    "Surroundings",
    "SurroundingsFinder",
    "address_words",
    "caption_features",
    "find_spans",
    "name_features",
    "shape_features",
    "topic_features",
    "without_plural",
    "word_features",
]

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
STRESSED = frozenset({"b", "strong", "em", "th", "big", *HEADINGS})
CELLS = frozenset({"td", "th", "dd"})
TABLE_SECTIONS = frozenset({"tbody", "thead", "tfoot"})
# The search for the cell around a text ends at these elements.
OUTSIDE_CELLS = frozenset({"table", "dl", "body", "html"})

# Words of class names and ids that are kept, the nearest first.
MAX_NAMES = 12
# An element with more texts, or more characters, is a section of a page and not a value.
MAX_TEXTS = 12
MAX_LENGTH = 1000

# Characters of a link's address that are read, and words of it that are used.
MAX_ADDRESS_LENGTH, MAX_ADDRESS_WORDS = 300, 8

# Features are hashed to this many numbers; labeled sites have about ten thousand features.
HASHED_FEATURES = 1 << 17
# Characters of a text that are read for words and for its shape, and words that are used.
MAX_WORD_CHARACTERS = 300
MAX_SHAPE_CHARACTERS = 60
MAX_WORDS = 40

# `12`, and words such as `k5dfc0`, which differ from page to page as numbers do.
_NUMBERS = re.compile(r"[^\W_]*\d[^\W\d_][^\W_]*|\d+")
_TOKENS = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_RUNS = re.compile(r"(.)\1+")
_SHAPES = str.maketrans(
    {**{chr(code): "A" for code in range(ord("A"), ord("Z") + 1)}, **dict.fromkeys("123456789", "0")}
    | {chr(code): "a" for code in range(ord("b"), ord("z") + 1)}
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the elements around a text say about it."""

    #: The two nearest classes or ids; numbers and codes in them are replaced.
    marks: tuple[str, ...] = ()
    #: The words of classes, ids and item properties, the nearest first.
    names: tuple[str, ...] = ()
    #: The words of the address of the link around it, without what differs from value to value.
    address: tuple[str, ...] = ()
    heading: bool = False
    main_heading: bool = False
    stressed: bool = False
    link: bool = False

    def inside(self, tag: str, name: str, address: tuple[str, ...] = ()) -> Surroundings:
        """Return the surroundings of a text in a child element.

        Args:
            tag: The tag of the element.
            name: Its classes, ids and item properties.
            address: The words of its address if it is a link.
        """
        if not name and tag not in STRESSED and tag != "a":
            return self
        marks, names = self.marks, self.names
        if name:
            marks = (_NUMBERS.sub("0", name), *marks[:1])
            names = (*split_name(name)[:MAX_NAMES], *names)[:MAX_NAMES]
        return Surroundings(
            marks,
            names,
            address or self.address,
            self.heading or tag in HEADINGS,
            self.main_heading or tag == "h1",
            self.stressed or tag in STRESSED,
            self.link or tag == "a",
        )


class SurroundingsFinder:
    """Finds the surroundings of elements.

    Elements of many pages are alike, so what equal elements in equal surroundings add is computed once.
    """

    def __init__(self) -> None:
        self._numbers: Numbered[Surroundings] = Numbered()
        #: The distinct surroundings; `number_of` returns their numbers.
        self.distinct: list[Surroundings] = []
        self._inside: dict[tuple[int, str, str, tuple[str, ...]], int] = {}
        self._addresses: dict[str, tuple[str, ...]] = {}
        self._outside = self._number(Surroundings())
        self._found: dict[etree._Element | None, int] = {}

    def start_page(self) -> None:
        """Forget the elements of the last page."""
        self._found = {None: self._outside}

    def number_of(self, element: etree._Element) -> int:
        """Return the number of the surroundings inside of an element of the page."""
        chain = []
        outer: etree._Element | None = element
        while outer is not None and outer not in self._found:
            chain.append(outer)
            outer = outer.getparent()
        number = self._found[outer]
        for inner in reversed(chain):
            key = (number, inner.tag, element_names(inner), self._address_of(inner))
            if key not in self._inside:
                self._inside[key] = self._number(self.distinct[number].inside(*key[1:]))
            number = self._found[inner] = self._inside[key]
        return number

    def _address_of(self, element: etree._Element) -> tuple[str, ...]:
        """Return the words of the address of a link; links of many pages have the same one."""
        address = element.get("href") if element.tag == "a" else None
        if not address:
            return ()
        if address not in self._addresses:
            self._addresses[address] = address_words(address)
        return self._addresses[address]

    def _number(self, surroundings: Surroundings) -> int:
        number = self._numbers[surroundings]
        if number == len(self.distinct):
            self.distinct.append(surroundings)
        return number


def address_words(address: str) -> tuple[str, ...]:
    """Return the words that name what a link leads to: directories and names of parameters, not their values.

    >>> address_words("http://example.com/books/byAuthor/Jane-Doe?sort=price&page=2")
    ('books', 'by', 'author', 'sort', 'page')
    """
    path, _, query = address[:MAX_ADDRESS_LENGTH].partition("#")[0].partition("?")
    if path.startswith("javascript:"):
        return ()
    if "//" in path:
        path = path.partition("//")[2].partition("/")[2]
    directories = path.strip("/").split("/")[:-1]
    parameters = [parameter.partition("=")[0] for parameter in query.split("&") if parameter]
    words = [word for part in (*directories, *parameters) for word in split_name(part) if word.isalpha()]
    return tuple(dict.fromkeys(words))[:MAX_ADDRESS_WORDS]


class HeaderFinder:
    """Finds the captions that tables and definition lists of one page give their cells.

    It remembers what it found, so that every element is visited once.
    """

    def __init__(self) -> None:
        self._cell: dict[etree._Element, etree._Element | None] = {}
        self._position: dict[etree._Element, int] = {}
        self._term: dict[etree._Element, str] = {}
        self._first_row: dict[etree._Element, list[etree._Element]] = {}

    def header(self, element: etree._Element) -> str:
        """Return the column header, or the term, of the cell that contains an element; empty if there is none."""
        cell = self._cell_around(element)
        if cell is None:
            return ""
        return self._term_of(cell) if cell.tag == "dd" else self._column_header(cell)

    def _cell_around(self, element: etree._Element | None) -> etree._Element | None:
        visited = []
        cell: etree._Element | None = None
        while element is not None and element.tag not in OUTSIDE_CELLS:
            if element in self._cell:
                cell = self._cell[element]
                break
            visited.append(element)
            if element.tag in CELLS:
                cell = element
                break
            element = element.getparent()
        self._cell.update(dict.fromkeys(visited, cell))
        return cell

    def _column_header(self, cell: etree._Element) -> str:
        """Return the text in the table's first row above a cell."""
        row = cell.getparent()
        headers = self._first_row_of(row)
        if not headers or headers[0].getparent() is row:
            return ""
        if cell not in self._position:
            self._position.update((c, i) for i, c in enumerate(row.iterchildren("td", "th")))
        position = self._position[cell]
        return _header_text(headers[position]) if position < len(headers) else ""

    def _first_row_of(self, row: etree._Element | None) -> list[etree._Element]:
        """Return the cells of the first row of the table around a row."""
        around = row.iterancestors() if row is not None else ()
        table = next((element for element in around if element.tag not in TABLE_SECTIONS), None)
        if table is None or table.tag != "table":
            return []
        if table not in self._first_row:
            first = next(table.iter("tr"), None)
            self._first_row[table] = [] if first is None else list(first.iterchildren("td", "th"))
        return self._first_row[table]

    def _term_of(self, cell: etree._Element) -> str:
        """Return the term before a `dd`; the terms of its whole list are remembered."""
        if cell not in self._term:
            term = ""
            for child in cell.getparent().iterchildren("dt", "dd"):
                if child.tag == "dt":
                    term = _header_text(child)
                else:
                    self._term[child] = term
        return self._term[cell]


def _header_text(element: etree._Element) -> str:
    """Return the text of a caption; empty if it is too long to be one."""
    length, parts = 0, []
    for part in element.itertext(etree.Element):
        length += len(part)
        if length > 4 * MAX_CAPTION_LENGTH:
            return ""
        parts.append(part)
    text = squeeze(" ".join(parts))
    return text if len(text) <= MAX_CAPTION_LENGTH else ""


# Values that span several text nodes

Span = tuple[Node, int, int]
"""An element with several texts, and the numbers of its first and last text."""


class _Content:
    """What was found so far inside of an element."""

    __slots__ = ("count", "first", "last", "length")

    def __init__(self, first: int) -> None:
        self.first, self.last, self.count, self.length = first, first, 0, 0

    def add(self, number: int, length: int) -> None:
        self.last = number
        self.count += 1
        self.length += length

    @property
    def is_too_much(self) -> bool:
        return self.count > MAX_TEXTS or self.length > MAX_LENGTH


_Contents = dict[etree._Element, _Content | None]
"""What each element contains; None for elements that contain too much."""


def find_spans(nodes: Sequence[Node]) -> list[Span]:
    """Return candidate values that span several text nodes, such as an address with a line break.

    They are elements with 2 to 12 texts. If several elements contain the same texts, the innermost is returned.
    """
    spans: dict[tuple[int, int], etree._Element] = {}
    for element, content in _collect_contents(nodes).items():
        if content is not None and content.count > 1:
            spans.setdefault((content.first, content.last), element)
    return [
        (Node(element, "element", visible_text(element)), first, last)
        for (first, last), element in sorted(spans.items(), key=lambda span: span[0])
    ]


def _collect_contents(nodes: Sequence[Node]) -> _Contents:
    """Add each text to the elements around it, from the inside out, until one of them contains too much."""
    contents: _Contents = {}
    for number, node in enumerate(nodes):
        element = node.parent if node.is_text else None
        while element is not None:
            if element not in contents:
                contents[element] = _Content(number)
            content = contents[element]
            if content is None:
                break
            content.add(number, len(node.text))
            if content.is_too_much:
                contents.update(dict.fromkeys(_give_up(element, contents)))
                break
            element = element.getparent()
    return contents


def _give_up(element: etree._Element | None, contents: _Contents) -> list[etree._Element]:
    """Return an element that contains too much and the elements around it, which contain even more."""
    too_large = []
    while element is not None and contents.get(element, element) is not None:
        too_large.append(element)
        element = element.getparent()
    return too_large


class _FeatureHashes(dict[str, int]):
    """The number of each feature; features repeat, so each is hashed once."""

    def __missing__(self, feature: str) -> int:
        self[feature] = number = crc32(feature.encode("utf-8", "replace")) % HASHED_FEATURES
        return number


class Bags:
    """Bags of hashed features. As vectors they have length 1, so that long texts weigh no more than short ones."""

    def __init__(self, bags: Iterable[Iterable[str]]) -> None:
        indices: list[int] = []
        starts = [0]
        hashes = _FeatureHashes()
        for bag in bags:
            indices += {hashes[feature] for feature in bag}
            starts.append(len(indices))
        self.indices: Ints = np.array(indices, np.int32)
        self.starts: Ints = np.array(starts, np.int32)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def _lengths(self) -> Floats:
        lengths: Floats = np.sqrt(np.maximum(1, np.diff(self.starts))).astype(np.float32)
        return lengths

    def score(self, weights: Floats, intercept: float) -> Floats:
        """Return the score of each bag by a linear model with these weights."""
        sums = np.concatenate([[0.0], np.cumsum(weights[self.indices], dtype=np.float64)])
        totals: Floats = (sums[self.starts[1:]] - sums[self.starts[:-1]]).astype(np.float32)
        return totals / self._lengths + np.float32(intercept)

    def matrix(self) -> csr_matrix:
        """Return the bags as a sparse matrix, for training."""
        from scipy.sparse import csr_matrix

        values = np.repeat(1 / self._lengths, np.diff(self.starts))
        return csr_matrix((values, self.indices, self.starts), shape=(len(self), HASHED_FEATURES))


def word_features(text: str) -> list[str]:
    """Return the words of a text, and for numbers also the number of digits.

    >>> word_features("Tel: 55512")
    ['word tel', 'word :', 'digits 5']
    """
    features = []
    for token in _TOKENS.findall(text[:MAX_WORD_CHARACTERS])[:MAX_WORDS]:
        if token[0].isdigit():
            features.append(f"digits {len(token)}")
            if len(token) > 3:
                continue
        features.append(f"word {token.lower()}")
    return features


def shape_features(text: str) -> list[str]:
    """Return what a text looks like: its letters, digits and signs, its length, and all runs of three characters."""
    shape = text[:MAX_SHAPE_CHARACTERS].translate(_SHAPES)
    runs = _RUNS.sub(r"\1+", shape)
    words = shape.split() or [""]
    characters = "^" + re.sub(r"\d", "0", text[:MAX_SHAPE_CHARACTERS].lower()) + "$"
    return [
        f"runs {runs}",
        f"shape {shape[:30]}",
        f"first {words[0]}",
        f"last {words[-1]}",
        f"tokens {min(12, len(_TOKENS.findall(text[:MAX_WORD_CHARACTERS])))}",
        f"length {min(18, int(2 * np.log2(len(text) + 1)))}",
        *(f"three {characters[at : at + 3]}" for at in range(len(characters) - 2)),
    ]


def caption_features(captions: Iterable[str]) -> list[str]:
    """Return the words of captions, and each caption as a whole."""
    features = []
    for caption in captions:
        words = split_name(caption)
        features += [f"label {word}" for word in words]
        features.append(f"whole label {' '.join(words)}")
    return features


def name_features(around: Surroundings, path: str, following: str) -> list[str]:
    """Return the words of class names and ids, the nearest tags, and the words of the static text that follows."""
    return [
        *(f"name {name}" for name in around.names),
        *(f"address {word}" for word in around.address),
        *(f"tag {tag}" for tag in path.split("/")[-4:-1]),
        *(f"after {word}" for word in split_name(following)),
    ]


def topic_features(text: str, captions: Iterable[str]) -> list[str]:
    """Return the words of a text and its captions, all alike: `mpg` may be part of either."""
    words: set[str] = set()
    for caption in captions:
        words.update(split_name(caption))
    words.update(split_name(text[:MAX_WORD_CHARACTERS])[:MAX_WORDS])
    return [f"topic {word}" for word in words if not word.isdigit()]


def without_plural(word: str) -> str:
    """Return a word without the s of the plural: `Engines` name an engine."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
