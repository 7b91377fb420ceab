import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Page
from untemplate.clustering import Clustering, cluster, cluster_vectors
from untemplate.clustering.clusters import assign_vectors, count_masked, settle_counts
from untemplate.clustering.templates import link_groups
from untemplate.page import Signature, signature, url_matches


def detail(number, reviews=3):
    body = "".join(f"<div class=r><h3>R{i}</h3><p>said <i>{number}</i></p></div>" for i in range(reviews))
    facts = "".join(f"<tr><th>f{i}</th><td><span>{number}</span></td></tr>" for i in range(12))
    html = f"<html><body><h1>Item {number}</h1><table>{facts}</table>{body}</body></html>"
    return Page(f"http://x.y/item/{number}.html", html, f"detail-{number}")


def listing(number, rows=10):
    body = "".join(f"<li><a href='{i}'><img src=x><em>I{i}</em></a> <b>$1</b></li>" for i in range(rows))
    html = f"<html><body><nav><a>1</a><a>2</a></nav><ol>{body}</ol><form><input></form></body></html>"
    return Page(f"http://x.y/list?page={number}", html, f"list-{number}")


def groups(clustering):
    return [{page.id.split("-")[0] for page in one.pages} for one in clustering]


@pytest.mark.parametrize("count", [1, 2, 5, 20, 150, 450])
def test_alike_pages_are_one_cluster(count):
    pages = [detail(number, reviews=number % 7) for number in range(count)]
    clustering = cluster(pages)
    assert len(clustering) == 1
    assert clustering[0].pages == pages
    assert clustering.unassigned == []


@pytest.mark.parametrize("count", [1, 2, 5, 20, 150])
def test_two_templates_are_two_clusters(count):
    pages = [
        page
        for number in range(count)
        for page in (detail(number, number % 5), listing(number, number % 9 + 4))
    ]
    clustering = cluster(pages)
    assert sorted(map(sorted, groups(clustering))) == [["detail"], ["list"]]
    assert [len(one.pages) for one in clustering] == [count, count]


def test_what_a_cluster_tells():
    pages = [detail(number) for number in range(40)] + [listing(number) for number in range(30)]
    first, second = clustering = cluster(pages)
    assert (first.id, second.id) == ("c1", "c2")
    assert len(first.pages) == 40
    assert (first.url_pattern, second.url_pattern) == ("http://x.y/item/*.html", "http://x.y/list?page=*")
    assert first.importance == 40
    assert first.signature is first.signatures[0]
    assert all(first.signature.covers(signature(page.html)) for page in first.pages)
    assert clustering[:1] == [first]
    assert isinstance(clustering, Clustering)


def test_smaller_inputs_scale_pruning_and_say_so():
    clustering = cluster([detail(number) for number in range(300)])
    assert clustering.threshold == 3
    assert clustering.notes == ["templates with fewer than 3 pages are left out"]


def test_templates_with_too_few_pages_are_pruned():
    two = [Page(html="<html><body>" + "<p><q>a</q></p>" * number + "</body></html>") for number in (8, 9)]
    pages = [detail(number) for number in range(200)] + [listing(number) for number in range(200)] + two
    clustering = cluster(pages)
    assert sorted(map(sorted, groups(clustering))) == [["detail"], ["list"]]
    assert clustering.unassigned == two


def test_a_site_of_one_kind_loses_no_page():
    odd = Page("http://x.y/odd", "<html><body><h1>Gone</h1><p>Sorry.</p></body></html>", "detail-odd")
    pages = [detail(number) for number in range(400)] + [odd]
    clustering = cluster(pages)
    assert [one.pages for one in clustering] == [pages]


def test_pages_without_tags_fit_nowhere():
    empty = [Page(html=b""), Page(html=b"just text")]
    clustering = cluster([*empty, detail(1), detail(2)])
    assert clustering.unassigned == empty
    assert len(clustering) == 1
    assert list(cluster(empty)) == list(cluster([])) == []


def test_pages_that_cannot_be_parsed_still_have_a_template():
    deep = [Page(html=b"<div>" * 5000 + b"x", id=f"deep-{number}") for number in range(3)]
    clustering = cluster([*deep, *(detail(number) for number in range(3))])
    assert sorted(map(sorted, groups(clustering))) == [["deep"], ["detail"]]


def test_a_big_frame_does_not_hide_templates():
    """When most tags are header and footer, one signature covers pages of several templates."""
    frame = "".join(
        f"<div><h{i % 6 + 1}>m</h{i % 6 + 1}><a>{'<i>x</i>' * (i % 4)}</a></div>" for i in range(300)
    )
    detail_body = "".join(
        f"<{tag}><dl><dt>a</dt><dd><b>b</b></dd></dl></{tag}>" for tag in ("main", "section", "p")
    )
    list_body = "".join(
        f"<{tag}><ul><li><u>a</u><s>b</s></li></ul></{tag}>" for tag in ("nav", "form", "aside")
    )
    pages = [
        Page(f"http://x.y/{number}", f"<html><body>{frame}{body}</body></html>", f"{name}-{number}")
        for number in range(40)
        for name, body in (("detail", detail_body), ("list", list_body))
    ]
    assert len({signature(page.html) for page in pages}) == 2
    assert signature(pages[0].html).agreement(signature(pages[1].html)) >= 6
    assert sorted(map(sorted, groups(cluster(pages)))) == [["detail"], ["list"]]


def test_trees_do_not_pile_up():
    pages = [detail(number) for number in range(30)]
    cluster(iter(pages))
    assert not any("tree" in vars(page) for page in pages)


