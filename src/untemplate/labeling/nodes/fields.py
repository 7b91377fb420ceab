"""Data fields: nodes of different pages that play the same role, and examples of fields from labels.

A field has at most one row per page. What the rows of a field have in common differs from site to site, so fields are
formed in three ways, and a row can belong to three of them; whoever uses them decides which fit. On labeled sites,
labels show which rows contain an attribute and which do not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from lxml import etree

from untemplate.labeling.label import Label
from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.page import Node
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, group_rows, ordinals
from untemplate.page.locating import clean_value, match_texts, nodes_by_xpath
from untemplate.schema import Attribute, Type
from untemplate.value_types import find_typed

__all__ = [
    "ANY_TEXT",
    "NEAR",
    "Examples",
    "Fields",
    "all_values",
    "kinds_of",
    "locate_examples",
    "pinned_rows",
    "presume_examples",
]

# A caption is near if it is at most this many rows before the row.
NEAR = 3
# Rows with the same caption must share this many of the last tags of their paths.
TAIL = 4
# A field is on at least this share of the pages, and on two.
MIN_COVERAGE = 0.08
# Rows with the same slot and caption on one page become different fields by their order, up to this many. What
# follows in a long list is no field.
MAX_ORDINAL = 40
# Types whose values any text, or any node of the right kind, may be.
ANY_TEXT: frozenset[Type] = frozenset({"text", "url", "image"})
# A prefix is shared by at least this share of a field's distinct texts.
MIN_PREFIX_SHARE = 0.6
# A caption such as `Weight: ` inside of texts is on at least this share of the pages.
MIN_COLON_SHARE = 0.2
# Characters of a text in which a shared prefix is looked for.
MAX_PREFIX_LENGTH = 200
# With more values of one attribute on a page they are a list of something else.
MAX_VALUES = 20
# Characters between two values of a list; a longer text is the caption of the second.
MAX_SEPARATOR_LENGTH = 3

_COLON = re.compile(r"([^\d:]{2,40}:)\s+\S")


class Fields:
    """The data fields of a site.

    A row can belong to several fields, so memberships are pairs: row `row[i]` belongs to field `field[i]`.

    Attributes:
        table: The nodes of the site's pages.
        row: The row of each membership.
        field: The field of each membership.
        grouping: How each field was formed: 0 by slot, 1 by slot and caption, 2 by caption.
    """

    def __init__(self, table: NodeTable) -> None:
        self.table = table
        self._form()

    def _form(self) -> None:
        """Form fields by slot, by slot and caption, and by caption; drop rare ones and those that exist already."""
        table = self.table
        empty = np.zeros(0, np.int32)
        rows, fields, groupings = [empty], [empty], [empty]
        formed: set[tuple[float, int]] = set()
        count = 0
        min_pages = max(2.0, MIN_COVERAGE * len(table.pages))
        # The sum of its rows' random numbers identifies a set of rows.
        fingerprints = np.random.default_rng(0).random(len(table))
        for grouping, (kind, eligible) in enumerate(self._groupings()):
            ordinal = ordinals(table.page, kind)
            chosen = np.flatnonzero(eligible & (ordinal < MAX_ORDINAL)).astype(np.int32)
            field = group_rows(kind[chosen], ordinal[chosen])
            sums, sizes = np.bincount(field, fingerprints[chosen]).tolist(), np.bincount(field).tolist()
            kept = np.zeros(int(field.max(initial=-1)) + 1, np.bool_)
            for number, key in enumerate(zip(sums, sizes, strict=True)):
                if key[1] >= min_pages and key not in formed:
                    formed.add(key)
                    kept[number] = True
            inside = kept[field]
            rows.append(chosen[inside])
            fields.append((np.cumsum(kept, dtype=np.int32) - 1)[field[inside]] + count)
            groupings.append(np.full(int(kept.sum()), grouping, np.int32))
            count += int(kept.sum())
        self.row: Ints = np.concatenate(rows)
        self.field: Ints = np.concatenate(fields)
        self.grouping: Ints = np.concatenate(groupings)

    def _groupings(self) -> list[tuple[Ints, Bools]]:
        """Return three columns that group rows, each with the rows that it applies to."""
        table = self.table
        if not len(table):
            return []
        paths = Numbered[str]()
        tails = np.array([paths["/".join(path.split("/")[-TAIL:])] for path in table.paths], np.int32)
        everywhere = np.ones(len(table), np.bool_)
        has_caption = (table.caption_distance <= NEAR) & (table.caption >= 0)
        return [
            (group_rows(table.slot), everywhere),
            (group_rows(table.slot, table.caption), everywhere),
            (group_rows(table.caption, tails[table.path]), has_caption),
        ]

    def __len__(self) -> int:
        return len(self.grouping)

    @cached_property
    def size(self) -> Ints:
        """How many rows, and so pages, each field has."""
        return np.bincount(self.field, minlength=len(self)).astype(np.int32)

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.field, kind="stable")
        return self.row[order], np.concatenate([[0], np.cumsum(self.size)]).astype(np.int32)

    def rows_of(self, field: int) -> Ints:
        """Return the rows of a field, in page order."""
        rows, starts = self._order
        return np.sort(rows[starts[field] : starts[field + 1]])

    def mean(self, column: npt.NDArray[np.generic]) -> Floats:
        """Return the mean of a column over each field's rows."""
        sums = np.bincount(self.field, weights=column[self.row].astype(np.float64), minlength=len(self))
        return (sums / np.maximum(1, self.size)).astype(np.float32)

    # Values: texts without a caption that is part of them

    @cached_property
    def _stripped(self) -> tuple[Ints, list[str], Ints, list[str]]:
        """Split each text into a caption and a value.

        Returns:
            The number of each row's value, the distinct values, the number of each row's caption (−1 for none), and
            the distinct captions.
        """
        table = self.table
        prefix_by_row: dict[int, str] = {}
        for field in np.flatnonzero(self.grouping <= 1).tolist():
            prefix_by_row |= self._shared_prefix(field)
        prefix_by_text = self._colon_prefixes()
        values, prefixes = Numbered[str](), Numbered[str]()
        value, prefix = np.zeros(len(table), np.int32), np.full(len(table), -1, np.int32)
        for row, number in enumerate(table.text.tolist()):
            text = table.texts[number]
            start = prefix_by_text.get(number) or prefix_by_row.get(row)
            if start:
                prefix[row] = prefixes[start]
                text = text[len(start) :].strip()
            value[row] = values[text]
        return value, list(values), prefix, list(prefixes)

    def _shared_prefix(self, field: int) -> dict[int, str]:
        """Return, by row, the words that most texts of a field begin with: captions that share the value's node."""
        rows = self.rows_of(field)
        rows = rows[~self.table.is_static[rows]]
        texts = {int(number): self.table.texts[number] for number in self.table.text[rows]}
        if len(texts) < 3:
            return {}
        prefix = _shared_words_of([text[:MAX_PREFIX_LENGTH].split(" ") for text in texts.values()])
        if not prefix:
            return {}
        with_prefix = {number for number, text in texts.items() if text.startswith(f"{prefix} ")}
        return {row: prefix for row in rows.tolist() if int(self.table.text[row]) in with_prefix}

    def _colon_prefixes(self) -> dict[int, str]:
        """Return, by text, its beginning such as `Weight:` if that recurs on many pages."""
        table = self.table
        matches = {number: _COLON.match(text[:80]) for number, text in enumerate(table.texts)}
        prefixes = {number: match[1] for number, match in matches.items() if match}
        pages: dict[str, set[int]] = {}
        has_colon = np.zeros(len(table.texts), np.bool_)
        has_colon[list(prefixes)] = True
        for row in np.flatnonzero(has_colon[table.text]).tolist():
            pages.setdefault(prefixes[int(table.text[row])], set()).add(int(table.page[row]))
        min_pages = max(2.0, MIN_COLON_SHARE * len(table.pages))
        return {number: prefix for number, prefix in prefixes.items() if len(pages[prefix]) >= min_pages}

    @property
    def value(self) -> Ints:
        """The number of each row's text without a caption that is part of it."""
        return self._stripped[0]

    @property
    def values(self) -> list[str]:
        """The distinct values; `value` numbers them."""
        return self._stripped[1]

    @property
    def prefix(self) -> Ints:
        """The number of the caption that is part of each row's text; −1 if there is none."""
        return self._stripped[2]

    @property
    def prefixes(self) -> list[str]:
        """The distinct captions inside of texts; `prefix` numbers them."""
        return self._stripped[3]

    def strip_caption(self, row: int, type: Type) -> str:
        """Return the text of a row without a caption such as `Tel:` or `by`; for most types, only the typed value.

        First words that many names share, such as `The`, are kept.
        """
        prefix = self.prefixes[self.prefix[row]] if self.prefix[row] >= 0 else ""
        is_caption = prefix.endswith(":") or prefix.rpartition(" ")[2].islower()
        text = self.values[self.value[row]] if is_caption else self.table.texts[self.table.text[row]]
        return text if type in ANY_TEXT else find_typed(text, type) or text

    # Captions of rows

    @cached_property
    def caption(self) -> Ints:
        """The number of each row's captions: before it, in its table's header, and at the start of its text."""
        return group_rows(self._near_caption, self.table.header, self.prefix)

    @cached_property
    def captions(self) -> list[tuple[str, ...]]:
        """The captions with each number in `caption`, the nearest first."""
        table = self.table
        sources = (
            (self.prefix, self.prefixes),
            (self._near_caption, table.texts),
            (table.header, table.headers),
        )
        first_rows = np.unique(self.caption, return_index=True)[1].tolist()
        return [
            tuple(texts[column[row]] for column, texts in sources if column[row] >= 0) for row in first_rows
        ]

    @cached_property
    def _near_caption(self) -> Ints:
        """The number of the caption right before each row; −1 if it is further away than NEAR rows."""
        table = self.table
        return np.where(table.caption_distance <= NEAR, table.caption, -1).astype(np.int32)

    # Candidates

    @cached_property
    def is_candidate(self) -> Bools:
        """Whether each field may contain an attribute: it varies, and is where values are looked for."""
        return self.mean(self.table.is_excluded | self.table.is_template) < 0.5

    def candidates(self, kinds: Sequence[str]) -> Ints:
        """Return the fields of these kinds of nodes (`text()`, `@src` …) that may contain an attribute."""
        has_kind = self.mean(self.table.has_kind(kinds)) > 0.5
        return np.flatnonzero(self.is_candidate & has_kind).astype(np.int32)


