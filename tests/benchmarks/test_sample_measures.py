"""The arithmetic of the measures on samples, streams and foreign pages."""

from random import Random

import numpy as np
import pytest

from benchmarks.measure.coverage import (
    count_ours,
    count_paper,
    measure_coverage,
    our_recognizer,
    paper_recognizer,
)
from benchmarks.measure.foreign import copy_pages
from benchmarks.measure.memory import vary_markup
from benchmarks.measure.sampling import shares_covered
from untemplate import Page
from untemplate.sampling.page_selection import XPathTable

DETAIL = (
    "<h1>{}</h1><dl><dt>Tel</dt><dd><b>{}</b></dd></dl><table><tr><td><i>x</i></td></tr></table><h2>More</h2>"
)
LIST = (
    "<ul>"
    + "<li><a href=/><img></a><span><em>x</em></span></li>" * 9
    + "</ul><form><input><select></select></form>"
)
DETAILS = [Page(f"http://a.com/item/{number}", DETAIL.format(number, number)) for number in range(300)]
LISTS = [Page(f"http://a.com/list/{number}", LIST) for number in range(60)]


def test_varied_pages_differ_and_keep_what_they_had():
    html = b"<html><body><p>one</p><p>two</p></body></html>"
    varied = {vary_markup(html, Random(seed)) for seed in range(20)}
    assert len(varied) == 20
    assert vary_markup(html, Random(3)) == vary_markup(html, Random(3))
    assert all(b"one" in page and b"two" in page for page in varied)


def test_shares_of_xpaths_grow_with_the_sample():
    present = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], np.bool_)
    table = XPathTable([Page(id=str(number)) for number in range(3)], present, np.ones(4))
    assert shares_covered([0, 1, 2], table) == [0.5, 0.75, 1, 1, 1, 1]
    assert shares_covered([2, 0, 1], table)[:2] == [0.25, 0.75]


@pytest.mark.parametrize("count", [count_paper, count_ours])
def test_one_rule_of_two_matches_each_page(count):
    counts = count([*DETAILS, *LISTS])
    assert (counts.clusters, counts.by_url, counts.by_both) == (2, 1, 1)


@pytest.mark.parametrize("recognizer", [paper_recognizer, our_recognizer])
def test_a_sample_of_equal_pages_covers_the_large_cluster(recognizer):
    assert measure_coverage([*DETAILS, *LISTS], recognizer) == [1, 1, 1, 1]


def test_copies_know_nothing_yet():
    [copy] = copy_pages(DETAILS[:1], with_urls=False)
    assert (copy.url, copy.html, copy.id) == ("", DETAILS[0].html, DETAILS[0].id)
