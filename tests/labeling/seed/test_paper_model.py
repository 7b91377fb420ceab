"""The paper's method: contexts of nodes, and its three steps on pages where each is needed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from untemplate import Page
from untemplate.labeling.seed.paper_model import Adapted, adapt, adapt_fields, adapt_jointly, adapt_pages
from untemplate.labeling.seed.paper_site import PaperSite, SeedSite, best_match, learn_seed
from untemplate.page.arrays import Bools

Step = Callable[[PaperSite, SeedSite], Adapted]

NAMES = ("Ada", "Bob", "Cyd", "Dan", "Eva", "Fay", "Gus", "Hal", "Ida", "Jon")


def seed_page(number: int, name: str) -> Page:
    rows = f"<tr><td>Height:</td><td>6-{number}</td></tr><tr><td>Weight:</td><td>{200 + number} lbs</td></tr>"
    html = (
        f"<h1>{name} Smith</h1><table>{rows}</table><p>Signed in {1990 + number} by a team of the league.</p>"
    )
    return Page(url=f"http://a/{number}", html=html.encode(), id=str(number))


def new_page(number: int, name: str) -> Page:
    items = (
        f"<li>Weight: {200 + number} lbs</li><li>Height: {180 + number} cm</li><li>Born: {1970 + number}</li>"
    )
    other = "Bob Smith" if number == 0 else f"{number} comments"
    news = "".join(f"<p>{text}</p>" for text in (f"{number} points in {number} games", other, "All news"))
    html = f"<h1>{name} Jones</h1><ul>{items}</ul><div>{news}</div><script>x</script>"
    return Page(url=f"http://b/{number}", html=html.encode(), id=str(number))


@pytest.fixture(scope="module")
def seed() -> SeedSite:
    site = PaperSite([seed_page(number, name) for number, name in enumerate(NAMES)])

    def rows(path: str, start: str = "") -> Bools:
        return site.eligible & [
            site.table.paths[site.table.path[row]].endswith(path) and node.text.startswith(start)
            for row, node in enumerate(site.table.nodes)
        ]

    return learn_seed(site, {"name": rows("h1/text()"), "height": rows("td/text()", "6-")})


@pytest.fixture(scope="module")
def new_site() -> PaperSite:
    return PaperSite([new_page(number, name) for number, name in enumerate(NAMES)])


def texts(site: PaperSite, seed: SeedSite, step: Step) -> dict[str, list[str]]:
    found = step(site, seed)
    return {name: [site.table.nodes[row].text for row in rows] for name, rows in found.rows.items()}


def test_a_label_in_a_cell_is_known_in_front_of_the_value(seed: SeedSite, new_site: PaperSite) -> None:
    assert seed.attributes["height"].contexts == {"height"}
    assert texts(new_site, seed, adapt_pages)["height"] == [
        f"Height: {180 + number} cm" for number in range(10)
    ]


@pytest.mark.parametrize("step", [adapt_fields, adapt_jointly])
def test_fields_hold_one_kind_of_value(seed: SeedSite, new_site: PaperSite, step: Step) -> None:
    found = texts(new_site, seed, step)
    assert found["height"] == [f"Height: {180 + number} cm" for number in range(10)]
    assert found["name"] == [f"{name} Jones" for name in NAMES]


def test_what_one_page_misleads_to_is_outvoted(seed: SeedSite, new_site: PaperSite) -> None:
    assert texts(new_site, seed, adapt_pages)["name"][0] == "Bob Smith"
    assert texts(new_site, seed, adapt_fields)["name"][0] == "Ada Jones"


def test_static_text_is_no_data(new_site: PaperSite) -> None:
    eligible = {node.text for node, good in zip(new_site.table.nodes, new_site.eligible, strict=True) if good}
    assert "All news" not in eligible
    assert "Ada Jones" in eligible


def test_seed_sites_are_adapted_one_by_one(seed: SeedSite, new_site: PaperSite) -> None:
    only_name = SeedSite({"name": seed.attributes["name"]}, seed.layout[:1, :1])
    both = adapt(new_site, [only_name, seed])
    assert both.rows.keys() == {"name", "height"}
    assert both.confidence == max(adapt(new_site, [one]).confidence for one in (only_name, seed))


def test_nothing_is_found_on_no_pages(seed: SeedSite) -> None:
    assert adapt(PaperSite([]), [seed]).rows == {}
    assert adapt(PaperSite([Page(url="http://c", html=b"<p></p>")]), [seed]).rows == {}


@pytest.mark.parametrize(
    ("text", "known", "match"),
    [
        ("msrp", "msrp", 1.0),
        ("starting msrp", "msrp", 0.5),
        ("cuisines", "cuisine", 1.0),
        ("isbn-13", "isbn13", 1.0),
        ("base price with destination", "price", 0.0),
        ("", "", 0.0),
    ],
)
def test_contexts_match_by_words(text: str, known: str, match: float) -> None:
    assert best_match(text, [known]) == match
