"""untemplate rules: show rules, test them, import and export them, and return to earlier versions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from untemplate.cli.catalog_options import (
    DEFAULT_CATALOG,
    catalog_option,
    open_catalog,
    show_changes,
    shown,
    site_name,
    user,
)
from untemplate.cli.rule_views import show_portable, show_rules
from untemplate.cli.shell import (
    examples,
    json_option,
    labels_option,
    open_pages,
    pages_argument,
    printable,
    progress,
    read_label_files,
    rules_argument,
    say,
    show,
    show_json,
)
from untemplate.errors import InputError, LabelError

if TYPE_CHECKING:
    from untemplate.catalog import Catalog, Version
    from untemplate.extraction import Rules
    from untemplate.output.quality import Score
    from untemplate.rules import Wrapper
    from untemplate.rules.exporting import Target
    from untemplate.rules.portable import Language
    from untemplate.schema import Schema

__all__ = ["command", "show_scores"]

# A figure that cannot be computed, such as the precision of nothing.
NOTHING = "–"


@click.group(
    "rules",
    epilog=examples(
        "untemplate rules show rules.json",
        "untemplate rules xslt rules.json -o sheets/",
        "untemplate rules test rules.json pages/ --labels labels.jsonl",
        "untemplate rules history books.example",
    ),
)
def command() -> None:
    """Look at rules, test them, carry them around, go back to earlier ones."""


# Subcommands for a rules file


@command.command(
    "show",
    epilog=examples("untemplate rules show rules.json", "untemplate rules show rules.json --xpath"),
)
@rules_argument
@click.option(
    "--xpath",
    "language",
    flag_value="xpath",
    help="One XPath an attribute, for parsel or a browser's console.",
)
@click.option("--css", "language", flag_value="css", help="One CSS selector an attribute.")
@json_option
def show_command(rules_file: Path, language: Language | None, as_json: bool) -> None:
    """Explain each rule in words and XPath.

    With --xpath or --css, print one expression for each rule that other tools accept, and what it leaves out: a rule
    does more than one expression can say. CSS selects the element that contains the value.

    The share before an XPath is its support: on how many of the unlabeled sample pages it selected something.
    Selectors are tried in order. The ones under "confirmed by" are independent of them: they confirm a value, and
    vote where no selector finds any. In an XPath, $static holds the template's own words.
    """
    from untemplate.extraction import Rules

    rules = Rules.load(rules_file)
    if language:
        show_portable(rules, language, as_json)
    else:
        show_rules(rules, as_json)


@command.command("xslt", epilog=examples("untemplate rules xslt rules.json -o sheets/"))
@rules_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to write stylesheets into; it is made if needed.",
)
def xslt_command(rules_file: Path, output: Path) -> None:
    """Write an XSLT 1.0 stylesheet for each cluster.

    xsltproc --html c1.xsl page.html then gives the record of a page of that cluster. What XSLT cannot express is left
    out, and named here and in the stylesheet.
    """
    from untemplate.extraction import Rules

    rules = Rules.load(rules_file)
    _make_folder(output)
    for wrapper in rules.wrappers:
        if wrapper.rules:
            _write_stylesheet(wrapper, rules.schema, output)
        else:
            say(f"{wrapper.cluster}: no stylesheet, its pages need labels")


def _write_stylesheet(wrapper: Wrapper, schema: Schema, folder: Path) -> None:
    """Write the stylesheet of one cluster, print its path, and say which rules it leaves out."""
    from untemplate.rules.xslt import not_exportable, wrapper_xslt

    path = folder / f"{_file_name(wrapper.cluster)}.xsl"
    path.write_text(wrapper_xslt(wrapper, schema), "utf-8")
    click.echo(printable(str(path)))
    for name, rule in wrapper.rules.items():
        if reason := not_exportable(rule):
            say(f"{wrapper.cluster}: {name} is left out, {reason}")


@command.command("test", epilog=examples("untemplate rules test rules.json pages/ --labels labels.jsonl -v"))
@rules_argument
@pages_argument
@labels_option
@click.option("-v", "--verbose", is_flag=True, help="List what was missed.")
@json_option
@click.pass_context
def test_command(
    context: click.Context,
    rules_file: Path,
    source: str,
    url_column: str,
    html_column: str,
    render: bool,
    label_files: tuple[Path, ...],
    verbose: bool,
    as_json: bool,
) -> None:
    """Score rules against the labels of some pages.

    An attribute of a page is a hit when the extracted text is one of those that the labels give; of an attribute with
    many values each value counts. Precision is the share of what was extracted that is right, recall the share of
    what the labels give that was extracted, F1 their harmonic mean.

    Exit code 1: something was missed.
    """
    from untemplate.extraction import Rules
    from untemplate.output.quality import score_records, true_values

    rules = Rules.load(rules_file)
    truth = true_values(read_label_files(label_files))
    if not truth:
        raise click.UsageError("Needs labels that give values: give --labels.")
    with open_pages(source, url_column, html_column, render) as pages:
        reading = progress(pages, "Reading pages", pages.total)
        labeled_pages = (page for page in reading if page.is_named_in(truth))
        scores = score_records(rules.extract(labeled_pages), truth, rules.schema)
    if not scores:
        raise LabelError(f"{source}: none of its pages is labeled for an attribute of the rules")
    if as_json:
        show_json({name: _score_as_json(score) for name, score in scores.items()})
    else:
        _show_test(scores, verbose)
    if any(score.misses for score in scores.values()):
        context.exit(1)


@command.command("diff", epilog=examples("untemplate rules diff rules.json healed.json"))
@click.argument("old_file", metavar="OLD", type=click.Path(path_type=Path))
@click.argument("new_file", metavar="NEW", type=click.Path(path_type=Path))
@json_option
def diff_command(old_file: Path, new_file: Path, as_json: bool) -> None:
    """Say in words how the rules of two files differ."""
    from untemplate.extraction import Rules
    from untemplate.rules.in_words import compare_rules

    changes = compare_rules(Rules.load(old_file), Rules.load(new_file))
    if as_json:
        show_json([asdict(change) for change in changes])
    else:
        show_changes(changes)


def show_scores(title: str, scores: dict[str, Score]) -> None:
    """Print precision, recall and F1 of each attribute, and their means."""
    rows = []
    for name, score in scores.items():
        precision = score.precision if score.extracted else NOTHING
        recall = score.recall if score.true else NOTHING
        f1 = score.f1 if score.extracted or score.true else NOTHING
        rows.append((name, precision, recall, f1, score.hits, score.extracted, score.true))
    means = [_mean_of_numbers(column) for column in list(zip(*rows, strict=True))[1:4]]
    totals = [sum(column) for column in list(zip(*rows, strict=True))[4:]]
    show(
        title,
        ("attribute", "precision", "recall", "F1", "hits", "extracted", "true"),
        [*rows, ("mean, sum", *means, *totals)],
    )


def _mean_of_numbers(cells: Iterable[object]) -> object:
    """Return the mean of the figures in a column; attributes without a figure do not count."""
    figures = [cell for cell in cells if isinstance(cell, float)]
    return sum(figures) / len(figures) if figures else NOTHING


def _show_test(scores: dict[str, Score], verbose: bool) -> None:
    """Show the scores and, if wanted, what was missed."""
    show_scores("Rules against labels", scores)
    rows = []
    for name, score in scores.items():
        for miss in score.misses:
            extracted, true = (" | ".join(texts) or "nothing" for texts in (miss.extracted, miss.true))
            rows.append((name, miss.page, extracted, true))
    if rows and verbose:
        show("Missed", ("attribute", "page", "extracted", "labeled"), rows)


def _score_as_json(score: Score) -> dict[str, Any]:
    return {
        "precision": round(score.precision, 4),
        "recall": round(score.recall, 4),
        "f1": round(score.f1, 4),
        "misses": [asdict(miss) for miss in score.misses],
    }


# Subcommands for a catalog

_site_argument = click.argument("site")


@command.command(
    "import", epilog=examples("untemplate rules import rules.json --catalog untemplate.db --note 'from Ada'")
)
@rules_argument
@catalog_option("Where to save them.", DEFAULT_CATALOG)
@click.option("--site", help="The name of the site; the host of its pages if not given.")
@click.option("--note", default="", help="A note for the history.")
def import_command(rules_file: Path, catalog_name: str, site: str | None, note: str) -> None:
    """Save the rules of a file as the newest version of a site."""
    from untemplate.extraction import Rules

    rules = Rules.load(rules_file)
    urls = [bellwether.url for bellwether in rules.bellwethers]
    name = site_name(site, [*urls, *(wrapper.url_pattern for wrapper in rules.wrappers)])
    with open_catalog(catalog_name, create=True) as catalog:
        version = catalog.save_rules(name, rules, "imported", note, user())
    say(f"Version {version} of {name} is in {catalog_name}.")


@command.command(
    "export",
    epilog=examples(
        "untemplate rules export rules.json --to parsel -o code/",
        "untemplate rules export rules.json --to crawl4ai -o schemas/",
        "untemplate rules export books.example -o rules.json",
    ),
)
@click.argument("source", metavar="RULES|SITE")
@click.option(
    "--to",
    "target",
    type=click.Choice(["rules", "parsel", "scrapy", "crawl4ai", "css"]),
    default="rules",
    show_default=True,
    help="A rules file; Python code with parsel; a Scrapy item loader; schemas of crawl4ai; plain CSS selectors.",
)
@catalog_option("Where the rules of a SITE are.", DEFAULT_CATALOG)
@click.option(
    "--version", type=click.IntRange(min=1), show_default="the newest", help="Which version of a SITE."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    show_default="standard output",
    help="The rules file to write; for other tools the folder, with a file for each cluster.",
)
def export_command(
    source: str,
    target: Target | Literal["rules"],
    catalog_name: str,
    version: int | None,
    output: Path | None,
) -> None:
    """Write rules for use elsewhere: into a rules file, or for other tools.

    RULES is a rules file, SITE the name of a site of the catalog. What another tool cannot express is named here and
    in the files.
    """
    from untemplate.extraction import Rules

    if Path(source).is_file():
        rules = Rules.load(source)
    else:
        with open_catalog(catalog_name) as catalog:
            rules = catalog.rules(source, version)
    if target != "rules":
        _export_for_tool(rules, target, output)
    elif output:
        rules.save(output)
    else:
        click.echo(rules.dumps(), nl=False)


def _export_for_tool(rules: Rules, target: Target, folder: Path | None) -> None:
    """Write the rules of each cluster for another tool, and say what is lost."""
    from untemplate.rules.exporting import TARGETS, export_wrapper

    if folder is None:
        raise click.UsageError("Missing option '-o': the folder to write into.")
    _make_folder(folder)
    for wrapper in rules.wrappers:
        if not wrapper.rules:
            say(f"{wrapper.cluster}: nothing to export, its pages need labels")
            continue
        export = export_wrapper(wrapper, rules.schema, target)
        path = folder / (_file_name(wrapper.cluster) + TARGETS[target])
        path.write_text(export.text, "utf-8")
        click.echo(printable(str(path)))
        for name, words in export.lost.items():
            for lost in words:
                say(f"{wrapper.cluster}: {name} without {lost}")
        for name, why in export.missing.items():
            say(f"{wrapper.cluster}: {name} is left out, {why}")


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot write: {error.strerror}") from error


def _file_name(cluster: str) -> str:
    return re.sub(r"[^\w.-]", "_", cluster)


@command.command(
    "history", epilog=examples("untemplate rules history", "untemplate rules history books.example -v")
)
@click.argument("site", required=False)
@catalog_option("Where they are.", DEFAULT_CATALOG)
@click.option("-v", "--verbose", is_flag=True, help="Show how each version differs from the one before.")
@json_option
def history_command(site: str | None, catalog_name: str, verbose: bool, as_json: bool) -> None:
    """List the versions of a site's rules; without SITE, the sites."""
    with open_catalog(catalog_name) as catalog:
        if site is None:
            _show_sites(catalog, as_json)
        else:
            _show_versions(catalog, site, verbose, as_json)


