"""The frame around every page of a site: head, header, navigation, columns, footer.

The frame is what makes pages of different templates alike, and full of text that is no value: slogans, links to
categories whose names are values elsewhere, a phone number in the footer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from random import Random

from untemplate.demo.building_blocks import (
    advertisement,
    element,
    escape_text,
    fence,
    join_elements,
    link_list,
    recommendations,
    roughen,
    text_link,
    wrap,
)
from untemplate.demo.setting import Setting
from untemplate.demo.verticals import CITIES, WORDS
from untemplate.demo.widgets import write_widgets

__all__ = ["Content", "SiteFrame"]

_STYLED = ("page", "header", "navigation", "main", "sidebar", "facts", "label", "value", "heading", "offer")
_CHARSETS = {"latin-1": "iso-8859-1", "cp1252": "windows-1252", "bom": "iso-8859-1"}


@dataclass(frozen=True)
class Content:
    """What a page puts into the frame.

    Attributes:
        title: of the page.
        path: its URL without the host.
        main: HTML of the main column.
        crumbs: text and URL of the pages above this one, and of this one, whose URL is not used.
        head: HTML to add to the head, such as JSON-LD.
        aside: HTML at the top of the sidebar; by default it shows what is popular.
        number: appears in a script, as the state of an application would.
    """

    title: str
    path: str
    main: str
    crumbs: Sequence[tuple[str, str]]
    head: str = ""
    aside: str | None = None
    number: int = 0


class SiteFrame:
    """Writes whole pages of one template; what all of them share is written once.

    Most parts are cached properties: they depend on the look alone.
    """

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.look = setting.look
        self.names = setting.names

    def page(self, content: Content, noise: Random) -> str:
        """Return the HTML of a page. `noise` draws what differs from visit to visit."""
        main = self._breadcrumb(content.crumbs) + content.main
        main = wrap(main, self.look.main, class_=self.names("main"))
        banner = advertisement(self.setting, noise)
        columns = self._columns(main, self._sidebar(content.aside, noise))
        body = "\n".join((banner, self._header, columns, self._footer, self._overlays))
        body = wrap(body, self.look.outer, class_=self.names("page"))
        body = roughen(body, self.look.unclosed, self.look.shouted)
        visit = f"<script>var _visit={noise.randrange(10**9)},_page={content.number};</script>"
        return (
            f"{self._doctype}<html><head>\n{self._head(content)}\n</head>\n"
            f"<body{self._body_class}>\n{body}\n{fence('visit', visit)}{self._late_scripts}\n</body></html>\n"
        )

    @cached_property
    def _doctype(self) -> str:
        if self.look.shouted:
            return '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">\n'
        return "<!DOCTYPE html>\n"

    @cached_property
    def _body_class(self) -> str:
        return "" if self.names.bare else f' class="{self.names("body")}"'

    def _head(self, content: Content) -> str:
        """Return the head of a page."""
        title = element("title", escape_text(content.title))
        described = element("meta", name="description", content=f"{content.title}. {self._slogan}")
        canonical = element("link", rel="canonical", href=f"{self.setting.host}{content.path}")
        parts = [self._charset, title]
        if self.look.encoding == "late":
            parts = [title, self._notice, self._charset]
        parts += [described, canonical, content.head, self._styles, self._scripts]
        return "\n".join(filter(None, parts))

    @cached_property
    def _charset(self) -> str:
        """The declaration of the encoding. It may be missing, or contradict the byte order mark."""
        encoding = self.look.encoding
        charset = _CHARSETS.get(encoding, "utf-8")
        if encoding == "undeclared":
            return ""
        if self.look.shouted or encoding == "late":
            return element("meta", http_equiv="Content-Type", content=f"text/html; charset={charset}")
        return element("meta", charset=charset)

    @cached_property
    def _slogan(self) -> str:
        """A sentence with the name of the site, which appears on each page."""
        return f"{self.setting.title}: the best {self.setting.vertical.plural} on the web"

    @cached_property
    def _notice(self) -> str:
        """A comment that pushes the charset beyond the first 1,024 bytes, where the HTML standard looks for it."""
        return f"<!-- {'All content is property of its owners. ' * 32}-->"

    @cached_property
    def _styles(self) -> str:
        """A remote style sheet, which nobody loads, and rules inside the page."""
        rng = Random(f"{self.look.names}/styles")
        rules = [self._style_rule(part, rng) for part in _STYLED * (self.look.scripts // 4)]
        sheet = element("link", rel="stylesheet", href=f"/css/main.{rng.randrange(16**6):06x}.css")
        return sheet + "\n" + element("style", "\n".join(rules))

    def _style_rule(self, part: str, rng: Random) -> str:
        selector = rng.choice(("td", "p", "a")) if self.names.bare else f".{self.names(part).split()[0]}"
        box = f"margin:{rng.randrange(20)}px {rng.randrange(20)}px;padding:{rng.randrange(12)}px"
        return f"{selector} {rng.choice('abi')}{{color:#{rng.randrange(16**6):06x};{box};float:left}}"

    @cached_property
    def _scripts(self) -> str:
        """A script in the head, as long as those of real pages."""
        rng = Random(f"{self.look.names}/scripts")
        return element("script", "\n".join(_script_lines(rng, self.look.scripts * 12)))

    @cached_property
    def _late_scripts(self) -> str:
        """The state of an application at the end of the page: data, but not about the entity."""
        rng = Random(f"{self.look.names}/late")
        state = json.dumps({f"k{index}": rng.getrandbits(64) for index in range(self.look.scripts * 4)})
        return element("script", f"window.__STATE__={state};")

    @cached_property
    def _header(self) -> str:
        """The header: logo, slogan, search form, widgets and navigation."""
        rng = Random(f"{self.look.names}/header")
        image = element("img", src="/img/logo.png", alt=self.setting.title, width="180")
        logo = element("a", image, href="/", class_=self.names("logo"))
        query = element("input", type="text", name="q", size="30")
        search = element("form", query + element("input", type="submit", value="Search"), action="/search")
        head = logo + element(rng.choice(("div", "p", "span")), self._slogan) + search
        header = wrap(head, (self.look.header,), class_=self.names("header"))
        return f"{header}\n{write_widgets(self.setting, 'top')}\n{self._navigation}"

    @cached_property
    def _navigation(self) -> str:
        """Links to sections and categories; the names of categories are values elsewhere."""
        rng = Random(f"{self.setting.site}/navigation")
        sections = [(text, f"/{index}/") for index, text in enumerate(rng.sample(WORDS["main_links"], 10))]
        categories = rng.sample(self.setting.vertical.categories, 12)
        browse = [(text, f"/browse/{index}.html") for index, text in enumerate(categories)]
        if self.look.navigation == "select":
            options = "".join(element("option", escape_text(text), value=url) for text, url in browse)
            return link_list(sections, "list", self.names("navigation")) + element("select", options)
        return link_list(sections + browse, self.look.navigation, self.names("navigation"))

    def _breadcrumb(self, crumbs: Sequence[tuple[str, str]]) -> str:
        """Return the path to the page. Its last part repeats the heading, so a value appears twice."""
        parts = [text_link(text, url) for text, url in crumbs[:-1]]
        last = escape_text(crumbs[-1][0])
        class_ = self.names("crumbs")
        match self.look.breadcrumb:
            case "none":
                return ""
            case "list":
                items = join_elements("li", [*parts, element("strong", last)])
                return element("ol", items, class_=class_)
            case "links":
                return element("div", " &raquo; ".join([*parts, last]), class_=class_)
            case _:
                return element("p", " / ".join([*parts, element("span", last)]), class_=class_)

    def _sidebar(self, aside: str | None, noise: Random) -> str:
        """Return an advertisement, facets or what is popular, and widgets; empty if the site has no sidebar."""
        if self.look.sidebar == "none":
            return ""
        if aside is None:
            aside = recommendations(self.setting, noise.sample(self.setting.rows, 5), "Most popular")
        return advertisement(self.setting, noise) + aside + self._side_widgets

    @cached_property
    def _side_widgets(self) -> str:
        return write_widgets(self.setting, "side")

    def _columns(self, main: str, sidebar: str) -> str:
        """Return the main column and the sidebar beside each other, in the order of the look."""
        if not sidebar:
            return main
        class_ = self.names("sidebar")
        match self.look.columns:
            case "table":
                side = element("td", sidebar, width="200", class_=class_)
                cells = [element("td", main, valign="top"), side]
            case "aside":
                cells = [main, element("aside", sidebar, class_=class_)]
            case "floats":
                cells = [element("div", main), element("div", sidebar, class_=class_)]
            case _:
                cells = [main, element("div", sidebar, class_=class_)]
        if self.look.sidebar == "left":
            cells.reverse()
        if self.look.columns == "table":
            return element("table", element("tr", "".join(cells)), width="980")
        return element("div", "\n".join(cells), class_=self.names("columns"))

    @cached_property
    def _footer(self) -> str:
        """The footer: directory, links, widgets, and a phone number on every page that is not the entity's."""
        rng = Random(f"{self.setting.site}/footer")
        items = [(text, f"/help/{index}") for index, text in enumerate(rng.sample(WORDS["footer_links"], 11))]
        legal = f"© 2011 {self.setting.title}. All rights reserved. Call (800) 555-{rng.randrange(10**4):04}"
        kind = self.look.footer if self.look.footer in ("table", "line", "columns") else "list"
        tag = "footer" if self.look.footer == "footer" else "div"
        links = link_list(items, kind, self.names("links"))
        body = (
            self._directory + write_widgets(self.setting, "bottom") + links + element("p", escape_text(legal))
        )
        return element(tag, body, class_=self.names("footer"))

    @cached_property
    def _overlays(self) -> str:
        """What covers the page until a visitor answers it, and what is never visible."""
        return write_widgets(self.setting, "overlay")

    @cached_property
    def _directory(self) -> str:
        """Links for search engines: categories by city, whose words are values elsewhere."""
        cities = [city for city, _, _ in CITIES]
        pairs = list(product(cities, self.setting.vertical.categories))
        chosen = Random(f"{self.setting.site}/directory").sample(pairs, self.look.directory)
        items = [(f"{category} in {city}", f"/d/{index}") for index, (city, category) in enumerate(chosen)]
        kind = {"table": "line", "line": "line", "columns": "columns"}.get(self.look.footer, "list")
        return element("h4", "Popular searches") + link_list(items, kind, self.names("directory"))


def _script_lines(rng: Random, count: int) -> Iterable[str]:
    """Yield lines of a script that does nothing."""
    calls = ("track", "init", "load", "bind", "push", "require", "configure")
    for _ in range(count):
        name, key = rng.choice(calls), rng.randrange(16**6)
        yield f'window._q=window._q||[];_q.push(["{name}","{key:06x}",{rng.randrange(999)}]);'
