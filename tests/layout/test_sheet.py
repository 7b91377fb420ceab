"""Style sheets inside pages: which rules hold for an element, and which of them wins."""

from __future__ import annotations

import pytest
from lxml import etree

from untemplate import Page
from untemplate.layout.sheet import Place, applies, read_sheet


def declared(css: str, path: str = "//p") -> dict[str, str]:
    """What a sheet declares for an element of a small page; of the same property the last wins."""
    body = '<div id=main class="a b"><ul><li class=item><p class="x y">one</p></li></ul></div>'
    root = Page(html=f"<style>{css}</style>{body}").tree
    sheet = read_sheet(root)
    if sheet is None:
        return {}
    (element,) = root.xpath(path)
    places: list[Place] = []
    for around in [*reversed(list(element.iterancestors())), element]:
        places.append(sheet.place(around, places))
    return dict(places[-1].declared)


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
        *("ul > li > p", "html body p", "div > ul p", "p:link"),
    ],
)
def test_selectors_that_hold(selector: str) -> None:
    assert declared(f"{selector} {{ width: 5px }}") == {"width": "5px"}


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
            "p + p",
            "p[x]",
        ),
        *("", ">", "@media", "li > div p"),
    ],
)
def test_selectors_that_do_not(selector: str) -> None:
    assert declared(f"{selector} {{ width: 5px }}") == {}


@pytest.mark.parametrize(
    ("css", "width"),
    [
        ("p {width: 1px} p {width: 2px}", "2px"),
        (".x {width: 1px} p {width: 2px}", "1px"),
        (".y {width: 1px} .x {width: 2px}", "2px"),
        ("#main p {width: 1px} .x.y {width: 2px}", "1px"),
        ("div p {width: 1px} p {width: 2px}", "1px"),
        ("@media print {p {width: 1px}} p {width: 2px}", "2px"),
        ("@media screen {b {width: 3px} p {width: 1px}} b {width: 2px}", "1px"),
        ("@import 'x.css'; p {width: 1px}", "1px"),
        ("/* } */ p {width: 1px !important} /* p {width: 2px}", "1px"),
        ("p {width: 1px; color: red; WIDTH : 2PX}", "2px"),
    ],
)
def test_the_stronger_rule_wins_else_the_later(css: str, width: str) -> None:
    assert declared(css) == {"width": width}


def test_pages_without_telling_rules_have_no_sheet() -> None:
    for html in ("<p>x", "<style>p {color: red}</style>", "<style media=print>p {width: 1px}</style>"):
        assert read_sheet(Page(html=html).tree) is None


@pytest.mark.parametrize(
    ("media", "holds"),
    [
        *(("", True), ("screen", True), ("all", True), ("print", False), ("handheld", False)),
        *(
            ("screen and (max-width: 600px)", False),
            ("(min-width: 40em)", True),
            ("(min-width: 1281px)", False),
        ),
    ],
)
def test_media(media: str, holds: bool) -> None:
    assert applies(media) is holds


def test_alike_elements_share_a_place() -> None:
    root = Page(
        html="<style>.x b {width: 1px}</style><p class=x><b id=1>1</b><b id=2>2</b></p><p><b>3</b></p>"
    ).tree
    sheet = read_sheet(root)
    assert sheet is not None

    def place(element: etree._Element) -> Place:
        above: list[Place] = []
        for around in reversed(list(element.iterancestors())):
            above.append(sheet.place(around, above))
        return sheet.place(element, above)

    first, second, third = (place(element) for element in root.iter("b"))
    assert first is second
    assert first.declared == (("width", "1px"),)
    assert third.declared == ()
