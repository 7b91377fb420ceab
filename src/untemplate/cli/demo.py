"""untemplate demo: the whole flow on a made-up site, whose truth is known."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
from untemplate.cli.shell import examples, progress, say, show
from untemplate.cli.watch import show_report

if TYPE_CHECKING:
    from untemplate.clustering import Cluster, Clustering
    from untemplate.demo import Site
    from untemplate.extraction import Rules
    from untemplate.labeling import Label
    from untemplate.page import Page
    from untemplate.pipeline import Learned
    from untemplate.record import Record

    Samples = list[tuple[Cluster, list[Page]]]

__all__ = ["command"]

# Pages to label of each template, and records, that are shown.
SHOWN = 3
# Pages of each template that are labelled.
LABELLED = 2
# How much of the site's look is new in the end.
NEW_LOOK = 0.6
# Where these labels are written to; `labels.jsonl` has those of all pages.
FEW = "few.jsonl"


@click.command(epilog=examples("untemplate demo", "untemplate demo --vertical book --seed 7 -o site/"))
@click.option("--vertical", default="restaurant", show_default=True, help="What the site is about.")
@click.option("--seed", default=2, show_default=True, help="Another seed, another site.")
@click.option(
    "--pages",
    "count",
    default=300,
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
    site = _make(vertical, seed, count)
    say(f"A made-up {site.vertical} site of {len(site.pages):,} pages: {_kinds(site)}.")

    _headline("1. Which pages were made from the same template? (untemplate cluster)")
    clustering = _cluster(site)
    show_clusters(clustering)
    say(f"Against the truth: F1 of page pairs {_agreement(clustering, site):.3f}.")

    _headline(f"2. Which pages are worth labelling? The first {SHOWN} of each template. (untemplate sample)")
    samples = _sample(clustering)

    _headline(f"3. A person labels {LABELLED} of each template that shows {site.vertical} data.")
    labels = _label(samples, site)

    _headline("4. From these labels, a rule for each attribute. (untemplate learn)")
    learned = _learn(site, labels)
    show_learned(learned)

    _headline(f"5. With the rules, a record of every page. The first {SHOWN}: (untemplate extract)")
    records = _extract(learned.rules, site)

    _headline("6. How many are right? (untemplate rules test)")
    _score(records, labels, site)

    _headline("7. Weeks later the site has a new look. Do the rules still hold? (untemplate watch)")
    later = site.redesign(NEW_LOOK, seed)
    _watch(learned.rules, later)
    _score(list(learned.rules.extract(later.pages)), labels, later)

    _headline("8. What broke is learnt anew from the values that are remembered. (untemplate heal)")
    rules = _heal(learned.rules, later)
    _score(list(rules.extract(later.pages)), labels, later)

    _headline("9. List pages become tables, without labels. One of them: (untemplate records)")
    _list(site)
    if output:
        _write(site, labels, output)
    if later_output:
        _write(later, labels, later_output)


def _headline(text: str) -> None:
    sys.stdout.flush()
    say()
    say(text)


def _make(vertical: str, seed: int, count: int) -> Site:
    from untemplate.demo import make_site

    try:
        return make_site(vertical, seed, count)
    except ValueError as error:
        raise click.UsageError(f"{error}.") from error


def _write(site: Site, labels: list[Label], folder: Path) -> None:
    from untemplate.demo import write_site
    from untemplate.labeling import write_labels

    write_site(site, folder)
    write_labels(labels, folder / FEW)
    say(f"The pages and their truth are in {folder}, the labels used here in {folder / FEW}.")


def _cluster(site: Site) -> Clustering:
    from untemplate.clustering import cluster

    return cluster(progress(site.pages, "Reading pages", len(site.pages)))


def _sample(clustering: Clustering) -> Samples:
    from untemplate.sampling import sample

    samples = [(one, sample(one)) for one in progress(clustering, "Choosing pages", len(clustering))]
    for cluster, chosen in samples:
        show_samples(cluster, chosen[:SHOWN])
    return samples


def _label(samples: Samples, site: Site) -> list[Label]:
    """The truth of the first pages of each template that have any; where the sample is smaller, of others too."""
    pages: list[str] = []
    for cluster, chosen in samples:
        in_order = dict.fromkeys(page.id for page in (*chosen, *cluster.pages) if page.id in site.truth)
        pages += islice(in_order, LABELLED)
    show("Labels", ("page", *site.schema.attributes), (_row(page, site.truth[page], site) for page in pages))
    return [label for label in site.labels if label.page in pages]


def _learn(site: Site, labels: list[Label]) -> Learned:
    from untemplate.pipeline import learn_site

    return learn_site(progress(site.pages, "Learning", len(site.pages)), labels, site.schema)


def _extract(rules: Rules, site: Site) -> list[Record]:
    from untemplate.output.tally import Tally

    tally = Tally()
    records = list(tally.count(rules.extract(progress(site.pages, "Extracting", len(site.pages)))))
    texts = (
        (one.page_id, {name: [value.text for value in values] for name, values in one.values.items()})
        for one in records
        if one.values
    )
    show(
        "Records",
        ("page", *site.schema.attributes),
        (_row(page, values, site) for page, values in islice(texts, SHOWN)),
    )
    show_tally(tally, site.schema.attributes)
    return records


def _watch(rules: Rules, later: Site) -> None:
    from untemplate.watching import watch

    show_report(watch(rules, progress(later.pages, "Watching", len(later.pages))))


def _heal(rules: Rules, later: Site) -> Rules:
    from untemplate.watching import heal_site

    healed = heal_site(rules, progress(later.pages, "Healing", len(later.pages)))
    show_healed(healed)
    return healed.rules


def _list(site: Site) -> None:
    from untemplate.lists import find_records
    from untemplate.pipeline import learn

    pages = [page for page in site.pages if page.id in site.rows]
    found = {page.id: find_records(page) for page in pages}
    first = pages[0]
    show_rows(f"The first {SHOWN} of {len(found[first.id])} rows of {first.id}", found[first.id], SHOWN)
    head = next(iter(site.schema.attributes))
    names = {page: [row[head] for row in rows] for page, rows in site.rows.items()}
    total = sum(len(names[page.id]) for page in pages)
    right = sum(
        name in row.cells for page in pages for name, row in zip(names[page.id], found[page.id], strict=False)
    )
    say(f"Against the truth: {right:,} of {total:,} rows have the right {head}.")
    if not found[first.id]:
        return
    rules = learn([first], found[first.id])
    right = sum(
        name in (values[0].text for values in record.values.values())
        for page in pages
        for name, record in zip(names[page.id], rules.extract_page(page), strict=False)
    )
    say(f"With rules learnt from the rows of {first.id} alone: {right:,} of {total:,}.")


def _score(records: list[Record], labels: list[Label], site: Site) -> None:
    from untemplate.output.scoring import score_records

    labelled = {label.page for label in labels}
    others = [record for record in records if record.page_id in site.truth and record.page_id not in labelled]
    scores = score_records(others, site.truth, site.schema)
    show_scores(f"Against the truth, on the {len(others):,} pages that nobody labelled", scores)


def _row(page: str, values: Mapping[str, Sequence[str]], site: Site) -> tuple[str, ...]:
    return (page, *("; ".join(values.get(name, ())) for name in site.schema.attributes))


def _kinds(site: Site) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in Counter(site.templates.values()).most_common())


def _agreement(clustering: Clustering, site: Site) -> float:
    """F1 of page pairs: those put together against those made from one template."""
    found = {page.id: cluster.id for cluster in clustering for page in cluster.pages}
    # A page that fits nowhere is alone.
    both = [(found.get(page, page), template) for page, template in site.templates.items()]
    hits = _pairs(both)
    total = _pairs(cluster for cluster, _ in both) + _pairs(template for _, template in both)
    return 2 * hits / total if total else 1.0


def _pairs(names: Iterable[object]) -> int:
    return sum(comb(count, 2) for count in Counter(names).values())
