"""untemplate learn: learn rules from a few labeled pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.catalog_options import catalog_option, open_catalog, site_name, user
from untemplate.cli.fleet_runs import learn_fleet
from untemplate.cli.label import (
    ASKED_PAGES,
    confidence_option,
    knowledge_option,
    label_pages,
    method_option,
)
from untemplate.cli.model_options import ModelOptions, label_by_model, model_options
from untemplate.cli.shell import (
    examples,
    json_option,
    labels_option,
    open_pages,
    pages_argument,
    progress,
    read_label_files,
    read_template_names,
    say,
    show,
    show_json,
)
from untemplate.errors import InputError, LabelError
from untemplate.record import MAX_DOUBTFUL_CONFIDENCE

if TYPE_CHECKING:
    from untemplate.labeling import Knowledge, Label
    from untemplate.learned import Learned
    from untemplate.learning import AttributeReport
    from untemplate.learning.reports import ExampleValue
    from untemplate.schema import Schema
    from untemplate.sources import Pages

__all__ = ["command", "label_by_data", "learn_rules_of", "show_learned"]

TAUGHT_BY_DATA = " (taught by embedded data)"

# Characters of a line of the examples, of which the columns around the examples need some; what separates examples.
TABLE_WIDTH = 100
_SURE_WIDTH = 10
_BETWEEN_EXAMPLES = " | "

# Joins the page and the values of an example on their way through click; no argument can contain it.
_JOINT = "\0"

_Row = tuple[str, str, str, str]
"""A row of the table: an attribute, its coverage, the page to label next, its rule."""


class _Learn(click.Command):
    """A command with an option that takes a page and all values after it: `--example URL name=… phone=…`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        return super().parse_args(context, list(_join_examples(arguments)))


@click.command(
    cls=_Learn,
    epilog=examples(
        "untemplate learn pages/ --schema restaurant --labels labels.jsonl -o rules.json",
        "untemplate learn pages/ --schema restaurant --example http://a.example/7 name='Chez Nous' phone= "
        "-o rules.json",
        "untemplate learn pages/ --schema recipe -o rules.json",
        "untemplate learn pages/ --knowledge knowledge/ -o rules.json",
        "untemplate learn pages/ --schema book --llm MODEL -o rules.json",
        "untemplate learn results/ --labels rows.jsonl -o rules.json",
        "untemplate learn crawl.warc.gz --schema book --labels all-sites.jsonl --catalog untemplate.db",
    ),
)
@pages_argument
@click.option(
    "--schema",
    "schema_name",
    help="A TOML file, or the name of a ready-made one; not needed with --knowledge, or to learn from the rows of "
    "untemplate records.",
)
@labels_option
@click.option(
    "--example",
    "examples_given",
    multiple=True,
    metavar="URL NAME=VALUE...",
    help="A labeled page: its URL or id, then its values; no value means not on this page. May be repeated.",
)
@knowledge_option("Labels of its own, from what untemplate train wrote about the vertical.")
@method_option(
    "With --knowledge, the method that it was trained by if not given, or another one that can use it"
)
@confidence_option
@model_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The rules file to write; with --catalog it is not needed.",
)
@catalog_option("Remember the rules there, with their labels and sample pages.")
@click.option("--site", help="The name of the site in the catalog; the host of its pages if not given.")
@json_option
@click.pass_context
def command(
    context: click.Context,
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    schema_name: str | None,
    label_files: tuple[Path, ...],
    examples_given: tuple[str, ...],
    knowledge_folder: Path | None,
    method: str | None,
    min_confidence: float,
    model: ModelOptions,
    output: Path | None,
    catalog_name: str | None,
    site: str | None,
    as_json: bool,
) -> None:
    """Learn from a few labeled pages how to extract the rest.

    With --llm, a language model is asked about a few pages of each template, for attributes without other labels.
    Without labels the embedded data of the pages (JSON-LD, microdata, Open Graph) teach, as far as the schema names
    them; the table then says which attributes still need a person.

    PAGES is any source of pages; see untemplate cluster --help. The table at the end shows for each attribute
    the rule, the share of unlabeled sample pages on which it finds something, and the page to label next if
    that is not enough. A second one shows some values of unlabeled pages, and how sure they are.

    With --catalog and no --site, pages of several hosts are a crawl of several sites. Each site that has labels gets
    its own rules in the catalog, and a line; without any labels, each site whose embedded data teach.

    Exit code 1: an attribute that was labeled got no rule, its rule does not return the labeled values, or a site of
    a crawl could not be learned.
    """
    _check_output(output, catalog_name)
    knowledge = _load_knowledge(knowledge_folder, method, min_confidence)
    labels, templates = read_label_files(label_files), read_template_names(label_files)
    schema = _choose_schema(schema_name, knowledge, labels, bool(examples_given))
    for example in examples_given:
        labels += _parse_example(example, schema)
    with open_pages(source, url_column, html_column, render) as pages:
        if catalog_name and not site and _is_crawl(pages, output):
            labeler = partial(
                _complete_labels,
                knowledge=knowledge,
                model=model,
                schema=schema,
                min_confidence=min_confidence,
            )
            has_findings = learn_fleet(pages, labels, schema, catalog_name, labeler, as_json)
        else:
            completed = _complete_labels(pages, labels, knowledge, model, schema, min_confidence)
            learned = _learn_one_site(pages, completed, schema, templates, catalog_name, site)
            by_data = not labels and not knowledge and not model.model
            _report(learned, output, as_json, by_data)
            has_findings = bool(learned.attributes_to_check)
    if has_findings:
        context.exit(1)


