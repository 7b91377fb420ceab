"""The vision tree: blocks as people build_vision_tree them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from untemplate import Page
from untemplate.layout import EstimatedLayout
from untemplate.lists.page_profile import PageProfile
from untemplate.lists.page_tree import build_page_tree
from untemplate.lists.vision_tree import VisionTree, build_vision_tree


def survey_of(html: str) -> PageProfile:
    page = Page(html=html)
    tree = build_page_tree(page)
    return PageProfile(tree, EstimatedLayout().boxes([page])[0])


def texts(survey: PageProfile, vision: VisionTree) -> list[str]:
    """The text of each block."""
    return [" ".join(map(str.strip, survey.tree.texts_inside(rows))) for rows in vision.rows]


def test_leaves_are_texts_and_images_and_single_children_are_their_parents() -> None:
    survey = survey_of(
        "<body><div><p>one</p></div><section><div><i>two</i><img src=x></div></section></body>"
    )
    vision = build_vision_tree(survey)
    assert texts(survey, vision) == ["one two", "one", "two", "two", ""]
    assert vision.parent.tolist() == [-1, 0, 0, 2, 2]
    assert vision.coherence[1] == 10


def test_colored_words_are_one_leaf() -> None:
    survey = survey_of("<body><p>a <b>bold</b> word</p><p>other</p></body>")
    assert texts(survey, build_vision_tree(survey))[1:] == ["a bold word", "other"]


def test_wide_separators_part_siblings() -> None:
    tops = {"a": 0, "b": 0, "c": 60, "d": 0}
    spaced = "".join(f"<p style='margin:{top}px 0 0'>{text}</p>" for text, top in tops.items())
    survey = survey_of(f"<body>{spaced}</body>")
    vision = build_vision_tree(survey)
    assert texts(survey, vision) == ["a b c d", "a b", "a", "b", "c d", "c", "d"]
    assert vision.coherence[0] < vision.coherence[1]


def test_runs_are_blocks() -> None:
    survey = survey_of("<body><h1>top</h1><dl><dt>a<dd>b<dt>c<dd>d</dl></body>")
    runs = [
        tuple(row for row in range(len(survey.tree)) if survey.tree.tags[row] in ("dt", "dd"))[
            start : start + 2
        ]
        for start in (0, 2)
    ]
    vision = build_vision_tree(survey, runs)
    found = [vision.find(run) for run in runs]
    assert [texts(survey, vision)[block] for block in found if block is not None] == ["a b", "c d"]


def test_what_is_not_shown_is_no_block() -> None:
    survey = survey_of("<body><p>a</p><p style='display:none'>secret</p><p>b</p></body>")
    assert texts(survey, build_vision_tree(survey))[1:] == ["a", "b"]
    assert len(build_vision_tree(survey_of("<body><p style='display:none'>secret</p></body>"))) == 0


BITS = st.sampled_from(
    [
        "<ul>",
        "</ul>",
        "<li>",
        "<p>",
        "</p>",
        "<b>",
        "</b>",
        "<img src=x>",
        "<tr>",
        "<td>",
        "word ",
        "<br>",
        "<a href=x>",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(BITS, min_size=1, max_size=60).map("".join))
def test_inner_blocks_have_several_children_and_hold_them(bits: str) -> None:
    survey = survey_of(f"<body>text {bits}</body>")
    vision = build_vision_tree(survey)
    assert all(len(children) != 1 for children in vision.children)
    for block, around in enumerate(vision.parent.tolist()):
        assert around < block
        if around >= 0:
            assert vision.end[around] >= vision.end[block]
            assert (vision.boxes[around, :2] <= vision.boxes[block, :2]).all()
