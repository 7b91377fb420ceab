"""Rules applied: which wrapper a page gets, what a record says, and how sure it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_sites import learned_site
from tests.rules.trees import html_trees
from untemplate import Attribute, Label, Limits, Page, Reason, Record, Rules, Schema, learn
from untemplate.page import Signature, signature
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.feature import Feature
from untemplate.rules.rule import CandidateClassifier

ANY = Signature((None,) * 8)


def selector(
    *features: tuple[str, int, str], node: str = "text()", position: int = 0, support: float = 1.0
) -> Selector:
    return Selector(node, tuple(Feature(t, level, tuple(v)) for t, level, *v in features), position, support)


def wrapper(
    cluster: str,
    rules: Iterable[Rule],
    url_pattern: str = "*",
    signatures: tuple[Signature, ...] = (),
    importance: int = 1,
) -> Wrapper:
    return Wrapper(cluster, signatures, importance, url_pattern, {rule.attribute: rule for rule in rules})


def rules_of(*wrappers: Wrapper, schema: Schema | None = None) -> Rules:
    names = sorted({name for wrapper in wrappers for name in wrapper.rules}) or ["name"]
    return Rules(schema or Schema("s", {name: Attribute(name) for name in names}), wrappers)


NAME = Rule("name", (selector(("tag", 1, "h1")),))
TITLE = Rule("name", (selector(("tag", 1, "h2")),))


def page(html: str, url: str = "http://shop.example/1") -> Page:
    return Page(url, html, "p")


# matching


def test_the_url_decides_first() -> None:
    rules = rules_of(
        wrapper("books", [NAME], "http://shop.example/books/*", (ANY,)),
        wrapper("films", [TITLE], "http://shop.example/films/*", (ANY,), importance=9),
    )
    html = "<h1>one</h1><h2>two</h2>"
    assert rules.extract_one(page(html, "http://shop.example/books/1")).cluster == "books"
    assert rules.extract_one(page(html, "http://shop.example/films/1"))["name"] == "two"


def test_the_signature_decides_between_equal_urls() -> None:
    books, films = "<h1>one</h1>" + "<p>x</p>" * 20, "<h2>two</h2>" + "<div>y</div>" * 20
    rules = rules_of(
        wrapper("books", [NAME], signatures=(signature(books.encode()),)),
        wrapper("films", [TITLE], signatures=(signature(films.encode()),)),
    )
    assert rules.extract_one(page(books)).cluster == "books"
    assert rules.extract_one(page(films)).cluster == "films"


def test_importance_breaks_ties() -> None:
    rules = rules_of(
        wrapper("small", [NAME], signatures=(ANY,), importance=1),
        wrapper("big", [TITLE], signatures=(ANY,), importance=2),
    )
    assert rules.extract_one(page("<h1>one</h1><h2>two</h2>")).cluster == "big"


def test_without_a_matching_signature_rules_that_hold_will_do() -> None:
    never = Signature((1, 2, 3, 4, 5, 6, 7, 8))
    rules = rules_of(wrapper("a", [NAME], signatures=(never,)), wrapper("b", [TITLE], signatures=(never,)))
    assert rules.extract_one(page("<h2>two</h2>")).cluster == "b"


def test_a_page_that_matches_nothing() -> None:
    rules = rules_of(wrapper("a", [NAME], signatures=(Signature((1,) * 8),)))
    record = rules.extract_one(page("<p>something else</p>"))
    assert record == Record("http://shop.example/1", "p", None, {}, {"name": Reason.NO_WRAPPER})
    assert record["name"] is None


def test_a_cluster_without_rules_needs_labels() -> None:
    rules = rules_of(wrapper("a", [], signatures=(ANY,)), wrapper("b", [NAME], "http://other.example/*"))
    assert rules.extract_one(page("<h1>one</h1>")).missing == {"name": Reason.NEEDS_LABELS}


def test_an_attribute_without_a_rule() -> None:
    schema = Schema("s", {"name": Attribute("name"), "phone": Attribute("phone", "phone")})
    record = rules_of(wrapper("a", [NAME], signatures=(ANY,)), schema=schema).extract_one(
        page("<h1>one</h1>")
    )
    assert record["name"] == "one"
    assert record.missing == {"phone": Reason.NO_RULE}


@pytest.mark.parametrize(
    "unreadable",
    [
        Page("u", b"", "p"),
        Page("u", b"   ", "p"),
        Page("u", b"<div>" * 5000, "p"),
        Page("u", b"<p>large</p>", "p", limits=Limits(bytes=3)),
        Page("u", b"<a " + b" ".join(b"a%d" % i for i in range(20_000)) + b">", "p"),
    ],
)
def test_unreadable_pages_get_records_with_reasons(unreadable: Page) -> None:
    rules = rules_of(wrapper("a", [NAME], signatures=(ANY,)), wrapper("b", [TITLE], signatures=(ANY,)))
    readable = page("<h1>one</h1><h2>two</h2>")
    bad, good = rules.extract([unreadable, readable])
    assert bad.missing["name"].startswith(Reason.UNREADABLE)
    assert len(bad.missing["name"]) > len(Reason.UNREADABLE)
    assert (bad.page_id, bad.cluster, bad.values) == ("p", None, {})
    assert good["name"] is not None


def test_extraction_is_a_stream_that_forgets_pages() -> None:
    def endless() -> Iterable[Page]:
        while True:
            seen.append(page("<h1>one</h1>"))
            yield seen[-1]

    seen: list[Page] = []
    records = iter(rules_of(wrapper("a", [NAME], signatures=(ANY,))).extract(endless()))
    assert [next(records)["name"] for _ in range(3)] == ["one"] * 3
    assert len(seen) == 3
    assert "tree" not in vars(seen[0])


# values


def test_a_value_knows_where_it_came_from() -> None:
    rules = rules_of(wrapper("a", [NAME], signatures=(ANY,)))
    [value] = rules.extract_one(page("<p>x</p><h1> one \n two </h1>")).values["name"]
    assert (value.text, value.data, value.xpath) == ("one two", "one two", "/html[1]/body[1]/h1[1]/text()[1]")
    assert value.rule.startswith("name")


def test_selectors_are_tried_in_order() -> None:
    rule = Rule("name", (selector(("tag", 1, "h1")), selector(("tag", 1, "h2"))))
    rules = rules_of(wrapper("a", [rule], signatures=(ANY,)))
    both, second = rules.extract([page("<h2>two</h2><h1>one</h1>"), page("<h2>two</h2>")])
    assert (both["name"], second["name"]) == ("one", "two")
    assert both.values["name"][0].rule != second.values["name"][0].rule


def test_hidden_text_is_no_value() -> None:
    rule = Rule("name", (selector(("tag", 2, "div")),))
    rules = rules_of(wrapper("a", [rule], signatures=(ANY,)))
    record = rules.extract_one(page("<div><script>var x</script><style>y</style><p>seen</p></div>"))
    assert record["name"] == "seen"


def test_the_position_counts_what_is_seen() -> None:
    rule = Rule("name", (selector(("tag", 2, "div"), position=1),))
    rules = rules_of(wrapper("a", [rule], signatures=(ANY,)))
    assert (
        rules.extract_one(page("<div><script>var x</script> <i> </i><p>seen</p><p>too</p></div>"))["name"]
        == "seen"
    )


@pytest.mark.parametrize(("position", "expected"), [(1, "a"), (3, "c"), (-1, "d"), (5, None)])
def test_positions(position: int, expected: str | None) -> None:
    rule = Rule("name", (selector(("tag", 1, "li"), position=position),))
    rules = rules_of(wrapper("a", [rule], signatures=(ANY,)))
    assert rules.extract_one(page("<ul><li>a<li>b<li>c<li>d</ul>"))["name"] == expected


def test_the_whole_text_of_an_element_and_runs_of_nodes() -> None:
    html = "<div><p>1 Main St<br>Town <b>X</b><script>no</script></p>after</div>"
    whole = Rule("name", (Selector("element()", (Feature("tag", 1, ("p",)),)),))
    run = Rule("name", (selector(("tag", 1, "p"), position=1),), nodes=2)
    texts = [
        rules_of(wrapper("a", [rule], signatures=(ANY,))).extract_one(page(html))["name"]
        for rule in (whole, run)
    ]
    assert texts == ["1 Main St Town X", "1 Main St Town"]


def test_a_classifier_picks_the_likeliest_candidate_above_a_half() -> None:
    """The paper's `//td/img` of a rating image: a weak feature tells it from other images."""
    classifier = CandidateClassifier(-1.0, (Feature("@data-padding", 1, ("10px",)),), (3.0,), (-2.0,))
    rule = Rule("name", (selector(("tag", 2, "td"), ("tag", 1, "img"), node="@src"),), classifier=classifier)
    rules = rules_of(wrapper("a", [rule], signatures=(ANY,)))
    images = "<table><tr><td><img src=1.png></td><td><img src=2.png {}></td><td><img src=3.png></td></table>"
    assert rules.extract_one(page(images.format("data-padding=10px")))["name"] == "2.png"
    assert rules.extract_one(page(images.format("")))["name"] is None


