"""The parts that pages are built from: elements, links, advertisements, recommendations, facts and values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from random import Random

from untemplate.demo.entities import Entity
from untemplate.demo.look import Setting, format_value, split_address
from untemplate.demo.verticals import WORDS, Field

__all__ = [
    "Fact",
    "ValueWriter",
    "advertisement",
    "element",
    "escape_text",
    "fence",
    "lay_out_facts",
    "link_list",
    "recommendations",
    "roughen",
    "text_link",
    "wrap",
]

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})
_TAG = re.compile(r"<(/?)([a-z][a-z0-9]*)((?:\s[^<>]*)?)>")
_QUOTED = re.compile(r'="([\w-]+)"')


def escape_text(text: str) -> str:
    """Return text escaped for use between tags."""
    return escape(text, quote=False)


def element(tag: str, content: str = "", /, **attributes: str) -> str:
    """Return an element as HTML.

    Args:
        tag: its name; void elements such as `img` get no closing tag.
        content: HTML inside it.
        attributes: empty ones are left out; `class_` means `class`, `data_src` means `data-src`.
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value
    )
    if tag in _VOID:
        return f"<{tag}{given}>"
    return f"<{tag}{given}>{content}</{tag}>"


def wrap(content: str, tags: Sequence[str], /, **attributes: str) -> str:
    """Return content inside nested elements, the outermost first; the innermost one gets the attributes.

    The tag "table" means a table of one cell.
    """
    for index, tag in enumerate(reversed(tags)):
        given = attributes if index == 0 else {}
        if tag == "table":
            cell = element("td", content, **given)
            content = element("table", element("tr", cell), width="100%", border="0")
        else:
            content = element(tag, content, **given)
    return content


def fence(kind: str, content: str) -> str:
    """Return content between comments, as ad servers leave them: it changes from visit to visit."""
    return f"<!-- {kind} -->{content}<!-- /{kind} -->" if content else ""


def roughen(html: str, unclosed: tuple[str, ...], shouted: bool) -> str:
    """Make HTML sloppy, as real pages are.

    Args:
        html: clean HTML.
        unclosed: tags whose closing tags are left out, since browsers imply them.
        shouted: write tags in capitals and attributes without quotes.
    """
    if unclosed:
        html = re.sub(rf"</(?:{'|'.join(unclosed)})>(?=\s*<)", "", html)
    if shouted:
        html = _TAG.sub(_shout, html)
    return html


def _shout(tag: re.Match[str]) -> str:
    attributes = _QUOTED.sub(r"=\1", tag[3])
    return f"<{tag[1]}{tag[2].upper()}{attributes}>"


# Blocks that repeat what other pages are about


def text_link(text: str, url: str, **attributes: str) -> str:
    """Return a link with plain text."""
    return element("a", escape_text(text), href=url, **attributes)


