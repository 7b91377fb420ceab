"""The other pages of a site: lists of entities, and static pages such as "About us"."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from untemplate.demo.building_blocks import advertisement, element, escape_text, fence, link_list, text_link
from untemplate.demo.entities import Entity
from untemplate.demo.look import Setting
from untemplate.demo.site_frame import Content, SiteFrame
from untemplate.demo.verticals import WORDS, make_paragraph, make_person, make_sentence

__all__ = ["about_page", "list_page"]


def list_page(
    frame: SiteFrame, path: str, rows: Sequence[Entity], number: int, noise: Random
) -> tuple[str, list[dict[str, str]]]:
    """Return a page of results, and its rows: the text of each cell by attribute."""
    setting = frame.setting
    truth = [_shown_values(setting, row) for row in rows]
    category = setting.vertical.categories[number % len(setting.vertical.categories)]
    cards = [_card_parts(setting, row, cells) for row, cells in zip(rows, truth, strict=True)]
    heading = element("h1", escape_text(f"{category} – page {number}"), class_=setting.names("heading"))
    pages = [
        (str(index), f"{path.split('?')[0]}?page={index}") for index in range(max(1, number - 3), number + 4)
    ]
    pager = link_list(
        [*pages, ("Next »", f"{path.split('?')[0]}?page={number + 1}")], "line", setting.names("pager")
    )
    main = heading + _sorting(setting, len(rows)) + _results(setting, cards, noise) + pager
    facets = [(name, f"/browse/{index}.html") for index, name in enumerate(setting.vertical.categories)]
    aside = element("h3", "Narrow by") + link_list(facets, "list", setting.names("facets"))
    crumbs = (("Home", "/"), (category, ""))
    title = f"{category} {setting.vertical.plural} | {setting.title}"
    return frame.page(Content(title, path, main, crumbs, aside=aside, number=number), noise), truth


def _sorting(setting: Setting, count: int) -> str:
    options = "".join(element("option", f"by {name}", value=name) for name in setting.vertical.listed)
    form = element("form", element("select", options) + element("input", type="submit", value="Sort"))
    return element("div", element("em", f"{count} of {len(setting.rows)} shown") + form)


def _shown_values(setting: Setting, row: Entity) -> dict[str, str]:
    fields = {field.name: field for field in setting.vertical.fields}
    shown = (setting.vertical.head.name, *setting.vertical.listed)
    return {name: text for name in shown if (text := setting.text(fields[name], row))}


def _card_parts(setting: Setting, row: Entity, cells: dict[str, str]) -> list[str]:
    names, head = setting.names, setting.vertical.head.name
    title = text_link(cells[head], setting.url(row), class_=names("card"))
    order = sorted(setting.vertical.listed, key=lambda name: setting.look.order[name])
    values = [
        element("span", escape_text(cells[name]), class_=names(name)) if name in cells else ""
        for name in order
    ]
    snippet = element("i", escape_text(make_sentence(Random(f"{setting.site}/{row.number}/snippet"))))
    picture = element("img", src=setting.image(f"/images/t/{row.number}.jpg"), width="80", alt="")
    return [title, *values, snippet, picture]


def _results(setting: Setting, cards: list[list[str]], noise: Random) -> str:
    name, sponsored = setting.names("card"), advertisement(setting, noise)
    match setting.look.results:
        case "table":
            rows = [
                element("tr", "".join(element("td", cell) for cell in card), class_=name) for card in cards
            ]
            return element("table", "\n".join(rows), class_=setting.names("results")) + sponsored
        case "pairs":
            rows = [
                element("tr", element("td", card[0], colspan="2")) + element("tr", _pair_cells(card))
                for card in cards
            ]
            return element("table", "\n".join(rows), class_=setting.names("results")) + sponsored
        case "definitions":
            rows = [element("dt", card[0]) + element("dd", _join_cells(card[1:])) for card in cards]
            return element("dl", "\n".join(rows), class_=setting.names("results")) + sponsored
        case "list":
            rows = [
                element("li", element("h3", card[0]) + _join_cells(card[1:]), class_=name) for card in cards
            ]
            return element("ol", "\n".join(rows), class_=setting.names("results")) + sponsored
        case kind:
            tag = "article" if kind == "articles" else "div"
            rows = [element(tag, card[-1] + element("h2", card[0]) + _join_cells(card[1:-1]), class_=name)
                    for card in cards]  # fmt: skip
            rows.insert(len(rows) // 2, sponsored)
            return element("div", "\n".join(rows), class_=setting.names("results"))


def _join_cells(cells: Sequence[str]) -> str:
    return "<br>".join(cell for cell in cells if cell)


def _pair_cells(card: Sequence[str]) -> str:
    return element("td", card[-1]) + element("td", _join_cells(card[1:-1]))


def about_page(frame: SiteFrame, path: str, topic: str, noise: Random) -> str:
    """Return a static page of headings and paragraphs."""
    setting = frame.setting
    rng = Random(f"{setting.site}/{topic}")
    parts = [
        element("h1", escape_text(topic), class_=setting.names("heading")),
        element("blockquote", element("p", escape_text(make_sentence(rng)))),
    ]
    for _ in range(rng.randint(2, 6)):
        parts.append(
            element("h2", escape_text(f"{rng.choice(WORDS['qualities'])} {rng.choice(WORDS['nouns'])}"))
        )
        parts += [element("p", escape_text(make_paragraph(rng, 9))) for _ in range(rng.randint(1, 4))]
        points = (element("li", escape_text(make_sentence(rng))) for _ in range(rng.randint(2, 5)))
        parts.append(element("ul", "".join(points)))
    who = escape_text(make_person(rng))
    parts.append(element("address", f"{element('em', who)}<br>{text_link('Write to us', '/contact')}"))
    parts.append(fence("visit", element("small", f"Viewed by {noise.randrange(10, 900)} people")))
    crumbs = (("Home", "/"), (topic, ""))
    title = f"{topic} | {setting.title}"
    return frame.page(Content(title, path, "\n".join(parts), crumbs, aside=""), noise)
