"""find_records: the rows of a list page, found without labels or training.

The method is that of MDR and DEPTA (Liu et al., KDD 2003; Zhai and Liu, WWW 2005): repeated parts of the tag tree,
then partial tree alignment. Departures: likeness is the share of common tag paths instead of an edit distance,
records of one kind may have different parents, and where they stand on screen helps to choose the page's main list.
"""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from untemplate.errors import PageError
from untemplate.layout import EstimatedLayout, Layout
from untemplate.lists import joins
from untemplate.lists.alignment import align
from untemplate.lists.appearance import describe
from untemplate.lists.cells import Cells, Line
from untemplate.lists.choosing import confidence, is_hidden, lists_apart, most_prominent, score
from untemplate.lists.groups import Group, Run, find_groups
from untemplate.lists.hcrf.model import Hcrf
from untemplate.lists.hcrf.reading import read
from untemplate.lists.members import settle
from untemplate.lists.paging import next_page
from untemplate.lists.row import Row, Rows
from untemplate.lists.survey import survey_page
from untemplate.lists.tree import Floats
from untemplate.page import Page, squeeze, visible_text
from untemplate.page.xpaths import NumberedXPaths

__all__ = ["LIKELY", "ListPage", "find_records"]

NOTHING = "nothing on the page repeats"
# Groups that are less likely are no records. Who asks has a list page in mind, so doubt counts for the group: of
# 0.05, 0.1 and 0.2 the one that loses no page of `lists`, five folds over sites.
LIKELY = 0.05
# Nothing repeats where a record is alone, so it is as likely as not.
ALONE = 0.5
# Cells of nothing else say nothing.
MUTE = frozenset(string.punctuation + " ·•–—»›«‹…") - {"$"}
# A column that is named as hidden is left out if so many of its records say the same: what differs is mostly shown.
# From 0.2 to 0.9 cell F1 on the 222 pages of `lists` is the same within 0.003.
SAME = 0.5
UNSURE = "nothing that repeats looks like records (the most likely has confidence {:.2f})"


def find_records(
    page: Page, all_lists: bool = False, layout: Layout | None = None, model: Hcrf | None = None
) -> Rows:
    """The rows of the page's main records, in page order; none with a reason.

    `all_lists` gives every list of the page, navigation and all, the main one first. A `model`, such as
    `list_model()`, names the columns of the main one: `row.values`.
    """
    try:
        found = ListPage(page, layout or EstimatedLayout(), model)
    except PageError as error:
        return Rows(reason=str(error))
    rows = found.all_lists() if all_lists else found.main_list()
    own = (replace(row, page=page.id) for row in rows)
    return Rows(own, rows.reason, next_page(page))


