"""What all commands share: arguments and options, progress bars, tables, and messages.

Results go to standard output, everything else to standard error. Control characters in pages never reach
the terminal.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

if TYPE_CHECKING:
    from rich.table import Table

    from untemplate.clustering import Clustering
    from untemplate.labeling import Label
    from untemplate.sources import Pages, Skipped

__all__ = [
    "count_pages",
    "counted",
    "examples",
    "find_templates",
    "json_option",
    "labels_option",
    "on_one_stream",
    "open_pages",
    "pages_argument",
    "printable",
    "progress",
    "read_label_files",
    "read_template_names",
    "records_option",
    "report_skipped",
    "rules_argument",
    "say",
    "show",
    "show_json",
    "source_options",
    "templates_option",
]

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])

# Width of tables that are written to a file or pipe: room for long URLs.
_pipe_width: ContextVar[int] = ContextVar("pipe_width", default=240)
_is_one_stream: ContextVar[bool] = ContextVar("is_one_stream", default=False)

# Columns whose cells are no longer than this, such as signatures, are never wrapped; longer ones, such as URLs, are.
MAX_UNWRAPPED_CELL = 24
# In a table that is too wide, only columns up to this width are never wrapped; each column has this gap to the next.
MIN_WRAPPED_CELL, COLUMN_GAP = 12, 2


def pages_argument(command: Command, required: bool = True) -> Command:
    """Add the argument PAGES, and the options that some sources need."""
    argument = click.argument("source", metavar="PAGES" if required else "[PAGES]", required=required)
    return argument(source_options(command))


def records_option(command: Command) -> Command:
    """Add the option for the file that records or rows are written to."""
    return click.option(
        "-o",
        "--output",
        default="-",
        show_default="JSONL to standard output",
        help="The file to write: .jsonl, .csv or .parquet.",
    )(command)


def source_options(command: Command) -> Command:
    """Add the options that some sources need: names of columns, and whether scripts of web pages run."""
    command = click.option(
        "--render",
        is_flag=True,
        help="Run the scripts of the pages in Chromium; for a list of URLs. Needs the extra `render`.",
    )(command)
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

templates_option = click.option(
    "--labels",
    "label_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Labels that name templates, as untemplate cluster -o writes them: these are kept. May be repeated.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="JSON for programs instead of a table.")


def repeat_option(arguments: Sequence[str], option: str) -> Iterator[str]:
    """Yield arguments of a command line with an option before each of its values: `--x a b` becomes `--x a --x b`."""
    given, repeats = False, False  # whether the option is the last argument, and whether values follow it
    for argument in arguments:
        is_value = repeats and not argument.startswith("-")
        if is_value and not given:
            yield option
        yield argument
        given = argument == option
        repeats = given or is_value


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 page`, `2,000 pages`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def examples(*lines: str) -> str:
    """Return the epilog of a help text that shows these command lines."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def read_label_files(paths: Iterable[Path]) -> list[Label]:
    """Return the labels of all files, in the order of the command line."""
    from untemplate.labeling import read_labels

    labels: list[Label] = []
    for path in paths:
        labels += read_labels(path)
    return labels


def read_template_names(paths: Iterable[Path]) -> dict[str, str]:
    """Return the names of templates that files of labels give, by page."""
    from untemplate.labeling import read_templates

    names: dict[str, str] = {}
    for path in paths:
        names |= read_templates(path)
    return names


@contextmanager
def open_pages(source: str, url_column: str, html_column: str, render: bool) -> Iterator[Pages]:
    """Open a source of pages; at the end, report what had to be skipped."""
    from untemplate.sources import read_pages

    pages = read_pages(source, url_column=url_column, html_column=html_column, render=render)
    yield pages
    report_skipped(pages.skipped)


def report_skipped(skipped: Skipped) -> None:
    """Print how many pages could not be read, and why."""
    if skipped:
        say(f"{counted(skipped.total, 'page')} skipped: {skipped}")


