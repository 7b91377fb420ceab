"""Rules learned again: what they find on pages of which it is remembered that there is no value."""

from __future__ import annotations

import pytest

from untemplate import Attribute, Label, Page, Schema, learn
from untemplate.watching import heal_site
from untemplate.watching.comparing import Comparison, pair_bellwethers
from untemplate.watching.repairing import ClusterRepair

SCHEMA = Schema("book", {"author": Attribute("author"), "isbn": Attribute("isbn")})
SURNAMES = (
    "Ash",
    "Birch",
    "Cedar",
    "Dogwood",
    "Elm",
    "Fir",
    "Gum",
    "Hazel",
    "Ivy",
    "Juniper",
    "Kauri",
    "Larch",
)
GAPS = (3, 7, 10)


def book(number: int, look: str) -> Page:
    """A book; some have no author."""
    values = {"author": f"Ann {SURNAMES[number]}", "isbn": f"97811{number:05}"}
    if number in GAPS:
        del values["author"]
    if look == "old":
        shown = "".join(f"<p class={name}>{value}</p>" for name, value in values.items())
    else:
        shown = "<ul>" + "".join(f"<li>{value}</li>" for value in values.values()) + "</ul>"
    return Page(id=f"{number}", html=f"<body><h1>Book</h1><div>{shown}</div><p>Bye</p></body>")


def pages(look: str) -> list[Page]:
    return [book(number, look) for number in range(len(SURNAMES))]


LABELS = [
    Label(f"{n}", name, value)
    for n in (0, 1)
    for name, value in (("author", f"Ann {SURNAMES[n]}"), ("isbn", f"97811{n:05}"))
]
RULES = learn(pages("old"), LABELS, SCHEMA)


def test_no_author_is_made_of_a_number() -> None:
    rules = heal_site(RULES, pages("new")).rules
    authors = [record["author"] for record in rules.extract(pages("new"))]
    assert all(author is None or author.startswith("Ann") for author in authors)


@pytest.mark.parametrize(
    ("found", "is_harm"),
    [
        ("9781100003", True),  # the ISBN of the page
        ("7", True),  # without letters, which all authors have
        ("Bob Oak", False),  # perhaps an author that the old rule missed
    ],
)
def test_what_fills_a_gap_must_look_like_a_value(found: str, is_harm: bool) -> None:
    [wrapper] = RULES.wrappers
    fresh = {page.id: page for page in pages("old")}
    repair = ClusterRepair([wrapper], pair_bellwethers(wrapper, fresh), [], wrapper.signatures, SCHEMA)
    filled = Comparison("3", (), (found,))
    assert repair._is_implausible("author", filled) == is_harm
