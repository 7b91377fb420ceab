"""The elements of a region, on all pages and on one."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.learning import SampleTable
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Region

BODIES = (
    '<div class="a"><p>1</p><p>2</p></div>',
    "<p>no list here</p>",
    '<div class="a b"><p>3</p></div><div><p>4</p></div>',
)


@pytest.fixture(scope="module")
def table() -> SampleTable:
    return SampleTable([Page(f"http://shop.example/{n}", body, str(n)) for n, body in enumerate(BODIES)])


@pytest.mark.parametrize(
    "features",
    [
        (Feature("tag", 1, ("p",)),),
        (Feature("tag", 1, ("p", "div")),),
        (Feature("token", 1, ("a",)),),
        (Feature("tag", 1, ("p",)), Feature("token", 2, ("a",))),
        (Feature("tag", 1, ("p",)), Feature("class", 2, ("",))),
        (Feature("tag", 9, ("p",)),),
        (Feature("tag", 1, ("table",)),),
    ],
)
def test_the_elements_of_all_pages_are_those_of_each_page(
    table: SampleTable, features: tuple[Feature, ...]
) -> None:
    region = Region(features)
    by_page: list[int] = []
    for page in range(len(BODIES)):
        by_page += table.elements_on_page(region, page).tolist()
    assert by_page == table.elements_of(region).tolist()


def test_a_position_counts_the_elements_of_each_page(table: SampleTable) -> None:
    first = Region((Feature("tag", 1, ("p",)),), 1)
    assert [table.element(number).text for number in table.elements_of(first)] == ["1", "no list here", "3"]


def test_a_page_is_asked_for_the_elements_inside_of_others(table: SampleTable) -> None:
    inside = Region((Feature("tag", 1, ("p",)), Feature("token", 2, ("a",))))
    assert [table.element(number).text for number in table.elements_on_page(inside, 2)] == ["3"]