def _shared_words_of(texts: Sequence[list[str]]) -> str:
    """Return the words without digits that most texts begin with; the last word of a text is never among them."""
    min_count = MIN_PREFIX_SHARE * len(texts)
    prefix: list[str] = []
    alike = [words for words in texts if len(words) > 1]  # those that begin with the prefix and go on
    while alike:
        word, count = Counter(words[len(prefix)] for words in alike).most_common(1)[0]
        if count < min_count or any(map(str.isdigit, word)):
            break
        prefix.append(word)
        alike = [words for words in alike if words[: len(prefix)] == prefix and len(words) > len(prefix) + 1]
    return " ".join(prefix)


def all_values(table: NodeTable, rows: Ints) -> Ints:
    """Extend rows of an attribute with many values to all values of the list that each row is part of.

    Members that belong to the template, such as the first link of a breadcrumb, are no values.
    """
    extended: set[int] = set()
    for row in rows.tolist():
        page = table.page[row]
        first, last = table.starts[page], table.starts[page + 1]
        alike = np.flatnonzero(table.slot[first:last] == table.slot[row]) + first
        alike = alike[~table.is_template[alike] | (alike == row)]
        block = _list_around(table.nodes[row])
        alike = alike[[_list_around(table.nodes[other]) is block for other in alike.tolist()]]
        breaks = [not _are_listed(table, *pair) for pair in pairwise(alike.tolist())]
        part = np.cumsum([0, *breaks])
        values = alike[part == part[np.searchsorted(alike, row)]]
        extended.update(values.tolist() if len(values) <= MAX_VALUES else [row])
    return np.array(sorted(extended), np.int32)


