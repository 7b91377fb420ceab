"""The words of names."""

from untemplate import Page
from untemplate.page.class_words import split_name, words_around


def test_names_are_split_at_capitals_digits_and_signs() -> None:
    assert split_name("productTitle_2 ISBN-13") == ["product", "title", "2", "isbn", "13"]


def test_words_around_an_element_are_the_nearest_first_and_say_something() -> None:
    page = Page(
        html="<main id=shop><div class='productInfo Ci x9'><b itemprop=price name=A4>5</b></div></main>"
    )
    [bold] = page.tree.iter("b")
    assert list(words_around(bold, 1)) == ["price"]
    assert list(words_around(bold, 2)) == ["price", "product", "info"]
    assert list(words_around(bold, 9)) == ["price", "product", "info", "shop"]
