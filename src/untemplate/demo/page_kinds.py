"""The pages of a site: detail pages about one entity, lists of entities, and static pages such as "About us"."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from untemplate.demo.building_blocks import (
    Fact,
    ValueWriter,
    advertisement,
    element,
    escape_text,
    fence,
    join_elements,
    lay_out_facts,
    link_list,
    recommendations,
    table_row,
    text_link,
    wrap,
)
from untemplate.demo.look import SECTIONS
from untemplate.demo.setting import CURRENCY_CODES, Setting, format_value
from untemplate.demo.site_frame import Content, SiteFrame
from untemplate.demo.verticals import WORDS, Entity, Field, make_paragraph, make_person, make_sentence

__all__ = ["about_page", "detail_page", "list_page"]


def detail_page(frame: SiteFrame, row: Entity, noise: Random) -> tuple[str, dict[str, list[str]]]:
    """Return the HTML of an entity's page, and its truth: the values by attribute.

    Args:
        frame: writes what is around the main column.
        row: the entity.
        noise: draws what differs from visit to visit.
    """
    setting = frame.setting
    detail = _DetailPage(setting, row, noise)
    main = detail.main()
    head = setting.head(row)
    category = setting.vertical.categories[row.number % len(setting.vertical.categories)]
    title = setting.look.title.format(name=head, site=setting.title, vertical=setting.vertical.name.title())
    crumbs = (("Home", "/"), (category, f"/browse/{category[:3].lower()}"), (head, ""))
    content = Content(title, setting.url(row), main, crumbs, detail.head(), number=row.number)
    return frame.page(content, noise), detail.values.truth


class _DetailPage:
    """Writes the main column of a detail page.

    For each of SECTIONS there is a method of that name. It returns an empty string if the entity has no values there,
    so sections come and go from page to page.
    """

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
        html = "\n".join(map(self._section, order))
        if self.look.embedded != "microdata":
            return html
        item_type = f"http://schema.org/{self.setting.vertical.type}"
        return element("div", html, itemscope="itemscope", itemtype=item_type)

    def _section(self, name: str) -> str:
        """Return a section inside its wrappers; advertisements and recommendations have their own."""
        content: str = getattr(self, f"_{name}")()
        if not content or name in ("ad", "related"):
            return content
        running_id = f"{name}-{self.row.number}" if self.look.running_ids else ""
        if name != "heading":
            content = element("div", content, class_=self.names(name), id=running_id)
        return wrap(content, self.look.wrappers[name])

    def _fields(self, place: str) -> list[Field]:
        """Return the fields that this look puts in a place, in its order, also those without a value."""
        fields = [field for field in self.setting.vertical.fields if self.look.places[field.name] == place]
        return sorted(fields, key=lambda field: self.look.order[field.name])

    def _filled_fields(self, place: str) -> Iterator[Field]:
        """Return the fields of a place for which the entity has a value."""
        return filter(self._has, self._fields(place))

    def _has(self, field: Field) -> bool:
        return bool(self.row.values[field.name])

    def _heading(self) -> str:
        """Return the name of the entity in a heading; some sites add words in its node, or a year beside it."""
        head = self.setting.vertical.head
        name = self.setting.head(self.row)
        self.values.record(head, name)
        prefix, suffix = self.look.affixes[head.name]
        html = escape_text(f"{prefix}{name}{suffix}")
        for field in self._filled_fields("heading"):
            if field != head:
                html += " " + self._heading_note(field)
        # Without class names, only its tag distinguishes a heading.
        tag = "h2" if self.names.bare and self.look.heading in ("div", "span") else self.look.heading
        itemprop = self.values.itemprop(head) if html == escape_text(name) else ""
        running_id = f"title{self.row.number}" if self.look.running_ids else ""
        size = "+2" if tag == "font" else ""
        return element(tag, html, class_=self.names("heading"), id=running_id, itemprop=itemprop, size=size)

    def _heading_note(self, field: Field) -> str:
        """Return a value that follows the heading in parentheses, such as the year of a movie."""
        text = self.setting.text(field, self.row)
        self.values.record(field, text)
        note = f"({escape_text(text)})"
        return element("span", note) if self.look.markup[field.name].tag else note

    def _image(self) -> str:
        """Return pictures; a site with lazy images has their addresses in `data-src`."""
        pictures = []
        is_lazy = self.look.lazy_images
        for field in self._filled_fields("image"):
            source = self.setting.image(self.row.values[field.name][0])
            self.values.record(field, source)
            picture = element(
                "img",
                src="/img/blank.gif" if is_lazy else source,
                data_src=source if is_lazy else "",
                class_=self.values.name_of(field),
                itemprop=self.values.itemprop(field),
                width="320",
            )
            pictures.append(picture)
        return "".join(pictures)

    def _loose_values(self, place: str, tag: str) -> str:
        """Return values outside the facts, each in an element of its own or with a prefix in its node.

        Sites without class names always have a prefix: otherwise nothing would say what the value is.
        """
        parts = []
        for field in self._filled_fields(place):
            prefix, suffix = self.look.affixes[field.name]
            caption = ""
            if self.names.bare and not prefix:
                prefix = f"{self.look.captions[field.name]}: "
            if prefix and not self.values.in_one_node(field):
                caption, prefix, suffix = element("b", escape_text(prefix)) + " ", "", ""
            html = caption + self.values.write(field, prefix, suffix)
            parts.append(element(tag, html, class_=self.values.name_of(field)))
        return "\n".join(parts)

    def _byline(self) -> str:
        return self._loose_values("byline", "span")

    def _offer(self) -> str:
        offer = self._loose_values("offer", "div")
        button = element("input", type="submit", value="Add to Cart")
        return offer and offer + element("form", button, action="/cart")

    def _block(self) -> str:
        return self._loose_values("block", "div")

    def _prose(self) -> str:
        """Return descriptions; a line break may split one into several text nodes."""
        parts = []
        for field in self._filled_fields("prose"):
            text = format_value(field, self.row.values[field.name][0], self.look)
            self.values.record(field, text)
            html = escape_text(text)
            if self.look.broken_prose:
                html = html.replace(". ", ".<br><br>", 1)
            paragraph = element("p", html, class_=self.names("prose"), itemprop=self.values.itemprop(field))
            parts.append(element("h3", self.look.captions[field.name]) + paragraph)
        return "\n".join(parts)

    def _lists(self) -> str:
        return "\n".join(map(self._list, self._filled_fields("list")))

    def _list(self, field: Field) -> str:
        """Return all values of a field below a heading, such as the ingredients of a recipe."""
        texts = self.row.values[field.name]
        self.values.record(field, *texts)
        body = self._list_body(self.look.lists[field.name], texts, field)
        return element("h3", escape_text(self.look.captions[field.name])) + body

    def _list_body(self, kind: str, texts: Sequence[str], field: Field) -> str:
        class_, itemprop = self.names(field.name), self.values.itemprop(field)
        tag = {"paragraphs": "p", "rows": "td", "divs": "div", "lines": "span"}.get(kind, "li")
        items = [element(tag, escape_text(text), itemprop=itemprop) for text in texts]
        match kind:
            case "ul" | "ol":
                return element(kind, "".join(items), class_=class_)
            case "rows":
                return element("table", join_elements("tr", items), class_=class_)
            case "lines":
                lines = items if itemprop else map(escape_text, texts)
                return element("div", "<br>\n".join(lines), class_=class_)
            case _:
                return element("div", "\n".join(items), class_=class_)

    def _facts(self) -> str:
        """Return captions and values; some sites order them differently on each page, so positions say nothing."""
        fields = self._fields("fact")
        if self.look.shuffled:
            fields.sort(key=lambda field: self.values.chance(f"order/{field.name}"))
        facts = [fact for field in fields if (fact := self._fact(field))]
        return lay_out_facts(facts, self.look.facts, self.names("label"))

    def _fact(self, field: Field) -> Fact | None:
        """Return a value with its caption; for a missing value None, or on some sites the caption alone."""
        captioning = self._captioning(field)
        caption = f"{self.look.captions[field.name]}{self.look.caption_end}"
        class_ = self.values.name_of(field)
        if not self._has(field):
            is_blank = self.look.blanks and captioning == "apart"
            return Fact(escape_text(caption), "", class_) if is_blank else None
        if captioning == "inside":
            return Fact("", self.values.write(field, f"{caption.removesuffix(':')}: "), class_)
        return Fact(escape_text(caption) if captioning == "apart" else "", self.values.write(field), class_)

    def _captioning(self, field: Field) -> str:
        """Return where the caption is; apart if the value has several nodes, or nothing else would identify it."""
        captioning = self.look.captioning
        if captioning == "none" and self.names.bare:
            return "apart"
        if captioning == "inside" and not self.values.in_one_node(field):
            return "apart"
        return captioning

    def _reviews(self) -> str:
        """Return what visitors wrote: names, dates and ratings that are not those of the entity."""
        kind = self.look.reviews
        if kind == "none":
            return ""
        rng = Random(f"{self.setting.site}/{self.row.number}/reviews")
        reviews = [self._review(rng) for _ in range(rng.choice((0, 1, 2, 3, 5, 8)))]
        if not reviews:
            return ""
        if kind == "table":
            body = element("table", "".join(map(table_row, reviews)))
        elif kind == "list":
            body = element("ul", join_elements("li", map("<br>".join, reviews)))
        else:
            texts = (" ".join(review[:3]) + element("p", review[3]) for review in reviews)
            body = join_elements("div", texts, class_=self.names("review"))
        return element("h3", "Reviews") + body

    def _review(self, rng: Random) -> tuple[str, str, str, str]:
        """Return the author, the rating, the date and the text of a review."""
        author = element("b", escape_text(make_person(rng)))
        stars = element("span", f"{rng.randrange(1, 6)}.0", class_=self.names("stars"))
        text = escape_text(make_paragraph(rng, 6))
        day = f"{rng.choice(('May', 'June', 'July'))} {rng.randrange(1, 30)}, 2010"
        return author, stars, day, text

    def _related(self) -> str:
        rows = self.noise.sample(self.setting.rows, self.noise.randint(3, 7))
        return recommendations(self.setting, [row for row in rows if row != self.row], "You may also like")

    def _ad(self) -> str:
        return advertisement(self.setting, self.noise)

    def head(self) -> str:
        """Return the Open Graph tags or the JSON-LD of the page, if the look has them."""
        match self.look.embedded:
            case "open graph":
                return self._open_graph()
            case "json-ld":
                data = json.dumps(self._linked_data(), ensure_ascii=False, indent=1).replace("</", "<\\/")
                return element("script", data, type="application/ld+json")
            case _:
                return ""

    def _open_graph(self) -> str:
        images = map(self.setting.image, self.row.values.get("image", ()))
        tags = [("og:title", self.setting.head(self.row)), ("og:site_name", self.setting.title)]
        tags += [("og:image", image) for image in images]
        return "\n".join(element("meta", property=key, content=text) for key, text in tags)

    def _linked_data(self) -> dict[str, Any]:
        """Return what JSON-LD says about the entity, in the types that schema.org demands."""
        data: dict[str, Any] = {"@context": "http://schema.org", "@type": self.setting.vertical.type}
        for field in filter(self._has, self.setting.vertical.attributes):
            name, value = self._linked_value(field)
            data[name] = value
        return data

    def _linked_value(self, field: Field) -> tuple[str, Any]:
        """Return the property and the value of a field in JSON-LD."""
        values = self.row.values[field.name]
        value = values[0]
        match field.kind:
            case "money":
                code = CURRENCY_CODES[value[0]]
                return "offers", {"@type": "Offer", "price": value[1:], "priceCurrency": code}
            case "address":
                keys = ("streetAddress", "addressLocality", "addressRegion", "postalCode")
                parts = dict(zip(keys, value.split("|"), strict=True))
                return "address", {"@type": "PostalAddress", **parts}
            case "rating":
                return "aggregateRating", {"@type": "AggregateRating", "ratingValue": value}
            case "date":
                return field.itemprop, value
            case "minutes":
                return field.itemprop, f"PT{value}M"
        texts = [format_value(field, value, self.look) for value in values]
        return field.itemprop, texts if field.many else texts[0]


# List pages


def list_page(
    frame: SiteFrame, path: str, rows: Sequence[Entity], number: int, noise: Random
) -> tuple[str, list[dict[str, str]]]:
    """Return a page of results, and its rows: the text of each cell by attribute.

    Args:
        frame: writes what is around the main column.
        path: of this page.
        rows: the entities on it.
        number: of this page among the list pages.
        noise: draws what differs from visit to visit.
    """
    setting = frame.setting
    truth = [_listed_texts(setting, row) for row in rows]
    category = setting.vertical.categories[number % len(setting.vertical.categories)]
    cards = [_card_parts(setting, row, texts) for row, texts in zip(rows, truth, strict=True)]
    heading = element("h1", escape_text(f"{category} – page {number}"), class_=setting.names("heading"))
    results = _results(setting, cards, advertisement(setting, noise))
    main = heading + _sorting_form(setting, len(rows)) + results + _pager(setting, path, number)
    facets = [(name, f"/browse/{index}.html") for index, name in enumerate(setting.vertical.categories)]
    aside = element("h3", "Narrow by") + link_list(facets, "list", setting.names("facets"))
    crumbs = (("Home", "/"), (category, ""))
    title = f"{category} {setting.vertical.plural} | {setting.title}"
    return frame.page(Content(title, path, main, crumbs, aside=aside, number=number), noise), truth


def _pager(setting: Setting, path: str, number: int) -> str:
    """Return links to the list pages around this one. They are a list too, but not of records."""
    base = path.split("?")[0]
    pages = [(str(index), f"{base}?page={index}") for index in range(max(1, number - 3), number + 4)]
    pages.append(("Next »", f"{base}?page={number + 1}"))
    return link_list(pages, "line", setting.names("pager"))


def _sorting_form(setting: Setting, count: int) -> str:
    options = "".join(element("option", f"by {name}", value=name) for name in setting.vertical.listed)
    form = element("form", element("select", options) + element("input", type="submit", value="Sort"))
    return element("div", element("em", f"{count} of {len(setting.rows)} shown") + form)


def _listed_texts(setting: Setting, row: Entity) -> dict[str, str]:
    """Return the texts that a list shows about an entity, by field; fields without a value are left out."""
    fields = {field.name: field for field in setting.vertical.fields}
    listed = (setting.vertical.head.name, *setting.vertical.listed)
    return {name: text for name in listed if (text := setting.text(fields[name], row))}


def _card_parts(setting: Setting, row: Entity, texts: dict[str, str]) -> list[str]:
    """Return the parts of a result as HTML: title, listed values (empty if missing), snippet, picture."""
    names, head = setting.names, setting.vertical.head.name
    title = text_link(texts[head], setting.url(row), class_=names("card"))
    order = sorted(setting.vertical.listed, key=lambda name: setting.look.order[name])
    values = [
        element("span", escape_text(texts[name]), class_=names(name)) if name in texts else ""
        for name in order
    ]
    snippet = element("i", escape_text(make_sentence(Random(f"{setting.site}/{row.number}/snippet"))))
    picture = element("img", src=setting.image(f"/images/t/{row.number}.jpg"), width="80", alt="")
    return [title, *values, snippet, picture]


def _results(setting: Setting, cards: list[list[str]], sponsored: str) -> str:
    """Return the results in the layout of the look; an advertisement follows them or interrupts them."""
    kind, class_ = setting.look.results, setting.names("card")
    rows = [_result(kind, class_, card) for card in cards]
    tag = {"table": "table", "pairs": "table", "definitions": "dl", "list": "ol"}.get(kind, "div")
    if tag == "div":
        rows.insert(len(rows) // 2, sponsored)
        sponsored = ""
    return element(tag, "\n".join(rows), class_=setting.names("results")) + sponsored


def _result(kind: str, class_: str, card: list[str]) -> str:
    """Return one result; in "pairs" and "definitions" it has two elements and none around them."""
    title, *details, picture = card
    match kind:
        case "table":
            return table_row(card, class_=class_)
        case "pairs":
            cells = (picture, _join_filled(details))
            return element("tr", element("td", title, colspan="2")) + table_row(cells)
        case "definitions":
            return element("dt", title) + element("dd", _join_filled(card[1:]))
        case "list":
            return element("li", element("h3", title) + _join_filled(card[1:]), class_=class_)
        case _:
            tag = "article" if kind == "articles" else "div"
            return element(tag, picture + element("h2", title) + _join_filled(details), class_=class_)


def _join_filled(parts: Sequence[str]) -> str:
    return "<br>".join(filter(None, parts))


# Static pages


def about_page(frame: SiteFrame, path: str, topic: str, noise: Random) -> str:
    """Return a static page of headings and paragraphs: it shares the frame, but must not count as a detail page."""
    setting = frame.setting
    rng = Random(f"{setting.site}/{topic}")
    parts = [
        element("h1", escape_text(topic), class_=setting.names("heading")),
        element("blockquote", element("p", escape_text(make_sentence(rng)))),
    ]
    for _ in range(rng.randint(2, 6)):
        parts += _about_section(rng)
    author = escape_text(make_person(rng))
    parts.append(element("address", f"{element('em', author)}<br>{text_link('Write to us', '/contact')}"))
    parts.append(fence("visit", element("small", f"Viewed by {noise.randrange(10, 900)} people")))
    crumbs = (("Home", "/"), (topic, ""))
    title = f"{topic} | {setting.title}"
    return frame.page(Content(title, path, "\n".join(parts), crumbs, aside=""), noise)


def _about_section(rng: Random) -> Iterator[str]:
    """Yield a heading, some paragraphs and a list."""
    yield element("h2", escape_text(f"{rng.choice(WORDS['qualities'])} {rng.choice(WORDS['nouns'])}"))
    for _ in range(rng.randint(1, 4)):
        yield element("p", escape_text(make_paragraph(rng, 9)))
    points = (escape_text(make_sentence(rng)) for _ in range(rng.randint(2, 5)))
    yield element("ul", join_elements("li", points))