def test_pages_that_are_not_compared_are_assigned():
    pages = [
        detail(number % 50, number % 3) if number % 4 else listing(number % 50) for number in range(4_000)
    ]
    clustering = cluster(pages)
    assert groups(clustering) == [{"detail"}, {"list"}]
    assert [len(one.pages) for one in clustering] == [3_000, 1_000]
    assert clustering.threshold == 20


def test_a_big_site_is_sampled_and_still_counted(monkeypatch):
    monkeypatch.setattr("untemplate.clustering.site_sample.MAX_SAMPLE_PAGES", 500)
    stream = (detail(number, number % 3) if number % 4 else listing(number) for number in range(2_000))
    clustering = cluster(stream, always_kept={"list-1996"})
    assert groups(clustering) == [{"detail"}, {"list"}]
    assert sum(len(one.pages) for one in clustering) == 500
    assert [one.size for one in clustering] == [1_500, 500]
    assert "list-1996" in {page.id for page in clustering[1].pages}
    assert "sample of 500 of 2,000 pages" in clustering.notes[-1]


def test_pages_of_different_known_kinds_are_apart():
    pages = [detail(number) for number in range(20)]
    clustering = cluster(pages, {"detail-3": "detail", "http://x.y/item/7.html": "other"})
    assert [[page.id for page in one.pages] for one in clustering[1:]] == [["detail-7"]]


def test_strays_of_one_template_found_a_cluster_with_signatures():
    """Pages whose tags vary so much that hardly two signatures agree, but whose tag paths are the same."""

    def varied(number):
        tags = ["p", "b", "i", "u", "q", "s", "em", "a"]
        order = [tags[(number * step + step * step) % 8] for step in range(3, 80)]
        body = "".join(f"<{tag}>x</{tag}>" for tag in tags + order)
        return Page(f"http://x.y/v/{number}", f"<html><body>{body}</body></html>", f"varied-{number}")

    pages = [varied(number) for number in range(250)] + [listing(number) for number in range(250)]
    clustering = cluster(pages)
    assert sorted(map(sorted, groups(clustering))) == [["list"], ["varied"]]
    assert all(one.signatures and isinstance(one.signature, Signature) for one in clustering)
    assert all(url_matches(one.url_pattern, page.url) for one in clustering for page in one.pages)


def test_average_linkage_weighs_by_size():
    # 2 is like 0 but not like 1: joined to {0, 1} only while the average over their pages is high enough.
    similarity = np.array([[1.0, 0.9, 0.6], [0.9, 1.0, 0.1], [0.6, 0.1, 1.0]])
    assert link_groups(similarity, [1, 1, 1], 0.4) == [[0, 1], [2]]
    assert link_groups(similarity, [9, 1, 1], 0.4) == [[0, 1, 2]]
    assert link_groups(similarity, [1, 1, 1], 0.95) == [[0], [1], [2]]
    assert link_groups(np.zeros((0, 0)), [], 0.4) == []


# Example 3.1 of the paper. Its story holds when mv_1 and mv_2 are swapped: <0,0,0,0,0,*,2,*> covers v_1, v_3.
V1, V2, V3 = (0, 0, 0, 0, 0, 1, 2, 4), (0, 0, 0, 0, 0, 1, 5, 3), (0, 0, 0, 0, 0, 6, 2, 3)
MV1 = (0, 0, 0, 0, 0, None, 2, None)
MV2 = (0, 0, 0, 0, 0, 1, None, None)
MV3 = (0, 0, 0, 0, 0, None, None, 3)
PAGES = {V1: 1, V2: 1, V3: 1}


def test_first_pass_of_example_3_1():
    counts = count_masked(PAGES)
    assert {masked for masked, count in counts.items() if count == 2} == {MV1, MV2, MV3}
    assert set(counts.values()) == {1, 2}
    assert len(counts) == 3 * 37 - 3


def test_second_pass_of_example_3_1():
    settled = settle_counts(PAGES, count_masked(PAGES))
    assert (settled[MV1], settled[MV2], settled[MV3]) == (2, 0, 1)
    assert sum(settled.values()) == 3


def test_clusters_of_example_3_1():
    vectors = [Signature(values) for values in (V1, V2, V3)]
    importance = cluster_vectors(vectors, threshold=1)
    assert importance == {Signature(MV1): 2, Signature(MV3): 1}
    assert assign_vectors(vectors, importance) == {
        Signature(V1): Signature(MV1),
        Signature(V2): Signature(MV3),
        Signature(V3): Signature(MV1),
    }


def test_pruning_leaves_pages_out():
    vectors = [Signature(values) for values in (V1, V2, V3)]
    importance = cluster_vectors(vectors, threshold=2)
    assert importance == {Signature(MV1): 2}
    assert assign_vectors(vectors, importance)[Signature(V2)] is None


def test_equal_vectors_get_the_most_general_signature():
    assert list(cluster_vectors([Signature(V1)] * 20)) == [Signature((None, None, 0, 0, 0, 1, 2, 4))]
    assert cluster_vectors([Signature(V1)] * 19) == {}


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 8).map(Signature), max_size=40), st.integers(1, 5))
def test_each_page_is_counted_once_and_covered_by_its_cluster(vectors, threshold):
    assert sum(cluster_vectors(vectors, threshold=1).values()) == len(vectors)
    importance = cluster_vectors(vectors, threshold)
    for vector, masked in assign_vectors(vectors, importance).items():
        covering = [one for one in importance if one.covers(vector)]
        assert (masked is None) == (not covering)
        if masked is not None:
            assert masked.covers(vector)
            assert importance[masked] == max(importance[one] for one in covering)
