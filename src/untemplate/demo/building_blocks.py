"""The parts that pages are built from: elements, links, advertisements, recommendations, facts and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from random import Random
from typing import NamedTuple

from untemplate.demo.setting import Setting, format_value, split_address
from untemplate.demo.verticals import WORDS, Entity, Field

__all__ = [
    "Fact",
    "ValueWriter",
    "advertisement",
    "element",
    "escape_text",
    "fence",
    "join_elements",
    "lay_out_facts",
    "link_list",
    "recommendations",
    "roughen",
    "table_row",
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
    written = [
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value
    ]
    start = f"<{tag}{''.join(written)}>"
    return start if tag in _VOID else f"{start}{content}</{tag}>"


def join_elements(tag: str, contents: Iterable[str], between: str = "", /, **attributes: str) -> str:
    """Return one element for each content, all with the same attributes."""
    return between.join(element(tag, content, **attributes) for content in contents)


def table_row(cells: Iterable[str], /, **attributes: str) -> str:
    """Return a row of a table, with one cell for each content."""
    return element("tr", join_elements("td", cells), **attributes)


def wrap(content: str, tags: Sequence[str], /, **attributes: str) -> str:
    """Return content inside nested elements, the outermost first; the innermost one gets the attributes.

    The tag "table" means a table of one cell, as pages used for their layout before there were style sheets.
    """
    for tag in reversed(tags):
        if tag == "table":
            cell = element("td", content, **attributes)
            content = element("table", element("tr", cell), width="100%", border="0")
        else:
            content = element(tag, content, **attributes)
        attributes = {}
    return content


def fence(kind: str, content: str) -> str:
    """Return content between comments, as ad servers leave them: it changes from visit to visit.

    Tests remove what is between the comments to compare the rest of two visits.
    """
    return f"<!-- {kind} -->{content}<!-- /{kind} -->" if content else ""


def roughen(html: str, unclosed: tuple[str, ...], shouted: bool) -> str:
    """Make HTML sloppy, as real pages are.

    Parsers repair such markup, each in its own way. Extraction has to work on the tree that comes out.

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
    """Return links, as in navigation and footers.

    Args:
        items: text and URL of each link.
        kind: "table", "line", "nav", "columns" or "list".
        class_: class of the element around them.
    """
    anchors = [text_link(text, url) for text, url in items]
    match kind:
        case "table":
            return element("table", table_row(anchors), class_=class_)
        case "line":
            return element("p", " | ".join(anchors), class_=class_)
        case "nav":
            return element("nav", "".join(anchors), class_=class_)
        case "columns":
            thirds = ("<br>".join(anchors[start::3]) for start in range(3))
            return element("div", join_elements("div", thirds, class_="col"), class_=class_)
        case _:
            return element("ul", join_elements("li", anchors), class_=class_)


def advertisement(setting: Setting, noise: Random) -> str:
    """Return an advertisement or an empty string: it comes and goes from visit to visit.

    Its text contains prices and numbers, which are never values of the page.
    """
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
            body = element("table", table_row((picture, text_link(line, target))))
    return fence("ad", element("div", body, class_=setting.names("ad"), id=f"ad_{number}"))


def recommendations(setting: Setting, rows: Sequence[Entity], title: str) -> str:
    """Return a block about other entities.

    It has the same kinds of values as the page itself, on some sites even with the same class names. Rules must not
    confuse them with the values of the page.
    """
    cards = [_recommendation(setting, row) for row in rows]
    class_ = setting.names("card")
    match setting.look.related:
        case "table":
            body = element("table", "".join(map(table_row, cards)))
        case "cards":
            body = join_elements("div", map("<br>".join, cards), class_=class_)
        case "headings":
            body = "".join(element("h4", head) + element("p", " · ".join(cells)) for head, *cells in cards)
        case _:
            body = element("ul", join_elements("li", map(" ".join, cards)))
    return fence("related", element("div", element("h3", title) + body, class_=setting.names("related")))


