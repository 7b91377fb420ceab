"""Find the records of a list page, without labels or training, and name their columns by a model.

The method is that of MDR and DEPTA (Liu et al., KDD 2003; Zhai and Liu, WWW 2005): find repeated parts of the
tag tree, then align them. Departures: similarity is the share of common tag paths instead of an edit distance,
records of one kind may have different parents, and their position on screen helps to select the main list of
the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from lxml import etree

from untemplate.errors import PageError
from untemplate.layout import EstimatedLayout, Layout
from untemplate.lists.column_names import SiteColumns
from untemplate.lists.group_scores import (
    disjoint_lists,
    largest_groups,
    measure_groups,
    mostly_aside,
    mostly_hidden,
    score_groups,
    shipped_group_weights,
)
from untemplate.lists.groups import Group, find_groups
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.list_table import RowMaker
from untemplate.lists.page_profile import profile_page
from untemplate.lists.page_types import BoostedTrees, describe_list, is_number_stated, list_confidence
from untemplate.lists.rows import Row, Rows, next_page
from untemplate.page import Page, nodes_at
from untemplate.page.arrays import Bools, Doubles
from untemplate.sources import as_page

__all__ = [
    "MIN_LIST_CONFIDENCE",
    "ListPage",
    "choose_list",
    "find_records",
    "find_row_elements",
]

NOTHING_REPEATS = "nothing on the page repeats"
NO_LIST = "nothing that repeats looks like records of a list page (the likeliest list has confidence {:.2f})"
# Lists with a lower confidence are no records. Of 0.08, 0.1, 0.12 to 0.15, 0.2 and 0.3, five folds over sites: below,
# more detail pages yield rows; above, more list pages yield none.
MIN_LIST_CONFIDENCE = 0.12
# If the group with the best score is not likely enough, one of the next best is the list if it is this likely. Of
# 0.5, 0.7 and 0.9, the higher ones give records to fewer list pages, and to hardly fewer others.
MIN_OTHER_CONFIDENCE = 0.5
MAX_TRIED_LISTS = 5
# The confidence of a record that is alone on its page, where nothing repeats.
SINGLE_RECORD_CONFIDENCE = 0.5


def find_records(
    page: Page | str | Path,
    all_lists: bool = False,
    layout: Layout | None = None,
    model: Hcrf | None = None,
    columns: SiteColumns | None = None,
) -> Rows:
    """Find the records of a list page, such as search results, and return them as rows of cells.

    Nothing needs to be labeled or learned: records are found because they repeat.

    Args:
        page: the list page, its HTML, or the path of its file.
        all_lists: also return the other lists of the page, such as navigation, after the main one.
            `row.list_id` numbers the lists.
        layout: where elements are on screen. By default it is estimated from tags and style sheets; pass a
            `ChromiumLayout` for that of a browser.
        model: names the columns of the main list, instead of what the page says about them. See `list_model`.
        columns: the names of columns on earlier pages of the site. Pass one `SiteColumns` for all pages of a site, so
            that the same column has the same name on each of them.

    Returns:
        The rows in page order. If there are none, `rows.reason` says why. A page that cannot be parsed, that
        shows nothing or far too much, gives no rows and a reason too. `rows.next_page` is the link to the next
        page of the list.

    Raises:
        InputError: a `ChromiumLayout` was given, and Chromium does not start.

    Example:
        >>> import untemplate as ut
        >>> item = "<li><h3>{}</h3><p>tea from {}</p></li>"
        >>> teas = {"Assam": "India", "Sencha": "Japan", "Keemun": "China", "Oolong": "Taiwan"}
        >>> items = "".join(item.format(name, land) for name, land in teas.items())
        >>> rows = ut.find_records(ut.Page(html=f"<h1>Teas</h1><ul>{items}</ul>"))
        >>> len(rows), rows[1].cells
        (4, ['Sencha', 'tea from Japan'])
        >>> rows[1].values
        {'title': 'Sencha', 'detail': 'tea from Japan'}
    """
    page = as_page(page)
    try:
        list_page = ListPage(page, layout or EstimatedLayout(), model, columns)
    except PageError as error:
        return Rows(reason=str(error))
    rows = list_page.all_lists() if all_lists else list_page.main_list()
    return Rows(rows, rows.reason, next_page(page))


def choose_list(candidates: Sequence[int], confidence: Callable[[int], float]) -> tuple[int, float]:
    """Return the candidate that is the list of its page and its confidence; (-1, 0.0) if there are none.

    It is the first one unless that is unlikely and one of the next is likely. If none is likely, it is the first one.

    Args:
        candidates: the numbers of groups, the best score first.
        confidence: the probability that a group is the list.
    """
    if not candidates:
        return -1, 0.0
    first = candidates[0], confidence(candidates[0])
    if first[1] >= MIN_LIST_CONFIDENCE:
        return first
    others = ((number, confidence(number)) for number in candidates[1:MAX_TRIED_LISTS])
    return next((other for other in others if other[1] >= MIN_OTHER_CONFIDENCE), first)


def find_row_elements(page: Page) -> list[etree._Element]:
    """Return the first element of each row of the main list of a page, for `outline_page`; none if it has no list."""
    elements: list[etree._Element] = []
    for row in find_records(page):
        elements += (element for element, kind in nodes_at(page.tree, row.xpath) if kind == "element")
    return elements


class ListPage:
    """A page and the groups on it that may be its records.

    Args:
        page: the list page.
        layout: where its elements are on screen.
        model: names the columns of the main list.
        columns: the columns of earlier pages of the site.

    Raises:
        PageError: the page cannot be parsed, shows nothing or too much.
    """

    def __init__(
        self, page: Page, layout: Layout, model: Hcrf | None = None, columns: SiteColumns | None = None
    ) -> None:
        self.profile = profile_page(page, layout)
        self.tree, self.shapes = self.profile.tree, self.profile.shapes
        self.groups = largest_groups(self.profile, find_groups(self.tree, self.shapes))
        self.features: Doubles = measure_groups(self.profile, self.groups)
        self.scores = score_groups(self.features, shipped_group_weights())
        self._page, self._model = page, model
        self._row_maker = RowMaker(page, self.profile, columns)

    @cached_property
    def main_group(self) -> Group | None:
        """The group whose members `find_records` returns; None if no group is likely enough."""
        best, confidence = self._main_group()
        return self.groups[best] if confidence >= MIN_LIST_CONFIDENCE else None

    def main_list(self) -> Rows:
        """Return the rows of the likeliest group; of a record that is alone if no group is likely enough."""
        best, confidence = self._main_group()
        if confidence >= MIN_LIST_CONFIDENCE:
            return Rows(self.rows(self.groups[best], confidence))
        # If more than navigation repeats, a page about one thing is likelier than a list of one record.
        only_navigation = best < 0 or bool(mostly_aside(self.features)[best])
        single = self.profile.find_single_record() if only_navigation else None
        if single is not None:
            return Rows(self.rows(Group(((single,),)), SINGLE_RECORD_CONFIDENCE))
        return Rows(reason=NO_LIST.format(confidence) if self.groups else NOTHING_REPEATS)

    def all_lists(self) -> Rows:
        """Return the rows of all groups that do not overlap, the main one first, then by their scores."""
        if not self.groups:
            return Rows(reason=NOTHING_REPEATS)
        main, confidence = self._main_group()
        scores = self.scores.copy()
        scores[main] = np.inf
        rows = Rows()
        lists = disjoint_lists(self.profile, self.groups, scores)
        list_scores = score_groups(measure_groups(self.profile, lists), shipped_group_weights())
        # A softmax over the scores chooses the main list, so this is how much likelier it is than another one.
        ratios = np.exp(np.minimum(list_scores - self.scores[main], 0.0))
        ratios[0] = 1.0
        for list_id, (group, ratio) in enumerate(zip(lists, ratios.tolist(), strict=True)):
            rows += self.rows(group, confidence * ratio, list_id)
        return rows

    def _main_group(self) -> tuple[int, float]:
        """Return the number of the main group and its confidence; a hidden one only if no other is likely."""
        is_hidden = mostly_hidden(self.features)
        shown = self._best_of(~is_hidden)
        if shown[1] >= MIN_LIST_CONFIDENCE:
            return shown
        hidden = self._best_of(is_hidden)
        return hidden if hidden[1] >= MIN_LIST_CONFIDENCE or is_hidden.all() else shown

    def _best_of(self, eligible: Bools) -> tuple[int, float]:
        """Return the number of the eligible group that is the list and its confidence; (-1, 0.0) for none."""
        numbers = np.flatnonzero(eligible)
        order = numbers[np.argsort(-self.scores[numbers], kind="stable")]
        return choose_list(order.tolist(), self._confidence)

    def _confidence(self, number: int) -> float:
        return self.confidence(number, self.scores)

    def confidence(self, number: int, scores: Doubles, trees: BoostedTrees | None = None) -> float:
        """Return the probability that a group is the list of its page.

        Args:
            number: the number of the group.
            scores: the scores of all groups.
            trees: weigh the evidence; the shipped ones if omitted.
        """
        if mostly_aside(self.features)[number]:
            return 0.0
        is_stated = is_number_stated(self.profile, self.groups[number])
        return list_confidence(self.describe(number, scores), is_stated, trees)

    def describe(self, number: int, scores: Doubles) -> Doubles:
        """Return the features by which `page_types` judges a group with these scores of all groups."""
        return describe_list(self._page, self.profile, self.groups, self.features, scores, number)

    def rows(self, group: Group, confidence: float, list_id: int = 0) -> list[Row]:
        """Return the records of a group as rows with the same columns."""
        model = self._model if list_id == 0 else None
        return self._row_maker.make_rows(group, confidence, list_id, model)
