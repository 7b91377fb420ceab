"""Pages: a source that can be streamed as often as a stage likes, and what had to be skipped on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from untemplate.errors import SourceError
from untemplate.page import Page, squeeze

__all__ = ["InMemory", "Pages", "Reader", "Skipped"]

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

    def __init__(self, source: str, reader: Reader) -> None:
        #: where the pages come from, as the user named it
        self.source = source
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

    def _stream(self, skipped: Skipped) -> Iterator[Page]:
        found = False
        for page in self._reader.read(skipped):
            found = True
            yield page
        if not found:
            raise SourceError(
                f"{self.source}: no pages could be read from it" + (f": {skipped}" if skipped else "")
            )
