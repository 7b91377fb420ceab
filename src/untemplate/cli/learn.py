"""untemplate learn: rules from a few labelled pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.catalog_options import CatalogSite, catalog_option, open_catalog, site_name, user
from untemplate.cli.label import knowledge_option, label_pages
from untemplate.cli.shell import (
    examples,
    json_option,
    labels_option,
    open_pages,
    pages_argument,
    progress,
    say,
    show,
    show_json,
)
from untemplate.errors import InputError

if TYPE_CHECKING:
    from untemplate.labeling import Label
    from untemplate.learning import AttributeReport
    from untemplate.pipeline import Learned
    from untemplate.schema import Schema
    from untemplate.sources import Pages

__all__ = ["command", "has_failed", "show_learned"]

# Holds an example's page and values together on their way through click; no argument can contain it.
_JOINT = "\0"


class _Learn(click.Command):
    """A command of which one option takes a page and as many values as follow: `--example URL name=… phone=…`."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        return super().parse_args(context, list(_joined(arguments)))


@click.command(
    cls=_Learn,
    epilog=examples(
        "untemplate learn pages/ --schema restaurant --labels labels.jsonl -o rules.json",
        "untemplate learn pages/ --schema restaurant --example http://a.example/7 name='Chez Nous' phone= "
        "-o rules.json",
        "untemplate learn pages/ --knowledge knowledge/ -o rules.json",
        "untemplate learn results/ --labels rows.jsonl -o rules.json",
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
    "given",
    multiple=True,
    metavar="URL NAME=VALUE...",
    help="A labelled page: its URL or id, then its values; no value means not on this page. May be repeated.",
)
@knowledge_option("Labels of its own, from what untemplate train wrote about the vertical.")
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
    schema_name: str | None,
    label_files: tuple[Path, ...],
    given: tuple[str, ...],
    knowledge_folder: Path | None,
    output: Path | None,
    where: str | None,
    site: str | None,
    as_json: bool,
) -> None:
    """Learn from a few labelled pages how to extract the rest.

    PAGES is any source of pages; see untemplate cluster --help. The table at the end tells for each attribute
    the rule, the share of unlabelled sample pages on which it finds something, and the page to label next if
    that is not enough.

    Exit code 1: an attribute that was labelled got no rule.
    """
    from untemplate.labeling import Knowledge, read_labels
    from untemplate.pipeline import labelled_schema
    from untemplate.schema import Schema

    if not output and not where:
        raise click.UsageError("Missing option '-o': where to write the rules.")
    knowledge = Knowledge.load(knowledge_folder) if knowledge_folder else None
    labels = [label for path in label_files for label in read_labels(path)]
    if schema_name:
        schema = Schema.load(schema_name)
    elif knowledge:
        schema = knowledge.schema
    elif labels and not given and all(label.record for label in labels):
        schema = labelled_schema(labels)
    else:
        raise click.UsageError("Missing option '--schema'.")
    labels += [label for one in given for label in _example(one, schema)]
    if not labels and not knowledge:
        raise click.UsageError("Needs labels: give --labels, --example or --knowledge.")
    if output and not output.parent.is_dir():
        raise InputError(f"{output}: cannot write: there is no folder {output.parent}")
    with open_pages(source, url_column, html_column) as pages:
        if knowledge:
            labels += label_pages(knowledge, pages, labels)
        learned = (
            _learn_and_store(pages, labels, schema, where, site) if where else _learn(pages, labels, schema)
        )
    if output:
        learned.rules.save(output)
    for problem in _problems(learned):
        say(problem)
    if as_json:
        show_json(learned.to_dict())
    else:
        show_learned(learned)
    if output:
        say(f"Rules are in {output}.")
    if has_failed(learned):
        context.exit(1)


def _learn(pages: Pages, labels: list[Label], schema: Schema) -> Learned:
    from untemplate.pipeline import learn_site

    return learn_site(progress(pages, "Reading pages", pages.total), labels, schema)


def _learn_and_store(
    pages: Pages, labels: list[Label], schema: Schema, where: str, site: str | None
) -> Learned:
    with open_catalog(where, create=True) as catalog:
        stored = CatalogSite(catalog, site_name(site, (page.url for page in pages)))
        run = catalog.start_run(stored.site, "learn")
        learned = _learn(pages, labels, schema)
        catalog.add_labels(stored.site, labels, user())
        version = stored.store_version(learned.rules, pages, "learned", labels=labels)
        catalog.finish_run(run, learned.to_dict() | {"version": version})
        say(f"Version {version} of {stored.site} is in {catalog.name}.")
    return learned


def show_learned(learned: Learned) -> None:
    """A table of the rules of each labelled cluster, and which clusters have no rules of their own."""
    from untemplate.rules.explain import explain_records, explain_rule

    wrappers = {wrapper.cluster: wrapper for wrapper in learned.rules.wrappers}
    for cluster, reports in learned.reports.items():
        wrapper = wrappers[cluster]
        if wrapper.records:
            click.echo(f"Records of cluster {cluster}: {explain_records(wrapper.records)}.")
        show(
            f"Cluster {cluster}: {wrapper.url_pattern}",
            ("attribute", "coverage", "label next", "rule"),
            (
                (
                    report.attribute,
                    f"{report.coverage:.0%}" if report.rule else "",
                    _label_next(report),
                    explain_rule(report.rule) if report.rule else _no_rule(report),
                )
                for report in reports
            ),
        )
    for cluster, lender in learned.borrowed.items():
        click.echo(f"Cluster {cluster} uses the rules of {lender}, which hold on its pages.")
    if learned.needs_labels:
        names = ", ".join(learned.needs_labels)
        click.echo(f"No rules for {names}: label a page of each that shows records (see untemplate sample).")


def has_failed(learned: Learned) -> bool:
    """Whether an attribute that was labelled got no rule."""
    return any(_failed(report) for reports in learned.reports.values() for report in reports)


def _failed(report: AttributeReport) -> bool:
    """Labels that say "not on this page" and nothing else ask for no rule."""
    return report.rule is None and bool(report.problems)


def _label_next(report: AttributeReport) -> str:
    if report.rule is None:
        return ""
    return report.label_next or "enough"


def _no_rule(report: AttributeReport) -> str:
    return f"no rule: {report.problems[-1]}" if report.problems else "not on the labelled pages"


def _problems(learned: Learned) -> Iterator[str]:
    yield from learned.problems
    for reports in learned.reports.values():
        for report in reports:
            yield from (f"{report.attribute}: {problem}" for problem in report.problems)


def _joined(arguments: Sequence[str]) -> Iterator[str]:
    """The arguments, those of each example as one."""
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        yield argument
        if argument == "--example" and rest:
            parts = [rest.pop(0)]
            while rest and "=" in rest[0] and not rest[0].startswith("-"):
                parts.append(rest.pop(0))
            yield _JOINT.join(parts)


def _example(given: str, schema: Schema) -> Iterator[Label]:
    from untemplate.labeling import Label

    page, *values = given.split(_JOINT)
    if not values:
        raise click.UsageError(f"--example {page}: needs values after it, such as name='Chez Nous'.")
    for value in values:
        name, _, text = value.partition("=")
        if name not in schema.attributes:
            known = ", ".join(schema.attributes)
            raise click.UsageError(f"--example {page}: {name!r} is none of the attributes: {known}.")
        yield Label(page, name, text.strip() or None)
