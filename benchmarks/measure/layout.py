"""How well estimated boxes agree with those that Chromium measures, on SWDE and on lists; and what each costs.

python -m benchmarks.measure.layout             5 pages of each of SWDE's 40 sites, the first page of each list site
python -m benchmarks.measure.layout --pages 1 --vertical book
python -m benchmarks.measure.layout --choose         how the constants were chosen, on every second site
python -m benchmarks.measure.layout --worth          what each is worth to labels of sites nobody labeled
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from urllib.parse import urljoin, urlsplit

import lxml.html
import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import VERTICALS, Site, chosen_sites, schema_of, unpacked
from benchmarks.train.rankers import chosen_f1, held_out, real, trials
from untemplate import InputError, MissingExtra, Page
from untemplate.layout import VIEWPORT, Boxes, ChromiumLayout, EstimatedLayout, Layout

Floats = npt.NDArray[np.float64]
PAIRS = 20_000  # drawn at random from a page
# The widest gap in pixels that still counts as none, when one box is said to be above or left of another.
SLACK = 2.0
HELD_OUT = "*"
# Of the pages of a site one of so many is labeled, for what a layout is worth.
WORTH_EVERY = 4
MEASURES = ("y order", "x order", "above", "left", "x off", "y off", "width off", "height off")


def compare(estimated: Floats, real: Floats, seed: int = 0) -> Floats | None:
    """How well two layouts of one page agree over the boxes that both show: MEASURES; None if these are too few.

    Rank correlations of top and left edges; shares of pairs of boxes that stand alike, one above or left of the other
    or neither; median errors, x and y as shares of the window's width and the page's height, sizes relative.
    """
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
        np.median(off[:, 0]) / VIEWPORT,
        np.median(off[:, 1]) / max(real[:, 1].max(), 1),
        np.median(off[:, 2] / np.maximum(real[:, 2], 1)),
        np.median(off[:, 3] / np.maximum(real[:, 3], 1)),
    ]
    return np.array(measures)


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


def estimate(site: Site, pages: Sequence[Page]) -> tuple[list[Boxes], Floats]:
    """The estimated boxes of a site's pages; CPU seconds a page of lxml's parse, of Page.nodes, of the estimate."""
    for page in pages:
        page.release()
    seconds = [process_time()]
    for page in pages:
        lxml.html.document_fromstring(page.html)
    seconds.append(process_time())
    for page in pages:
        assert page.nodes, f"{site.name}/{page.id} is blank"
    seconds.append(process_time())
    boxes = EstimatedLayout().boxes(pages)
    seconds.append(process_time())
    return boxes, np.diff(seconds) / len(pages)


def summary(found: Sequence[Floats | None]) -> list[str]:
    """The number of pages that could be compared, and the mean of each measure over them."""
    usable = [measures for measures in found if measures is not None]
    if not usable:
        return ["0", *("–" for _ in MEASURES)]
    return [str(len(usable)), *(f"{value:.3f}" for value in np.mean(usable, axis=0))]


def measure_swde(console: Console, progress: Console, sites: Sequence[Site], count: int) -> None:
    by_site = Table("site", "pages", *MEASURES, title=f"By site; {HELD_OUT}: held out")
    groups: dict[str, list[Floats | None]] = {"constants chosen on": [], "held out": []}
    pages = {site: _spread(site.pages(), count) for site in sites}
    everything = [page for some in pages.values() for page in some]
    started = perf_counter()
    measured = iter(ChromiumLayout().boxes(everything))
    chromium = (perf_counter() - started) / len(everything)
    seconds: list[Floats] = []
    for number, site in enumerate(track(sites, console=progress, description="SWDE")):
        estimated, spent = estimate(site, pages[site])
        seconds.append(spent)
        found = [compare(texts(boxes), texts(next(measured))) for boxes in estimated]
        groups["held out" if number % 2 else "constants chosen on"] += found
        by_site.add_row(f"{site.vertical}-{site.name}{HELD_OUT * (number % 2)}", *summary(found))
    table = Table(
        "sites", "pages", *MEASURES, title="Texts on SWDE, the estimate against Chromium; means over pages"
    )
    for name, found in groups.items():
        table.add_row(name, *summary(found))
    console.print(by_site, table)
    show_costs(console, np.array(seconds) * 1000, chromium * 1000)


def _spread(pages: list[Page], count: int) -> list[Page]:
    return pages[:: max(1, len(pages) // count)][:count]


def show_costs(console: Console, milliseconds: Floats, chromium: float) -> None:
    title = "Milliseconds a page: CPU time, over sites; Chromium by the clock, over pages, start included"
    table = Table("", "lxml parse", "Page.nodes", "estimate", "estimate / parse", "Chromium", title=title)
    for name, over in (("mean", np.mean), ("median", np.median)):
        parse, nodes, spent = over(milliseconds, axis=0)
        ratio = over(milliseconds[:, 2] / milliseconds[:, 0])
        cells = (f"{parse:.2f}", f"{nodes:.2f}", f"{spent:.2f}", f"{ratio:.2f}")
        table.add_row(name, *cells, f"{chromium:.0f}" if name == "mean" else "")
    console.print(table)


def measure_lists(console: Console, progress: Console) -> None:
    """Both layouts against boxes that were rendered with the sites' own style sheets, which neither has."""
    folders = sorted(
        path.parent for path in unpacked("lists").glob("*/1.boxes.txt") if path.stat().st_size > 1000
    )
    pages = [Page(html=(folder / "1.html").read_bytes(), id=folder.name) for folder in folders]
    estimated, real = EstimatedLayout().boxes(pages), ChromiumLayout().boxes(pages)
    names = (
        "estimate against Chromium, texts",
        "estimate against the visitor's, links",
        "Chromium against the visitor's, links",
    )
    rows: dict[str, list[Floats | None]] = {name: [] for name in names}
    for number, folder in enumerate(track(folders, console=progress, description="lists")):
        remembered = remembered_links(folder / "1.boxes.txt")
        rows[names[0]].append(compare(texts(estimated[number]), texts(real[number])))
        rows[names[1]].append(compare(*link_boxes(estimated[number], remembered)))
        rows[names[2]].append(compare(*link_boxes(real[number], remembered)))
    table = Table(
        "boxes",
        "pages",
        *MEASURES,
        title="List pages; the visitor's browser had the style sheets, ours have not",
    )
    for name, found in rows.items():
        table.add_row(name, *summary(found))
    console.print(table)


