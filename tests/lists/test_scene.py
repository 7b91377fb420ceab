"""Columns of records, titles and images, and what a model makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from untemplate import Page
from untemplate.layout import EstimatedLayout
from untemplate.lists.alignment import align_records
from untemplate.lists.block_features import observe_page, observe_records
from untemplate.lists.cells import CellFinder, Line, find_joined_rows, shipped_seam_weights
from untemplate.lists.groups import Group
from untemplate.lists.hcrf_blocks import BlockClasses
from untemplate.lists.list_page import ListPage
from untemplate.lists.list_table import ColumnNamer
from untemplate.lists.scene import Scene, build_scene, content_type, mentioned_types

WORDS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath")
ITEM = (
    "<li class=item><img src=/{n}.jpg width=90 height=90><img src=/star.gif width=9 height=9>"
    "<span class=day>Feb {n}, 2017</span><h3><a href=/{n}>{word} chair <b>{n}</b></a></h3>"
    "<span class=price>${n}.50</span><a class=cart href=/cart>Add to cart</a></li>"
)
SPONSORED = (
    "<li class=item><a class=name href=/s>Sponsored {word} stool</a><span class=price>$1.00</span></li>"
)


def seen(items: str) -> tuple[ListPage, Group, Scene, list[list[Line | None]]]:
    """A page with a list of these items, as it is read; its records are known."""
    found = ListPage(Page(html=f"<h1>Things</h1><ul class=results>{items}</ul>"), EstimatedLayout())
    group = found.groups[int(np.argmax(found.scores))]
    joined = find_joined_rows(found.profile, group.runs, shipped_seam_weights())
    lines = align_records(
        found.tree, found.shapes, CellFinder(found.tree, joined, found.profile.shown), group.runs
    )
    return found, group, build_scene(found.profile, group.runs, lines), lines


def items(count: int) -> str:
    return "".join(ITEM.format(n=n + 1, word=WORDS[n]) for n in range(count))


def test_leaves_of_records_are_cells() -> None:
    _, _, scene, _ = seen(items(6))
    texts = {text for text in scene.texts if text}
    assert {"Amber chair 1", "Feb 1, 2017", "$1.50", "Add to cart"} <= texts
    assert "Amber chair" not in texts


def test_columns_know_what_they_hold() -> None:
    _, _, scene, _ = seen(items(6))
    by_text = {scene.texts[column.leaves[0]]: column for column in scene.columns}
    kinds = {text: column.content_type for text, column in by_text.items()}
    assert kinds == {"Feb 1, 2017": "date", "Amber chair 1": None, "$1.50": "price", "Add to cart": None}
    assert by_text["Amber chair 1"].may_be_title
    assert not by_text["Add to cart"].may_be_title
    assert {column.filled for column in scene.columns} == {1.0}


def test_titles_are_the_first_most_prominent_texts_also_of_records_made_otherwise() -> None:
    _, group, scene, _ = seen(items(6) + SPONSORED.format(word="oak"))
    titles = sorted(scene.texts[leaf] for leaf in scene.titles(scene.columns))
    expected = [f"{WORDS[n]} chair {n + 1}" for n in range(6)]
    assert len(group) == 7
    assert titles == sorted([*expected, "Sponsored oak stool"])


def test_images_are_the_largest_of_their_records() -> None:
    _, group, scene, _ = seen(items(5))
    assert [scene.image_address(leaf) for leaf in scene.largest_images(group.runs)] == [
        f"/{n}.jpg" for n in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("attributes", "source"),
    [
        ("src=/a.jpg", "/a.jpg"),
        ("src=' /a.jpg '", "/a.jpg"),
        ("src=/blank.gif data-src=/a.jpg", "/a.jpg"),
        ("src=data:x srcset='/a.jpg 1x, /b.jpg 2x'", "/a.jpg"),
        ("src=data:x", ""),
        ("src=data:x srcset=data:y data-src=data:z", ""),
        ("alt=nothing", ""),
    ],
)
def test_the_address_of_an_image(attributes: str, source: str) -> None:
    _, _, scene, _ = seen(f"<li><img {attributes}>a<p>b</p></li>" * 3)
    images = [
        block for block, rows in enumerate(scene.vision.rows) if scene.profile.tree.tags[rows[0]] == "img"
    ]
    assert [scene.image_address(image) for image in images] == [source] * 3


def test_a_column_is_what_its_cells_together_are() -> None:
    _, _, scene, lines = seen(items(6))
    classes = BlockClasses(("title", "price"))
    shares = np.zeros((len(scene.vision), len(classes)))
    shares[:, classes.leaf.index("note")] = 1.0
    prices = next(column for column in scene.columns if column.content_type == "price")
    for leaf in prices.leaves[:4]:
        shares[leaf, : len(classes.leaf)] = (0.1, 0.8, 0.1)
    kinds = ColumnNamer(classes, scene, shares).column_attributes(lines)
    assert sorted(kind for kind in kinds if kind) == ["price"]
    shares[prices.leaves[2:4]] = 0.0
    shares[prices.leaves[2:4], classes.leaf.index("note")] = 1.0
    assert not any(ColumnNamer(classes, scene, shares).column_attributes(lines))


def test_records_are_observed_alone_as_with_their_page() -> None:
    _, group, scene, _ = seen(items(6))
    whole = observe_page("Things", scene, [group])
    records = observe_records("Things", scene, group)
    assert list(records) == [scene.vision.find(run) for run in group.runs]
    for block, alone in records.items():
        part = whole.part(block, int(scene.vision.end[block]))
        for column in ("parent", "slots", "counts", "types"):
            np.testing.assert_array_equal(getattr(alone, column), getattr(part, column))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("$10.50", "price"),
        ("CDN$ 21.99", "price"),
        ("US $1000-20000 / Set", "price"),
        ("12,99 €", "price"),
        ("Was: £4.99", "price"),
        ("Nov 24, 2016", "date"),
        ("8 Feb 2017 | 17:48 GMT", "date"),
        ("16/12/2004", "date"),
        ("2016-11-20 08:43", "date"),
        ("5 months ago", "date"),
        ("https://example.com/a/very/long/path/that/goes/on/and/on", "link"),
        ("www.example.com/x", "link"),
        ("example.com/shop/", "link"),
        ("Amber chair", None),
        ("24", None),
        ("May contain nuts", None),
        ("3.5 of 5 stars", None),
        ("", None),
    ],
)
def test_kinds_of_texts(text: str, kind: str | None) -> None:
    assert content_type(text) == kind


def test_a_sentence_mentions_what_it_is_not() -> None:
    text = "The second edition, first published on May 27, 2015, was sold for $20 in a few shops only."
    assert content_type(text) is None
    assert mentioned_types(text) == ["price", "date"]
