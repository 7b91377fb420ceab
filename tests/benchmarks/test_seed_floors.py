"""Quick floors of labeling sites nobody labeled: one pair of real sites a vertical, and pairs of made-up ones."""

from __future__ import annotations

from statistics import mean

import pytest

from benchmarks.data import swde
from benchmarks.measure import seed
from untemplate import Page, learn, train
from untemplate.demo import Site, make_site

# Of so many pages one. A seed site and a new one: F1, end to end.
EVERY = 2
FLOORS = {
    ("nbaplayer", "yahoo", "slam"): 0.9,
    ("restaurant", "zagat", "gayot"): 0.9,
}
# The paper's method on one of these, its labels alone.
PAPER_PAIR, PAPER_FLOOR = ("restaurant", "zagat", "gayot"), 0.95
# Mean share of pages whose attributes come out right on new made-up sites, end to end.
MADE_UP = ("movie", "product")
MADE_UP_PAGES = 40
MADE_UP_FLOOR = 0.6


@pytest.mark.parametrize(("vertical", "seed_name", "new"), FLOORS)
def test_a_new_site_reaches_its_floor(vertical: str, seed_name: str, new: str) -> None:
    try:
        sites = {site.name: site for site in swde.chosen_sites([vertical], (seed_name, new), EVERY)}
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    outcomes = seed.Outcomes()
    list(seed.evaluate(vertical, [sites[seed_name], sites[new]], ["untemplate"], [1], 1, outcomes))
    (scores,) = outcomes.scores.values()
    assert mean(tally.f1 for tally in scores.values()) >= FLOORS[vertical, seed_name, new], scores


def test_each_step_of_the_paper_helps() -> None:
    vertical, *names = PAPER_PAIR
    try:
        sites = {site.name: site for site in swde.chosen_sites([vertical], names, EVERY)}
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    outcomes = seed.Outcomes()
    methods = [method for method, step in seed.METHODS.items() if step]
    list(seed.evaluate(vertical, [sites[name] for name in names], methods, [1], 1, outcomes, True))
    page, pages, solution = (mean(tally.f1 for tally in found.values()) for found in outcomes.scores.values())
    assert page < pages <= solution
    assert solution >= PAPER_FLOOR


def test_made_up_sites_reach_their_floor() -> None:
    assert mean(_share_right(vertical) for vertical in MADE_UP) >= MADE_UP_FLOOR


def _share_right(vertical: str) -> float:
    known, new = (make_site(vertical, number, MADE_UP_PAGES) for number in (31, 32))
    pages = _details(new)
    labels = train([(_details(known), known.labels)], known.schema).label(pages[:20])
    rules = learn(pages, labels, new.schema)
    right = [
        (record[name] or "") in values
        for page in pages[20:]
        for record in [rules.extract_one(page)]
        for name, values in new.truth[page.id].items()
        if values
    ]
    return mean(right)


def _details(site: Site) -> list[Page]:
    return [page for page in site.pages if page.id in site.truth]