def choose(console: Console, progress: Console, sites: Sequence[Site], count: int) -> None:
    """Print what letters and images measure: the constants LETTER and IMAGE."""
    letters: list[float] = []
    images: list[tuple[float, float]] = []
    for site in track(sites[::2], console=progress, description="sites"):
        pages = _spread(site.pages(), count)
        widths = [width for boxes in ChromiumLayout().boxes(pages) for width in _letter_widths(boxes)]
        letters.append(float(np.median(widths)))
        sizes = [size for page in pages for size in _image_sizes(page)]
        if len(sizes) > 5:
            images.append(tuple(np.median(sizes, axis=0)))
    console.print(
        f"Width of a letter in font sizes, median of {len(letters)} sites: {np.median(letters):.3f}"
    )
    console.print(f"Images whose size is given, median of {len(images)} sites:", np.median(images, axis=0))


def _letter_widths(boxes: Boxes) -> list[float]:
    """Return the average width of the letters of each text on one line, in font sizes."""
    widths = []
    for row, node in enumerate(boxes.page.nodes):
        size = float(boxes.font_size[boxes.node_elements[row]])
        _, _, width, height = boxes.nodes[row].tolist()
        if node.is_text and width > 20 and height < 1.5 * size:
            widths.append(width / size / len(node.text))
    return widths


def _image_sizes(page: Page) -> list[list[int]]:
    """Return the sizes of a page's images that attributes give."""
    sides = [[element.get("width", ""), element.get("height", "")] for element in page.tree.iter("img")]
    return [[int(side) for side in size] for size in sides if all(side.isdecimal() for side in size)]


class Nowhere:
    """A layout that knows nothing."""

    def boxes(self, pages: Sequence[Page]) -> list[Boxes]:
        return [Boxes.blank(page, "not laid out") for page in pages]


LAYOUTS: dict[str, Callable[[], Layout]] = {
    "none": Nowhere,
    "estimated": EstimatedLayout,
    "Chromium": ChromiumLayout,
}


def measure_worth(console: Console, progress: Console, verticals: Sequence[str]) -> None:
    """How good the fields are that seed labeling chooses, with rankers that saw other verticals only."""
    table = Table("layout", *verticals, title="F1 of chosen fields, as a share of the best fields'")
    for name, layout in LAYOUTS.items():
        cells = []
        for vertical in verticals:
            sites = track(chosen_sites([vertical], (), WORTH_EVERY), f"{name}, {vertical}", console=progress)
            places = [real(site, layout()) for site in sites]
            rankers = held_out(vertical)
            found = [chosen_f1(one, rankers) for one in trials(vertical, schema_of(vertical), places)]
            cells.append(f"{np.mean(found):.3f}")
        table.add_row(name, *cells)
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure.layout", description=about)
    parser.add_argument("--vertical", nargs="+", choices=VERTICALS, default=VERTICALS, help="only these")
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as zagat")
    parser.add_argument("--pages", type=int, default=5, help="of each SWDE site [5]")
    parser.add_argument("--choose", action="store_true", help="how the constants were chosen")
    parser.add_argument("--worth", action="store_true", help="what each layout is worth to seed labels")
    options = parser.parse_args(arguments)
    console, progress = Console(width=None if sys.stdout.isatty() else 140), Console(stderr=True)
    try:
        sites = chosen_sites(options.vertical, options.sites)
        if options.choose:
            choose(console, progress, sites, options.pages)
            return 0
        if options.worth:
            measure_worth(console, progress, options.vertical)
            return 0
        measure_swde(console, progress, sites, options.pages)
        if not options.sites:
            measure_lists(console, progress)
    except (FileNotFoundError, InputError, MissingExtra) as error:
        console.print(f"skipped: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
