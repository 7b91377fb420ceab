"""Elements of the native core answer as those of lxml do."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from lxml import etree

from benchmarks.data.html_noise import make_noise
from untemplate import Page
from untemplate.errors import PageError
from untemplate.native import core, is_native
from untemplate.page import Node
from untemplate.page.captions import nodes_after, nodes_before, static_key
from untemplate.page.dom import complete_text, element_xpath, visible_lines, visible_text, walk

pytestmark = pytest.mark.skipif(
    core is None or etree.LIBXML_VERSION < (2, 14),
    reason="needs the native core, and libxml2 2.14 to compare with",
)


def place(element: Any) -> Any:
    """Return what identifies an element in both trees."""
    if element is None:
        return None
    return element_xpath(element) if isinstance(element.tag, str) else "comment"


def texts_beside(find: Callable[[Node], Any], element: Any, kind: str) -> list[tuple[Any, str, str]]:
    return [(place(node.element), node.kind, node.text) for node in find(Node(element, kind, ""))]


QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "attributes": lambda element: element.items(),
    "get": lambda element: (element.get("class"), element.get("a", "-"), element.get("missing")),
    "children": lambda element: [place(child) for child in element.iterchildren()],
    "children of a tag": lambda element: [place(child) for child in element.iterchildren("p")],
    "first and last": lambda element: (
        len(element),
        *([place(element[0]), place(element[-1])] if len(element) else []),
    ),
    "neighbors": lambda element: (
        place(element.getprevious()),
        place(element.getnext()),
        place(element.getparent()),
    ),
    "siblings": lambda element: [place(one) for one in element.itersiblings("*")],
    "siblings before": lambda element: [place(one) for one in element.itersiblings("*", preceding=True)],
    "ancestors": lambda element: [place(one) for one in element.iterancestors()],
    "inside": lambda element: [place(one) for one in element.iter(etree.Element)],
    "inside by tag": lambda element: [place(one) for one in element.iterdescendants("b", "li", "missing")],
    "events": lambda element: [(event, place(one)) for event, one in walk(element)],
    "visible text": visible_text,
    "complete text": complete_text,
    "visible lines": visible_lines,
    "numbered path": lambda element: Node(element, "text", "").numbered_xpath,
    "paths of nodes": lambda element: [
        Node(element, kind, "").numbered_xpath
        for kind in ("text", "element", *(["tail"] if element.tail else []))
    ],
    "key of a static text": lambda element: static_key(element, "Tel:"),
    "texts before": lambda element: texts_beside(nodes_before, element, "text"),
    "texts before its end": lambda element: texts_beside(nodes_before, element, "tail"),
    "texts after": lambda element: texts_beside(nodes_after, element, "text"),
    "texts after its end": lambda element: texts_beside(nodes_after, element, "tail"),
    "texts after an attribute": lambda element: texts_beside(nodes_after, element, "@class"),
    "texts after the element": lambda element: texts_beside(nodes_after, element, "element"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_elements_answer_as_those_of_lxml(question: str) -> None:
    random = Random(question)
    for _ in range(150):
        # After </html> lxml has a second root, which nobody sees; but then the paths of the first have a number.
        html = b"<body>" + make_noise(random).replace(b"</html q>", b"").replace(b"/>", b">")
        native, plain = Page(html=html).root, Page(html=html).tree
        for mine, theirs in zip(native.iter(etree.Element), plain.iter(etree.Element), strict=True):
            if mine is not native:  # lxml also lists comments beside the root
                assert QUESTIONS[question](mine) == QUESTIONS[question](theirs), html


def test_paths_of_texts_number_the_texts_of_their_parent() -> None:
    html = "<p>a<b>b</b>c<!--d--><i></i>e"
    native, plain = Page(html=html).root[0][0], Page(html=html).tree[0][0]
    paths = [Node(child, "tail", "").xpath for child in native.iterchildren() if child.tail]
    assert paths == [Node(child, "tail", "").xpath for child in plain.iterchildren() if child.tail]


def test_an_element_is_one_object_while_it_is_used() -> None:
    root = Page(html="<p>a<b>b</b>").root
    paragraph = root[0][0]
    assert is_native(paragraph)
    assert paragraph[0].getparent() is paragraph
    assert {paragraph: 1}[next(root.iter("p"))] == 1


def test_an_element_keeps_its_page_alive() -> None:
    elements = [Page(html=f"<p>{number}").root[0][0] for number in range(100)]
    assert [element.text for element in elements] == [str(number) for number in range(100)]


def test_events_skip_what_is_inside() -> None:
    walker = walk(Page(html="<div><p>a<b>b</b></p><i>c</i></div>").root[0])
    events = []
    for event, element in walker:
        events.append((event, element.tag))
        if element.tag == "p" and event == "start":
            walker.skip_subtree()
    assert ("start", "b") not in events
    assert events.index(("end", "p")) == events.index(("start", "p")) + 1


def test_paths_and_texts_of_random_pages() -> None:
    random = Random(29)
    for _ in range(1000):
        html = make_noise(random)
        try:
            expected = [(node.path, node.text) for node in Page(html=html).nodes]
        except PageError:
            continue
        assert Page(html=html).path_texts() == expected


def test_paths_and_texts_of_values_and_hidden_parts() -> None:
    page = Page(html="<p id=a title=' t  u '>x<!--c-->y<script src=s>z</script>w<img src='' alt=i><p>x")
    assert page.path_texts() == [
        ("html/body/p/@title", "t u"),
        *[("html/body/p/text()", text) for text in "xyw"],
        ("html/body/p/img/@alt", "i"),
        ("html/body/p/text()", "x"),
    ]


def test_paths_that_are_too_long_together() -> None:
    names = "".join(f"<x{'y' * 90}{number}>" for number in range(1000))
    with pytest.raises(PageError, match="too deeply for the length of their names"):
        Page(html=names).path_texts()