def link_list(items: Iterable[tuple[str, str]], kind: str, class_: str) -> str:
    """Return links as a table, a line, a nav element, columns or a list; `kind` says which."""
    anchors = [text_link(text, url) for text, url in items]
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
    """Return an advertisement or an empty string: it comes and goes from visit to visit."""
    if noise.random() < 0.3:
        return ""
    number = noise.randrange(10**6)
    target = f"http://ads.example.net/click?b={number}"
    line = noise.choice(WORDS["advertisements"]).format(
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
            body = element("b", "Sponsored") + " " + text_link(line, target)
        case _:
            cells = element("td", picture) + element("td", text_link(line, target))
            body = element("table", element("tr", cells))
    return fence("ad", element("div", body, class_=setting.names("ad"), id=f"ad_{number}"))


def recommendations(setting: Setting, rows: Sequence[Entity], title: str) -> str:
    """Return a block about other entities.

    It has the same kinds of values as the page itself, on some sites even with the same class names.
    """
    names, look = setting.names, setting.look
    fields = [field for field in setting.vertical.fields if field.name in setting.vertical.listed[:2]]
    cards: list[list[str]] = []
    for row in rows:
        head = text_link(setting.head(row), setting.url(row), class_=names("card"))
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


# Facts: captions and values

#: the label (may be empty), the value as HTML, and the class of what holds it
Fact = tuple[str, str, str]
Facts = list[Fact]


def lay_out_facts(facts: Facts, kind: str, label: str) -> str:
    """Return the facts in one of the layouts; `label` is the class of the captions."""
    return _LAYOUTS[kind](facts, label) if facts else ""


def _fact_definitions(facts: Facts, label: str) -> str:
    items = (
        (element("dt", name, class_=label) if name else "") + element("dd", value, class_=class_)
        for name, value, class_ in facts
    )
    return element("dl", "\n".join(items))


def _fact_cells(name: str, value: str, class_: str, label: str) -> str:
    head = element("th", name, class_=label, align="left") if name else ""
    return head + element("td", value, class_=class_, colspan="" if name else "2")


def _fact_table(facts: Facts, label: str) -> str:
    return element("table", "\n".join(element("tr", _fact_cells(*fact, label)) for fact in facts), border="0")


def _fact_grid(facts: Facts, label: str) -> str:
    cells = [_fact_cells(*fact, label) for fact in facts]
    rows = ("".join(cells[start : start + 2]) for start in range(0, len(cells), 2))
    return element("table", "\n".join(element("tr", row) for row in rows))


def _bold_caption(name: str, label: str) -> str:
    return element("b", name, class_=label) + " " if name else ""


def _fact_items(facts: Facts, label: str) -> str:
    items = (
        element("li", _bold_caption(name, label) + value, class_=class_) for name, value, class_ in facts
    )
    return element("ul", "\n".join(items))


def _fact_spans(facts: Facts, label: str) -> str:
    items = (
        element(
            "li",
            (element("span", name, class_=label) if name else "") + element("span", value, class_=class_),
        )
        for name, value, class_ in facts
    )
    return element("ul", "\n".join(items))


def _fact_line(facts: Facts, label: str) -> str:
    values = (
        _bold_caption(name, label) + (value if name else element("span", value, class_=class_))
        for name, value, class_ in facts
    )
    return element("p", "<br>\n".join(values))


def _fact_divs(facts: Facts, label: str) -> str:
    items = (
        element(
            "div", (element("div", name, class_=label) if name else "") + element("div", value, class_=class_)
        )
        for name, value, class_ in facts
    )
    return "\n".join(items)


def _fact_paragraphs(facts: Facts, label: str) -> str:
    return "\n".join(
        element(
            "p", (element("strong", name, class_=label) + "&nbsp;" if name else "") + value, class_=class_
        )
        for name, value, class_ in facts
    )


def _fact_headings(facts: Facts, label: str) -> str:
    return "\n".join(
        (element("h4", name, class_=label) if name else "") + element("div", value, class_=class_)
        for name, value, class_ in facts
    )


_LAYOUTS = {
    "dl": _fact_definitions,
    "table": _fact_table,
    "grid": _fact_grid,
    "list": _fact_items,
    "spans": _fact_spans,
    "line": _fact_line,
    "divs": _fact_divs,
    "paragraphs": _fact_paragraphs,
    "headings": _fact_headings,
}


# Values


class ValueWriter:
    """Writes the values of one entity; `truth` collects what was written, by attribute."""

    def __init__(self, setting: Setting, row: Entity) -> None:
        self.setting = setting
        self.look = setting.look
        self.names = setting.names
        self.row = row
        self.truth: dict[str, list[str]] = {field.name: [] for field in setting.vertical.attributes}

    def chance(self, event: str) -> float:
        """Return a number that depends on the entity and the event only: it differs between pages, not visits."""
        return Random(f"{self.setting.site}/{self.row.number}/{event}").random()

    def record(self, field: Field, *texts: str) -> None:
        """Add texts to the truth of the page."""
        if not field.extra:
            self.truth[field.name].extend(texts)

    def in_one_node(self, field: Field) -> bool:
        """Return whether the value can share its node with a caption or an affix."""
        return field.kind != "address" and (not field.many or self.look.many[field.name] == "joined")

    def name_of(self, field: Field) -> str:
        """Return the class of the value's element; some sites add a token that differs from page to page."""
        specific = (
            self.look.specific or self.look.labelling == "none" or self.look.places[field.name] != "fact"
        )
        name = self.names(field.name if specific else "value")
        if name and self.look.page_tokens:
            name += f" k{int(self.chance('token') * 16**5):05x}"
        return name

    def itemprop(self, field: Field) -> str:
        return field.itemprop if self.look.embedded == "microdata" else ""

    def write(self, field: Field, prefix: str = "", suffix: str = "") -> str:
        """Return the values of a field as HTML; prefix and suffix share the node of a single value."""
        given = self.row.values[field.name]
        if field.kind == "address":
            return self._address(field, given[0])
        texts = [format_value(field, value, self.look) for value in given]
        if field.many and not self.in_one_node(field):
            return self._several(field, texts)
        text = ", ".join(texts)
        self.record(field, text)
        return self._marked(field, f"{prefix}{text}{suffix}", whole=not prefix and not suffix)

    def _marked(self, field: Field, text: str, whole: bool) -> str:
        markup = self.look.markup[field.name]
        html = escape_text(text)
        if self.look.spaced:
            html = f"\n      {html}\n    "
        linked = markup.link == "always" or (markup.link == "sometimes" and self.chance(field.name) < 0.5)
        if linked:
            html = element(
                "a", html, href=f"/find/{field.name}/{int(self.chance(f'to {field.name}') * 10**5)}"
            )
        itemprop = self.itemprop(field) if whole else ""
        if markup.tag or itemprop:
            running = f"{field.name}_{self.row.number}" if self.look.running_ids else ""
            html = element(
                markup.tag or "span", html, class_=self.name_of(field), id=running, itemprop=itemprop
            )
        return html

    def _several(self, field: Field, texts: Sequence[str]) -> str:
        self.record(field, *texts)
        itemprop = self.itemprop(field)
        match self.look.many[field.name]:
            case "links":
                urls = [f"/{field.name}/{text.split()[0].lower()}" for text in texts]
                anchors = (
                    text_link(text, url, itemprop=itemprop) for text, url in zip(texts, urls, strict=True)
                )
                return ", ".join(anchors)
            case "items":
                items = (element("li", escape_text(text), itemprop=itemprop) for text in texts)
                return element("ul", "".join(items), class_=self.name_of(field))
            case _:
                class_ = self.name_of(field)
                spans = (
                    element("span", escape_text(text), class_=class_, itemprop=itemprop) for text in texts
                )
                return " ".join(spans)

    def _address(self, field: Field, value: str) -> str:
        street, place = map(escape_text, split_address(value))
        self.record(field, format_value(field, value, self.look))
        match self.look.address:
            case "breaks":
                html = f"{street}<br>{place}"
            case "spans":
                city, rest = place.split(", ")
                parts = zip((street, f"{city},", rest), ("street", "city", "region"), strict=True)
                html = " ".join(element("span", text, class_=self.names(part)) for text, part in parts)
            case "divs":
                html = element("div", street) + element("div", place)
            case _:
                html = f"{street} {place}"
        tag = "div" if self.look.address == "divs" else "span"
        return element(tag, html, class_=self.name_of(field), itemprop=self.itemprop(field))
