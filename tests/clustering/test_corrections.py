"""A person corrects clusters, and learning follows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from untemplate import (
    Attribute,
    InputError,
    Label,
    LabelError,
    Page,
    Rules,
    Schema,
    cluster,
    heal,
    learn,
    read_labels,
    write_labels,
)
from untemplate.cli import cli
from untemplate.clustering import correct_clusters, name_templates
from untemplate.clustering.clusters import COMPARED_PAGES
from untemplate.labeling import read_templates

DETAIL = "<h1>{0}</h1><dl><dt>Tel<dd>555-010{0}</dl>"
LIST = "<ul>" + "<li><a href=/{0}>x</a>" * 9 + "</ul>"


def make_pages(details: int = 8, lists: int = 4) -> list[Page]:
    pages = [Page(f"http://a.com/item/{n}", DETAIL.format(n), id=f"d{n}") for n in range(details)]
    return pages + [Page(f"http://a.com/list/{n}", LIST.format(n), id=f"l{n}") for n in range(lists)]


def ids(pages: list[Page]) -> set[str]:
    return {page.id for page in pages}


def test_merged_clusters_are_one_template() -> None:
    pages = make_pages()
    found = cluster(pages)
    assert [one.size for one in found] == [8, 4]
    names = correct_clusters(found, merged=[["c1", "c2"]])
    assert [one.size for one in cluster(pages, templates=names)] == [12]


def test_a_page_takes_the_pages_like_it_to_a_template_of_its_own() -> None:
    extra = [
        Page(f"http://a.com/item/{n}", DETAIL.format(n) + "<p><b>sold</b>", id=f"s{n}") for n in range(3)
    ]
    pages = [*make_pages(), *extra]
    assert [one.size for one in cluster(pages)] == [11, 4]
    found = cluster(pages, templates=correct_clusters(cluster(pages), split=["s1"]))
    assert sorted(one.size for one in found) == [3, 4, 8]
    assert ids(extra) in [ids(one.pages) for one in found]


def test_names_keep_the_clusters_of_a_site_with_many_pages() -> None:
    pages = make_pages(details=COMPARED_PAGES, lists=50)
    names = correct_clusters(cluster(pages), merged=[["c2", "c1"]])
    assert [one.size for one in cluster(pages, templates=names)] == [len(pages)]
    apart = {page.id: page.id[0] + str(int(page.id[1:]) % 2) for page in pages}
    found = cluster(pages, templates=apart)
    assert [one.size for one in found] == [150, 150, 25, 25]
    assert len({apart[page.id] for page in found[0].pages}) == 1
    assert len(name_templates(found)) == len(pages)


def test_a_named_template_may_be_small() -> None:
    pages = make_pages(details=300, lists=0)
    found = cluster(pages, templates={"d7": "odd", "d8": "usual"})
    assert len(found) == 2, "below the usual limit of 3 pages"
    assert len(found[-1].pages) == 1


def test_higher_similarity_never_makes_fewer_clusters() -> None:
    pages = make_pages()
    counts = [len(cluster(pages, similarity=value)) for value in (0.0, 0.5, 0.7, 0.9, 1.0)]
    assert counts == sorted(counts)
    assert counts[0] == 1


@pytest.mark.parametrize(
    ("merged", "split", "message"),
    [
        ([["c1", "c7"]], [], "c7: no such cluster; there are c1, c2"),
        ([], ["d77"], "d77: no cluster has a page with this id or URL; did you mean d7?"),
    ],
)
def test_errors_name_what_there_is(merged: list[list[str]], split: list[str], message: str) -> None:
    with pytest.raises(InputError) as error:
        correct_clusters(cluster(make_pages()), merged, split)
    assert str(error.value) == message


def test_labels_know_the_templates(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    labels = [Label("d1", "phone", "555-0101")]
    write_labels(labels, path, {"d1": "c1", "l1": "c2"})
    assert read_labels(path) == labels
    assert read_templates(path) == {"d1": "c1", "l1": "c2"}
    path.write_text('{"page": "d1", "template": 7}')
    with pytest.raises(LabelError, match='line 1: "template" must be a text'):
        read_templates(path)


def test_rules_follow_the_templates_that_a_person_named(tmp_path: Path) -> None:
    pages = make_pages()
    path = tmp_path / "labels.jsonl"
    write_labels([Label("d1", "phone", "555-0101")], path, dict.fromkeys(ids(pages), "all"))
    assert len(learn(pages, str(path)).wrappers) == 1
    assert len(learn(pages, read_labels(path)).wrappers) == 2


def test_the_command_corrects_and_keeps_labels(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for page in make_pages():
        (site / f"{page.id}.html").write_bytes(page.html)
    labels = tmp_path / "labels.jsonl"
    write_labels([Label("d1.html", "phone", "555-0101")], labels)
    run = CliRunner().invoke(cli, ["cluster", str(site), "--merge", "c1,c2", "-o", str(labels), "--json"])
    assert run.exit_code == 0, run.output
    assert read_labels(labels) == [Label("d1.html", "phone", "555-0101")]
    assert set(read_templates(labels).values()) == {"c1"}
    sample = CliRunner().invoke(cli, ["sample", str(site), "--labels", str(labels), "--json"])
    assert len(json.loads(sample.stdout)) == 1


SHORT = "<h1>Inn {0}</h1><p>Tel <b>555-010{0}</b>"
LONG = "<article><h2>Inn {0}</h2><ul><li>Tel<li><b>555-010{0}</b></ul></article>"
NEW_SHORT = "<main><h3>Inn {0}</h3><div><i>Call us</i><u>555-010{0}</u></div></main>"
NEW_LONG = "<table><tr><th>Inn {0}<td><u>555-010{0}</u></table><form><input></form>"


def make_inns(short: str, long: str) -> list[Page]:
    """Four pages of each of two layouts: too few for a core, so that every heal clusters them again."""
    html = [short.format(n) if n < 4 else long.format(n) for n in range(8)]
    return [Page(f"http://inns.com/{n}", text, id=str(n)) for n, text in enumerate(html)]


def test_heals_keep_the_templates_that_a_person_named(tmp_path: Path) -> None:
    pages, changed = make_inns(SHORT, LONG), make_inns(NEW_SHORT, NEW_LONG)
    assert len(cluster(pages)) == len(cluster(changed)) == 2
    labels = [Label(str(n), "phone", f"555-010{n}") for n in (0, 1, 4, 5)]
    rules = learn(pages, labels, templates=dict.fromkeys(ids(pages), "inn"))
    rules.save(tmp_path / "rules.json")
    healed = heal(Rules.load(tmp_path / "rules.json"), changed)
    assert [wrapper.named for wrapper in healed.wrappers] == [True]
    assert [record["phone"] for record in healed.extract(changed)] == [f"555-010{n}" for n in range(8)]


def test_a_template_that_a_person_named_is_not_split_by_its_mandatory_values() -> None:
    schema = Schema("inn", {"phone": Attribute("phone", mandatory=True)})
    bare = [
        Page(f"http://inns.com/bare/{n}", f"<h1>Inn {n}</h1><hr><ol><li>Closed</ol>", id=f"b{n}")
        for n in range(8)
    ]
    pages = [*make_inns(SHORT, SHORT), *bare]
    labels = [Label(str(n), "phone", f"555-010{n}") for n in (0, 1)]
    rules = learn(pages, labels, schema, templates=dict.fromkeys(ids(pages), "inn"))
    assert [wrapper.cluster for wrapper in rules.wrappers] == ["c1"]
