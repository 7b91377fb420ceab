"""Rules outvote a labeler that makes mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.labeling.book_pages import BOOKS, SCHEMA, book_pages
from untemplate import Label, Page
from untemplate.learning.outvoting import CONTRADICTED_GAP, UNDECIDED, UNSUPPORTED, confirm_labels

PAGES = book_pages()
NAMES = list(SCHEMA.attributes)


def labels_of(number: int, **wrong: str | None) -> list[Label]:
    """Return the true labels of a page, or wrong ones."""
    values = dict(zip(NAMES, BOOKS[number], strict=True)) | wrong
    return [Label(f"{number}.html", name, value) for name, value in values.items()]


def all_labels(*pages: Sequence[Label]) -> list[Label]:
    return [label for page in pages for label in page]


def test_true_labels_are_kept() -> None:
    labels = all_labels(*(labels_of(number) for number in range(4)))
    confirmed = confirm_labels(PAGES[:4], labels, SCHEMA, PAGES[4:])
    assert sorted(confirmed.labels, key=str) == sorted(labels, key=str)
    assert not confirmed.dropped
    assert not confirmed.for_person


@pytest.mark.parametrize("wrong", ["by", "The Clockmaker", "Harbor Press", "Chapter 3 is the best."])
def test_a_wrong_label_is_dropped(wrong: str) -> None:
    labels = all_labels(labels_of(0), labels_of(1), labels_of(2, author=wrong), labels_of(3))
    confirmed = confirm_labels(PAGES[:4], labels, SCHEMA, PAGES[4:])
    [dropped] = confirmed.dropped
    assert (dropped.page, dropped.attribute, dropped.values) == ("2.html", "author", (wrong,))
    assert dropped.why == UNSUPPORTED
    assert str(dropped) == f"author of 2.html ({wrong}): {UNSUPPORTED}"
    assert len(confirmed.labels) == 15


def test_a_wrong_gap_is_dropped() -> None:
    labels = all_labels(labels_of(0), labels_of(1), labels_of(2, price=None))
    confirmed = confirm_labels(PAGES[:3], labels, SCHEMA, PAGES[3:])
    assert [(one.page, one.attribute, one.why) for one in confirmed.dropped] == [
        ("2.html", "price", CONTRADICTED_GAP)
    ]


def test_a_second_question_decides() -> None:
    asked: list[tuple[str, str, str]] = []

    def ask_again(first: Page, second: Page, name: str) -> list[Label]:
        asked.append((first.id, second.id, name))
        pages = {page.id: book for page, book in zip(PAGES, BOOKS, strict=True)}
        return [Label(page.id, name, pages[page.id][NAMES.index(name)]) for page in (first, second)]

    labels = all_labels(labels_of(0), labels_of(1, publisher="208"), labels_of(2, publisher="Review 2"))
    confirmed = confirm_labels(PAGES[:3], labels, SCHEMA, PAGES[3:], ask_again)
    assert [name for _, _, name in asked] == confirmed.asked_again == ["publisher"]
    assert not confirmed.for_person
    publishers = {label.page: label.value for label in confirmed.labels if label.attribute == "publisher"}
    assert set(publishers.items()) <= {(f"{number}.html", BOOKS[number][2]) for number in range(3)}
    assert len(publishers) == 2


def test_what_stays_undecided_is_left_to_a_person() -> None:
    labels = all_labels(labels_of(0), labels_of(1, publisher="207"))
    confirmed = confirm_labels(PAGES[:2], labels, SCHEMA, PAGES[2:], lambda first, second, name: [])
    assert confirmed.for_person == confirmed.asked_again == ["publisher"]
    assert {one.why for one in confirmed.dropped} == {UNDECIDED}
    assert {label.attribute for label in confirmed.labels} == {"title", "author", "price"}


def test_one_page_cannot_be_outvoted() -> None:
    confirmed = confirm_labels(PAGES[:1], labels_of(0), SCHEMA, PAGES[1:])
    assert len(confirmed.labels) == 4