class ListPage:
    """A page and the groups on it that might be its records."""

    def __init__(self, page: Page, layout: Layout, model: Hcrf | None = None) -> None:
        self.survey = survey_page(page, layout)
        self.tree, self.shapes = self.survey.tree, self.survey.shapes
        self.groups = most_prominent(self.survey, find_groups(self.tree, self.shapes))
        self.features: Floats = describe(self.survey, self.groups)
        self.join_weights = np.array([joins.WEIGHTS[name] for name in joins.FEATURES])
        self.scores = score(self.features)
        self._model, self._page = model, page
        self._paths = NumberedXPaths()

    def main_list(self) -> Rows:
        """The rows of the most likely group, if it is likely enough, else of a record that is alone."""
        best, sure = self._main()
        if sure >= LIKELY:
            return Rows(self.rows(self.groups[best], sure))
        alone = self.survey.find_alone()
        if alone is not None:
            return Rows(self.rows(Group(((alone,),)), ALONE))
        return Rows(reason=UNSURE.format(sure) if len(self.scores) else NOTHING)

    def all_lists(self) -> Rows:
        """The rows of all groups that share nothing, the main one first, then the most likely."""
        rows = Rows(reason=None if len(self.scores) else NOTHING)
        scores = self.scores.copy()
        if len(scores):
            scores[self._main()[0]] = np.inf
        apart = lists_apart(self.survey, self.groups, scores)
        for list_id, (group, features) in enumerate(zip(apart, describe(self.survey, apart), strict=True)):
            rows += self.rows(group, confidence(features), list_id)
        return rows

    def _main(self) -> tuple[int, float]:
        """The number of the main group and how sure it is; one that is hidden only if no other will do."""
        found: list[tuple[int, float]] = []
        hidden = is_hidden(self.features)
        for asked in (np.flatnonzero(~hidden), np.flatnonzero(hidden)):
            if len(asked):
                best = int(asked[np.argmax(self.scores[asked])])
                found.append((best, confidence(self.features[best])))
        likely = (one for least in (LIKELY, 0.0) for one in found if one[1] >= least)
        return next(likely, (-1, 0.0))

    def rows(self, group: Group, confidence: float, list_id: int = 0) -> list[Row]:
        """The records of a group as rows of the same columns."""
        group = settle(self.survey, group)
        lines, texts = self.table(group)
        named: list[dict[str, str]] = [{} for _ in lines]
        if self._model is not None and list_id == 0:
            named = self._name(self._model, group, lines, texts)
        return [
            Row(self._text(run), row, self._xpath(run), confidence, list_id, values)
            for run, row, values in zip(group.runs, texts, named, strict=True)
        ]

    def table(self, group: Group) -> tuple[list[list[Line | None]], list[list[str | None]]]:
        """The cells of a group's records, aligned, and their texts; columns that say nothing are left out."""
        survey = self.survey
        if not survey.shown[[run[0] for run in group.runs]].any():
            survey = survey.revealed()
        cells = Cells(self.tree, joins.find_joins(survey, group.runs, self.join_weights), survey.shown)
        lines = align(self.tree, self.shapes, cells, group.runs)
        texts = [[cells.text(line) or None if line else None for line in row] for row in lines]
        columns = [
            number
            for number in range(len(texts[0]))
            if any(not MUTE.issuperset(row[number] or "") for row in texts)
            and not (
                self._is_concealed(group.runs, [row[number] for row in lines])
                and _is_the_same([row[number] for row in texts])
            )
        ]
        return (
            [[row[number] for number in columns] for row in lines],
            [[row[number] for number in columns] for row in texts],
        )

    def _name(
        self,
        model: Hcrf,
        group: Group,
        lines: Sequence[Sequence[Line | None]],
        texts: Sequence[Sequence[str | None]],
    ) -> list[dict[str, str]]:
        """The cells of each record by the names that a model gives to columns, and its images."""
        title = self._page.tree.findtext(".//title") or ""
        reading = read(model, title, self.survey, group, lines)
        found: list[dict[str, str]] = []
        for run, row, names in zip(group.runs, texts, reading.names(lines), strict=True):
            own = {name: text for name, number in names.items() if (text := row[number])}
            found.append(reading.sources(run) | own)
        return found

    def _is_concealed(self, runs: Sequence[Run], lines: Sequence[Line | None]) -> bool:
        """Whether most cells of a column stand in a part of their record that is named so."""
        depth = self.survey.concealed
        named = [bool(depth[line[0]] > depth[run[0]]) for run, line in zip(runs, lines, strict=True) if line]
        return sum(named) * 2 > len(named)

    def _text(self, run: Run) -> str:
        items = (self.tree.items[row] for row in run)
        return squeeze(" ".join(item if isinstance(item, str) else visible_text(item) for item in items))

    def _xpath(self, run: Run) -> str:
        elements = [item for row in run if not isinstance(item := self.tree.items[row], str)]
        return self._paths.xpath(elements[0] if elements else self.tree.items[int(self.tree.parent[run[0]])])


def _is_the_same(column: Sequence[str | None]) -> bool:
    """Whether most records that have a text here have the same one, as "Add to cart"."""
    counts = Counter(text for text in column if text)
    return bool(counts) and max(counts.values()) >= SAME * counts.total()
