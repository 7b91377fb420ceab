"""The list of a page among several likely groups, and pages on which the likeliest group is no list."""

import pytest

from untemplate import Page, find_records
from untemplate.lists.list_page import choose_list


@pytest.mark.parametrize(
    ("confidences", "chosen"),
    [
        ([0.9, 0.99], 0),
        ([0.2, 0.99], 0),
        ([0.05, 0.4, 0.7], 2),
        ([0.05, 0.4, 0.4], 0),
        ([0.05, 0.0, 0.0, 0.0, 0.0, 0.9], 0),
    ],
)
def test_the_next_best_list_is_chosen_if_the_best_is_unlikely(confidences: list[float], chosen: int) -> None:
    assert choose_list(range(len(confidences)), confidences.__getitem__) == (chosen, confidences[chosen])


def test_no_list_of_none() -> None:
    assert choose_list([], lambda _: 1.0) == (-1, 0.0)


POST = "<article class='post'><h2><a href='/2024/05/01/tea/'>How to make tea</a></h2><time>May 1</time></article>"
TAGS = "".join(f"<li class='tag'><a href='/tags/{name}/'>{name}</a></li>" for name in "abcdefghijkl")


def test_a_tag_with_one_post_does_not_list_the_side_bar() -> None:
    side = f"<aside class='sidebar'><h3>Tags</h3><ul class='tag-list'>{TAGS}</ul></aside>"
    page = Page(html=f"<title>Tag: tea</title><main><h1>Tag: tea</h1>{POST}</main>{side}")
    assert not any(row.text == "a" for row in find_records(page))
