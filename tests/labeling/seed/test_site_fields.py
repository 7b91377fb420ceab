"""What a site's fields may hold, before any label is known."""

from __future__ import annotations

import numpy as np

from untemplate import Attribute, Page, Schema
from untemplate.labeling.seed.attribute_model import EVIDENCE, NAME_ONLY, gather_evidence
from untemplate.labeling.seed.site_fields import PROFILE, SiteFields


def texts_of_candidates(site: SiteFields, attribute: Attribute) -> set[str]:
    table, fields = site.table, site.fields
    own = (fields.rows_of(int(field)) for field in site.candidates(attribute))
    return {table.nodes[row].text for rows in own for row in rows.tolist()}


def make_fields(*bodies: str) -> SiteFields:
    pages = [
        Page(id=str(number), html=f"<html><body>{body}</body></html>") for number, body in enumerate(bodies)
    ]
    return SiteFields(pages, Schema("any", {}))


def test_a_field_of_a_type_has_values_of_it() -> None:
    site = make_fields(
        *(f"<h1>Help {number}</h1><p>(212) 586-86{number}5</p><b>nothing</b>" for number in range(4))
    )
    assert texts_of_candidates(site, Attribute("phone", type="phone")) == {
        f"(212) 586-86{number}5" for number in range(4)
    }
    assert "Help 1" in texts_of_candidates(site, Attribute("name"))


def test_what_all_values_share_is_part_of_the_type() -> None:
    site = make_fields(*(f"<h1>Help {number}</h1><p>$ {number}3,100</p>" for number in range(1, 5)))
    assert texts_of_candidates(site, Attribute("price", type="price")) == {
        f"$ {number}3,100" for number in range(1, 5)
    }


def shop(number: int) -> str:
    name = f"Shop {number * 7}"
    related = "".join(f"<li>Item {number}{letter}</li>" for letter in "abcd")
    return (
        f"<h1>{name}</h1><h2>Reviews of {name}</h2><p>{name} Photos</p><b>Depth</b><i>{number} m</i>"
        f"<h3>More</h3><ul>{related}</ul>"
    )


def test_words_around_another_text_and_items_of_lists_are_evidence() -> None:
    site = make_fields(*map(shop, range(1, 9)))
    fields, texts = site.fields, site.table.texts
    repeated = site.profile[:, PROFILE.index("repeated")]
    by_text: dict[str, tuple[float, float]] = {}
    for field in range(len(fields)):
        text = texts[site.table.text[fields.rows_of(field)[0]]]
        by_text[text] = (float(site.forms["extended"][field]), float(repeated[field]))
    assert by_text["Shop 7"] == (0, 0)
    assert by_text["Reviews of Shop 7"] == (1, 0)
    assert by_text["Shop 7 Photos"] == (1, 0)
    assert by_text["1 m"] == (0, 0)
    assert np.isclose(by_text["Item 1a"], (0, np.log(4))).all()


def test_the_fifth_item_is_mixed_where_an_optional_item_shifts_it() -> None:
    bodies = []
    for number in range(8):
        pages = f"<li><b>Pages:</b> <i>{number}00 pages</i></li>" if number % 4 else ""
        facts = f"<li><b>ISBN:</b> <i>978{number}</i></li><li><b>Year:</b> <i>200{number}</i></li>"
        bodies.append(f"<ul>{pages}{facts}</ul>")
    site = make_fields(*bodies)
    mixed = site.forms["mixed"]
    by_size: dict[tuple[int, int, str], float] = {}
    for field in range(len(site.fields)):
        text = site.table.texts[site.table.text[site.fields.rows_of(field)[1]]]
        by_size[int(site.fields.grouping[field]), int(site.fields.size[field]), text] = float(mixed[field])
    assert by_size[0, 8, "9781"] == 1  # the second item: mostly the ISBN, on two pages the year
    assert by_size[1, 8, "9781"] == 0  # the item after `ISBN:`


