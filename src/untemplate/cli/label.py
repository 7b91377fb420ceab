"""untemplate label: label a site that nobody has labeled, with knowledge of its vertical or a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from untemplate.cli.model_options import ModelOptions, label_by_model, model_options
from untemplate.cli.shell import (
    counted,
    examples,
    json_option,
    open_pages,
    progress,
    say,
    show,
    show_json,
    source_options,
)
from untemplate.errors import InputError

if TYPE_CHECKING:
    from untemplate.labeling import Finding, Knowledge, Label
    from untemplate.page import Page
    from untemplate.sources import Pages

__all__ = [
    "command",
    "confidence_option",
    "knowledge_option",
    "label_pages",
    "list_site_sources",
    "method_option",
    "read_some",
]

# Pages of a site that are labeled: more improve labels only a little. A language model is asked about fewer.
LABELED_PAGES = 50
ASKED_PAGES = 5
# Values of an attribute that a table shows.
EXAMPLE_COUNT = 3

Command = TypeVar("Command", bound=Callable[..., Any])


def knowledge_option(help: str) -> Callable[[Command], Command]:
    """Return the option for a folder of knowledge."""
    return click.option(
        "--knowledge",
        "knowledge_folder",
        type=click.Path(file_okay=False, path_type=Path),
        help=help,
    )


def method_option(help: str, default: str | None = None) -> Callable[[Command], Command]:
    """Return the option for one of the registered methods; its help lists them all."""
    return click.option("--method", cls=_MethodOption, default=default, show_default=True, help=help)


confidence_option = click.option(
    "--min-confidence",
    default=0.0,
    type=click.FloatRange(0, 1),
    help="Do not label what is less sure than this, from 0 to 1; the method decides if not given.",
)


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
        "untemplate label sites/ --together --knowledge knowledge/ -o labels/",
        "untemplate label pages/ --schema book --llm MODEL -o labels.jsonl",
    )
)
@click.argument("sources", metavar="PAGES...", nargs=-1, required=True)
@source_options
@click.option(
    "--together",
    is_flag=True,
    help="Label several sites of the vertical at once: what is surely found on the others teaches each. -o is then a "
    "folder, with a labels file for each site. A folder that contains only folders is several sites.",
)
@knowledge_option("The folder that untemplate train wrote.")
@click.option("--schema", "schema_name", help="With --llm: a TOML file, or the name of a ready-made one.")
@model_options
@click.option(
    "-k",
    show_default=f"{LABELED_PAGES} spread over the site; {ASKED_PAGES} of each template with --llm",
    type=click.IntRange(min=2),
    help="Pages to label, at most.",
)
@method_option("The method that the knowledge was trained by if not given, or another one that can use it")
@confidence_option
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="The labels file to write, JSONL; with --together the folder for these files.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    sources: tuple[str, ...],
    url_column: str,
    html_column: str,
    render: bool,
    together: bool,
    knowledge_folder: Path | None,
    schema_name: str | None,
    model: ModelOptions,
    k: int | None,
    method: str | None,
    min_confidence: float,
    output: Path,
    as_json: bool,
) -> None:
    """Label pages of a site that nobody has labeled.

    PAGES is any source of pages of one site; see untemplate cluster --help. The table at the end shows for each
    attribute how sure the labels are, on which share of the pages it was found, and examples of its values. Below it
    are the attributes that are not sure, and the pages whose label would settle them.

    With --llm and --schema, a language model is asked about a few pages of each template. Answers that the rules of
    other pages do not support are dropped. Answers are kept: the same question is never asked twice.

    Exit code 1: some attributes were not found.
    """
    from untemplate.labeling import Knowledge

    names = list_site_sources(sources) if together else list(sources)
    _check_sources(names, together, output)
    _check_labelers(model, knowledge_folder, schema_name, together)
    if model.model and schema_name:
        with open_pages(names[0], url_column, html_column, render) as pages:
            is_complete = _label_by_model(pages, model, schema_name, k or ASKED_PAGES, output, as_json)
        context.exit(int(not is_complete))
    knowledge = Knowledge.load(cast(Path, knowledge_folder), method)
    sites = [read_some(name, url_column, html_column, render, k or LABELED_PAGES) for name in names]
    findings = knowledge.find_together(sites) if together else [knowledge.find(sites[0])]
    labeled = list(_label_sources(names, sites, findings, min_confidence))
    _write_labeled(labeled, output, together)
    _show_labeled(labeled, together, as_json)
    say(f"Labels are in {output}.")
    context.exit(int(not all(site.is_complete for site in labeled)))


def _check_labelers(
    model: ModelOptions, knowledge_folder: Path | None, schema_name: str | None, together: bool
) -> None:
    """Raise unless exactly one labeler is named: a model with a schema, or knowledge."""
    if model.model and (knowledge_folder or together or not schema_name):
        raise click.UsageError("--llm needs --schema, and neither --knowledge nor --together.")
    if not model.model and knowledge_folder is None:
        raise click.UsageError("Missing option '--knowledge', or '--llm' with '--schema': who labels.")


def _write_labeled(labeled: Sequence[_LabeledSource], output: Path, together: bool) -> None:
    """Write the labels of the only site, or a file for each of several."""
    for site in labeled:
        site.write(output / f"{site.short_name}.jsonl" if together else output)


def _label_by_model(
    pages: Pages, model: ModelOptions, schema_name: str, k: int, output: Path, as_json: bool
) -> bool:
    """Write the labels of a language model, show them, and return True if it found every attribute."""
    from untemplate.labeling import write_labels
    from untemplate.schema import Schema

    schema = Schema.load(schema_name)
    confirmed = label_by_model(pages, model.make_labeler(schema), k)
    write_labels(confirmed.labels, output)
    rows = [_summarize_labels(confirmed.labels, name) for name in schema.attributes]
    if as_json:
        show_json([{"attribute": name, "pages": count, "examples": values} for name, count, values in rows])
    else:
        cells = [(name, count, " | ".join(values)) for name, count, values in rows]
        show(f"Labels by {model.model}", ("attribute", "pages", "examples"), cells)
    say(f"Labels are in {output}.")
    return all(count for _, count, _ in rows)


def _summarize_labels(labels: Iterable[Label], name: str) -> tuple[str, int, list[str]]:
    """Return an attribute, the number of pages with a value, and some of the values."""
    present = [label for label in labels if label.attribute == name and label.value]
    examples = dict.fromkeys(label.value for label in present if label.value)
    return name, len({label.page for label in present}), list(examples)[:EXAMPLE_COUNT]


@dataclass(frozen=True)
class _LabeledSource:
    """A source of pages of one site, and what was found on them."""

    name: str
    pages: Sequence[Page]
    findings: Sequence[Finding]

    @property
    def short_name(self) -> str:
        """The name of the file or folder, without the ending of archives."""
        return Path(self.name).name.partition(".warc")[0]

    @property
    def is_complete(self) -> bool:
        return all(finding.found for finding in self.findings)

    def write(self, path: Path) -> None:
        from untemplate.labeling import labels_of, write_labels

        path.parent.mkdir(exist_ok=True)
        write_labels(labels_of(self.findings), path)

    def show(self, with_name: bool) -> None:
        pages = counted(len(self.pages), "page")
        _show_findings(self.findings, f"{self.short_name}: {pages}" if with_name else pages, len(self.pages))

    def as_json(self) -> list[dict[str, Any]]:
        return [_finding_as_json(finding) for finding in self.findings]


def _label_sources(
    names: Sequence[str],
    sites: Sequence[Sequence[Page]],
    findings: Iterable[Sequence[Finding]],
    min_confidence: float,
) -> Iterator[_LabeledSource]:
    """Yield each source with its pages and what was found on them, without what is less sure than asked for."""
    for name, pages, site_findings in zip(names, sites, findings, strict=True):
        yield _LabeledSource(name, pages, [finding.with_floor(min_confidence) for finding in site_findings])


def _show_labeled(labeled: Sequence[_LabeledSource], together: bool, as_json: bool) -> None:
    """Print what was found: a table for each site, or JSON; without --together, that of the only site."""
    if not as_json:
        for site in labeled:
            site.show(together)
    elif together:
        show_json({site.short_name: site.as_json() for site in labeled})
    else:
        show_json(labeled[0].as_json())


def _check_sources(names: Sequence[str], together: bool, output: Path) -> None:
    """Raise if the labels could not be written, or if several sites are to be labeled one by one."""
    if len(names) > 1 and not together:
        raise click.UsageError("Several sites: give --together to label them at once, or label one by one.")
    if not output.parent.is_dir():
        raise InputError(f"{output}: cannot write: there is no folder {output.parent}")
    if output.is_dir() != together and output.exists():
        wanted = "a folder is needed with --together" if together else "it is a folder; name a file in it"
        raise InputError(f"{output}: cannot write: {wanted}")


def list_site_sources(sources: Iterable[str]) -> list[str]:
    """Return sources of pages, a site each. A folder that contains only folders is several sites."""
    sites: list[str] = []
    for source in sources:
        entries = sorted(Path(source).iterdir()) if Path(source).is_dir() else []
        is_several = bool(entries) and all(entry.is_dir() for entry in entries)
        sites += [str(entry) for entry in entries] if is_several else [source]
    return sites


def _finding_as_json(finding: Finding) -> dict[str, Any]:
    return {
        "attribute": finding.attribute,
        "found": finding.found,
        "confidence": round(finding.confidence, 3),
        "coverage": round(finding.coverage, 3),
        "examples": finding.examples,
    }


def label_pages(
    knowledge: Knowledge, pages: Pages, labels: Sequence[Label], min_confidence: float = 0.0
) -> list[Label]:
    """Return labels by knowledge for the attributes that `labels` does not mention.

    A table on standard error shows what was found.
    """
    from untemplate.labeling import labels_of

    chosen = _spread_pages(progress(pages, "Reading pages", pages.total), LABELED_PAGES)
    labeled_attributes = {label.attribute for label in labels}
    all_findings = [finding.with_floor(min_confidence) for finding in knowledge.find(chosen)]
    findings = [finding for finding in all_findings if finding.attribute not in labeled_attributes]
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
    """Print a table of the attributes that were found, then what was not found and what is not sure."""
    from untemplate.labeling.label import pages_to_check

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
    for check in pages_to_check(findings):
        click.echo(f"Not sure of {', '.join(check.attributes)}: label {check.page} to settle it.", err=err)
    if without := pages - len(labeled_pages):
        click.echo(
            f"{without} of {counted(pages, 'page')} got no label: nothing was found, or they list many records.",
            err=err,
        )
