"""The data set `shops`: today's whole shops, with the fields of their products."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchmarks.data.labeled_site import Fields, LabeledSite, without_scripts
from benchmarks.data.swde import unpacked
from untemplate import Attribute, Page, Schema

__all__ = ["SCHEMA", "read_site", "site_names"]

SCHEMA = Schema(
    "product",
    {
        "title": Attribute("title", mandatory=True),
        "price": Attribute("price", type="price"),
        "sku": Attribute("sku"),
        "categories": Attribute("categories", many=True),
    },
)
PRODUCT = "product"


def site_names() -> list[str]:
    """Return the names of all shops, sorted; FileNotFoundError without the data."""
    return sorted(folder.name for folder in unpacked("shops").iterdir() if folder.is_dir())


def read_site(name: str, scripts: bool = True) -> LabeledSite | None:
    """Return a shop with its first product that has most fields labeled; None if no field of any is known.

    Args:
        name: the name of the shop's folder.
        scripts: False removes all scripts from the pages.
    """
    folder = unpacked("shops") / name
    described: dict[str, Any] = json.loads((folder / "truth.json").read_text("utf-8"))
    pages: list[Page] = []
    for file, facts in described.items():
        html = (folder / file).read_bytes()
        html = html if scripts else without_scripts(html)
        pages.append(Page(url=f"https://{name}.example/{facts['path']}", html=html, id=file))
    products = {file: facts for file, facts in described.items() if facts["kind"] == PRODUCT}
    truth = {file: _fields(facts) for file, facts in products.items()}
    labeled = max(truth, key=lambda file: len(truth[file]))
    if not truth[labeled]:
        return None
    return LabeledSite(name, SCHEMA, pages, truth, labeled, frozenset(described.keys() - products.keys()))


def _fields(facts: Mapping[str, Any]) -> Fields:
    fields: dict[str, list[str]] = {}
    for name in SCHEMA.attributes:
        if value := facts.get(name):
            fields[name] = [str(one) for one in value] if isinstance(value, list) else [str(value)]
    return fields
