"""Style sheets inside pages: which rules apply to an element, and which of them wins."""

from __future__ import annotations

import pytest
from lxml import etree

from untemplate import Page
from untemplate.layout.sheet import StyleContext, load_style_sheet, media_applies
from untemplate.page import HIDDEN_TAGS

BODY = '<div id=main class="a b"><ul><li class=item><p class="x y" lang=en data-x=7>one</p></li></ul></div>'


def context(root: etree._Element, element: etree._Element) -> StyleContext:
    """The context of an element."""
    sheet = load_style_sheet(root)
    around: StyleContext | None = None
    for ancestor in reversed(list(element.iterancestors())):
        around = sheet.context(ancestor, around)
    return sheet.context(element, around)


def font_size(css: str, attributes: str = "", path: str = "//p") -> float:
    """The font size that a style sheet gives to an element of a small page."""
    root = Page(html=f"<style>{css}</style>{BODY.replace('<p', f'<p {attributes}')}").tree
    (element,) = root.xpath(path)
    return context(root, element).style.font_size


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
    root = Page(html=html).tree
    styles = {element.tag: context(root, element).style for element in root.iter(etree.Element)}
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
    root = Page(html=html).tree
    first, second, third = (context(root, element) for element in root.iter("b"))
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
