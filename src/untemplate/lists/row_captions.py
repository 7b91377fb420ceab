"""Captions inside of records: `Genre:` in front of a value, in a text of its own or in the same text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from untemplate.lists.page_tree import TEXT, PageTree, Run

__all__ = ["MAX_CAPTION_LETTERS", "RecordCaptions", "split_caption"]

# Letters of a caption, and records that have a text in front of a colon before it counts as one.
MAX_CAPTION_LETTERS = 30
MIN_CAPTION_RECORDS = 2
_CAPTION = re.compile(rf"\s*([^\W\d_][^:]{{0,{MAX_CAPTION_LETTERS - 1}}}?)\s*:(?=\s|$)")


def split_caption(text: str) -> tuple[str, str]:
    """Return the caption at the start of a text, and the rest; the caption is "" if the text has none.

    Example:
        >>> split_caption("Author: Jane Austen"), split_caption("12:30 o'clock")
        (('Author', 'Jane Austen'), ('', "12:30 o'clock"))
    """
    match = _CAPTION.match(text)
    return (match.group(1), text[match.end() :].strip()) if match else ("", text)


class RecordCaptions:
    """The texts in front of a colon that several records have, and which parts of the records begin with one.

    Args:
        tree: the page.
        runs: the records.
    """

    def __init__(self, tree: PageTree, runs: Sequence[Run]) -> None:
        self._tree = tree
        captions = [_captions_inside(tree, run) for run in runs]
        records: Counter[str] = Counter()
        for own in captions:
            records.update({*own.values()})
        #: row of a text -> its caption
        self.by_row: dict[int, str] = {}
        for own in captions:
            repeated = {row: text for row, text in own.items() if records[text] >= MIN_CAPTION_RECORDS}
            self.by_row |= repeated
        marked = np.zeros(len(tree), np.int64)
        marked[list(self.by_row)] = 1
        self._before = np.concatenate([[0], np.cumsum(marked)])
        following = np.where(tree.has_tag({TEXT}), np.arange(len(tree)), len(tree))[::-1]
        #: the first text from each row on
        self._first_text = np.minimum.accumulate(following)[::-1]
        self._end = tree.end

    def split_line(self, line: Sequence[int]) -> dict[str, list[int]]:
        """Return the texts of a line by the caption that they follow; "" for those before the first caption."""
        parts: dict[str, list[int]] = {}
        caption = ""
        for row in self._tree.rows_inside(tuple(line)):
            caption = self.by_row.get(row, caption)
            if self._tree.texts[row]:
                parts.setdefault(caption, []).append(row)
        return parts

    def of_rows(self, rows: Sequence[int]) -> str:
        """Return the caption that adjacent siblings begin with; "" if they have none or several."""
        count = self._before[self._end[rows[-1]]] - self._before[rows[0]]
        return self.by_row.get(int(self._first_text[rows[0]]), "") if count == 1 else ""


def _captions_inside(tree: PageTree, run: Run) -> dict[int, str]:
    """Map the texts of a record that begin with a caption to the caption."""
    split = {row: split_caption(tree.texts[row])[0] for row in tree.rows_inside(run) if tree.texts[row]}
    return {row: caption for row, caption in split.items() if caption}
