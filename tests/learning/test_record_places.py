"""The right place among several, by the places of the page's other attributes."""

from __future__ import annotations

from tests.learning.lessons import labels_of, schema_of, site
from untemplate.pipeline import learn_site

NAMES = ("Lamp", "Chair", "Table", "Shelf", "Mirror", "Stool", "Bench", "Vase")


def product(number: int, name: str, on_sale: bool = False) -> str:
    """Return a product with its price, an offer in the header, and other products with theirs."""
    price = f"<span class=amount>${number}9.00</span>"
    if on_sale:
        price = f"<del><span class=amount>${number}99.00</span></del> <ins>{price}</ins>"
    cards = "".join(
        f"<li class=card><a href=/{k}><b>{NAMES[k]}</b> <span class=price><span class=amount>${k}9.00</span>"
        "</span></a></li>"
        for k in (0, 3, 5)
    )
    return (
        "<div class=offer><b>Today</b> <span class=amount>$09.00</span></div>"
        f"<div class=summary><h1>{name}</h1><p class=price>{price}</p><p>SKU <i class=sku>A-{number}</i></p></div>"
        f"<ul class=related>{cards}</ul>"
    )


def prices(bodies: list[str]) -> list[str | None]:
    labels = labels_of({0: {"name": "Lamp", "price": "$09.00", "sku": "A-0"}})
    learned = learn_site(site(bodies), labels, schema_of(name="text", price="price", sku="text"))
    return [record["price"] for record in learned.rules.extract(site(bodies))]


def test_the_price_beside_the_name_is_meant_not_that_of_an_offer_or_of_other_products() -> None:
    bodies = [product(n, name) for n, name in enumerate(NAMES)]
    assert prices(bodies) == [f"${n}9.00" for n in range(len(NAMES))]


def test_a_crossed_out_price_is_not_the_price() -> None:
    bodies = [product(n, name, on_sale=n % 3 == 1) for n, name in enumerate(NAMES)]
    assert prices(bodies) == [f"${n}9.00" for n in range(len(NAMES))]
