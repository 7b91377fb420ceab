"""untemplate cluster: group the pages of a site by template."""

from __future__ import annotations

from pathlib import Path
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
    read_template_names,
    say,
    show,
    show_json,
    templates_option,
)
from untemplate.errors import InputError

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
        "untemplate cluster pages/ --similarity 0.9",
        "untemplate cluster pages/ --merge c1,c3 --split about.html -o labels.jsonl",
    )
)
@pages_argument
@click.option(
    "--similarity",
    default=0.7,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="How alike the pages of a template are; higher values make more and smaller clusters.",
)
@click.option(
    "--merge",
    "merged",
    multiple=True,
    metavar="CLUSTER,CLUSTER",
    help="These clusters are one template. May be repeated.",
)
@click.option(
    "--split",
    multiple=True,
    metavar="PAGE",
    help="This page, by id or URL, and pages like it are of another template than their cluster. May be repeated.",
)
@templates_option
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the template of each page to this file of labels, which sample, annotate and learn follow; labels "
    "that are in it stay.",
)
@json_option
def command(
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    similarity: float,
    merged: tuple[str, ...],
    split: tuple[str, ...],
    label_files: tuple[Path, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Group the pages of a site by the template that made them.

    PAGES is a folder of HTML files, a zip or tar archive, a WARC, Parquet or JSONL file, an SWDE site, or a
    text file of URLs to fetch; it is recognized by what it is.

    Where the clusters are wrong, --merge and --split correct them. -o keeps the result in a file of labels:
    untemplate sample, annotate and learn follow it if they get it as --labels. Rules know these templates, so heals
    keep them, too.
    """
    from untemplate.clustering import correct_clusters

    with open_pages(source, url_column, html_column, render) as pages:
        clustering = find_templates(pages, read_template_names(label_files), similarity)
        if merged or split:
            names = correct_clusters(clustering, [clusters.split(",") for clusters in merged], split)
            clustering = find_templates(pages, names, similarity)
        if output:
            _write_templates(clustering, output)
        if as_json:
            show_json(_clusters_as_json(clustering) | {"skipped": dict(pages.skipped.counts)})
        else:
            show_clusters(clustering)


def _write_templates(clustering: Clustering, output: Path) -> None:
    """Write the template of each page to a file of labels, and keep the labels that it has."""
    from untemplate.clustering import name_templates
    from untemplate.labeling import read_labels, write_labels

    labels = read_labels(output) if output.exists() else []
    names = name_templates(clustering)
    try:
        write_labels(labels, output, names)
    except OSError as error:
        raise InputError(f"{output}: cannot write: {error.strerror}") from error
    say(f"The templates of {counted(len(names), 'page')} are in {output}.")


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
