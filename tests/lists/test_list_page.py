"""find_records on every kind of list page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import untemplate as ut
from tests.lists.made_up_lists import WORDS, card, many, page_of, sentence, title
from untemplate import Page, find_records, list_model
from untemplate.demo import make_site
from untemplate.layout import Boxes, EstimatedLayout
from untemplate.lists import page_profile
from untemplate.lists.hcrf import Hcrf, Weights
from untemplate.lists.hcrf_blocks import BlockClasses

SHAPES = {
    "list": many("<li>{card}</li>").join(("<ul>", "</ul>")),
    "articles": many("<article>{card}</article>"),
    "divs with classes of their own": many('<div class="hit-{number}">{card}</div>').join(
        ("<div>", "</div>")
    ),
    "table": many("<tr><td>{title}</td><td>{text}</td><td>{number} km</td></tr>").join(
        ("<table><thead><tr><th>Name</th><th>What</th><th>Far</th></tr></thead><tbody>", "</tbody></table>")
    ),
    "table with headers among its rows": many(
        "<tr><td>{title}</td><td>{text}</td><td>{number} km</td></tr>"
    ).join(("<table><tr><th>Name</th><th>What</th><th>Far</th></tr>", "</table>")),
    "table with a first row in bold": many(
        "<tr><td>{title}</td><td>{text}</td><td><b>{number} km</b></td></tr>"
    ).join(
        ("<table><tr><td><b>Name</b></td><td><b>What</b></td><td><strong>Far</strong></td></tr>", "</table>")
    ),
    "table all in bold": many("<tr><td><b>{title}</b></td><td><b>{text}</b></td></tr>").join(
        ("<table>", "</table>")
    ),
    "table of header cells": many("<tr><th>{title}</th><th>{text}</th></tr>").join(("<table>", "</table>")),
    "definitions": many("<dt><a href='/{number}'>{title}</a></dt><dd>{text}</dd>").join(("<dl>", "</dl>")),
    "definitions of several": many("<dt>{title}</dt><dd><p>{text}</p></dd><dd>{number} km</dd>").join(
        ("<dl>", "</dl>")
    ),
    "row pairs": many(
        "<tr><td colspan='2'><h3><a href='/{number}'>{title}</a></h3></td></tr>"
        "<tr><td><img src='{number}.png'></td><td>{text}</td></tr>"
    ).join(("<table>", "</table>")),
    "headings and paragraphs": many("<h2>{title}</h2><p>{text}</p><p><i>{number} km</i></p>").join(
        ("<div>", "</div>")
    ),
    "interrupted": (
        "<div>"
        + many("<div class='hit'>{card}</div>", 4)
        + "<div class='ad'><iframe></iframe>Advertisement</div>"
        + "".join(f"<div class='hit'>{card(number)}</div>" for number in range(4, 8))
        + "</div>"
    ),
    "grid": "".join(
        f"<div class='line'>{''.join(f'<div class=tile>{card(row * 2 + column)}</div>' for column in range(2))}</div>"
        for row in range(4)
    ),
    "sections": "".join(
        f"<section><h2>Part {part}</h2><ul>"
        + "".join(f"<li>{card(part * 4 + number)}</li>" for number in range(4))
        + "</ul></section>"
        for part in range(2)
    ),
    "nested": many("<li>{card}<ul><li>{number} a</li><li>{number} b</li></ul></li>").join(("<ol>", "</ol>")),
}


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_finds_the_records(body: str) -> None:
    rows = find_records(page_of(body))
    assert rows.reason is None
    assert len(rows) == 8
    for number, row in enumerate(rows):
        assert title(number) in row.text
        assert sentence(number) in row.text
        assert not any(title(other) in row.text for other in range(8) if other != number)
        assert 0.1 <= row.confidence <= 1
        assert row.list_id == 0
        assert any(title(number) in (text or "") for text in row.values.values())


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_rows_have_the_same_columns_and_their_cells_their_words(body: str) -> None:
    rows = find_records(page_of(body))
    assert len({len(row.cells) for row in rows}) == 1
    for number, row in enumerate(rows):
        assert title(number) in row.cells
        assert sentence(number) in row.cells
        assert all(cell in row.text for cell in row.cells if cell)
    columns = {
        tuple(row.cells.index(text(number)) for text in (title, sentence)) for number, row in enumerate(rows)
    }
    assert len(columns) == 1


@pytest.mark.parametrize("body", SHAPES.values(), ids=SHAPES)
def test_xpaths_lead_to_the_rows(body: str) -> None:
    page = page_of(body)
    places = [page.tree.xpath(row.xpath) for row in find_records(page)]
    assert all(len(place) == 1 for place in places)
    assert [place[0] for place in places] == [e for e in page.tree.iter() if any(e is p[0] for p in places)]


def test_a_gap_is_none() -> None:
    items = [
        f"<li><h3>{title(n)}</h3>{'' if n == 2 else f'<em>{n} km</em>'}<p>{sentence(n)}</p></li>"
        for n in range(6)
    ]
    rows = find_records(page_of(f"<ul>{''.join(items)}</ul>"))
    assert [row.cells[1] for row in rows] == ["0 km", "1 km", None, "3 km", "4 km", "5 km"]
    assert [row.cells[2] for row in rows] == [sentence(number) for number in range(6)]


def test_words_that_are_only_colored_are_no_cells_of_their_own() -> None:
    items = [
        f"<li><a>{title(n)}</a><p>see <b>{WORDS[n]}</b>, {'<b>and</b> ' * (n % 3)}more</p></li>"
        for n in range(6)
    ]
    rows = find_records(page_of(f"<ul>{''.join(items)}</ul>"))
    assert [row.cells[1] for row in rows][:2] == ["see amber, more", "see birch, and more"]


def test_what_is_not_shown_is_text_but_no_cell() -> None:
    rows = find_records(
        page_of(many("<div><p>{title}</p><p>{text}</p><p style='display:none'>secret</p></div>"))
    )
    assert all("secret" in row.text for row in rows)
    assert all("secret" not in row.cells for row in rows)


class SecretLayout(EstimatedLayout):
    """A layout that knows more than the page: a style sheet hides the class `extra`."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        estimated = super().boxes(pages)
        for boxes in estimated:
            for element in boxes.page.tree.iterfind(".//*[@class='extra']"):
                boxes.visible[boxes.numbers[element]] = False
        return estimated


