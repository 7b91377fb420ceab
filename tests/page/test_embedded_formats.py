"""JSON in scripts is read as it is written, and hostile JSON costs no more than its length."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from tests.linear_time import assert_linear
from untemplate.page.embedded_formats import (
    parse_assignments,
    parse_flight,
    parse_json,
    read_microdata,
    read_rdfa,
)

DATA = {"name": "Soup", "steps": ["chop", "cook"]}
PLAIN = json.dumps(DATA)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"<!-- {PLAIN} -->",
        f"//<![CDATA[\n{PLAIN}\n//]]>",
        f"/* made by us */ {PLAIN};",
        f"{PLAIN[:-1]},}}",
        PLAIN.replace('"', "&quot;"),
        '{"name": "Soup", "steps": ["chop", "cook",],}',
        '{"name": "Soup", "empty": undefined, "steps": ["chop", "cook"]}',
    ],
)
def test_broken_json_is_repaired(text: str) -> None:
    found = parse_json(text)
    assert {key: found[key] for key in DATA} == DATA


def test_raw_line_feeds_become_blanks() -> None:
    assert parse_json('{"text": "one\n two"}') == {"text": "one  two"}


def test_several_objects_are_a_list() -> None:
    assert parse_json(f"{PLAIN}\n{PLAIN}") == [DATA, DATA]


@pytest.mark.parametrize("text", ["", "{", "function() {}", "{'name': 1}", '{"a": "b" "c"}'])
def test_what_cannot_be_repaired_is_none(text: str) -> None:
    assert parse_json(text) is None


def test_state_assigned_to_variables() -> None:
    state = {"recipe": {"name": "Soup", "author": "Ann", "note": 'she said "salt"', "minutes": 40}}
    text = json.dumps(state)
    script = f"var a = 1; window.__STATE__ = {text};\nself['__OTHER__']={text}, x = {{y: 1}};"
    assert dict(parse_assignments(script)) == {"__STATE__": state, "__OTHER__": state}


@pytest.mark.parametrize("quote", ["'", '"'])
def test_state_inside_a_string(quote: str) -> None:
    state = {"recipe": {"name": "It's soup", "note": 'she said "salt"', "author": "Ann", "minutes": "40"}}
    literal = json.dumps(json.dumps(state))
    if quote == "'":
        literal = "'" + literal[1:-1].replace('\\"', '"').replace("'", "\\'") + "'"
    assert dict(parse_assignments(f"window.__STATE__ = JSON.parse({literal});")) == {"__STATE__": state}


def test_rows_that_are_streamed() -> None:
    row = '3:{"recipe":{"name":"Soup"}}\n4:["$","p"]\n'
    scripts = [f"self.__next_f.push([1,{json.dumps(part)}])" for part in (row[:9], row[9:])]
    assert parse_flight(scripts) == [{"recipe": {"name": "Soup"}}, ["$", "p"]]


@given(st.text(alphabet="{}[]\":,\\/*<>!-a1 \n='&;", max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_text_makes_it_fail(text: str) -> None:
    parse_json(text)
    list(parse_assignments(f"window.x = {text}"))
    parse_flight([f"self.__next_f.push([1,{text}"])


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@settings(max_examples=200, deadline=None)
def test_json_that_is_not_broken_is_read_as_it_is(data: object) -> None:
    assert parse_json(json.dumps(data)) == data


@pytest.mark.parametrize(
    "make_text",
    [
        lambda size: "[" * size,
        lambda size: '{"a":' * (size // 2),
        lambda size: "/*" * size,
        lambda size: "{" + ",".join(f'"k{number}":{number}' for number in range(size // 3)),
        lambda size: '=["=[",' * (size // 3),
        lambda size: "x=" * size,
        lambda size: "x='" + "\\'" * size,
    ],
    ids=["lists", "objects", "comments", "keys", "assignments", "names", "quotes"],
)
def test_hostile_texts_take_linear_time(make_text: Callable[[int], str]) -> None:
    def work(size: int) -> None:
        text = make_text(size)
        parse_json(text)
        list(parse_assignments(text))
        parse_flight([text])

    assert_linear(work, 20_000, 400_000)


def test_items_inside_items() -> None:
    html = """<div itemscope itemtype="http://schema.org/Book"><b itemprop="name">Emma</b>
      <p itemprop="author" itemscope itemtype="http://schema.org/Person"><i itemprop="name">Jane</i></p>
      <time itemprop="datePublished" datetime="1815-12-23">1815</time><time itemprop="copyrightYear">1815</time>
      <meta itemprop="isbn" content="978"></div>"""
    assert read_microdata(etree.HTML(html)) == [
        {
            "@type": ["http://schema.org/Book"],
            "name": ["Emma"],
            "author": [{"@type": ["http://schema.org/Person"], "name": ["Jane"]}],
            "datePublished": ["1815-12-23"],
            "copyrightYear": ["1815"],
            "isbn": ["978"],
        }
    ]


def test_properties_outside_of_items_are_ignored() -> None:
    assert read_microdata(etree.HTML('<b itemprop="name">Emma</b>')) == []
    assert read_rdfa(etree.HTML('<meta property="og:title" content="Emma">')) == []


def test_several_names_of_a_value() -> None:
    html = '<p typeof="schema:Book"><b property="schema:name http://purl.org/dc/terms/title">Emma</b></p>'
    assert read_rdfa(etree.HTML(html)) == [{"@type": ["schema:Book"], "name": ["Emma"], "title": ["Emma"]}]