def _recommendation(setting: Setting, row: Entity) -> list[str]:
    """Return the link to an entity, and its first two listed values as far as it has them."""
    parts = [text_link(setting.head(row), setting.url(row), class_=setting.names("card"))]
    for field in setting.vertical.fields:
        text = setting.text(field, row)
        if text and field.name in setting.vertical.listed[:2]:
            class_ = setting.names(field.name if setting.look.same_names else "label")
            parts.append(element("span", escape_text(text), class_=class_))
    return parts


# Facts: captions and values


class Fact(NamedTuple):
    """A caption (empty if it has none), the value as HTML, and the class of the element around the value."""

    caption: str
    value: str
    class_: str


# Return a fact as HTML; the second argument is the class of the captions.
FactWriter = Callable[[Fact, str], str]


def lay_out_facts(facts: Sequence[Fact], kind: str, caption_class: str) -> str:
    """Return the facts in one of nine layouts.

    Between them, the caption of a value may be its preceding sibling, a cousin in a table, or a text node beside it.
    """
    if not facts:
        return ""
    tag, between, write = _FACT_LAYOUTS[kind]
    written = [write(fact, caption_class) for fact in facts]
    if kind == "grid":  # two facts a row
        pairs = ("".join(written[start : start + 2]) for start in range(0, len(written), 2))
        written = [element("tr", pair) for pair in pairs]
    body = between.join(written)
    if not tag:
        return body
    return element(tag, body, border="0" if kind == "table" else "")


def _caption(tag: str, fact: Fact, class_: str, end: str = "") -> str:
    """Return the caption of a fact in an element, and what follows it; empty if the fact has none."""
    return element(tag, fact.caption, class_=class_) + end if fact.caption else ""


def _fact_definition(fact: Fact, class_: str) -> str:
    return _caption("dt", fact, class_) + element("dd", fact.value, class_=fact.class_)


def _fact_cells(fact: Fact, class_: str) -> str:
    """Return a head and a cell; without a caption, the cell spans both columns."""
    if not fact.caption:
        return element("td", fact.value, class_=fact.class_, colspan="2")
    head = element("th", fact.caption, class_=class_, align="left")
    return head + element("td", fact.value, class_=fact.class_)


def _fact_row(fact: Fact, class_: str) -> str:
    return element("tr", _fact_cells(fact, class_))


def _fact_item(fact: Fact, class_: str) -> str:
    return element("li", _caption("b", fact, class_, " ") + fact.value, class_=fact.class_)


def _fact_spans(fact: Fact, class_: str) -> str:
    return element("li", _caption("span", fact, class_) + element("span", fact.value, class_=fact.class_))


def _fact_line(fact: Fact, class_: str) -> str:
    if fact.caption:
        return _caption("b", fact, class_, " ") + fact.value
    return element("span", fact.value, class_=fact.class_)


def _fact_divs(fact: Fact, class_: str) -> str:
    return element("div", _caption("div", fact, class_) + element("div", fact.value, class_=fact.class_))


def _fact_paragraph(fact: Fact, class_: str) -> str:
    return element("p", _caption("strong", fact, class_, "&nbsp;") + fact.value, class_=fact.class_)


def _fact_heading(fact: Fact, class_: str) -> str:
    return _caption("h4", fact, class_) + element("div", fact.value, class_=fact.class_)


# Of each layout: the element around all facts, if any, what is between them, and how to write one of them.
_FACT_LAYOUTS: dict[str, tuple[str, str, FactWriter]] = {
    "dl": ("dl", "\n", _fact_definition),
    "table": ("table", "\n", _fact_row),
    "grid": ("table", "\n", _fact_cells),
    "list": ("ul", "\n", _fact_item),
    "spans": ("ul", "\n", _fact_spans),
    "line": ("p", "<br>\n", _fact_line),
    "divs": ("", "\n", _fact_divs),
    "paragraphs": ("", "\n", _fact_paragraph),
    "headings": ("", "\n", _fact_heading),
}


