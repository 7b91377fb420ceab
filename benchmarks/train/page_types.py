"""Trains the trees that tell list pages from pages about one thing, on list pages and on pages of four other sets.

python -m benchmarks.train.page_types    writes the file that is shipped
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from lxml import etree
from rich.console import Console
from rich.progress import track
from sklearn.ensemble import GradientBoostingClassifier

from benchmarks.data.list_pages import SAME_SCORE, Sheet
from benchmarks.data.other_pages import OtherPage, other_pages
from benchmarks.train.list_choice import all_sheets
from untemplate import Page
from untemplate.errors import PageError
from untemplate.layout import EstimatedLayout
from untemplate.lists.group_scores import GROUP_FEATURES, score_groups, shipped_group_weights
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_types import SHIPPED_TREES, BoostedTrees
from untemplate.page.arrays import Bools, Doubles

__all__ = ["TypedPage", "fit_trees", "typed_pages", "typed_sheet"]

# How much pages of a kind count. Those of SWDE have the lists that are the most like records. Pages without results
# are made from list pages, so with more weight they cost list pages.
KIND_WEIGHTS = {"swde": 4.0, "emptied": 0.3}
# The least score of a group that is a page's list.
MIN_KNOWN_F1 = 0.9
# Of 80 to 400 trees with 4 to 8 leaves, five folds over sites, all are about as good. More trees that each learn less
# depend less on chance: with 200 and a rate of 0.06, other random numbers gain or lose two or three list pages.
TREES = 600
LEAVES = 8
RATE = 0.02
MIN_LEAF = 10
# Shares of the pages and of the features that each tree learns from.
PAGE_SHARE = 0.5
FEATURE_SHARE = 0.3


@dataclass(frozen=True)
class TypedPage:
    """A page of which we know whether it lists records."""

    kind: str
    site: str
    page: ListPage
    is_list: bool

    def describe(self, weights: Doubles) -> Doubles:
        """Return the LIST_FEATURES of the group that is chosen with these weights."""
        scores = score_groups(self.page.features, weights)
        return self.page.describe(int(np.argmax(scores)), scores)


def typed_sheet(sheet: Sheet) -> TypedPage:
    """Return a page of `lists`, `courts` or `shops`."""
    return TypedPage("list", sheet.site, sheet.found, is_list=True)


def typed_pages() -> Iterator[TypedPage]:
    """Yield the pages of other sets on which something repeats, and list pages without their lists."""
    for other in chain(other_pages(), emptied_pages()):
        try:
            page = ListPage(other.page, EstimatedLayout())
        except PageError:
            continue
        if page.groups:
            yield TypedPage(other.kind, other.site, page, other.is_list)


def emptied_pages() -> Iterator[OtherPage]:
    """Yield the first page of each site that lists records, without these records: nothing was found."""
    seen: set[str] = set()
    for sheet in all_sheets():
        if sheet.site not in seen and sheet.f1.max(initial=0) >= MIN_KNOWN_F1:
            seen.add(sheet.site)
            yield OtherPage("emptied", sheet.site, _without_list(sheet), is_list=False)


def _without_list(sheet: Sheet) -> Page:
    best = sheet.f1 >= sheet.f1.max() - SAME_SCORE
    coverage = np.where(best, sheet.found.features[:, list(GROUP_FEATURES).index("coverage")], -1.0)
    tree = sheet.found.tree
    for run in sheet.found.groups[int(coverage.argmax())].runs:
        for element in tree.elements_of(run):
            if (parent := element.getparent()) is not None:
                parent.remove(element)
    return Page(url=sheet.page.url, html=etree.tostring(sheet.page.tree, method="html"), id=sheet.page.id)


def fit_trees(pages: Sequence[TypedPage], weights: Doubles) -> BoostedTrees:
    """Return trees that tell pages with records from others, if these weights choose the group of each page.

    List pages count as much as all others together, and so that sites with many pages do not prevail.
    """
    model = GradientBoostingClassifier(
        init="zero",
        n_estimators=TREES,
        learning_rate=RATE,
        max_depth=None,
        max_leaf_nodes=LEAVES,
        min_samples_leaf=MIN_LEAF,
        subsample=PAGE_SHARE,
        max_features=FEATURE_SHARE,
        random_state=0,
    )
    rows = np.array([page.describe(weights) for page in pages])
    is_list = np.array([page.is_list for page in pages])
    model.fit(rows, is_list, sample_weight=_importance(pages, is_list))
    return _as_arrays(model)


def _importance(pages: Sequence[TypedPage], is_list: Bools) -> Doubles:
    counts = Counter((page.kind, page.site) for page in pages)
    importance = np.array([1 / np.sqrt(counts[page.kind, page.site]) for page in pages])
    importance *= np.array([KIND_WEIGHTS.get(page.kind, 1.0) for page in pages])
    for chosen in (is_list, ~is_list):
        importance[chosen] *= len(pages) / importance[chosen].sum()
    return importance


def _as_arrays(model: GradientBoostingClassifier) -> BoostedTrees:
    trees = [estimator.tree_ for estimator in model.estimators_[:, 0]]
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(sizes) - sizes
    return BoostedTrees(
        feature=np.concatenate([np.maximum(tree.feature, -1) for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=np.concatenate([tree.children_left + root for tree, root in zip(trees, roots, strict=True)]),
        right=np.concatenate([tree.children_right + root for tree, root in zip(trees, roots, strict=True)]),
        value=RATE * np.concatenate([tree.value[:, 0, 0] for tree in trees]),
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
