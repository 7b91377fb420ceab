"""A small shop whose pages change on demand: the look, the prices, the order of things."""

from __future__ import annotations

from dataclasses import dataclass, replace

from untemplate import Attribute, Label, Page, Rules, Schema, learn

SCHEMA = Schema(
    "product",
    {
        "name": Attribute("name", mandatory=True, constant=True),
        "brand": Attribute("brand", constant=True),
        "price": Attribute("price", "price"),
    },
)
NAMES = ("Anchor", "Basket", "Candle", "Drawer", "Engine", "Funnel", "Gasket", "Hammer", "Icebox", "Jacket")
BRANDS = ("Acme", "Globex", "Initech", "Umbrella", "Vandelay")
COUNT = 30


@dataclass(frozen=True)
class Shop:
    """How the shop looks today."""

    look: str = "old"
    shift: int = 0  # prices change by so much
    hidden: frozenset[str] = frozenset()  # attributes that pages do not show
    wrong: frozenset[str] = frozenset()  # attributes whose place shows something else
    frame: str = "table"
    pages: range = range(COUNT)

    def changed(self, **changes: object) -> Shop:
        return replace(self, **changes)  # type: ignore[arg-type]

    def value(self, name: str, number: int) -> str:
        if name == "price":
            return f"${number + 10 + self.shift}.99"
        if name == "brand":
            return BRANDS[number % 5]
        return f"{NAMES[number % 10]} no. {number}"

    def read(self) -> list[Page]:
        return [self.page(number) for number in self.pages]

    def page(self, number: int) -> Page:
        shown = {
            name: "Sold out"
            if name in self.wrong
            else ""
            if name in self.hidden
            else self.value(name, number)
            for name in SCHEMA.attributes
        }
        return Page(f"http://shop.example/p/{number}", self.html(shown, number), f"{number}.html")

    def html(self, shown: dict[str, str], number: int) -> str:
        frame = f"<{self.frame}>" + "<tr><td>ad</td></tr>" * 12 + f"</{self.frame}>"
        if self.look == "old":
            parts = (
                f"<h1 class=title>{shown['name']}</h1>"
                f"<p class=maker>{shown['brand']}</p>"
                f"<div><b>Price:</b> <span class=cost>{shown['price']}</span></div>"
            )
        else:
            parts = (
                f"<dl><dt>Maker</dt><dd>{shown['brand'].upper()}</dd>"
                f"<dt>Price:</dt><dd><em class='cost now'>{shown['price']}</em></dd></dl>"
                f"<h2><a href='/p/{number}'>{shown['name']}</a></h2>"
            )
        return f"<html><head><title>Shop</title></head><body>{frame}{parts}<p>Bye</p></body></html>"


SHOP = Shop()


def rules_of(shop: Shop = SHOP, schema: Schema = SCHEMA) -> Rules:
    """Rules learned from two labeled pages."""
    labels = [
        Label(f"{number}.html", name, shop.value(name, number))
        for number in (0, 1)
        for name in schema.attributes
    ]
    return learn(shop.read(), labels, schema)


def extracted(rules: Rules, shop: Shop) -> list[dict[str, str | None]]:
    return [{name: record[name] for name in rules.schema.attributes} for record in rules.extract(shop.read())]
