"""Columns of records, titles and images, and what a model makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from untemplate import Page
from untemplate.layout import EstimatedLayout
from untemplate.lists.alignment import align
from untemplate.lists.cells import Cells, Line
from untemplate.lists.finding import ListPage
from untemplate.lists.groups import Group
from untemplate.lists.hcrf.features import observe, observe_records
from untemplate.lists.hcrf.labels import Labels
from untemplate.lists.hcrf.reading import Reading
from untemplate.lists.hcrf.scene import Scene, look
from untemplate.lists.joins import FEATURES, WEIGHTS, find_joins

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
    joined = find_joins(found.survey, group.runs, np.array([WEIGHTS[name] for name in FEATURES]))
    lines = align(found.tree, found.shapes, Cells(found.tree, joined, found.survey.shown), group.runs)
    return found, group, look(found.survey, group.runs, lines), lines


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
    kinds = {text: column.kind for text, column in by_text.items()}
    assert kinds == {"Feb 1, 2017": "date", "Amber chair 1": None, "$1.50": "price", "Add to cart": None}
    assert by_text["Amber chair 1"].is_wordy
    assert not by_text["Add to cart"].is_wordy
    assert {column.filled for column in scene.columns} == {1.0}


def test_titles_are_the_first_most_prominent_texts_also_of_records_made_otherwise() -> None:
    _, group, scene, _ = seen(items(6) + SPONSORED.format(word="oak"))
    titles = sorted(scene.texts[leaf] for leaf in scene.titles(scene.columns))
    expected = [f"{WORDS[n]} chair {n + 1}" for n in range(6)]
    assert len(group) == 7
    assert titles == sorted([*expected, "Sponsored oak stool"])


def test_images_are_the_largest_of_their_records() -> None:
    _, group, scene, _ = seen(items(5))
    assert [scene.source(leaf) for leaf in scene.images(group.runs)] == [f"/{n}.jpg" for n in range(1, 6)]


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
        block for block, rows in enumerate(scene.vision.rows) if scene.survey.tree.tags[rows[0]] == "img"
    ]
    assert [scene.source(image) for image in images] == [source] * 3


def test_a_column_is_what_its_cells_together_are() -> None:
    _, _, scene, lines = seen(items(6))
    labels = Labels(("title", "price"))
    shares = np.zeros((len(scene.vision), len(labels)))
    shares[:, labels.leaf.index("note")] = 1.0
    prices = next(column for column in scene.columns if column.kind == "price")
    for leaf in prices.leaves[:4]:
        shares[leaf, : len(labels.leaf)] = (0.1, 0.8, 0.1)
    kinds = Reading(labels, scene, shares).columns(lines)
    assert sorted(kind for kind in kinds if kind) == ["price"]
    shares[prices.leaves[2:4]] = 0.0
    shares[prices.leaves[2:4], labels.leaf.index("note")] = 1.0
    assert not any(Reading(labels, scene, shares).columns(lines))


def test_records_are_observed_alone_as_with_their_page() -> None:
    _, group, scene, _ = seen(items(6))
    whole = observe("Things", scene, [group])
    records = observe_records("Things", scene, group)
    assert list(records) == [scene.vision.find(run) for run in group.runs]
    for block, alone in records.items():
        part = whole.part(block, int(scene.vision.end[block]))
        for column in ("parent", "slots", "counts", "types"):
            np.testing.assert_array_equal(getattr(alone, column), getattr(part, column))
