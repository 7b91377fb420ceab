"""untemplate cluster: the templates of a site."""

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
    from untemplate.clustering import Clustering
    from untemplate.page import Page

__all__ = ["command", "show_clusters"]

# Pages that fit nowhere are named up to here; --json names all.
NAMED = 5


@click.command(
    epilog=examples(
        "untemplate cluster pages/",
        "untemplate cluster crawl.warc.gz --json > templates.json",
    )
)
@pages_argument
@json_option
def command(source: str, url_column: str, html_column: str, as_json: bool) -> None:
    """Group the pages of a site by the template that made them.

    PAGES is a folder of HTML files, a zip or tar archive, a WARC, Parquet or JSONL file, an SWDE site, or a
    text file of URLs to fetch; it is recognized by what it is.
    """
    with open_pages(source, url_column, html_column) as pages:
        clustering = find_templates(pages)
        if as_json:
            show_json(_as_json(clustering) | {"skipped": dict(pages.skipped.counts)})
        else:
            show_clusters(clustering)


def show_clusters(clustering: Clustering) -> None:
    """A table of the templates, and the pages that fit nowhere."""
    show(
        "Templates",
        ("cluster", "pages", "importance", "signature", "URL pattern", "example"),
        (
            (one.id, len(one.pages), one.importance, one.signature, one.url_pattern, _name(one.pages[0]))
            for one in clustering
        ),
    )
    if unassigned := clustering.unassigned:
        names = ", ".join(_name(page) for page in unassigned[:NAMED])
        more = ", …" if len(unassigned) > NAMED else ""
        click.echo(printable(f"{counted(len(unassigned), 'page')} without a template: {names}{more}"))


def _as_json(clustering: Clustering) -> dict[str, Any]:
    return {
        "clusters": [
            {
                "cluster": one.id,
                "importance": one.importance,
                "signature": str(one.signature),
                "signatures": [str(signature) for signature in one.signatures],
                "url_pattern": one.url_pattern,
                "pages": [page.id for page in one.pages],
            }
            for one in clustering
        ],
        "unassigned": [page.id for page in clustering.unassigned],
        "notes": clustering.notes,
    }


def _name(page: Page) -> str:
    return page.url or page.id
