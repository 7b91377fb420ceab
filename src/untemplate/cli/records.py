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
    progress,
    records_option,
    report_skipped,
    say,
    show,
    source_options,
)
from untemplate.errors import PageError

if TYPE_CHECKING:
    from untemplate.lists import Rows
    from untemplate.lists.hcrf import Hcrf
    from untemplate.page import Page
    from untemplate.schema import Schema

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
        "untemplate records https://books.example/new --pages 20 -o rows.csv",
        "untemplate records https://books.example/new --pages 20 --follow url --keep crawl/ -o rows.csv",
        "untemplate learn crawl/details.jsonl --schema book -o rules.json",
        "untemplate records results/ --schema book -o books.csv",
        "untemplate records results/ --knowledge knowledge/ -o rows.csv",
        "untemplate records results/7.html --all-lists -o everything.jsonl --show 7.png",
    )
)
@click.argument("sources", metavar="PAGES|URL...", nargs=-1, required=True)
@source_options
@records_option
@click.option(
    "--pages",
    "max_pages",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="For URLs: read up to N pages of each list, along the links to the next page.",
    metavar="N",
)
@click.option(
    "--follow",
    "followed",
    metavar="COLUMN",
    help="Fetch the pages that the rows lead to by this column, such as url, into details.jsonl of --keep.",
)
@click.option(
    "--keep",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Keep fetched pages in this folder: lists.jsonl and details.jsonl. The next run does not fetch them again.",
)
@click.option(
    "--schema",
    "schema_source",
    help="Write the attributes of this schema, as far as columns are known to be such.",
)
@knowledge_option(
    "Columns for the attributes of a vertical: a folder that untemplate train --method hcrf wrote."
)
@click.option("--all-lists", is_flag=True, help="Every list of a page, also navigation and the like.")
@click.option(
    "--show",
    "picture",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Draw the first page with its blocks and records: .png, .svg or .pdf.",
)
def command(
    sources: tuple[str, ...],
    url_column: str,
    html_column: str,
    render: bool,
    output: str,
    max_pages: int,
    followed: str | None,
    keep: Path | None,
    schema_source: str | None,
    knowledge_folder: Path | None,
    all_lists: bool,
    picture: Path | None,
) -> None:
    """Find the records on list pages, and write them as rows with named columns.

    Nothing needs to be labeled or learned. PAGES is any source of pages; see untemplate cluster --help. A URL is
    fetched politely, and with --pages the pages that continue its list. With --follow, the pages of the rows are
    fetched too, for untemplate learn and extract: their ids are the keys of the rows, `page#row`.
    """
    from untemplate.output.record_files import write_rows

    if render and any(map(_is_url, sources)):
        raise click.UsageError("--render is for a text file of URLs; write the URLs into one.")
    if followed and keep is None:
        raise click.UsageError("--follow needs --keep: the folder that the pages of the rows are written to.")
    draw = _prepare_drawing(picture) if picture else None
    crawl = _Crawl(max_pages, keep, all_lists, _choose_model(knowledge_folder))
    columns = (url_column, html_column, render)
    finder = _Finder(_load_schema(schema_source), draw)
    rows = finder.count(crawl.find_all(sources, columns))
    if followed:
        rows = crawl.fetch_details(rows, followed)
    write_rows(rows, output)
    finder.report()
    report_skipped(crawl.skipped)
    if not finder.row_count:
        raise click.exceptions.Exit(NO_ROWS)


def _is_url(source: str) -> bool:
    return source.lower().startswith(("http://", "https://"))


def _choose_model(knowledge_folder: Path | None) -> Hcrf | None:
    """Return the model of a vertical that names columns; None without one."""
    from untemplate.labeling import Knowledge

    return Knowledge.load(knowledge_folder).list_model if knowledge_folder else None


def _load_schema(source: str | None) -> Schema | None:
    from untemplate.schema import Schema

    return Schema.load(source) if source else None


class _Crawl:
    """Finds the rows of pages in files and on the web.

    Args:
        max_pages: how many pages of each list are fetched.
        keep: the folder for fetched pages.
        all_lists: whether lists other than the main one are wanted.
        model: names columns.
    """

    def __init__(self, max_pages: int, keep: Path | None, all_lists: bool, model: Hcrf | None) -> None:
        from untemplate.sources import PageStore, Skipped

        self.skipped = Skipped()
        self._max_pages, self._all_lists, self._model = max_pages, all_lists, model
        self._lists = PageStore(keep / "lists.jsonl" if keep else None)
        self._details = PageStore(keep / "details.jsonl" if keep else None, fetcher=self._lists.fetcher)

    def find_all(self, sources: Sequence[str], columns: tuple[str, str, bool]) -> Iterator[tuple[Page, Rows]]:
        """Yield the pages of all sources with their rows."""
        from untemplate.layout import EstimatedLayout
        from untemplate.lists import find_site_records, follow_lists
        from untemplate.sources.assets import find_saved_files

        for source in (source for source in sources if not _is_url(source)):
            with open_pages(source, *columns) as pages:
                read = progress(pages, "Finding records", pages.total)
                layout = EstimatedLayout(find_saved_files(source))
                yield from find_site_records(read, self._all_lists, self._model, layout)
        found = follow_lists(
            filter(_is_url, sources),
            self._max_pages,
            store=self._lists,
            skipped=self.skipped,
            all_lists=self._all_lists,
            model=self._model,
        )
        yield from progress(found, "Fetching lists")

    def fetch_details(self, lists: Iterable[tuple[Page, Rows]], column: str) -> Iterator[tuple[Page, Rows]]:
        """Yield the same pages and rows, after fetching the pages that the rows lead to."""
        from untemplate.lists import follow_rows

        found = list(lists)
        details = follow_rows(found, column, store=self._details, skipped=self.skipped)
        count = sum(1 for _ in progress(details, "Fetching pages of rows"))
        say(f"{counted(count, 'page')} of rows kept.")
        yield from found


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
    """Selects the columns of a schema, draws the first page, and counts what to report at the end."""

    schema: Schema | None
    draw: Callable[[Page, Rows], None] | None
    page_count: int = 0
    row_count: int = 0
    urls: set[str] = field(default_factory=set)
    next_pages: list[str] = field(default_factory=list)
    pages_by_reason: dict[str, list[str]] = field(default_factory=dict)

    def count(self, lists: Iterable[tuple[Page, Rows]]) -> Iterator[tuple[Page, Rows]]:
        """Yield each page with its rows; the first page is drawn if that was asked for."""
        from untemplate.labeling.list_columns import select_attributes

        for page, rows in lists:
            if self.draw and not self.page_count:
                self.draw(page, rows)
            selected = select_attributes(page, rows, self.schema) if self.schema else rows
            page.release()
            self._count_page(page, rows)
            yield page, selected

    def _count_page(self, page: Page, rows: Rows) -> None:
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
    names = rows.columns
    show(title, names, [[_shorten_cell(row.values.get(name) or "") for name in names] for row in rows[:some]])


def _shorten_cell(text: str) -> str:
    """Cut a long cell, with a mark where it was cut."""
    return text if len(text) <= MAX_CELL_LETTERS else f"{text[: MAX_CELL_LETTERS - 1]}…"
