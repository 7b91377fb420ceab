"""Pages: a source that can be streamed as often as a stage likes, and what had to be skipped on the way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from untemplate.errors import SourceError
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze
from untemplate.sources.stream import Stream, open_stream

__all__ = ["Divisible", "InMemory", "Pages", "Part", "Reader", "Skipped", "StreamReader"]

# Examples kept of each reason: enough to look into it, few enough for one line.
_EXAMPLES = 3


@dataclass
class Skipped:
    """The pages that could not be read: how many for which reason, with a few examples of each."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, where: str) -> None:
        """Count one page; `where` names it."""
        self.counts[reason] += 1
        examples = self.examples.setdefault(reason, [])
        if len(examples) < _EXAMPLES:
            examples.append(squeeze(where))

    def update(self, other: Skipped) -> None:
        """Count what another part of the source had to skip as well."""
        self.counts.update(other.counts)
        for reason, examples in other.examples.items():
            mine = self.examples.setdefault(reason, [])
            mine += examples[: _EXAMPLES - len(mine)]

    @property
    def total(self) -> int:
        return self.counts.total()

    def __bool__(self) -> bool:
        return bool(self.counts)

    def __str__(self) -> str:
        """One line for people, such as `2 × empty (a.html, b.html); 1 × HTTP status 404 (http://…)`."""
        return "; ".join(
            f"{count} × {reason} ({', '.join(self.examples[reason])}{', …' if count > _EXAMPLES else ''})"
            for reason, count in self.counts.most_common()
        )


class Reader(Protocol):
    """One kind of source: streams its pages, and counts those it has to skip."""

    @property
    def total(self) -> int | None: ...

    def read(self, skipped: Skipped) -> Iterator[Page]: ...


@dataclass(frozen=True)
class Part:
    """Consecutive pages of a source, which can be read without those before them."""

    reader: Reader
    #: whether another process can read them; then the reader can be pickled
    portable: bool = True


@runtime_checkable
class Divisible(Protocol):
    """A reader that may be able to start anywhere in its source; None if this one has to read it as one stream."""

    def parts(self, size: int, skipped: Skipped) -> Iterator[Part] | None: ...


class StreamReader(ABC):
    """A source that is one stream of bytes, so that the share which was read tells how many pages there may be."""

    path: Path

    @property
    def total(self) -> None:
        return None

    def read(self, skipped: Skipped) -> Iterator[Page]:
        with open_stream(self.path) as stream:
            yield from self.read_stream(stream, skipped)

    @abstractmethod
    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        """The pages of the opened file."""


@dataclass(frozen=True)
class InMemory:
    """Pages that are already here."""

    pages: Sequence[Page]

    @property
    def total(self) -> int:
        return len(self.pages)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        return iter(self.pages)


class Pages(Iterable[Page]):
    """The pages of a source; each iteration streams them anew, so that every stage can have its own pass."""

    def __init__(self, source: str, reader: Reader, limits: Limits = DEFAULT_LIMITS) -> None:
        #: where the pages come from, as the user named it
        self.source = source
        #: what the pages are limited to
        self.limits = limits
        #: what the latest iteration had to skip so far
        self.skipped = Skipped()
        self._reader = reader
        self._count: int | None = None

    def __repr__(self) -> str:
        return f"Pages({self.source!r})"

    @property
    def total(self) -> int | None:
        """About how many pages there are, for a progress bar; None where only reading would tell.

        Of a stream that is read, the share read so far tells, and in the end its pages are counted.
        """
        return self._count if self._reader.total is None else self._reader.total

    @property
    def columns(self) -> object:
        """Which columns hold URL and HTML, where there are columns."""
        return getattr(self._reader, "columns", None)

    def __iter__(self) -> Iterator[Page]:
        self.skipped = Skipped()
        return self._stream(self.skipped)

    def parts(self, size: int) -> Iterator[Part] | None:
        """All pages in parts of about `size` pages, the same each time; None for a source that is one stream."""
        self.skipped = Skipped()
        reader = self._reader
        return reader.parts(size, self.skipped) if isinstance(reader, Divisible) else None

    def _stream(self, skipped: Skipped) -> Iterator[Page]:
        reader, count = self._reader, 0
        pages = self._estimated(reader, skipped) if isinstance(reader, StreamReader) else reader.read(skipped)
        for page in pages:
            count += 1
            yield page
        if not count:
            raise self.no_pages(skipped)
        self._count = count

    def _estimated(self, reader: StreamReader, skipped: Skipped) -> Iterator[Page]:
        with open_stream(reader.path) as stream:
            for count, page in enumerate(reader.read_stream(stream, skipped), 1):
                self._count = round(count / stream.share)
                yield page

    def no_pages(self, skipped: Skipped) -> SourceError:
        """What to raise when all was read and there was no page."""
        reasons = f": {skipped}" if skipped else ""
        return SourceError(f"{self.source}: no pages could be read from it{reasons}")
