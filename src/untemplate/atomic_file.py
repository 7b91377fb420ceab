"""Files that appear only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from untemplate.errors import InputError, why

__all__ = ["complete_file"]


@contextmanager
def complete_file(path: str | Path) -> Iterator[Path]:
    """Provide a temporary path to write to, which becomes `path` when the block ends without error.

    A crash or an error leaves an older file of that name as it was. Devices and pipes are written directly.

    Raises:
        InputError: the path is a folder, or the file cannot be created.
    """
    target = Path(path).resolve()
    if target.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file")
    if target.exists() and not target.is_file():
        yield target  # a device or a pipe cannot be replaced
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise InputError(f"{path}: cannot write: {why(error)}") from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
