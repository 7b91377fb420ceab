"""Find the other records of a list page by anchors: texts like the labeled ones.

If the labeled rows are not members of one repeated group, or the group is not the list that a person means, the
labeled values still show what a record looks like. An anchor is a text in a place like that of the labeled values:
the same tags and classes around it, the same cell of a table row, a text of the same kind. Each anchor is in one
record: the largest element without another anchor, with the siblings up to the next record where records are not
wrapped in an element.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice

import numpy as np

from untemplate.lists.page_tree import PageTree, Run
from untemplate.page.arrays import Longs
from untemplate.page.captions import MAX_CAPTION_LENGTH
from untemplate.rules.record_pages import link_kind
from untemplate.rules.rule import LinkKind

__all__ = ["AnchorFinder", "AnchoredRun", "Span"]

Span = tuple[int, int]
"""The first and the last row of the page tree at which a value occurs."""

# Occurrences of a value, and labeled records, that are compared to find the places that are alike.
MAX_COMPARED_SPANS = 20
MAX_COMPARED_ROWS = 10
# Levels from an anchor up to its record. Deeper records exist only on pages that nest without end.
MAX_ANCHOR_LEVELS = 16
# Siblings belong to the records before them if this share of the records is followed by some.
MIN_FOLLOWED_SHARE = 0.5
_CELLS = frozenset({"td", "th"})
# The stricter kind first.
_LINK_KINDS: tuple[LinkKind, ...] = ("document", "link")
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class AnchoredRun:
    """A record, the row of its anchor, and how many levels above the anchor its first row is."""

    run: Run
    anchor: int
    level: int


@dataclass(frozen=True)
class _Step:
    """What the ancestors of the labeled values at one level have in common."""

    tag: str
    tokens: frozenset[str]
    cell: int | None


class AnchorFinder:
    """Finds records by anchors on one page.

    Args:
        tree: the page.
        letters: the letters and digits of each row of the tree.
    """

    def __init__(self, tree: PageTree, letters: Sequence[str]) -> None:
        self._tree, self._letters = tree, letters
        self._parent: list[int] = tree.parent.tolist()
        self._end: list[int] = tree.end.tolist()

    def find(self, records: Sequence[Mapping[str, Sequence[Span]]]) -> list[list[AnchoredRun]]:
        """Return the ways to split the page into records like the labeled ones, without duplicates.

        Args:
            records: for each labeled record and attribute, where the value may be.
        """
        ways: dict[tuple[Run, ...], list[AnchoredRun]] = {}
        for name in dict.fromkeys(chain.from_iterable(records)):
            places = [record[name] for record in records if name in record][:MAX_COMPARED_ROWS]
            if len(places) < min(2, len(records)):
                continue
            for runs in self._splits_like(places):
                ways.setdefault(tuple(record.run for record in runs), runs)
        return [runs for runs in ways.values() if runs]

    def _splits_like(self, places: Sequence[Sequence[Span]]) -> Iterator[list[AnchoredRun]]:
        """Yield the ways to split the page at anchors like the labeled values of one attribute."""
        rows = self._similar_rows(places)
        for anchors in self._anchors_like(rows):
            yield self._with_links(self._split(anchors), rows)

    # The places of the labeled values

    def _similar_rows(self, places: Sequence[Sequence[Span]]) -> list[int]:
        """Return one text row for each record, so that the rows are in places that are alike."""
        best: list[int] = []
        most = -1.0
        for first in self._text_rows_of(places[0]):
            rows, total = [first], 0.0
            for spans in places[1:]:
                likeness = {row: self._likeness(first, row) for row in self._text_rows_of(spans)}
                free = [row for row in likeness if row not in rows]
                nearest = max(free or likeness, key=likeness.__getitem__)
                rows.append(nearest)
                total += likeness[nearest]
            if total > most:
                best, most = rows, total
        return list(dict.fromkeys(best))

    def _text_rows_of(self, spans: Sequence[Span]) -> list[int]:
        """Return the first text row with letters of each span; rows that contain nothing else, if there are any."""
        rows = {}
        for first, last in spans[:MAX_COMPARED_SPANS]:
            row = next((row for row in range(first, last + 1) if self._letters[row]), first)
            rows[row] = first == last
        complete = [row for row, is_single in rows.items() if is_single]
        return complete or list(rows)

    def _likeness(self, left: int, right: int) -> float:
        """Return how many levels above two rows look alike, as a share of all."""
        above = list(self._ancestors(left)), list(self._ancestors(right))
        alike = 0.0
        for one, other in zip(*above, strict=False):
            if self._tree.tags[one] != self._tree.tags[other]:
                break
            alike += 1 + 0.5 * (self._tree.classes[one] == self._tree.classes[other])
            alike += 0.25 * (self._cell_numbers.get(one) == self._cell_numbers.get(other))
        return alike / max(map(len, above))

    def _ancestors(self, row: int) -> Iterator[int]:
        row = self._parent[row]
        while row >= 0:
            yield row
            row = self._parent[row]

    @cached_property
    def _cell_numbers(self) -> dict[int, int]:
        """The number of each cell within its table row."""
        numbers: dict[int, int] = {}
        for siblings in self._tree.children.values():
            cells = [row for row in siblings if self._tree.tags[row] in _CELLS]
            numbers.update((row, number) for number, row in enumerate(cells))
        return numbers

    # Texts in places like these

    def _anchors_like(self, rows: Sequence[int]) -> Iterator[list[int]]:
        """Yield the text rows in places like the given ones: by all tags up to the list, and by the table cell."""
        steps = self._shared_steps(rows)
        if not steps:
            return
        texts = [self._tree.texts[row] for row in rows]
        anchors = self._matching_rows(steps, 0, texts)
        yield anchors
        if caption := self._shared_caption(rows):
            yield [row for row in anchors if self._text_before(row) == caption]
        cell = next((level for level, step in enumerate(steps) if step.tag in _CELLS), 0)
        if cell:
            yield self._first_of_each(self._matching_rows(steps[cell:], cell, texts), cell)

    def _shared_caption(self, rows: Sequence[int]) -> str:
        """Return the text before all rows, if it may be a caption: it is the same, short, and without digits."""
        captions = set(map(self._text_before, rows))
        caption = captions.pop()
        is_short = len(caption) <= MAX_CAPTION_LENGTH and not _DIGIT.search(caption)
        return caption if len(rows) > 1 and is_short and not captions else ""

    def _text_before(self, row: int) -> str:
        """Return the letters of the nearest text before a row."""
        row -= 1
        while row >= 0 and not self._letters[row]:
            row -= 1
        return self._letters[row] if row >= 0 else ""

    def _shared_steps(self, rows: Sequence[int]) -> list[_Step]:
        """Return what the ancestors of all rows share, up to the list that contains them.

        Where the rows are texts of one element, all levels count, as nothing else tells them from other texts.
        """
        chains = [list(self._ancestors(row)) for row in rows]
        different = min(map(len, chains)) - self._common_ancestors(chains)
        levels = min(MAX_ANCHOR_LEVELS, *map(len, chains))
        steps: list[_Step] = []
        for level in range(levels if different <= 1 else min(levels, different)):
            elements = [chain[level] for chain in chains]
            tags = {self._tree.tags[element] for element in elements}
            if len(tags) > 1:
                return steps if level >= different else []
            tokens = frozenset.intersection(*map(self._tokens, elements))
            cells = {self._cell_numbers.get(element) for element in elements}
            steps.append(_Step(tags.pop(), tokens, cells.pop() if len(cells) == 1 else None))
        return steps

    def _common_ancestors(self, chains: Sequence[Sequence[int]]) -> int:
        """Count the ancestors that all chains share."""
        count = 0
        for elements in zip(*map(reversed, chains), strict=False):
            if len(set(elements)) > 1:
                break
            count += 1
        return count

    def _tokens(self, row: int) -> frozenset[str]:
        return frozenset(self._tree.classes[row].split())

    def _matching_rows(self, steps: Sequence[_Step], skipped: int, texts: Sequence[str]) -> list[int]:
        """Return the text rows whose ancestors match the steps, and that look like the labeled texts."""
        needed = _DIGIT if all(map(_DIGIT.search, texts)) else _WORD
        rows = []
        for row, text in enumerate(self._tree.texts):
            if not self._letters[row] or not needed.search(text):
                continue
            if self._matches(row, steps, skipped):
                rows.append(row)
        return rows

    def _matches(self, row: int, steps: Sequence[_Step], skipped: int) -> bool:
        """Return True if the ancestors of a text match the steps; up to `skipped` ones may be below the first."""
        ancestors = list(islice(self._ancestors(row), skipped + len(steps)))
        below = 0
        while below < min(skipped, len(ancestors)) and self._tree.tags[ancestors[below]] != steps[0].tag:
            below += 1
        above = ancestors[below : below + len(steps)]
        return len(above) == len(steps) and all(map(self._step_matches, above, steps))

    def _step_matches(self, row: int, step: _Step) -> bool:
        if self._tree.tags[row] != step.tag:
            return False
        if step.tokens and not step.tokens <= self._tokens(row):
            return False
        return step.cell is None or self._cell_numbers.get(row) == step.cell

    def _first_of_each(self, rows: Sequence[int], levels: int) -> list[int]:
        """Return the first of the texts in each table cell."""
        first: dict[int, int] = {}
        for row in rows:
            ancestors = islice(self._ancestors(row), levels + 1)
            cell = next((above for above in ancestors if self._tree.tags[above] in _CELLS), row)
            first.setdefault(cell, row)
        return list(first.values())

    # From anchors to records

    def _split(self, anchors: Sequence[int]) -> list[AnchoredRun]:
        """Return the record of each anchor."""
        counts = self._anchor_counts(anchors)
        levels = [self._levels_alone(anchor, counts) for anchor in anchors]
        if not levels:
            return []
        usual = Counter(levels).most_common(1)[0][0]
        tops = []
        for anchor, level in zip(anchors, levels, strict=True):
            top = anchor
            for _ in range(min(level, usual)):
                top = self._parent[top]
            tops.append(top)
        following = self._siblings_after(tops, counts)
        runs = [(top, *after) for top, after in zip(tops, following, strict=True)]
        return [
            AnchoredRun(run, anchor, min(level, usual))
            for run, anchor, level in zip(runs, anchors, levels, strict=True)
        ]

    def _anchor_counts(self, anchors: Sequence[int]) -> Longs:
        """Return how many anchors come before each row; the difference at its end is how many are inside."""
        marks = np.zeros(len(self._tree), np.int64)
        marks[list(anchors)] = 1
        return np.concatenate([[0], np.cumsum(marks)])

    def _is_alone(self, row: int, counts: Longs) -> bool:
        return bool(counts[self._end[row]] - counts[row] == 1)

    def _levels_alone(self, anchor: int, counts: Longs) -> int:
        """Return how many levels above an anchor the largest element without another anchor is."""
        level = 0
        for row in islice(self._ancestors(anchor), MAX_ANCHOR_LEVELS):
            if self._tree.tags[row] in ("body", "html") or not self._is_alone(row, counts):
                break
            level += 1
        return level

    def _siblings_after(self, tops: Sequence[int], counts: Longs) -> list[Run]:
        """Return the siblings that belong to each record: those up to the next record, if most records have some.

        The last record of a parent has as many as the longest other one.
        """
        following = [self._siblings_without_anchor(top, counts) for top in tops]
        followed = sum(bool(siblings) for siblings, _ in following)
        if followed <= MIN_FOLLOWED_SHARE * len(tops):
            return [()] * len(tops)
        between = [len(siblings) for siblings, is_last in following if not is_last]
        longest = max(between, default=0)
        return [siblings[:longest] if is_last else siblings for siblings, is_last in following]

    def _siblings_without_anchor(self, top: int, counts: Longs) -> tuple[Run, bool]:
        """Return the siblings after a row up to the next one with an anchor, and whether there is no such one."""
        siblings: list[int] = []
        stop = self._end[self._parent[top]]
        row = self._end[top]
        while row < stop:
            if counts[self._end[row]] > counts[row]:
                return tuple(siblings), False
            siblings.append(row)
            row = self._end[row]
        return tuple(siblings), True

    def _with_links(self, runs: list[AnchoredRun], rows: Sequence[int]) -> list[AnchoredRun]:
        """Return the records with a link to a document if those around the given rows have one, or with any link."""
        labeled = [record for record in runs if any(self._contains(record.run, row) for row in rows)]
        for kind in _LINK_KINDS:
            if all(self._has_link(record.run, kind) for record in labeled):
                with_link = [record for record in runs if self._has_link(record.run, kind)]
                return runs if self._lacks_only_the_last(runs, with_link) else with_link
        return runs

    def _lacks_only_the_last(self, runs: Sequence[AnchoredRun], kept: Sequence[AnchoredRun]) -> bool:
        """Return True if a single record of several siblings was dropped, the last of its parent.

        Where links come before the anchors, each record ends with the link of the next one.
        """
        kept_anchors = {record.anchor for record in kept}
        dropped = [record for record in runs if record.anchor not in kept_anchors]
        if len(dropped) != 1 or all(len(record.run) == 1 for record in runs):
            return False
        parent = self._parent[dropped[0].run[0]]
        last = max(record.run[0] for record in runs if self._parent[record.run[0]] == parent)
        return dropped[0].run[0] == last

    def _contains(self, run: Run, row: int) -> bool:
        return run[0] <= row < self._end[run[-1]]

    def _has_link(self, run: Run, kind: LinkKind) -> bool:
        before = self._links_before[kind]
        return bool(before[self._end[run[-1]]] > before[run[0]])

    @cached_property
    def _links_before(self) -> dict[LinkKind, Longs]:
        """How many links of each kind come before each row."""
        marks = {kind: np.zeros(len(self._tree), np.int64) for kind in _LINK_KINDS}
        for row in np.flatnonzero(self._tree.has_tag({"a"})).tolist():
            for kind in link_kind(self._tree.elements[row].get("href", "")):
                marks[kind][row] = 1
        return {kind: np.concatenate([[0], np.cumsum(counts)]) for kind, counts in marks.items()}
