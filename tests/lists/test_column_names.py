"""Names of columns: from headers, captions, itemprop, classes and kinds; the same for all pages of a site."""

from __future__ import annotations

from untemplate import Page, Rows, SiteColumns, find_records, find_site_records
from untemplate.lists.list_headers import split_caption

TEAS = [
    ("Assam", "India", "$4.50"),
    ("Sencha", "Japan", "$5.50"),
    ("Keemun", "China", "$6.50"),
    ("Oolong", "Taiwan", "$7.50"),
]


TABLE_ROW = "<tr><td>{} tea, the finest of all<td>a garden in {}<td>{}</tr>"


def rows_of(item: str, before: str = "<ul>", after: str = "</ul>") -> Rows:
    items = "".join(item.format(*tea) for tea in TEAS)
    return find_records(Page("http://tea.example/", f"<h1>Teas</h1>{before}{items}{after}"))


def test_table_headers() -> None:
    head = "<table><thead><tr><th>Tea<th>Country of Origin<th>Price ($)</tr></thead><tbody>"
    rows = rows_of(TABLE_ROW, head, "</tbody></table>")
    assert rows.columns == ["tea", "country_of_origin", "price"]
    assert rows[2].values == {
        "tea": "Keemun tea, the finest of all",
        "country_of_origin": "a garden in China",
        "price": "$6.50",
    }


def test_headers_in_plain_cells_and_spans() -> None:
    head = "<table><tr><td><b>Tea</b><td><b>Origin</b><td><b>Price</b></tr>"
    assert rows_of(TABLE_ROW, head, "</table>").columns == ["tea", "origin", "price"]
    head = "<table><tr><th colspan=2>Tea and origin<th>Price</tr>"
    columns = rows_of(TABLE_ROW, head, "</table>").columns
    assert (columns[0], columns[-1]) == ("tea_and_origin", "price")


def test_headers_of_roles_and_labels() -> None:
    head = "<div role=table><div role=row><b role=columnheader>Tea</b><b role=columnheader>From</b></div>"
    cells = "<h4 role=cell>{}</h4><p role=cell>the hills of {}</p><div data-label='Our Price'>{}</div>"
    item = f"<div role=row class=r>{cells}</div>"
    assert rows_of(item, head, "</div>").columns == ["tea", "from", "our_price"]


def test_captions_name_columns_and_are_no_values() -> None:
    rows = rows_of("<li><h3>{}</h3><p><b>Origin:</b> <span>{}</span></p><p>Price: {}</p></li>")
    assert rows.columns == ["title", "origin", "price"]
    assert rows[0].values == {"title": "Assam", "origin": "India", "price": "$4.50"}


def test_different_captions_are_different_columns() -> None:
    items = [
        "<li><h3>Assam</h3><ul><li>Origin: India</li><li>Year: 2019</li></ul></li>",
        "<li><h3>Sencha</h3><ul><li>Year: 2020</li></ul></li>",
        "<li><h3>Keemun</h3><ul><li>Origin: China</li></ul></li>",
        "<li><h3>Oolong</h3><ul><li>Origin: Taiwan</li><li>Year: 2021</li></ul></li>",
    ]
    rows = find_records(Page(html=f"<h1>Teas</h1><ul class=teas>{''.join(items)}</ul>"))
    assert [row.values.get("origin") for row in rows] == ["India", None, "China", "Taiwan"]
    assert [row.values.get("year") for row in rows] == ["2019", "2020", None, "2021"]


def test_colons_in_titles_are_no_captions() -> None:
    titles = ["Doctor Who: Flux", "Doctor Who: Season 4", "Bleak House", "Emma", "Persuasion", "Cranford"]
    items = "".join(f"<li><h3>{title}</h3><p>${number}.50</p></li>" for number, title in enumerate(titles))
    rows = find_records(Page(html=f"<h1>Films</h1><ul class=films>{items}</ul>"))
    assert [row.values["title"] for row in rows] == titles


def test_a_badge_in_front_of_a_heading_is_no_caption() -> None:
    rows = rows_of("<li><h3><span class=label>new</span> <a href=/{0}>{0}</a></h3><p>from {1}, {2}</p></li>")
    assert [row.values["title"] for row in rows] == [tea[0] for tea in TEAS]


def test_a_title_by_any_vocabulary_is_the_title() -> None:
    rows = rows_of("<li><h3 property='f:title'>{0}</h3><p>from {1} hills</p><b>{2}</b></li>")
    assert rows.columns[0] == "title"


def test_microdata_classes_and_kinds() -> None:
    item = "<li><h3>{}</h3><i itemprop=countryOfOrigin>{}</i><em class='c-price small'>{}</em></li>"
    assert rows_of(item).columns == ["title", "country_of_origin", "price"]
    text = "{0} {1} is a tea for the early hours of a long day"
    assert rows_of(f"<li><h3>{{0}}</h3><i class='left tea-origin'>{{1}}</i><p>{text}</p></li>").columns == [
        "title",
        "tea_origin",
        "description",
    ]


def test_the_crossed_out_price_is_not_the_price() -> None:
    rows = rows_of("<li><h3>{0}</h3><p>from {1} hills</p><del>$9{2}</del><b>{2}</b></li>")
    assert rows[1].values["price"] == "$5.50"
    assert rows[1].values["old_price"] == "$9$5.50"


