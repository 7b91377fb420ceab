"""One labeled made-up site labels others of its vertical, by both methods; knowledge is kept in a folder."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import untemplate as ut
from tests.labeling.truth import details, share_right
from untemplate import Knowledge, KnowledgeError, Label, LabelError, Page
from untemplate.demo import Site, make_site
from untemplate.labeling.seed.paper_model import PaperModel

PAGES = 24


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


@pytest.fixture(scope="module")
def labels(knowledge: Knowledge, new_site: Site) -> list[Label]:
    """The labels that the knowledge gives to the new site."""
    return knowledge.label(details(new_site))


def test_a_new_site_is_labeled(labels: list[Label], new_site: Site) -> None:
    assert {label.attribute for label in labels} >= {"title", "director"}
    assert share_right(labels, new_site) > 0.8
    assert all(label.source == "auto" and 0.2 <= label.confidence <= 1 for label in labels)


def test_labels_become_rules(labels: list[Label], new_site: Site) -> None:
    pages = details(new_site)
    labeled = {page.id for page in pages[:8]}
    rules = ut.learn(pages, [label for label in labels if label.page in labeled], new_site.schema)
    titles = [rules.extract_one(page)["title"] for page in pages[8:]]
    true = [new_site.truth[page.id]["title"] for page in pages[8:]]
    assert sum(title in values for title, values in zip(titles, true, strict=True)) > 0.8 * len(true)


def test_labels_pin_their_nodes(labels: list[Label], new_site: Site) -> None:
    pages = {page.id: page for page in details(new_site)}
    for label in labels[::7]:
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
    pages = details(new_site)[:12]
    assert loaded.label(pages) == known.label(pages)
    files = {path.name for path in (tmp_path / "deep" / "knowledge").iterdir()}
    name = "seed" if known.method == "auto" else known.method
    assert files >= {"knowledge.json", f"{name}.json", f"{name}.npz"}


def test_the_paper_finds_what_context_tells(paper: Knowledge, new_site: Site) -> None:
    labels = paper.label(details(new_site))
    assert share_right(labels, new_site) > 0.3


def test_several_seed_sites(seed_site: Site, new_site: Site) -> None:
    sites = [seed_site, make_site("movie", 103, PAGES)]
    known = ut.train([(details(site), site.labels) for site in sites], seed_site.schema)
    assert known.seed_sites("title") == 2
    assert known.seed_sites("nothing") == 0
    assert share_right(known.label(details(new_site)), new_site) > 0.8


@pytest.mark.parametrize("method", ["seed", "paper"])
def test_labels_that_are_nowhere(method: str, seed_site: Site) -> None:
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


def test_an_attribute_that_the_site_lacks_is_not_labeled(knowledge: Knowledge) -> None:
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
    assert isinstance(known.model, PaperModel)
    assert len(known.model.seeds) == 2


def damage(folder: Path, change: str) -> None:
    head = folder / "knowledge.json"
    top, model = json.loads(head.read_text()), json.loads((folder / "seed.json").read_text())
    with np.load(folder / "seed.npz") as file:
        arrays = dict(file)
    match change:
        case "cut":
            head.write_text(head.read_text()[:100])
            return
        case "cut array":
            whole = (folder / "seed.npz").read_bytes()
            (folder / "seed.npz").write_bytes(whole[: len(whole) // 2])
            return
        case "broken array":
            whole = bytearray((folder / "seed.npz").read_bytes())
            whole[100:400] = bytes(300)
            (folder / "seed.npz").write_bytes(bytes(whole))
            return
        case "no model":
            (folder / "seed.json").unlink()
            return
        case "deep":
            head.write_text("[" * 100_000)
            return
        case "foreign":
            top = {"a": 1}
        case "older":
            top["untemplate"] = 2
        case "newer":
            top["untemplate"] = 99
        case "method":
            top["method"] = "oracle"
        case "part":
            del model["attributes"]["title"]["parts"]["words"]
        case "word":
            model["attributes"]["title"]["extra"] = 1
        case "attribute":
            top["schema"]["attributes"][0]["name"] = "unknown"
        case "empty":
            model["attributes"] = {}
        case "array":
            del arrays["title/words/weights"]
        case "shape":
            arrays["title/profiles"] = arrays["title/profiles"][:, :3]
        case "index":
            arrays["title/words/indices"] = arrays["title/words/indices"] + (1 << 20)
        case "nan":
            arrays["title/words/weights"] = arrays["title/words/weights"] * np.float32("nan")
        case "pickle":
            arrays["title/values"] = np.array([{}], object)
    head.write_text(json.dumps(top))
    (folder / "seed.json").write_text(json.dumps(model))
    np.savez(folder / "seed.npz", **arrays)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("cut", "cannot read the knowledge"),
        ("cut array", "cannot read the knowledge"),
        ("broken array", "cannot read the knowledge"),
        ("no model", "cannot read the knowledge"),
        ("deep", "cannot read the knowledge"),
        ("foreign", "contains no knowledge"),
        ("method", "trained by method 'oracle', which this untemplate does not have"),
        ("newer", "newer untemplate"),
        ("older", "older untemplate .* train it anew"),
        ("part", "expected the parts"),
        ("word", "attributes.title.extra"),
        ("attribute", "none of the schema's attributes"),
        ("empty", "has no attributes"),
        ("array", "is missing"),
        ("shape", "wrong type or shape"),
        ("index", "points beyond"),
        ("nan", "infinity or NaN"),
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


def test_only_registered_methods(knowledge: Knowledge, seed_site: Site, tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="no method 'oracle'; choose one of auto, seed, paper"):
        ut.train([(details(seed_site), seed_site.labels)], seed_site.schema, "oracle")
    knowledge.save(tmp_path)
    with pytest.raises(KnowledgeError, match="no method 'oracle'"):
        Knowledge.load(tmp_path, "oracle")


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(KnowledgeError, match="cannot read"):
        Knowledge.load(tmp_path / "nowhere")
