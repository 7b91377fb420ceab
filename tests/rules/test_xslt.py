"""The stylesheet of a wrapper gives what the wrapper gives, by libxslt and by xsltproc itself."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from benchmarks.data import swde
from tests.made_up_sites import learned_site
from tests.rules.trees import features_of, html_trees
from untemplate import Attribute, Label, Page, Rules, Schema, learn
from untemplate.demo import VERTICALS
from untemplate.learning import SampleTable
from untemplate.page.embedded_data import DataPath
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.applying import apply_rule
from untemplate.rules.feature import Feature
from untemplate.rules.ranges import Range
from untemplate.rules.rule import CandidateClassifier, EmbeddedSelector
from untemplate.rules.xslt import not_exportable, wrapper_xslt

Texts = dict[str, list[str]]
P = Selector("text()", (Feature("tag", 1, ("p",)),))


def texts(record: etree._Element) -> Texts:
    found: Texts = {}
    for element in record.iter("*"):
        if element is not record:
            found.setdefault(element.get("attribute", element.tag), []).append(element.text or "")
    return found


def by_libxslt(sheet: str, page: Page) -> Texts:
    return texts(etree.XSLT(etree.fromstring(sheet.encode()))(page.tree.getroottree()).getroot())


def by_us(wrapper: Wrapper, schema: Schema, page: Page) -> Texts:
    found = {
        name: [place.text for place in apply_rule(rule, page.tree, wrapper, schema.attributes[name])]
        for name, rule in wrapper.rules.items()
        if not not_exportable(rule)
    }
    return {name: values for name, values in found.items() if values}


def one_rule(rule: Rule, attribute: Attribute, static: Sequence[str] = ()) -> tuple[Wrapper, Schema]:
    wrapper = Wrapper("c1", (), 0, "*", {attribute.name: rule}, tuple(static))
    return wrapper, Schema("made-up", {attribute.name: attribute})


def assert_same(rule: Rule, attribute: Attribute, page: Page, static: Sequence[str] = ()) -> Texts:
    wrapper, schema = one_rule(rule, attribute, static)
    expected = by_us(wrapper, schema, page)
    assert by_libxslt(wrapper_xslt(wrapper, schema), page) == expected
    return expected


NAME = Attribute("name")
PAGE = Page(html="<p> <b>x</b>First\xa0 one</p><p>Second: 5 USD</p><p>Third</p><script>var p</script>")


def test_selectors_are_tried_in_order() -> None:
    nothing = Selector("text()", (Feature("tag", 1, ("h1",)),))
    assert assert_same(Rule("name", (nothing, P)), NAME, PAGE) == {"name": ["First one"]}
    assert assert_same(Rule("name", (nothing,)), NAME, PAGE) == {}


def test_many_values_in_order() -> None:
    found = assert_same(Rule("name", (P,)), Attribute("name", many=True), PAGE)
    assert found == {"name": ["First one", "Second: 5 USD", "Third"]}


def test_a_value_of_the_wrong_type_is_passed_over() -> None:
    assert assert_same(Rule("name", (P,), typed=True), Attribute("name", "price"), PAGE) == {
        "name": ["Second: 5 USD"]
    }
    assert assert_same(Rule("name", (P,), typed=True), Attribute("name", "email"), PAGE) == {}


@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (0.5, 0.5, 1.0), (0.2, 0.2, 1.0), (0.0, 0.0, 0.0)])
@pytest.mark.parametrize("many", [False, True])
def test_the_committee_votes(weights: tuple[float, ...], many: bool) -> None:
    nothing = Selector("text()", (Feature("tag", 1, ("h1",)),))
    member = [
        Selector("text()", (Feature("tag", 1, ("p",)), Feature("inside-word", 0, (word,))), support=weight)
        for word, weight in zip(("Third", "Third", "5"), weights, strict=True)
    ]
    rule = Rule("name", (nothing,), tuple(member))
    found = assert_same(rule, Attribute("name", many=many), PAGE)
    assert found == ({"name": ["Third"]} if weights[0] == 1 else found)
    assert_same(Rule("name", (nothing,), (*member[:1], nothing, nothing)), NAME, PAGE)


def test_several_nodes_and_whole_elements() -> None:
    page = Page(
        html="<div><p>1 Main St<br>Boston<script>x</script><template><b>y</b>z</template></p> MA</div><p>next</p>"
    )
    assert assert_same(Rule("name", (P,), nodes=3), NAME, page) == {"name": ["1 Main St Boston MA"]}
    for html, joined in (("<p>10 <i>minutos</i>.</p>", "10 minutos."), ("<p>a<br>b<b>c</b></p>", "a bc")):
        assert assert_same(Rule("name", (P,), nodes=3), NAME, Page(html=html)) == {"name": [joined]}
    whole = Selector("element()", (Feature("tag", 1, ("div",)),))
    assert assert_same(Rule("name", (whole,)), NAME, page) == {"name": ["1 Main St Boston MA"]}
    image = Selector("@src", (Feature("tag", 1, ("img",)),))
    linked = Page(html="<p>a<img src='1.png'>b</p>c")
    assert assert_same(Rule("name", (image,), nodes=2), NAME, linked) == {"name": ["1.png b"]}


WORDS = st.lists(
    st.sampled_from(("Our", "Price:", "$5", "only", "/", "(new)", "a'b", 'c"d', "é")), max_size=6
)
OFFSETS = st.integers(-4, 4)
RANGES = st.one_of(
    st.builds(
        Range, after=st.sampled_from((None, "Price:", "'", '"d')), before=st.sampled_from((None, "/", "("))
    ),
    st.builds(Range, start=OFFSETS, stop=OFFSETS),
)


@given(WORDS.map(" ".join), RANGES)
@settings(max_examples=150, deadline=None)
def test_ranges(text: str, range_: Range) -> None:
    root = etree.Element("html")
    etree.SubElement(root, "p").text = text
    assert_same(Rule("name", (P,), range=range_), NAME, Page(html=etree.tostring(root, method="html")))


def test_a_range_of_a_very_long_text() -> None:
    page = Page(html=f"<p>{'word ' * 50_000}last but one</p>")
    assert assert_same(Rule("name", (P,), range=Range(start=-2, stop=-1)), NAME, page) == {"name": ["but"]}


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_selector_on_any_page(data: st.DataObject) -> None:
    table = SampleTable([Page(html=data.draw(html_trees)) for _ in range(2)])
    row = data.draw(st.integers(0, len(table) - 1))
    features = data.draw(st.lists(st.sampled_from(features_of(table, row)), max_size=3, unique=True))
    node = table.rows[row]
    selector = Selector(
        node.kind if node.is_attribute else "text()",
        tuple(features),
        data.draw(st.sampled_from((0, 0, 1, 2, -1))),
    )
    rule = Rule("name", (selector,), nodes=data.draw(st.integers(1, 2)))
    attribute = Attribute("name", many=data.draw(st.booleans()))
    for page in table.pages:
        assert_same(rule, attribute, page, sorted(table.static))


def test_hidden_parts_of_an_element() -> None:
    html = (
        "<div hidden>a<i HIDDEN>b</i><i style='x:y; Display: none'>c</i><i style=backface-visibility:hidden>d</i>"
        "<p style='visibility :collapse'>e</p>f</div>"
    )
    whole = Selector("element()", (Feature("tag", 1, ("div",)),))
    assert assert_same(Rule("name", (whole,)), NAME, Page(html=html)) == {"name": ["adf"]}


def test_what_cannot_be_expressed_is_named() -> None:
    wrapper = Wrapper(
        "c--1",
        (),
        0,
        "*",
        {
            "price": Rule("price", (P,), range=Range(type="price")),
            "tags": Rule("tags", (P,), range=Range(separators=(", ",))),
            "brand": Rule("brand", (P,), classifier=CandidateClassifier(0, (), (), ())),
            "odd name": Rule("odd name", (P,)),
            "bad": Rule("bad", (Selector("text()", (Feature("class", 1, ("a\x01",)),)),)),
            "data": Rule("data", (), embedded=(EmbeddedSelector(DataPath("meta", "", ("a",))),)),
            "both": Rule("both", (P,), embedded=(EmbeddedSelector(DataPath("meta", "", ("a",))),)),
        },
        ("1 b a\x01",),
    )
    schema = Schema("shop", {name: Attribute(name) for name in wrapper.rules})
    sheet = wrapper_xslt(wrapper, schema)
    assert by_libxslt(sheet, PAGE) == {"odd name": ["First one"], "both": ["First one"]}
    said = [node.text for node in etree.fromstring(sheet.encode()).iter("{*}comment")]
    assert said == [
        " price: not exported, the rule looks for a price by regular expression ",
        " tags: not exported, the rule splits a text into several values ",
        " brand: not exported, the rule needs a classifier ",
        " bad: not exported, the rule names characters that XML does not allow ",
        " data: not exported, the rule reads embedded data, which XSLT cannot ",
        " both: its embedded data is not read: only what the page shows ",
    ]


@pytest.fixture(scope="module")
def xsltproc() -> str:
    program = shutil.which("xsltproc")
    if program is None:
        pytest.skip("needs xsltproc: apt-get install xsltproc")
    return program


def as_xml(page: Page) -> bytes | None:
    """The page as we read it, without what XML does not allow or would read otherwise; None if tags are so."""
    for comment in page.tree.iter(etree.Comment, etree.ProcessingInstruction):
        comment.text = ""
    for element in page.tree.iter(etree.Element):
        for name in list(element.attrib):
            if name.startswith("xmlns") or not re.fullmatch(r"[A-Za-z_][\w.-]*", name):
                del element.attrib[name]
    xml = bytes(etree.tostring(page.tree, encoding="utf-8"))
    try:
        etree.fromstring(xml, etree.XMLParser(huge_tree=True))
    except etree.XMLSyntaxError:
        return None
    return xml


def assert_xsltproc_agrees(xsltproc: str, rules: Rules, pages: Sequence[Page], folder: Path) -> int:
    """The number of values compared."""
    wrappers = {wrapper.cluster: wrapper for wrapper in rules.wrappers if wrapper.rules}
    for cluster, wrapper in wrappers.items():
        (folder / f"{cluster}.xsl").write_text(wrapper_xslt(wrapper, rules.schema), "utf-8")
    compared = 0
    for page in pages:
        record = rules.extract_one(page)
        xml = as_xml(page)
        if record.cluster not in wrappers or xml is None:
            continue
        (folder / "page.xml").write_bytes(xml)
        done = subprocess.run(
            [xsltproc, folder / f"{record.cluster}.xsl", folder / "page.xml"],
            capture_output=True,
            timeout=600,
            check=True,
        )
        exported = {name for name, rule in wrappers[record.cluster].rules.items() if not not_exportable(rule)}
        expected = {
            name: [value.text for value in values]
            for name, values in record.values.items()
            if name in exported
        }
        assert texts(etree.fromstring(done.stdout)) == expected, page.id
        compared += len(exported)
    return compared


@pytest.mark.parametrize("vertical", VERTICALS)
def test_xsltproc_on_made_up_sites(vertical: str, xsltproc: str, tmp_path: Path) -> None:
    site, rules = learned_site(vertical)
    assert assert_xsltproc_agrees(xsltproc, rules, site.pages[:5], tmp_path) > 5


@pytest.mark.parametrize("vertical", swde.VERTICALS)
def test_xsltproc_on_real_pages(vertical: str, xsltproc: str, real_pages: list[Path], tmp_path: Path) -> None:
    compared = 0
    for site in swde.sites(vertical)[1::3]:
        pages, truth = site.pages()[:12], site.truth()
        labels = [
            Label(page.id, name, value)
            for page in pages[:2]
            for name, values in truth[page.id].items()
            for value in values[:1] or [None]
        ]
        schema = Schema(vertical, {name: Attribute(name) for name in truth[pages[0].id]})
        compared += assert_xsltproc_agrees(xsltproc, learn(pages, labels, schema), pages[2:5], tmp_path)
    assert compared > 20
