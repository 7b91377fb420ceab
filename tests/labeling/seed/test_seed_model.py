"""Sites that nobody labeled teach each other what is surely found on them."""

from __future__ import annotations

from pathlib import Path

import pytest

import untemplate as ut
from untemplate import Attribute, Knowledge, Label, Page, Schema
from untemplate.labeling.seed.seed_model import SeedModel

SCHEMA = Schema("shop", {"name": Attribute("name", mandatory=True), "grade": Attribute("grade")})
GRADES = ("poor", "fair", "good", "fine")


def make_pages(site: str, caption: str, count: int = 16) -> list[Page]:
    """Return pages of a site that shows a grade after a caption of its own, beside another fact."""
    pages = []
    for number in range(count):
        name, grade = f"Shop {site}{number}", GRADES[number % len(GRADES)]
        facts = f"<li><b>{caption}</b> <i>{grade}</i></li><li><b>Row</b> <i>{number}{site}</i></li>"
        html = f"<title>{name}</title><h1>{name}</h1><ul>{facts}</ul><p>Visit {site} on day {number}</p>"
        pages.append(Page(id=f"{site}{number}", html=html))
    return pages


@pytest.fixture(scope="module")
def model() -> SeedModel:
    pages = make_pages("s", "Grade")
    labels = [Label(page.id, "name", page.title) for page in pages]
    labels += [Label(page.id, "grade", GRADES[number % len(GRADES)]) for number, page in enumerate(pages)]
    return SeedModel.train([(pages, labels)], SCHEMA)


SITES = [make_pages(site, caption) for site, caption in zip("abc", ("Grade", "Grade", "State"), strict=True)]


def test_sites_teach_each_other(model: SeedModel) -> None:
    findings = Knowledge(SCHEMA, model).find_together(SITES)
    for pages, (name, grade) in zip(SITES, findings, strict=True):
        assert {node.text for _, node in grade.places} == set(GRADES)
        assert [node.text for _, node in name.places] == [page.title for page in pages]
        assert all(page in pages for page, _ in name.places)


def test_one_site_alone_is_found_as_without_others(model: SeedModel) -> None:
    (together,) = Knowledge(SCHEMA, model).find_together(SITES[:1])
    alone = {finding.attribute: finding for finding in model.find(SITES[0], SCHEMA)}
    for finding in together:
        assert finding.places == alone[finding.attribute].places
        assert finding.confidence == alone[finding.attribute].confidence


def test_no_sites_are_no_findings(model: SeedModel) -> None:
    assert Knowledge(SCHEMA, model).find_together([]) == []
    assert not model.learn_votes([], SCHEMA)


def test_what_unlabeled_sites_taught_is_saved(model: SeedModel, tmp_path: Path) -> None:
    taught = model.taught_by([model.learn_votes(pages, SCHEMA) for pages in SITES[:2]])
    assert taught.taught["name"] == 3
    ut.Knowledge(SCHEMA, taught).save(tmp_path)
    loaded = ut.Knowledge.load(tmp_path)
    assert loaded.model.taught == taught.taught
    assert loaded.label(SITES[2]) == ut.Knowledge(SCHEMA, taught).label(SITES[2])