# confidence


def committee_rule() -> Rule:
    members = (selector(("class", 1, "a")), selector(("id", 1, "b")), selector(("tag", 2, "div")))
    return Rule("name", (selector(("tag", 1, "h1")),), members)


def test_confidence_falls_when_the_committee_disagrees() -> None:
    rules = rules_of(wrapper("a", [committee_rule()], signatures=(ANY,)))
    pages = [
        page("<div><h1 class=a id=b>x</h1></div>"),
        page("<div><h1 class=a>x</h1></div>"),
        page("<section><h1 class=a>x</h1></section>"),
        page("<section><h1>x</h1><p class=a>y</p></section>"),
    ]
    found = [record.values["name"][0].confidence for record in rules.extract(pages)]
    assert found[0] == 1.0
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4
    assert found[-1] < 0.5


def test_the_committee_steps_in_where_the_rule_finds_nothing() -> None:
    rules = rules_of(wrapper("a", [committee_rule()], signatures=(ANY,)))
    [value] = rules.extract_one(page("<div><p class=a id=b>x</p></div>")).values["name"]
    assert value.text == "x"
    assert value.confidence <= 0.5


def test_a_committee_that_disagrees_says_nothing() -> None:
    rules = rules_of(wrapper("a", [committee_rule()], signatures=(ANY,)))
    record = rules.extract_one(page("<p class=a>x</p><p id=b>y</p><div><p>z</p></div>"))
    assert record.missing == {"name": Reason.NOT_ON_PAGE}


