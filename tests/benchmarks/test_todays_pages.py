"""The arithmetic of the benchmark on today's pages, and where its peers look for values."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.data.labeled_site import LabeledSite, choose_half, key, visible_key, without_scripts
from benchmarks.data.recipes import SCHEMA
from benchmarks.measure.todays_pages import (
    LABELED,
    NO_LABELS,
    ONE_CLUSTER,
    Answer,
    evaluate_ours,
    f1,
)
from benchmarks.peers.listing import choose_xpaths, own_texts
from benchmarks.peers.reading import Example
from untemplate import Page

LIST = (
    "<html><body><h1>{}</h1><ul><li>1 onion</li><li><b>Salt</b>, fine</li></ul><p>1 onion</p></body></html>"
)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (["½ cup Milk", "Salt"], "right"),
        (["½ CUP milk,", "salt."], "right"),
        (["Salt", "½ cup Milk"], "wrong"),
        (["½ cup Milk"], "wrong"),
        ([], "nothing"),
    ],
)
def test_lists_are_right_if_all_members_are_in_order(found: list[str], verdict: str) -> None:
    assert Answer("1.html", "ingredients", ["½ cup Milk", "Salt"], found, 1.0).verdict == verdict


def test_f1() -> None:
    assert f1(Counter(right=6, wrong=2, nothing=2)) == pytest.approx(12 / 18)
    assert f1(Counter()) == 0


def test_only_what_readers_see_is_on_a_page() -> None:
    html = b"<script>let a = 'Pie'</script><style>p {}</style><p>Sou<b>p</b> No. 1"
    assert visible_key(html) == "soupno1"
    assert without_scripts(html) == b"<style>p {}</style><p>Sou<b>p</b> No. 1"
    assert key(None) == visible_key(b"") == ""


def test_halves_and_samples_of_sites() -> None:
    names = list("abcdefg")
    assert choose_half(names, "even", None) == ["a", "c", "e", "g"]
    assert choose_half(names, "odd", 2) == ["b", "d"]
    assert choose_half(names, "all", 100) == names


@pytest.mark.parametrize("learning", [LABELED, ONE_CLUSTER])
def test_a_site_is_learned_from_its_labeled_page_and_judged_on_the_others(learning: str) -> None:
    names = ("Soup", "Pie", "Stew", "Salad")
    pages = [Page(f"https://a.example/{name}", LIST.format(name), f"{name}.html") for name in names]
    truth = {f"{name}.html": {"title": [name]} for name in names}
    outcome = evaluate_ours(LabeledSite("a.example", SCHEMA, pages, truth, "Soup.html"), learning)
    assert [answer.found for answer in outcome.answers] == [["Pie"], ["Stew"], ["Salad"]]
    assert [answer.verdict for answer in outcome.labeled_answers] == ["right"]
    assert not outcome.failure


def test_a_site_that_teaches_nothing_gives_nothing() -> None:
    site = LabeledSite("a", SCHEMA, [Page(html="<p>x", id="1")], {"1": {"title": ["x"]}}, "1")
    outcome = evaluate_ours(site, NO_LABELS)
    assert outcome.failure
    assert [answer.verdict for answer in outcome.labeled_answers] == ["nothing"]


def test_copied_xpaths_of_lists_lack_the_numbers_in_which_members_differ() -> None:
    values = {"title": ["Soup"], "ingredients": ["1 onion", "salt, fine"]}
    example = Example(LIST.format("Soup"), values)
    xpaths = choose_xpaths(example, [example], ["ingredients"])
    assert xpaths == {"title": "/html/body/h1", "ingredients": "/html/body/ul/li"}
    assert own_texts(example)["ingredients"] == ["1 onion", "Salt, fine"]
