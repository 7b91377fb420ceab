"""The estimate: a small flow layout."""

from __future__ import annotations

from untemplate import Page
from untemplate.layout import EstimatedLayout


def test_blocks_stack_and_headings_are_large() -> None:
    page = Page(html="<h1>Name</h1><p>one</p><p>two</p>")
    (boxes,) = EstimatedLayout().boxes([page])
    name, one, two = (boxes.node(node) for node in page.nodes)
    assert name.y < one.y < two.y
    assert name.x == one.x == two.x == 8
    assert name.height > one.height == two.height


def test_a_page_that_cannot_be_read_costs_a_reason() -> None:
    good, bad = EstimatedLayout().boxes([Page(html="<p>one</p>"), Page(html="")])
    assert good.reason is None
    assert bad.reason
    assert bad.nodes.shape == (0, 4)
