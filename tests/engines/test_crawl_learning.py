"""Learning all sites of a crawl into a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from untemplate import Attribute, Catalog, Label, LabelError, Page, Schema
from untemplate.engines.crawl_learning import has_several_hosts, learn_crawl
from untemplate.labeling import label_by_embedded
from untemplate.sources import Pages

THING = Schema("thing", {"name": Attribute("name")})
DATA = '<script type="application/ld+json">{{"@type": "Product", "name": "{0}"}}</script>'


def make_pages(host: str, tag: str, count: int = 6) -> list[Page]:
    html = "<html><body><div><{0}>{1} {2}</{0}><p>about {2}</p></div>"
    return [Page(f"http://{host}/{n}", html.format(tag, host, n), f"{n}.html") for n in range(count)]


A, B = make_pages("www.a.example", "h1"), make_pages("b.example", "h2")
CRAWL = [page for pair in zip(A, B, strict=True) for page in pair]
LABEL_A = Label(A[0].url, "name", "www.a.example 0")
LABEL_B = Label(B[0].url, "name", "b.example 0")


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.open(tmp_path / "untemplate.db") as catalog:
        yield catalog


def test_each_site_gets_its_own_rules(catalog: Catalog) -> None:
    outcomes = list(learn_crawl(catalog, iter(CRAWL), [LABEL_A, LABEL_B], THING, by="Ada"))
    assert [(one.site, one.version, one.problem) for one in outcomes] == [
        ("www.a.example", 1, None),
        ("b.example", 1, None),
    ]
    assert catalog.rules("b.example").extract_one(B[3])["name"] == "b.example 3"
    assert [stored.by for stored in catalog.labels("b.example")] == ["Ada"]
    assert B[0].url in {page.url for page in catalog.pages("b.example")}
    assert catalog.runs("b.example", "learn")[0].figures["version"] == 1


def test_labels_that_teach_nothing_leave_the_rules_of_before(catalog: Catalog) -> None:
    [before] = learn_crawl(catalog, A, [LABEL_A], THING)
    [after] = learn_crawl(catalog, A, [Label(A[0].url, "name", "not there")], THING)
    assert (before.version, after.version) == (1, None)
    assert after.problem is not None
    assert "nothing was learned" in after.problem
    assert catalog.rules("www.a.example").extract_one(A[3])["name"] == "www.a.example 3"


def test_a_site_that_fails_costs_its_own_line(catalog: Catalog) -> None:
    labels = [
        Label("http://gone.example/1", "name", "x"),
        Label(A[0].url, "color", "red"),
        LABEL_B,
    ]
    gone, wrong, good = sorted(
        learn_crawl(catalog, CRAWL, labels, THING), key=lambda one: (one.version is not None, one.site)
    )
    assert gone.problem == "it has labels, but no pages in the crawl"
    assert wrong.problem
    assert wrong.has_findings
    assert (good.site, good.version, good.has_findings) == ("b.example", 1, False)
    assert catalog.sites() == ["www.a.example", "b.example"]


def test_only_sites_with_labels_are_learned(catalog: Catalog) -> None:
    assert [one.site for one in learn_crawl(catalog, CRAWL, [LABEL_B], THING)] == ["b.example"]


def test_a_known_site_keeps_its_name_and_another_vertical_gets_its_own(catalog: Catalog) -> None:
    [first] = learn_crawl(catalog, A, [LABEL_A], THING)
    catalog.save_rules("the a site", catalog.rules(first.site))
    [again] = learn_crawl(catalog, A, [LABEL_A], THING)
    assert (again.site, again.version) == ("www.a.example", 2)
    other = Schema("other", {"name": Attribute("name")})
    [another] = learn_crawl(catalog, A, [LABEL_A], other)
    assert (another.site, another.version) == ("www.a.example/other", 1)
    assert catalog.site_rules().sites["www.a.example/other"].hosts == {"a.example"}


def test_ids_name_pages_of_one_site(catalog: Catalog) -> None:
    a = [Page(page.url, page.html, f"a/{page.id}") for page in A]
    [outcome] = learn_crawl(catalog, [*a, *B], [Label("a/0.html", "name", "www.a.example 0")], THING)
    assert outcome.site == "www.a.example"
    with pytest.raises(LabelError, match=r"0\.html: pages of several sites have this id"):
        list(learn_crawl(catalog, CRAWL, [Label("0.html", "name", "b.example 0")], THING))
    with pytest.raises(LabelError, match=r"nowhere: the crawl has no such page"):
        list(learn_crawl(catalog, CRAWL, [Label("nowhere", "name", "x")], THING))


def test_without_labels_a_labeler_labels_each_site(catalog: Catalog) -> None:
    with pytest.raises(LabelError, match="needs labels"):
        list(learn_crawl(catalog, CRAWL, [], THING))

    def by_data(pages: Pages, labels: Sequence[Label]) -> Sequence[Label]:
        return labels or label_by_embedded(list(pages), Schema.load("product"))

    taught = [
        Page(page.url, page.html + DATA.format(f"b.example {number}").encode())
        for number, page in enumerate(B)
    ]
    first, second = learn_crawl(catalog, [*A, *taught], [], Schema.load("product"), labeler=by_data)
    assert first.problem
    assert (second.site, second.version) == ("b.example", 1)


def test_several_hosts() -> None:
    assert has_several_hosts(CRAWL)
    assert not has_several_hosts([*A, Page("http://a.example/x", ""), Page(id="x.html")])
