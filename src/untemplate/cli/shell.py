"""What commands share: where pages come from, progress, tables, and the report of what was skipped."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from untemplate.clustering import Clustering
    from untemplate.sources import Pages, Skipped

__all__ = [
    "column_options",
    "count_pages",
    "counted",
    "examples",
    "find_templates",
    "json_option",
    "labels_option",
    "open_pages",
    "pages_argument",
    "printable",
    "progress",
    "records_option",
    "report_skipped",
    "rules_argument",
    "say",
    "show",
    "show_json",
]

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

# Where nobody looks at a screen, lines may be as long as URLs are.
PIPE_WIDTH = 240

# Cells up to here, such as signatures, are never broken; longer ones, such as URLs, make room for them.
SHORT = 24


def pages_argument(command: Command, required: bool = True) -> Command:
    """Give the command a source of pages, and the options that some sources need."""
    argument = click.argument("source", metavar="PAGES" if required else "[PAGES]", required=required)
    return argument(column_options(command))


def records_option(command: Command) -> Command:
    """Give the command the file that it writes records or rows to."""
    return click.option(
        "-o",
        "--output",
        default="-",
        show_default="JSONL to standard output",
        help="The file to write: .jsonl, .csv or .parquet.",
    )(command)


def column_options(command: Command) -> Command:
    """Give the command the options that some sources of pages need."""
    for name, what in (("html", "HTML"), ("url", "URL")):
        command = click.option(
            f"--{name}-column",
            default=name,
            show_default=True,
            help=f"Column of Parquet, key of JSONL that holds the {what}.",
        )(command)
    return command


labels_option = click.option(
    "--labels",
    "label_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Labels in JSONL, a page a line; may be given several times.",
)

rules_argument = click.argument("rules_file", metavar="RULES", type=click.Path(path_type=Path))

json_option = click.option("--json", "as_json", is_flag=True, help="JSON for programs instead of a table.")


def counted(count: int, noun: str) -> str:
    """So many of something: `1 page`, `2,000 pages`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def examples(*lines: str) -> str:
    """An epilog that shows these command lines as they are typed."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


@contextmanager
def open_pages(source: str, url_column: str, html_column: str) -> Iterator[Pages]:
    """The pages of a source; what had to be skipped is reported at the end."""
    from untemplate.sources import read_pages

    pages = read_pages(source, url_column=url_column, html_column=html_column)
    yield pages
    report_skipped(pages.skipped)


def report_skipped(skipped: Skipped) -> None:
    """Tell which pages could not be read, and why."""
    if skipped:
        say(f"{counted(skipped.total, 'page')} skipped: {skipped}")


def find_templates(pages: Pages) -> Clustering:
    """Cluster the pages of a source, with a progress bar."""
    from untemplate.clustering import cluster

    clustering = cluster(progress(pages, "Reading pages", pages.total))
    for note in clustering.notes:
        say(f"Note: {note}")
    return clustering


def progress(items: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Pass items on, with a progress bar if someone looks at a terminal."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield from bar.track(items, total=total, description=text)


@contextmanager
def count_pages(text: str, pages: Pages) -> Iterator[Callable[[int], object]]:
    """A function that is told how many pages are done, for a progress bar with their rate and the time left."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f} pages/s" if task.speed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        known = pages.total
        tasks: list[TaskID] = []

        def count(done: int) -> None:
            total = pages.total if known is None else known
            if tasks:
                bar.update(tasks[0], completed=done, total=total)
            else:  # what was done before says nothing about the rate
                tasks.append(bar.add_task(text, total=total, completed=done))

        yield count


def say(message: str = "") -> None:
    """Tell the user something that is not a result, in one line."""
    click.echo(printable(message), err=True)


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], err: bool = False) -> None:
    """Print a table; numbers are aligned to the right, and nothing from a page can act on the terminal.

    `err`: it is not a result but a message, so it goes to standard error.
    """
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [list(row) for row in rows]
    table = Table(title=Text(title, "bold"), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in cells)
        short = all(len(_cell(row[index])) <= SHORT for row in cells)
        table.add_column(column, justify="right" if numeric else "left", no_wrap=short, overflow="fold")
    for row in cells:
        table.add_row(*(Text(_cell(cell)) for cell in row))
    on_screen = (sys.stderr if err else sys.stdout).isatty()
    out = StringIO()
    console = Console(file=out, force_terminal=on_screen, width=None if on_screen else PIPE_WIDTH)
    console.print(table)
    click.echo("\n".join(line.rstrip() for line in out.getvalue().splitlines()), err=err)


def show_json(value: object) -> None:
    """Print a result for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def printable(text: str) -> str:
    """The text in one line, with a mark in place of what a terminal would obey or could not show."""
    return "".join(
        char if char.isprintable() else " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def _cell(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else printable(str(cell))