def test_what_a_layout_does_not_show_is_no_cell() -> None:
    page = page_of(many("<div><p>{title}</p><p>{text}</p><p class='extra'>no {number}</p></div>"))
    assert [row.cells for row in find_records(page)][1] == [title(1), sentence(1), "no 1"]
    assert [row.cells for row in find_records(page, layout=SecretLayout())][1] == [title(1), sentence(1)]


def test_what_is_named_hidden_is_a_cell_if_records_differ_in_it() -> None:
    hidden = "<p class='tooltip'>Save</p><p class='tooltip'>since {number}</p>"
    rows = find_records(page_of(many(f"<div><p>{{title}}</p><p>{{text}}</p>{hidden}</div>")))
    assert [row.cells for row in rows][1] == [title(1), sentence(1), "since 1"]


def test_what_is_not_shown_of_a_cell_is_left_out() -> None:
    hidden = "<span class='sr-only'>Title: </span>"
    rows = find_records(page_of(many(f"<div><p>{hidden}{{title}}</p><p>{{text}}</p></div>")))
    assert [row.cells for row in rows][1] == [title(1), sentence(1)]
    assert "Title:" in rows[1].text


@pytest.mark.parametrize("classes", ["hidden-lg", "visible-xs", "accessible-description", "u-offscreen"])
def test_what_a_wide_screen_does_not_show_is_no_cell_even_if_records_differ_in_it(classes: str) -> None:
    rows = find_records(
        page_of(many(f"<div><p>{{title}}</p><p>{{text}}</p><p class='{classes}'>{{number}}:30</p></div>"))
    )
    assert [row.cells for row in rows][1] == [title(1), sentence(1)]


