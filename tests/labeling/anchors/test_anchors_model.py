"""Labels of a new site by scored site-level extractors: trained, saved, loaded, from Python and the shell."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import untemplate as ut
from tests.labeling.truth import details, share_right
from untemplate import Attribute, Knowledge, KnowledgeError, LabelError, Page, Schema
from untemplate.demo import Site, make_site
from untemplate.labeling.anchors import AnchorsModel
from untemplate.labeling.anchors.extractor_options import find_options
from untemplate.labeling.anchors.extractor_scoring import MAX_ATTRIBUTES, choose_extractors
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.schema import Hints

PAGES = 24


@pytest.fixture(scope="module")
def seeds() -> list[Site]:
    return [make_site("restaurant", seed, PAGES) for seed in (101, 102, 103)]


@pytest.fixture(scope="module")
def new_site() -> Site:
    return make_site("restaurant", 104, PAGES)


@pytest.fixture(scope="module")
def knowledge(seeds: list[Site]) -> Knowledge:
    return ut.train([(details(site), site.labels) for site in seeds], seeds[0].schema, "anchors")


@pytest.fixture(scope="module")
def model(knowledge: Knowledge) -> AnchorsModel:
    assert isinstance(knowledge.model, AnchorsModel)
    return knowledge.model


def test_a_new_site_is_labeled_by_anchors(knowledge: Knowledge, new_site: Site) -> None:
    labels = knowledge.label(details(new_site))
    assert knowledge.method == "anchors"
    whole = [
        label for label in labels if label.attribute != "address"
    ]  # which the site parts over several nodes
    assert {label.attribute for label in whole} == {"name", "phone", "cuisine"}
    assert share_right(whole, new_site) > 0.9
    assert all(label.source == "anchors" and 0.2 <= label.confidence <= 1 for label in labels)


def test_labels_of_anchors_become_rules(knowledge: Knowledge, new_site: Site) -> None:
    pages = details(new_site)
    rules = ut.learn(pages, knowledge.label(pages), new_site.schema)
    names = [(page.id, rules.extract_one(page)["name"]) for page in pages]
    assert sum(name in new_site.truth[page]["name"] for page, name in names) > 0.8 * len(names)


def test_anchors_are_saved_and_loaded(knowledge: Knowledge, new_site: Site, tmp_path: Path) -> None:
    hints = {"phone": Hints(like="phone", near=("name",)), "cuisine": Hints(words=("Thai",), after=("name",))}
    known = replace(knowledge, schema=replace(knowledge.schema, hints=hints))
    known.save(tmp_path)
    loaded = Knowledge.load(tmp_path)
    assert loaded.method == "anchors"
    assert loaded.schema == known.schema
    assert loaded.label(details(new_site)) == known.label(details(new_site))


def test_other_models_and_the_papers_features(seeds: list[Site], new_site: Site, tmp_path: Path) -> None:
    sites = [(details(site), site.labels) for site in seeds[:2]]
    knowledge = ut.train(sites, seeds[0].schema, "anchors", features="paper", ranker="NN")
    knowledge.save(tmp_path)
    loaded = Knowledge.load(tmp_path)
    assert isinstance(loaded.model, AnchorsModel)
    assert (loaded.model.features, loaded.model.ranker) == ("paper", "NN")
    assert loaded.label(details(new_site)) == knowledge.label(details(new_site))


def test_options_that_a_method_lacks_are_refused(seeds: list[Site]) -> None:
    with pytest.raises(KnowledgeError, match=r"'seed' has no option 'ranker'.*anchors"):
        ut.train([], seeds[0].schema, "seed", ranker="NN")
    with pytest.raises(KnowledgeError, match=r"no features 'all'; choose one of ours, paper"):
        ut.train([], seeds[0].schema, "segments", features="all")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "oracle"}, "at model"),
        ({"features": "other"}, "at features"),
        ({"features": "paper"}, "wrong type or shape"),
        ({"orders": [["name", "phone"]]}, "at orders"),
    ],
)
def test_broken_anchors_are_refused(
    knowledge: Knowledge, tmp_path: Path, change: dict[str, object], said: str
) -> None:
    knowledge.save(tmp_path)
    file = tmp_path / "anchors.json"
    content = json.loads(file.read_text("utf-8"))
    content.update(change)
    file.write_text(json.dumps(content), "utf-8")
    with pytest.raises(KnowledgeError, match=said):
        Knowledge.load(tmp_path)


def test_one_site_is_too_few(seeds: list[Site]) -> None:
    with pytest.raises(LabelError, match="two sites"):
        ut.train([(details(seeds[0]), seeds[0].labels)], seeds[0].schema, "anchors")


def test_sites_must_have_something_in_common(seeds: list[Site]) -> None:
    one, other = (
        (details(site), [label for label in site.labels if label.attribute == name])
        for site, name in zip(seeds, ("name", "phone"), strict=False)
    )
    with pytest.raises(LabelError, match="in common"):
        ut.train([one, other], seeds[0].schema, "anchors")


def test_knowledge_of_anchors_can_be_used_as_of_seed_sites(
    knowledge: Knowledge, new_site: Site, tmp_path: Path
) -> None:
    knowledge.save(tmp_path)
    labels = Knowledge.load(tmp_path, "seed").label(details(new_site))
    assert {label.source for label in labels} == {"seed"}


def test_knowledge_without_anchors_says_so(model: AnchorsModel, seeds: list[Site], tmp_path: Path) -> None:
    Knowledge(seeds[0].schema, model.seed).save(tmp_path)
    with pytest.raises(KnowledgeError, match="--method anchors"):
        Knowledge.load(tmp_path, "anchors")


def test_no_pages_no_labels(knowledge: Knowledge) -> None:
    assert knowledge.label([]) == []
    assert knowledge.label([Page(id=str(n), html=b"<html></html>") for n in range(6)]) == []


def test_hints_say_near_what_and_on_which_side(
    knowledge: Knowledge, model: AnchorsModel, new_site: Site
) -> None:
    site = SiteFields(details(new_site), knowledge.schema)

    def options(hints: Hints) -> int:
        schema = replace(knowledge.schema, hints={"name": hints})
        return int(
            find_options(site, schema, model.seed.attributes, model.seed.rankers)["name"]
            .columns["by offset"]
            .sum()
        )

    everywhere, near = options(Hints()), options(Hints(near=("phone",)))
    assert 0 < near < everywhere
    assert options(Hints(near=("phone",), after=("phone",))) < near
    assert options(Hints(near=("phone",), before=("phone",))) < near


def test_many_attributes_are_decided_in_blocks(
    knowledge: Knowledge, model: AnchorsModel, new_site: Site
) -> None:
    site = SiteFields(details(new_site), knowledge.schema)
    options = find_options(site, knowledge.schema, model.seed.attributes, model.seed.rankers)
    many = {f"{name} {copy}": one for copy in range(MAX_ATTRIBUTES) for name, one in options.items()}
    found = choose_extractors(many, model.orders, model.scorer)
    assert len(many) > MAX_ATTRIBUTES
    assert set(found) <= set(many)
    alone = choose_extractors({"name": options["name"]}, model.orders, model.scorer)["name"]
    assert np.isin(alone.rows, chosen_rows(options["name"].rows)).all()


def chosen_rows(
    rows: np.ndarray[tuple[int, int], np.dtype[np.int32]],
) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.unique(rows[rows >= 0])


def test_schema_files_have_hints(tmp_path: Path) -> None:
    file = tmp_path / "event.toml"
    file.write_text(
        'name = "event"\n[attributes.date]\n[attributes.title]\n[hints.date]\nlike = "date"\n'
        '[hints.title]\nwords = ["Book fair"]\nafter = ["date"]\n',
        "utf-8",
    )
    schema = Schema.load(file)
    assert schema.hints == {"date": Hints(like="date"), "title": Hints(words=("Book fair",), after=("date",))}
    assert schema.attributes["date"] == Attribute("date")


@pytest.mark.parametrize(
    ("hints", "said"),
    [
        ('[hints.date]\nlike = "sonnet"', "hints.date.like"),
        ('[hints.date]\npattern = "("', "RE2"),
        ('[hints.place]\nlike = "date"', "'place'"),
        ('[hints.date]\nafter = ["place"]', "'place'"),
        ('[hints.date]\nbefore = ["place"]', "'place'"),
    ],
)
def test_wrong_hints_are_told(tmp_path: Path, hints: str, said: str) -> None:
    file = tmp_path / "event.toml"
    file.write_text(f'name = "event"\n[attributes.date]\n{hints}\n', "utf-8")
    with pytest.raises(ut.SchemaError, match=said):
        Schema.load(file)
