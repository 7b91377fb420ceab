"""Traits of pages, and cores of templates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from untemplate.page.tag_arrays import read_tags
from untemplate.page.template_cores import Core, PageRuns
from untemplate.page.traits import CoreIndex, class_pairs, run_table, tag_runs

FRAME = "<html><body><nav><ul><li><a>a</a></li></ul></nav>{}<footer><p>f</p></footer></body></html>"


def tags(body: str):
    return read_tags(FRAME.format(body).encode())


POST = tags("<article><h1>t</h1><time>d</time><p>x</p></article>")
TAGS = tags("<section><dl><dt>t</dt><dd>n</dd></dl></section>")


def core(own: set[int], frame: set[int] = frozenset()) -> Core:
    return Core(tuple(sorted(own)), tuple(sorted(frame)), 0.65, 0.85)


def runs(page) -> set[int]:
    return set(tag_runs(page).tolist())


def page_runs(page) -> PageRuns:
    return PageRuns(page.html)


def test_runs_do_not_depend_on_texts_and_attributes() -> None:
    other = tags("<article class=x><h1>u</h1> and <time>e</time><p id=y>z</p></article>")
    assert runs(other) == runs(POST)
    assert runs(TAGS) != runs(POST)


def test_a_page_with_fewer_tags_than_a_run_has_one() -> None:
    assert len(tag_runs(read_tags(b"<p>x"))) == 1


def test_class_pairs_ignore_digits_case_and_the_order_of_classes() -> None:
    one = class_pairs(read_tags(b"<div class='post post-17 Big'><p>x</p></div>"))
    two = class_pairs(read_tags(b'<div class="big post-4 post"><p>y</p></div>'))
    other = class_pairs(read_tags(b"<div class='page'><p>x</p></div>"))
    assert one.tolist() == two.tolist()
    assert one.tolist() != other.tolist()


def test_a_class_belongs_to_the_tag_it_stands_in() -> None:
    first = class_pairs(read_tags(b"<div class=a><p>x</p></div>"))
    second = class_pairs(read_tags(b"<div><p class=a>x</p></div>"))
    assert first.tolist() != second.tolist()


@given(st.lists(st.sampled_from(["<p ", "class=", "'", '"', "a 1", ">", "</p>", "<!--", "<", "\0"])))
def test_any_markup_has_traits(parts: list[str]) -> None:
    page = read_tags("".join(parts).encode())
    tag_runs(page)
    class_pairs(page)


def test_a_page_needs_the_own_part_of_a_core() -> None:
    common = runs(POST) & runs(TAGS)
    posts = core(runs(POST) - common, common)
    assert posts.matches(page_runs(POST))
    assert not posts.matches(page_runs(TAGS))
    assert posts.share(page_runs(TAGS)) == len(common) / len(runs(POST))
    assert posts.own_count(page_runs(TAGS)) == 0


def test_an_empty_core_matches_every_page() -> None:
    assert core(set()).matches(page_runs(POST))


def test_the_index_agrees_with_the_cores() -> None:
    common = runs(POST) & runs(TAGS)
    cores = [core(runs(POST) - common, common), core(runs(TAGS) - common, common)]
    index = CoreIndex(cores)
    assert [index.find_best(run_table(page)) for page in (POST, TAGS)] == [0, 1]
    assert index.find_best(run_table(read_tags(b"<table><tr><td>x</td></tr></table>"))) is None


def test_the_template_with_most_own_runs_wins() -> None:
    part = core(set(list(runs(POST))[:2]))
    whole = core(runs(POST))
    assert CoreIndex([part, whole]).find_best(run_table(POST)) == 1


@given(
    st.lists(
        st.sampled_from(
            ["<p ", "</p>", "<b>", "<i/>", "</", "<!--", "-->", "<script>", "</script>", "<", "\0"]
        )
    )
)
def test_a_page_counts_its_own_runs_and_no_others(parts: list[str]) -> None:
    html = "".join(parts).encode()
    own = tag_runs(read_tags(html))
    others = np.delete(np.arange(1 << 18, dtype=np.uint32), own)
    page = PageRuns(html)
    assert page.count(own.tobytes()) == len(own)
    assert page.count(others.tobytes()) == 0


def test_tables_have_a_place_for_every_run() -> None:
    assert np.flatnonzero(run_table(POST)).tolist() == tag_runs(POST).tolist()
