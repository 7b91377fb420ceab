"""The index finds the wrappers that trying all of them would."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from untemplate.extraction.matching import Matcher
from untemplate.page import Signature
from untemplate.rules import Wrapper

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
def test_the_same_as_trying_all(wrappers: list[Wrapper], url: str, own: Signature) -> None:
    matcher = Matcher(wrappers)
    ranked = sorted(wrappers, key=lambda wrapper: -wrapper.importance)
    assert matcher.ranked == ranked
    known = [index for index, wrapper in enumerate(ranked) if wrapper.matches_url(url)]
    among = matcher.by_url(url)
    assert list(among) == (known or list(range(len(ranked))))
    covering = [index for index in among if ranked[index].matches_signature(own)]
    assert matcher.by_signature(own, among) == (covering[0] if covering else None)


@given(st.lists(WRAPPERS, max_size=8), st.builds(Signature, st.tuples(*[VALUES] * 8)), st.integers(1, 8))
def test_the_most_alike(wrappers: list[Wrapper], own: Signature, count: int) -> None:
    def likeness(index: int) -> int:
        return max((mine.agreement(own) for mine in matcher.ranked[index].signatures), default=0)

    matcher = Matcher(wrappers)
    among = range(0, len(wrappers), 2)
    chosen = matcher.most_alike(own, among, count)
    assert chosen == sorted(chosen)
    assert len(chosen) == min(count, len(among))
    others = set(among) - set(chosen)
    assert all(likeness(one) >= likeness(other) for one in chosen for other in others)
