"""Two labeled items of a list, and all others that are like them."""

from __future__ import annotations

import pytest

from untemplate.page import Page
from untemplate.web.item_proposals import (
    LabeledPlace,
    find_alike_places,
    find_whole_items,
    propose_clicks,
)
from untemplate.web.page_labels import Click
from untemplate.web.rendering import Rendering, render

ITEMS = "<ul>{}</ul>".format(
    "".join(f"<li class='i {n % 2}'><b>{n}</b> <i>cups</i> t{n}</li>" for n in range(4))
)
LINES = "<p>a<br>b<br>c<br>d</p>"
TABLE = "<table>{}</table>".format("".join(f"<tr><td>k{n}</td><td>v{n}</td></tr>" for n in range(3)))
SECTIONS = "".join(
    f"<div class='part'><h3>Part {n}</h3><ul><li>a{n}</li><li>b{n}</li></ul></div>" for n in range(2)
)
CARDS = "<div class='x'>{}</div>".format(
    "".join(f"<p class='s'><b>{n}</b> {step}</p>" for n, step in enumerate(("Mix", "Stir", "Bake")))
)
LINKS = "<p>Tags: <a class='t'>a</a>, <a class='t'>b</a>, <a class='t'>c</a> <a class='more'>more</a></p>"


def rendered(body: str) -> Rendering:
    return render(Page("http://a.example/", f"<html><body>{body}<p>end</p></body></html>"), lambda _: None)


def items_of(rendering: Rendering, *texts: str) -> list[int]:
    found = []
    for text in texts:
        found += [
            number
            for number, item in enumerate(rendering.items)
            if len(item) == 2 and item[1].strip() == text
        ]
    return found


def texts_of(rendering: Rendering, ranges: list[tuple[int, int]]) -> list[str]:
    nodes = [[rendering.node(number) for number in range(first, last + 1)] for first, last in ranges]
    return [" ".join(node.text for node in inside if node) for inside in nodes]


@pytest.mark.parametrize(
    ("body", "first", "second", "alike"),
    [
        (LINES, ["a"], ["c"], ["a", "b", "c", "d"]),
        (TABLE, ["v0"], ["v2"], ["v0", "v1", "v2"]),
        (TABLE, ["k0"], ["v0"], []),  # both of one row
        (SECTIONS, ["a0"], ["b1"], ["a0", "b0", "a1", "b1"]),
        (SECTIONS, ["a0"], ["b0"], []),  # two of two
        (CARDS, ["Mix"], ["Bake"], ["Mix", "Stir", "Bake"]),
        (LINKS, ["a"], ["b"], ["a", "b", "c"]),
        (LINKS, ["a"], ["end"], []),
    ],
)
def test_what_is_like_two_places(body: str, first: list[str], second: list[str], alike: list[str]) -> None:
    rendering = rendered(body)
    ranges = find_alike_places(rendering, items_of(rendering, *second), [items_of(rendering, *first)])
    assert texts_of(rendering, ranges) == alike


def test_items_of_several_texts_may_be_named_by_their_element() -> None:
    rendering = rendered(ITEMS)
    element = next(
        number for number, item in enumerate(rendering.items) if len(item) == 3 and item[1] == "li"
    )
    second = items_of(rendering, "1", "t1")
    whole = rendering.texts_inside(rendering.nodes[second[0]][0].getparent())
    ranges = find_alike_places(rendering, whole, [[element]])
    assert texts_of(rendering, ranges) == [f"{n} cups t{n}" for n in range(4)]


def test_nothing_is_proposed_for_places_that_are_no_list() -> None:
    rendering = rendered(LINKS)
    assert find_alike_places(rendering, [], [items_of(rendering, "a")]) == []
    assert find_alike_places(rendering, items_of(rendering, "a"), [[], items_of(rendering, "a", "b")]) == []


def test_labels_elsewhere_stay_when_all_are_accepted() -> None:
    rendering = rendered(LINES)
    a, b, c, d, end = items_of(rendering, "a", "b", "c", "d", "end")
    places = [LabeledPlace(1, [end], []), LabeledPlace(2, [a], []), LabeledPlace(3, [c], [])]
    clicks = [Click(label=1), *(Click(item, last=item) for item in (a, b, c, d))]
    assert propose_clicks(rendering, places, {3}, in_data=False) == clicks
    assert propose_clicks(rendering, places, {2, 3}, in_data=False) == []
    assert propose_clicks(rendering, places[2:], {3}, in_data=False) == []
    assert propose_clicks(rendering, places, {3}, in_data=True) == []


ROWS = "<div class='list'>{}</div>".format(
    "".join(
        f"<div class='row'><div>{amount}</div><div class='food'>{food}</div></div>"
        for amount, food in (("4", "cloves"), ("1 l", "milk"), ("", "salt"), ("2", "eggs"))
    )
)


def test_rows_around_two_texts_may_be_meant() -> None:
    rendering = rendered(ROWS)
    first, second = items_of(rendering, "4"), items_of(rendering, "1 l")
    assert texts_of(rendering, find_alike_places(rendering, second, [first])) == ["4", "1 l", "2"]
    whole = find_whole_items(rendering, second, [first])
    inside = [rendering.texts_inside(rendering.nodes[number][0]) for number in whole]
    texts = texts_of(rendering, [(numbers[0], numbers[-1]) for numbers in inside])
    assert texts == ["4 cloves", "1 l milk", "salt", "2 eggs"]


@pytest.mark.parametrize(
    ("body", "first", "second"), [(LINES, "a", "c"), (LINKS, "a", "b"), (LINKS, "a", "end")]
)
def test_items_of_one_text_are_whole_already(body: str, first: str, second: str) -> None:
    rendering = rendered(body)
    assert find_whole_items(rendering, items_of(rendering, second), [items_of(rendering, first)]) == []


def test_links_between_steps_are_not_like_them() -> None:
    rendering = rendered("<div><p>mix</p><p>stir</p><p>bake</p><p><a href='/1'>See also</a></p></div>")
    ranges = find_alike_places(rendering, items_of(rendering, "stir"), [items_of(rendering, "mix")])
    assert texts_of(rendering, ranges) == ["mix", "stir", "bake"]
