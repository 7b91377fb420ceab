"""Columns of lists named by a model of one's own schema."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.labeling.hcrf.restaurants import SCHEMA, make_labels, make_pages
from untemplate import (
    Attribute,
    Knowledge,
    KnowledgeError,
    Label,
    LabelError,
    Page,
    Schema,
    find_records,
    train,
)
from untemplate.labeling.hcrf.hcrf_model import HcrfModel

TEAS = Schema("tea", {name: Attribute(name) for name in ("name", "price", "origin", "picture")})
NAMES = (
    "Assam",
    "Keemun",
    "Sencha",
    "Oolong",
    "Matcha",
    "Ceylon",
    "Nilgiri",
    "Darjeeling",
    "Bancha",
    "Gyokuro",
)
LANDS = ("India", "China", "Japan", "Taiwan", "Kenya", "Nepal", "Rwanda", "Malawi", "Brazil", "Turkey")
TEMPLATES = (
    "<li class='item'><img src='{picture}' width='80' height='80'><h3><a href='#'>{name}</a></h3>"
    "<p class='price'>{price}</p>"
    "<p class='land'>{origin}</p><a class='button'>Buy</a></li>",
    "<div class='card'><div class='pic'><img src='{picture}' width='80' height='80'></div><div class='title'>"
    "<a href='#'>{name}</a></div><div class='from'>{origin}</div><div class='cost'>{price}</div></div>",
    "<tr><td><img src='{picture}' width='80' height='80'></td><td><b>{name}</b></td><td>{origin}</td>"
    "<td class='price'>{price}</td><td><a>Order</a></td></tr>",
)
AROUND = ("<ul>{}</ul>", "<div>{}</div>", "<table>{}</table>")


def teas_of(site: int) -> list[dict[str, str]]:
    return [
        {
            "name": f"{NAMES[(number + site) % 10]} {site + 1}{number}",
            "price": f"${number + 3 + site}.50",
            "origin": LANDS[(3 * number + site) % 10],
            "picture": f"/{site}/{number}.jpg",
        }
        for number in range(9)
    ]


def list_page(site: int) -> Page:
    items = "".join(TEMPLATES[site % 3].format(**tea) for tea in teas_of(site))
    menu = "".join(f"<li><a href='/{word}'>{word}</a></li>" for word in ("Home", "Teas", "Help", "Cart"))
    body = AROUND[site % 3].format(items)
    return Page(
        html=f"<title>Teas</title><body><nav><ul>{menu}</ul></nav><h1>Teas</h1>{body}</body>", id=f"{site}"
    )


def list_labels(site: int, count: int = 9) -> list[Label]:
    return [
        Label(f"{site}", name, value, record=str(number))
        for number, tea in enumerate(teas_of(site)[:count])
        for name, value in tea.items()
    ]


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return train([([list_page(site)], list_labels(site)) for site in range(2)], TEAS, "hcrf")


def named_by(knowledge: Knowledge, page: Page) -> list[dict[str, str | None]]:
    """The attributes of the rows, without the addresses that all rows have."""
    rows = find_records(page, model=knowledge.list_model)
    return [{name: row.values[name] for name in TEAS.attributes} for row in rows]


def test_columns_of_a_new_site_are_named(knowledge: Knowledge) -> None:
    assert named_by(knowledge, list_page(5)) == teas_of(5)
    assert {name: knowledge.seed_sites(name) for name in TEAS.attributes} == dict.fromkeys(TEAS.attributes, 2)


def test_a_few_labeled_records_will_do() -> None:
    few = train([([list_page(0)], list_labels(0, 2))], TEAS, "hcrf")
    assert named_by(few, replace_page(list_page(0))) == teas_of(0)


def replace_page(page: Page) -> Page:
    return Page(html=page.html, id="again")


def test_labels_by_xpath_teach_the_same() -> None:
    paths = {"name": "h3/a", "price": "p[1]/text()", "origin": "p[2]", "picture": "img/@src"}
    labels = [
        replace(
            label,
            value=None,
            xpath=f"//li[@class='item'][{int(label.record or 0) + 1}]/{paths[label.attribute]}",
        )
        for label in list_labels(0)
    ]
    by_path = train([([list_page(0)], labels)], TEAS, "hcrf")
    assert named_by(by_path, list_page(3)) == teas_of(3)


def test_the_same_after_a_journey_through_files(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.save(tmp_path)
    loaded = Knowledge.load(tmp_path)
    assert named_by(loaded, list_page(5)) == teas_of(5)


def test_knowledge_of_lists_labels_no_pages(knowledge: Knowledge) -> None:
    with pytest.raises(KnowledgeError, match="of lists only"):
        knowledge.find([list_page(5)])
    of_pages = train([(make_pages(0), make_labels(0))], SCHEMA, "hcrf")
    with pytest.raises(KnowledgeError, match="names no columns"):
        _ = of_pages.list_model


def test_labels_of_pages_and_of_records_teach_both() -> None:
    records = [
        {
            name: label.value
            for label in make_labels(0)
            if label.page == f"0-{number}"
            for name in [label.attribute]
        }
        for number in range(8)
    ]
    items = "".join(f"<li><b>{one['name']}</b> <i>{one['cuisine']}</i></li>" for one in records)
    page = Page(html=f"<h1>Places</h1><ul class='results'>{items}</ul>", id="list")
    labels = [
        Label("list", name, one[name], record=str(number))
        for number, one in enumerate(records)
        for name in ("name", "cuisine")
    ]
    both = train([([*make_pages(0), page], [*make_labels(0), *labels])], SCHEMA, "hcrf")
    assert isinstance(both.model, HcrfModel)
    assert both.model.details is not None
    assert both.list_model.attributes == ("name", "cuisine")


def test_records_that_are_nowhere_are_told() -> None:
    labels = [Label("0", "name", "nowhere", record="1"), Label("0", "price", None, record="1")]
    pages = [list_page(0), Page(html=b"", id="1")]
    with pytest.raises(LabelError, match="no label of schema 'tea' is found"):
        train([(pages, [*labels, Label("1", "name", "Assam", record="1")])], TEAS, "hcrf")
