"""Values on a page: marked up as the look wants it, and remembered as the page's truth."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from untemplate.demo.blocks import link
from untemplate.demo.formats import address_lines, written
from untemplate.demo.markup import element, escape_text
from untemplate.demo.rows import Row
from untemplate.demo.setting import Setting
from untemplate.demo.verticals import Field

__all__ = ["ValueWriter"]


class ValueWriter:
    """Writes the values of one row; `truth` holds what was written, attribute by attribute."""

    def __init__(self, setting: Setting, row: Row) -> None:
        self.setting = setting
        self.look = setting.look
        self.names = setting.names
        self.row = row
        self.truth: dict[str, list[str]] = {field.name: [] for field in setting.vertical.attributes}

    def chance(self, event: str) -> float:
        """A number that is always the same for this row and event: what differs between pages, not visits."""
        return Random(f"{self.setting.site}/{self.row.number}/{event}").random()

    def record(self, field: Field, *texts: str) -> None:
        """Remember what the page says."""
        if not field.extra:
            self.truth[field.name].extend(texts)

    def in_one_node(self, field: Field) -> bool:
        """Whether the value can share its node with a label or an affix."""
        return field.kind != "address" and (not field.many or self.look.many[field.name] == "joined")

    def name_of(self, field: Field) -> str:
        """The class of the value's element; on some sites with a token that differs from page to page."""
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
        """The field's values; prefix and suffix stand in the same node, and only where there is just one."""
        given = self.row.values[field.name]
        if field.kind == "address":
            return self._address(field, given[0])
        texts = [written(field, value, self.look) for value in given]
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
                anchors = (link(text, url, itemprop=itemprop) for text, url in zip(texts, urls, strict=True))
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
        street, place = map(escape_text, address_lines(value))
        self.record(field, written(field, value, self.look))
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
