"""Which wrapper a page belongs to: by host, core, URL and signature."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untemplate import Page
from untemplate.extraction.matching import WrapperIndex
from untemplate.page import Signature, signature
from untemplate.page.tag_arrays import read_tags
from untemplate.page.template_cores import Core
from untemplate.page.traits import tag_runs
from untemplate.rules import Rule, Selector, Wrapper
from untemplate.rules.feature import Feature

NAME = Rule("name", (Selector("text()", (Feature("tag", 1, ("h1",)),)),))

FRAME = "<html><body><nav><ul><li><a>a</a></li></ul></nav>{}<footer><p>f</p></footer></body></html>"
POST = FRAME.format("<article><h1>t</h1><time>d</time><p>x</p></article>")
LIST = FRAME.format("<section><dl><dt>t</dt><dd>n</dd></dl></section>")


def runs(html: str) -> set[int]:
    return set(tag_runs(read_tags(html.encode())).tolist())


def core(html: str, others: str) -> Core:
    own, common = runs(html) - runs(others), runs(html) & runs(others)
    return Core(tuple(sorted(own)), tuple(sorted(common)), 0.65, 0.85)


def wrapper(name: str, url_pattern: str = "*", core: Core | None = None, rules: bool = True) -> Wrapper:
    return Wrapper(name, (), 1, url_pattern, {"name": NAME} if rules else {}, core=core)


def matched(wrappers: list[Wrapper], page: Page) -> str | list[str]:
    """Return the name of the wrapper that the page belongs to, or the names of those that may be tried."""
    match = WrapperIndex(wrappers).match(page)
    return match.wrapper.cluster if match.wrapper else [one.cluster for one in match.possible]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://blog.example/7", ["a"]),
        ("https://www.blog.example:8080/other", ["a"]),
        ("http://shop.example/7", []),
        ("http://m.blog.example/7", []),
        ("", ["a"]),
    ],
)
def test_only_wrappers_of_the_host_are_tried(url: str, expected: list[str]) -> None:
    assert matched([wrapper("a", "http://blog.example/*")], Page(url, POST)) == expected


def test_a_pattern_of_several_hosts_matches_these() -> None:
    several = [wrapper("a", "http://*.blog.example/*")]
    assert matched(several, Page("http://en.blog.example/7", POST)) == ["a"]
    assert matched(several, Page("http://blog.other/7", POST)) == []


def test_the_core_decides_between_templates_of_one_frame() -> None:
    wrappers = [wrapper("posts", core=core(POST, LIST)), wrapper("lists", core=core(LIST, POST), rules=False)]
    assert matched(wrappers, Page("http://blog.example/1", POST)) == "posts"
    assert matched(wrappers, Page("http://blog.example/2", LIST)) == "lists"
    assert matched(wrappers, Page("http://blog.example/3", FRAME.format("<h1>about</h1>"))) == []


def test_a_wrapper_whose_url_matches_comes_first() -> None:
    wrappers = [
        wrapper("elsewhere", "http://blog.example/old/*", core(POST, LIST)),
        wrapper("here", "http://blog.example/new/*", core(POST, LIST)),
    ]
    assert matched(wrappers, Page("http://blog.example/new/1", POST)) == "here"


def test_a_new_url_does_not_hide_a_template() -> None:
    posts = wrapper("posts", "http://blog.example/2024/*", core(POST, LIST))
    assert matched([posts], Page("http://blog.example/2025/1", POST)) == "posts"


def test_a_page_with_a_part_of_the_core_is_tried_if_its_url_matches() -> None:
    posts = wrapper("posts", "http://blog.example/posts/*", core(POST, LIST))
    redesigned = POST.replace("<nav><ul><li><a>a</a></li></ul></nav>", "<header><b>new</b></header>")
    assert matched([posts], Page("http://blog.example/posts/1", redesigned)) == ["posts"]
    assert matched([posts], Page("http://blog.example/about/1", redesigned)) == []
    assert matched([posts], Page("http://blog.example/posts/", LIST)) == []


def test_a_small_cluster_without_rules_does_not_hide_rules_that_may_succeed() -> None:
    unlabeled = replace(wrapper("unlabeled", rules=False), signatures=(signature(POST.encode()),))
    match = WrapperIndex([unlabeled, wrapper("labeled")]).match(Page("http://blog.example/1", POST))
    assert match.wrapper == unlabeled
    assert [one.cluster for one in match.possible] == ["labeled"]


def test_wrappers_without_rules_are_not_tried() -> None:
    assert matched([wrapper("a", rules=False)], Page("http://blog.example/1", POST)) == []


# Few different bytes and pieces, so that many things match.
VALUES = st.sampled_from([0, 0, 0, 7, 255])
PATTERNS = st.builds("".join, st.lists(st.sampled_from(["*", "/a", "/b", ".x"]), max_size=4))
URLS = st.builds("".join, st.lists(st.sampled_from(["/a", "/b", ".x"]), max_size=5))
SIGNATURES = st.builds(Signature, st.tuples(*[VALUES | st.none()] * 8))
WRAPPERS = st.builds(
    Wrapper,
    st.just("c"),
    st.lists(SIGNATURES, max_size=2).map(tuple),
    st.integers(0, 3),
    PATTERNS,
    st.just({}),
)


@given(st.lists(WRAPPERS, max_size=8), URLS, st.builds(Signature, st.tuples(*[VALUES] * 8)))
def test_the_index_finds_what_trying_all_wrappers_finds(
    wrappers: list[Wrapper], url: str, own: Signature
) -> None:
    wrapper_index = WrapperIndex(wrappers)
    ranked = sorted(wrappers, key=lambda wrapper: -wrapper.importance)
    assert wrapper_index.ranked == ranked
    of_host = wrapper_index.find_by_host(url)
    assert list(of_host) == list(range(len(ranked)))  # neither these URLs nor the patterns have a host
    among = wrapper_index.find_by_url(url, of_host)
    assert among == [index for index, wrapper in enumerate(ranked) if wrapper.matches_url(url)]
    covering = [index for index in among if ranked[index].matches_signature(own)]
    assert wrapper_index.find_by_signature(own, among) == (covering[0] if covering else None)


@given(st.lists(WRAPPERS, max_size=8), st.builds(Signature, st.tuples(*[VALUES] * 8)), st.integers(1, 8))
def test_the_most_similar_wrappers(wrappers: list[Wrapper], own: Signature, count: int) -> None:
    def likeness(index: int) -> int:
        return max((mine.agreement(own) for mine in wrapper_index.ranked[index].signatures), default=0)

    wrapper_index = WrapperIndex(wrappers)
    among = range(0, len(wrappers), 2)
    chosen = wrapper_index.find_most_similar(own, among, count)
    assert chosen == sorted(chosen)
    assert len(chosen) == min(count, len(among))
    others = set(among) - set(chosen)
    assert all(likeness(one) >= likeness(other) for one in chosen for other in others)


def test_a_part_of_the_core_is_enough_if_the_rules_find_everything() -> None:
    """A URL pattern that says no more than the host proves nothing, so success must be complete."""
    of_post = Core((), tuple(sorted(runs(POST))), 0.65, 0.95)
    page = Page("http://blog.example/7", POST.replace("<time>d</time>", ""))
    match = WrapperIndex([wrapper("a", "http://blog.example/*", of_post)]).match(page)
    assert [one.cluster for one in match.possible] == ["a"]
    assert match.success == "complete"
    named = WrapperIndex([wrapper("a", "http://blog.example/posts/*", of_post)])
    assert named.match(replace_url(page, "http://blog.example/posts/7")).success == "mandatory"


def replace_url(page: Page, url: str) -> Page:
    return Page(url, page.html)
