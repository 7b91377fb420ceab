"""Training: the slope is right, and what was taught is found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from untemplate import Page
from untemplate.layout import EstimatedLayout
from untemplate.lists.finding import ListPage
from untemplate.lists.hcrf.features import SLOTS, Observed, observe
from untemplate.lists.hcrf.labels import NOTE, RECORD, Labels, label_blocks, value_sets
from untemplate.lists.hcrf.model import Hcrf
from untemplate.lists.hcrf.scene import read_scene
from untemplate.lists.hcrf.training import Objective, train
from untemplate.lists.vision import VisionTree, see

LABELS = Labels(("title", "price"), (("title", "price"), ("title",)))
WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")


def list_page(seed: int, template: str) -> ListPage:
    items = "".join(
        template.format(title=f"{WORDS[(seed + n) % 8].title()} {WORDS[n % 8]}", price=f"${seed + n}.50")
        for n in range(6)
    )
    menu = "".join(f"<li><a href='/{n}'>Menu {n}</a></li>" for n in range(8))
    page = Page(
        html=f"<body><nav><ul>{menu}</ul></nav><h1>Things</h1><div class=results>{items}</div></body>"
    )
    return ListPage(page, EstimatedLayout())


def blocks_of(found: ListPage) -> tuple[VisionTree, Observed, list[int], dict[int, str]]:
    """A page's blocks, what the model sees of them, its records, and the attributes of leaves."""
    vision = see(found.survey)
    items = found.tree.items
    values: dict[int, str] = {}
    records: list[int] = []
    for block, (rows, children) in enumerate(zip(vision.rows, vision.children, strict=True)):
        item = items[rows[0]]
        if not children and isinstance(item, str):
            if "$" in item:
                values[block] = "price"
                records.append(int(vision.parent[block]))
            elif "Menu" not in item and "Things" not in item:
                values[block] = "title"
    return vision, observe("", read_scene(found.survey, vision)), records, values


TEMPLATES = (
    "<div><h3><a href=x>{title}</a></h3><b>{price}</b></div>",
    "<p><a href=x>{title}</a><br><span>{price}</span></p>",
)


def test_the_slope_is_that_of_the_objective() -> None:
    found = list_page(1, TEMPLATES[0])
    vision, observed, records, values = blocks_of(found)
    truth = label_blocks(LABELS, found.survey, vision, records, values)
    objective = Objective(LABELS, [observed, observed], [truth, truth], is_exact=True)
    rng = np.random.default_rng(2)
    start = rng.normal(size=len(objective(np.zeros(SLOTS * len(LABELS) + _pairs()))[1])) * 0.1
    _, slope = objective(start)
    active = np.flatnonzero(slope - start / 1.0)
    for place in [*rng.choice(active, 30), *range(len(start) - 30, len(start))]:
        shift = np.zeros_like(start)
        shift[place] = 1e-4
        rise = (objective(start + shift)[0] - objective(start - shift)[0]) / 2e-4
        assert rise == pytest.approx(slope[place], abs=1e-4)


def _pairs() -> int:
    labels = len(LABELS)
    return (2 + 7) * labels**2 + 4 * labels**3


def test_finds_the_records_and_values_of_a_template_it_never_saw(tmp_path: Path) -> None:
    pages, truth = [], []
    for seed in range(3):
        found = list_page(seed, TEMPLATES[0])
        vision, observed, records, values = blocks_of(found)
        pages.append(observed)
        truth.append(label_blocks(LABELS, found.survey, vision, records, values))
    train(LABELS, pages, truth).save(tmp_path / "model.npz")
    model = Hcrf.load(tmp_path / "model.npz")
    vision, observed, records, values = blocks_of(list_page(5, TEMPLATES[1]))
    labels = model.best(observed).tolist()
    inner = [block for block, children in enumerate(vision.children) if children]
    assert [block for block in inner if LABELS.inner[labels[block]] == RECORD] == sorted(records)
    leaves = [block for block, children in enumerate(vision.children) if not children]
    assert {leaf: LABELS.leaf[labels[leaf]] for leaf in leaves if LABELS.leaf[labels[leaf]] != NOTE} == values
    shares = model.marginals(observed).vertex
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_combinations_are_kept_by_how_often_they_occur() -> None:
    seen = [frozenset({"price", "title"})] * 3 + [frozenset({"title"})] * 2 + [frozenset[str]()] * 9
    labels = Labels.choose(("title", "price", "date"), seen)
    assert labels.combinations == (("title", "price"), ("title",))
    assert labels.inner[-2:] == ("con_title_price", "con_title")
    assert labels.combination(frozenset({"title"})) == "con_title"
    assert labels.combination(frozenset({"date"})) == NOTE


def test_blocks_know_which_attributes_they_hold() -> None:
    vision, _, records, values = blocks_of(list_page(0, TEMPLATES[0]))
    sets = value_sets(vision, values)
    assert all(sets[record] == {"title", "price"} for record in records)
    assert sets[0] == {"title", "price"}
