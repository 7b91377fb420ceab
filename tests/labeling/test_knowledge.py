"""One labelled made-up site labels others of its vertical, by both methods; knowledge is kept in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import untemplate as ut
from tests.labeling.truth import details, share_right
from untemplate import Knowledge, KnowledgeError, Label, LabelError, Page
from untemplate.demo import Site, make_site

PAGES = 40


@pytest.fixture(scope="module")
def seed_site() -> Site:
    return make_site("movie", 101, PAGES)


@pytest.fixture(scope="module")
def new_site() -> Site:
    return make_site("movie", 102, PAGES)


@pytest.fixture(scope="module")
def knowledge(seed_site: Site) -> Knowledge:
    return ut.train([(details(seed_site), seed_site.labels)], seed_site.schema)


@pytest.fixture(scope="module")
def paper(seed_site: Site) -> Knowledge:
    return ut.train([(details(seed_site), seed_site.labels)], seed_site.schema, method="paper")


def test_a_new_site_is_labelled(knowledge: Knowledge, new_site: Site) -> None:
    labels = knowledge.label(details(new_site))
    assert {label.attribute for label in labels} >= {"title", "director"}
    assert share_right(labels, new_site) > 0.8
    assert all(label.source == "seed" and 0.2 <= label.confidence <= 1 for label in labels)


def test_labels_become_rules(knowledge: Knowledge, new_site: Site) -> None:
    pages = details(new_site)
    rules = ut.learn(pages, knowledge.label(pages[:20]), new_site.schema)
    titles = [rules.extract_one(page)["title"] for page in pages[20:]]
    true = [new_site.truth[page.id]["title"] for page in pages[20:]]
    assert sum(title in values for title, values in zip(titles, true, strict=True)) > 0.8 * len(true)


def test_labels_pin_their_nodes(knowledge: Knowledge, new_site: Site) -> None:
    pages = {page.id: page for page in details(new_site)}
    for label in knowledge.label(list(pages.values()))[::7]:
        (node,) = pages[label.page].tree.xpath(label.xpath)
        assert label.value is not None
        assert label.value in " ".join(str(node).split())


def test_findings_say_what_was_found(knowledge: Knowledge, new_site: Site) -> None:
    findings = knowledge.find(details(new_site))
    assert [finding.attribute for finding in findings] == list(new_site.schema.attributes)
    title = findings[0]
    assert title.found
    assert title.coverage > 0.5
    assert len(set(title.examples)) == 3


@pytest.mark.parametrize("method", ["knowledge", "paper"])
def test_what_is_saved_labels_alike(
    method: str, request: pytest.FixtureRequest, new_site: Site, tmp_path: Path
) -> None:
    known: Knowledge = request.getfixturevalue(method)
    known.save(tmp_path / "deep" / "knowledge")
    loaded = Knowledge.load(tmp_path / "deep" / "knowledge")
    assert loaded.method == known.method
    assert loaded.schema == known.schema
    assert loaded.label(details(new_site)) == known.label(details(new_site))
    assert sorted(path.name for path in (tmp_path / "deep" / "knowledge").iterdir()) == [
        "arrays.npz",
        "knowledge.json",
    ]


def test_the_paper_finds_what_context_tells(paper: Knowledge, new_site: Site) -> None:
    labels = paper.label(details(new_site))
    assert share_right(labels, new_site) > 0.3


def test_several_seed_sites(seed_site: Site, new_site: Site) -> None:
    sites = [seed_site, make_site("movie", 103, PAGES)]
    known = ut.train([(details(site), site.labels) for site in sites], seed_site.schema)
    assert known.seed_sites("title") == 2
    assert known.seed_sites("nothing") == 0
    assert share_right(known.label(details(new_site)), new_site) > 0.8


@pytest.mark.parametrize("method", ["best", "paper"])
def test_labels_that_are_nowhere(method: ut.labeling.seed.knowledge.Method, seed_site: Site) -> None:
    with pytest.raises(LabelError, match="found on the pages"):
        ut.train(
            [(details(seed_site), [Label("0001.html", "title", "no such text")])], seed_site.schema, method
        )


@pytest.mark.parametrize("method", ["knowledge", "paper"])
def test_odd_pages(method: str, request: pytest.FixtureRequest) -> None:
    known: Knowledge = request.getfixturevalue(method)
    for pages in (
        [],
        [Page(id="a", html="")],
        [Page(id="a", html="<p>x")],
        [Page(id=str(n), html="<p>x") for n in range(5)],
    ):
        assert known.label(pages) == []
        assert not any(finding.found for finding in known.find(pages))


def test_an_attribute_that_the_site_lacks_is_not_labelled(knowledge: Knowledge) -> None:
    """A site of another vertical: recipes have titles and persons, and kinds, but no age rating."""
    other = make_site("recipe", 7, PAGES)
    found = {finding.attribute for finding in knowledge.find(details(other)) if finding.found}
    assert "title" in found
    assert "mpaa_rating" not in found


def test_an_attribute_that_no_seed_site_has_is_found_by_its_name(seed_site: Site) -> None:
    labels = [label for label in seed_site.labels if label.attribute != "genre"]
    known = ut.train([(details(seed_site), labels)], seed_site.schema)
    assert known.seed_sites("genre") == 0
    pages = [
        Page(
            id=str(n),
            html=f"<h1>Film {word}</h1><p>Length: {n} min</p><p>Genres: <b>{word}</b></p><p>{word * 3}</p>",
        )
        for n, word in enumerate(["Drama", "Comedy", "Horror", "Western", "Crime", "War"])
    ]
    finding = next(one for one in known.find(pages) if one.attribute == "genre")
    assert finding.examples == ["Drama", "Comedy", "Horror"]


def test_sites_without_labels_teach_too(seed_site: Site, new_site: Site) -> None:
    others = [details(make_site("movie", number, PAGES)) for number in (104, 105)]
    known = ut.train([(details(seed_site), seed_site.labels)], seed_site.schema, unlabeled=others)
    assert known.seed_sites("title") > 1
    assert share_right(known.label(details(new_site)), new_site) > 0.8


def test_the_paper_learns_from_sites_without_labels(seed_site: Site, new_site: Site) -> None:
    seeds = [(details(seed_site), seed_site.labels)]
    known = ut.train(seeds, seed_site.schema, "paper", unlabeled=[details(new_site)])
    assert known.seed_sites("title") in (1, 2)
    assert len(known.seeds) == 2


def damage(folder: Path, change: str) -> None:
    path = folder / "knowledge.json"
    content = json.loads(path.read_text())
    with np.load(folder / "arrays.npz") as file:
        arrays = dict(file)
    match change:
        case "cut":
            path.write_text(path.read_text()[:100])
            return
        case "foreign":
            content = {"a": 1}
        case "older":
            content["untemplate"] = 1
        case "newer":
            content["untemplate"] = 99
        case "part":
            del content["models"]["title"]["parts"]["words"]
        case "word":
            content["models"]["title"]["extra"] = 1
        case "attribute":
            content["models"]["unknown"] = content["models"].pop("title")
        case "empty":
            content["models"] = {}
        case "array":
            del arrays["models/title/words/weights"]
        case "shape":
            arrays["models/title/profiles"] = arrays["models/title/profiles"][:, :3]
        case "index":
            arrays["models/title/words/indices"] = arrays["models/title/words/indices"] + (1 << 20)
        case "nan":
            arrays["models/title/words/weights"] = arrays["models/title/words/weights"] * np.float32("nan")
        case "pickle":
            arrays["models/title/values"] = np.array([{}], object)
    path.write_text(json.dumps(content))
    np.savez(folder / "arrays.npz", **arrays)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cut", "cannot read the knowledge"),
        ("foreign", "holds no knowledge"),
        ("newer", "newer untemplate"),
        ("older", "older untemplate .* train it anew"),
        ("part", "expected the parts"),
        ("word", "models.title.extra"),
        ("attribute", "none of the schema's attributes"),
        ("empty", "neither models nor seeds"),
        ("array", "is missing"),
        ("shape", "wrong type or shape"),
        ("index", "points beyond"),
        ("nan", "numbers that are none"),
        ("pickle", "cannot read the knowledge"),
    ],
)
def test_a_damaged_folder_is_refused(knowledge: Knowledge, tmp_path: Path, change: str, said: str) -> None:
    knowledge.save(tmp_path)
    damage(tmp_path, change)
    with pytest.raises(KnowledgeError, match=said) as refused:
        Knowledge.load(tmp_path)
    assert str(tmp_path) in str(refused.value)
    assert "\n" not in str(refused.value)


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="cannot read"):
        Knowledge.load(tmp_path / "nowhere")
