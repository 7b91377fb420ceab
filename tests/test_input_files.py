"""Files of strangers: what is too big, too deep or no JSON is refused in a short line and little memory."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from untemplate import LabelError, Rules, RulesError, Schema, SchemaError, learn, read_labels
from untemplate.demo import make_site
from untemplate.input_files import FileLimits, limited_lines, load_json, read_limited, shorten

SMALL = FileLimits(bytes=1000, values=100, depth=10)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("[" * 11 + "]" * 11, "nested deeper than 10 levels"),
        ('{"a":' * 11 + "1" + "}" * 11, "nested deeper than 10 levels"),
        ("[" + "1," * 100 + "1]", "more than 100 values"),
        ("[" * 200, "more than 100 values"),
        ('"' + "x" * 1000 + '"', "larger than"),
        ("[NaN]", "unexpected character"),
        ('["\\ud800"]', "surrogate"),
        ('["\ud800"]', "half of a character"),
        ('{"a": 1', "EOF|unexpected end"),
    ],
)
def test_what_is_refused(data: str, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        load_json(data, SMALL)
    assert len(str(error.value)) < 400


def test_brackets_in_texts_do_not_count() -> None:
    text = '[{,"' * 150
    assert load_json(json.dumps([text]), SMALL) == [text]
    assert load_json(b'\xef\xbb\xbf["\\\\", "[[["]') == ["\\", "[[["]


def test_lines_are_limited() -> None:
    file = io.BytesIO(b"short\n" + b"x" * 500_000 + b"\nlast")
    assert list(limited_lines(file, 100)) == [b"short\n", None, b"last"]


def test_files_are_limited(tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 1001)
    with pytest.raises(ValueError, match="larger than"):
        read_limited(tmp_path / "big", SMALL)


def test_messages_are_short() -> None:
    assert shorten("a\n b") == "a b"
    assert len(shorten("x" * 1_000_000)) < 400


@pytest.fixture(scope="module")
def rules_file() -> dict[str, object]:
    site = make_site("restaurant", seed=4, pages=8)
    few = list(site.truth)[:2]
    rules = learn(site.pages, [label for label in site.labels if label.page in few], site.schema)
    content: dict[str, object] = json.loads(rules.dumps())
    return content


def first_selector(content: dict) -> dict:
    rules = content["wrappers"][0]["rules"]
    return next(rule["selectors"][0] for rule in rules.values() if rule.get("selectors"))


HOSTILE: dict[str, Callable[[dict], object]] = {
    "a huge position": lambda c: first_selector(c).update(position=10**18),
    "many values": lambda c: first_selector(c)["features"].append(["token", 1, *map(str, range(50_000))]),
    "many features": lambda c: first_selector(c).update(features=[["tag", 1, "p"]] * 50_000),
    "infinite support": lambda c: first_selector(c).update(support=1e308 * 10),
    "a negative support": lambda c: first_selector(c).update(support=-1.0),
    "half of a character": lambda c: c["wrappers"][0].update(cluster="\ud800"),
    "a long XPath": lambda c: first_selector(c).update(xpath="x" * 5_000_000),
    "an unknown key": lambda c: c.update({"y" * 5_000_000: 1}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_rules(name: str, rules_file: dict[str, object]) -> None:
    content = json.loads(json.dumps(rules_file))
    HOSTILE[name](content)
    with pytest.raises(RulesError) as error:
        Rules.loads(json.dumps(content))
    assert len(str(error.value)) < 1000


def test_nested_records_and_brackets(rules_file: dict[str, object]) -> None:
    nested = (
        '{"untemplate": 2, "schema": {}, "wrappers": ' + '[{"records": ' * 50_000 + "1" + "}]" * 50_000 + "}"
    )
    for text in (nested, "[" * 3_000_000, '{"a":' * 500_000):
        with pytest.raises(RulesError):
            Rules.loads(text)


def test_deep_labels_and_schemas(tmp_path: Path) -> None:
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"page": "a", "labels": {"name": ' + "[" * 5000 + "]" * 5000 + "}}")
    with pytest.raises(LabelError, match="nested deeper"):
        read_labels(labels)
    schema = tmp_path / "schema.toml"
    schema.write_text("name = " + "[" * 100_000)
    with pytest.raises(SchemaError, match="not TOML"):
        Schema.load(schema)
    schema.write_text("#" * (2 << 20))
    with pytest.raises(SchemaError, match="larger than"):
        Schema.load(schema)


def test_a_line_of_brackets_costs_little_memory(tmp_path: Path) -> None:
    """In a process of its own, which reports how much memory it ever had."""
    pages = tmp_path / "pages.jsonl"
    pages.write_bytes(
        b'{"url": "u", "html": ' + b"[" * 60_000_000 + b"}\n" + b'{"url": "u", "html": "<p>x"}\n'
    )
    code = (
        "import resource, untemplate as ut\n"
        f"pages = ut.read_pages({str(pages)!r})\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(len(list(pages)), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    count, kilobytes = map(int, done.stdout.split())
    assert count == 1
    assert kilobytes < 600_000
