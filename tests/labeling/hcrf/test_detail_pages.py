"""Detail pages of sites that nobody labeled, by the model of blocks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.labeling.hcrf.restaurants import SCHEMA, make_labels, make_pages, values_of
from untemplate import (
    Attribute,
    Finding,
    Knowledge,
    KnowledgeError,
    Label,
    LabelError,
    Page,
    Schema,
    learn,
    train,
)
from untemplate.labeling.hcrf.detail_pages import MIN_CONFIDENCE, read_detail_pages

NEW = 3


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return train([(make_pages(site), make_labels(site)) for site in range(3)], SCHEMA, "hcrf")


def texts(finding: Finding) -> dict[str, str]:
    return {page.id: node.text for page, node in finding.places}


def test_attributes_of_a_new_site(knowledge: Knowledge) -> None:
    findings = {finding.attribute: finding for finding in knowledge.find(make_pages(NEW))}
    assert list(findings) == list(SCHEMA.attributes)
    for name, finding in findings.items():
        assert finding.found
        assert finding.source == "hcrf"
        assert finding.coverage == 1
        assert texts(finding) == {f"{NEW}-{number}": values_of(NEW, number)[name] for number in range(8)}


def test_labels_point_to_nodes_and_teach_rules(knowledge: Knowledge) -> None:
    pages = make_pages(NEW)
    labels = knowledge.label(pages)
    by_id = {page.id: page for page in pages}
    for label in labels:
        assert by_id[label.page].tree.xpath(f"normalize-space({label.xpath})") == label.value
    rules = learn(pages, labels, SCHEMA)
    other = make_pages(NEW, 12)[-1]
    assert rules.extract_one(other)["phone"] == values_of(NEW, 11)["phone"]


@pytest.mark.parametrize("lacking", ["phone", "cuisine"])
def test_what_a_site_lacks_is_not_found(knowledge: Knowledge, lacking: str) -> None:
    found = {one.attribute: one for one in knowledge.find(make_pages(NEW, lacking=lacking))}
    has = {one.attribute: one for one in knowledge.find(make_pages(NEW))}
    assert not found[lacking].found
    assert found[lacking].confidence < has[lacking].confidence
    assert lacking not in {label.attribute for label in knowledge.label(make_pages(NEW, lacking=lacking))}
    assert found["name"].found


def test_pages_that_cannot_be_read_are_left_out(knowledge: Knowledge) -> None:
    odd = [Page(html=b"", id="empty"), Page(html="<p hidden>x", id="hidden"), Page(html="<img>", id="image")]
    odd.append(Page(html="<div>" * 3000 + "deep", id="deep"))
    odd.append(Page(html="<b>a</b>" * 20_000, id="large"))
    findings = knowledge.find([*odd, *make_pages(NEW)])
    assert {one.attribute: texts(one) for one in findings} == {
        one.attribute: texts(one) for one in knowledge.find(make_pages(NEW))
    }
    for pages in ([], odd):
        assert [(one.attribute, one.found) for one in knowledge.find(pages)] == [
            (name, False) for name in SCHEMA.attributes
        ]


def test_a_text_inside_a_picture_is_no_node() -> None:
    """A damaged page may lack the end of an `svg`, which then contains texts that are not drawn."""
    html = "<body><h1>Chez Nous</h1><p>5 Elm St</p><svg><path d='M1'>(888) 555-7565</path></svg></body>"
    (page,) = read_detail_pages([Page(html=html)])
    assert {node.text for node in page.nodes.values()} == {"Chez Nous", "5 Elm St"}


def test_texts_for_browsers_without_scripts_do_not_hide_the_others() -> None:
    """Blocks exclude `noscript`, nodes include it; each leaf still gets its own node."""
    html = "<body><noscript>Turn on scripts</noscript><h1>Chez <i>Nous</i> Deux</h1><p>5 Elm St<br>Bonn</p></body>"
    (page,) = read_detail_pages([Page(html=html)])
    texts = {page.scene.texts[leaf]: node.text for leaf, node in page.nodes.items()}
    assert texts == {text: text for text in ("Chez", "Nous", "Deux", "5 Elm St", "Bonn")}


def test_one_page_alone(knowledge: Knowledge) -> None:
    for finding in knowledge.find(make_pages(NEW, 1)):
        assert finding.found == (f"{NEW}-0" in texts(finding) and finding.confidence >= MIN_CONFIDENCE)
        assert all(text in values_of(NEW, 0).values() for text in texts(finding).values() if finding.found)


def test_the_same_after_a_journey_through_files(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.save(tmp_path)
    loaded = Knowledge.load(tmp_path)
    assert loaded.method == "hcrf"
    assert loaded.seed_sites("phone") == 3
    before, after = (one.label(make_pages(NEW)) for one in (knowledge, loaded))
    assert [replace(label, confidence=0) for label in after] == [
        replace(label, confidence=0) for label in before
    ]
    assert [label.confidence for label in after] == pytest.approx(
        [label.confidence for label in before], abs=0.02
    )


def test_broken_files_are_refused(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.save(tmp_path)
    with np.load(tmp_path / "hcrf.npz") as file:
        arrays = {name: file[name] for name in file.files}
    short = {name: array[:1] for name, array in arrays.items()}
    np.savez(tmp_path / "hcrf.npz", **short)
    with pytest.raises(KnowledgeError, match="wrong type or shape"):
        Knowledge.load(tmp_path)
    np.savez(tmp_path / "hcrf.npz", **arrays)
    content = json.loads((tmp_path / "hcrf.json").read_text("utf-8"))
    content["details"]["attributes"][0] = "owner"
    (tmp_path / "hcrf.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(KnowledgeError, match="no site taught 'owner'"):
        Knowledge.load(tmp_path)
    content["taught"]["owner"] = 1
    (tmp_path / "hcrf.json").write_text(json.dumps(content), "utf-8")
    with pytest.raises(KnowledgeError, match="'owner' is none of the schema's attributes"):
        Knowledge.load(tmp_path)


def test_labels_by_xpath_teach_the_same() -> None:
    pages = make_pages(0)
    paths = {"name": "//h1", "cuisine": "//tr[1]/td[2]/text()", "phone": "//tr[2]/td[2]"}
    labels = [replace(label, value=None, xpath=paths[label.attribute]) for label in make_labels(0)]
    by_value, by_path = (train([(pages, own)], SCHEMA, "hcrf") for own in (make_labels(0), labels))
    new = make_pages(4)
    assert by_path.label(new) == by_value.label(new)


def test_labels_that_are_nowhere_are_told() -> None:
    labels = [replace(label, value="nowhere") for label in make_labels(0)]
    labels.append(replace(labels[0], value=None, xpath="//h1["))
    with pytest.raises(LabelError, match="no label of schema 'restaurant' is found"):
        train([(make_pages(0), labels)], SCHEMA, "hcrf")


def test_an_attribute_that_no_site_taught_is_not_found() -> None:
    labels = [label for label in make_labels(0) if label.attribute != "phone"]
    knowledge = train([(make_pages(0), labels)], SCHEMA, "hcrf")
    assert knowledge.seed_sites("phone") == 0
    assert not next(one for one in knowledge.find(make_pages(4)) if one.attribute == "phone").found


def test_other_methods_need_other_knowledge(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.save(tmp_path / "hcrf")
    with pytest.raises(KnowledgeError, match="with --method seed"):
        Knowledge.load(tmp_path / "hcrf", "seed")
    train([(make_pages(0), make_labels(0))], SCHEMA).save(tmp_path / "seed")
    with pytest.raises(KnowledgeError, match="with --method hcrf"):
        Knowledge.load(tmp_path / "seed", "hcrf")


def test_all_values_of_an_attribute_that_has_many() -> None:
    schema = Schema("book", {name: Attribute(name, many=name == "author") for name in ("title", "author")})
    people = ("Ann Lee", "Bob Ray", "Cid Fox", "Dan Orr", "Eva Zorn")

    def book(number: int) -> tuple[Page, list[Label]]:
        authors = [f"{people[(number + n) % 5]} {number}{n}" for n in range(1 + number % 3)]
        links = ", ".join(f"<a>{author}</a>" for author in authors)
        html = f"<h1>Book {number}</h1><p>Authors: {links}</p><div>Sold here since {1990 + number}</div>"
        labels = [Label(f"{number}", "author", author) for author in authors]
        return Page(html=html, id=f"{number}"), [Label(f"{number}", "title", f"Book {number}"), *labels]

    seed, new = [book(number) for number in range(9)], [book(number) for number in range(20, 29)]
    knowledge = train([([page for page, _ in seed], [one for _, own in seed for one in own])], schema, "hcrf")
    found = next(one for one in knowledge.find([page for page, _ in new]) if one.attribute == "author")
    true = [label.value for _, own in new for label in own if label.attribute == "author"]
    assert [node.text for _, node in found.places] == true
