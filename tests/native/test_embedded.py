"""The native core reads embedded data, declared encodings and lists as Python does."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from lxml import etree

from benchmarks.data.html_noise import make_noise
from untemplate import Node, Page
from untemplate.native import core
from untemplate.page import visible_text
from untemplate.page.embedded_data import MAX_DEPTH, MAX_VALUES, DataPath, EmbeddedData, _visit_objects, _Walk
from untemplate.page.embedded_formats import _html_parts, html_lines, html_to_text, read_meta
from untemplate.page.embedded_scripts import find_linked_data
from untemplate.page.parsing import find_encoding, to_utf8
from untemplate.rules.list_look import _tags_between, is_title

pytestmark = pytest.mark.skipif(
    core is None or etree.LIBXML_VERSION < (2, 14),
    reason="needs the native core, and libxml2 2.14 to compare with",
)

KEYS = ("name", "text", "step", "item", "author", "@id", "@type", "@list", "@value", "url")
TYPES = ("Recipe", "http://schema.org/Recipe", "Person", ["Recipe", "Thing"], [], "", "/", None, 7)
LEAVES = ("tea", "", "a", 7, 2.5, True, None, [], {})


def make_data(random: Random, depth: int = 0) -> Any:
    if depth > 5 or random.random() < 0.2:
        return random.choice(LEAVES)
    if random.random() < 0.4:
        return [make_data(random, depth + 1) for _ in range(random.randrange(4))]
    content: dict[str, Any] = {
        key: make_data(random, depth + 1) for key in random.sample(KEYS, random.randrange(5))
    }
    if random.random() < 0.6:
        content["@type"] = random.choice(TYPES)
    if random.random() < 0.2:
        content["@id"] = random.choice("xyz")
    return content


def embedded_with(roots: list[Any], monkeypatch: pytest.MonkeyPatch) -> EmbeddedData:
    embedded = EmbeddedData(etree.HTML("<p>"))
    monkeypatch.setattr(embedded, "_read_roots", lambda source: roots)
    return embedded


def read_by_python(path: DataPath, embedded: EmbeddedData) -> list[str]:
    for data_object in embedded._source(path.source).objects_of(path.type):
        if texts := data_object.read(path, _Walk(embedded._source(path.source)._data, path)):
            return texts
    return []


def test_values_along_random_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(1)
    read = 0
    for _ in range(4000):
        embedded = embedded_with([make_data(random) for _ in range(2)], monkeypatch)
        keys = tuple(random.choices(KEYS, k=random.randrange(3)))
        ends = tuple(random.sample(("name", "text", "@value", "item"), random.randrange(3)))
        path = DataPath("ld+json", random.choice(("", "Recipe", "Thing")), keys, ends, random.random() < 0.5)
        expected = read_by_python(path, embedded)
        assert embedded.read(path) == expected, path
        read += bool(expected)
    assert read > 300


def test_paths_that_python_has_to_read() -> None:
    assert DataPath("ld+json", "Recipe", ("name",)).is_plain
    for key in ("*", "Recipe:*", "@id", "recipe12345678", "x" * 300):
        assert not DataPath("ld+json", "Recipe", (key,)).is_plain


def test_data_with_many_parts_and_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: Any = "tea"
    for _ in range(MAX_DEPTH + 3):
        deep = [deep]
    for content in ({"name": deep}, {"name": ["tea"] * (MAX_VALUES + 10)}, {"name": deep[0][0][0][0][0]}):
        embedded = embedded_with([content], monkeypatch)
        path = DataPath("ld+json", "", ("name",))
        assert embedded.read(path) == read_by_python(path, embedded)


def test_random_objects_are_visited_in_the_same_order() -> None:
    random = Random(2)
    for _ in range(500):
        roots = [make_data(random)]
        visited: list[dict[str, Any]] = []
        _visit_objects(roots, -1, visited)
        assert core is not None
        assert list(map(id, core.visit_objects(roots, MAX_DEPTH, 1000))) == list(map(id, visited))


PIECES = (
    *("tea", "é", "Ω7", "½", "’", "–", ".", "🍵", "<br>", "<b>", "<", "&amp;", "&"),
    *(" ", "  ", "\n", "\u2028", "\xa0", "\u200b", "\0"),
)


def test_readable_texts_of_random_data() -> None:
    random = Random(6)
    found = 0
    for _ in range(5000):
        values = ["".join(random.choices(PIECES, k=random.randrange(6))) for _ in range(random.randrange(4))]
        for read_lines in (html_lines, lambda value: [html_to_text(value)]):
            lines = [
                line for value in values for line in read_lines(value[:8]) if any(map(str.isalnum, line))
            ]
            assert core is not None
            assert core.readable_texts(values, 8, read_lines) == lines, values
            found += len(lines)
    assert found > 5000
    assert core.readable_texts(["tea \ud800", "\ud800"], 8, html_lines) == ["tea \ud800"]


def test_meta_tags_of_random_pages() -> None:
    random = Random(7)
    names = ("", "og:title", " Og:Title ", "og:\xa0 image", "name")
    contents = ("", " ", "\xa0", "Tea &amp; milk", " x ")
    for _ in range(500):
        tags = []
        for _ in range(random.randrange(6)):
            attributes = [
                f'{key}="{random.choice(names)}"' for key in ("property", "name") if random.random() < 0.6
            ]
            attributes += [f'content="{random.choice(contents)}"'] * (random.random() < 0.9)
            tags.append(f"<meta {' '.join(random.sample(attributes, len(attributes)))}>")
        page = Page(html=f"<title>x</title>{''.join(tags)}<p>{tags[0] if tags else ''}</p>")
        root, tree = page.root, page.tree
        assert read_meta(root) == read_meta(tree)
        assert read_meta(root[-1]) == read_meta(tree[-1])


def both_trees(random: Random, count: int) -> Iterator[tuple[Any, Any]]:
    """Yield the root of the core and of lxml for random pages."""
    for _ in range(count):
        html = make_noise(random)
        plain = Page(html=html)
        if plain.why_unreadable() is None:
            yield Page(html=html).root, plain.tree


def test_html_of_random_elements() -> None:
    compared = 0
    for mine, theirs in both_trees(Random(3), 300):
        for native, plain in zip(mine.iter("*"), theirs.iter("*"), strict=True):
            html = "".join(_html_parts(plain))
            assert native.html_string(len(html) + 9) == html
            assert native.html_string(5) == html[:5]
            compared += 1
    assert compared > 1000


def nodes_of(root: Any, choice: Random) -> list[Node]:
    nodes: list[Node] = []
    for element in root.iter("*"):
        if choice.random() < 0.3 and element is not root:
            nodes.append(Node(element, "element", visible_text(element)))
        elif choice.random() < 0.3:
            nodes.append(Node(element, "text", "x"))
        if choice.random() < 0.1 and element is not root:
            nodes.append(Node(element, "tail", "x"))
    return nodes


def test_lists_in_random_pages_look_the_same() -> None:
    for number, (mine, theirs) in enumerate(both_trees(Random(4), 600)):
        members, plain = nodes_of(mine, Random(number)), nodes_of(theirs, Random(number))
        assert list(map(is_title, members)) == list(map(is_title, plain))
        if members:
            assert _tags_between(members) == _tags_between(plain)


def test_a_list_without_members_is_refused() -> None:
    assert core is not None
    with pytest.raises(ValueError, match="members"):
        core.tags_between([])


DECLARATIONS = [
    *(
        b'<meta charset="utf-8">',
        b'<meta charset="UTF-8"/>',
        b'<META CHARSET="utf-8" >',
        b'<meta charset="latin1">',
    ),
    *(
        b'<meta name="a" content="b">',
        b'<meta name="a" content="b" />',
        b'<meta  property="og:x"  content="y">',
    ),
    b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">',
    *(
        b"<!--x-->",
        b"<!-->",
        b"-->",
        b"<body>",
        b'<?xml version="1.0" encoding="iso-8859-2"?>',
        b"<!DOCTYPE html>",
    ),
    *(b"<meta a'b='>' charset='latin1'>", b'<meta a"b=">" charset="latin1">', b'<meta/charset="utf-8">'),
    *(b'< meta charset="latin1">', b'<link href="<meta charset=latin1>">', b'<meta\ncharset="latin1">'),
    *(
        b'<meta charset="utf\r8">',
        b'<meta x="1"charset="latin1">',
        b'<meta name="charset" content="x">',
        b"<meta",
    ),
    *(
        b"<title>\xc3\xa9</title>",
        b"\xe9",
        b'"',
        b"'",
        b">",
        b"=",
        b'charset="utf-8"',
        b"\x1b",
        b"\0",
        b" ",
        b"\n",
    ),
    b"\xef\xbb\xbf",
]


def test_pages_that_need_no_decoding() -> None:
    """Where the core parses the bytes of a page as they are, decoding them would have changed nothing."""
    random = Random(5)
    found = 0
    for _ in range(30_000):
        html = b"".join(random.choices(DECLARATIONS, k=random.randint(1, 7)))
        charset = random.choice((None, None, None, "utf-8", "UTF-8", "latin1", "utf-16"))
        assert core is not None
        start = core.utf8_start(html, charset)
        if start < 0:
            continue
        found += 1
        body = html.removeprefix(b"\xef\xbb\xbf")
        is_plain = body.isascii() and b"\x1b" not in body and b"\0" not in body
        assert html[start:] == (body if is_plain else to_utf8(html, find_encoding(html, charset))), html
    assert found > 10_000


def test_scripts_with_linked_data() -> None:
    texts = ['{"a": 1}', "", "<b>", "é"]
    kinds = ("application/ld+json", "Application/LD+JSON; charset=utf-8", "text/javascript", "ld+jso", "")
    scripts = [f'<script type="{kind}">{text}</script>' for kind in kinds for text in texts]
    page = Page(html=f"<head>{''.join(scripts)}<script>ld+json</script></head><svg><script>x</script></svg>")
    found = find_linked_data(page.root)
    assert found == find_linked_data(page.tree) == texts + texts


def test_scripts_with_linked_data_inside_an_element() -> None:
    script = '<script type="application/ld+json">{}</script>'
    [_, body] = Page(html=f"<head>{script}<body><p>{script}{script}").root
    assert len(find_linked_data(body)) == 2
