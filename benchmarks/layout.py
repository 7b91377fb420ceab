"""How well estimated boxes agree with those that Chromium measures, on SWDE and on lists; and what each costs.

python -m benchmarks.layout                  5 pages of each of SWDE's 40 sites, the first page of each list site
python -m benchmarks.layout --pages 1 --vertical book
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import urljoin, urlsplit

import lxml.html
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.swde import VERTICALS, chosen_sites, unpacked
from untemplate import InputError, MissingExtra, Page
from untemplate.layout import Boxes, ChromiumLayout, EstimatedLayout

Floats = npt.NDArray[np.float64]
PAIRS = 20_000  # drawn at random from a page
# The widest gap in pixels that still counts as none, when one box is said to be above or left of another.
SLACK = 2.0
MEASURES = ("y order", "x order", "above", "left", "x off", "y off", "width off", "height off")


@dataclass
class Agreement:
    """How well two layouts of one page agree, over the boxes that both show; see MEASURES."""

    measures: Floats
    boxes: int


def compare(estimated: Floats, real: Floats, seed: int = 0) -> Agreement | None:
    """Rank correlations, shares of pairs with the same relation, median errors; None if there is too little."""
    both = (estimated[:, 2] > 0) & (real[:, 2] > 0)
    estimated, real = estimated[both].astype(np.float64), real[both].astype(np.float64)
    if len(real) < 10:
        return None
    first, second = np.random.default_rng(seed).integers(0, len(real), (2, PAIRS))
    agree = [
        np.mean(_before(estimated, first, second, axis) == _before(real, first, second, axis))
        for axis in (1, 0)
    ]
    off = np.abs(estimated - real)
    measures = [
        _rank_correlation(estimated[:, 1], real[:, 1]),
        _rank_correlation(estimated[:, 0], real[:, 0]),
        *agree,
        np.median(off[:, 0]) / 1280,
        np.median(off[:, 1]) / max(real[:, 1].max(), 1),
        np.median(off[:, 2] / np.maximum(real[:, 2], 1)),
        np.median(off[:, 3] / np.maximum(real[:, 3], 1)),
    ]
    return Agreement(np.array(measures), len(real))


def _before(boxes: Floats, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], axis: int) -> Floats:
    """-1 where the first box ends before the second starts, along x (0) or y (1); 1 the other way round, else 0."""
    start, end = boxes[:, axis], boxes[:, axis] + boxes[:, axis + 2]
    return (end[second] <= start[first] + SLACK) * 1.0 - (end[first] <= start[second] + SLACK)


def _rank_correlation(one: Floats, other: Floats) -> float:
    """Spearman's; ties have their mean rank."""
    ranks = [_ranks(values) for values in (one, other)]
    if min(rank.std() for rank in ranks) == 0:
        return 1.0 if max(rank.std() for rank in ranks) == 0 else 0.0
    return float(np.corrcoef(*ranks)[0, 1])


