"""Trains the trees that tell list pages from others, on list pages and on pages of four other sets.

A page is no list page if it is about one thing, and also if the group that is chosen on it is not its list: the only
post of a tag has a side bar with more links than posts.

python -m benchmarks.train.page_types    writes the file that is shipped
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from lxml import etree
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.data.list_pages import SAME_SCORE, Sheet, all_post_sheets
from benchmarks.data.other_pages import other_pages
from benchmarks.train.list_choice import all_sheets, chosen_group
from untemplate import Page
from untemplate.errors import PageError
from untemplate.layout import EstimatedLayout
from untemplate.lists.group_scores import GROUP_FEATURES, score_groups, shipped_group_weights
from untemplate.lists.groups import drop_hidden_members
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_tree import Run
from untemplate.lists.page_types import LIST_FEATURES, SHIPPED_TREES, BoostedTrees
from untemplate.page.arrays import Bools, Doubles

__all__ = ["TypedPage", "fit_trees", "typed_pages", "typed_sheet"]

# How much pages of a kind count. Those of SWDE have the lists that are the most like records. Pages without results
# are made from list pages, so with more weight they cost list pages.
KIND_WEIGHTS = {"swde": 4.0, "emptied": 0.3, "shortened, unlinked": 2.0}
# The least score of a group that is a page's list.
MIN_KNOWN_F1 = 0.9
# Records that a page keeps to look like one that lists few.
FEW_RECORDS = 4
# A group with a lower score is not the list of a page whose records are all known.
MIN_RIGHT_F1 = 0.5
# Of 200 to 600 trees with 8 to 32 leaves, rates of 0.02 and 0.03 and two shares of features, five folds over sites:
# all but 200 trees, which are too few at such rates, are about as good.
TREES = 400
LEAVES = 16
RATE = 0.03
MIN_LEAF = 10
LEAF_PRIOR = 5.0
# Share of the features that each split is chosen from.
FEATURE_SHARE = 0.3
# More of these may only raise, or only lower, the probability of a list, by what they mean. Sites are few, so trees
# would also learn exceptions: without this, more list pages are lost for as many detail pages that yield rows.
RAISING = (
    *("number", "coverage", "own_main", "documents", "score", "margin", "main_share", "records_linked"),
    *("distinct_links", "first_linked", "in_results", "results_named", "paging_named", "list_names"),
    *("searched", "list_title", "list_heading"),
)
LOWERING = (
    *("plain_outside", "long_outside", "longest_outside", "captions_outside", "rows_outside", "like_page"),
    *("headed_related", "in_reviews", "one_declared", "one_shared", "comment_field"),
    *("aside", "near_aside", "in_navigation"),
)


@dataclass(frozen=True)
class TypedPage:
    """A page of which we know whether it lists records."""

    kind: str
    site: str
    page: ListPage
    is_list: bool
    sheet: Sheet | None = None

    def is_right(self, weights: Doubles) -> bool:
        """Return True if the group that is chosen with these weights is the list of the page.

        It counts as the list unless all records of the page are known: the others may be partial.
        """
        if self.sheet is None or not self.sheet.is_complete:
            return self.is_list
        return (
            self.is_list and float(self.sheet.f1[chosen_group(self.page.features, weights)]) >= MIN_RIGHT_F1
        )

    def describe(self, weights: Doubles) -> Doubles:
        """Return the LIST_FEATURES of the group that is chosen with these weights."""
        scores = score_groups(self.page.features, weights)
        return self.page.describe(int(np.argmax(scores)), scores)


def typed_sheet(sheet: Sheet) -> TypedPage:
    """Return a page with known records."""
    kind = "posts" if sheet.is_complete else "list"
    return TypedPage(kind, sheet.site, sheet.found, is_list=True, sheet=sheet)


def typed_pages() -> Iterator[TypedPage]:
    """Yield the pages of other sets on which something repeats, and list pages without their lists."""
    for sheet in all_post_sheets():
        if len(sheet.records) == 1 and sheet.found.groups:
            yield TypedPage("blogs: one post", sheet.site, sheet.found, is_list=False)
    yield from changed_pages()
    for other in other_pages():
        try:
            page = ListPage(other.page, EstimatedLayout())
        except PageError:
            continue
        if page.groups:
            yield TypedPage(other.kind, other.site, page, other.is_list)


def changed_pages() -> Iterator[TypedPage]:
    """Yield the first page of each site that lists records, changed in four ways, as far as something repeats.

    Without its records it is like a search that finds nothing, with the first ones only like one that finds little.
    Records without links have no pages of their own. The sets have few of such pages.
    """
    seen: set[str] = set()
    for sheet in all_sheets():
        if sheet.site not in seen and sheet.f1.max(initial=0) >= MIN_KNOWN_F1:
            seen.add(sheet.site)
            pages = chain(_pages_with_records(sheet), [_page_without_records(sheet)])
            yield from (page for page in pages if page.page.groups)


def _pages_with_records(sheet: Sheet) -> Iterator[TypedPage]:
    """Yield a page with its first records, and with all and with the first records without their links."""
    runs = _known_runs(sheet)
    truth = sheet.match(runs)
    for kind, count, has_links in (
        ("shortened", FEW_RECORDS, True),
        ("unlinked", len(runs), False),
        ("shortened, unlinked", FEW_RECORDS, False),
    ):
        page = _changed(sheet, runs, count, has_links)
        records = [sheet.records[truth[number]] for number in range(min(count, len(runs))) if number in truth]
        changed = replace(sheet, page=page, records=records, is_complete=True)
        yield TypedPage(kind, sheet.site, changed.found, is_list=True, sheet=changed)


def _page_without_records(sheet: Sheet) -> TypedPage:
    page = _changed(sheet, _known_runs(sheet), 0, has_links=True)
    return TypedPage("emptied", sheet.site, ListPage(page, EstimatedLayout()), is_list=False)


def _known_runs(sheet: Sheet) -> tuple[Run, ...]:
    """Return the records of a page: the group with the most text of those with the best score."""
    best = sheet.f1 >= sheet.f1.max() - SAME_SCORE
    coverage = np.where(best, sheet.found.features[:, list(GROUP_FEATURES).index("coverage")], -1.0)
    return drop_hidden_members(sheet.found.profile, sheet.found.groups[int(coverage.argmax())]).runs


def _changed(sheet: Sheet, runs: Sequence[Run], count: int, has_links: bool) -> Page:
    """Return a copy of a page with some of its records.

    Args:
        sheet: the page.
        runs: its records.
        count: how many of them the copy has.
        has_links: whether these have links.
    """
    root = deepcopy(sheet.page.tree)
    copies = dict(zip(sheet.page.tree.iter(), root.iter(), strict=True))
    for number, run in enumerate(runs):
        for element in map(copies.__getitem__, sheet.found.tree.elements_of(run)):
            if number >= count:
                _remove(element)
            elif not has_links:
                etree.strip_attributes(element, "href")
    return Page(url=sheet.page.url, html=etree.tostring(root, method="html"), id=sheet.page.id)


def _remove(element: etree._Element) -> None:
    if (parent := element.getparent()) is not None:
        parent.remove(element)


def fit_trees(pages: Sequence[TypedPage], weights: Doubles) -> BoostedTrees:
    """Return trees that tell pages with records from others, if these weights choose the group of each page.

    List pages count as much as all others together, and so that sites with many pages do not prevail.
    """
    model = HistGradientBoostingClassifier(
        max_iter=TREES,
        learning_rate=RATE,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF,
        l2_regularization=LEAF_PRIOR,
        max_features=FEATURE_SHARE,
        monotonic_cst=[(name in RAISING) - (name in LOWERING) for name in LIST_FEATURES],
        early_stopping=False,
        random_state=0,
    )
    rows = np.array([page.describe(weights) for page in pages])
    is_list = np.array([page.is_right(weights) for page in pages])
    model.fit(rows, is_list, sample_weight=_importance(pages, is_list))
    return _as_arrays(model)


def _importance(pages: Sequence[TypedPage], is_list: Bools) -> Doubles:
    counts = Counter((page.kind, page.site) for page in pages)
    importance = np.array([1 / np.sqrt(counts[page.kind, page.site]) for page in pages])
    importance *= np.array([KIND_WEIGHTS.get(page.kind, 1.0) for page in pages])
    for chosen in (is_list, ~is_list):
        importance[chosen] *= len(pages) / importance[chosen].sum()
    return importance


def _as_arrays(model: HistGradientBoostingClassifier) -> BoostedTrees:
    """Return the trees alone: the prior log odds, which they start from, are 0 because both kinds count the same."""
    trees = [predictor.nodes for [predictor] in model._predictors]
    sizes = np.array(list(map(len, trees)))
    roots = np.cumsum(sizes) - sizes
    nodes = np.concatenate(trees)
    is_leaf = nodes["is_leaf"] > 0
    root = np.repeat(roots, sizes)
    return BoostedTrees(
        feature=np.where(is_leaf, -1, nodes["feature_idx"]),
        threshold=nodes["num_threshold"],
        left=np.where(is_leaf, 0, nodes["left"] + root),
        right=np.where(is_leaf, 0, nodes["right"] + root),
        value=np.where(is_leaf, nodes["value"], 0.0),
        roots=roots,
    )


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    progress = Console(stderr=True)
    sheets = track(all_sheets(), console=progress, description="List pages")
    pages = [typed_sheet(sheet) for sheet in sheets if len(sheet.found.groups)]
    pages += track(typed_pages(), console=progress, description="Other pages")
    fit_trees(pages, shipped_group_weights()).save(SHIPPED_TREES)


if __name__ == "__main__":
    main()
