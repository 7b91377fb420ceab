import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.linear_time import assert_linear
from untemplate.page import learn_url_pattern, url_matches
from untemplate.page.url_patterns import MAX_WILD_CARDS


@pytest.mark.parametrize(
    ("urls", "pattern"),
    [
        (["http://x.com/a/1.html", "http://x.com/a/2.html"], "http://x.com/a/*.html"),
        (["http://x.com/book-12.html", "http://x.com/book-345.html"], "http://x.com/book-*.html"),
        (["http://x.com/harry", "http://x.com/hard"], "http://x.com/*"),
        (["http://x.com/p?id=1&v=2", "http://x.com/p?id=3&v=2"], "http://x.com/p?id=*&v=2"),
        (["http://x.com/a/b/detail/1", "http://x.com/c/detail/2"], "http://x.com/*/detail/*"),
        (["http://x.com/a", "https://x.com/a"], "*://x.com/a"),
        (["http://x.com/a/1.html"], "http://x.com*"),
        (["http://x.com/a/1.html"] * 3, "http://x.com*"),
        (["relative/1.html"], "*"),
        (["http://x.com/a", ""], "*"),
        ([], "*"),
    ],
)
def test_most_specific_pattern(urls, pattern):
    assert learn_url_pattern(urls) == pattern
    assert all(url_matches(pattern, url) for url in urls)


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("http://x.com/*/detail.html", "http://x.com/a/b/detail.html", True),
        ("http://x.com/*/detail.html", "http://x.com/detail.html", False),
        ("a*a", "a", False),
        ("a*a", "aa", True),
        ("*", "", True),
        ("a", "a", True),
        ("a", "ab", False),
        ("a*b*c", "abbc", True),
        ("a*bc*c", "abc", False),
    ],
)
def test_matching(pattern, url, matches):
    assert url_matches(pattern, url) is matches


urls = st.lists(
    st.sampled_from(["/", "a", "bc", "1", "22", "?", "=", "-", ".", "*", "http://x.y/"]), max_size=20
)


@given(st.lists(urls.map("".join), max_size=12))
def test_a_pattern_matches_what_it_was_learned_from(given_urls):
    pattern = learn_url_pattern(given_urls)
    assert all(url_matches(pattern, url) for url in given_urls)
    assert "**" not in pattern


@given(st.lists(st.lists(st.integers(0, 99), min_size=9, max_size=9), min_size=2, max_size=9))
def test_size_is_limited(numbers):
    pattern = learn_url_pattern("http://x.y/" + "/".join(map(str, row)) for row in numbers)
    distinct = len({tuple(row) for row in numbers}) > 1
    assert pattern.count("*") <= MAX_WILD_CARDS
    assert pattern.startswith("http://x.y" + "/" * distinct)


def test_hostile_urls_take_linear_time():
    def work(size):
        learn_url_pattern("http://x.y" + "/a" * (number % 300) + "/b" * size for number in range(300))
        url_matches("a*" * 1000 + "b", "a" * size)

    assert_linear(work, 10_000, 100_000)
