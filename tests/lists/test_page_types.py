"""Pages about one thing have no rows, although much of them repeats."""

from pathlib import Path

import numpy as np
import pytest

from untemplate import Page, find_records
from untemplate.demo import make_site
from untemplate.layout import EstimatedLayout
from untemplate.lists.addresses import page_address
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_types import LIST_FEATURES, BoostedTrees, is_number_stated, list_confidence

TEAS = ("Assam", "Sencha", "Keemun", "Oolong", "Darjeeling", "Matcha")


def product_page() -> Page:
    """A page about one tea, with facts, reviews and related teas."""
    description = "<p>" + "Leaves of the second harvest, dried in the shade and rolled by hand. " * 6 + "</p>"
    facts = "".join(f"<tr><td>{name}:</td><td>{name} tea</td></tr>" for name in ("Kind", "Origin", "Weight"))
    reviews = "".join(f"<li><b>{name}</b><p>I like it {name}, really.</p></li>" for name in TEAS[:3])
    related = "".join(f"<li><a href='/{name}'><h3>{name}</h3>$ 3</a></li>" for name in TEAS)
    data = '<script type="application/ld+json">{"@type": "Product", "name": "Assam"}</script>'
    return Page(
        "http://tea.example/assam",
        f"<title>Assam - Teas</title><meta property='og:type' content='product'>{data}<h1>Assam</h1>{description}"
        f"<h2>Facts</h2><table class='specs'>{facts}</table><h2>Reviews</h2><ul class='reviews'>{reviews}</ul>"
        f"<h2>You may also like</h2><ul class='related'>{related}</ul><textarea></textarea>",
    )


def list_features(page: Page) -> dict[str, float]:
    found = ListPage(page, EstimatedLayout())
    values = found.describe(int(np.argmax(found.scores)), found.scores)
    return dict(zip(LIST_FEATURES, values.tolist(), strict=True))


def test_a_page_about_one_thing_has_no_rows_and_says_why() -> None:
    rows = find_records(product_page())
    assert rows == []
    assert rows.reason is not None
    assert "nothing that repeats looks like records of a list page" in rows.reason
    assert find_records(product_page(), all_lists=True)


@pytest.mark.parametrize("vertical", ["book", "restaurant"])
def test_detail_pages_of_made_up_sites_have_no_rows(vertical: str) -> None:
    site = make_site(vertical, seed=31, pages=40)
    details = [page for page in site.pages if page.id in site.truth][:10]
    assert len(details) == 10
    assert sum(bool(find_records(page)) for page in details) <= 1


def test_evidence() -> None:
    values = list_features(product_page())
    assert values["one_declared"] == values["one_shared"] == values["comment_field"] == 1
    assert values["h1"] == values["h1_in_title"] == 1
    assert values["captions_outside"] == pytest.approx(np.log1p(3))
    cards = "".join(f"<li><a href='/{name}'><h3>{name}</h3></a><p>from {name}</p></li>" for name in TEAS)
    values = list_features(
        Page(html=f"<h1>Teas</h1><ul class='results'>{cards}</ul><nav class='pager'>1 2</nav>")
    )
    assert values["records_linked"] == values["distinct_links"] == values["first_linked"] == 1
    assert values["in_results"] == values["paging_named"] == 1
    assert values["one_declared"] == values["in_reviews"] == values["h1_in_title"] == 0


def test_trees(tmp_path: Path) -> None:
    # The first tree asks for feature 0, the second one is a leaf.
    trees = BoostedTrees(
        feature=np.array([0, -1, -1, -1]),
        threshold=np.array([0.5, 0.0, 0.0, 0.0]),
        left=np.array([1, 0, 0, 0]),
        right=np.array([2, 0, 0, 0]),
        value=np.array([0.0, -2.0, 3.0, 1.0]),
        roots=np.array([0, 3]),
    )
    trees.save(tmp_path / "trees.npz")
    loaded = BoostedTrees.load(tmp_path / "trees.npz")
    assert loaded.log_odds(np.array([0.5])) == -1
    assert loaded.log_odds(np.array([0.6])) == 4
    assert list_confidence(np.array([0.6]), False, loaded) == pytest.approx(1 / (1 + np.exp(-4)))


def test_a_page_that_states_the_number_of_its_results_is_a_list() -> None:
    cards = "".join(f"<li><a href='/{name}'><h3>{name}</h3></a><p>from {name}</p></li>" for name in TEAS)
    for said, is_stated in (("6 results", True), ("7 results", False)):
        found = ListPage(Page(html=f"<p>{said}</p><ul>{cards}</ul>"), EstimatedLayout())
        group = found.groups[int(np.argmax(found.scores))]
        assert len(group) == 6
        assert is_number_stated(found.profile, group) == is_stated
    features = np.zeros(len(LIST_FEATURES))
    assert list_confidence(features, True) > list_confidence(features, False)


def test_a_page_that_answers_a_search() -> None:
    cards = "".join(f"<li><a href='/{name}'><h3>{name}</h3></a><p>from {name}</p></li>" for name in TEAS)
    field = "<input name='q' value='tea'><input name='mail' value='a@b.example'>"
    values = list_features(Page(html=f"<title>Search</title><h1>Teas</h1>{field}<ul>{cards}</ul>"))
    assert (values["searched"], values["list_title"], values["list_heading"]) == (1, 1, 0)
    values = list_features(Page(html=f"<h1>Results</h1><input name='q' value=''><ul>{cards}</ul>"))
    assert (values["searched"], values["list_title"], values["list_heading"]) == (0, 0, 1)


def test_records_that_link_to_pages_like_this_one_and_a_heading_that_says_so() -> None:
    cards = "".join(
        f"<li><a href='/tea/{name}.html'><h3>{name}</h3></a><p>from {name}</p></li>" for name in TEAS
    )
    html = f"<h1>{{}}</h1><p>Leaves of the second harvest.</p><h2>{{}}</h2><ul>{cards}</ul>"
    related = list_features(
        Page("http://tea.example/tea/gyokuro.html", html.format("Gyokuro", "Similar teas"))
    )
    assert related["like_page"] == related["headed_related"] == 1
    results = list_features(Page("http://tea.example/search?q=tea", html.format("Similar teas", "Results")))
    assert results["like_page"] == results["headed_related"] == 0


@pytest.mark.parametrize(
    "head",
    ["<link rel=canonical href='/tea/gyokuro.html'>", "<meta property='og:url' content='/tea/gyokuro.html'>"],
)
def test_a_page_without_an_address_may_name_it(head: str) -> None:
    assert page_address(Page(html=f"<head>{head}</head><p>Gyokuro")) == "/tea/gyokuro.html"
