"""Blocks that repeat what other pages are about: recommendations, advertisements, lists of links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

from untemplate.demo import words
from untemplate.demo.markup import element, escape_text, fence
from untemplate.demo.rows import Row
from untemplate.demo.setting import Setting

__all__ = ["advertisement", "link", "links", "recommendations"]


def link(text: str, url: str, **attributes: str) -> str:
    """A link with plain text."""
    return element("a", escape_text(text), href=url, **attributes)


def links(items: Iterable[tuple[str, str]], kind: str, class_: str) -> str:
    """Links in one of the ways sites line them up."""
    anchors = [link(text, url) for text, url in items]
    match kind:
        case "table":
            return element("table", element("tr", "".join(element("td", a) for a in anchors)), class_=class_)
        case "line":
            return element("p", " | ".join(anchors), class_=class_)
        case "nav":
            return element("nav", "".join(anchors), class_=class_)
        case "columns":
            thirds = (anchors[start::3] for start in range(3))
            columns = "".join(element("div", "<br>".join(third), class_="col") for third in thirds)
            return element("div", columns, class_=class_)
        case _:
            return element("ul", "".join(element("li", a) for a in anchors), class_=class_)


def advertisement(setting: Setting, noise: Random) -> str:
    """An advertisement, or nothing: it comes and goes from visit to visit."""
    if noise.random() < 0.3:
        return ""
    number = noise.randrange(10**6)
    target = f"http://ads.example.net/click?b={number}"
    line = noise.choice(words.ADVERTISEMENTS).format(
        rate=noise.randrange(2, 9),
        price=f"{noise.randrange(9, 400)}.99",
        count=noise.randrange(20, 80),
        line=f"{noise.randrange(10**4):04}",
    )
    picture = element("img", src=f"http://ads.example.net/{number}.gif", width="300", height="250", alt="ad")
    match setting.look.ads:
        case "iframe":
            body = element("iframe", src=f"http://ads.example.net/frame/{number}", width="300", height="250")
        case "picture":
            body = element("a", picture, href=target)
        case "words":
            body = element("b", "Sponsored") + " " + link(line, target)
        case _:
            cells = element("td", picture) + element("td", link(line, target))
            body = element("table", element("tr", cells))
    return fence("ad", element("div", body, class_=setting.names("ad"), id=f"ad_{number}"))


def recommendations(setting: Setting, rows: Sequence[Row], title: str) -> str:
    """Other rows with the same kinds of values, on some sites under the very names of the page's own."""
    names, look = setting.names, setting.look
    fields = [field for field in setting.vertical.fields if field.name in setting.vertical.listed[:2]]
    cards: list[list[str]] = []
    for row in rows:
        head = link(setting.head(row), setting.url(row), class_=names("card"))
        cells = [
            element("span", escape_text(text), class_=names(field.name if look.same_names else "label"))
            for field in fields
            if (text := setting.text(field, row))
        ]
        cards.append([head, *cells])
    match look.related:
        case "table":
            body = element(
                "table",
                "".join(element("tr", "".join(element("td", cell) for cell in card)) for card in cards),
            )
        case "cards":
            body = "".join(element("div", "<br>".join(card), class_=names("card")) for card in cards)
        case "headings":
            body = "".join(element("h4", card[0]) + element("p", " · ".join(card[1:])) for card in cards)
        case _:
            body = element("ul", "".join(element("li", " ".join(card)) for card in cards))
    return fence("related", element("div", element("h3", title) + body, class_=names("related")))
