"""The worked examples of Vertex III-C: SampleTable II's XPaths, disjunctions, the range pruner, positions last."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page, Schema
from untemplate.learning import SampleTable
from untemplate.learning.attributes import learn_rules
from untemplate.learning.search import PageSets, ScoredFeatures, Search, disjunctions, features_of_row
from untemplate.rules import Selector
from untemplate.rules.feature import Feature
from untemplate.rules.node_selection import select


def pages_of(bodies: Sequence[str]) -> list[Page]:
    return [
        Page(f"http://shop.example/{number}", f"<html><body>{body}</body></html>", str(number))
        for number, body in enumerate(bodies)
    ]


def row_of(table: SampleTable, page: int, text: str) -> int:
    rows = range(table.starts[page], table.starts[page + 1])
    return next(row for row in rows if table.rows[row].text == text)


def search(table: SampleTable, values: Sequence[str]) -> ScoredFeatures | None:
    """The paper's choice for values labeled on the first pages."""
    rows = [row_of(table, page, value) for page, value in enumerate(values)]
    node = table.rows[rows[0]]
    universe = table.node_bits[node.kind if node.is_attribute else "text()"]
    features = disjunctions([features_of_row(table, row) for row in rows])
    return Search(table, rows, range(len(values)), universe).best_by_distance(features)


def xpath(table: SampleTable, values: Sequence[str]) -> str:
    found = search(table, values)
    assert found is not None
    assert found.is_precise
    node = table.rows[row_of(table, 0, values[0])]
    return Selector(node.kind if node.is_attribute else "text()", found.features).xpath


# Table II


def test_amazon_price() -> None:
    table = SampleTable(
        pages_of(
            [
                f"<div><b>Book {i}</b><span>${i}.50</span> <span class=listprice>${i + 2}.99</span> "
                f"<span>${i}.10</span></div>"
                for i in range(5)
            ]
        )
    )
    assert xpath(table, ["$2.99", "$3.99"]) == '//*[@class="listprice"]/text()'


def test_city_data_forum_title() -> None:
    """The cell's class is needed, since links say nothing, and its tag, since other elements share the class."""
    topics = ("Moving", "Jobs", "Schools", "Crime", "Food")
    table = SampleTable(
        pages_of(
            [
                f"<div class=navbar><a href=/1>{topic}1</a></div><hr>"
                f"<table><tr><td class=navbar><a href=/2>{topic}</a></td></tr></table><hr>"
                f"<table><tr><td><a href=/3>{topic}3</a></td></tr></table>"
                for topic in topics
            ]
        )
    )
    assert xpath(table, ["Moving", "Jobs"]) == '//td[@class="navbar"]/*/text()'


def test_alibaba_image() -> None:
    """Two looks of one template: neither class alone has recall 1, their disjunction has."""
    looks = ("detailImage", "detailMain hackborder")
    table = SampleTable(
        pages_of(
            [
                f"<p><a href=/ad{i}><img src=/ad{i}.png></a></p>"
                f'<p class="{looks[i % 2]}"><a href=/big{i}><img src=/i{i}.png></a></p>'
                for i in range(6)
            ]
        )
    )
    assert xpath(table, ["/i0.png", "/i1.png"]) == (
        '//*[@class="detailImage" or @class="detailMain hackborder"]/*/*/@src'
    )


def test_hotels_address() -> None:
    """The address spans nodes: the rule finds its element, and takes the whole of it."""
    pages = pages_of(
        [
            f"<div><p>Hotel{i}</p></div><div><p class=adr>{i}Main<br>City{i}<br>1000{i}</p></div>"
            f"<div><p>Room{i}<br>Bed{i}</p></div>"
            for i in range(5)
        ]
    )
    table = SampleTable(pages)
    labels = {0: [Label("0", "address", "0Main City0 10000")]}
    rules, reports = learn_rules(table, labels, Schema("hotel", {"address": Attribute("address")}))
    assert '@class="adr"' in rules["address"].selectors[0].xpath
    assert rules["address"].selectors[0].node == "element()"
    assert reports[0].coverage == 1


# Disjunctions


def test_review_or_reviews() -> None:
    counts = (1, 7, 1, 9, 12)
    table = SampleTable(
        pages_of(
            [
                f"<p><b>{n}</b> <i>{'review' if n == 1 else 'reviews'}</i></p><p><b>{n + 20}</b> <i>stars</i></p>"
                for n in counts
            ]
        )
    )
    rows = [row_of(table, 0, "1"), row_of(table, 1, "7")]
    made = disjunctions([features_of_row(table, row) for row in rows])
    assert Feature("out-right-text", 0, ("review", "reviews")) in made
    found = search(table, ["1", "7"])
    assert found is not None
    assert found.is_precise
    assert found.support == 1


def image_features(price: str) -> set[Feature]:
    return {Feature("tag", 1, ("img",)), Feature("out-right-text", 0, (price,))}


