"""Findings: what is not sure, and which pages settle it."""

from __future__ import annotations

from untemplate import Finding, Page
from untemplate.labeling.label import pages_to_check

PAGES = [Page(id=str(number), html=f"<h1>Name {number}</h1><p>{number}.99</p>") for number in range(3)]


def find_on(attribute: str, confidence: float, numbers: list[int], node: int = 0) -> Finding:
    places = [(PAGES[number], PAGES[number].nodes[node]) for number in numbers]
    return Finding(attribute, confidence, places, len(numbers) / len(PAGES), confidence >= 0.2)


def test_one_page_settles_all_that_it_shows() -> None:
    findings = [find_on("name", 0.99, [0, 1, 2]), find_on("price", 0.5, [1, 2]), find_on("tax", 0.1, [2])]
    assert [(check.page, check.attributes) for check in pages_to_check(findings)] == [("2", ("price", "tax"))]


def test_several_pages_if_none_shows_all() -> None:
    checks = pages_to_check([find_on("price", 0.5, [0]), find_on("tax", 0.4, [1])])
    assert [check.page for check in checks] == ["0", "1"]


def test_nothing_to_check() -> None:
    assert pages_to_check([find_on("name", 0.9, [0]), Finding("tax", 0.0, (), 0.0, False)]) == []


def test_a_floor_turns_doubtful_findings_off() -> None:
    assert find_on("price", 0.5, [0]).with_floor(0.4).found
    assert not find_on("price", 0.5, [0]).with_floor(0.6).found
