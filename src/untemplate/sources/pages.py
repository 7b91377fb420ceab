"""Pages: a source that can be streamed as often as a stage likes, and what had to be skipped on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from untemplate.errors import SourceError
from untemplate.page import DEFAULT_LIMITS, Limits, Page, squeeze

__all__ = ["Divisible", "InMemory", "Pages", "Part", "Reader", "Skipped"]

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

    def __repr__(self) -> str:
        return f"Pages({self.source!r})"

    @property
    def total(self) -> int | None:
        """About how many pages there are, for a progress bar; None where only reading them all would tell."""
        return self._reader.total

    def __iter__(self) -> Iterator[Page]:
        self.skipped = Skipped()
        return self._stream(self.skipped)

    def parts(self, size: int) -> Iterator[Part] | None:
        """All pages in parts of about `size` pages, the same each time; None for a source that is one stream."""
        self.skipped = Skipped()
        reader = self._reader
        return reader.parts(size, self.skipped) if isinstance(reader, Divisible) else None

    def _stream(self, skipped: Skipped) -> Iterator[Page]:
        found = False
        for page in self._reader.read(skipped):
            found = True
            yield page
        if not found:
            raise self.no_pages(skipped)

    def no_pages(self, skipped: Skipped) -> SourceError:
        """What to raise when all was read and there was no page."""
        reasons = f": {skipped}" if skipped else ""
        return SourceError(f"{self.source}: no pages could be read from it{reasons}")