def test_a_text_for_screen_readers_that_replaces_pieces_is_a_cell() -> None:
    price = "<p><span class='a-offscreen'>${number}.50</span><span aria-hidden='true'><sup>$</sup>{number}</span></p>"
    rows = find_records(page_of(many(f"<div><p>{{title}}</p><p>{{text}}</p>{price}</div>")))
    assert "$1.50" in rows[1].cells


def test_parts_with_much_text_or_for_everybody_are_cells_whatever_their_name_is() -> None:
    named = f"<p class='offscreen'>{'{text} ' * 6}</p><p class='accessible'>room {{number}}</p>"
    rows = find_records(page_of(many(f"<div><p>{{title}}</p>{named}</div>")))
    assert [row.cells[1:] for row in rows][1] == [" ".join([sentence(1)] * 6), "room 1"]


@pytest.mark.parametrize("classes", ["hidden md:block", "d-none d-md-block", "overflow-hidden"])
def test_what_is_hidden_on_small_screens_only_is_shown(classes: str) -> None:
    rows = find_records(page_of(many(f"<div><p>{{title}}</p><p class='{classes}'>Sold</p></div>")))
    assert [row.cells for row in rows][1] == [title(1), "Sold"]


@pytest.mark.parametrize(
    "around",
    [
        "<div style='display: none'>{}</div>",
        "<div class='no-display'>{}</div>",
        "<div class='d-none'>{}</div>",
    ],
)
def test_hidden_ones_are_left_out_if_others_are_shown(around: str) -> None:
    shown = many("<div class='hit'>{card}</div>", 5)
    more = "".join(f"<div class='hit'>{card(number)}</div>" for number in range(5, 20))
    rows = find_records(page_of(f"<div>{shown}</div>{around.format(more)}"))
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 5


@pytest.mark.parametrize(
    ("topic", "how"), [("", "style='display: none'"), ("<li><a>{title}</a> ({number})</li>", "class='hide'")]
)
def test_records_that_a_script_will_show_are_found_with_their_cells(topic: str, how: str) -> None:
    hidden = many("<li class='hit'>{card}</li>")
    page = page_of(f"<ul>{many(topic)}</ul><div {how}><ul class='results'>{hidden}</ul></div>")
    rows = find_records(page)
    assert [row.cells[:2] for row in rows] == [[title(number), sentence(number)] for number in range(8)]
    every = find_records(page, all_lists=True)
    assert [row.text for row in every if row.list_id == 0] == [row.text for row in rows]


def test_closed_tabs_are_not_shown() -> None:
    opened = many("<a class='thumb' href='/{number}'><b>{title}</b><p>{text}</p></a>")
    closed = many("<li class='result'><h3>{title}</h3><p>{text}</p><p>{number} km</p><i>player</i></li>", 24)
    tabs = "<ul class='tabs'><li class='tab'>Players</li><li class='tab active'>News</li></ul>"
    rows = find_records(
        page_of(f"{tabs}<ul class='resultTab'>{closed}</ul><div class='resultTab active'>{opened}</div>")
    )
    assert len(rows) == 8
    assert all("player" not in row.text for row in rows)


def test_what_stands_beside_the_handles_of_tabs_is_shown() -> None:
    hits = many("<div class='hit'>{card}</div>")
    handles = "<div class='tab-handles active'><b>News</b> <b>Players</b></div>"
    rows = find_records(
        page_of(f"{handles}<div class='tab-content'>{hits}</div>{many('<p>{title} and more</p>')}")
    )
    assert [row.cells[0] for row in rows] == [title(number) for number in range(8)]


def test_those_listed_aside_are_left_out() -> None:
    hits = many("<div class='hit'>{card}</div>", 6)
    related = "".join(f"<div class='hit'>{card(number)}</div>" for number in range(6, 9))
    page = page_of(f"<div>{hits}</div><div id='relatedVideos'><h2>Videos</h2>{related}</div>")
    rows = find_records(page)
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 6
    every = find_records(page, all_lists=True)
    assert any(title(7) in row.text for row in every if row.list_id > 0)


def test_a_record_in_a_part_of_its_own_is_kept_whatever_that_is_called() -> None:
    own = "".join(
        f"<div class='{'promo' if number == 2 else 'cell'}'><div class='hit'>{card(number)}</div></div>"
        for number in range(8)
    )
    rows = find_records(page_of(f"<div>{own}</div>"))
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 8


