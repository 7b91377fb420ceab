"""A source of pages becomes a site of the catalog that people can work on: clusters, and the pages to work with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from untemplate.catalog import Catalog
from untemplate.clustering import Cluster
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.pipeline import learning_sample
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.sources import Pages

__all__ = ["KEPT", "take_in"]

KEPT = 100
"""Pages of a cluster that the catalog keeps: the sample to label, and others to review."""


def take_in(
    catalog: Catalog,
    name: str,
    clusters: Iterable[Cluster],
    schema: Schema,
    pages: Pages,
    columns: dict[str, str],
) -> None:
    """Keep a site's clusters and some of their pages; rules that the catalog has of them stay.

    `columns` are those of the source, with which it is read again for an export.
    """
    run = catalog.start_run(name, "annotate")
    known = _known(catalog, name, schema)
    wrappers: list[Wrapper] = []
    figures: dict[str, Any] = {}
    for group in clusters:
        kept = _kept(group)
        catalog.save_pages(name, kept)
        wrappers.append(_wrapper(group, known))
        figures[group.id] = {"size": len(group.pages), "pages": [page.id for page in kept]}
    rules = Rules(schema, tuple(wrappers))
    if not catalog.history(name) or catalog.rules(name) != rules:
        catalog.save_rules(name, rules, "learned", f"templates of {pages.source}")
    source = str(Path(pages.source).resolve())
    catalog.finish_run(run, {"source": source, "columns": columns, "clusters": figures})


def _kept(group: Cluster) -> list[Page]:
    """The pages worth labelling, best first, then others at random."""
    chosen = learning_sample(group, ())
    known = {id(page) for page in chosen}
    rest = [page for page in group.pages if id(page) not in known]
    return chosen + Random(0).sample(rest, min(len(rest), KEPT - len(chosen)))


def _known(catalog: Catalog, name: str, schema: Schema) -> dict[str, Wrapper]:
    """The wrappers that the catalog has for this schema."""
    if not catalog.history(name):
        return {}
    rules = catalog.rules(name)
    return {wrapper.cluster: wrapper for wrapper in rules.wrappers} if rules.schema == schema else {}


def _wrapper(group: Cluster, known: dict[str, Wrapper]) -> Wrapper:
    wrapper = known.get(group.id)
    if wrapper is None or set(wrapper.signatures).isdisjoint(group.signatures):
        wrapper = Wrapper(group.id, (), 0, "", {})
    return replace(
        wrapper,
        signatures=group.signatures,
        importance=group.importance,
        url_pattern=group.url_pattern,
    )
