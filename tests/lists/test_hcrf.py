"""Training the HCRF: the slope is right, and what was learned is found again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.lists.list_blocks import CLASSES, TEMPLATES, blocks_of, list_page
from untemplate.lists import hcrf
from untemplate.lists.hcrf import Hcrf, Objective, train_hcrf
from untemplate.lists.hcrf_blocks import NOTE, RECORD, true_classes


def test_the_slope_is_that_of_the_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list_page(1, TEMPLATES[0])
    vision, observed, records, values = blocks_of(found)
    truth = true_classes(CLASSES, found.profile, vision, records, values)
    monkeypatch.setattr(hcrf, "TRAINING_PRECISION", np.float64)
    objective = Objective(CLASSES, [observed, observed], [truth, truth])
    rng = np.random.default_rng(2)
    start = rng.normal(size=len(objective.start)) * 0.1
    _, slope = objective(start)
    active = np.flatnonzero(slope - start / 1.0)
    for place in [*rng.choice(active, 30), *range(len(start) - 30, len(start))]:
        shift = np.zeros_like(start)
        shift[place] = 1e-4
        rise = (objective(start + shift)[0] - objective(start - shift)[0]) / 2e-4
        assert rise == pytest.approx(slope[place], abs=1e-4)


def test_finds_the_records_and_values_of_a_template_it_never_saw(tmp_path: Path) -> None:
    pages, truth = [], []
    for seed in range(3):
        found = list_page(seed, TEMPLATES[0])
        vision, observed, records, values = blocks_of(found)
        pages.append(observed)
        truth.append(true_classes(CLASSES, found.profile, vision, records, values))
    train_hcrf(CLASSES, pages, truth).save(tmp_path / "model.npz")
    model = Hcrf.load(tmp_path / "model.npz")
    vision, observed, records, values = blocks_of(list_page(5, TEMPLATES[1]))
    classes = model.best(observed).tolist()
    inner = [block for block, children in enumerate(vision.children) if children]
    assert [block for block in inner if CLASSES.inner[classes[block]] == RECORD] == sorted(records)
    leaves = [block for block, children in enumerate(vision.children) if not children]
    assert {
        leaf: CLASSES.leaf[classes[leaf]] for leaf in leaves if CLASSES.leaf[classes[leaf]] != NOTE
    } == values
    shares = model.marginals(observed).vertex
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
