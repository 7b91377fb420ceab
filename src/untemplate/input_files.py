"""Files that strangers may have made: size, depth and counts are checked before anything is parsed.

Rules, labels, schemas and knowledge are carried around, so any of them may be hostile. A few hundred megabytes of
brackets would otherwise take gigabytes, and very deep nesting would end the process. All readers of such files start
here: `read_limited` for a file, `limited_lines` for its lines, `load_json` for JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any, BinaryIO

import orjson
import re2

__all__ = [
    "DEFAULT_FILE_LIMITS",
    "FileLimits",
    "check_json_size",
    "check_pattern",
    "limited_lines",
    "load_json",
    "read_limited",
    "shorten",
]

# Characters of an error message: it may quote a file.
MAX_MESSAGE = 300

_STRING = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


@dataclass(frozen=True, slots=True)
class FileLimits:
    """How big a file may be.

    Attributes:
        bytes: its size, or that of a line.
        values: how many values its JSON may contain. The rules of a big site have fifty thousand.
        depth: how deeply its JSON may be nested. Rules need about ten levels.
    """

    bytes: int = 64 << 20
    values: int = 2_000_000
    depth: int = 64


DEFAULT_FILE_LIMITS = FileLimits()

# The error says what is wrong with a pattern; the library would write it to standard error as well.
_QUIET = re2.Options()
_QUIET.log_errors = False


def read_limited(path: Path, limits: FileLimits = DEFAULT_FILE_LIMITS) -> bytes:
    """Return the content of a file.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is too big; the message says how big it may be.
    """
    with path.open("rb") as file:
        data = file.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        raise ValueError(f"larger than {limits.bytes >> 20:,} MB")
    return data


def limited_lines(file: BinaryIO, limit: int) -> Iterator[bytes | None]:
    """Yield the lines of a file; None for a line that is longer than the limit in bytes.

    The rest of such a line is read in small pieces, so that no line can fill the memory.
    """
    while line := file.readline(limit):
        if len(line) < limit or line.endswith(b"\n"):
            yield line
            continue
        while (rest := file.readline(1 << 16)) and not rest.endswith(b"\n"):
            pass
        yield None


def load_json(data: bytes | str, limits: FileLimits = DEFAULT_FILE_LIMITS) -> Any:
    """Return what JSON contains.

    Raises:
        ValueError: the data is over the limits, or no valid JSON: numbers such as NaN and halves of characters are
            refused too. The message is short and says what is wrong.

    Example:
        >>> load_json('{"name": "Chez Nous"}')
        {'name': 'Chez Nous'}
        >>> load_json("[" * 100 + "]" * 100)
        Traceback (most recent call last):
            ...
        ValueError: nested deeper than 64 levels
    """
    if isinstance(data, str):
        try:
            data = data.encode()
        except UnicodeEncodeError as error:
            raise ValueError("contains half of a character") from error
    check_json_size(data, limits)
    if _count_opening(data) > limits.depth and _depth(data) > limits.depth:
        raise ValueError(f"nested deeper than {limits.depth} levels")
    try:
        return orjson.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise ValueError(shorten(str(error))) from error


def check_json_size(data: bytes, limits: FileLimits = DEFAULT_FILE_LIMITS) -> None:
    """Raise ValueError if JSON is too big, or contains too many values to be parsed within reasonable memory."""
    if len(data) > limits.bytes:
        raise ValueError(f"larger than {limits.bytes >> 20:,} MB")
    # Texts may contain commas and brackets as well, so they are removed only if it matters.
    if (
        _count_json_values(data) > limits.values
        and _count_json_values(_STRING.sub(b"", data)) > limits.values
    ):
        raise ValueError(f"more than {limits.values:,} values")


def shorten(message: str) -> str:
    """Return a message in one line and of reasonable length, whatever it quotes."""
    line = " ".join(message[: 2 * MAX_MESSAGE].split())
    return line if len(line) <= MAX_MESSAGE and len(message) <= 2 * MAX_MESSAGE else f"{line[:MAX_MESSAGE]} …"


def _count_opening(data: bytes) -> int:
    return data.count(b"[") + data.count(b"{")


def _count_json_values(data: bytes) -> int:
    """Return at least the number of values: each follows a comma, or is the first of a list or an object."""
    return data.count(b",") + _count_opening(data) + 1


def _depth(data: bytes) -> int:
    """Return how deeply JSON is nested."""
    brackets = _STRING.sub(b"", data).translate(None, _NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def check_pattern(pattern: str) -> str:
    """Return a regular expression in RE2 syntax; patterns from strangers cannot stall us.

    Raises:
        ValueError: it is none; the message says why.
    """
    try:
        re2.compile(pattern, _QUIET)
    except re2.error as error:
        [reason] = error.args
        raise ValueError(f"not an RE2 pattern: {reason.decode(errors='replace')}") from error
    return pattern
