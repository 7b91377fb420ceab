"""Fits the weights with which the records of a page are chosen, on `lists`, `courts`, `shops` and `blogs`.

python -m benchmarks.train.list_choice    prints GROUP_WEIGHTS, fitted on all sites
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np
from rich.console import Console
from rich.progress import track
from scipy.optimize import minimize

from benchmarks.data.list_pages import Sheet, court_sheets, post_sheets, sheets, shop_sheets
from untemplate.lists.group_scores import GROUP_FEATURES, GROUP_WEIGHTS, score_groups
from untemplate.page.arrays import Doubles

__all__ = ["FOLDS", "all_sheets", "choose", "chosen_group", "folds"]

FOLDS = 5
# Of the weights: the strength of the prior, and how sharply a better group is preferred to a good one. Of 2, 5, 10,
# 20 and of 5, 10, 20 the best, three ways to part the sites into five folds.
PRIOR = 5.0
SHARPNESS = 10.0
# Sites with more pages than this count as if they had this many.
PAGES_PER_SITE = 3
# Too few pages of these sets declare their items to fit its weight.
FIXED_WEIGHTS = ("declared",)


def all_sheets() -> Iterator[Sheet]:
    """The list pages of all sets."""
    return chain(sheets(), court_sheets(), shop_sheets(), post_sheets())


def choose(training: Iterable[Sheet]) -> Doubles:
    """The weights with which a softmax over a page's groups prefers those with a better score."""
    known = [sheet for sheet in training if sheet.f1.max(initial=0) > 0]
    pages = Counter(sheet.site for sheet in known)
    importance = np.array([PAGES_PER_SITE / max(pages[sheet.site], PAGES_PER_SITE) for sheet in known])
    is_fixed = np.array([name in FIXED_WEIGHTS for name in GROUP_FEATURES])
    every = np.concatenate([sheet.found.features for sheet in known]) * ~is_fixed
    scale = every.std(axis=0) + 1e-9
    normal = (every - every.mean(axis=0)) / scale
    counts = [len(sheet.f1) for sheet in known]
    starts = np.cumsum(counts) - counts
    page = np.repeat(np.arange(len(known)), counts)
    wanted = np.concatenate([_shares(sheet.wanted) for sheet in known]) * importance[page]

    def loss(weights: Doubles) -> tuple[float, Doubles]:
        scores = normal @ weights
        scores -= np.maximum.reduceat(scores, starts)[page]
        log_shares = scores - np.log(np.add.reduceat(np.exp(scores), starts))[page]
        slope = normal.T @ (wanted - importance[page] * np.exp(log_shares))
        return float(PRIOR * weights @ weights / 2 - wanted @ log_shares), PRIOR * weights - slope

    weights: Doubles = minimize(loss, np.zeros(len(GROUP_FEATURES)), jac=True, method="L-BFGS-B").x / scale
    weights[is_fixed] = [GROUP_WEIGHTS[name] for name in FIXED_WEIGHTS]
    return weights


def _shares(wanted: Doubles) -> Doubles:
    """Return how often each group of a page should be chosen."""
    shares = np.exp((wanted - wanted.max()) * SHARPNESS) * (wanted > 0)
    share: Doubles = shares / shares.sum()
    return share


def chosen_group(features: Doubles, weights: Doubles) -> int:
    """Return the number of the group that is chosen with these weights."""
    return int(np.argmax(score_groups(features, weights)))


def folds(every: Sequence[Sheet]) -> Iterator[tuple[list[Sheet], list[Sheet]]]:
    """Training and test pages; a site is in one of them."""
    for held_out in _site_folds({sheet.site for sheet in every}):
        training = [sheet for sheet in every if sheet.site not in held_out]
        yield training, [sheet for sheet in every if sheet.site in held_out]


def _site_folds(sites: Iterable[str]) -> Iterator[set[str]]:
    ordered = sorted(sites)
    for fold in range(FOLDS):
        yield set(ordered[fold::FOLDS])


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    console, progress = Console(width=160), Console(stderr=True)
    every = list(track(all_sheets(), console=progress, description="List pages"))
    weights = choose(every)
    _print_weights(console, weights)


def _print_weights(console: Console, weights: Doubles) -> None:
    console.print("GROUP_WEIGHTS = {")
    for feature, weight in zip(GROUP_FEATURES, weights, strict=True):
        if weight:
            console.print(f'    "{feature}": {weight:.3f},')
    console.print("}")


if __name__ == "__main__":
    main()