def find_templates(
    pages: Pages, templates: Mapping[str, str] | None = None, similarity: float | None = None
) -> Clustering:
    """Cluster the pages of a source, with a progress bar, and print the notes of the clustering."""
    from untemplate.clustering import MIN_SIMILARITY, cluster

    if similarity is None:
        similarity = MIN_SIMILARITY
    read = progress(pages, "Reading pages", pages.total)
    clustering = cluster(read, templates=templates, similarity=similarity)
    for note in clustering.notes:
        say(f"Note: {note}")
    return clustering


def progress(items: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Yield the items, with a progress bar if standard error is a terminal."""
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
    """Yield a function to call with the number of pages done so far.

    On a terminal it moves a progress bar with the rate and the time left.
    """
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
        total_at_start = pages.total
        tasks: list[TaskID] = []

        def count(done: int) -> None:
            total = pages.total if total_at_start is None else total_at_start
            if tasks:
                bar.update(tasks[0], completed=done, total=total)
            else:  # pages of an earlier, interrupted run do not count for the rate
                tasks.append(bar.add_task(text, total=total, completed=done))

        yield count


@contextmanager
def on_one_stream(width: int) -> Iterator[None]:
    """Print messages on standard output too, in order with the results; tables with this width in a file or pipe."""
    width_before, stream_before = _pipe_width.set(width), _is_one_stream.set(True)
    try:
        yield
    finally:
        _pipe_width.reset(width_before)
        _is_one_stream.reset(stream_before)


def say(message: str = "") -> None:
    """Print a message, which is not a result, in one line on standard error."""
    click.echo(printable(message), err=not _is_one_stream.get())


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], err: bool = False) -> None:
    """Print a table. Columns of numbers are aligned to the right.

    Args:
        title: the line above the table.
        columns: the headings.
        rows: a sequence of cells for each row; control characters in them are replaced.
        err: print to standard error, because the table is a message and not a result.
    """
    from rich.console import Console

    err = err and not _is_one_stream.get()
    on_screen = (sys.stderr if err else sys.stdout).isatty()
    out = StringIO()
    console = Console(file=out, force_terminal=on_screen, width=None if on_screen else _pipe_width.get())
    console.print(_make_table(title, columns, [list(row) for row in rows], console.width))
    click.echo("\n".join(line.rstrip() for line in out.getvalue().splitlines()), err=err)


def _make_table(title: str, columns: Sequence[str], rows: Sequence[list[object]], width: int) -> Table:
    """Return a table for a console of this width: numbers to the right, short cells never wrapped."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title, "bold"), title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    cells_of = [[row[index] for row in rows] for index in range(len(columns))]
    widths = [_cell_width(heading, cells) for heading, cells in zip(columns, cells_of, strict=True)]
    max_unwrapped = _widest_unwrapped(widths, width)
    for heading, cells, cell_width in zip(columns, cells_of, widths, strict=True):
        is_numeric = all(isinstance(cell, int | float) for cell in cells)
        justify: Literal["left", "right"] = "right" if is_numeric else "left"
        table.add_column(heading, justify=justify, no_wrap=cell_width <= max_unwrapped, overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell_text(cell)) for cell in row))
    return table


def _cell_width(heading: str, cells: Iterable[object]) -> int:
    return max(len(heading), *(len(_cell_text(cell)) for cell in cells), 0)


def _widest_unwrapped(widths: Sequence[int], width: int) -> int:
    """Return up to which width columns are never wrapped: short ones, unless they leave no room for the others."""
    room = width - sum(
        COLUMN_GAP + (short if short <= MAX_UNWRAPPED_CELL else MIN_WRAPPED_CELL) for short in widths
    )
    return MAX_UNWRAPPED_CELL if room >= 0 else MIN_WRAPPED_CELL


def show_json(value: object) -> None:
    """Print a result as JSON, for programs."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def printable(text: str) -> str:
    """Return the text in one line, with control characters replaced so that a page cannot act on the terminal."""
    return "".join(char if char.isprintable() else _replacement(char) for char in text)


def _replacement(char: str) -> str:
    return " " if char.isspace() else "\N{REPLACEMENT CHARACTER}"


def _cell_text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.3f}"
    return f"{cell:,}" if isinstance(cell, int) else printable(str(cell))
