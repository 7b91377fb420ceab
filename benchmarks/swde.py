"""The SWDE data set: where it is, its sites with their truth, and its score."""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from untemplate import Page
from untemplate.page import squeeze

VERTICALS = ("auto", "book", "nbaplayer", "restaurant")
SHARED = Path(os.environ.get("UNTEMPLATE_DATA", Path(__file__).parents[2] / "shared" / "data"))

Truth = dict[str, dict[str, list[str]]]
"""page id → attribute → true values, none when empty"""


@cache
def unpacked(name: str) -> Path:
    """The folder of an unpacked data set (`swde`, `lists`, `changes`); FileNotFoundError without the data."""
    if not (SHARED / "unpack").is_file():
        raise FileNotFoundError(f"no data at {SHARED}; set UNTEMPLATE_DATA to the folder with `unpack`")
    run = subprocess.run([SHARED / "unpack", name], check=True, capture_output=True, text=True)
    return Path(run.stdout.strip()) / name


@dataclass(frozen=True)
class Site:
    vertical: str
    name: str
    folder: Path

    def pages(self) -> list[Page]:
        return [
            Page(url=_base_href(path), html=path.read_bytes(), id=path.name)
            for path in sorted(self.folder.glob("*.htm"))
        ]

    def truth(self) -> Truth:
        truth: Truth = {}
        pattern = f"{self.vertical}-{self.name}-*.txt"
        for path in sorted((unpacked("swde") / "groundtruth" / self.vertical).glob(pattern)):
            attribute = path.stem.split("-")[-1]
            for line in path.read_text("utf-8-sig").splitlines()[2:]:
                page, _, *values = line.split("\t")
                true = [clean(value) for value in values if value != "<NULL>"]
                truth.setdefault(f"{page}.htm", {})[attribute] = true
        return truth


def sites(vertical: str) -> list[Site]:
    folders = sorted((unpacked("swde") / vertical).iterdir())
    names = (re.fullmatch(rf"{vertical}-(.+)\(\d+\)", folder.name) for folder in folders)
    return [Site(vertical, name[1], folder) for name, folder in zip(names, folders, strict=True) if name]


def clean(text: str) -> str:
    """Entities decoded, white space squeezed: how SWDE values are compared."""
    return squeeze(html.unescape(text))


@dataclass
class Score:
    hits: int = 0
    extracted: int = 0
    true: int = 0

    @property
    def precision(self) -> float:
        return self.hits / self.extracted if self.extracted else 0.0

    @property
    def recall(self) -> float:
        return self.hits / self.true if self.true else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.hits / (self.extracted + self.true) if self.hits else 0.0


def score(
    extract: Callable[[Page], dict[str, str | None]], pages: Iterable[Page], truth: Truth
) -> dict[str, Score]:
    """Page hits per attribute, attributes without any true value on these pages left out."""
    scores: dict[str, Score] = {}
    for page in pages:
        extracted = extract(page)
        for attribute, values in truth[page.id].items():
            tally = scores.setdefault(attribute, Score())
            text = extracted.get(attribute)
            tally.true += bool(values)
            tally.extracted += text is not None
            tally.hits += text is not None and clean(text) in values
    return {attribute: tally for attribute, tally in scores.items() if tally.true}


def _base_href(path: Path) -> str:
    with path.open("rb") as file:
        match = re.search(rb'<base\s+href="?([^">]*)', file.read(4096), re.IGNORECASE)
    return match[1].decode("utf-8", "replace") if match else ""
