"""untemplate train: learn a vertical from labeled seed sites."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.label import list_site_sources, method_option, read_some
from untemplate.cli.shell import examples, open_pages, progress, repeat_option, say, show, source_options

if TYPE_CHECKING:
    from untemplate.labeling import Label
    from untemplate.page import Page

__all__ = ["command"]


class _Train(click.Command):
    """A command with an option that takes several values: `--unlabeled a/ b/ c/`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        return super().parse_args(context, list(repeat_option(arguments, "--unlabeled")))


@click.command(
    cls=_Train,
    epilog=examples(
        "untemplate train books/amazon/:amazon.jsonl --schema book -o knowledge/",
        "untemplate train a.warc.gz:a.jsonl b.warc.gz:b.jsonl --schema book -o knowledge/",
        "untemplate train a/:a.jsonl --unlabeled c/ d/ e.warc.gz --schema book -o knowledge/",
        "untemplate train a/:a.jsonl --unlabeled other-sites/ --schema book -o knowledge/",
    ),
)
@click.argument("sites", metavar="SITE...", nargs=-1, required=True)
@source_options
@click.option("--schema", "schema_name", required=True, help="A TOML file, or the name of a ready-made one.")
@click.option(
    "--unlabeled",
    multiple=True,
    metavar="PAGES...",
    help="Other sites of the vertical, without labels; what is surely found on them is learned. A folder that "
    "contains only folders is several sites.",
)
@method_option("How to learn", default="auto")
@click.option(
    "--features",
    type=click.Choice(["ours", "paper"]),
    help="Features of the methods segments and anchors: ours (default), or only those of the paper.",
)
@click.option(
    "--ranker",
    type=click.Choice(["LR", "NN", "SVM", "rank"]),
    help="Model of the method anchors: logistic regression (default), neural network, support vector machine, or "
    "one that ranks.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder of knowledge to write.",
)
def command(
    sites: tuple[str, ...],
    url_column: str,
    html_column: str,
    render: bool,
    schema_name: str,
    unlabeled: tuple[str, ...],
    method: str,
    features: str | None,
    ranker: str | None,
    output: Path,
) -> None:
    """Learn a vertical from labeled seed sites, to label other sites of it.

    SITE is a source of pages and its labels, PAGES:LABELS.jsonl; see untemplate cluster --help for sources. Some
    dozens of labeled pages of one site will do; more sites make labels of new sites more reliable, and so do sites
    without labels.
    """
    from untemplate.labeling.knowledge import METHODS, check_learns_unlabeled, check_options, train
    from untemplate.schema import Schema

    schema = Schema.load(schema_name)
    if unlabeled:
        check_learns_unlabeled(method)
    given = {"features": features, "ranker": ranker}
    options = {name: value for name, value in given.items() if value is not None}
    check_options(method, options)
    read = [_read_site(site, url_column, html_column, render) for site in sites]
    others = [read_some(source, url_column, html_column, render) for source in list_site_sources(unlabeled)]
    count = len(read) + len(others)
    say(f"Learning {schema.name} from {count} sites …" if count > 1 else f"Learning {schema.name} …")
    knowledge = train(read, schema, method, others, **options)
    knowledge.save(output)
    untaught = "none: only its name is known" if METHODS[method].finds_by_name else "none: cannot be found"
    show(
        f"Knowledge of {schema.name}",
        ("attribute", "sites that taught it"),
        ((name, knowledge.seed_sites(name) or untaught) for name in schema.attributes),
    )
    say(f"Knowledge is in {output}.")


def _read_site(site: str, url_column: str, html_column: str, render: bool) -> tuple[list[Page], list[Label]]:
    """Read the pages and the labels of a seed site, PAGES:LABELS.jsonl."""
    from untemplate.labeling import read_labels

    source, colon, labels = site.rpartition(":")
    if not colon or not source or not labels:
        raise click.UsageError(f"{site}: needs its labels after a colon, such as pages/:labels.jsonl.")
    site_labels = read_labels(labels)
    with open_pages(source, url_column, html_column, render) as pages:
        return list(progress(pages, f"Reading {source}", pages.total)), site_labels