def test_a_disjunction_has_at_most_three_values() -> None:
    prices = ("$12.95", "$2.95", "$4.65")
    three = disjunctions([image_features(price) for price in prices])
    assert three == {Feature("tag", 1, ("img",)), Feature("out-right-text", 0, tuple(sorted(prices)))}
    four = disjunctions([image_features(price) for price in (*prices, "$7.25")])
    assert four == {Feature("tag", 1, ("img",))}


def test_a_disjunction_needs_its_place_on_every_page() -> None:
    assert disjunctions([image_features("$1"), {Feature("tag", 1, ("img",))}]) == {
        Feature("tag", 1, ("img",))
    }


def test_the_disjunction_that_overfits_has_no_support() -> None:
    """Prices beside the image select it on the labeled pages only; what holds on the others is better."""
    prices = ("$12.95", "$2.95", "$4.65", "$7.25", "$9.75", "$1.15")
    table = SampleTable(
        pages_of(
            [
                f"<p><img src=/{i}.png></p><b>{price}</b><p><img src=/ad.png></p>"
                for i, price in enumerate(prices)
            ]
        )
    )
    found = search(table, ["/0.png", "/1.png", "/2.png"])
    assert found is not None
    assert found.support == 1
    assert not any("$2.95" in feature.values for feature in found.features)


# The four criteria


def test_the_nearest_precise_condition_wins() -> None:
    """Both names are precise and on all pages: the one with the smaller distance is taken."""
    bodies = [
        f"<div id=far><p><b class=near>{i}</b></p></div><div><p><b>x{i}</b></p></div>" for i in range(5)
    ]
    found = search(SampleTable(pages_of(bodies)), ["0", "1"])
    assert found is not None
    assert found.distance <= 1
    assert found.features == (Feature("class", 1, ("near",)),)


def test_support_decides_between_equally_near_conditions() -> None:
    """The class is rarer than the itemprop: rules should hold on the pages nobody labeled."""
    bodies = [
        f"<p><b itemprop=name {'class=promo' if i < 3 else ''}>n{i}</b></p><p><b>x{i}</b></p>"
        for i in range(6)
    ]
    found = search(SampleTable(pages_of(bodies)), ["n0", "n1"])
    assert found is not None
    assert found.support == 1
    assert all(feature.kind not in ("class", "token") for feature in found.features)


def test_recall_and_precision_are_one_on_labeled_pages() -> None:
    bodies = [f"<p class=a>{i}</p><p class=b>{i}0</p><div><p class=a>no</p></div>" for i in range(1, 5)]
    table = SampleTable(pages_of(bodies))
    found = search(table, ["1", "2"])
    assert found is not None
    assert found.precision == 1
    assert [table.rows[row].text for page in (0, 1) for row in table.on_page(found.bits, page)] == ["1", "2"]


# Positions last


def test_a_position_where_nothing_else_tells_nodes_apart() -> None:
    pages = pages_of([f"<ul>{''.join(f'<li>{i}{j}</li>' for j in 'abcde')}</ul>" for i in range(5)])
    labels = {0: [Label("0", "third", "0c")], 1: [Label("1", "third", "1c")]}
    rules, _ = learn_rules(SampleTable(pages), labels, Schema("s", {"third": Attribute("third")}))
    selector = rules["third"].selectors[0]
    by_position = selector.position == 3
    by_siblings = any(feature.axis for feature in selector.features)
    assert by_position or by_siblings
    assert [node.text for node in select(selector, pages[4].tree, frozenset())] == ["4c"]


# The range pruner


def test_our_price() -> None:
    """Inside the node, "Our Price:" is an anchor, and the value is cut out by its type or its place."""
    pages = pages_of([f"<p>List Price: ${i + 30}.00</p><p>Our Price: ${i + 20}.99</p>" for i in range(5)])
    table = SampleTable(pages)
    for type_ in ("price", "text"):
        labels = {0: [Label("0", "price", "$20.99")]}
        rules, _ = learn_rules(table, labels, Schema("s", {"price": Attribute("price", type_)}))
        rule = rules["price"]
        assert rule.range is not None
        assert rule.range.prune("Our Price: $25.99") == "$25.99"
        assert rule.range.prune("Our Price: $1,125.99") == "$1,125.99"
        for i, page in enumerate(pages):
            [node] = select(rule.selectors[0], page.tree, table.static)
            assert rule.range.prune(node.text) == f"${i + 20}.99"


@given(st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8), st.integers(0, 2**80))
def test_pages_with_any_and_with_several_rows_are_counted(pages: list[tuple[int, bool]], bits: int) -> None:
    """Pages have any number of rows, and the pages that do not count may be anywhere between the others."""
    start, counted = 0, []
    for rows, counts in pages:
        if counts:
            counted.append(((1 << rows) - 1) << start)
        start += rows
    counts_by_page = [(bits & page).bit_count() for page in counted]
    several = sum(count > 1 for count in counts_by_page)
    assert PageSets(counted).count(bits) == (sum(map(bool, counts_by_page)), several)
    assert len(PageSets(counted)) == len(counted)
