"""The wrapper of a cluster: the same rules in every process, labels by page, and clusters with stray pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.learning.lessons import schema_of, site
from untemplate import Label, LabelError, Page, cluster
from untemplate.learning import SampleTable, group_labels, learn_cluster, learn_sample, learn_stops
from untemplate.rules import Rule, Selector, Wrapper, parsed_page
from untemplate.rules.feature import Feature

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
    by_page, problems = group_labels(labels, site(["<h1>Grill</h1>"]), schema_of(name="text"))
    assert by_page == {"0": [labels[0]], "9": [labels[2]]}
    assert problems == [
        "Ignored labels for 'nmae': schema 'test' has no such attribute (did you mean 'name'?)",
        "9: labeled, but not among the pages",
    ]


def test_labels_of_other_pages_only_are_an_error() -> None:
    with pytest.raises(LabelError, match="none of the labeled pages"):
        group_labels([Label("9", "name", "Bistro")], site(["<h1>Grill</h1>"]), schema_of(name="text"))


def test_reading_stops_before_a_tag_that_follows_all_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsed_page, "MIN_PARTIAL_BYTES", 0)
    footer = '<div class="footer">'
    pages = [Page(html=f"<h1>Book {n}</h1>{footer}" + "<i>Imprint</i>" * 30) for n in range(6)]
    heading = Selector("text()", (Feature("tag", 1, ("h1",)),))
    wrapper = Wrapper("c1", (), 1, "*", {"name": Rule("name", (heading,))})
    assert learn_stops(wrapper, pages, schema_of(name="text")) == (footer,)
    assert learn_stops(wrapper, [], schema_of(name="text")) == ()
