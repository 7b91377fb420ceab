"""untemplate demo: run the whole flow on a made-up site, and score it against the site's truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import islice
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.cluster import show_clusters
from untemplate.cli.extract import show_tally
from untemplate.cli.heal import show_healed
from untemplate.cli.learn import show_learned
from untemplate.cli.records import show_rows
from untemplate.cli.rules import show_scores
from untemplate.cli.sample import show_samples
from untemplate.cli.shell import examples, on_one_stream, progress, say, show
from untemplate.cli.watch import show_report

if TYPE_CHECKING:
    from untemplate.clustering import Cluster, Clustering
    from untemplate.demo import Site
    from untemplate.extraction import Rules
    from untemplate.labeling import Label
    from untemplate.learned import Learned
    from untemplate.page import Page
    from untemplate.record import Record

    Samples = list[tuple[Cluster, list[Page]]]

__all__ = ["command"]

# Pages to label of each template, and records, that are printed.
MAX_SHOWN = 3
# Pages of each template that the demo labels.
LABELED_PAGES = 2
# Characters of the tables where the output is no terminal.
DEMO_WIDTH = 100
# Share of the site's look that the redesign changes.
REDESIGN_SHARE = 0.6
# The file of the labels that the demo used; `labels.jsonl` has those of all pages.
FEW_LABELS = "few.jsonl"


@click.command(epilog=examples("untemplate demo", "untemplate demo --vertical book --seed 7 -o site/"))
@click.option("--vertical", default="restaurant", show_default=True, help="What the site is about.")
@click.option("--seed", default=2, show_default=True, help="Another seed, another site.")
@click.option(
    "--pages",
    "count",
    default=120,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many pages it has.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write its pages and their truth into this folder.",
)
@click.option(
    "--later",
    "later_output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write the pages with the new look, and their truth, into this folder.",
)
def command(vertical: str, seed: int, count: int, output: Path | None, later_output: Path | None) -> None:
    """Show on a made-up site what untemplate does, step by step."""
    with on_one_stream(DEMO_WIDTH):
        _run_demo(vertical, seed, count, output, later_output)


def _run_demo(vertical: str, seed: int, count: int, output: Path | None, later_output: Path | None) -> None:
    """Go through all steps, with a heading for each."""
    site = _make_site(vertical, seed, count)
    click.echo(f"A made-up {site.vertical} site of {len(site.pages):,} pages: {_count_templates(site)}.")

    _print_heading("1. Which pages were made from the same template? (untemplate cluster)")
    clustering = _cluster_pages(site)
    show_clusters(clustering)
    click.echo(f"Against the truth: F1 of page pairs {_pair_f1(clustering, site):.3f}.")

    _print_heading(
        f"2. Which pages are worth labeling? The first {MAX_SHOWN} of each template. (untemplate sample)"
    )
    samples = _choose_samples(clustering)

    _print_heading(f"3. A person labels {LABELED_PAGES} of each template that shows {site.vertical} data.")
    labels = _label_pages(samples, site)

    _print_heading("4. From these labels, a rule for each attribute. (untemplate learn)")
    learned = _learn_from_labels(site, labels)
    show_learned(learned)

    _print_heading(f"5. With the rules, a record of every page. The first {MAX_SHOWN}: (untemplate extract)")
    records = _extract_records(learned.rules, site)

    _print_heading("6. How many are right? (untemplate rules test)")
    _show_score(records, labels, site)

    _print_heading("7. Weeks later the site has a new look. Do the rules still hold? (untemplate watch)")
    later = site.redesign(REDESIGN_SHARE, seed)
    _watch_new_look(learned.rules, later)
    _show_score(list(learned.rules.extract(later.pages)), labels, later)

    _print_heading("8. What broke is learned again from the values that are remembered. (untemplate heal)")
    rules = _heal_on_new_look(learned.rules, later)
    _show_score(list(rules.extract(later.pages)), labels, later)

    _print_heading("9. List pages become tables, without labels. One of them: (untemplate records)")
    _show_list(site)
    if output:
        _write_site(site, labels, output)
    if later_output:
        _write_site(later, labels, later_output)


def _print_heading(text: str) -> None:
    """Print the heading of a step, on standard output as everything of the demo that is not an error."""
    click.echo()
    click.echo(text)


def _make_site(vertical: str, seed: int, count: int) -> Site:
    from untemplate.demo import make_site

    try:
        return make_site(vertical, seed, count)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error


def _write_site(site: Site, labels: list[Label], folder: Path) -> None:
    """Write the pages, the labels of all pages, and the few labels that the demo used."""
    from untemplate.demo import write_site
    from untemplate.labeling import write_labels

    write_site(site, folder)
    write_labels(labels, folder / FEW_LABELS)
    say(f"The pages and their truth are in {folder}, the labels used here in {folder / FEW_LABELS}.")


def _cluster_pages(site: Site) -> Clustering:
    from untemplate.clustering import cluster

    return cluster(progress(site.pages, "Reading pages", len(site.pages)))


def _choose_samples(clustering: Clustering) -> Samples:
    """Propose pages of each template to label, and print them: the sample, then other pages if it is small."""
    from untemplate.sampling import sample

    samples: Samples = []
    for cluster in progress(clustering, "Choosing pages", len(clustering)):
        in_order = dict.fromkeys([*sample(cluster), *cluster.pages])
        samples.append((cluster, list(in_order)[:MAX_SHOWN]))
    for cluster, chosen in samples:
        show_samples(cluster, chosen)
    return samples


def _label_pages(samples: Samples, site: Site) -> list[Label]:
    """Label the first proposed pages of each template that have a truth."""
    pages: list[str] = []
    for _, chosen in samples:
        pages += islice((page.id for page in chosen if page.id in site.truth), LABELED_PAGES)
    show(
        "Labels",
        ("page", *site.schema.attributes),
        (_table_row(page, site.truth[page], site) for page in pages),
    )
    return [label for label in site.labels if label.page in pages]


def _learn_from_labels(site: Site, labels: list[Label]) -> Learned:
    from untemplate.pipeline import learn_site

    return learn_site(progress(site.pages, "Learning", len(site.pages)), labels, site.schema)


def _extract_records(rules: Rules, site: Site) -> list[Record]:
    """Extract all pages, and print the first records and how often each attribute was found."""
    from untemplate.output.quality import Tally

    tally = Tally()
    records = list(tally.count(rules.extract(progress(site.pages, "Extracting", len(site.pages)))))
    with_values = [record for record in records if record.values]
    rows = [_table_row(record.page_id, _record_texts(record), site) for record in with_values[:MAX_SHOWN]]
    show("Records", ("page", *site.schema.attributes), rows)
    show_tally(tally, site.schema.attributes)
    return records


def _record_texts(record: Record) -> dict[str, list[str]]:
    return {name: [value.text for value in values] for name, values in record.values.items()}


def _watch_new_look(rules: Rules, later: Site) -> None:
    """Watch the redesigned pages, and print the alarms."""
    from untemplate.watching import watch

    show_report(watch(rules, progress(later.pages, "Watching", len(later.pages))))


def _heal_on_new_look(rules: Rules, later: Site) -> Rules:
    """Heal the rules on the redesigned pages, and print what was repaired."""
    from untemplate.watching import heal_site

    healed = heal_site(rules, progress(later.pages, "Healing", len(later.pages)))
    show_healed(healed)
    return healed.rules


def _show_list(site: Site) -> None:
    """Find the rows of the list pages, learn a rule from those of the first page, and score both."""
    from untemplate.lists import find_records
    from untemplate.pipeline import learn

    pages = [page for page in site.pages if page.id in site.rows]
    rows = {page.id: find_records(page) for page in pages}
    first = pages[0]
    show_rows(f"The first {MAX_SHOWN} of {len(rows[first.id])} rows of {first.id}", rows[first.id], MAX_SHOWN)
    cells = {page.id: [set(row.cells) for row in rows[page.id]] for page in pages}
    click.echo(f"Against the truth: {_count_right_rows(cells, site)}.")
    if not rows[first.id]:
        return
    rules = learn([first], rows[first.id])
    texts = {page.id: [_first_texts(record) for record in rules.extract_page(page)] for page in pages}
    click.echo(f"With rules learned from the rows of {first.id} alone: {_count_right_rows(texts, site)}.")


def _count_right_rows(cells: Mapping[str, Sequence[Container[str | None]]], site: Site) -> str:
    """Compare rows with the truth: a row is right if it contains the first attribute of the row in its place."""
    attribute = next(iter(site.schema.attributes))
    right = total = 0
    for page, rows in cells.items():
        names = [row[attribute] for row in site.rows[page]]
        right += sum(name in row for name, row in zip(names, rows, strict=False))
        total += len(names)
    return f"{right:,} of {total:,} rows have the right {attribute}"


def _first_texts(record: Record) -> set[str]:
    return {values[0].text for values in record.values.values()}


def _show_score(records: list[Record], labels: list[Label], site: Site) -> None:
    """Compare records with the truth, on the pages that nobody labeled."""
    from untemplate.output.quality import score_records

    judged_pages = site.truth.keys() - {label.page for label in labels}
    judged = [record for record in records if record.page_id in judged_pages]
    scores = score_records(judged, site.truth, site.schema)
    show_scores(f"Against the truth, on the {len(judged):,} pages that nobody labeled", scores)


def _table_row(page: str, values: Mapping[str, Sequence[str]], site: Site) -> tuple[str, ...]:
    return (page, *("; ".join(values.get(name, ())) for name in site.schema.attributes))


def _count_templates(site: Site) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in Counter(site.templates.values()).most_common())


def _pair_f1(clustering: Clustering, site: Site) -> float:
    """Return the F1 of page pairs: those in one cluster against those made from one template."""
    cluster_of_page: dict[str, str] = {}
    for cluster in clustering:
        cluster_of_page |= {page.id: cluster.id for page in cluster.pages}
    # A page without a cluster is a cluster of its own.
    clusters = [cluster_of_page.get(page, page) for page in site.templates]
    templates = list(site.templates.values())
    hits = _count_pairs(zip(clusters, templates, strict=True))
    total = _count_pairs(clusters) + _count_pairs(templates)
    return 2 * hits / total if total else 1.0


def _count_pairs(names: Iterable[object]) -> int:
    return sum(comb(count, 2) for count in Counter(names).values())
