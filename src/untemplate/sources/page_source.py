"""Sources of pages: `Pages` streams a source as often as a stage likes and counts the pages it had to skip.

Each kind of source is a `Reader`. A reader that can start anywhere also splits its source into parts for several
processes (`Divisible`); one that has to read a file from its start is a `StreamReader`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from untemplate.errors import SourceError
from untemplate.input_files import shorten
from untemplate.page import DEFAULT_LIMITS, Limits, Page
from untemplate.sources.stream import Stream, open_stream

__all__ = ["Divisible", "InMemory", "Pages", "Reader", "Skipped", "SourcePart", "StreamReader"]

# Examples kept per reason: enough to look into it, few enough for one line.
_MAX_EXAMPLES = 3


@dataclass
class Skipped:
    """Counts of the pages that could not be read, by reason, with a few examples of each.

    Readers add to the object that they receive: a stream of pages has no other place to report what it left out.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, where: str) -> None:
        """Count one page; `where` names it."""
        self.counts[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < _MAX_EXAMPLES:
            examples.append(shorten(where))

    def update(self, other: Skipped) -> None:
        """Add the counts of another part of the source."""
        self.counts.update(other.counts)
        for reason, examples in other.examples.items():
            merged = self.examples.setdefault(reason, [])
            merged += examples[: _MAX_EXAMPLES - len(merged)]

    @property
    def total(self) -> int:
        return self.counts.total()

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        """Format as one line, such as `2 × empty (a.html, b.html); 1 × HTTP status 404 (http://…)`."""
        return "; ".join(self._format_reason(*item) for item in self.counts.most_common())

    def _format_reason(self, reason: str, count: int) -> str:
        more = ", …" if count > _MAX_EXAMPLES else ""
        return f"{count} × {reason} ({', '.join(self.examples[reason])}{more})"


class Reader(Protocol):
    """One kind of source: streams its pages, and counts those it has to skip."""

    @property
    def total(self) -> int | None:
        """The number of pages, if that is known without reading them."""

    def read(self, skipped: Skipped) -> Iterator[Page]: ...


@dataclass(frozen=True)
class SourcePart:
    """Consecutive pages of a source, which can be read without the pages before them.

    Attributes:
        reader: Reads these pages.
        portable: True if another process can read them. The reader can then be pickled.
    """

    reader: Reader
    portable: bool = True


@runtime_checkable
class Divisible(Protocol):
    """A reader that may be able to start anywhere in its source."""

    def parts(self, size: int, skipped: Skipped) -> Iterator[SourcePart] | None:
        """Split the source into parts of about `size` pages; None if it has to be read as one stream."""


class StreamReader(ABC):
    """A source that is one stream of bytes; the share read so far estimates the number of its pages."""

    path: Path

    @property
    def total(self) -> None:
        return None

    def read(self, skipped: Skipped) -> Iterator[Page]:
        with open_stream(self.path) as stream:
            yield from self.read_stream(stream, skipped)

    @abstractmethod
    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        """Read the pages of the opened file."""


@dataclass(frozen=True)
class InMemory:
    """Pages that are in memory already."""

    pages: Sequence[Page]

    @property
    def total(self) -> int:
        return len(self.pages)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return iter(self.pages)


class Pages(Iterable[Page]):
    """The pages of a source. Each iteration streams them anew, so every stage can make its own pass.

    Use `read_pages` to get one. An iteration that finds no page at all raises `SourceError`.

    Attributes:
        source: Where the pages come from, as the user named it.
        limits: The size limits of each page.
        skipped: The pages that the latest iteration had to skip so far.

    Example:
        >>> import untemplate as ut
        >>> pages = ut.read_pages([ut.Page("http://example.com/1", "<p>One"), ut.Page("http://example.com/2", "")])
        >>> pages.total
        2
        >>> [page.url for page in pages]
        ['http://example.com/1', 'http://example.com/2']
    """

    def __init__(self, source: str, reader: Reader, limits: Limits = DEFAULT_LIMITS) -> None:
        """Name the source and choose what reads it.

        Args:
            source: The name of the source, for messages.
            reader: Reads the pages.
            limits: The size limits of each page.
        """
        self.source = source
        self.limits = limits
        self.skipped = Skipped()
        self._reader = reader
        self._count: int | None = None

    def __repr__(self) -> str:
        return f"Pages({self.source!r})"

    @property
    def total(self) -> int | None:
        """About how many pages there are, for a progress bar; None before a stream is read.

        While a stream is read, the share read so far gives an estimate. At the end the number is exact.
        """
        return self._count if self._reader.total is None else self._reader.total

    @property
    def columns(self) -> object:
        """The names of the columns with URL and HTML, if the source has columns."""
        return getattr(self._reader, "columns", None)

    @property
    def is_rendered(self) -> bool:
        """True if the scripts of the pages run before they are read."""
        return bool(getattr(self._reader, "is_rendered", False))

    def __iter__(self) -> Iterator[Page]:
        self.skipped = Skipped()
        return self._stream(self.skipped)

    def parts(self, size: int) -> Iterator[SourcePart] | None:
        """Split all pages into parts of about `size` pages, the same each time; None if the source is one stream."""
        self.skipped = Skipped()
        reader = self._reader
        return reader.parts(size, self.skipped) if isinstance(reader, Divisible) else None

    def _stream(self, skipped: Skipped) -> Iterator[Page]:
        if isinstance(self._reader, StreamReader):
            pages = self._stream_with_estimate(self._reader, skipped)
        else:
            pages = self._reader.read(skipped)
        count = 0
        for page in pages:
            count += 1
            yield page
        if not count:
            raise self.no_pages_error(skipped)
        self._count = count

    def _stream_with_estimate(self, reader: StreamReader, skipped: Skipped) -> Iterator[Page]:
        with open_stream(reader.path) as stream:
            for count, page in enumerate(reader.read_stream(stream, skipped), 1):
                self._count = round(count / stream.share)
                yield page

    def no_pages_error(self, skipped: Skipped) -> SourceError:
        """Return the error to raise if the whole source was read and had no page."""
        reasons = f": {skipped}" if skipped else ""
        return SourceError(f"{self.source}: no pages could be read from it{reasons}")
