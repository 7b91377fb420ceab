"""The classes of blocks, and which attributes blocks contain."""

from __future__ import annotations

from tests.lists.list_blocks import TEMPLATES, blocks_of, list_page
from untemplate.lists.hcrf_blocks import NOTE, BlockClasses, attributes_inside


def test_combinations_are_kept_by_how_often_they_occur() -> None:
    seen = [frozenset({"price", "title"})] * 3 + [frozenset({"title"})] * 2 + [frozenset[str]()] * 9
    classes = BlockClasses.choose(("title", "price", "date"), seen)
    assert classes.combinations == (("title", "price"), ("title",))
    assert classes.inner[-2:] == ("con_title_price", "con_title")
    assert classes.combination(frozenset({"title"})) == "con_title"
    assert classes.combination(frozenset({"date"})) == NOTE


def test_blocks_know_which_attributes_they_hold() -> None:
    vision, _, records, values = blocks_of(list_page(0, TEMPLATES[0]))
    sets = attributes_inside(vision, values)
    assert all(sets[record] == {"title", "price"} for record in records)
    assert sets[0] == {"title", "price"}
