"""Schemas of crawl4ai, by the real library in its own environment, or by its published semantics.

crawl4ai brings a browser, a model client and a hundred packages, so it is no dependency of ours. `evaluate_schema`
does what `JsonXPathExtractionStrategy` of version 0.9.5 does with the parts of a schema that we write; the test of
exports uses it, and `measure.exports` compares it with the real library.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from typing import Any

import lxml.html

__all__ = ["evaluate_schema", "extract_by_library"]


def evaluate_schema(schema: Mapping[str, Any], html: str) -> list[dict[str, Any]]:
    """Return the items of a page."""
    tree = lxml.html.fromstring(html)
    items = [_read_item(base, schema["fields"]) for base in tree.xpath(schema["baseSelector"])]
    return [item for item in items if item]


def _read_item(base: Any, fields: list[Mapping[str, Any]]) -> dict[str, Any]:
    item: dict[str, Any] = {}
    for field in fields:
        selector = field["selector"]
        nodes = base.xpath(selector if selector.startswith(".") else f".{selector}")
        if field["type"] == "list":
            item[field["name"]] = [_read_member(node, field["fields"]) for node in nodes]
        elif nodes and (value := _read_value(nodes[0], field)) is not None:
            item[field["name"]] = value
    return item


def _read_member(node: Any, fields: list[Mapping[str, Any]]) -> dict[str, str]:
    values = {field["name"]: _read_value(node, field) for field in fields}
    return {name: value for name, value in values.items() if value is not None}


def _read_value(node: Any, field: Mapping[str, Any]) -> str | None:
    """Return the group of a pattern in the text of a node; all fields that we write have the type regex."""
    text = node if isinstance(node, str) else "".join(node.xpath(".//text()")).strip()
    match = re.search(field["pattern"], text)
    return match.group(field["group"]) if match else None


def extract_by_library(schema: Mapping[str, Any], html: str) -> list[dict[str, Any]]:
    """Return what the library itself returns; for its own environment."""
    from crawl4ai import JsonXPathExtractionStrategy  # type: ignore[import-not-found]

    items: list[dict[str, Any]] = JsonXPathExtractionStrategy(schema).extract("", html)
    return items


def main() -> None:
    """Answer orders on standard input, a line each: a schema and the HTML of a page."""
    for line in sys.stdin:
        order = json.loads(line)
        print(json.dumps(extract_by_library(order["schema"], order["html"])), flush=True)


if __name__ == "__main__":
    main()
