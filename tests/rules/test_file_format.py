"""The rules file: what is saved is loaded again, and files that are broken, newer or hostile are refused."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Attribute, Label, Page, Rules, RulesError, Schema, learn
from untemplate.rules import Selector
from untemplate.rules.feature import Feature
from untemplate.rules.file_format import format_rules, parse_rules
from untemplate.rules.ranges import Range


def pages() -> list[Page]:
    return [
        Page(
            f"http://shop.example/{i}",
            f"<html><body><h1>Book {i}</h1><p>Our Price: ${i}.99</p><p class=adr>{i} Main St<br>Town{i}</p>"
            f"<img src=/{i}.png><ul><li>a{i}<li>b{i}</ul></body></html>",
            str(i),
        )
        for i in range(6)
    ]


def make_rules() -> Rules:
    schema = Schema(
        "book",
        {
            "title": Attribute("title", mandatory=True),
            "price": Attribute("price", "price"),
            "address": Attribute("address"),
            "image": Attribute("image", "image", constant=True),
            "tags": Attribute("tags", many=True, pattern=r"\w+"),
        },
    )
    labels = [
        Label("0", "title", "Book 0"),
        Label("0", "price", "$0.99"),
        Label("0", "address", "0 Main St Town0"),
        Label("0", "image", "/0.png"),
        Label("0", "tags", "a0"),
        Label("0", "tags", "b0"),
    ]
    return learn(pages(), labels, schema)


@pytest.fixture(scope="module")
def rules() -> Rules:
    return make_rules()


@pytest.fixture
def content(rules: Rules, tmp_path: Path) -> dict[str, Any]:
    rules.save(tmp_path / "rules.json")
    return json.loads((tmp_path / "rules.json").read_text("utf-8"))


def load(content: Any, tmp_path: Path) -> Rules:
    path = tmp_path / "changed.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return Rules.load(path)


def refused(content: Any, tmp_path: Path) -> str:
    """The one line that says why."""
    with pytest.raises(RulesError) as error:
        load(content, tmp_path)
    message = str(error.value)
    assert message.startswith(str(tmp_path / "changed.json"))
    assert "\n" not in message
    return message


def test_saved_rules_are_equal_and_extract_the_same(rules: Rules, tmp_path: Path) -> None:
    rules.save(tmp_path / "rules.json")
    loaded = Rules.load(tmp_path / "rules.json")
    assert loaded.schema == rules.schema
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "rules.json").read_bytes()
    assert Rules.load(tmp_path / "again.json") == loaded
    records = list(rules.extract(pages()))
    assert list(loaded.extract(pages())) == records
    assert [record["title"] for record in records] == [f"Book {i}" for i in range(6)]
    assert [record["price"] for record in records] == [f"${i}.99" for i in range(6)]


def test_a_range_with_separators_survives_saving(rules: Rules) -> None:
    [wrapper] = rules.wrappers
    range_ = Range(after="Tags: ", separators=(", ", " and "))
    rule = replace(wrapper.rules["title"], range=range_)
    text = format_rules(rules.schema, [replace(wrapper, rules={"title": rule})])
    assert parse_rules(text, "rules.json")[1][0].rules["title"].range == range_


def test_the_file_is_readable(content: dict[str, Any]) -> None:
    assert content["untemplate"] == 2
    assert content["schema"]["name"] == "book"
    [wrapper] = content["wrappers"]
    assert set(wrapper) >= {"cluster", "signatures", "importance", "url_pattern", "rules"}
    assert wrapper["url_pattern"] == "http://shop.example/*"
    assert all(rule["selectors"][0]["xpath"].startswith(("/", "(")) for rule in wrapper["rules"].values())


def test_a_file_appears_complete_or_not_at_all(rules: Rules, tmp_path: Path) -> None:
    rules.save(tmp_path / "rules.json")
    assert [path.name for path in tmp_path.iterdir()] == ["rules.json"]


def test_the_first_version_can_still_be_read(content: dict[str, Any], rules: Rules) -> None:
    assert Rules.loads(json.dumps(content | {"untemplate": 1})) == rules


EMBEDDED = {
    "path": "ld+json Book.name",
    "source": "ld+json",
    "type": "Book",
    "keys": ["name"],
    "support": 1.0,
}


def test_selectors_of_embedded_data(content: dict[str, Any], tmp_path: Path) -> None:
    name = next(iter(content["wrappers"][0]["rules"]))
    content["wrappers"][0]["rules"][name] = {"embedded": [EMBEDDED]}
    rules = Rules.loads(json.dumps(content))
    assert str(rules.wrappers[0].rules[name].embedded[0].path) == "ld+json Book.name"
    assert json.loads(rules.dumps())["wrappers"][0]["rules"][name] == {"embedded": [EMBEDDED]}


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, "has no selectors"),
        ({"embedded": [EMBEDDED | {"path": "ld+json Book.title"}]}, "is not what its parts say"),
        ({"embedded": [EMBEDDED | {"code": "1"}]}, "unknown field"),
        ({"embedded": [EMBEDDED | {"position": -1}]}, "Expected `int` >= 0"),
    ],
)
def test_broken_selectors_of_embedded_data(
    content: dict[str, Any], tmp_path: Path, rule: dict[str, Any], said: str
) -> None:
    name = next(iter(content["wrappers"][0]["rules"]))
    content["wrappers"][0]["rules"][name] = rule
    assert said in refused(content, tmp_path)


@pytest.mark.parametrize("definition", [{"type": "nope"}, {"many": 1}, {"pattern": "("}, {"typ": "text"}, []])
def test_a_broken_attribute_is_named(content: dict[str, Any], tmp_path: Path, definition: Any) -> None:
    content["schema"]["attributes"]["title"] = definition
    assert "attribute 'title': " in refused(content, tmp_path)


def test_a_newer_version(content: dict[str, Any], tmp_path: Path) -> None:
    assert "newer" in refused(content | {"untemplate": 3}, tmp_path)
    assert "newer" in refused({"untemplate": 99, "of": "another shape"}, tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"null",
        b"[]",
        b'"rules"',
        b"{}",
        b'{"untemplate": "1"}',
        b'{"untemplate": 0}',
        b'{"untemplate": -1}',
        b'{"untemplate": true}',
        b'{"untemplate": 1}',
        b"[" * 100_000,
        b'{"untemplate": 1, "schema": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        pickle.dumps({"untemplate": 1}),
    ],
)
def test_what_is_no_rules_file(content: bytes, tmp_path: Path) -> None:
    refused(content, tmp_path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(RulesError, match="cannot read the rules"):
            Rules.load(path)


Change = Callable[[dict[str, Any]], object]


def remember(content: dict[str, Any], golden: dict[str, list[str]]) -> None:
    """Add a watched page with these values."""
    signature = "00.11.22.33.44.55.66.77"
    page = {"page": "9.html", "url": "http://a.example/9", "signature": signature, "golden": golden}
    content["wrappers"][0].setdefault("bellwethers", []).append(page)


def test_remembered_values_are_read(content: dict[str, Any], tmp_path: Path) -> None:
    remember(content, {"title": ["Emma"]})
    assert load(content, tmp_path).wrappers[0].bellwethers[-1].golden == {"title": ("Emma",)}


def first_selector(content: dict[str, Any]) -> dict[str, Any]:
    return content["wrappers"][0]["rules"]["title"]["selectors"][0]


def use(content: dict[str, Any], feature: list[Any]) -> None:
    """Make the first selector one of this feature, with the XPath that says so."""
    selector = Selector("text()", (Feature(feature[0], feature[1], tuple(feature[2:])),))
    first_selector(content).update(xpath=selector.xpath, node="text()", features=[feature], position=0)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda c: c.pop("schema"), id="no schema"),
        pytest.param(lambda c: c.update(wrappers={}), id="wrappers of another type"),
        pytest.param(lambda c: c.update(extra=1), id="a key nobody knows"),
        pytest.param(lambda c: c["schema"].update(attributes={}), id="no attributes"),
        pytest.param(lambda c: c["schema"]["attributes"]["price"].update(type="money"), id="type"),
        pytest.param(lambda c: c["schema"]["attributes"].pop("title"), id="rule without an attribute"),
        pytest.param(lambda c: remember(c, {"color": ["red"]}), id="remembered value without an attribute"),
        pytest.param(lambda c: c["wrappers"][0].update(importance="1"), id="text for a number"),
        pytest.param(lambda c: c["wrappers"][0].update(signatures=["xx"]), id="signature"),
        pytest.param(lambda c: c["wrappers"][0].update(signatures=["00.00"]), id="short signature"),
        pytest.param(lambda c: c["wrappers"][0].update(url_pattern=None), id="no URL pattern"),
        pytest.param(lambda c: c["schema"]["attributes"]["tags"].update(pattern="*"), id="pattern"),
        pytest.param(lambda c: c["wrappers"][0]["rules"]["title"].update(selectors=[]), id="no selectors"),
        pytest.param(lambda c: c["wrappers"][0]["rules"]["title"].update(nodes=0), id="no nodes"),
        pytest.param(
            lambda c: c["wrappers"][0]["rules"]["price"].update(range={"type": "money"}), id="range"
        ),
        pytest.param(
            lambda c: c["wrappers"][0]["rules"]["price"].update(range={"separators": [""]}), id="separator"
        ),
        pytest.param(lambda c: first_selector(c).update(node="comment()"), id="node"),
        pytest.param(lambda c: first_selector(c).update(node="text()\n"), id="node with a line end"),
        pytest.param(lambda c: first_selector(c).update(position="1"), id="position"),
        pytest.param(lambda c: first_selector(c).update(support=None), id="support"),
        pytest.param(lambda c: first_selector(c).update(features=[["tag"]]), id="feature without a level"),
        pytest.param(lambda c: first_selector(c).update(features=[["tag", 1]]), id="feature without values"),
        pytest.param(lambda c: first_selector(c).update(features=[["tag", -1, "p"]]), id="level"),
        pytest.param(lambda c: first_selector(c).update(features=[["tag", 10**12, "p"]]), id="far away"),
        pytest.param(lambda c: c["wrappers"][0]["rules"]["title"].update(nodes=10**12), id="too many nodes"),
        pytest.param(lambda c: use(c, ["class", 1, "a\0b"]), id="no XML character"),
        pytest.param(lambda c: first_selector(c).update(features=[["tag", 1, 2]]), id="value"),
        pytest.param(lambda c: first_selector(c).update(features=[["system", 1, "ls"]]), id="feature type"),
    ],
)
def test_broken_parts(change: Change, content: dict[str, Any], tmp_path: Path) -> None:
    change(content)
    refused(content, tmp_path)


LOAD = """
import sys
from untemplate import Rules, RulesError
try:
    Rules.load(sys.argv[1])
