"""The SWDE data set: where it is, its sites with their truth, and its score."""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from untemplate import Attribute, Label, Page, Schema, sample
from untemplate.page import squeeze

VERTICALS = ("auto", "book", "nbaplayer", "restaurant")
SHARED = Path(os.environ.get("UNTEMPLATE_DATA", Path(__file__).parents[3] / "shared" / "data"))

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
    """A site of a vertical; `every`: of so many pages one, for a quick look."""

    vertical: str
    name: str
    folder: Path
    every: int = 1

    def files(self) -> list[Path]:
        return sorted(self.folder.glob("*.htm"))[:: self.every]

    def pages(self) -> list[Page]:
        return [Page(url=_base_href(path), html=path.read_bytes(), id=path.name) for path in self.files()]

    def truth_files(self) -> list[Path]:
        folder = unpacked("swde") / "groundtruth" / self.vertical
        return sorted(folder.glob(f"{self.vertical}-{self.name}-*.txt"))

    def truth(self) -> Truth:
        truth: Truth = {}
        for path in self.truth_files():
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


def chosen_sites(verticals: Sequence[str], names: Sequence[str], every: int = 1) -> list[Site]:
    """The sites of these verticals, or those of them with these names."""
    found = [site for vertical in verticals for site in sites(vertical)]
    return [replace(site, every=every) for site in found if not names or site.name in names]


def schema_of(vertical: str) -> Schema:
    """The ready-made schema of a vertical; of players there is none, so plain texts."""
    if vertical != "nbaplayer":
        return Schema.load(vertical)
    names = ("name", "team", "height", "weight")
    return Schema(vertical, {name: Attribute(name, mandatory=name == "name") for name in names})


@cache
def labeling_order(site: Site) -> tuple[str, ...]:
    """The ids of a site's pages as a person labels them: those with most of its attributes first, as sampled.

    On nearly every site some pages show all attributes; pages that sampling leaves out follow in their own order.
    """
    pages, truth = site.pages(), site.truth()
    sampled = [page.id for page in sample(pages, len(pages))]
    order = dict.fromkeys([*sampled, *(page.id for page in pages)])
    return tuple(sorted(order, key=lambda page: -sum(map(bool, truth[page].values()))))


def labels_of(pages: Iterable[str], truth: Truth) -> list[Label]:
    """The true values of these pages as a person would give them; null where a page lacks what others have."""
    on_site = {name for values in truth.values() for name, found in values.items() if found}
    labels: list[Label] = []
    for page in pages:
        for name in sorted(on_site & truth[page].keys()):
            labels += [Label(page, name, value) for value in truth[page][name]] or [Label(page, name, None)]
    return labels


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
