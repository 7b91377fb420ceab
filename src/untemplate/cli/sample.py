"""untemplate sample: choose the pages worth labeling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from untemplate.cli.shell import (
    examples,
    find_templates,
    json_option,
    open_pages,
    pages_argument,
    progress,
    read_template_names,
    show,
    show_json,
    templates_option,
)
from untemplate.errors import SourceError

if TYPE_CHECKING:
    from untemplate.clustering import Cluster
    from untemplate.page import Page

__all__ = ["command", "show_samples"]


@click.command(
    epilog=examples(
        "untemplate sample pages/",
        "untemplate sample pages/ -k 5 --json > to_label.json",
    )
)
@pages_argument
@click.option(
    "-k", default=20, show_default=True, type=click.IntRange(min=1), help="Pages of each template, at most."
)
@templates_option
@json_option
def command(
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    k: int,
    label_files: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Choose the pages of each template that are worth labeling, best first.

    PAGES is any source of pages; see untemplate cluster --help.
    """
    from untemplate.sampling import sample

    with open_pages(source, url_column, html_column, render) as pages:
        clustering = find_templates(pages, read_template_names(label_files))
        clusters = progress(clustering, "Choosing", len(clustering))
        samples = [(cluster, sample(cluster, k)) for cluster in clusters]
        if not any(chosen for _, chosen in samples):
            page = clustering[0].pages[0]
            raise SourceError(f"{source}: no page can be read, such as {page.id}: {page.why_unreadable()}")
        if as_json:
            show_json([_sample_as_json(cluster, chosen) for cluster, chosen in samples])
            return
        for cluster, chosen in samples:
            show_samples(cluster, chosen)


def show_samples(cluster: Cluster, chosen: list[Page]) -> None:
    """Print a table of the pages of one template to label, best first."""
    show(
        f"Cluster {cluster.id}: {len(chosen)} of {len(cluster.pages):,} pages to label, best first",
        ("rank", "page", "URL"),
        ((rank, page.id, page.url if page.url != page.id else "") for rank, page in enumerate(chosen, 1)),
    )


def _sample_as_json(cluster: Cluster, chosen: list[Page]) -> dict[str, Any]:
    return {"cluster": cluster.id, "pages": [{"page": page.id, "url": page.url} for page in chosen]}
