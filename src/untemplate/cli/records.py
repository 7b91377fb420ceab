"""untemplate records: find the rows of list pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
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
from untemplate.errors import PageError

if TYPE_CHECKING:
    from untemplate.lists import Row, Rows
    from untemplate.lists.hcrf import Hcrf
    from untemplate.page import Page

__all__ = ["command", "show_rows"]

NO_ROWS = 1
# Reasons printed at the end, and pages named for each.
MAX_REASONS = 5
MAX_NAMED_PAGES = 3
# Letters of a cell that a table shows.
MAX_CELL_LETTERS = 40


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
    render: bool,
    output: str,
    is_named: bool,
    knowledge_folder: Path | None,
    all_lists: bool,
    picture: Path | None,
) -> None:
    """Find the records on list pages, and write them as rows of cells.

    Nothing needs to be labeled or learned. PAGES is any source of pages; see untemplate cluster --help.
    """
    from untemplate.output.record_files import write_rows

    if is_named and knowledge_folder:
        raise click.UsageError("give --names or --knowledge, not both.")
    draw = _prepare_drawing(picture) if picture else None
    model = _choose_model(is_named, knowledge_folder)
    finder = _Finder(all_lists, model, draw)
    with open_pages(source, url_column, html_column, render) as pages:
        rows = finder.find(progress(pages, "Finding records", pages.total))
        write_rows(rows, output, model.attributes if model else ())
    finder.report()
    if not finder.row_count:
        raise click.exceptions.Exit(NO_ROWS)


def _choose_model(is_named: bool, knowledge_folder: Path | None) -> Hcrf | None:
    """Return the model that names columns: the shipped one, that of a vertical, or none."""
    from untemplate.labeling import Knowledge
    from untemplate.lists import list_model

    if knowledge_folder:
        return Knowledge.load(knowledge_folder).list_model
    return list_model() if is_named else None


def _prepare_drawing(picture: Path) -> Callable[[Page, Rows], None]:
    """Return a function that draws a page; raise MissingExtra at once if nothing can be drawn."""
    from untemplate.cli.drawing import draw_rows

    def draw(page: Page, rows: Rows) -> None:
        try:
            draw_rows(page, rows, picture)
            say(f"{page.id} is drawn in {picture}.")
        except PageError as error:
            say(f"{page.id} cannot be drawn: {error}")

    return draw


@dataclass
class _Finder:
    """Finds the rows of many pages, and counts what to report at the end."""

    all_lists: bool
    model: Hcrf | None
    draw: Callable[[Page, Rows], None] | None
    page_count: int = 0
    row_count: int = 0
    urls: set[str] = field(default_factory=set)
    next_pages: list[str] = field(default_factory=list)
    pages_by_reason: dict[str, list[str]] = field(default_factory=dict)

    def find(self, pages: Iterable[Page]) -> Iterator[tuple[Page, Rows]]:
        """Yield each page with its rows; the first page is drawn if that was asked for."""
        from untemplate.lists import find_records

        for page in pages:
            rows = find_records(page, self.all_lists, model=self.model)
            if self.draw and not self.page_count:
                self.draw(page, rows)
            page.release()
            self._count(page, rows)
            yield page, rows

    def _count(self, page: Page, rows: Rows) -> None:
        self.page_count += 1
        self.row_count += len(rows)
        self.urls.add(page.url)
        if rows.next_page:
            self.next_pages.append(rows.next_page)
        if rows.reason:
            self.pages_by_reason.setdefault(rows.reason, []).append(page.url or page.id)

    def report(self) -> None:
        """Print how many rows there are, why pages have none, and where lists continue."""
        say(f"{counted(self.row_count, 'row')} of {counted(self.page_count, 'page')}.")
        most_pages_first = sorted(self.pages_by_reason.items(), key=lambda item: -len(item[1]))
        for reason, names in most_pages_first[:MAX_REASONS]:
            say(f"{counted(len(names), 'page')} without rows: {reason}: {_first_names(names)}")
        further = [url for url in dict.fromkeys(self.next_pages) if url not in self.urls]
        if further:
            say(f"More of {counted(len(further), 'list')}: {_first_names(further)}")


def _first_names(names: Sequence[str]) -> str:
    more = ["…"] if len(names) > MAX_NAMED_PAGES else []
    return ", ".join([*names[:MAX_NAMED_PAGES], *more])


def show_rows(title: str, rows: Rows, some: int) -> None:
    """Print a table of the first rows of a page."""
    width = len(rows[0].cells) if rows else 0
    show(
        title,
        [f"cell {number}" for number in range(1, width + 1)],
        [_row_cells(row) for row in rows[:some]],
    )


def _shorten(text: str) -> str:
    """Cut a long cell, with a mark where it was cut."""
    return text if len(text) <= MAX_CELL_LETTERS else f"{text[: MAX_CELL_LETTERS - 1]}…"


def _row_cells(row: Row) -> list[str]:
    return [_shorten(cell or "") for cell in row.cells]
