"""The parts of a frame besides logo, navigation and footer links: menus, forms, teasers, icons, banners.

A real site puts up to a dozen of them around the content of each page. The widgets of one area, such as the sidebar,
share habits of markup. The habits follow from the names of the look: they are the same in all templates of a site,
and differ between sites.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import NamedTuple

from untemplate.demo.building_blocks import (
    element,
    escape_text,
    fence,
    join_elements,
    table_row,
    text_link,
    wrap,
)
from untemplate.demo.setting import Setting
from untemplate.demo.verticals import CITIES, WORDS, Entity, make_person, make_sentence

__all__ = ["write_widgets"]

_TITLE_TAGS = ("h2", "h3", "h3", "h4", "h4", "h5", "h6", "strong", "p", "div", "b")
_WRAPPERS = (
    ("div",),
    ("div",),
    ("div", "div"),
    ("section",),
    ("section", "div"),
    ("div", "div", "div"),
    ("div", "section"),
)
_OLD_WRAPPERS = (("div",), ("table",), ("center",), ("table", "font"), ("div", "table"))
_ICONS = ("i", "span", "em", "img", "svg", "use")
_OLD_ICONS = ("img", "font", "b", "img")


class _LinkLayout(NamedTuple):
    """How links are arranged: the element around all, the elements around each, and what is between them."""

    outer: str
    inner: tuple[str, ...]
    between: str = ""


_LINK_LAYOUTS = {
    "items": _LinkLayout("ul", ("li",)),
    "spans": _LinkLayout("ul", ("li",)),
    "icons": _LinkLayout("ul", ("li",)),
    "nested": _LinkLayout("ul", ("li", "span")),
    "paragraphs": _LinkLayout("", ("p",)),
    "divs": _LinkLayout("div", ("div",)),
    "cells": _LinkLayout("table", ("tr",)),
    "terms": _LinkLayout("dl", ("dd",)),
    "lines": _LinkLayout("p", (), "<br>"),
}

# Of each layout: the element around all fields of a form, if any, and how to write a caption with its field.
_FORM_LAYOUTS: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "labels": ("", lambda caption, field: element("label", caption) + field),
    "around": ("", lambda caption, field: wrap(caption + field, ("p", "label"))),
    "rows": ("table", lambda caption, field: table_row((caption, field))),
    "breaks": ("", lambda caption, field: f"{caption}<br>{field}<br>"),
    "groups": (
        "fieldset",
        lambda caption, field: element("div", wrap(caption, ("label", "span")) + field),
    ),
}


class _Teaser(NamedTuple):
    """The picture of a record, the link to it, and its listed values, as HTML."""

    picture: str
    link: str
    values: str


def _media(teaser: _Teaser) -> str:
    text = element("div", element("h5", teaser.link) + teaser.values)
    return element("div", teaser.picture + text)


def _article(teaser: _Teaser) -> str:
    return element("article", teaser.picture + element("p", teaser.link) + teaser.values)


def _figure(teaser: _Teaser) -> str:
    return element("figure", teaser.picture + element("figcaption", teaser.link + teaser.values))


# Of each layout: the element around all teasers, if any, and how to write one of them.
_TEASER_LAYOUTS: dict[str, tuple[str, Callable[[_Teaser], str]]] = {
    "items": ("ol", lambda teaser: element("li", teaser.link + teaser.values)),
    "media": ("", _media),
    "rows": ("table", table_row),
    "articles": ("", _article),
    "figures": ("", _figure),
    "terms": ("dl", lambda teaser: element("dt", teaser.link) + element("dd", teaser.values)),
}


def write_widgets(setting: Setting, area: str) -> str:
    """Return the widgets that the look puts into an area of the frame, such as "side"."""
    return "\n".join(_Widget(setting, area, name).html() for name in setting.look.widgets[area])


def _enclose(tag: str, html: str) -> str:
    return element(tag, html) if tag else html


class _Widget:
    """Writes one widget. For each name in `look.WIDGETS` there is a method of that name.

    Attributes:
        rng: draws habits of markup, which a new look changes.
        words: draws texts, which a site keeps.
    """

    def __init__(self, setting: Setting, area: str, name: str) -> None:
        self.setting = setting
        self.names = setting.names
        self.name = name
        self.words = Random(f"{setting.site}/widget/{name}")
        self.rng = Random(f"{setting.look.names}/widgets/{area}")
        is_old = setting.look.shouted
        self.title_tag = self.rng.choice(_TITLE_TAGS)
        self.title_kind = self.rng.choice(("plain", "plain", "span", "icon", "link"))
        self.icon_kind = self.rng.choice(_OLD_ICONS if is_old else _ICONS)
        self.wrapper = self.rng.choice(_OLD_WRAPPERS if is_old else _WRAPPERS)
        self.button_kind = self.rng.choice(("input", "button", "icon", "link"))
        self.form_layout = self.rng.choice(tuple(_FORM_LAYOUTS))
        self.link_layout = self.rng.choice(("items", *_LINK_LAYOUTS))
        self.teaser_layout = self.rng.choice(tuple(_TEASER_LAYOUTS))

    def html(self) -> str:
        """Return the widget inside its wrappers."""
        body: str = getattr(self, f"_{self.name}")()
        return wrap(body, self.wrapper, class_=self.names(f"widget_{self.name}"))

    # Pieces of widgets

    def _title(self, text: str) -> str:
        """Return the title of the widget; some titles are links or have an icon."""
        html = escape_text(text)
        match self.title_kind:
            case "span":
                html = element("span", html)
            case "icon":
                html = self._icon() + html
            case "link":
                html = element("a", html, href=f"/{self.name}/")
        return element(self.title_tag, html, class_=self.names("widget_title"))

    def _icon(self) -> str:
        """Return an icon without text."""
        class_ = self.names(f"icon_{self.name}")
        match self.icon_kind:
            case "img":
                return element("img", src=f"/img/icons/{self.name}.png", alt="", width="16")
            case "svg":
                path = element("path", d=f"M{self.rng.randrange(24)} 2h20v20z")
                return element("svg", path, class_=class_, viewBox="0 0 24 24")
            case "use":
                return element("svg", element("use", href=f"#{self.name}"), class_=class_)
            case kind:
                return element(kind, class_=class_)

    def _sample(self, words: Sequence[str], count: int) -> list[str]:
        return self.words.sample(words, min(count, len(words)))

    def _targets(self, texts: Iterable[str]) -> list[tuple[str, str]]:
        """Return each text with the URL that it links to."""
        return [(text, f"/{self.name}/{number}") for number, text in enumerate(texts)]

    def _links(self, texts: Iterable[str]) -> str:
        """Return links in the layout of the widget."""
        outer, inner, between = _LINK_LAYOUTS[self.link_layout]
        links = (wrap(self._link(text, url), inner) for text, url in self._targets(texts))
        return _enclose(outer, between.join(links))

    def _link(self, text: str, url: str) -> str:
        html = escape_text(text)
        match self.link_layout:
            case "spans":
                html = element("span", html)
            case "icons":
                html = self._icon() + html
            case "cells":
                return join_elements("td", (self._icon(), element("a", html, href=url)))
        return element("a", html, href=url)

    def _button(self, text: str) -> str:
        """Return a button, as an input, a button or a link."""
        match self.button_kind:
            case "input":
                return element("input", type="submit", value=text)
            case "button":
                return element("button", text, type="submit", class_=self.names("button"))
            case "icon":
                return element("button", self._icon() + element("span", text), type="button")
            case _:
                return element("a", element("span", text), href=f"/{self.name}", class_=self.names("button"))

    def _form(self, captions: Sequence[str], button: str) -> str:
        """Return a form with a text field for each caption."""
        fields = [element("input", type="text", name=f"{self.name}{index}") for index in range(len(captions))]
        outer, write = _FORM_LAYOUTS[self.form_layout]
        body = _enclose(outer, "".join(map(write, map(escape_text, captions), fields)))
        return element("form", body + self._button(button), action=f"/{self.name}", method="post")

    def _choice(self, options: Iterable[str]) -> str:
        return element("select", join_elements("option", map(escape_text, options)), name=self.name)

    def _teasers(self, count: int) -> str:
        """Return teasers of records of the site: titles and prices that are values on other pages."""
        rows = self.words.sample(self.setting.rows, min(count, len(self.setting.rows)))
        outer, write = _TEASER_LAYOUTS[self.teaser_layout]
        return fence("related", _enclose(outer, "".join(write(self._teaser(row)) for row in rows)))

    def _teaser(self, row: Entity) -> _Teaser:
        picture = element("img", src=self.setting.image(f"/images/t/{row.number}.jpg"), width="60", alt="")
        link = text_link(self.setting.head(row), self.setting.url(row))
        tag = "small" if self.teaser_layout in ("rows", "figures") else "span"
        listed = self.setting.vertical.listed[:2]
        fields = (field for field in self.setting.vertical.fields if field.name in listed)
        texts = (self.setting.text(field, row) for field in fields)
        values = join_elements(tag, map(escape_text, filter(None, texts)), " ", class_=self.names("teaser"))
        return _Teaser(picture, link, values)

    # Above the content

    def _top_bar(self) -> str:
        """Return contact, languages and links of the shop, in a thin line above the header."""
        call = element("li", self._icon() + element("span", f"Questions? {self._phone()}"))
        links = join_elements(
            "li", (text_link(*pair) for pair in self._targets(self._sample(WORDS["main_links"], 4)))
        )
        return element("ul", call) + element("ul", links) + self._choice(("English", "Español", "Français"))

    def _phone(self) -> str:
        return f"(888) 555-{self.words.randrange(10**4):04}"

    def _account(self) -> str:
        """Return links to the account and the cart, with the number of things in it."""
        account = element("a", self._icon() + element("span", "Sign In"), href="/account")
        wishes = element("a", self._icon() + element("small", "Wish List"), href="/wishes")
        cart = element("a", self._icon() + element("span", "Cart") + element("b", "0"), href="/cart")
        empty = element("div", element("p", "Your cart is empty.") + self._button("Checkout"))
        parts = [account, wishes, element("div", cart + empty) if self.rng.random() < 0.6 else cart]
        return element("ul", join_elements("li", parts)) if self.rng.random() < 0.5 else "".join(parts)

    def _login(self) -> str:
        remember = element("label", element("input", type="checkbox", name="keep") + "Remember me")
        forgot = element(
            "p", text_link("Forgot your password?", "/password") + " | " + text_link("Join", "/join")
        )
        return self._form(("User name", "Password"), "Log In") + remember + forgot

    def _search_panel(self) -> str:
        """Return a search form with the categories to search in, and what others search for."""
        categories = self._choice(("All", *self.setting.vertical.categories[:8]))
        field = element("input", type="search", name="q") + self._button("Go")
        popular = [
            text_link(*pair) for pair in self._targets(self._sample(self.setting.vertical.categories, 4))
        ]
        hint = element("div", element("em", "Popular:") + " " + ", ".join(popular))
        return element("form", categories + element("div", field) + hint, action="/search")

    def _menu(self) -> str:
        """Return a menu that opens into panels, each with columns of links and a teaser or a picture."""
        groups = self._sample(WORDS["menu_groups"], self.rng.randint(3, 6))
        items = [
            element("a", element("span", escape_text(group)) + self._icon(), href=f"/m/{number}")
            + self._panel(group)
            for number, group in enumerate(groups)
        ]
        toggle = element("button", self._icon() + "Menu", type="button")
        return toggle + element(
            "nav", element("ul", join_elements("li", items, class_=self.names("menu_item")))
        )

    def _panel(self, group: str) -> str:
        """Return the panel of a group of the menu."""
        columns = [
            element("h4", escape_text(f"{group} {number}"))
            + self._links(self._sample(self.setting.vertical.categories, 4))
            for number in range(1, 3)
        ]
        picture = element("img", src=f"/img/menu/{self.words.randrange(99)}.jpg", alt=group)
        promotion = element(
            "a", picture + element("strong", escape_text(f"All {group}")), href=f"/{self.name}"
        )
        return element(
            "div", join_elements("div", columns) + element("div", promotion), class_=self.names("panel")
        )

    def _strip(self) -> str:
        """Return promises of the site, each with an icon."""
        lines = self._sample(WORDS["promises"], self.rng.randint(2, 4))
        parts = (
            self._icon() + element("strong", line) + element("small", text_link("Details", "/help/0"))
            for line in lines
        )
        return join_elements(self.rng.choice(("div", "p", "span")), parts)

    def _featured(self) -> str:
        """Return records that the site wants to sell, above the content of every page."""
        more = element("p", element("a", "View all" + self._icon(), href="/featured"))
        return self._title("Featured") + self._teasers(self.rng.randint(3, 5)) + more

    # Beside the content

    def _categories(self) -> str:
        """Return a tree of categories with the number of records in each."""
        names = self._sample(self.setting.vertical.categories, 8)
        parts = [
            text_link(name, f"/c/{number}") + element("span", f"({self.words.randrange(2, 400)})")
            for number, name in enumerate(names)
        ]
        parts[2] += element(
            "ul", join_elements("li", (text_link(f"{city}", "/c/2") for city, _, _ in CITIES[:3]))
        )
        return self._title("Categories") + element("ul", join_elements("li", parts))

    def _recent(self) -> str:
        return self._title("Recently added") + self._teasers(self.rng.randint(3, 8))

    def _top_ten(self) -> str:
        return self._title("Bestsellers") + self._teasers(10) + element("p", text_link("More", "/top"))

    def _tags(self) -> str:
        """Return a tag cloud."""
        texts = self._sample((*self.setting.vertical.categories, *WORDS["nouns"]), 16)
        tag = self.rng.choice(("font", "span", "big", ""))
        anchors = [text_link(text.lower(), f"/tag/{number}") for number, text in enumerate(texts)]
        cloud = [element(tag, anchor) for anchor in anchors] if tag else anchors
        return self._title("Tags") + element(self.rng.choice(("div", "p")), " ".join(cloud))

    def _newsletter(self) -> str:
        promise = element("p", self.words.choice(WORDS["promises"]))
        note = element("small", "We never share it. " + text_link("Privacy", "/help/2"))
        return self._title("Newsletter") + promise + self._form(("Your email",), "Subscribe") + note

    def _poll(self) -> str:
        """Return a question to visitors."""
        answers = (
            element("input", type="radio", name="poll") + text for text in ("Often", "Sometimes", "Never")
        )
        body = element("p", element("b", "How often do you visit us?")) + join_elements(
            "label", answers, "<br>"
        )
        return self._title("Poll") + element("form", body + self._button("Vote"), action="/poll")

    def _calendar(self) -> str:
        """Return a month as a table, with links on some of its days."""
        month = self.words.choice(("March 2011", "April 2011", "May 2011"))
        heads = element("thead", element("tr", join_elements("th", "MTWTFSS")))
        cells = [
            text_link(str(day), f"/{day}") if self.words.random() < 0.2 else str(day) for day in range(1, 29)
        ]
        weeks = "".join(table_row(cells[start : start + 7]) for start in range(0, 28, 7))
        return element("table", element("caption", month) + heads + element("tbody", weeks))

    def _quotes(self) -> str:
        """Return what visitors say about the site."""
        quotes = (
            element("blockquote", element("p", escape_text(make_sentence(self.words))))
            + element("cite", escape_text(make_person(self.words)))
            for _ in range(self.rng.randint(1, 3))
        )
        return self._title("What people say") + join_elements("div", quotes)

    def _archive(self) -> str:
        months = ("January", "February", "March", "April", "May", "June")
        return self._title("Archive") + self._links(f"{month} 2010" for month in months)

    # Below the content

    def _columns(self) -> str:
        """Return columns of links, each below a heading."""
        groups = self._sample(WORDS["menu_groups"], self.rng.randint(2, 4))
        columns = (
            self._title(group) + self._links(self._sample(WORDS["footer_links"], 5)) for group in groups
        )
        return join_elements("div", columns, class_=self.names("footer_column"))

    def _social(self) -> str:
        anchors = [
            element("a", self._icon() + element("span", network), href=f"https://{network.lower()}.example/")
            for network in self._sample(WORDS["networks"], self.rng.randint(3, 6))
        ]
        body = element("ul", join_elements("li", anchors)) if self.rng.random() < 0.6 else "".join(anchors)
        return self._title("Follow us") + body

    def _payment(self) -> str:
        """Return pictures of credit cards."""
        cards = (element("img", src=f"/img/pay/{card.lower()}.png", alt=card) for card in WORDS["payments"])
        tag = self.rng.choice(("span", "li", "td", "div"))
        outer = {"li": "ul", "td": "tr"}.get(tag, "p" if tag == "span" else "div")
        body = element(outer, join_elements(tag, cards))
        return element("table", body) if outer == "tr" else body

    def _contact(self) -> str:
        """Return the address and the phone number of the company behind the site, which are no values."""
        city, state, code = self.words.choice(CITIES)
        lines = (
            f"{self.setting.title} Inc.",
            f"{self.words.randrange(1, 99)} Market St",
            f"{city}, {state} {code}01",
        )
        call = self._icon() + element("a", self._phone(), href="/contact")
        return self._title("Contact") + element("address", "<br>".join(lines)) + element("p", call)

    def _apps(self) -> str:
        stores = (
            element("img", src=f"/img/{store}.png", alt=f"Get it on {store}") for store in ("ios", "android")
        )
        anchors = join_elements("a", stores, " ", href="/apps")
        return element("p", element("strong", "Get the app")) + element("div", anchors)

    def _legal(self) -> str:
        """Return the small print."""
        links = " | ".join(text_link(*pair) for pair in self._targets(self._sample(WORDS["footer_links"], 4)))
        notes = " ".join(make_sentence(self.words) for _ in range(3))
        return (
            element("hr")
            + element("small", escape_text(notes))
            + element("p", links + "<br>" + element("i", "v 4.2"))
        )

    def _brands(self) -> str:
        """Return the logos of partners."""
        logos = (
            element("a", element("img", src=f"/img/b/{number}.png", alt=brand), href=f"/b/{number}")
            for number, brand in enumerate(self._sample(WORDS["brands"], 6))
        )
        return self._title("Our partners") + element("ul", join_elements("li", logos))

    def _to_top(self) -> str:
        return element("a", self._icon() + element("em", "Back to top"), href="#top")

    # Above everything

    def _cookies(self) -> str:
        """Return the question whether cookies are allowed."""
        text = "We use cookies to improve your visit. " + text_link("Learn more", "/help/2")
        kinds = (
            element("input", type="checkbox", name="c") + element("span", kind)
            for kind in ("Needed", "Statistics")
        )
        choices = element("fieldset", join_elements("label", kinds)) if self.rng.random() < 0.5 else ""
        return element("p", text) + choices + element("div", self._button("Accept") + self._button("Decline"))

    def _popup(self) -> str:
        """Return an overlay that asks for an email address."""
        close = element("button", element("span", "×"), type="button")
        picture = element("img", src="/img/popup.jpg", alt="")
        text = self._title("Join 20,000 readers") + element("p", self.words.choice(WORDS["promises"]))
        return element("div", close + picture + element("div", text + self._form(("Email",), "Join")))

    def _chat(self) -> str:
        header = element(
            "header", element("h6", "Chat with us") + element("button", self._icon(), type="button")
        )
        field = element("textarea", name="m") + self._button("Send")
        return header + element("div", element("p", "How can we help?")) + element("form", field)

    def _sprite(self) -> str:
        """Return the shapes of all icons."""
        shapes = ("path", "circle", "rect", "polygon")
        symbols = (
            element("symbol", element(shape) + element("path"), id=shape)
            for shape in self.rng.sample(shapes, 3)
        )
        return element("svg", element("defs", "".join(symbols)), width="0", height="0")

    def _no_script(self) -> str:
        tracker = element("iframe", src="/t.html", height="0", width="0")
        return element("noscript", tracker) + element("noscript", element("img", src="/t.gif", alt=""))