def _list_around(node: Node) -> etree._Element:
    """Return the element two levels above a value's element: the `ul` of `ul/li/a`."""
    element = node.parent
    for _ in range(2):
        parent = element.getparent()
        element = element if parent is None else parent
    return element


def _are_listed(table: NodeTable, row: int, next_row: int) -> bool:
    """Return True if only a comma or an `and` is between two rows."""
    between = range(table.last[row] + 1, table.first[next_row])
    return all(len(table.texts[table.text[other]]) <= MAX_SEPARATOR_LENGTH for other in between)


# A text can equal a label's value by chance. Rows become examples only if at least this share of their field's rows
# on labeled pages contain the attribute, and the field covers at least this share of the labeled pages.
MIN_PRECISION = 0.5
MIN_SHARE = 0.02

_KINDS: dict[Type, tuple[str, ...]] = {"image": ("@src", "@data-src"), "url": ("@href", "text()")}


@dataclass(frozen=True)
class Examples:
    """The examples of one attribute on one labeled site."""

    #: Rows that contain the attribute.
    positive: Bools
    #: Rows of labeled pages that could contain it but do not. Elements with several texts only if some are positive.
    negative: Bools
    #: For each field, how well it matches the attribute.
    weight: Floats
    #: How many texts with a caption in them, such as `Tel: 555`, are labeled without it.
    stripped: int = 0
    #: How many of them are labeled with it.
    unstripped: int = 0


