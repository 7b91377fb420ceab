"""A template that puts a value here or there: fields that stand where the best one does not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import untemplate as ut
from untemplate import Attribute, Knowledge, Label, Page, Schema
from untemplate.labeling.knowledge import DEFAULT_METHOD
from untemplate.labeling.seed.field_ranking import join_fields
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.segments import CorrectedSeedModel

SCHEMA = Schema(
    "shop", {"name": Attribute("name", mandatory=True), "phone": Attribute("phone", type="phone")}
)


def shop(number: int, phone: str) -> Page:
    return Page(
        id=str(number),
        html=f"<html><head><title>Shop {number}a</title></head><body><h1>Shop {number}a</h1>"
        f"<p>Opening hours on request, day {number}</p>{phone}<p>Parking in row {number}</p></body></html>",
    )


def number_of(number: int) -> str:
    return f"(212) 555-01{number:02}"


def knowledge_of(written: str, method: str = DEFAULT_METHOD) -> Knowledge:
    """Seed pages that print `Tel:` before each number; how these are labeled."""
    seeds = [shop(number, f"<div class='tel'>Tel: {number_of(number)}</div>") for number in range(20)]
    labels = [Label(page.id, "phone", written.format(number_of(int(page.id)))) for page in seeds]
    labels += [Label(page.id, "name", f"Shop {page.id}a") for page in seeds]
    return ut.train([(seeds, labels)], SCHEMA, method)


NEW = [
    shop(
        number,
        f"<div class='call'>Tel: {number_of(number)}</div>"
        if number % 2
        else f"<p class='call'><a>Tel: {number_of(number)}</a></p>",
    )
    for number in range(40, 60)
]


@pytest.mark.parametrize("written", ["{}", "Tel: {}"])
def test_what_is_a_link_on_some_pages_is_found_on_all(written: str) -> None:
    """And labeled as on seed sites: with the label in its text or without."""
    (_, phone) = knowledge_of(written).find(NEW)
    assert phone.found
    assert phone.coverage == 1
    assert [node.text for _, node in phone.places] == [written.format(number_of(n)) for n in range(40, 60)]


def test_labels_in_texts_are_left_out_after_loading_too(tmp_path: Path) -> None:
    knowledge = knowledge_of("{}")
    knowledge.save(tmp_path)
    assert Knowledge.load(tmp_path).label(NEW) == knowledge.label(NEW)


def test_rules_leave_out_what_labels_leave_out() -> None:
    rules = ut.learn(NEW, knowledge_of("{}").label(NEW), SCHEMA)
    assert rules.extract_one(NEW[0])["phone"] == number_of(40)


def test_site_knowledge_corrects_labels_of_parts_of_texts() -> None:
    model = knowledge_of("{}", "seed").model
    assert isinstance(model, SeedModel)
    labels = Knowledge(SCHEMA, CorrectedSeedModel(model)).label(NEW)
    assert {label.page for label in labels if label.attribute == "phone"} == {page.id for page in NEW}


def test_rows_together_are_as_sure_as_most_of_them() -> None:
    parts = [(np.array([5, 9, 12], np.int32), 0.9), (np.array([7], np.int32), 0.5)]
    rows, confidence = join_fields(parts)
    assert rows.tolist() == [5, 7, 9, 12]
    assert np.isclose(confidence, 0.8)
