"""untemplate records: list pages to rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from untemplate.cli.label import knowledge_option
from untemplate.cli.shell import (
    counted,
    examples,
    open_pages,
    pages_argument,
    progress,
    records_option,
    say,
    show,
)

if TYPE_CHECKING:
    from untemplate.lists import Rows
    from untemplate.page import Page

__all__ = ["command", "show_rows"]

NO_ROWS = 1
# Reasons told at the end, and pages named for each.
REASONS = 5
NAMED = 3
# Letters of a cell that are shown.
SHORT = 40


@click.command(
    epilog=examples(
        "untemplate records results/ -o rows.csv",
        "untemplate records results/ | jq .cells",
        "untemplate records results/ --knowledge knowledge/ -o rows.csv",
        "untemplate records results/ --all-lists -o everything.jsonl",
        "untemplate records results/7.html -o rows.csv --show 7.png",
    )
)
@pages_argument
@records_option
@click.option(
    "--names",
    "is_named",
    is_flag=True,
    help="Columns for titles, links, images, prices and dates too.",
)
@knowledge_option(
    "Columns for the attributes of a vertical too: a folder that untemplate train --method hcrf wrote."
)
@click.option("--all-lists", is_flag=True, help="Every list of a page, also navigation and the like.")
@click.option(
    "--show",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the first page with its blocks and records: .png, .svg or .pdf.",
)
def command(
    source: str,
    url_column: str,
    html_column: str,
    output: str,
    is_named: bool,
    knowledge_folder: Path | None,
    all_lists: bool,
    picture: Path | None,
) -> None:
    """Find the records on list pages, and write them as rows of cells.

    Nothing needs to be labelled or learnt. PAGES is any source of pages; see untemplate cluster --help.
    """
    from untemplate.labeling import Knowledge
    from untemplate.lists import find_records, list_model
    from untemplate.output.row_files import write_rows

    if is_named and knowledge_folder:
        raise click.UsageError("give --names or --knowledge, not both.")
    draw = _drawing() if picture else None
    model = list_model() if is_named else None
    if knowledge_folder:
        model = Knowledge.load(knowledge_folder).list_model
    counts: Counter[str] = Counter()
    known: set[str] = set()
    linked: list[str] = []
    without: dict[str, list[str]] = {}

    def find(pages: Iterator[Page]) -> Iterator[tuple[Page, Rows]]:
        for page in pages:
            rows = find_records(page, all_lists, model=model)
            if draw and picture and not counts:
                draw(page, rows, picture)
            page.release()
            counts.update(pages=1, rows=len(rows))
            known.add(page.url)
            if rows.next_page:
                linked.append(rows.next_page)
            if rows.reason:
                without.setdefault(rows.reason, []).append(page.url or page.id)
            yield page, rows

    with open_pages(source, url_column, html_column) as pages:
        found = find(progress(pages, "Finding records", pages.total))
        write_rows(found, output, model.labels.attributes if model else ())
    say(f"{counted(counts['rows'], 'row')} of {counted(counts['pages'], 'page')}.")
    for reason, names in sorted(without.items(), key=lambda one: -len(one[1]))[:REASONS]:
        say(f"{counted(len(names), 'page')} without rows: {reason}: {_some(names)}")
    if further := [url for url in dict.fromkeys(linked) if url not in known]:
        say(f"More of {counted(len(further), 'list')}: {_some(further)}")
    if not counts["rows"]:
        raise click.exceptions.Exit(NO_ROWS)


def _drawing() -> Callable[[Page, Rows, Path], None]:
    """What draws a page; MissingExtra if that cannot be done."""
    from untemplate.cli.picture import draw_rows
    from untemplate.errors import PageError

    def draw(page: Page, rows: Rows, path: Path) -> None:
        try:
            draw_rows(page, rows, path)
            say(f"{page.id} is drawn in {path}.")
        except PageError as error:
            say(f"{page.id} cannot be drawn: {error}")

    return draw


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:NAMED], *(["…"] if len(names) > NAMED else [])])


def show_rows(title: str, rows: Rows, some: int) -> None:
    """A table of the first rows of a page."""
    width = len(rows[0].cells) if rows else 0
    show(
        title,
        [f"cell {number}" for number in range(1, width + 1)],
        ([_short(cell or "") for cell in row.cells] for row in rows[:some]),
    )


def _short(text: str) -> str:
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
