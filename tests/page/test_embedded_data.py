"""All embedded data of a page have the same form: objects with a type, and paths of names to their values."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Page
from untemplate.page.embedded_data import DataPath, EmbeddedData
from untemplate.page.embedded_formats import html_lines, html_to_text
from untemplate.page.embedded_scripts import generalize_key

RECIPE = {
    "@context": "https://schema.org",
    "@graph": [
        {"@type": "WebPage", "name": "Soup | Kitchen", "author": {"@id": "#ann"}},
        {
            "@type": ["Recipe", "NewsArticle"],
            "name": "Soup",
            "author": [{"@id": "#ann"}],
            "recipeIngredient": ["leek", "salt"],
            "recipeInstructions": [
                {"@type": "HowToSection", "itemListElement": [{"text": "Chop."}], "name": "Before"},
                {"@type": "HowToStep", "text": "Cook <b>slowly</b>.", "name": "Cook"},
                "Serve.",
            ],
        },
        {"@type": "Person", "@id": "#ann", "name": "Ann", "url": "/ann"},
    ],
}


def script(data: object, attributes: str = 'type="application/ld+json"') -> str:
    return f"<script {attributes}>{json.dumps(data)}</script>"


def embedded(html: str) -> EmbeddedData:
    return Page(html=f"<html><head></head><body>{html}<p>x</p></body></html>").embedded


def read(html: str, source: str, type_: str, *keys: str) -> list[str]:
    return embedded(html).read(DataPath(source, type_, keys))


def test_json_ld_by_type_and_name() -> None:
    html = script(RECIPE)
    assert read(html, "ld+json", "Recipe", "name") == ["Soup"]
    assert read(html, "ld+json", "NewsArticle", "recipeIngredient") == ["leek", "salt"]
    assert read(html, "ld+json", "Recipe", "author", "name") == ["Ann"]
    assert read(html, "ld+json", "WebPage", "author", "url") == ["/ann"]
    assert read(html, "ld+json", "Book", "name") == []


@pytest.mark.parametrize(
    ("ends", "only_first", "texts"),
    [
        ((), False, ["Serve."]),
        (("text",), False, ["Chop.", "Cook <b>slowly</b>.", "Serve."]),
        (("name", "text"), False, ["Before", "Chop.", "Cook", "Cook <b>slowly</b>.", "Serve."]),
        (("text", "name"), True, ["Before", "Chop.", "Cook <b>slowly</b>.", "Serve."]),
    ],
)
def test_last_names_at_any_level(ends: tuple[str, ...], only_first: bool, texts: list[str]) -> None:
    path = DataPath("ld+json", "Recipe", ("recipeInstructions",), ends, only_first)
    assert embedded(script(RECIPE)).read(path) == texts


def test_references_that_go_in_circles_end() -> None:
    circle = [{"@type": "A", "@id": "#a", "b": {"@id": "#b"}}, {"@id": "#b", "x": "1", "a": {"@id": "#a"}}]
    assert read(script(circle), "ld+json", "A", "b", "x") == ["1"]


def test_microdata_rdfa_and_meta_tags() -> None:
    html = """
      <meta property="og:title" content="Soup">
      <div itemscope itemtype="https://schema.org/Recipe"><h1 itemprop="name">Soup</h1>
        <div itemprop="author" itemscope><b itemprop="name">Ann</b></div>
        <a itemprop="url" href="/soup">more</a><p itemprop="step">Chop.<br>Cook.</p></div>
      <div vocab="https://schema.org/" typeof="Book"><i property="schema:name">Emma</i></div>"""
    data = embedded(html)
    assert data.sources() == ["microdata", "rdfa", "meta"]
    assert data.read(DataPath("meta", "", ("og:title",))) == ["Soup"]
    assert data.read(DataPath("microdata", "Recipe", ("author", "name"))) == ["Ann"]
    assert data.read(DataPath("microdata", "Recipe", ("url",))) == ["/soup"]
    assert html_lines(data.read(DataPath("microdata", "Recipe", ("step",)))[0]) == ["Chop.", "Cook."]
    assert data.read(DataPath("rdfa", "Book", ("name",))) == ["Emma"]


def test_application_state() -> None:
    state = {"props": {"recipe": {"title": "Soup", "tags": ["hot", "green"], "author": {"name": "Ann"}}}}
    html = script(state, 'id="__NEXT_DATA__" type="application/json"')
    apollo = {"Recipe:18422": {"title": "Soup", "text": "x" * 60}}
    html += f"<script>window.__APOLLO_STATE__ = {json.dumps(apollo)}</script>"
    data = embedded(html)
    assert data.sources() == ["script:__APOLLO_STATE__", "script:__NEXT_DATA__"]
    assert data.read(DataPath("script:__NEXT_DATA__", "", ("props", "recipe", "tags"))) == ["hot", "green"]
    assert data.read(DataPath("script:__APOLLO_STATE__", "", ("Recipe:*", "title"))) == ["Soup"]


def test_state_of_nuxt_names_parts_by_number() -> None:
    html = script(
        [{"data": 1}, {"recipe": 2}, {"title": 3, "tags": 4}, "Soup", [3]],
        'id="__NUXT_DATA__" type="application/json"',
    )
    assert read(html, "script:__NUXT_DATA__", "", "data", "recipe", "title") == ["Soup"]
    assert read(html, "script:__NUXT_DATA__", "", "data", "recipe", "tags") == ["Soup"]


def test_broken_data_cost_nothing_else() -> None:
    html = '<script type="application/ld+json">{"@type": </script>' + script(RECIPE)
    assert read(html, "ld+json", "Recipe", "name") == ["Soup"]


def test_only_the_asked_source_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    monkeypatch.setattr("untemplate.page.embedded_scripts.parse_json", texts.append)
    data = embedded(script({"a": 1}) + script({"b": 2}, 'type="application/json" id="b"'))
    assert not texts
    data.objects("script:b")
    data.objects("script:b")
    assert texts == ['{"b": 2}']


def test_release_frees_the_data() -> None:
    page = Page(html=script(RECIPE))
    first = page.embedded
    assert page.embedded is first
    page.release()
    assert page.embedded is not first


def test_paths_in_words() -> None:
    assert str(DataPath("ld+json", "Recipe", ("recipeIngredient",))) == "ld+json Recipe.recipeIngredient"
    assert str(DataPath("script:x", "", ("a b", "c"), ("d", "e"), True)) == 'script:x "a b".c..d/e'


@pytest.mark.parametrize(
    ("key", "general"),
    [
        ("name", "name"),
        ("h1", "h1"),
        ("Recipe:77", "Recipe:*"),
        ('get({"id":7})', "get(*)"),
        ("a" * 999 + "1", "a" * 200),
    ],
)
def test_keys_that_are_ids(key: str, general: str) -> None:
    assert generalize_key(key) == general


def test_html_in_strings() -> None:
    assert (
        html_to_text("<p>Salt&nbsp;&amp;amp; <b>pep</b>per</p><!-- no --><script>1</script>")
        == "Salt & pepper"
    )
    assert html_to_text("1 < 2") == "1 < 2"
    assert html_lines("<p>one</p> <p>two<br/>three</p>") == ["one", "two", "three"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["@type", "@id", "@graph", "name", "a1"]), inner)
        ),
    )
)
@settings(max_examples=200, deadline=None)
def test_any_data_can_be_read(data: object) -> None:
    text = json.dumps(data).replace("</", "<\\/").replace("<!--", "<\\u0021--")
    found = EmbeddedData(Page(html=f'<script type="application/ld+json">{text}</script><p>x').tree)
    for source in found.sources():
        for one in found.objects(source):
            assert all(isinstance(value.text, str) for value in one.values)


# Functions, because a process that runs none of them need not make the data.
HOSTILE_DATA = {
    "deep": lambda: '{"a":' * 900 + "1" + "}" * 900,
    "deep types": lambda: '{"@type":"T","a":' * 900 + "1" + "}" * 900,
    "keys": lambda: json.dumps({f"key{number}": number for number in range(100_000)}),
    "objects": lambda: json.dumps(
        [{"@type": f"T{number}", "@id": f"#{number}"} for number in range(100_000)]
    ),
    "references": lambda: json.dumps(
        [{"@type": "T", "@id": f"#{n}", **{f"k{m}": {"@id": f"#{m}"} for m in range(30)}} for n in range(30)]
    ),
}


@pytest.mark.parametrize("name", HOSTILE_DATA)
def test_hostile_data_end(name: str) -> None:
    page = Page(html=f'<script type="application/ld+json">{HOSTILE_DATA[name]()}</script><p>x')
    for source in page.embedded.sources():
        for one in page.embedded.objects(source)[:50]:
            assert len(one.values) <= 20_000


@pytest.mark.parametrize(
    "path",
    [
        DataPath("ld+json", "Recipe", ("name",)),
        DataPath("ld+json", "Recipe", ("author", "name")),
        DataPath("ld+json", "Recipe", ("steps",), ("text", "name")),
        DataPath("ld+json", "Recipe", ("steps",), ("text", "name"), only_first_end=True),
        DataPath("ld+json", "Recipe", ("ids", "*")),
        DataPath("ld+json", "", ("@graph",)),
    ],
    ids=str,
)
def test_reading_along_a_path_finds_what_a_list_of_all_values_has(path: DataPath) -> None:
    data = """{"@graph": [{"@type": "Recipe", "name": "Soup", "author": {"@id": "#ann"},
        "ids": {"123": 1, "456": "b"},
        "steps": [{"name": "Prepare", "itemListElement": [{"text": "Chop."}, {"name": "Wash."}]},
        {"text": "Cook."}]},
        {"@id": "#ann", "@type": "Person", "name": "Ann"}]}"""
    page = f'<script type="application/ld+json">{data}</script>'
    listed = embedded(page)
    for data_object in listed.objects("ld+json"):
        assert data_object.values
    assert embedded(page).read(path) == listed.read(path)
    assert path.keys == ("@graph",) or listed.read(path)
