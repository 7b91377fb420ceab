"""What a site's fields may hold, before any label is known."""

from __future__ import annotations

from untemplate import Attribute, Page, Schema
from untemplate.labeling.seed.site_fields import SiteFields


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