def kinds_of(attribute: Attribute) -> tuple[str, ...]:
    """Return the kinds of nodes that can contain an attribute."""
    return _KINDS.get(attribute.type, ("text()",))


def locate_examples(fields: Fields, labels: Iterable[Label], attribute: Attribute) -> Examples | None:
    """Return the examples of an attribute; None if its labels match nothing on the pages."""
    table = fields.table
    labels_by_page = _group_by_page(table, labels, attribute.name)
    eligible = table.has_kind(kinds_of(attribute)) & ~table.is_excluded
    is_labeled, on_labeled_page = np.zeros(len(table), np.bool_), np.zeros(len(table), np.bool_)
    stripped = unstripped = 0
    for page, page_labels in labels_by_page.items():
        start, stop = int(table.starts[page]), int(table.starts[page + 1])
        on_labeled_page[start:stop] = True
        rows = _find_rows(table, [row for row in range(start, stop) if eligible[row]], page_labels)
        is_labeled[rows] = True
        without_caption, with_caption = _count_captions(fields, rows, page_labels, attribute.type)
        stripped += without_caption
        unstripped += with_caption
    page_count = sum(
        any(not label.is_gap for label in page_labels) for page_labels in labels_by_page.values()
    )
    precision = _mean_over(fields, is_labeled, on_labeled_page)
    share = np.bincount(fields.field, weights=is_labeled[fields.row], minlength=len(fields)) / max(
        1, page_count
    )
    is_good = (precision >= MIN_PRECISION) & (share >= MIN_SHARE)
    in_good_field = np.zeros(len(table), np.bool_)
    in_good_field[fields.row[is_good[fields.field]]] = True
    positive = is_labeled & in_good_field
    if not positive.any():
        return None
    negative = _choose_negative(table, positive, on_labeled_page & eligible & ~is_labeled)
    weight = np.where(is_good, precision * share, 0)
    return Examples(positive, negative, (weight / weight.sum()).astype(np.float32), stripped, unstripped)