except RulesError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda c: first_selector(c).update(features=[["system", 1, "ls"]]), "no such feature type: system"),
        (lambda c: use(c, ["class", 1, "a\0b"]), "cannot be used"),
    ],
)
def test_files_are_checked_under_python_o(
    change: Change, reason: str, content: dict[str, Any], tmp_path: Path
) -> None:
    """`python -O` removes assertions, so checks must not be assertions."""
    change(content)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(content), "utf-8")
    done = subprocess.run(
        [sys.executable, "-O", "-c", LOAD, path], capture_output=True, text=True, timeout=600
    )
    assert reason in done.stdout, done.stderr


@pytest.mark.parametrize(
    "xpath",
    [
        "document('file:///etc/passwd')",
        "document('http://evil.example/')//text()",
        "//text()",
        "//*[system-property('xsl:vendor')]/text()",
        "",
        "//[",
    ],
)
def test_an_xpath_that_its_features_do_not_say(xpath: str, content: dict[str, Any], tmp_path: Path) -> None:
    first_selector(content)["xpath"] = xpath
    assert "features" in refused(content, tmp_path)


@pytest.mark.parametrize(
    "feature",
    [
        ["class", 1, 'x"] | document("file:///etc/passwd")//*[@y="'],
        ["@x]|document('/etc/passwd')//*[@y", 1, "z"],
        ["tag", 1, "p]|document('/etc/passwd')//*[self::p"],
        ["out-left-text", 0, "'\"]"],
        ["label", 0, "document('/etc/passwd')"],
    ],
)
def test_hostile_features_are_harmless_or_refused(
    feature: list[Any], content: dict[str, Any], tmp_path: Path
) -> None:
    """With the XPath that belongs to them: what they ask for is a strange name that no element has."""
    use(content, feature)
    for rule in content["wrappers"][0]["rules"].values():
        rule["selectors"] = [first_selector(content)]
        rule["committee"] = []
    loaded = load(content, tmp_path)
    for record in loaded.extract(pages()):
        assert not record.values


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_any_value_in_any_place_loads_or_is_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    content = json.loads(_saved(folder))
    places = list(_places(content))
    parent, key = data.draw(st.sampled_from(places))
    parent[key] = data.draw(
        st.sampled_from([None, True, -1, 10**30, 1.5, "", "x", "\0", [], ["x"], {}, {"x": 1}, "*" * 99])
    )
    path = folder / "changed.json"
    path.write_text(json.dumps(content))
    try:
        loaded = Rules.load(path)
    except RulesError:
        return
    assert len(list(loaded.extract(pages()))) == 6


def _saved(folder: Path) -> str:
    path = folder / "saved.json"
    if not path.exists():
        make_rules().save(path)
    return path.read_text("utf-8")


def _places(content: Any) -> Any:
    keys = (
        content.keys()
        if isinstance(content, dict)
        else range(len(content))
        if isinstance(content, list)
        else ()
    )
    for key in keys:
        yield content, key
        yield from _places(content[key])


def test_rules_about_the_deepest_pages(content: dict[str, Any], tmp_path: Path) -> None:
    use(content, ["tag", 2000, "p"])
    assert len(list(load(content, tmp_path).extract(pages()))) == 6
