"""Detail pages: the values of one entity in sections, and around them blocks with the same kinds of values."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from untemplate.demo.building_blocks import (
    Fact,
    ValueWriter,
    advertisement,
    element,
    escape_text,
    lay_out_facts,
    recommendations,
    wrap,
)
from untemplate.demo.entities import Entity
from untemplate.demo.look import SECTIONS, Setting, format_value
from untemplate.demo.site_frame import Content, SiteFrame
from untemplate.demo.verticals import Field, make_paragraph, make_person

__all__ = ["detail_page"]


def detail_page(frame: SiteFrame, row: Entity, noise: Random) -> tuple[str, dict[str, list[str]]]:
    """Return the HTML of an entity's page, and its truth: the values by attribute."""
    setting = frame.setting
    detail = _Detail(setting, row, noise)
    main = detail.main()
    head = setting.head(row)
    category = setting.vertical.categories[row.number % len(setting.vertical.categories)]
    title = setting.look.title.format(name=head, site=setting.title, vertical=setting.vertical.name.title())
    crumbs = (("Home", "/"), (category, f"/browse/{category[:3].lower()}"), (head, ""))
    content = Content(title, setting.url(row), main, crumbs, detail.head(), number=row.number)
    return frame.page(content, noise), detail.values.truth


class _Detail:
    def __init__(self, setting: Setting, row: Entity, noise: Random) -> None:
        self.setting = setting
        self.look = setting.look
        self.names = setting.names
        self.row = row
        self.noise = noise
        self.values = ValueWriter(setting, row)

    def main(self) -> str:
        """Return the sections of this page, in the order of the look."""
        order = sorted(SECTIONS, key=lambda name: self.look.sections[name])
        if self.look.swapped and self.values.chance("swap") < 0.3:
            order[-3], order[-2] = order[-2], order[-3]
        html = "\n".join(self._section(name) for name in order)
        if self.look.embedded == "microdata":
            return element(
                "div", html, itemscope="itemscope", itemtype=f"http://schema.org/{self.setting.vertical.type}"
            )
        return html

    def _section(self, name: str) -> str:
        content: str = getattr(self, f"_{name}")()
        if not content or name in ("ad", "related"):
            return content
        running = f"{name}-{self.row.number}" if self.look.running_ids else ""
        if name != "heading":
            content = element("div", content, class_=self.names(name), id=running)
        return wrap(content, self.look.wrappers[name])

    def _fields(self, place: str) -> list[Field]:
        fields = [field for field in self.setting.vertical.fields if self.look.places[field.name] == place]
        return sorted(fields, key=lambda field: self.look.order[field.name])

    def _has(self, field: Field) -> bool:
        return bool(self.row.values[field.name])

    def _heading(self) -> str:
        head, *others = sorted(self._fields("heading"), key=lambda field: field != self.setting.vertical.head)
        name = self.setting.head(self.row)
        self.values.record(head, name)
        prefix, suffix = self.look.affixes[head.name]
        html = escape_text(f"{prefix}{name}{suffix}")
        for field in filter(self._has, others):
            text = self.setting.text(field, self.row)
            self.values.record(field, text)
            tag = self.look.markup[field.name].tag
            html += " " + (element("span", f"({escape_text(text)})") if tag else f"({escape_text(text)})")
        tag = "h2" if self.names.bare and self.look.heading in ("div", "span") else self.look.heading
        itemprop = self.values.itemprop(head) if html == escape_text(name) else ""
        running = f"title{self.row.number}" if self.look.running_ids else ""
        size = "+2" if tag == "font" else ""
        return element(tag, html, class_=self.names("heading"), id=running, itemprop=itemprop, size=size)

    def _image(self) -> str:
        fields = [field for field in self._fields("image") if self._has(field)]
        pictures = []
        for field in fields:
            source = self.setting.image(self.row.values[field.name][0])
            self.values.record(field, source)
            lazy = self.look.lazy_images
            pictures.append(
                element(
                    "img",
                    src="/img/blank.gif" if lazy else source,
                    data_src=source if lazy else "",
                    class_=self.values.name_of(field),
                    itemprop=self.values.itemprop(field),
                    width="320",
                )
            )
        return "".join(pictures)

    def _loose(self, place: str, tag: str) -> str:
        """Return values outside the facts, each in an element of its own or with a prefix in its node."""
        parts = []
        for field in filter(self._has, self._fields(place)):
            prefix, suffix = self.look.affixes[field.name]
            label = ""
            if self.names.bare and not prefix:
                prefix = f"{self.look.labels[field.name]}: "
            if prefix and not self.values.in_one_node(field):
                label, prefix, suffix = element("b", escape_text(prefix)) + " ", "", ""
            html = label + self.values.write(field, prefix, suffix)
            parts.append(element(tag, html, class_=self.values.name_of(field)))
        return "\n".join(parts)

    def _byline(self) -> str:
        return self._loose("byline", "span")

    def _offer(self) -> str:
        offer = self._loose("offer", "div")
        button = element("input", type="submit", value="Add to Cart")
        return offer and offer + element("form", button, action="/cart")

    def _block(self) -> str:
        return self._loose("block", "div")

    def _prose(self) -> str:
        parts = []
        for field in filter(self._has, self._fields("prose")):
            text = format_value(field, self.row.values[field.name][0], self.look)
            self.values.record(field, text)
            html = escape_text(text)
            if self.look.broken_prose:
                html = html.replace(". ", ".<br><br>", 1)
            paragraph = element("p", html, class_=self.names("prose"), itemprop=self.values.itemprop(field))
            parts.append(element("h3", self.look.labels[field.name]) + paragraph)
        return "\n".join(parts)

    def _lists(self) -> str:
        return "\n".join(self._list(field) for field in filter(self._has, self._fields("list")))

    def _list(self, field: Field) -> str:
        texts = self.row.values[field.name]
        self.values.record(field, *texts)
        class_, itemprop = self.names(field.name), self.values.itemprop(field)
        kind = self.look.lists[field.name]
        tag = {"paragraphs": "p", "rows": "td", "divs": "div", "lines": "span"}.get(kind, "li")
        items = [element(tag, escape_text(text), itemprop=itemprop) for text in texts]
        match kind:
            case "ul" | "ol":
                body = element(kind, "".join(items), class_=class_)
            case "rows":
                body = element("table", "".join(element("tr", item) for item in items), class_=class_)
            case "lines":
                lines = items if itemprop else [escape_text(text) for text in texts]
                body = element("div", "<br>\n".join(lines), class_=class_)
            case _:
                body = element("div", "\n".join(items), class_=class_)
        return element("h3", escape_text(self.look.labels[field.name])) + body

    def _facts(self) -> str:
        fields = self._fields("fact")
        if self.look.shuffled:
            fields.sort(key=lambda field: self.values.chance(f"order/{field.name}"))
        facts = [fact for field in fields if (fact := self._fact(field))]
        return lay_out_facts(facts, self.look.facts, self.names("label"))

    def _fact(self, field: Field) -> Fact | None:
        labelling = "apart" if self.names.bare and self.look.labelling == "none" else self.look.labelling
        if labelling == "inside" and not self.values.in_one_node(field):
            labelling = "apart"
        label = f"{self.look.labels[field.name]}{self.look.label_end}"
        class_ = self.values.name_of(field)
        if not self._has(field):
            blank = self.look.blanks and labelling == "apart"
            return (escape_text(label), "", class_) if blank else None
        if labelling == "inside":
            return "", self.values.write(field, f"{label.removesuffix(':')}: "), class_
        return escape_text(label) if labelling == "apart" else "", self.values.write(field), class_

    def _reviews(self) -> str:
        if self.look.reviews == "none":
            return ""
        rng = Random(f"{self.setting.site}/{self.row.number}/reviews")
        reviews = []
        for _ in range(rng.choice((0, 1, 2, 3, 5, 8))):
            who = element("b", escape_text(make_person(rng)))
            stars = element("span", f"{rng.randrange(1, 6)}.0", class_=self.names("stars"))
            said = escape_text(make_paragraph(rng, 6))
            date = f"{rng.choice(('May', 'June', 'July'))} {rng.randrange(1, 30)}, 2010"
            reviews.append((who, stars, date, said))
        if not reviews:
            return ""
        match self.look.reviews:
            case "table":
                rows = (element("tr", "".join(element("td", cell) for cell in review)) for review in reviews)
                body = element("table", "".join(rows))
            case "list":
                body = element("ul", "".join(element("li", "<br>".join(review)) for review in reviews))
            case _:
                class_ = self.names("review")
                body = "".join(element("div", " ".join(review[:3]) + element("p", review[3]), class_=class_)
                               for review in reviews)  # fmt: skip
        return element("h3", "Reviews") + body

    def _related(self) -> str:
        rows = self.noise.sample(self.setting.rows, self.noise.randint(3, 7))
        return recommendations(self.setting, [row for row in rows if row != self.row], "You may also like")

    def _ad(self) -> str:
        return advertisement(self.setting, self.noise)

    def head(self) -> str:
        """Return the Open Graph tags or the JSON-LD of the page, if the look has them."""
        name = self.setting.head(self.row)
        images = [self.setting.image(value) for value in self.row.values.get("image", ())]
        match self.look.embedded:
            case "open graph":
                tags = [("og:title", name), ("og:site_name", self.setting.title)]
                tags += [("og:image", image) for image in images]
                return "\n".join(element("meta", property=key, content=text) for key, text in tags)
            case "json-ld":
                data = json.dumps(self._linked_data(), ensure_ascii=False, indent=1).replace("</", "<\\/")
                return element("script", data, type="application/ld+json")
            case _:
                return ""

    def _linked_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"@context": "http://schema.org", "@type": self.setting.vertical.type}
        for field in filter(self._has, self.setting.vertical.attributes):
            given = self.row.values[field.name]
            texts = [format_value(field, value, self.look) for value in given]
            match field.kind:
                case "money":
                    code = {"$": "USD", "£": "GBP", "€": "EUR"}[given[0][0]]
                    data["offers"] = {"@type": "Offer", "price": given[0][1:], "priceCurrency": code}
                case "address":
                    street, city, state, code = given[0].split("|")
                    keys = ("streetAddress", "addressLocality", "addressRegion", "postalCode")
                    parts = dict(zip(keys, (street, city, state, code), strict=True))
                    data["address"] = {"@type": "PostalAddress", **parts}
                case "rating":
                    data["aggregateRating"] = {"@type": "AggregateRating", "ratingValue": given[0]}
                case "date":
                    data[field.itemprop] = given[0]
                case "minutes":
                    data[field.itemprop] = f"PT{given[0]}M"
                case _:
                    data[field.itemprop] = texts if field.many else texts[0]
        return data
