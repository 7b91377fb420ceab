"""Style sheets inside pages: which rules apply to an element, and which of them wins."""

from __future__ import annotations

import pytest
import tinycss2
from lxml import etree

from untemplate import Page
from untemplate.layout.cascade import (
    ROOT_STYLE,
    Display,
    Style,
    StyleContext,
    compute_style,
    load_style_sheet,
    media_applies,
    parse_length,
    read_declarations,
)
from untemplate.page import HIDDEN_TAGS
from untemplate.sources.assets import NO_ASSETS

BODY = '<div id=main class="a b"><ul><li class=item><p class="x y" lang=en data-x=7>one</p></li></ul></div>'


def context(page: Page, element: etree._Element) -> StyleContext:
    """The context of an element."""
    sheet = load_style_sheet(page, NO_ASSETS)
    around: StyleContext | None = None
    for ancestor in reversed(list(element.iterancestors())):
        around = sheet.context(ancestor, around)
    return sheet.context(element, around)


def font_size(css: str, attributes: str = "", path: str = "//p") -> float:
    """The font size that a style sheet gives to an element of a small page."""
    page = Page(html=f"<style>{css}</style>{BODY.replace('<p', f'<p {attributes}')}")
    (element,) = page.tree.xpath(path)
    return context(page, element).style.font_size


@pytest.mark.parametrize(
    "selector",
    [
        *(
            "p",
            "P",
            "*",
            ".x",
            ".y",
            ".x.y",
            "p.x",
            "div p",
            "#main p",
            "div#main .item > p",
            ".a.b li p",
            "h1, p",
        ),
        *(
            "ul > li > p",
            "html body p",
            "div > ul p",
            "p:not(.z)",
            "p:is(.z, .x)",
            ":where(p)",
            "p:not(div > p)",
        ),
        *(
            "[data-x]",
            "p[data-x='7']",
            "[class*=y]",
            "[lang|=en]",
            "p:not(:hover)",
            "/* p */ p",
            "b, p:hover, .x",
        ),
    ],
)
def test_selectors_that_match(selector: str) -> None:
    assert font_size(f"{selector} {{ font-size: 5px }}") == 5


@pytest.mark.parametrize(
    "selector",
    [
        *(
            "b",
            ".z",
            ".x.z",
            "b.x",
            "div > p",
            "#other p",
            ".b > li",
            "p p",
            "p:hover",
            "p::before",
            "p:not(.x)",
        ),
        *(
            "",
            ">",
            "@media",
            "li > div p",
            "[data-y]",
            "[data-x='8']",
            "a|",
            "p:unknown",
            "p, :unknown(",
            "|p|",
        ),
    ],
)
def test_selectors_that_do_not(selector: str) -> None:
    assert font_size(f"{selector} {{ font-size: 5px }}") == 16


@pytest.mark.parametrize(
    "selector", ["p:first-child", "li:nth-child(1) p", "p:has(b)", "ul > * + p", "h1 ~ p"]
)
def test_selectors_that_depend_on_siblings_or_content_are_ignored(selector: str) -> None:
    assert font_size(f"{selector} {{ font-size: 5px }} p {{ font-size: 7px }}") == 7


@pytest.mark.parametrize(
    ("css", "size"),
    [
        ("p {font-size: 1px} p {font-size: 2px}", 2),
        (".x {font-size: 1px} p {font-size: 2px}", 1),
        (".y {font-size: 1px} .x {font-size: 2px}", 2),
        ("#main p {font-size: 1px} .x.y {font-size: 2px}", 1),
        ("div p {font-size: 1px} p {font-size: 2px}", 1),
        ("p {font-size: 1px !important} .x {font-size: 2px}", 1),
        ("@media print {p {font-size: 1px}} p {font-size: 2px}", 2),
        ("@media screen {b {font-size: 3px} p {font-size: 1px}} b {font-size: 2px}", 1),
        ("@supports (display: grid) {@media screen {p {font-size: 1px}}}", 1),
        ("@supports not (display: grid) {p {font-size: 1px}}", 16),
        ("@layer base {p {font-size: 1px}}", 1),
        ("@keyframes x {p {font-size: 1px}} @font-face {font-size: 2px}", 16),
        ("@import 'x.css'; p {font-size: 1px}", 1),
        ("/* } */ p {font-size: 1px} /* p {font-size: 2px}", 1),
        ("p {font-size: 1px; color: red; FONT-SIZE : 2PX}", 2),
        ("p {content: '}'} p {font-size: 1px}", 1),
    ],
)
def test_the_stronger_rule_wins_else_the_later(css: str, size: float) -> None:
    assert font_size(css) == size


def test_style_attributes_win_unless_a_rule_is_important() -> None:
    assert font_size(".x.y {font-size: 1px}", "style='font-size: 2px'") == 2
    assert font_size(".x {font-size: 1px !important}", "style='font-size: 2px'") == 1
    assert font_size(".x {font-size: 1px !important}", "style='font-size: 2px !important'") == 2


def test_rules_of_browsers_come_first() -> None:
    html = "<h1>x</h1><p hidden>y</p><input type=HIDDEN><font size=+2>z</font>" + "".join(
        f"<{tag}></{tag}>" for tag in HIDDEN_TAGS
    )
    page = Page(html=html)
    styles = {element.tag: context(page, element).style for element in page.tree.iter(etree.Element)}
    assert (styles["h1"].font_size, styles["h1"].font_weight) == (32, 700)
    assert styles["font"].font_size == 24
    assert not any(styles[tag].display for tag in {"p", "input"} | (HIDDEN_TAGS & styles.keys()))