def _load_knowledge(folder: Path | None, method: str | None, min_confidence: float) -> Knowledge | None:
    """Return the knowledge of a folder, if one is given; raise if options need one that is not."""
    from untemplate.labeling import Knowledge

    if folder:
        return Knowledge.load(folder, method)
    if method or min_confidence:
        raise click.UsageError(
            "--method and --min-confidence need --knowledge: labels of people are used as they are."
        )
    return None


def _is_crawl(pages: Pages, output: Path | None) -> bool:
    """Return True if the pages are of several sites, whose rules the catalog keeps."""
    from untemplate.engines.crawl_learning import has_several_hosts

    if not has_several_hosts(pages):
        return False
    if output:
        raise click.UsageError(
            "The pages are of several hosts, so there is no one file of rules: "
            "leave out -o, or give --site if they are one site."
        )
    return True


def _complete_labels(
    pages: Pages,
    labels: Sequence[Label],
    knowledge: Knowledge | None,
    model: ModelOptions,
    schema: Schema,
    min_confidence: float,
) -> Sequence[Label]:
    """Return the labels of a site with those of the knowledge or a model; without any, those of the embedded data."""
    if knowledge:
        labels = [*labels, *label_pages(knowledge, pages, labels, min_confidence)]
    labeled = {label.attribute for label in labels}
    if model.model and not labeled.issuperset(schema.attributes):
        confirmed = label_by_model(pages, model.make_labeler(schema), ASKED_PAGES)
        labels = [*labels, *(label for label in confirmed.labels if label.attribute not in labeled)]
    if not labels and model.model:
        raise LabelError(f"{model.model} gave no label that its other answers support: label a page yourself")
    return labels or label_by_data(pages, schema)


def _check_output(output: Path | None, catalog_name: str | None) -> None:
    """Raise if the rules could not be kept anywhere: better before the work than after it."""
    if not output and not catalog_name:
        raise click.UsageError("Missing option '-o': where to write the rules.")
    if output and not output.parent.is_dir():
        raise InputError(f"{output}: cannot write: there is no folder {output.parent}")


def _choose_schema(
    name: str | None, knowledge: Knowledge | None, labels: Sequence[Label], has_examples: bool
) -> Schema:
    """Return the schema that was named, that of the knowledge, or the columns of labeled rows."""
    from untemplate.learning import labeled_schema
    from untemplate.schema import Schema

    if name:
        return Schema.load(name)
    if knowledge:
        return knowledge.schema
    if labels and not has_examples and all(label.record for label in labels):
        return labeled_schema(labels)
    raise click.UsageError("Missing option '--schema'.")


def _report(learned: Learned, output: Path | None, as_json: bool, by_data: bool) -> None:
    """Save the rules and show how learning went.

    Raises:
        LabelError: nothing was learned, so there is nothing to save.
    """
    learned.check_rules()
    for problem in learned.all_problems:
        say(problem)
    if output:
        learned.rules.save(output)
    if as_json:
        show_json(learned.to_dict())
    else:
        show_learned(learned, by_data)
    if output:
        say(f"Rules are in {output}.")


def label_by_data(pages: Pages, schema: Schema) -> list[Label]:
    """Return the labels that the embedded data of the pages give, and say which attributes still need a person.

    Raises:
        LabelError: the pages have no embedded data that the schema names.
    """
    from untemplate.labeling import label_by_embedded

    labels = label_by_embedded(list(progress(pages, "Reading embedded data", pages.total)), schema)
    taught = {label.attribute for label in labels}
    say(f"No labels: the embedded data of the pages teach {_join_names(schema, taught)}.")
    if missing := schema.attributes.keys() - taught:
        say(
            f"A person has to label {_join_names(schema, missing)}: see untemplate annotate, or give --example."
        )
    return labels


def _join_names(schema: Schema, names: Collection[str]) -> str:
    """Return names of attributes in the order of the schema."""
    return ", ".join(name for name in schema.attributes if name in names)


def learn_rules_of(
    pages: Pages, labels: Sequence[Label], schema: Schema, templates: Mapping[str, str] | None = None
) -> Learned:
    """Learn the rules of a site while a progress bar counts its pages."""
    from untemplate.pipeline import learn_site

    return learn_site(progress(pages, "Reading pages", pages.total), labels, schema, templates)


