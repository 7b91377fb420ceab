"""Portable expressions select by parsel what the selectors select; `e2e/test_portable_rules.py` tries a browser."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from parsel import Selector as Parsel

from tests.rules.trees import features_of, html_trees
from untemplate import Attribute, Page
from untemplate.learning import SampleTable
from untemplate.page import squeeze
from untemplate.page.embedded_data import DataPath
from untemplate.rules import RecordRule, Rule, Selector, Wrapper
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.node_selection import select
from untemplate.rules.portable import Language, PortableSelector, portable_records, portable_rule
from untemplate.rules.rule import CandidateClassifier, EmbeddedSelector, Region
from untemplate.rules.value_range import Range

MANY = Attribute("name", many=True)


def one_selector(selector: Selector, language: Language = "xpath") -> PortableSelector | None:
    rule = Rule("name", (selector,))
    return portable_rule(rule, MANY, Wrapper("c1", (), 0, "*", {"name": rule}), language)


def by_parsel(page: Page, portable: PortableSelector) -> list[object]:
    """What parsel selects on the tree that we read: texts and attributes squeezed, elements as they are."""
    document = Parsel(root=page.tree, type="html")
    found = document.xpath if portable.language == "xpath" else document.css
    roots = [result.root for result in found(portable.expression)]
    return [squeeze(root) if isinstance(root, str) else root for root in roots]


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_any_selector_on_any_page(data: st.DataObject) -> None:
    table = SampleTable([Page(html=data.draw(html_trees)) for _ in range(2)])
    row = data.draw(st.integers(0, len(table) - 1))
    candidates = [feature for feature in features_of(table, row) if feature.kind != CAPTION]
    features = data.draw(st.lists(st.sampled_from(candidates), max_size=3, unique=True))
    node = table.rows[row]
    position = data.draw(st.sampled_from((0, 0, 1, 2, -1)))
    selector = Selector(node.kind if node.is_attribute else "text()", tuple(features), position)
    in_xpath, in_css = one_selector(selector), one_selector(selector, "css")
    assert in_xpath is not None
    for page in table.pages:
        assert by_parsel(page, in_xpath) == [node.text for node in select(selector, page.tree, frozenset())]
        if in_css and not in_css.left_out:
            elements = set(by_parsel(page, in_css))
            assert {node.parent for node in select(selector, page.tree, frozenset())} <= elements
            assert elements == elements_that_match(features, page.tree)


def elements_that_match(features: Sequence[Feature], tree: etree._Element) -> set[etree._Element]:
    """The elements with these features, whether or not they contain a text."""
    selector = Selector("element()", tuple(features))
    return set(selector.find_candidates(tree))


def test_a_caption_needs_no_variable() -> None:
    html = "<dl><dt>Tel:</dt><dd>555-0100</dd><dt>Fax:</dt><dd>555-0199</dd></dl>"
    after = {name: Selector("text()", (Feature(CAPTION, 0, (name,)),)) for name in ("Tel:", "Fax:")}
    rules = {name: Rule(name, (selector,)) for name, selector in after.items()}
    wrapper = Wrapper("c1", (), 0, "*", rules, ("4 dt Tel:", "4 dt Fax:"))
    for name, expected in (("Tel:", "555-0100"), ("Fax:", "555-0199")):
        portable = portable_rule(rules[name], Attribute(name), wrapper)
        assert portable is not None
        assert "$" not in portable.expression
        assert by_parsel(Page(html=html), portable) == [expected]
        assert "words of the template" in portable.left_out[0]
        assert portable_rule(rules[name], Attribute(name), wrapper, "css") is None


def test_the_selector_that_loses_least_is_taken() -> None:
    caption = Selector("text()", (Feature(CAPTION, 0, ("Tel:",)),))
    by_class = Selector("text()", (Feature("class", 1, ("phone",)),))
    rule = Rule("phone", (caption, by_class))
    portable = portable_rule(rule, Attribute("phone"), Wrapper("c1", (), 0, "*", {"phone": rule}))
    assert portable is not None
    assert '[@class="phone"]' in portable.expression
    assert portable.left_out == ("1 more selector, for pages on which this one finds nothing",)


def test_everything_that_is_left_out_is_named() -> None:
    selector = Selector(
        "text()", (Feature("tag", 1, ("p",)), Feature("inside-word", 0, ("USD",))), position=2
    )
    rule = Rule(
        "price",
        (selector,),
        committee=(selector, selector),
        classifier=CandidateClassifier(0, (), (), ()),
        range=Range(after="Price: "),
        nodes=2,
        typed=True,
        embedded=(EmbeddedSelector(DataPath("ld+json", "Product", ("price",))),),
    )
    portable = portable_rule(
        rule, Attribute("price", "price"), Wrapper("c1", (), 0, "*", {"price": rule}), "css"
    )
    assert portable is not None
    assert portable.left_out == (
        "the condition: that contains the word “USD”",
        "the choice of number 2 of these elements",
        "the embedded value `ld+json Product.price`, which the rule reads first",
        "the choice of the likeliest of these nodes",
        "1 text after it, part of the value",
        "how the value is cut out of the text: the part after “Price: ”",
        "the test that the text is of type price",
        "2 selectors to confirm the value",
    )


def test_a_rule_of_embedded_data_alone_has_no_expression() -> None:
    rule = Rule("name", (), embedded=(EmbeddedSelector(DataPath("meta", "", ("a",))),))
    assert portable_rule(rule, MANY, Wrapper("c1", (), 0, "*", {"name": rule})) is None


def test_regions() -> None:
    page = Page(html="<div id=a><p>1</p></div><div id=b><p>2</p><div><p>3</p></div></div>")
    inside = Region((Feature("id", 1, ("b",)),))
    selector = Selector("text()", (Feature("tag", 1, ("p",)),), region=inside)
    in_xpath, in_css = one_selector(selector), one_selector(selector, "css")
    assert in_xpath is not None
    assert by_parsel(page, in_xpath) == ["2", "3"]
    assert in_css is not None
    assert in_css.expression == '[id="b"] p'
    second = Selector("text()", selector.features, region=Region((Feature("tag", 1, ("div",)),), 2))
    in_css = one_selector(second, "css")
    assert in_css is not None
    assert in_css.left_out == ("the condition: within the second of: a `div`",)


def test_records_and_the_expressions_inside_them() -> None:
    page = Page(html="<ul><li><a href=/1>One</a> <b>1</b><li><a href=/2>Two</a> <b>2</b></ul>")
    records = RecordRule(
        (Selector("element()", (Feature("tag", 1, ("li",)),)),), required_path="a", siblings=1
    )
    rule = Rule("name", (Selector("text()", (Feature("tag", 3, ("record",)), Feature("tag", 1, ("a",)))),))
    wrapper = Wrapper("c1", (), 0, "*", {"name": rule}, records=records)
    begin, inside = portable_records(records), portable_rule(rule, Attribute("name"), wrapper)
    assert begin is not None
    assert inside is not None
    assert begin.left_out == (
        "the condition that a record contains `a`",
        "up to 1 element after it, part of the same record",
    )
    rows = Parsel(root=page.tree, type="html").xpath(begin.expression)
    assert [row.xpath(inside.expression).get() for row in rows] == ["One", "Two"]