def _ranks(values: Floats) -> Floats:
    _, group, counts = np.unique(np.round(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    mean: Floats = (ends - (counts - 1) / 2)[group]
    return mean


def texts(boxes: Boxes) -> Floats:
    """The boxes of the page's texts that are shown."""
    rows = [row for row, node in enumerate(boxes.page.nodes) if node.is_text]
    shown = boxes.visible[boxes.node_elements[rows]]
    return np.where(shown[:, None], boxes.nodes[rows], 0.0)


def remembered_links(path: Path) -> dict[str, Floats]:
    """Where links stood when a list page was rendered once, with its style sheets; those with a URL of their own."""
    pattern = r'^A: left=(-?[\d.]+),top=(-?[\d.]+),right=(-?[\d.]+),bottom=(-?[\d.]+); DOM="([^"]+)"'
    found: dict[str, list[list[float]]] = {}
    for left, top, right, bottom, url in re.findall(
        pattern, path.read_text("utf-8", "replace"), re.MULTILINE
    ):
        x, y = float(left), float(top)
        found.setdefault(_same(url), []).append([x, y, float(right) - x, float(bottom) - y])
    return {url: np.array(boxes[0]) for url, boxes in found.items() if len(set(map(tuple, boxes))) == 1}


def link_boxes(boxes: Boxes, remembered: dict[str, Floats]) -> tuple[Floats, Floats]:
    """The boxes of links here, and what is remembered of the same links."""
    here: dict[str, list[Floats]] = {}
    for element in boxes.page.tree.iter("a"):
        url = _same(element.get("href", ""))
        if url in remembered:
            here.setdefault(url, []).append(np.array(boxes.element(element)))
    urls = [url for url, found in here.items() if len(found) == 1]
    empty = np.zeros((0, 4))
    return np.array([here[url][0] for url in urls] or empty), np.array(
        [remembered[url] for url in urls] or empty
    )


def _same(url: str) -> str:
    """Path and query: the pages' own addresses are not known."""
    try:
        parts = urlsplit(urljoin("http://x/", url.strip()))
    except ValueError:
        return url
    return f"{parts.path}?{parts.query}"


@dataclass
class Costs:
    """Milliseconds a page."""

    parse: float
    estimate: float
    chromium: float


def lay_out(pages: Sequence[Page]) -> tuple[list[Boxes], list[Boxes], Costs]:
    """The pages' boxes estimated and measured, and what it cost; Chromium by the clock, the rest in CPU time."""
    started = process_time()
    for page in pages:
        lxml.html.document_fromstring(page.html)
    parse = process_time() - started
    for page in pages:
        page.nodes  # noqa: B018  (others read them too, so they are not the layout's cost)
    started = process_time()
    estimated = EstimatedLayout().boxes(pages)
    estimate = process_time() - started
    clock = perf_counter()
    real = ChromiumLayout().boxes(pages)
    costs = np.array([parse, estimate, perf_counter() - clock]) * 1000 / len(pages)
    return estimated, real, Costs(*costs.tolist())


def summary(found: Sequence[Agreement | None]) -> list[str]:
    """The means of each measure over pages."""
    usable = [one.measures for one in found if one is not None]
    if not usable:
        return ["0", *("–" for _ in MEASURES)]
    return [str(len(usable)), *(f"{value:.3f}" for value in np.mean(usable, axis=0))]


def measure_swde(
    console: Console, progress: Console, verticals: Sequence[str], names: Sequence[str], count: int
) -> None:
    title = f"Texts on SWDE, {count} pages a site: the estimate against Chromium; means over pages"
    table = Table("sites", "pages", *MEASURES, title=title)
    groups: dict[str, list[Agreement | None]] = {"used to choose constants": [], "held out": []}
    by_site = Table("site", "pages", *MEASURES, title=f"By site ({HELD_OUT}: held out)")
    all_costs: list[Costs] = []
    for number, site in enumerate(
        track(chosen_sites(verticals, names), console=progress, description="SWDE")
    ):
        pages = site.pages()
        pages = pages[:: max(1, len(pages) // count)][:count]
        estimated, real, costs = lay_out(pages)
        all_costs.append(costs)
        found = [compare(texts(one), texts(other)) for one, other in zip(estimated, real, strict=True)]
        groups["held out" if number % 2 else "used to choose constants"] += found
        by_site.add_row(f"{site.vertical}-{site.name}{HELD_OUT * (number % 2)}", *summary(found))
    for name, found in groups.items():
        table.add_row(name, *summary(found))
    console.print(by_site, table)
    show_costs(console, all_costs)


HELD_OUT = "*"


def show_costs(console: Console, costs: Sequence[Costs]) -> None:
    table = Table(
        "lxml parse", "estimate", "× parse", "Chromium", title="Milliseconds a page, means over sites"
    )
    parse, estimate, chromium = (
        float(np.mean([getattr(one, name) for one in costs])) for name in ("parse", "estimate", "chromium")
    )
    table.add_row(f"{parse:.2f}", f"{estimate:.2f}", f"{estimate / parse:.2f}", f"{chromium:.0f}")
    console.print(table)


def measure_lists(console: Console, progress: Console) -> None:
    """Both layouts against boxes that were rendered with the sites' own style sheets, which neither has."""
    folders = sorted(
        path.parent for path in unpacked("lists").glob("*/1.boxes.txt") if path.stat().st_size > 1000
    )
    pages = [Page(html=(folder / "1.html").read_bytes(), id=folder.name) for folder in folders]
    estimated, real, _ = lay_out(pages)
    rows: dict[str, list[Agreement | None]] = {
        "estimate": [],
        "Chromium, no network": [],
        "estimate against Chromium": [],
    }
    for number, folder in enumerate(track(folders, console=progress, description="lists")):
        remembered = remembered_links(folder / "1.boxes.txt")
        rows["estimate"].append(compare(*link_boxes(estimated[number], remembered)))
        rows["Chromium, no network"].append(compare(*link_boxes(real[number], remembered)))
        rows["estimate against Chromium"].append(compare(texts(estimated[number]), texts(real[number])))
    table = Table(
        "boxes", "pages", *MEASURES, title="Links on list pages, against the page as its visitors saw it"
    )
    for name, found in rows.items():
        table.add_row(name, *summary(found))
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.layout", description=about)
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    parser.add_argument("--pages", type=int, default=5, help="of each SWDE site [5]")
    options = parser.parse_args(arguments)
    console, progress = Console(width=None if sys.stdout.isatty() else 140), Console(stderr=True)
    try:
        measure_swde(console, progress, options.vertical, options.sites, options.pages)
        if not options.sites:
            measure_lists(console, progress)
    except (FileNotFoundError, InputError, MissingExtra) as error:
        console.print(f"skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
