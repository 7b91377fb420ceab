"""Groups of pages of one template, by traits, URLs and labels."""

from __future__ import annotations

import numpy as np

from untemplate.clustering.templates import PageFacts, PageTraits, group_pages, url_shapes


def traits(*ranges: range) -> PageTraits:
    """Return a page with these numbers as traits of both kinds."""
    numbers = np.unique(np.concatenate([np.array(part, np.uint64) for part in ranges]))
    return PageTraits(numbers.astype(np.uint32), numbers)


FRAME = range(300)
POST = traits(FRAME, range(1000, 1060))
LIST = traits(FRAME, range(2000, 2060))
POST_WITH_COMMENTS = traits(FRAME, range(1000, 1060), range(3000, 3040))


def groups(pages: list[PageTraits], facts: list[PageFacts] | None = None) -> list[list[int]]:
    return sorted(group_pages(pages, facts or [PageFacts()] * len(pages)))


def test_templates_that_share_most_of_their_markup_are_apart() -> None:
    assert groups([POST, LIST] * 10) == [list(range(0, 20, 2)), list(range(1, 20, 2))]


def test_an_optional_part_does_not_split_a_template() -> None:
    assert groups([POST, POST_WITH_COMMENTS] * 10) == [list(range(20))]


def test_a_big_optional_part_splits_unless_urls_are_the_same() -> None:
    rich = traits(FRAME, range(1000, 1060), range(4000, 4120))
    assert len(groups([POST, rich] * 10)) == 2
    assert len(groups([POST, rich] * 10, [PageFacts("a.com/tea/*")] * 20)) == 1


def test_a_small_difference_counts_if_urls_differ() -> None:
    other = traits(FRAME, range(1010, 1070))
    assert len(groups([POST, other] * 10, [PageFacts("a.com/tea/*")] * 20)) == 1
    assert len(groups([POST, other] * 10, [PageFacts("a.com/tea/*"), PageFacts("a.com/cup/*")] * 10)) == 2


def test_labels_of_the_same_kind_count_like_the_same_urls() -> None:
    rich = traits(FRAME, range(1000, 1060), range(4000, 4120))
    kinds = [PageFacts(kind="detail"), PageFacts(kind="detail"), *([PageFacts()] * 18)]
    assert len(groups([POST, rich] * 10, kinds)) == 1


def test_labels_of_different_kinds_split_equal_pages() -> None:
    kinds = [PageFacts(kind="detail"), PageFacts(kind="other"), *([PageFacts()] * 8)]
    assert len(groups([POST] * 10, kinds)) == 2


def test_pages_of_an_unknown_kind_go_to_the_most_similar_known_one() -> None:
    nearly = traits(FRAME, range(1000, 1060), range(5000, 5010))
    kinds = [PageFacts(kind="detail"), PageFacts(kind="other"), PageFacts(), PageFacts()]
    assert groups([POST, nearly, POST, nearly], kinds) == [[0, 2], [1, 3]]


def test_shapes_keep_what_several_urls_share() -> None:
    urls = [
        f"http://a.com/tea/{name}-{n}?page={n}#top" for n, name in enumerate(("oolong", "assam", "keemun"))
    ]
    assert set(url_shapes(urls)) == {"a.com/tea/*?page"}
    assert url_shapes(["", "", ""]) == ["", "", ""]
    assert url_shapes([]) == []
