"""The words of names."""

from untemplate.page.class_words import split_name


def test_names_are_split_at_capitals_digits_and_signs() -> None:
    assert split_name("productTitle_2 ISBN-13") == ["product", "title", "2", "isbn", "13"]