def _learn_one_site(
    pages: Pages,
    labels: Sequence[Label],
    schema: Schema,
    templates: Mapping[str, str],
    catalog_name: str | None,
    site: str | None,
) -> Learned:
    """Learn one site, and keep it in the catalog if there is one."""
    from untemplate.engines.crawl_learning import learn_in_catalog

    learn = partial(learn_rules_of, templates=templates)
    if not catalog_name:
        return learn(pages, labels, schema)
    with open_catalog(catalog_name, create=True) as catalog:
        name = site_name(site, (page.url for page in pages))
        learned, version = learn_in_catalog(catalog, name, pages, labels, schema, user(), learn)
        say(f"Version {version} of {name} is in {catalog.name}.")
    return learned


def show_learned(learned: Learned, by_data: bool = False) -> None:
    """Print a table of the rules of each labeled cluster, and name clusters without rules of their own.

    Args:
        learned: the rules.
        by_data: True if embedded data taught them; then the table also names the attributes that need a person.
    """
    from untemplate.rules.in_words import explain_records

    wrappers = {wrapper.cluster: wrapper for wrapper in learned.rules.wrappers}
    for cluster, reports in learned.reports.items():
        wrapper = wrappers[cluster]
        if wrapper.records:
            click.echo(f"Records of cluster {cluster}: {explain_records(wrapper.records)}.")
        show(
            f"Cluster {cluster}: {wrapper.url_pattern}{TAUGHT_BY_DATA if by_data else ''}",
            ("attribute", "coverage", "label next", "rule"),
            [*map(_report_row, reports), *(_untaught_rows(learned.rules.schema, reports) if by_data else ())],
        )
        _show_examples(reports)
    for cluster, lender in learned.borrowed.items():
        click.echo(f"Cluster {cluster} uses the rules of {lender}, which hold on its pages.")
    if learned.needs_labels:
        names = ", ".join(learned.needs_labels)
        click.echo(f"No rules for {names}: label a page of each that shows records (see untemplate sample).")


def _untaught_rows(schema: Schema, reports: Sequence[AttributeReport]) -> Iterator[_Row]:
    """Yield a row for each attribute that the embedded data did not teach."""
    taught = {report.attribute for report in reports}
    for name in schema.attributes:
        if name not in taught:
            yield name, "", "any", "no rule: not in the embedded data, so a person has to label it"


def _report_row(report: AttributeReport) -> _Row:
    """Return an attribute, its coverage, the page to label next, and its rule in words or why there is none."""
    from untemplate.rules.in_words import explain_rule

    if report.rule is None:
        reason = f"no rule: {report.problems[-1]}" if report.problems else "not on the labeled pages"
        return report.attribute, "", "", reason
    label_next = f"check {report.unfit}" if report.unfit else report.label_next or "enough"
    return report.attribute, f"{report.coverage:.0%}", label_next, explain_rule(report.rule)


def _show_examples(reports: Sequence[AttributeReport]) -> None:
    """Print some values that the rules find on unlabeled pages, and how sure they are."""
    found = [report for report in reports if report.examples]
    if not found:
        return
    width = TABLE_WIDTH - max(len(report.attribute) for report in found) - _SURE_WIDTH
    rows = [(report.attribute, f"{report.confidence:.0%}", _join_values(report, width)) for report in found]
    show("Values on unlabeled pages", ("attribute", "sure", "examples"), rows)


def _join_values(report: AttributeReport, width: int) -> str:
    """Return example values of an attribute in one line; doubtful ones with how sure they are."""
    from untemplate.learning.reports import choose_examples

    examples = choose_examples(report.examples)
    room = width // len(examples) - len(_BETWEEN_EXAMPLES)
    return _BETWEEN_EXAMPLES.join(_example_text(example, room) for example in examples)


def _example_text(example: ExampleValue, room: int) -> str:
    is_doubtful = example.confidence <= MAX_DOUBTFUL_CONFIDENCE
    note = f" ({example.confidence:.0%})" if is_doubtful else ""
    text = "; ".join(example.texts)
    room -= len(note)
    return (text if len(text) <= room else f"{text[: max(room - 1, 1)]}…") + note


def _join_examples(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments, with the page and the values of each --example joined into one."""
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        yield argument
        if argument == "--example" and rest:
            parts = [rest.pop(0)]
            while rest and "=" in rest[0] and not rest[0].startswith("-"):
                parts.append(rest.pop(0))
            yield _JOINT.join(parts)


def _parse_example(example: str, schema: Schema) -> Iterator[Label]:
    """Yield the labels that an --example gives."""
    from untemplate.labeling import Label

    page, *values = example.split(_JOINT)
    if not values:
        raise click.UsageError(f"--example {page}: needs values after it, such as name='Chez Nous'.")
    for value in values:
        name, _, text = value.partition("=")
        if name not in schema.attributes:
            known = ", ".join(schema.attributes)
            raise click.UsageError(f"--example {page}: {name!r} is none of the attributes: {known}.")
        yield Label(page, name, text.strip() or None)
