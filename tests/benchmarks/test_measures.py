"""The benchmarks' own arithmetic: what is copied from developer tools, where values stand, what is compared."""

import pytest
from lxml import html

from benchmarks.data.rendered import common_pairs
from benchmarks.data.swde import Score
from benchmarks.measure.changes import _absolute_xpath, plain
from benchmarks.peers.reading import Example, choose_places, find_places
from untemplate import Page

LIST = "<html><body><h1>Soup</h1><ul><li>1 onion</li><li><b>Salt</b></li><li>2 <i>carrots</i></li></ul></body></html>"


@pytest.mark.parametrize(
    ("values", "xpath"),
    [
        (["Soup"], "/html/body/h1"),
        (["1 onion", "2 carrots"], "/html/body/ul/li"),
        (["1 onion", "Salt"], "/html/body/ul/li[1] | /html/body/ul/li[2]/b"),
        (["Pepper"], None),
    ],
)
def test_copied_xpaths_drop_the_numbers_in_which_values_differ(values, xpath):
    assert _absolute_xpath(Page(html=LIST), values) == xpath


def test_values_are_found_where_they_are_visible():
    tree = html.document_fromstring("<title>Soup</title><p>A <b>good</b> Soup</p><p>Soup</p>")
    places = [place.text_xpath for place in find_places(tree, ["Soup"])]
    assert places == ["/html/body/p[1]/text()[2]", "/html/body/p[2]/text()[1]"]
    assert not list(find_places(tree, ["good Soup"]))


def test_the_place_that_holds_on_most_pages_is_chosen():
    pages = [f"<p>{first}</p><h1>{title}</h1>" for first, title in (("Soup", "Soup"), ("Menu", "Pie"))]
    examples = [Example(pages[0], {"name": ["Soup"]})]
    (chosen,) = choose_places(examples, [Example(pages[1], {"name": ["Pie"]})])
    assert chosen["name"].xpath == "/html/body/h1"


def test_texts_are_compared_by_letters_and_digits():
    assert plain("½ cup “Milk”, warm ") == plain("½ CUP milk warm")


def test_score_without_extraction_is_zero():
    assert (Score(true=3).precision, Score(true=3).recall, Score(true=3).f1) == (0, 0, 0)
    assert Score(hits=2, extracted=2, true=4).f1 == pytest.approx(2 / 3)


def test_elements_of_a_browser_are_found_again_by_their_tags():
    pairs = common_pairs("abcabba", "cbabac")
    assert "".join("abcabba"[left] for left, _ in pairs) == "".join("cbabac"[right] for _, right in pairs)
    assert len(pairs) == 4
    assert common_pairs("abc", "abc") == [(0, 0), (1, 1), (2, 2)]
    assert common_pairs("abc", "xbyc") == [(1, 1), (2, 3)]
    assert common_pairs("", "a") == common_pairs("a", "b") == []
