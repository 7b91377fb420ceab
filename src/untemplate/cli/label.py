"""untemplate label: label a site that nobody has labeled, with knowledge of its vertical."""

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

# Pages of a site that are labeled: more improve labels only a little.
LABELED_PAGES = 50

Command = TypeVar("Command", bound=Callable[..., Any])


def knowledge_option(help: str, required: bool = False) -> Callable[[Command], Command]:
    """Return the option for a folder of knowledge."""
    return click.option(
        "--knowledge",
        "knowledge_folder",
        required=required,
        type=click.Path(file_okay=False, path_type=Path),
        help=help,
    )


def method_option(help: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the option for one of the registered methods; its help lists them all."""
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
        """Fill in the choices and the help text."""
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
    default=LABELED_PAGES,
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
    render: bool,
    knowledge_folder: Path,
    k: int,
    method: str | None,
    output: Path,
    as_json: bool,
) -> None:
    """Label pages of a site that nobody has labeled.

    PAGES is any source of pages of one site; see untemplate cluster --help. The table at the end shows for each
    attribute how sure the labels are, on which share of the pages it was found, and examples of its values.

    Exit code 1: some attributes were not found.
    """
    from untemplate.labeling import Knowledge, labels_of, write_labels

    if not output.parent.is_dir():
        raise InputError(f"{output}: cannot write: there is no folder {output.parent}")
    knowledge = Knowledge.load(knowledge_folder, method)
    chosen = read_some(source, url_column, html_column, render, k)
    findings = knowledge.find(chosen)
    write_labels(labels_of(findings), output)
    if as_json:
        show_json([_finding_as_json(finding) for finding in findings])
    else:
        _show_findings(findings, counted(len(chosen), "page"), len(chosen))
    say(f"Labels are in {output}.")
    if not all(finding.found for finding in findings):
        context.exit(1)


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "attribute": finding.attribute,
        "found": finding.found,
        "confidence": round(finding.confidence, 3),
        "coverage": round(finding.coverage, 3),
        "examples": finding.examples,
    }


def label_pages(knowledge: Knowledge, pages: Pages, labels: Sequence[Label]) -> list[Label]:
    """Return labels by knowledge for the attributes that `labels` does not mention.

    A table on standard error shows what was found.
    """
    from untemplate.labeling import labels_of

    chosen = _spread_pages(progress(pages, "Reading pages", pages.total), LABELED_PAGES)
    labeled_attributes = {label.attribute for label in labels}
    findings = [finding for finding in knowledge.find(chosen) if finding.attribute not in labeled_attributes]
    _show_findings(findings, f"Labels by knowledge of {knowledge.schema.name}", len(chosen), err=True)
    return labels_of(findings)


def read_some(
    source: str, url_column: str, html_column: str, render: bool, k: int = LABELED_PAGES
) -> list[Page]:
    """Return at most `k` pages of a source, spread over the site."""
    with open_pages(source, url_column, html_column, render) as pages:
        return _spread_pages(progress(pages, f"Reading {source}", pages.total), k)


def _spread_pages(pages: Iterable[Page], k: int) -> list[Page]:
    """Return at most `k` of the pages, evenly spread over all of them.

    The number of pages is not known in advance. So every page is kept at first, and whenever there are twice as many
    as needed, every second one is dropped.
    """
    kept: list[Page] = []
    step = 1
    for number, page in enumerate(pages):
        if number % step == 0:
            kept.append(page)
        if len(kept) == 2 * k:
            kept, step = kept[::2], 2 * step
    return [kept[number * len(kept) // k] for number in range(k)] if len(kept) > k else kept


def _show_findings(findings: Sequence[Finding], title: str, pages: int, err: bool = False) -> None:
    """Print a table of the attributes that were found, and say what was not found and on how many pages."""
    rows = []
    labeled_pages: set[int] = set()
    for finding in findings:
        if finding.found:
            confidence, coverage = f"{finding.confidence:.0%}", f"{finding.coverage:.0%}"
            rows.append((finding.attribute, confidence, coverage, " | ".join(finding.examples)))
            labeled_pages |= {id(page) for page, _ in finding.places}
    show(title, ("attribute", "confidence", "coverage", "examples"), rows, err=err)
    missing = [finding.attribute for finding in findings if not finding.found]
    if missing:
        click.echo(f"Not found, so not labeled: {', '.join(missing)}.", err=err)
    if without := pages - len(labeled_pages):
        click.echo(
            f"{without} of {counted(pages, 'page')} got no label: nothing was found, or they list many records.",
            err=err,
        )
