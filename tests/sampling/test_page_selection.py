import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Page
from untemplate.clustering import cluster
from untemplate.sampling import sample
from untemplate.sampling.page_selection import MAX_PAGES, greedy_cover, read_xpath_table


def page(*parts, id=""):
    return Page(html="<html><body>" + "".join(parts) + "</body></html>", id=id)


FOOTER = "<footer>Imprint</footer>"


def test_informativeness_and_weights_of_the_paper():
    pages = [page(FOOTER, "<h1>a</h1>", "<p>x</p>"), page(FOOTER, "<h1>b</h1>"), page(FOOTER, "<h1>c</h1>")]
    xpaths = read_xpath_table(pages)
    # footer: |T| = 1, on all pages; h1: |T| = 3, each on one of three pages; p: |T| = 1, on one of three.
    assert np.allclose(xpaths.informativeness, [0, 2 / 3, 2 / 3])
    assert np.allclose(xpaths.weights, [0, 2, 2 / 3])


def test_content_counts_before_furniture():
    furniture = page(
        *(f"<{tag}>menu</{tag}>" for tag in ("nav", "footer", "aside", "small", "em")), id="menu"
    )
    content = [page("<h1>", str(n), "</h1><p>", str(n), "</p>", id=f"content-{n}") for n in range(9)]
    assert sample([furniture, *content], k=1)[0].id.startswith("content")


def test_each_page_adds_what_the_others_lack():
    pages = [
        page("<h1>a</h1>", id="title"),
        page("<h1>b</h1><p>x</p>", id="title and text"),
        page("<h1>c</h1><b>1</b>", id="title and price"),
        page("<h1>d</h1><p>y</p><b>2</b>", id="all"),
        page("<i>z</i>", id="other"),
    ]
    assert [one.id for one in sample(pages)] == ["all", "other"]
    assert [one.id for one in sample(pages, k=1)] == ["all"]
    assert sample(pages, k=0) == []


def test_takes_a_cluster():
    pages = [page(f"<h1>{number}</h1>", "<p>x</p>" * (number % 2), id=str(number)) for number in range(30)]
    (one,) = cluster(pages)
    assert sample(one) == sample(pages)


def test_pages_that_cannot_be_read_are_never_sampled():
    broken = Page(html=b"", id="broken")
    assert broken not in sample([broken, page("<p>a</p>")])
    assert sample([broken]) == sample([]) == []


def test_one_page_is_its_own_sample():
    only = page("<p>a</p>")
    assert sample([only]) == [only]


def test_big_clusters_are_looked_at_in_part():
    pages = [page(f"<p>{number}</p>", id=str(number)) for number in range(3 * MAX_PAGES)]
    assert len(read_xpath_table(pages[:MAX_PAGES]).pages) == MAX_PAGES
    assert len(sample(pages)) == 1


def test_trees_do_not_pile_up():
    pages = [page(f"<p>{number}</p>") for number in range(5)]
    sample(pages)
    assert not any("tree" in vars(one) or "nodes" in vars(one) for one in pages)


matrices = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.booleans(), min_size=width, max_size=width), min_size=1, max_size=8)
)


@given(matrices)
def test_cover_is_greedy_and_complete(rows):
    present = np.array(rows)
    present = present[:, present.any(axis=0)]
    weights = np.arange(1.0, present.shape[1] + 1)
    chosen = greedy_cover(present, weights, k=100)
    assert len(set(chosen)) == len(chosen)
    uncovered = np.ones(present.shape[1], bool)
    for row in chosen:
        gains = present @ (weights * uncovered)
        assert gains[row] == pytest.approx(gains.max())
        assert (present[row] & uncovered).any()
        uncovered &= ~present[row]
    assert not uncovered.any()
