"""Data fields: nodes of different pages that play the same role, found without knowing which.

A field has at most one row a page. What makes rows one field is not the same on every site, so that fields are
formed in three ways, and a row stands in up to three of them; who uses them decides which fit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, group_rows, ordinals
from untemplate.schema import Type
from untemplate.value_types import find_typed

__all__ = ["ANY_TEXT", "NEAR", "Fields"]

# A label is near if at most so many rows stand between it and the row.
NEAR = 3
# The last tags of the path that rows with the same label must share.
TAIL = 4
# A field stands on at least this share of the pages, and on two.
MIN_COVERAGE = 0.08
# Of rows alike in place and label, so many on a page are told apart by their order; what follows in a long list is
# no field.
MAX_ORDINAL = 40
# Types whose values any text, or any node of the right kind, may be.
ANY_TEXT: frozenset[Type] = frozenset({"text", "url", "image"})
# A prefix is shared by this share of a field's distinct texts; a `Label: ` by this share of the pages.
PREFIX_SHARE = 0.6
COLON_SHARE = 0.2

_COLON = re.compile(r"([^\d:]{2,40}:)\s+\S")


class Fields:
    """The data fields of a site. Each membership is a (row, field) pair: `row[i]` stands in field `field[i]`."""

    def __init__(self, table: NodeTable) -> None:
        self.table = table
        self._form()

    def _form(self) -> None:
        table = self.table
        near = table.caption_distance <= NEAR
        paths = Numbered[str]()
        tails = np.array([paths["/".join(path.split("/")[-TAIL:])] for path in table.paths], np.int32)
        everywhere = np.ones(len(table), np.bool_)
        ways: list[tuple[tuple[Ints, ...], Bools]] = [
            ((table.slot,), everywhere),
            ((table.slot, table.caption), everywhere),
            ((table.caption, tails[table.path]), near & (table.caption >= 0)),
        ]
        empty = np.zeros(0, np.int32)
        rows: list[Ints] = [empty]
        fields: list[Ints] = [empty]
        kinds: list[Ints] = [empty]
        seen: set[tuple[float, int]] = set()
        total = 0
        least = max(2.0, MIN_COVERAGE * len(table.pages))
        fingerprints = np.random.default_rng(0).random(len(table))
        for way, (columns, among) in enumerate(ways if len(table) else []):
            kind = group_rows(*columns)
            ordinal = ordinals(table.page, kind)
            chosen = np.flatnonzero(among & (ordinal < MAX_ORDINAL)).astype(np.int32)
            field = group_rows(kind[chosen], ordinal[chosen])
            marks = zip(
                np.bincount(field, fingerprints[chosen]).tolist(), np.bincount(field).tolist(), strict=True
            )
            kept = np.zeros(int(field.max(initial=-1)) + 1, np.bool_)
            for number, mark in enumerate(marks):
                if mark[1] >= least and mark not in seen:
                    seen.add(mark)
                    kept[number] = True
            inside = kept[field]
            rows.append(chosen[inside])
            fields.append((np.cumsum(kept, dtype=np.int32) - 1)[field[inside]] + total)
            kinds.append(np.full(int(kept.sum()), way, np.int32))
            total += int(kept.sum())
        self.row: Ints = np.concatenate(rows)
        self.field: Ints = np.concatenate(fields)
        #: of each field, how it was formed: 0 by place, 1 by place and label, 2 by label
        self.way: Ints = np.concatenate(kinds)

    def __len__(self) -> int:
        return len(self.way)

    @cached_property
    def size(self) -> Ints:
        """How many rows, that is pages, each field has."""
        return np.bincount(self.field, minlength=len(self)).astype(np.int32)

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.field, kind="stable")
        return self.row[order], np.concatenate([[0], np.cumsum(self.size)]).astype(np.int32)

    def rows_of(self, field: int) -> Ints:
        """The rows of a field, in page order."""
        rows, starts = self._order
        return np.sort(rows[starts[field] : starts[field + 1]])

    def mean(self, column: npt.NDArray[np.generic]) -> Floats:
        """The mean of a column over each field's rows."""
        sums = np.bincount(self.field, weights=column[self.row].astype(np.float64), minlength=len(self))
        return (sums / np.maximum(1, self.size)).astype(np.float32)

    # Values: a row's text without the label that is part of it

    @cached_property
    def _stripped(self) -> tuple[Ints, list[str], Ints, list[str]]:
        table = self.table
        prefix_of: dict[int, str] = {}
        for field in np.flatnonzero(self.way <= 1).tolist():
            self._shared_prefix(field, prefix_of)
        colons = self._colon_prefixes()
        values, prefixes = Numbered[str](), Numbered[str]()
        value, prefix = np.zeros(len(table), np.int32), np.full(len(table), -1, np.int32)
        for row, number in enumerate(table.text.tolist()):
            text = table.texts[number]
            found = colons.get(number) or prefix_of.get(row)
            if found:
                prefix[row] = prefixes[found]
                text = text[len(found) :].strip()
            value[row] = values[text]
        return value, list(values), prefix, list(prefixes)

    def _shared_prefix(self, field: int, prefix_of: dict[int, str]) -> None:
        """Words that most of a field's texts begin with, without digits: labels that share the value's node."""
        rows = self.rows_of(field)
        rows = rows[~self.table.is_static[rows]]
        texts = {int(number): self.table.texts[number] for number in self.table.text[rows]}
        if len(texts) < 3:
            return
        split = [text[:200].split(" ") for text in texts.values()]
        least, length = PREFIX_SHARE * len(split), 0
        while True:
            counts = Counter(words[length] for words in split if len(words) > length + 1)
            word, count = counts.most_common(1)[0] if counts else ("", 0)
            if count < least or any(map(str.isdigit, word)):
                break
            split = [words for words in split if len(words) > length + 1 and words[length] == word]
            length += 1
        if length:
            prefix = " ".join(split[0][:length])
            for row in rows.tolist():
                if self.table.texts[self.table.text[row]].startswith(f"{prefix} "):
                    prefix_of[row] = prefix

    def _colon_prefixes(self) -> dict[int, str]:
        """By text, its beginning such as `Weight:` if that recurs on many pages."""
        table = self.table
        found = {n: match[1] for n, text in enumerate(table.texts) if (match := _COLON.match(text[:80]))}
        pages: dict[str, set[int]] = {}
        has_colon = np.zeros(len(table.texts), np.bool_)
        has_colon[list(found)] = True
        for row in np.flatnonzero(has_colon[table.text]).tolist():
            pages.setdefault(found[int(table.text[row])], set()).add(int(table.page[row]))
        least = max(2.0, COLON_SHARE * len(table.pages))
        return {number: prefix for number, prefix in found.items() if len(pages.get(prefix, ())) >= least}

    @property
    def value(self) -> Ints:
        """The number of each row's text without a label that is part of it."""
        return self._stripped[0]

    @property
    def values(self) -> list[str]:
        return self._stripped[1]

    @property
    def prefix(self) -> Ints:
        """The number of the label that is part of each row's text; −1 if there is none."""
        return self._stripped[2]

    @property
    def prefixes(self) -> list[str]:
        return self._stripped[3]

    def bare(self, row: int, type: Type) -> str:
        """The text of a row without a label that is part of it, `Tel:` or `by`; of a type, what is found of it.

        First words that many names share stay.
        """
        prefix: str = self.prefixes[self.prefix[row]] if self.prefix[row] >= 0 else ""
        is_label = prefix.endswith(":") or prefix.rpartition(" ")[2].islower()
        text: str = self.values[self.value[row]] if is_label else self.table.texts[self.table.text[row]]
        return text if type in ANY_TEXT else find_typed(text, type) or text

    @cached_property
    def label(self) -> Ints:
        """The number of what labels each row: a label before it, its table's header, and the start of its text."""
        near = np.where(self.table.caption_distance <= NEAR, self.table.caption, -1)
        return group_rows(near, self.table.header, self.prefix)

    @cached_property
    def labels(self) -> list[tuple[str, ...]]:
        """The labels of each such number, the nearest first."""
        table = self.table
        near = np.where(table.caption_distance <= NEAR, table.caption, -1)
        firsts = np.unique(self.label, return_index=True)[1]
        found = []
        for row in firsts.tolist():
            texts = [self.prefixes[self.prefix[row]]] if self.prefix[row] >= 0 else []
            texts += [table.texts[near[row]]] if near[row] >= 0 else []
            texts += [table.headers[table.header[row]]] if table.header[row] >= 0 else []
            found.append(tuple(texts))
        return found

    @cached_property
    def is_candidate(self) -> Bools:
        """Whether each field may hold an attribute: it varies, and is not of the kind where no values stand."""
        barred = self.mean(self.table.is_excluded | self.table.is_static)
        return barred < 0.5

    def candidates(self, kinds: Sequence[str]) -> Ints:
        """The fields of these kinds of nodes (`text()`, `@src` …) that may hold an attribute."""
        right = self.mean(self.table.has_kind(kinds)) > 0.5
        return np.flatnonzero(self.is_candidate & right).astype(np.int32)