def test_what_is_there_twice_is_one_row_if_it_links_to_the_same() -> None:
    numbers = [0, 1, 2, 3, 0, 1, 4, 5]
    rows = find_records(page_of("".join(f"<div class='hit'>{card(number)}</div>" for number in numbers)))
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 6
    cells = "".join(f"<tr><td>{number} km</td><td>{title(number)}</td></tr>" for number in numbers)
    assert len(find_records(page_of(f"<table>{cells}</table>"))) == 8


def test_two_lists_side_by_side() -> None:
    left = many("<div class='hit'>{card}</div>")
    right = "".join(f"<li><a href='/r{n}'>Related {n}</a></li>" for n in range(8))
    page = page_of(
        f"<table><tr><td width='900'>{left}</td><td><div class='related'><ul>{right}</ul></div></td></tr></table>"
    )
    rows = find_records(page)
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 8
    every = find_records(page, all_lists=True)
    assert [row.text for row in every if row.list_id == 0] == [row.text for row in rows]
    assert {f"Related {number}" for number in range(8)} <= {row.text for row in every if row.list_id > 0}
    assert "Menu 3" in {row.text for row in every}


def test_two_lists_of_the_same_kind_are_one() -> None:
    half = [f"<ul class='hits'>{many('<li>{card}</li>', 4)}</ul>", ""]
    half[1] = "<ul class='hits'>" + "".join(f"<li>{card(n)}</li>" for n in range(4, 8)) + "</ul>"
    rows = find_records(page_of(f"<table><tr><td>{half[0]}</td><td>{half[1]}</td></tr></table>"))
    assert [title(number) in row.text for number, row in enumerate(rows)] == [True] * 8


def test_one_record() -> None:
    rows = find_records(page_of(f"<div class='results'><ul><li class='result'>{card(3)}</li></ul></div>"))
    assert len(rows) == 1
    assert title(3) in rows[0].cells
    assert sentence(3) in rows[0].cells


@pytest.mark.parametrize(
    ("html", "reason"),
    [
        ("", "page is empty"),
        ("<p>Just a text.</p>", "nothing on the page repeats"),
        (
            page_of("<p>No results were found for your search.</p>").html,
            "nothing that repeats looks like records",
        ),
    ],
)
def test_none_and_why(html: str, reason: str) -> None:
    rows = find_records(Page(html=html))
    assert rows == []
    assert rows.reason is not None
    assert reason in rows.reason


def test_five_thousand_rows() -> None:
    rows = find_records(page_of(f"<ul>{many('<li>{card}</li>', 5000)}</ul>"))
    assert len(rows) == 5000
    assert rows[4321].cells == [title(4321), sentence(4321), "$ 4321.50"]
    assert rows[4321].xpath == "/html/body[1]/ul[1]/li[4322]"


def test_a_page_that_shows_too_much_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(f"<ul>{many('<li>{card}</li>', 20)}</ul>")
    assert len(find_records(page)) == 20
    monkeypatch.setattr(page_profile, "MAX_ROWS", 100)
    rows = find_records(page)
    assert rows == []
    assert rows.reason is not None
    assert "elements and texts: records are looked for among 100 at most" in rows.reason


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 1900 + "deep",
        "<p>a<b>b" * 900,
        "".join(f"<x{number}>{number}</x{number}>" for number in range(3000)),
        "".join(
            f"<p class='{' '.join(f'c{number % step}' for step in range(1, 30))}'>x" for number in range(3000)
        ),
        "<table>" + "<tr><td>" * 600,
        "<div>" * 1500 + "<tr><td>x" * 3000,
        "<ul>" + "<li>a</li>" * 5_000,
        "<dl>" + "".join(f"<dt>{number}<dd>{'<i>x</i>' * (number % 50)}" for number in range(500)),
        "<br>" * 5000 + "text",
        "\x00<\xff<!--",
    ],
    ids=["deep", "unclosed", "tags", "classes", "tables", "rows", "items", "uneven", "breaks", "rubbish"],
)
def test_hostile_pages_end(html: str) -> None:
    page = Page(html=html)
    for all_lists in (False, True):
        rows = find_records(page, all_lists)
        assert rows or rows.reason or all_lists


