"""Rules for other tools, run by these tools: parsel and Scrapy themselves, crawl4ai by its published semantics."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from parsel import Selector
from scrapy.http import HtmlResponse

from benchmarks.peers.crawl4ai_schema import evaluate_schema
from tests.labeling.book_pages import BOOKS, SCHEMA, book_pages
from untemplate import Attribute, Label, Page, Rules, Schema, learn, read_labels, read_pages
from untemplate.rules import Selector as RuleSelector
from untemplate.rules import Wrapper
from untemplate.rules.exporting import Export, export_wrapper, value_pattern
from untemplate.rules.feature import Feature
from untemplate.rules.rule import Rule
from untemplate.rules.value_range import Range

SITES = Path(__file__).parents[1] / "sites"
GOLDEN = [path.name for path in sorted(SITES.iterdir()) if (path / "labels.jsonl").is_file()]


def golden(name: str) -> tuple[Rules, list[Page]]:
    folder = SITES / name
    pages = list(read_pages(folder / "pages"))
    rules = learn(pages, read_labels(folder / "labels.jsonl"), Schema.load(folder / "schema.toml"))
    return rules, pages


def run_python(export: Export) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(export.text, "export.py", "exec"), names)
    return names


def squeezed(values: Any) -> list[str]:
    texts = values if isinstance(values, list) else [values]
    return [" ".join((one["value"] if isinstance(one, dict) else one).split()) for one in texts]


def compare(rules: Rules, pages: list[Page], export: Export, found: Iterator[dict[str, Any]]) -> None:
    """Check that an export gives our values wherever it claims to, and nearly all of the others."""
    same = different = 0
    for page, values in zip(pages, found, strict=True):
        record = rules.extract_one(page)
        for name, lost in export.lost.items():
            given = squeezed(values.get(name) or [])
            is_same = given == [value.text for value in record.values.get(name, [])]
            assert is_same or lost or not given, (page.id, name, given)
            same, different = same + is_same, different + (not is_same)
    assert same >= 0.9 * (same + different) > 0, (same, different)


@pytest.mark.parametrize("name", GOLDEN)
def test_parsel_gives_the_same_values(name: str) -> None:
    rules, pages = golden(name)
    export = export_wrapper(rules.wrappers[0], rules.schema, "parsel")
    extract = run_python(export)["extract"]
    found = (extract(page.text) for page in pages)
    compare(rules, pages, export, found)


@pytest.mark.parametrize("name", GOLDEN)
def test_scrapy_gives_the_same_values(name: str) -> None:
    rules, pages = golden(name)
    export = export_wrapper(rules.wrappers[0], rules.schema, "scrapy")
    load_item = run_python(export)["load_item"]
    responses = (
        HtmlResponse(page.url or "http://x.example", body=page.text, encoding="utf-8") for page in pages
    )
    found = (dict(load_item(response)) for response in responses)
    compare(rules, pages, export, found)


@pytest.mark.parametrize("name", GOLDEN)
def test_crawl4ai_gives_the_same_values(name: str) -> None:
    rules, pages = golden(name)
    export = export_wrapper(rules.wrappers[0], rules.schema, "crawl4ai")
    schema = json.loads(export.text)
    found = ((evaluate_schema(schema, page.text) or [{}])[0] for page in pages)
    compare(rules, pages, export, found)


def book_rules() -> tuple[Rules, list[Page]]:
    pages = book_pages()
    labels = [
        Label(f"{number}.html", name, value)
        for number in range(2)
        for name, value in zip(SCHEMA.attributes, BOOKS[number], strict=True)
    ]
    return learn(pages, labels, SCHEMA), pages


def test_all_attributes_of_a_plain_site_are_exported() -> None:
    rules, pages = book_rules()
    parsel = export_wrapper(rules.wrappers[0], SCHEMA, "parsel")
    extract = run_python(parsel)["extract"]
    assert [tuple(values[0] for values in extract(page.text).values()) for page in pages] == list(BOOKS)
    assert "the test that the text is of type price" in parsel.lost["price"]
    assert not parsel.missing
    crawl4ai = json.loads(export_wrapper(rules.wrappers[0], SCHEMA, "crawl4ai").text)
    items = [evaluate_schema(crawl4ai, page.text)[0] for page in pages]
    assert [tuple(item[name] for name in SCHEMA.attributes) for item in items] == list(BOOKS)
    assert any("Left to untemplate" in note for note in crawl4ai["notes"])


def test_css_selects_the_elements() -> None:
    rules, pages = book_rules()
    content = json.loads(export_wrapper(rules.wrappers[0], SCHEMA, "css").text)
    assert content["title"]["take"] == "text"
    assert Selector(pages[2].text).css(content["title"]["css"]).xpath("string()").get() == BOOKS[2][0]


@pytest.mark.parametrize(
    ("range_", "text", "value"),
    [
        (Range(), " a  b ", "a  b"),
        (Range(after="by "), "by  Ada ", "Ada"),
        (Range(before=" pages"), "200 pages", "200"),
        (Range(after="(", before=")"), "a (b) (c)", "b"),
        (Range(after="/", last=True), "a/b/c", "c"),
        (Range(after="/", before="?", last=True), "a/b/c?d/e", "c"),
        (Range(start=0, stop=1), "Utica, NY 13501", "Utica,"),
        (Range(start=1), "Utica, NY 13501", "NY 13501"),
        (Range(start=1, stop=-1), "a b c d", "b c"),
        (Range(start=-1), "Utica, NY 13501", "13501"),
        (Range(start=-2, stop=-1), "Utica, NY 13501", "NY"),
        (Range(start=1, stop=2, delimiter=", "), "a b, c d, e", "c d"),
        (Range(start=-1, delimiter=", "), "a b, c d, e f", "e f"),
    ],
)
def test_patterns_cut_as_ranges_do(range_: Range, text: str, value: str) -> None:
    assert range_.prune(text.strip()) == value
    pattern = value_pattern(range_)
    assert pattern is not None
    match = re.search(pattern, text)
    assert match is not None
    assert match[1].strip() == value


@pytest.mark.parametrize("range_", [Range(after="x"), Range(before="x"), Range(start=5)])
def test_patterns_find_nothing_where_ranges_do(range_: Range) -> None:
    assert range_.prune("a b") is None
    assert re.search(value_pattern(range_) or "", "a b") is None


def wrapper_of(rule: Rule) -> Wrapper:
    return Wrapper("c1", (), 1, "http://x.example/*", {rule.attribute: rule})


def test_what_is_lost_is_named() -> None:
    selector = RuleSelector("text()", (Feature("tag", 1, ("b",)),))
    schema = Schema("s", {"p": Attribute("p", type="price")})
    typed = wrapper_of(Rule("p", (selector,), range=Range(type="price")))
    assert export_wrapper(typed, schema, "parsel").missing == {"p": "the rule looks for a price in the text"}
    several = wrapper_of(Rule("p", (selector,), nodes=2, typed=True))
    assert export_wrapper(several, schema, "crawl4ai").lost == {
        "p": (
            "the texts after it, 2 nodes in all, which are part of the value",
            "the test that the text is of type price",
        )
    }
    positioned = RuleSelector("text()", (Feature("tag", 1, ("b",)),), position=2)
    second = wrapper_of(Rule("p", (positioned, selector)))
    assert export_wrapper(second, schema, "parsel").lost["p"] == ()


@pytest.mark.parametrize(("position", "value"), [(1, "a"), (2, "b"), (-1, "c")])
def test_positions(position: int, value: str) -> None:
    selector = RuleSelector("text()", (Feature("tag", 1, ("b",)),), position=position)
    wrapper, schema = wrapper_of(Rule("p", (selector,))), Schema("s", {"p": Attribute("p")})
    html = "<p><b>a</b><i>x</i><b>b</b></p><b>c</b>"
    export = export_wrapper(wrapper, schema, "crawl4ai")
    assert evaluate_schema(json.loads(export.text), html) == [{"p": value}]
    assert run_python(export_wrapper(wrapper, schema, "parsel"))["extract"](html) == {"p": [value]}


def test_hostile_words_of_a_site_stay_texts() -> None:
    evil = "\"\"\"\nimport os; os.abort()\n'''\\"
    selector = RuleSelector("text()", (Feature("class", 1, (evil,)),))
    wrapper = Wrapper('c"""1', (), 1, f"http://x.example/{evil}", {"p": Rule("p", (selector,))})
    schema = Schema(evil, {"p": Attribute("p")})
    for target in ("parsel", "scrapy"):
        run_python(export_wrapper(wrapper, schema, target))  # type: ignore[arg-type]
    assert json.loads(export_wrapper(wrapper, schema, "crawl4ai").text)["fields"]