def test_texts_that_all_rows_share_are_no_columns() -> None:
    rows = rows_of("<li><h3>{0}</h3><p>from {1} hills</p><button>Add to cart</button></li>")
    assert "Add to cart" not in rows[0].values.values()
    assert "Add to cart" in rows[0].cells


def test_reserved_names_get_a_number() -> None:
    head = "<table><tr><th>Page<th>Text<th>URL</tr>"
    rows = rows_of(TABLE_ROW, head, "</table>")
    assert rows.columns == ["page_2", "text_2", "url_2"]


def test_pages_of_a_site_have_the_same_columns() -> None:
    item = "<li><h3>Tea {n}</h3>{sale}<i>{n} leaves</i><p>from hill {n}</p></li>"
    pages = []
    for number in range(3):
        sale = "<i>{n} % off</i>" if number else ""
        items = "".join(item.replace("{sale}", sale).replace("{n}", str(10 * number + n)) for n in range(6))
        pages.append(Page(f"http://tea.example/{number}", f"<h1>Teas</h1><ul>{items}</ul>"))
    found = [rows for _, rows in find_site_records(pages)]
    assert [rows[0].values["title"] for rows in found] == ["Tea 0", "Tea 10", "Tea 20"]
    assert found[1].columns == found[2].columns
    hills = [name for name, text in found[0][0].values.items() if text == "from hill 0"]
    assert found[1][0].values[hills[0]] == "from hill 10"


def test_headings_between_records_are_a_column() -> None:
    item = "<div class=tea><b>{}</b><p>a garden in {}</p><i>{}</i></div>"
    parts = [f"<h3>{part}</h3>{''.join(item.format(*tea) for tea in TEAS)}" for part in ("Green", "Black")]
    rows = find_records(Page(html=f"<h1>Teas</h1><section>{''.join(parts)}</section>"))
    assert [row.values.get("section") for row in rows] == ["Green"] * 4 + ["Black"] * 4


def test_names_of_a_site_are_unique() -> None:
    columns = SiteColumns()
    assert columns.name_all([(place, "detail") for place in "abc"]) == ["detail", "detail_2", "detail_3"]
    assert columns.name_all([("d", "detail"), ("b", "price")]) == ["detail", "detail_2"]
    assert columns.name_all([("a", "x"), ("b", "x"), ("c", "x"), ("e", "detail")])[-1] == "detail_4"


def test_captions_of_texts() -> None:
    assert split_caption("Tel: 555") == ("Tel", "555")
    assert split_caption("Tel:") == ("Tel", "")
    for text in ("12:30 h", "http://a.example", "", ":", "a" * 40 + ": b"):
        assert split_caption(text) == ("", text)


def test_captions_in_other_columns_or_without_a_value_name_their_values() -> None:
    item = "<li><h3>{}</h3><p>{}</p><p><i>See this tea</i></p></li>"
    captions = [
        "<b>Origin:</b><span>India</span><b>Year:</b><span>2019</span>",
        "<b>Origin:</b><span>Japan</span><b>Year:</b>",
        "<b>Year:</b><span>2021</span>",
        "<b>Origin:</b><span>Taiwan</span><b>Year:</b><span>2022</span>",
    ]
    names = [name for name, _, _ in TEAS]
    items = "".join(item.format(name, text) for name, text in zip(names, captions, strict=True))
    rows = find_records(Page("http://tea.example/", f"<h1>Teas</h1><ul>{items}</ul>"))
    assert [row.values["origin"] for row in rows] == ["India", "Japan", None, "Taiwan"]
    assert [row.values["year"] for row in rows] == ["2019", None, "2021", "2022"]


def test_a_caption_in_an_element_of_its_own_needs_no_blank() -> None:
    rows = rows_of("<li><h3>{}</h3><a href=/x><b>Grown in:</b>the hills of {}</a><p>{}</p></li>")
    assert [row.values["grown_in"] for row in rows][:2] == ["the hills of India", "the hills of Japan"]


def test_captioned_values_that_a_click_shows_are_columns_but_no_cells() -> None:
    details = "<div style='display:none'><div><b>Origin:</b> <span>{}</span></div><p>Shop: ours</p></div>"
    rows = rows_of(f"<li><h3>{{}}</h3>{details}<p>{{}}</p></li>")
    assert rows.columns == ["title", "price", "origin"]
    assert [row.values["origin"] for row in rows] == [land for _, land, _ in TEAS]
    assert rows[0].cells == ["Assam", "$4.50"]


def test_titles_of_words_that_were_searched_for_are_in_the_column_of_the_others() -> None:
    titles = (
        "<b>Sencha</b>",
        "<b>Sencha</b> of spring",
        "A green <b>Sencha</b>",
        "Notes on <b>Sencha</b> and rice",
    )
    items = "".join(
        f"<li><h3><a href='/{n}'>{title}</a></h3><p>from {n} hills</p>" for n, title in enumerate(titles)
    )
    rows = find_records(Page(html=f"<h1>Results</h1><ul>{items}</ul>"))
    assert [row.values["title"] for row in rows] == [
        "Sencha",
        "Sencha of spring",
        "A green Sencha",
        "Notes on Sencha and rice",
    ]
