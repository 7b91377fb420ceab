"""JSON lines: an object a line, a page an object."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from untemplate.errors import PageError
from untemplate.page import Limits, Page
from untemplate.sources.pages import Skipped, StreamReader
from untemplate.sources.rows import Columns, row_page
from untemplate.sources.stream import CUT_SHORT, Stream

__all__ = ["JsonlReader"]


@dataclass(frozen=True)
class JsonlReader(StreamReader):
    """JSON lines, compressed or not."""

    path: Path
    columns: Columns
    limits: Limits

    def read_stream(self, stream: Stream, skipped: Skipped) -> Iterator[Page]:
        # escapes make text longer; twice is enough for any page near the limit that is really text
        for number, line in enumerate(_lines(stream, 2 * self.limits.bytes), 1):
            if line is not None and not line.strip():
                continue
            try:
                yield row_page(_row(line), number, self.columns, self.limits)
            except PageError as error:
                skipped.add(str(error), f"line {number}")
        if stream.damage:
            skipped.add(CUT_SHORT, f"{self.path}: {stream.damage}")


def _lines(stream: Stream, limit: int) -> Iterator[bytes | None]:
    """The lines; None for one that is longer than the limit, of which no more than that is kept in memory."""
    while line := stream.readline(limit):
        if len(line) < limit or line.endswith(b"\n"):
            yield line
        else:
            while (rest := stream.readline(1 << 16)) and not rest.endswith(b"\n"):
                pass
            yield None


def _row(line: bytes | None) -> Mapping[str, Any]:
    if line is None:
        raise PageError("line is too long")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise PageError("line is not JSON") from error
    if not isinstance(row, dict):
        raise PageError("line is not a JSON object")
    return row