def test_units_are_no_suffixes() -> None:
    site = make_fields(*(f"<p>{number}40 lbs</p><b>Team {'abcd'[number]} Tickets</b>" for number in range(4)))
    suffixed = site.profile[:, PROFILE.index("suffixed")]
    by_text = {}
    for field in range(len(site.fields)):
        by_text[site.table.texts[site.table.text[site.fields.rows_of(field)[0]]]] = float(suffixed[field])
    assert by_text["040 lbs"] == 0
    assert by_text["Team a Tickets"] == 1


def test_words_besides_another_name_count_against_it() -> None:
    site = make_fields(*(f"<b>ISBN-10:</b><i>030726{n}</i><b>ISBN:</b><i>978030726{n}</i>" for n in range(4)))
    attribute = Attribute("isbn_13", captions=("isbn",))
    assert evidence_by_text(site, attribute, "named") == {"0307260": 0.5, "9780307260": 1.0}


def test_the_address_of_a_link_names_an_attribute() -> None:
    site = make_fields(
        *(
            f"<a href='/teams/t{n}'>Team {n}</a><a href='/news/teams'>News {n}</a><i>x{n}</i>"
            for n in range(4)
        )
    )
    named = evidence_by_text(site, Attribute("team"), "named mark")
    assert named == {"Team 0": 1.0, "News 0": 0.0, "x0": 0.0}


def evidence_by_text(site: SiteFields, attribute: Attribute, column: str) -> dict[str, float]:
    """Return the evidence of one kind for each candidate field, by the field's first text."""
    fields = site.candidates(attribute)
    shares = gather_evidence(site, fields, attribute, NAME_ONLY)[:, EVIDENCE.index(column)]
    first_rows = [site.fields.rows_of(field)[0] for field in fields.tolist()]
    return {site.table.nodes[row].text: share for row, share in zip(first_rows, shares.tolist(), strict=True)}


def test_elements_with_several_texts_are_rows_on_request_only() -> None:
    pages = [Page(id=str(n), html=f"<p>{n} Elm St<br>Austin {n}</p>") for n in range(4)]
    schema = Schema("any", {})
    assert SiteFields(pages, schema).table.spans_nodes.any()
    assert not SiteFields(pages, schema, with_spans=False).table.spans_nodes.any()


def test_a_currency_sign_in_its_own_element_is_part_of_the_price() -> None:
    """Shops print `<span>$</span>19.00`: the sign is on all pages, and still no caption."""
    bodies = [
        f"<p><b>Tel:</b> 555-010{n}</p><div><span>$</span>{n}9.00</div><i><u>AUD $</u>{n}5.00</i>"
        for n in range(5)
    ]
    site = SiteFields(
        [Page(id=str(n), html=f"<html><body>{body}</body></html>") for n, body in enumerate(bodies)],
        Schema("any", {"price": Attribute("price", type="price")}),
    )
    found = set()
    for field in site.candidates(Attribute("price", type="price"), spans_nodes=True).tolist():
        found |= {site.table.nodes[row].text for row in site.fields.rows_of(field).tolist()}
    assert {"$19.00", "AUD $15.00"} <= found
    assert not any("Tel" in text for text in texts_of_candidates(site, Attribute("name")))


def test_former_prices_are_no_candidates_unless_the_attribute_is_one() -> None:
    """A reduced price stands beside the former one; on other pages the price alone is in the same place."""
    bodies = [f"<p><del>${n}9.00</del> <ins>${n}5.00</ins></p>" for n in range(1, 4)]
    bodies += [f"<p>${n}7.00</p>" for n in range(4, 7)]
    site = make_fields(*bodies)
    price = Attribute("price", type="price")
    now = [
        {site.table.nodes[row].text for row in site.fields.rows_of(int(f))} for f in site.candidates(price)
    ]
    assert {"$15.00", "$25.00", "$35.00", "$47.00", "$57.00", "$67.00"} in now
    assert not any("$19.00" in texts for texts in now)
    assert len(site.candidates(price, crossed_out=True)) > len(now)
