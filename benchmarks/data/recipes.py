"""The data set `recipes`: today's recipe pages, two or more of a site, with the values their scrapers expect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.data.labeled_site import Fields, LabeledSite, key, visible_key, without_scripts
from benchmarks.data.swde import unpacked
from untemplate import Attribute, Page, Schema

__all__ = ["SCHEMA", "page_url", "read_site", "site_names"]

SCHEMA = Schema(
    "recipe",
    {
        "title": Attribute("title", mandatory=True),
        "author": Attribute("author"),
        "description": Attribute("description"),
        "ingredients": Attribute("ingredients", many=True),
        "instructions_list": Attribute("instructions_list", many=True),
    },
)


def site_names() -> list[str]:
    """Return the names of all sites, sorted; FileNotFoundError without the data."""
    return sorted(folder.name for folder in unpacked("recipes").iterdir() if folder.is_dir())


def read_site(name: str, scripts: bool = True) -> LabeledSite | None:
    """Return a site with its first page labeled; None if no value of that page is visible on it.

    Args:
        name: the name of the site's folder.
        scripts: False removes all scripts from the pages.
    """
    pages: list[Page] = []
    truth: dict[str, Fields] = {}
    for path in sorted((unpacked("recipes") / name).glob("*.html")):
        expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
        html = path.read_bytes() if scripts else without_scripts(path.read_bytes())
        pages.append(Page(url=page_url(name, path, expected), html=html, id=path.name))
        truth[path.name] = _visible_fields(expected, visible_key(html))
    if not truth[pages[0].id]:
        return None
    return LabeledSite(name, SCHEMA, pages, truth, pages[0].id)


def _visible_fields(expected: Mapping[str, Any], text: str) -> Fields:
    """Return the expected values that are on the page; of a list only if all its members are."""
    fields: dict[str, list[str]] = {}
    for name in SCHEMA.attributes:
        values = expected.get(name) or []
        values = values if isinstance(values, list) else [values]
        if values and all(_is_visible(value, text) for value in values):
            fields[name] = [str(value) for value in values]
    return fields


def _is_visible(value: object, text: str) -> bool:
    letters = key(value)
    return bool(letters) and letters in text


def page_url(site: str, path: Path, expected: Mapping[str, Any]) -> str:
    """Return the canonical URL; for the few pages without one, an address at the host that names the folder."""
    canonical = str(expected.get("canonical_url") or "")
    return canonical if canonical.startswith("http") else f"https://{site}/{path.stem}"
