"""What a method of labeling consists of: the `Model` protocol, and the files that a model is stored in.

A method learns a vertical from labeled sites. To add one, write a class that follows `Model` and register it in
`untemplate.labeling.knowledge.METHODS`; then `untemplate train`, `label` and `learn` offer it. A model stores itself
as JSON and NumPy arrays, never as a pickle: knowledge may come from somebody else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar, runtime_checkable
from zipfile import BadZipFile
from zlib import error as BrokenZip

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from untemplate.atomic_file import complete_file
from untemplate.errors import KnowledgeError, why
from untemplate.input_files import FileLimits, load_json, read_limited
from untemplate.labeling.label import Finding, Label
from untemplate.page import Page
from untemplate.schema import Schema

__all__ = [
    "Arrays",
    "CheckedArrays",
    "LabeledSite",
    "Model",
    "StrictFile",
    "VotingModel",
    "read_json",
    "read_model",
    "write_json",
    "write_model",
]

# Big models have a few hundred thousand numbers in JSON; the rest is in arrays.
_JSON_LIMITS = FileLimits(bytes=256 << 20, values=10_000_000)
# Bytes of all arrays of a model, unpacked.
_MAX_ARRAY_BYTES = 1 << 30

LabeledSite = tuple[Sequence[Page], Sequence[Label]]
"""Pages of a site and their labels."""

Arrays = dict[str, npt.NDArray[Any]]


class Model(Protocol):
    """What a method learned about a vertical. All methods are trained, applied, saved and loaded the same way."""

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute; attributes that no site taught may be missing."""
        ...

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template of a site that nobody labeled."""
        ...

    def save(self, folder: Path) -> None:
        """Write the model's files into an existing folder."""
        ...

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> Self:
        """Learn from labeled sites and, if the method can, from other sites of the vertical without labels.

        Raises:
            LabelError: The labels do not teach any attribute.
        """
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote.

        Raises:
            ValueError, KnowledgeError: The files are missing or broken.
        """
        ...


@runtime_checkable
class VotingModel(Protocol):
    """A model whose sites can teach each other while they are labeled: `untemplate label SITES --together`."""

    def teach_together(self, sites: Sequence[Sequence[Page]], schema: Schema) -> Sequence[Model]:
        """Return a model for each of several sites that nobody labeled: this one, and what the other sites taught.

        What is surely found on a site teaches the others, never itself: mistakes would confirm themselves.
        """
        ...


class StrictFile(BaseModel):
    """Base of everything that is read from a JSON file of knowledge: unknown fields and NaN are errors."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


File = TypeVar("File", bound=StrictFile)


class CheckedArrays:
    """The arrays of a model file. The file is untrusted, so each array is checked when it is read."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def get(self, name: str, kind: type[np.generic], shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
        """Return an array of this type and shape; None in the shape allows any size.

        Raises:
            ValueError: The array is missing, has another type or shape, or contains infinity or NaN.
        """
        array = self._arrays.get(name)
        if array is None:
            raise ValueError(f"array {name!r} is missing")
        if array.dtype != np.dtype(kind) or not _fits(array.shape, shape):
            raise ValueError(f"array {name!r} has the wrong type or shape")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ValueError(f"array {name!r} contains infinity or NaN")
        return array


def _fits(sizes: tuple[int, ...], wanted: tuple[int | None, ...]) -> bool:
    if len(sizes) != len(wanted):
        return False
    return all(want in (None, size) for size, want in zip(sizes, wanted, strict=True))


def write_model(folder: Path, name: str, content: Mapping[str, Any], arrays: Arrays) -> None:
    """Write `name.npz` and `name.json`. Each file appears when it is complete."""
    with complete_file(folder / f"{name}.npz") as path, path.open("wb") as out:
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    write_json(folder / f"{name}.json", content)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file that a person can read; it appears when it is complete."""
    with complete_file(path) as part:
        part.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_model(folder: Path, name: str, file: type[File]) -> tuple[File, CheckedArrays]:
    """Read `name.json`, checked, and `name.npz`.

    Raises:
        KnowledgeError: A file cannot be read.
        ValidationError: The JSON has an unexpected content. It is a ValueError.
    """
    content = read_json(folder, f"{name}.json")
    try:
        with (folder / f"{name}.npz").open("rb") as raw, np.load(raw, allow_pickle=False) as stored:
            if sum(member.file_size for member in stored.zip.infolist()) > _MAX_ARRAY_BYTES:
                raise ValueError(f"{name}.npz unpacks to more than {_MAX_ARRAY_BYTES >> 30} GB")
            arrays = {key: stored[key] for key in stored.files}
    except (OSError, ValueError, BadZipFile, BrokenZip, EOFError) as error:
        raise KnowledgeError(f"{folder}: cannot read the knowledge: {why(error)}") from error
    return file.model_validate(content), CheckedArrays(arrays)


def read_json(folder: Path, name: str) -> Any:
    """Return the content of a JSON file of a folder of knowledge.

    Raises:
        KnowledgeError: The file cannot be read.
    """
    try:
        return load_json(read_limited(folder / name, _JSON_LIMITS), _JSON_LIMITS)
    except (OSError, ValueError) as error:
        raise KnowledgeError(f"{folder}: cannot read the knowledge: {why(error)}") from error
