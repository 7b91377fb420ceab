"""Paths and names are accepted where objects are, and objects show themselves in a line or a table."""

from __future__ import annotations

from pathlib import Path

import pytest

import untemplate as ut
from untemplate.demo import make_site

HTML = "<h1>{name}</h1><p>Tel: <b>{phone}</b></p>"
PLACES = {"Grill": "555-0100", "Bistro": "555-0111", "<i>Diner": "555-0122"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, (name, phone) in enumerate(PLACES.items()):
        text = HTML.format(name=name.replace("<", "&lt;"), phone=phone)
        (tmp_path / f"{number}.html").write_text(text)
    return tmp_path


@pytest.fixture
def rules(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> ut.Rules:
    labels = tmp_path_factory.mktemp("labels") / "labels.jsonl"
    labels.write_text('{"page": "0.html", "labels": {"name": "Grill", "phone": "555-0100"}}\n')
    return ut.learn(str(folder), str(labels), "restaurant")


def test_paths_and_names(folder: Path, rules: ut.Rules) -> None:
    records = list(rules.extract(folder))
    assert [record["phone"] for record in records] == list(PLACES.values())
    [cluster] = ut.cluster(folder)
    assert len(cluster.pages) == 3
    with pytest.raises(ut.SourceError, match="no such file or folder"):
        ut.cluster("no such folder")
    with pytest.raises(TypeError, match="expected pages, or the path of a source such as a folder, not int"):
        ut.cluster(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected pages, not a list of str: make each with Page"):
        ut.cluster(["a.html", "b.html"])  # type: ignore[list-item]


def test_every_stage_takes_paths(
    folder: Path, rules: ut.Rules, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("rules") / "rules.json"
    rules.save(file)
    assert ut.watch(str(file), str(folder)).alarms == []
    assert repr(ut.heal(file, folder)) == repr(rules)
    assert rules.extract_one(folder / "1.html")["phone"] == "555-0111"
    assert rules.extract_one("<h1>Cafe</h1><p>Tel: <b>555-0133</b></p>")["phone"] == "555-0133"
    assert {page.id for page in ut.sample(str(folder))} <= {"0.html", "1.html", "2.html"}
    assert list(ut.find_records(folder / "0.html")) == []
    with pytest.raises(ut.SourceError, match="there is no such file; give a page, its HTML or the path"):
        ut.find_records("nothing.html")
    with pytest.raises(TypeError, match="expected a page, its HTML or the path of its file, not int"):
        rules.extract_one(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected one cluster, not all of a site"):
        ut.sample(ut.cluster(folder))  # type: ignore[arg-type]


def test_knowledge_from_paths(tmp_path: Path) -> None:
    site = make_site("book", 7, 12)
    pages = tmp_path / "pages"
    pages.mkdir()
    for page in site.pages:
        (pages / page.id).write_bytes(page.html)
    ut.write_labels(site.labels, tmp_path / "labels.jsonl")
    knowledge = ut.train([(pages, tmp_path / "labels.jsonl")], "book")
    assert {label.attribute for label in knowledge.label(str(pages))} >= {"title"}


def test_html_alone_is_a_page(rules: ut.Rules) -> None:
    page = ut.Page(HTML.format(name="Cafe", phone="555-0133"))
    assert page.url == ""
    assert rules.extract_one(page)["phone"] == "555-0133"


def test_an_unknown_attribute_names_the_closest(folder: Path, rules: ut.Rules) -> None:
    record = next(rules.extract(folder))
    with pytest.raises(KeyError, match="did you mean 'phone'"):
        record["fone"]
    assert record["address"] is None


def test_what_objects_look_like(folder: Path, rules: ut.Rules) -> None:
    record = list(rules.extract(folder))[2]
    assert repr(record).startswith("Record('2.html', ")
    assert "phone='555-0122'" in repr(record)
    assert "&lt;i&gt;Diner" in record._repr_html_()
    assert repr(rules) == "Rules(restaurant: name, address, phone, cuisine; 1 cluster)"
    assert "<td>phone</td><td>the text in a `b`" in rules._repr_html_()
    assert rules.wrappers[0].rules["phone"]._repr_html_().startswith("<p><b>phone</b>: the text in a `b`")
    assert repr(ut.cluster(folder)[0]).startswith("Cluster(c1: 3 pages, ")
    assert "<td>c1</td><td>3</td>" in ut.cluster(folder)._repr_html_()
    rows = ut.find_records(
        ut.Page("<ul>" + "".join(f"<li><a href=/{n}>Tea {n}</a> ${n}" for n in range(1, 9)))
    )
    assert repr(rows[0]).startswith("Row('Tea 1 $1', ")
    assert rows._repr_html_().count("<tr>") == 9
    seed = make_site("movie", 101, 8)
    assert len(repr(ut.train([(seed.pages, seed.labels)], seed.schema))) < 400


def test_records_as_a_frame(folder: Path, rules: ut.Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    records = list(rules.extract(folder))
    assert records[0].to_dict() == {
        "url": "0.html",
        "page": "0.html",
        "cluster": "c1",
        "address": None,
        "cuisine": None,
        "name": "Grill",
        "phone": "555-0100",
    }
    assert list(ut.to_frame(records)["phone"]) == list(PLACES.values())
    monkeypatch.setattr("untemplate.output.frames.find_spec", lambda name: None)
    table = ut.to_frame(records)
    assert table.column("phone").to_pylist() == list(PLACES.values())


def test_several_values_make_a_column_of_lists() -> None:
    def value(text: str) -> ut.Value:
        return ut.Value(text, text, "/p", "a#1")

    records = [
        ut.Record("u1", "1", "c1", {"tags": [value("a"), value("b")]}),
        ut.Record("u2", "2", "c1", {"tags": [value("c")]}),
    ]
    assert list(ut.to_frame(records)["tags"]) == [["a", "b"], ["c"]]