BITS = st.sampled_from(
    [
        "<ul>",
        "</ul>",
        "<li>",
        "</li>",
        "<p>",
        "<b>",
        "</b>",
        "<br>",
        "<tr>",
        "<td>",
        "word ",
        "1 ",
        "<a href=x>",
        "</a>",
    ]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(BITS, max_size=80).map("".join))
def test_whatever_the_page_rows_keep_their_promises(html: str) -> None:
    page = Page(html=html)
    rows = find_records(page, all_lists=True)
    assert find_records(page, all_lists=True) == rows
    for row in rows:
        assert len(page.tree.xpath(row.xpath)) == 1
        assert all(cell and "".join(cell.split()) in "".join(row.text.split()) for cell in row.cells if cell)
    for one, other in pairwise(rows):
        assert one.list_id != other.list_id or len(one.cells) == len(other.cells)


@pytest.mark.parametrize("seed", range(6))
def test_made_up_sites(seed: int) -> None:
    site = make_site("restaurant", seed=seed, pages=40)
    for page in site.pages:
        if page.id in site.rows:
            rows = find_records(page)
            names = [row["name"] for row in site.rows[page.id]]
            assert len(rows) == len(names)
            assert all(name in row.text for name, row in zip(names, rows, strict=True))
            assert all(name in row.cells for name, row in zip(names, rows, strict=True))


def test_is_public() -> None:
    assert ut.find_records is find_records
    assert isinstance(find_records(page_of(SHAPES["list"]))[0], ut.Row)


# Columns named by the model that is shipped

CHAIRS = ("Amber", "Birch", "Cedar", "Dune", "Ember", "Fjord", "Grove", "Heath")


def page_of_chairs(count: int) -> Page:
    menu = "".join(f"<li><a href='/m{n}'>Menu {n}</a></li>" for n in range(9))
    items = "".join(
        f"<li class='result'><img src='/{n}.jpg' width='90' height='90'>"
        f"<h3><a href='/{n}'>{CHAIRS[n % 8]} chair with {CHAIRS[n * 3 % 8].lower()} legs {n}</a></h3>"
        f"<span class='price'>${n + 10}.50</span><p>A chair that stands in number {n} of the street.</p></li>"
        for n in range(count)
    )
    return Page(
        html=f"<body><nav><ul>{menu}</ul></nav><h1>Chairs</h1><ul class='results'>{items}</ul></body>"
    )


def test_names_titles_and_prices() -> None:
    rows = find_records(page_of_chairs(8), model=list_model())
    assert len(rows) == 8
    assert [row.values.get("price") for row in rows] == [f"${n + 10}.50" for n in range(8)]
    assert [row.values.get("title") for row in rows] == [row.cells[0] for row in rows]
    addresses = {"url", "image"}
    assert all(
        text in row.cells for row in rows for name, text in row.values.items() if name not in addresses
    )


def test_a_model_changes_nothing_else() -> None:
    page = page_of_chairs(8)
    plain, named = find_records(page), find_records(page, model=list_model())
    assert [(row.text, row.cells, row.xpath) for row in plain] == [
        (row.text, row.cells, row.xpath) for row in named
    ]
    every = find_records(page, all_lists=True, model=list_model())
    assert [row.values for row in every if row.list_id == 0] == [row.values for row in named]


@pytest.mark.parametrize(
    "html", ["", "<p>Just a text.</p>", "<ul>" + "<li>a</li>" * 500, "<div>" * 1500 + "deep"]
)
def test_hostile_pages_end_with_a_model(html: str) -> None:
    rows = find_records(Page(html=html), model=list_model())
    assert rows or rows.reason


def test_a_model_that_knows_nothing_does_no_harm() -> None:
    classes = BlockClasses(("title",))
    page = page_of_chairs(8)
    rows = find_records(page, model=Hcrf(classes, Weights.zeros(len(classes))))
    assert [row.text for row in rows] == [row.text for row in find_records(page)]