def presume_examples(fields: Fields, field: int) -> Examples:
    """Return the examples of an attribute that a field is believed to contain.

    Other rows with the same values on a page are no examples at all: they may be the attribute as well.
    """
    table = fields.table
    positive = np.zeros(len(table), np.bool_)
    positive[fields.rows_of(field)] = True
    text_on_page = table.page.astype(np.int64) * len(table.texts) + table.text
    differs = np.isin(table.page, table.page[positive]) & ~np.isin(text_on_page, text_on_page[positive])
    eligible = table.has_kind(["text()"]) & ~table.is_excluded
    weight = np.zeros(len(fields), np.float32)
    weight[field] = 1
    return Examples(positive, _choose_negative(table, positive, eligible & differs), weight)


def _group_by_page(table: NodeTable, labels: Iterable[Label], attribute: str) -> dict[int, list[Label]]:
    """Return the labels of an attribute by the number of their page."""
    numbers: dict[str, int] = {}
    for number, page in enumerate(table.pages):
        numbers |= {page.url: number, page.id: number}
    by_page: dict[int, list[Label]] = {}
    for label in labels:
        if label.attribute == attribute and label.page in numbers:
            by_page.setdefault(numbers[label.page], []).append(label)
    return by_page


def _count_captions(
    fields: Fields, rows: Sequence[int], labels: Sequence[Label], type: Type
) -> tuple[int, int]:
    """Return how many labeled texts with a caption in them are labeled without it, and how many with it."""
    values = {clean_value(label.value) for label in labels if label.value is not None}
    without = including = 0
    for row in rows:
        text, stripped = fields.table.nodes[row].text, fields.strip_caption(row, type)
        if text != stripped:
            without += stripped in values
            including += text in values
    return without, including


def _choose_negative(table: NodeTable, positive: Bools, eligible: Bools) -> Bools:
    """Return the eligible rows that can serve as negative examples."""
    some_span = (positive & table.spans_nodes).any()
    return eligible & ~table.is_template & (some_span | ~table.spans_nodes)


def _mean_over(fields: Fields, column: Bools, chosen: Bools) -> Floats:
    """Return the mean of a column over the chosen rows of each field."""
    inside = chosen[fields.row]
    counts = np.bincount(fields.field[inside], minlength=len(fields))
    sums = np.bincount(fields.field[inside], weights=column[fields.row[inside]], minlength=len(fields))
    return (sums / np.maximum(1, counts)).astype(np.float32)


def _find_rows(table: NodeTable, rows: Sequence[int], labels: Iterable[Label]) -> list[int]:
    """Return those of a page's rows that its labels mean."""
    labeled: list[int] = []
    for label in labels:
        if label.xpath is not None:
            labeled += pinned_rows(table, rows, label.xpath)
        elif label.value is not None:
            labeled += _rows_with_value(table, rows, label.value)
    return labeled


def _rows_with_value(table: NodeTable, rows: Sequence[int], value: str) -> list[int]:
    """Return all texts that equal a value; else elements that do; else the shortest row that contains it."""
    matching = match_texts({row: table.nodes[row].text for row in rows}, value)
    return [row for row in matching if not table.spans_nodes[row]] or matching


def pinned_rows(table: NodeTable, rows: Sequence[int], xpath: str) -> list[int]:
    """Return those of a page's rows that an XPath selects.

    For an XPath of an element this is the row of the largest element inside of it that has several texts, or else its
    first text.
    """
    if not rows:
        return []
    # The page may have been parsed again in the meantime, so the XPath is evaluated on the tree of the rows.
    root = table.nodes[rows[0]].parent.getroottree().getroot()
    pinned: list[int] = []
    for _, inside in nodes_by_xpath({row: table.nodes[row] for row in rows}, root, xpath):
        spans = [row for row in inside if table.spans_nodes[row]]
        pinned += sorted(spans, key=lambda row: -len(table.nodes[row].text))[:1] or inside[:1]
    return pinned