def _show_sites(catalog: Catalog, as_json: bool) -> None:
    """List all sites of the catalog, with their versions and open alarms."""
    sites = [_summarize_site(catalog, name) for name in catalog.sites()]
    if as_json:
        show_json([site | {"saved": site["saved"] and site["saved"].isoformat()} for site in sites])
        return
    rows = []
    for site in sites:
        saved = shown(site["saved"]) if site["saved"] else ""
        rows.append((site["site"], site["versions"], saved, site["alarms"]))
    show(f"Sites in {catalog.name}", ("site", "versions", "newest saved", "open alarms"), rows)


def _summarize_site(catalog: Catalog, name: str) -> dict[str, Any]:
    history = catalog.history(name)
    saved = history[-1].saved if history else None
    return {"site": name, "versions": len(history), "saved": saved, "alarms": len(catalog.alarms(name))}


def _show_versions(catalog: Catalog, site: str, verbose: bool, as_json: bool) -> None:
    """List the versions of one site; with `verbose`, also how each differs from the one before."""
    from untemplate.rules.in_words import compare_rules

    history = catalog.history(site)
    if as_json:
        show_json([asdict(version) | {"saved": version.saved.isoformat()} for version in history])
        return
    show(
        f"Versions of the rules of {site}",
        ("version", "saved", "reason", "by", "clusters", "rules", "note"),
        [_version_row(version) for version in history],
    )
    if verbose:
        for before, after in pairwise(history):
            click.echo(f"From version {before.number} to {after.number}")
            changes = compare_rules(catalog.rules(site, before.number), catalog.rules(site, after.number))
            show_changes(changes)


def _version_row(version: Version) -> tuple[object, ...]:
    saved = shown(version.saved)
    return (
        *(version.number, saved, version.reason, version.by),
        *(version.clusters, version.rules, version.note),
    )


@command.command("rollback", epilog=examples("untemplate rules rollback books.example 3"))
@_site_argument
@click.argument("version", type=click.IntRange(min=1))
@catalog_option("Where they are.", DEFAULT_CATALOG)
def rollback_command(site: str, version: int, catalog_name: str) -> None:
    """Make an earlier VERSION the newest one of a site's rules; none is lost."""
    with open_catalog(catalog_name) as catalog:
        number = catalog.rollback(site, version, user())
    say(f"Version {number} of {site} is version {version} again.")
