"""Boxes are found by element and by node, whoever made them."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.layout import Boxes, EstimatedLayout
from untemplate.page import Node

HTML = """<body><h1>Name</h1><p>one <a href="/x">two <b>three</b></a> four<!-- c -->five
<img src="i.png" width="30" height="20"><script>var hidden = 1</script></body>"""


@pytest.fixture
def boxes() -> Boxes:
    return EstimatedLayout().boxes([Page(html=HTML)])[0]


def test_every_element_and_node_has_a_row(boxes: Boxes) -> None:
    assert boxes.reason is None
    elements = list(boxes.page.tree.iter("*"))
    assert len(boxes.elements) == len(boxes.font_size) == len(boxes.visible) == len(elements)
    assert len(boxes.nodes) == len(boxes.page.nodes) == len(boxes.node_elements)
    assert list(boxes.numbers) == elements


def test_nodes_stand_where_they_are_read(boxes: Boxes) -> None:
    texts = [node for node in boxes.page.nodes if node.is_text]
    assert [node.text for node in texts] == ["Name", "one", "two", "three", "four", "five"]
    name, *words = [boxes.node(node) for node in texts]
    assert [word.x for word in words] == sorted(word.x for word in words)
    assert len({word.y for word in words}) == 1
    assert name.y + name.height <= words[0].y


def test_an_attribute_has_the_box_of_its_element(boxes: Boxes) -> None:
    image = boxes.page.tree.find(".//img")
    (source,) = (node for node in boxes.page.nodes if node.kind == "@src")
    assert boxes.node(source) == boxes.element(image)
    assert boxes.element(image)[2:] == (30, 20)


def test_a_whole_element_has_its_own_box(boxes: Boxes) -> None:
    link = boxes.page.tree.find(".//a")
    assert boxes.node(Node(link, "element", "two three")) == boxes.element(link)


def test_looks_of_nodes_are_those_of_their_elements(boxes: Boxes) -> None:
    looks = {
        node.text: (boxes.font_size[row], boxes.font_weight[row])
        for node, row in zip(boxes.page.nodes, boxes.node_elements, strict=True)
    }
    assert looks["Name"] == (32, 700)
    assert looks["one"] == looks["four"] == (16, 400)
    assert looks["two"] == (16, 400)
    assert looks["three"] == (16, 700)


def test_what_nobody_sees_is_not_visible(boxes: Boxes) -> None:
    script = boxes.numbers[boxes.page.tree.find(".//script")]
    assert not boxes.visible[script]
    assert not boxes.elements[script].any()
    assert boxes.visible[boxes.numbers[boxes.page.tree.find(".//b")]]


def test_blank_boxes_of_a_page_have_all_rows() -> None:
    page = Page(html=HTML)
    boxes = Boxes.blank(page, "because")
    assert boxes.reason == "because"
    assert not boxes.nodes.any()
    assert len(boxes.nodes) == len(page.nodes)
    assert len(Boxes.blank(Page(html=""), "empty").nodes) == 0