# soup


@cache
def eager_rules() -> Rules:
    """Rules with everything in them, made to apply to every page."""
    _, rules = learned_site("restaurant")
    return replace(
        rules, wrappers=tuple(replace(w, signatures=(ANY,), url_pattern="*") for w in rules.wrappers)
    )


@given(
    st.one_of(
        html_trees.map(str.encode),
        st.binary(max_size=300),
        st.text("<>/ab='\"!- &#x;", max_size=200).map(str.encode),
    )
)
@settings(max_examples=150, deadline=None)
def test_extraction_never_raises_on_soup(html: bytes) -> None:
    rules = eager_rules()
    record = rules.extract_one(Page("http://eat.example/1", html, "1"))
    assert set(record.values).isdisjoint(record.missing)
    assert set(record.values) | set(record.missing) == set(rules.schema.attributes)
    for values in record.values.values():
        assert all(value.text and 0 <= value.confidence <= 1 for value in values)


@given(st.integers(0, 11), st.floats(0, 1), st.data())
@settings(max_examples=60, deadline=None)
def test_truncated_and_damaged_pages(number: int, share: float, data: st.DataObject) -> None:
    rules = eager_rules()
    html = learned_site("restaurant")[0].pages[number].html
    cut = html[: int(share * len(html))]
    noise = data.draw(st.binary(max_size=20))
    middle = len(cut) // 2
    for damaged in (cut, cut[:middle] + noise + cut[middle:]):
        record = rules.extract_one(Page("http://eat.example/1", damaged, "1"))
        assert set(record.values) | set(record.missing) == set(rules.schema.attributes)


def test_a_value_must_match_the_attributes_pattern() -> None:
    schema = Schema("s", {"name": Attribute("name", pattern=r"^\d{5}$")})
    rules = rules_of(wrapper("a", [NAME], signatures=(ANY,)), schema=schema)
    assert rules.extract_one(page("<h1>12345</h1>"))["name"] == "12345"
    assert rules.extract_one(page("<h1>1234</h1>"))["name"] is None


# Pages whose markup is new

RECIPE = Schema(
    "recipe", {"title": Attribute("title", mandatory=True), "steps": Attribute("steps", many=True)}
)
OLD_PAGE = Page(
    "http://food.example/soup",
    "<html><head><title>Soup | Food</title></head><body><h1 class=big>Soup</h1><div itemscope "
    'itemtype="http://schema.org/Recipe"><ol><li itemprop="recipeInstructions">Boil it</li>'
    '<li itemprop="recipeInstructions">Eat it</li></ol></div></body></html>',
    "old",
)
NEW_HTML = (
    "<html><head><title>Leek soup - our food</title>"
    '<script type="application/ld+json">{"@type": "Recipe", "recipeInstructions": '
    '[{"@type": "HowToStep", "text": "Fry it"}, {"@type": "HowToStep", "text": "Eat it"}]}</script></head>'
    "<body><main><section><h1>Leek soup</h1><p>Fry it</p><p>Eat it</p></section></main></body></html>"
)


def food_rules() -> Rules:
    labels = [Label("old", "title", "Soup"), *(Label("old", "steps", text) for text in ("Boil it", "Eat it"))]
    return learn([OLD_PAGE], labels, RECIPE)


def test_a_known_page_is_read_after_a_redesign() -> None:
    """The heading remains, the title of the page repeats it, and JSON-LD says what microdata said."""
    record = food_rules().extract_one(Page(OLD_PAGE.url, NEW_HTML))
    assert record["title"] == "Leek soup"
    assert record.values["title"][0].confidence < 0.5
    assert [value.text for value in record.values["steps"]] == ["Fry it", "Eat it"]


@pytest.mark.parametrize("url", ["http://food.example/other", ""])
def test_an_unknown_page_with_new_markup_is_refused(url: str) -> None:
    record = food_rules().extract_one(Page(url, NEW_HTML))
    assert record.missing["title"] == Reason.NO_WRAPPER


def test_a_heading_that_the_title_does_not_repeat_is_no_value() -> None:
    html = NEW_HTML.replace("<h1>Leek soup</h1>", "<h1>Page not found</h1>")
    record = food_rules().extract_one(Page(OLD_PAGE.url, html))
    assert record["title"] is None
