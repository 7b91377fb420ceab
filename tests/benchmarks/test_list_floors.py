"""Quick floors of quality on a few real list pages: as in `test_floors`, a floor may rise, not sink."""

import hashlib

import numpy as np
import pytest

from benchmarks.data import list_pages
from benchmarks.measure import hcrf, kinds, lists
from untemplate import list_model
from untemplate.lists.cells import shipped_seam_weights
from untemplate.lists.group_scores import shipped_group_weights
from untemplate.lists.list_table import classify_records

# The first page of each site, with the weights that are shipped.
SITES = (
    *("azlyrics.com", "cnn.com", "drugs.com", "gsmarena.com", "harvard.edu", "irs.gov", "legacy.com"),
    *("nih.gov", "reuters.com", "rt.com", "webmd.com", "yelp.com"),
)
RECORD_FLOOR = 0.937
CELL_FLOOR = 0.925
# Of the names of columns, by the model that is shipped, which knows these pages.
NAME_FLOOR = 0.93
HASH = "924f6616a45ec06a"


@pytest.fixture(scope="module")
def sheets():
    try:
        every = list(list_pages.sheets(SITES))
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    return [sheet for sheet in every if sheet.page.id.endswith("/1.html")]


def test_pages_are_those_the_floors_were_set_on(sheets):
    digest = hashlib.sha256()
    for sheet in sheets:
        digest.update(hashlib.sha256(sheet.page.html + repr(sheet.given).encode()).digest())
    assert digest.hexdigest()[:16] == HASH


def test_records_and_cells(sheets):
    scores = [lists.score_rows(sheet.found.main_list(), sheet.records) for sheet in sheets]
    records, cells, _ = zip(*scores, strict=True)
    assert np.mean([one.f1 for one in records]) >= RECORD_FLOOR
    assert np.mean([one.f1 for one in cells]) >= CELL_FLOOR


def test_names(sheets):
    tally = hcrf.Tally()
    for sheet in sheets:
        one = kinds.lesson(sheet, shipped_group_weights(), shipped_seam_weights())
        group = one.groups[0]
        reading = classify_records(list_model(), "", sheet.found.profile, group, one.lines(group))
        tally.add(one, group.runs, hcrf.leaf_kinds(one, group, reading))
    found = [score.f1 for score in tally.kinds() if score.true]
    assert np.mean(found) >= NAME_FLOOR
