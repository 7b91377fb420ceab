"""A site of list pages with eight teas each, and its rules, for tests of watching."""

from __future__ import annotations

from untemplate import Attribute, Label, Page, Rules, Schema, learn

__all__ = ["TEA_RULES", "tea_page", "tea_page_with"]

SCHEMA = Schema("tea", {"name": Attribute("name", mandatory=True), "price": Attribute("price", "price")})


def tea_page(number: int, day: int = 0) -> Page:
    first = 100 * day + 10 * number
    items = (f"<h3>Tea {first + n}</h3><p>from hill {n * n}</p><b>€ {n}.50</b>" for n in range(8))
    return tea_page_with(number, f"<ul>{''.join(f'<li class=hit>{item}</li>' for item in items)}</ul>")


def tea_page_with(number: int, body: str) -> Page:
    html = f"<body><h1>Teas</h1>{body}<p>Imprint</p></body>"
    return Page(f"http://tea.example/?page={number}", html, str(number))


def learn_tea_rules() -> Rules:
    labels = [
        Label("1", attribute, value, record=str(n))
        for n in (0, 3)
        for attribute, value in (("name", f"Tea {10 + n}"), ("price", f"€ {n}.50"))
    ]
    return learn([tea_page(number) for number in range(1, 5)], labels, SCHEMA)


TEA_RULES = learn_tea_rules()