@pytest.mark.parametrize(
    ("media", "holds"),
    [
        *(
            ("", True),
            ("screen", True),
            ("all", True),
            ("print", False),
            ("handheld", False),
            ("not print", True),
        ),
        *(
            ("screen and (max-width: 600px)", False),
            ("(min-width: 40em)", True),
            ("(min-width: 1281px)", False),
        ),
        *(("print, screen", True), ("screen and (max-width: 600px), (min-width: 900px)", True)),
    ],
)
def test_media(media: str, holds: bool) -> None:
    assert media_applies(media) is holds


def test_elements_that_no_selector_distinguishes_share_a_context() -> None:
    html = "<style>.x b {font-size: 1px}</style><p class=x><b id=1>1</b><b id=2>2</b></p><p><b>3</b></p>"
    page = Page(html=html)
    first, second, third = (context(page, element) for element in page.tree.iter("b"))
    assert first is second
    assert (first.style.font_size, third.style.font_size) == (1, 16)


@pytest.mark.parametrize(
    "css",
    [
        "div " * 30 + "p {font-size: 1px}",
        ":not(" * 2000 + "p" + ")" * 2000 + "{font-size: 1px}",
        "@media " + "(" * 3000 + "{ p {font-size: 1px} }",
        "@media screen {" * 3000 + "p {font-size: 1px}",
        "p { font-size: " + "(" * 3000,
    ],
)
def test_hostile_rules_are_ignored(css: str) -> None:
    assert font_size(css) == 16


def compute(css: str, parent: Style = ROOT_STYLE) -> Style:
    normal, important = read_declarations(tinycss2.parse_blocks_contents(css, True, True))
    return compute_style(parent, normal + important)


@pytest.mark.parametrize(
    ("css", "display"),
    [
        ("", Display.INLINE),
        ("display: NONE", Display.NONE),
        ("display: none; display: block", Display.BLOCK),
        ("display: none !important; display: block", Display.NONE),
        ("display: list-item", Display.BLOCK),
        ("display: table-cell", Display.BESIDE),
        ("display: block; float: left", Display.BESIDE),
        ("float: none", Display.INLINE),
        ("float: right; display: none", Display.NONE),
        ("position: absolute; clip: rect(0 0 0 0)", Display.NONE),
        ("position: absolute; clip: rect(1px, 1px, 1px, 1px)", Display.NONE),
        ("position: fixed; clip-path: inset(50%)", Display.NONE),
        ("position: absolute; left: -10000px", Display.NONE),
        ("position: absolute; top: -999em", Display.NONE),
        ("position: static; left: -10000px; clip: rect(0 0 0 0)", Display.INLINE),
        ("position: absolute; clip: rect(0, 90px, 90px, 0)", Display.INLINE),
        ("position: absolute; clip: rect(0 0 0 0); clip: auto", Display.INLINE),
        ("position: absolute; clip-path: inset(2px); left: -20px", Display.INLINE),
    ],
)
def test_display(css: str, display: Display) -> None:
    assert compute(css).display == display


def test_a_text_that_an_image_replaces_is_not_visible() -> None:
    style = compute("text-indent: -9999px; display: block")
    assert (style.display, style.is_visible) == (Display.BLOCK, False)
    assert compute("text-indent: -20px").is_visible


def test_children_of_a_flex_box_are_beside_each_other_unless_it_is_a_column() -> None:
    assert compute("display: block", compute("display: flex")).display == Display.BESIDE
    assert (
        compute("display: block", compute("display: flex; flex-direction: column")).display == Display.BLOCK
    )


@pytest.mark.parametrize(
    ("css", "size", "weight"),
    [
        ("", 20, 400),
        ("font-size: 1.5em", 30, 400),
        ("font-size: 150%; font-weight: bold", 30, 700),
        ("font: bold 12pt/30px Arial, serif", 16, 700),
        ("font: italic 600 x-large serif", 24, 700),
        ("font-weight: bold; font: 10px serif", 10, 400),
        ("font-size: larger", 24, 400),
        ("font-size: calc(1px + 2px)", 20, 400),
        ("font-size: 99999px", 200, 400),
        ("font-size: -5px", 0, 400),
    ],
)
def test_fonts(css: str, size: float, weight: int) -> None:
    style = compute(css, Style(font_size=20))
    assert (style.font_size, style.font_weight) == (pytest.approx(size), weight)


def test_fonts_and_visibility_are_inherited_and_margins_are_not() -> None:
    parent = compute("font: bold 20px serif; visibility: hidden; margin: 5px; display: none")
    style = compute("", parent)
    assert (style.font_size, style.font_weight, style.is_visible) == (20, 700, False)
    assert (style.margin_top, style.indent, style.display) == (0, 0, Display.INLINE)
    assert compute("visibility: visible", parent).is_visible


def test_margins_and_paddings_of_four_sides() -> None:
    style = compute("margin: 1px 2px 3px 4px; padding: 10px 20px")
    assert (style.margin_top, style.margin_bottom, style.indent) == (1, 3, 24)
    style = compute("margin: 1em auto 3em; padding-left: 5px")
    assert (style.margin_top, style.margin_bottom, style.indent) == (16, 48, 5)


@pytest.mark.parametrize(
    ("value", "pixels"),
    [
        *(
            ("5", 5),
            ("5px", 5),
            ("12pt", 16),
            ("2em", 20),
            ("2ex", 10),
            ("1rem", 16),
            ("50%", 100),
            ("10vw", 128),
        ),
        *(
            ("1in", 96),
            ("-3px", -3),
            ("999999px", 20_000),
            ("5 px", None),
            ("", None),
            ("auto", None),
            ("1e5px", None),
        ),
    ],
)
def test_lengths(value: str, pixels: float | None) -> None:
    assert parse_length(value, 10, percent_of=200) == (None if pixels is None else pytest.approx(pixels))
