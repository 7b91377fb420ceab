"""untemplate label: labels of a site that nobody has labelled, from knowledge of its vertical."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from untemplate.cli.shell import (
    counted,
    examples,
    json_option,
    open_pages,
    pages_argument,
    progress,
    say,
    show,
    show_json,
)
from untemplate.errors import InputError

if TYPE_CHECKING:
    from untemplate.labeling import Finding, Knowledge, Label
    from untemplate.page import Page
    from untemplate.sources import Pages

__all__ = ["command", "knowledge_option", "label_pages", "method_option", "read_some"]

# Pages of a site that are labelled: more make labels hardly better.
PAGES = 50

Command = TypeVar("Command", bound=Callable[..., Any])


def knowledge_option(help: str, required: bool = False) -> Callable[[Command], Command]:
    """An option for a folder of knowledge."""
    return click.option(
        "--knowledge",
        "knowledge_folder",
        required=required,
        type=click.Path(file_okay=False, path_type=Path),
        help=help,
    )


def method_option(help: str, default: str | None = None) -> Callable[[Command], Command]:
    """An option for one of the registered methods; its help lists them all."""
    return click.option("--method", cls=_MethodOption, default=default, show_default=True, help=help)


class _MethodOption(click.Option):
    """Reads the registry only when an option is parsed or explained: it imports the models of all methods."""

    def get_help_record(self, context: click.Context) -> tuple[str, str] | None:
        self._read_registry()
        return super().get_help_record(context)

    def type_cast_value(self, context: click.Context, value: Any) -> Any:
        self._read_registry()
        return super().type_cast_value(context, value)

    def _read_registry(self) -> None:
        from untemplate.labeling.knowledge import METHODS

        methods = "; ".join(f'"{name}": {method.help}' for name, method in METHODS.items())
        self.type = click.Choice(list(METHODS))
        self.help = f"{(self.help or '').partition(':')[0]}: {methods}."


@click.command(
    epilog=examples(
        "untemplate label pages/ --knowledge knowledge/ -o labels.jsonl",
        "untemplate learn pages/ --schema book --labels labels.jsonl -o rules.json",
    )
)
@pages_argument
@knowledge_option("The folder that untemplate train wrote.", required=True)
@click.option(
    "-k",
    default=PAGES,
    show_default=True,
    type=click.IntRange(min=2),
    help="Pages to label, at most, spread over the site.",
)
@method_option("The method that the knowledge was trained by if not given, or another one that can use it")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The labels file to write, JSONL.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str,
    url_column: str,
    html_column: str,
    knowledge_folder: Path,
    k: int,
    method: str | None,
    output: Path,
    as_json: bool,
) -> None:
    """Label pages of a site that nobody has labelled.

    PAGES is any source of pages of one site; see untemplate cluster --help. The table at the end tells for each
    attribute how sure the labels are, on which share of the pages it was found, and what was found.

    Exit code 1: some attributes were not found.
    """
    from untemplate.labeling import Knowledge, labels_of, write_labels

    if not output.parent.is_dir():
        raise InputError(f"{output}: cannot write: there is no folder {output.parent}")
    knowledge = Knowledge.load(knowledge_folder, method)
    chosen = read_some(source, url_column, html_column, k)
    findings = knowledge.find(chosen)
    write_labels(labels_of(findings), output)
    if as_json:
        show_json(
            [
                {
                    "attribute": finding.attribute,
                    "found": finding.found,
                    "confidence": round(finding.confidence, 3),
                    "coverage": round(finding.coverage, 3),
                    "examples": finding.examples,
                }
                for finding in findings
            ]
        )
    else:
        _show(findings, counted(len(chosen), "page"), len(chosen))
    say(f"Labels are in {output}.")
    if not all(finding.found for finding in findings):
        context.exit(1)


def label_pages(knowledge: Knowledge, pages: Pages, known: Sequence[Label]) -> list[Label]:
    """Labels for attributes that nobody labelled on any page, with a table of them on standard error."""
    from untemplate.labeling import labels_of

    chosen = _spread(progress(pages, "Reading pages", pages.total), PAGES)
    given = {label.attribute for label in known}
    findings = [one for one in knowledge.find(chosen) if one.attribute not in given]
    _show(findings, f"Labels by knowledge of {knowledge.schema.name}", len(chosen), err=True)
    return labels_of(findings)


def read_some(source: str, url_column: str, html_column: str, k: int = PAGES) -> list[Page]:
    """At most `k` pages of a source, spread over the site."""
    with open_pages(source, url_column, html_column) as pages:
        return _spread(progress(pages, f"Reading {source}", pages.total), k)


def _spread(pages: Iterable[Page], k: int) -> list[Page]:
    """At most `k` of the pages, evenly spread over all; no more than twice as many are ever kept."""
    kept: list[Page] = []
    step = 1
    for number, page in enumerate(pages):
        if number % step == 0:
            kept.append(page)
        if len(kept) == 2 * k:
            kept, step = kept[::2], 2 * step
    return [kept[number * len(kept) // k] for number in range(k)] if len(kept) > k else kept


def _show(findings: Sequence[Finding], title: str, pages: int, err: bool = False) -> None:
    """A table of what was found, and lines about what was not, and on which share of the pages nothing was."""
    show(
        title,
        ("attribute", "confidence", "coverage", "examples"),
        (
            (
                finding.attribute,
                f"{finding.confidence:.0%}",
                f"{finding.coverage:.0%}",
                " | ".join(finding.examples),
            )
            for finding in findings
            if finding.found
        ),
        err=err,
    )
    missing = [finding.attribute for finding in findings if not finding.found]
    if missing:
        click.echo(f"Not found, so not labelled: {', '.join(missing)}.", err=err)
    labelled = {id(page) for finding in findings if finding.found for page, _ in finding.places}
    if without := pages - len(labelled):
        click.echo(
            f"{without} of {counted(pages, 'page')} got no label: nothing was found, or they list many records.",
            err=err,
        )
