"""Rules are lent to pages of the same kind, and not to others that only look like them."""

from __future__ import annotations

from untemplate import Attribute, Label, Page, Schema
from untemplate.pipeline import learn_site

SCHEMA = Schema("product", {"title": Attribute("title", mandatory=True), "category": Attribute("category")})
CATEGORIES = ("Routers", "Switches", "Antennas")
PRODUCTS = 8


def page(kind: str, number: int, steps: list[str], body: str) -> Page:
    path = "".join(f"<a class=step href='/'>{step}</a>" for step in steps)
    html = f"<html><body><nav>{path}</nav><main><h1>{kind} {number}</h1>{body}</main>"
    return Page(f"http://shop.example/{kind}/{number}", html, f"{kind}-{number}")


def product(kind: str, number: int, body: str) -> Page:
    return page(kind, number, ["Home", CATEGORIES[number % 3]], body)


def learned_from(others: list[Page]) -> dict[str, str]:
    body = "<div class=shot><img src=a.png></div><table class=facts><tr><td>1</td><td>2</td></tr></table>"
    products = [product("product", number, body) for number in range(PRODUCTS)]
    labels = []
    for number in range(2):
        labels.append(Label(f"product-{number}", "title", f"product {number}"))
        labels.append(Label(f"product-{number}", "category", CATEGORIES[number % 3]))
    return learn_site([*products, *others], labels, SCHEMA).borrowed


ARTICLE = (
    "<article class=post><section><p>One</p><p>Two</p></section><aside><ul><li>x</li></ul></aside></article>"
)


def test_other_products_borrow_rules() -> None:
    assert learned_from([product("offer", number, ARTICLE) for number in range(PRODUCTS)])


def test_texts_that_rules_pass_over_at_home_are_no_values() -> None:
    """The first step of each product's path is "Home", which no product has as a category."""
    steps = [["Home", "News"] if number == 3 else ["Home"] for number in range(PRODUCTS)]
    assert not learned_from([page("story", number, steps[number], ARTICLE) for number in range(PRODUCTS)])
