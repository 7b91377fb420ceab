"""Small list pages of made-up records, for tests of what find_records finds."""

from __future__ import annotations

from untemplate import Page

WORDS = (
    "amber",
    "birch",
    "cedar",
    "dune",
    "ember",
    "fjord",
    "grove",
    "heath",
    "islet",
    "jetty",
    "kelp",
    "lagoon",
)


def title(number: int) -> str:
    return f"{WORDS[number % len(WORDS)].title()} {WORDS[number * 7 % len(WORDS)]} {number}"


def sentence(number: int) -> str:
    return " ".join(WORDS[(number * step + step) % len(WORDS)] for step in range(3, 12)) + f" {number}."


def card(number: int) -> str:
    return f'<h3><a href="/{number}">{title(number)}</a></h3><p>{sentence(number)}</p><b>$ {number}.50</b>'


MENU = "".join(f'<li><a href="/m{number}">Menu {number}</a></li>' for number in range(9))


def page_of(body: str) -> Page:
    nav = f'<nav class="menu"><ul>{MENU}</ul></nav>'
    foot = '<footer><ul><li><a href="/i">Imprint</a></li><li><a href="/c">Contact</a></li></ul></footer>'
    return Page(html=f"<html><body>{nav}<h1>Things</h1>{body}{foot}</body></html>")


def many(template: str, count: int = 8) -> str:
    return "".join(
        template.format(card=card(number), title=title(number), text=sentence(number), number=number)
        for number in range(count)
    )