# Values


class ValueWriter:
    """Writes the values of one entity as HTML.

    Attributes:
        truth: the values that were written so far, by attribute, as a reader of the page finds them.
    """

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
        """Return the class of the value's element; some sites add a token that differs from page to page.

        The class names the field where nothing else does: outside the facts, and where facts have no captions.
        """
        has_caption = self.look.captioning != "none" and self.look.places[field.name] == "fact"
        name = self.names("value" if has_caption and not self.look.specific else field.name)
        if name and self.look.page_tokens:
            name += f" k{int(self.chance('token') * 16**5):05x}"
        return name

    def itemprop(self, field: Field) -> str:
        """Return the property of schema.org, on sites with microdata."""
        return field.itemprop if self.look.embedded == "microdata" else ""

    def write(self, field: Field, prefix: str = "", suffix: str = "") -> str:
        """Return the values of a field as HTML; prefix and suffix share the node of a single value."""
        values = self.row.values[field.name]
        if field.kind == "address":
            return self._address(field, values[0])
        texts = [format_value(field, value, self.look) for value in values]
        if field.many and not self.in_one_node(field):
            return self._several(field, texts)
        text = ", ".join(texts)
        self.record(field, text)
        return self._single(field, text, prefix, suffix)

    def _single(self, field: Field, text: str, prefix: str, suffix: str) -> str:
        """Return a value in one node, with the markup of its field. Microdata never includes affixes."""
        markup = self.look.markup[field.name]
        html = escape_text(f"{prefix}{text}{suffix}")
        if self.look.spaced:
            html = f"\n      {html}\n    "
        if self._is_linked(field):
            target = f"/find/{field.name}/{int(self.chance(f'to {field.name}') * 10**5)}"
            html = element("a", html, href=target)
        itemprop = "" if prefix or suffix else self.itemprop(field)
        if not markup.tag and not itemprop:
            return html
        running_id = f"{field.name}_{self.row.number}" if self.look.running_ids else ""
        tag = markup.tag or "span"
        return element(tag, html, class_=self.name_of(field), id=running_id, itemprop=itemprop)

    def _is_linked(self, field: Field) -> bool:
        """Return whether the value is a link on this page; on some sites only every other page has it."""
        link = self.look.markup[field.name].link
        return link == "always" or (link == "sometimes" and self.chance(field.name) < 0.5)

    def _several(self, field: Field, texts: Sequence[str]) -> str:
        """Return each value in an element of its own."""
        self.record(field, *texts)
        itemprop = self.itemprop(field)
        escaped = map(escape_text, texts)
        match self.look.many[field.name]:
            case "links":
                path = f"/{field.name}/"
                anchors = (
                    text_link(text, path + text.split()[0].lower(), itemprop=itemprop) for text in texts
                )
                return ", ".join(anchors)
            case "items":
                items = join_elements("li", escaped, itemprop=itemprop)
                return element("ul", items, class_=self.name_of(field))
            case _:
                return join_elements("span", escaped, " ", class_=self.name_of(field), itemprop=itemprop)

    def _address(self, field: Field, value: str) -> str:
        """Return an address: the value whose text is most often split over several nodes."""
        street, place = map(escape_text, split_address(value))
        self.record(field, format_value(field, value, self.look))
        match self.look.address:
            case "breaks":
                html = f"{street}<br>{place}"
            case "spans":
                city, rest = place.split(", ")
                parts = {"street": street, "city": f"{city},", "region": rest}
                html = " ".join(
                    element("span", text, class_=self.names(part)) for part, text in parts.items()
                )
            case "divs":
                html = join_elements("div", (street, place))
            case _:
                html = f"{street} {place}"
        tag = "div" if self.look.address == "divs" else "span"
        return element(tag, html, class_=self.name_of(field), itemprop=self.itemprop(field))
