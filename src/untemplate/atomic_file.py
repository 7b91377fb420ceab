"""Files that appear only when they are complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from untemplate.errors import InputError

__all__ = ["complete_file"]


@contextmanager
def complete_file(path: str | Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends without error and vanishes otherwise."""
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        if target.is_dir():
            raise InputError(f"{path}: is a folder; give the name of a file")
        yield target  # a device or a pipe cannot be replaced
        return
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.touch()
    except OSError as error:
        raise InputError(f"{path}: cannot write: {error.strerror}") from error
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
