"""untemplate cluster: group the pages of a site by template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.shell import (
    counted,
    examples,
    find_templates,
    json_option,
    open_pages,
    pages_argument,
    printable,
    show,
    show_json,
)

if TYPE_CHECKING:
    from untemplate.clustering import Cluster, Clustering, Kind
    from untemplate.page import Page

__all__ = ["command", "show_clusters"]

# Pages without a template that the table names; --json names all.
MAX_NAMED_PAGES = 5


@click.command(
    epilog=examples(
        "untemplate cluster pages/",
        "untemplate cluster crawl.warc.gz --json > templates.json",
    )
)
@pages_argument
@json_option
def command(source: str, url_column: str, html_column: str, render: bool, as_json: bool) -> None:
    """Group the pages of a site by the template that made them.

    PAGES is a folder of HTML files, a zip or tar archive, a WARC, Parquet or JSONL file, an SWDE site, or a
    text file of URLs to fetch; it is recognized by what it is.
    """
    with open_pages(source, url_column, html_column, render) as pages:
        clustering = find_templates(pages)
        if as_json:
            show_json(_clusters_as_json(clustering) | {"skipped": dict(pages.skipped.counts)})
        else:
            show_clusters(clustering)


def show_clusters(clustering: Clustering) -> None:
    """Print a table of the templates, and name pages that fit none."""
    from untemplate.clustering import guess_kinds

    show(
        "Templates",
        ("cluster", "kind", "pages", "URL pattern", "example", "why this kind"),
        [
            _cluster_row(cluster, kind)
            for cluster, kind in zip(clustering, guess_kinds(clustering), strict=True)
        ],
    )
    if unassigned := clustering.unassigned:
        names = ", ".join(_name(page) for page in unassigned[:MAX_NAMED_PAGES])
        more = ", …" if len(unassigned) > MAX_NAMED_PAGES else ""
        click.echo(printable(f"{counted(len(unassigned), 'page')} without a template: {names}{more}"))


def _cluster_row(cluster: Cluster, kind: Kind) -> tuple[object, ...]:
    example = _name(cluster.pages[0])
    return cluster.id, kind.name, cluster.size, cluster.url_pattern, example, kind.reason


def _cluster_as_json(cluster: Cluster, kind: Kind) -> dict[str, Any]:
    return {
        "cluster": cluster.id,
        "kind": kind.name,
        "kind_reason": kind.reason,
        "size": cluster.size,
        "importance": cluster.importance,
        "signature": str(cluster.signature),
        "signatures": [str(signature) for signature in cluster.signatures],
        "url_pattern": cluster.url_pattern,
        "pages": [page.id for page in cluster.pages],
    }


def _clusters_as_json(clustering: Clustering) -> dict[str, Any]:
    from untemplate.clustering import guess_kinds

    kinds = guess_kinds(clustering)
    return {
        "clusters": [
            _cluster_as_json(cluster, kind) for cluster, kind in zip(clustering, kinds, strict=True)
        ],
        "unassigned": [page.id for page in clustering.unassigned],
        "notes": clustering.notes,
    }


def _name(page: Page) -> str:
    return page.url or page.id
