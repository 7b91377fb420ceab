"""The wrapper of a cluster: the same rules in every process, labels by page, and clusters with stray pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.learning.lessons import schema_of, site
from untemplate import Attribute, Label, LabelError, Page, Schema, cluster
from untemplate.clustering import cluster as cluster_pages
from untemplate.learning import (
    SampleTable,
    cluster_labeled,
    group_labels,
    learn_cluster,
    learn_parts,
    learn_sample,
)

LEARN_SITE = """
import sys
import untemplate as ut
from untemplate.demo import make_site

site = make_site("book", seed=7, pages=40)
page, truth = next(iter(site.truth.items()))
labels = []
for attribute, values in truth.items():
    labels += [ut.Label(page, attribute, value) for value in values]
ut.learn(site.pages, labels, site.schema).save(sys.argv[1])
"""


def test_rules_do_not_depend_on_the_order_of_sets(tmp_path: Path) -> None:
    """Python orders sets of strings differently in each process; ties between features must not follow that order."""
    contents = []
    for seed in ("4", "6"):
        rules = tmp_path / f"{seed}.json"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", LEARN_SITE, str(rules)], env=environment, check=True)
        contents.append(rules.read_bytes())
    assert contents[0] == contents[1]


def test_a_table_is_learned_from_again_and_again_with_the_rules_of_the_whole_cluster() -> None:
    pages = site([f"<h1>Cafe {number}</h1><p>Tel: <b>555-010{number}</b></p>" for number in range(4)])
    names, phones = Label("0", "name", "Cafe 0"), Label("0", "phone", "555-0100")
    schema = schema_of(name="text", phone="phone")
    wrapper = learn_cluster(cluster(pages)[0], {"0": [names, phones]}, schema).wrapper
    table = SampleTable(pages)
    for label in (names, phones):
        learned = learn_sample(table, {pages[0]: [label]}, schema)
        assert learned.rules == {label.attribute: wrapper.rules[label.attribute]}
        assert learned.static == wrapper.static


def test_labels_that_cannot_be_used_are_explained() -> None:
    labels = [Label("0", "name", "Grill"), Label("0", "nmae", "Grill"), Label("9", "name", "Bistro")]
    schema = schema_of(name="text")
    by_page, problems = group_labels(labels, schema)
    assert by_page == {"0": [labels[0]], "9": [labels[2]]}
    assert problems == [
        "Ignored labels for 'nmae': schema 'test' has no such attribute (did you mean 'name'?)",
    ]
    clustered = cluster_labeled(site(["<h1>Grill</h1>"]), by_page, schema)
    assert clustered.problems == ["9: labeled, but not among the pages"]
    assert [page.id for page in clustered.labeled[0].pages] == ["0"]


def test_labels_of_other_pages_only_are_an_error() -> None:
    with pytest.raises(LabelError, match="none of the labeled pages"):
        cluster_labeled(
            site(["<h1>Grill</h1>"]), {"9": [Label("9", "name", "Bistro")]}, schema_of(name="text")
        )


def pages_with_and_without_a_name(named: int, bare: int) -> list[Page]:
    """Return pages of two kinds that structure alone does not tell apart."""
    texts = [f"<h1>Tea {n}</h1><p>{n}</p>" for n in range(named)] + ["<h1></h1><p>about</p>"] * bare
    return [Page(f"http://tea.example/{n}", html, str(n)) for n, html in enumerate(texts)]


def test_a_cluster_whose_pages_lack_every_mandatory_attribute_is_split() -> None:
    schema = Schema("tea", {"name": Attribute("name", mandatory=True)})
    [cluster] = cluster_pages(pages_with_and_without_a_name(10, 10))
    labels = {"0": [Label("0", "name", "Tea 0")]}
    [(part, learned)], others = learn_parts(cluster, labels, schema)
    assert {page.id for page in part.pages} == {str(n) for n in range(10)}
    assert len(learned.wrapper.rules) == 1
    assert sum(len(other.pages) for other in others) == 10
    assert len({part.id, *(other.id for other in others)}) == 1 + len(others)


def test_a_cluster_with_few_such_pages_is_not_split() -> None:
    schema = Schema("tea", {"name": Attribute("name", mandatory=True)})
    [cluster] = cluster_pages(pages_with_and_without_a_name(10, 2))
    parts, others = learn_parts(cluster, {"0": [Label("0", "name", "Tea 0")]}, schema)
    assert [part for part, _ in parts] == [cluster]
    assert others == []


def test_labels_separate_pages_of_different_kinds() -> None:
    schema = Schema("tea", {"name": Attribute("name", mandatory=True)})
    labels = {"0": [Label("0", "name", "Tea 0")], "15": [Label("15", "name", None)]}
    clustered = cluster_labeled(pages_with_and_without_a_name(10, 10), labels, schema)
    assert len(clustered.labeled) == 2
    assert {page.id for page in clustered.labeled[0].pages}.isdisjoint(
        page.id for page in clustered.labeled[1].pages
    )


def test_a_labeled_page_without_tags_is_named() -> None:
    """It belongs to no template, which is something else than not being there."""
    schema = schema_of(name="text")
    given = [*site(["<h1>Grill</h1>"]), Page("http://shop.example/x", b"\x93\x07 no page", "x")]
    labels = {name: [Label(name, "name", "Grill")] for name in ("0", "x")}
    assert cluster_labeled(given, labels, schema).problems == [
        "x: labeled, but it has too few tags to belong to a template"
    ]
    with pytest.raises(LabelError, match=r"none of the labeled pages has enough tags .*, such as x$"):
        cluster_labeled(given, {"x": labels["x"]}, schema)
