"""Quick floors on whole real sites: templates told apart, and no record for a page of another kind."""

from __future__ import annotations

import pytest

from benchmarks.data.whole_sites import SETS, WholeSite, whole_sites
from benchmarks.measure.clustering import ours
from benchmarks.measure.whole_sites import extract_site, match_unseen, pair_f1, template_f1

# Mean pair F1 over all sites of a set.
TEMPLATE_FLOORS = {"blogs": 0.99, "shops": 0.999}
# Sites on which rules are learned: a few, since learning takes time.
LEARNED_SITES = {"blogs": 5, "shops": 2}


@pytest.fixture(scope="module", params=SETS)
def sites(request: pytest.FixtureRequest) -> list[WholeSite]:
    try:
        return list(whole_sites(request.param))
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


def test_templates_are_told_apart(sites: list[WholeSite]) -> None:
    values = [template_f1(site, ours) for site in sites]
    assert sum(values) / len(values) >= TEMPLATE_FLOORS[sites[0].family]
    assert min(values) > 0.9


def test_pages_of_other_kinds_do_not_match(sites: list[WholeSite]) -> None:
    accepted, others, rejected, mains = map(
        sum, zip(*(match_unseen(site, None) for site in sites), strict=True)
    )
    assert accepted / others <= 0.01
    assert rejected / mains <= 0.02


def test_pages_of_other_kinds_get_no_record(sites: list[WholeSite]) -> None:
    labeled = [site for site in sites if site.labels()][: LEARNED_SITES[sites[0].family]]
    results = [extract_site(site) for site in labeled]
    assert sum(result.with_title for result in results) <= 0.02 * sum(
        result.other_pages for result in results
    )
    judged = sum(result.right + result.wrong + result.missing for result in results)
    assert sum(result.right for result in results) >= 0.98 * judged


def test_pairs_are_counted_as_the_data_say() -> None:
    assert pair_f1("aab", [True, True, False]) == 1.0
    assert pair_f1("aaa", [True, True, False]) == 2 / (1 + 2 + 1)
    assert pair_f1("abc", [True, True, False]) == 0.0
