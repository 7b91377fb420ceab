from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from untemplate.rules.checked_sections import Length, Matches, Section, SectionError, Within


def _refuse_red(text: str) -> None:
    if text == "red":
        raise ValueError("red is taken")


@dataclass(frozen=True, kw_only=True)
class _Leaf(Section):
    color: Annotated[str, _refuse_red, Length(2, 6)] = "blue"
    share: Annotated[float, Within(0, 1)]


@dataclass(frozen=True, kw_only=True)
class _Tree(Section):
    name: Annotated[str, Matches(r"[a-z]+\Z")]
    age: Annotated[int, Within(1)] = 1
    kind: Literal["oak", "elm", 7] = "oak"
    is_old: bool = False
    note: str | None = None
    marks: tuple[tuple[str | int, ...], ...] = ()
    leaves: Annotated[tuple[_Leaf, ...], Length(0, 2)] = ()
    by_name: dict[str, _Leaf] = field(default_factory=dict)
    top: _Leaf | None = None


def test_a_section_is_read_with_everything_inside() -> None:
    leaf = {"color": "green", "share": 1}
    content = {"name": "a", "age": 3, "kind": 7, "is_old": True, "note": None, "marks": [["x", 1], []]}
    tree = _Tree.read(content | {"leaves": [leaf], "by_name": {"b": leaf}, "top": leaf})
    read = _Leaf(color="green", share=1.0)
    assert tree == _Tree(
        name="a",
        age=3,
        kind=7,
        is_old=True,
        marks=(("x", 1), ()),
        leaves=(read,),
        by_name={"b": read},
        top=read,
    )
    assert isinstance(tree.leaves[0].share, float)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": 1}, "name should be text"),
        ({"name": "A"}, r"name should match [a-z]+\Z"),
        ({"name": "a\n"}, r"name should match [a-z]+\Z"),
        ({"age": True}, "age should be a whole number"),
        ({"age": 1.0}, "age should be a whole number"),
        ({"age": 0}, "age should be at least 1, and is 0"),
        ({"kind": "ash"}, "kind should be 'oak', 'elm', 7"),
        ({"kind": 7.0}, "kind should be 'oak', 'elm', 7"),
        ({"kind": []}, "kind should be 'oak', 'elm', 7"),
        ({"is_old": 1}, "is_old should be true or false"),
        ({"note": 1}, "note should be text"),
        ({"marks": [["x"], "y"]}, "marks.1 should be a list"),
        ({"marks": [[1, 0.5]]}, "marks.0.1 should be text or a whole number"),
        ({"marks": [[None]]}, "marks.0.0 should be text or a whole number"),
        ({"leaves": [{"share": 1}] * 3}, "leaves should have a length of at most 2, and has 3"),
        (
            {"leaves": [{"share": 1, "color": "r"}]},
            "leaves.0.color should have a length of at least 2, and has 1",
        ),
        ({"leaves": [{"share": 1, "color": "red"}]}, "leaves.0.color red is taken"),
        ({"leaves": [{}]}, "leaves.0.share is missing"),
        ({"leaves": [[]]}, "leaves.0 should be an object"),
        ({"by_name": {"b": {"share": 2}}}, "by_name.b.share should be at most 1, and is 2.0"),
        ({"by_name": []}, "by_name should be an object"),
        ({"top": {"share": float("nan")}}, "top.share should be a number"),
        ({"top": {"share": float("inf")}}, "top.share should be a number"),
        ({"top": {"share": True}}, "top.share should be a number"),
        ({"leafs": []}, "leafs is a key that is not known here"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(SectionError) as error:
        _Tree.read({"name": "a"} | change)
    assert f"{'.'.join(map(str, error.value.place))} {error.value}" == said


def test_defaults_are_left_out() -> None:
    content = {"name": "a", "age": 1, "marks": [], "leaves": [{"share": 1}], "note": None}
    assert _Tree.without_defaults(content) == {"name": "a", "leaves": [{"share": 1}]}
