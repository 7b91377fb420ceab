"""How useful the rows of list pages are: addresses, names of columns, and the same columns on all pages of a site.

python -m benchmarks.measure.row_columns             all four figures
python -m benchmarks.measure.row_columns --errors    with every error
python -m benchmarks.measure.row_columns --only shops    the addresses of products
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from urllib.parse import unquote, urljoin, urlsplit

from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.courts import court_pages
from benchmarks.data.list_pages import Sheet
from benchmarks.data.swde import unpacked
from benchmarks.measure.kinds import lesson
from benchmarks.measure.lists import sheets
from untemplate import Page, Row, Rows, SiteColumns, find_records
from untemplate.lists.cells import shipped_seam_weights
from untemplate.lists.group_scores import shipped_group_weights
from untemplate.lists.list_headers import to_name
from untemplate.page import squeeze
from untemplate.page.locating import letters_and_digits

# The class that WooCommerce gives to the image of a product; untemplate knows no such class.
PRODUCT_IMAGE = re.compile(r"wp-post-image|woocommerce_thumbnail|woocommerce-placeholder")
_CAPTION = re.compile(r"[^\W\d_][^:]{1,28}:$")


@dataclass
class Share:
    """How many of some cases are right, and which are not."""

    right: int = 0
    total: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, is_right: bool, error: str) -> None:
        self.total += 1
        self.right += is_right
        if not is_right:
            self.errors.append(error)

    def __str__(self) -> str:
        return f"{self.right / max(self.total, 1):.3f} ({self.right:,} of {self.total:,})"


@dataclass(frozen=True)
class LinkedRecord:
    """What is true of a record: a text that only it has, its letters and digits, and the address of its page."""

    text: str
    url: str

    @property
    def key(self) -> str:
        return letters_and_digits(self.text)


def shop_lists() -> Iterator[tuple[str, Page, list[LinkedRecord]]]:
    """The pages of shops that list products, with the titles and addresses of the products."""
    for folder in sorted(path for path in unpacked("shops").iterdir() if path.is_dir()):
        for file, facts in json.loads((folder / "truth.json").read_text("utf-8")).items():
            if rows := facts.get("rows"):
                url = f"https://{folder.name}.example/{facts['path']}"
                page = Page(url, (folder / file).read_bytes(), id=f"{folder.name}/{file}")
                records = [LinkedRecord(row["title"], urljoin(url, row["url"])) for row in rows]
                yield folder.name, page, records


def court_lists() -> Iterator[tuple[str, Page, list[LinkedRecord]]]:
    """The pages of courts, with the dockets or names and the addresses of opinions."""
    for court in court_pages():
        records = [
            LinkedRecord(opinion.get(court.key, ""), opinion["url"])
            for opinion in court.opinions
            if opinion.get("url")
        ]
        yield court.family, court.page, [record for record in records if record.key]


def matched(rows: Rows, records: Sequence[LinkedRecord]) -> Iterator[tuple[Row, LinkedRecord]]:
    """Each row that holds the key of exactly one record, with that record.

    An address that several records share is not that of a record: of one shop, the truth is that of the category.
    """
    shared = Counter(record.url for record in {*records})
    own = [record for record in records if shared[record.url] == 1]
    for row in rows:
        text = letters_and_digits(row.text)
        inside = [record for record in own if record.key in text]
        if len({record.key for record in inside}) == 1 and len({record.url for record in inside}) == 1:
            yield row, inside[0]


def same_address(found: str | None, true: str) -> bool:
    """Whether two addresses are the same, but for the host, which pages without an address do not know."""

    def end(url: str) -> tuple[str, str]:
        parts = urlsplit(unquote(url))
        return parts.path.strip("/").lower(), parts.query.lower()

    return found is not None and end(found) == end(true)


def measure_links(read: Callable[[], Iterator[tuple[str, Page, list[LinkedRecord]]]]) -> tuple[Share, Share]:
    """The record's own link where the true one is among its links; and the image of products."""
    links, images = Share(), Share()
    for _, page, records in read():
        rows = find_records(page)
        for row, record in matched(rows, records):
            if any(same_address(link, record.url) for link in row.links):
                links.add(same_address(row.url, record.url), f"{page.id}: {row.url} for {record.url}")
            if addresses := product_image(page, row):
                images.add(row.image in addresses, f"{page.id}: {row.image} for {sorted(addresses)[:2]}")
        page.release()
    return links, images


def product_image(page: Page, row: Row) -> set[str]:
    """The addresses that the first image of a product may have, by the classes of WooCommerce; none without one."""
    [element] = page.tree.xpath(row.xpath)
    for image in element.iter("img"):
        if PRODUCT_IMAGE.search(image.get("class", "")):
            sets = chain.from_iterable(value.split(",") for value in image.attrib.values())
            words = (part.split()[0] for part in sets if part.strip())
            return {urljoin(page.url, word) for word in words if not word.startswith("data:")}
    return set()


# Names of columns that have a header or a caption


def header_texts(row: etree._Element) -> list[tuple[str, str]]:
    """The header and the text of each cell of a table row; none without a row of `th` cells as wide as it."""
    table = next(row.iterancestors("table"), None)
    headers = [] if table is None else [tr for tr in table.iter("tr") if tr is not row and _are_headers(tr)]
    widths = [tr for tr in headers if len(tr) == len(row)]
    if row.tag != "tr" or not widths or any(cell.get("colspan", "1") != "1" for cell in (*widths[-1], *row)):
        return []
    pairs = zip(map(_text, widths[-1]), map(_text, row), strict=True)
    return [(header, text) for header, text in pairs if to_name(header) and text]


def _text(element: etree._Element) -> str:
    return squeeze(" ".join(element.itertext()))


def _are_headers(row: etree._Element) -> bool:
    return len(row) > 1 and all(cell.tag == "th" for cell in row)


def caption_texts(row: etree._Element) -> list[tuple[str, str]]:
    """The captions of a record, each with the text that follows it: texts of their own that end with a colon.

    A caption right before an element without text, such as stars, has no text of its own.
    """
    texts = [(text, node) for node in row.xpath(".//text()") if (text := squeeze(str(node)))]
    pairs = pairwise(texts)
    return [
        (text, following)
        for (text, node), (following, _) in pairs
        if _CAPTION.match(text) and not _CAPTION.match(following) and not _is_before_icons(node)
    ]


def _is_before_icons(node: etree._ElementUnicodeResult) -> bool:
    """Whether the element after a caption has elements inside, but no text."""
    parent = node.getparent()
    is_first = node.is_text and len(parent) > 0
    following = parent[0] if is_first else parent.getnext()
    return following is not None and len(following) > 0 and not _text(following)


def measure_names(pages: Iterator[Page]) -> tuple[Share, Share]:
    """Columns with a header, and columns with a caption, that have its name and its texts."""
    headers, captions = Share(), Share()
    for page in pages:
        rows = find_records(page)
        elements = [page.tree.xpath(row.xpath)[0] for row in rows]
        for share, read in ((headers, header_texts), (captions, caption_texts)):
            said: dict[str, list[tuple[Row, str]]] = defaultdict(list)
            for row, element in zip(rows, elements, strict=True):
                for caption, text in dict(read(element)).items():
                    said[caption].append((row, text))
            for caption, cells in said.items():
                if len(cells) * 2 >= len(rows) and len(cells) > 1:
                    hits = sum(_is_named(row, caption, text) for row, text in cells)
                    share.add(hits * 2 > len(cells), f"{page.id}: {caption!r} not in {rows.columns}")
        page.release()
    return headers, captions


def _is_named(row: Row, caption: str, text: str) -> bool:
    """Whether a column with this name has this text, or a part of it."""
    letters = letters_and_digits(text)
    for name, value in row.values.items():
        if re.fullmatch(rf"{re.escape(to_name(caption))}(_\d+)?", name) and value:
            own = letters_and_digits(value)
            if own and (own in letters or letters in own):
                return True
    return False


# The same columns on all pages of a site


def _is_among(text: str | None, titles: set[str]) -> bool:
    return text is not None and letters_and_digits(text) in titles


@dataclass(frozen=True)
class _TitledPage:
    """A page of a site and its titles.

    Attributes:
        page: the page.
        titles: those that its true cells say.
        first: the first link or heading among the true texts of each record.
        is_prominent: whether most titles are links or headings.
    """

    page: Page
    titles: set[str]
    first: set[str]
    is_prominent: bool


def _titled_page(sheet: Sheet) -> _TitledPage:
    page = lesson(sheet, shipped_group_weights(), shipped_seam_weights())
    scene = page.scene
    titles = [leaf for leaf, kind in page.values.items() if kind == "title"]
    first: list[int] = []
    for record in page.records:
        inside = sorted(page.values.keys() & {*range(record, int(scene.vision.end[record]))})
        first += [leaf for leaf in inside if scene.texts[leaf] and any(scene.link_and_heading(leaf))][:1]
    is_prominent = sum(any(scene.link_and_heading(leaf)) for leaf in titles) * 2 > len(titles)

    def texts(leaves: Iterable[int]) -> set[str]:
        return {letters_and_digits(scene.texts[leaf]) for leaf in leaves} - {""}

    return _TitledPage(sheet.page, texts(titles), texts(first), is_prominent)


def measure_sites() -> tuple[Share, Share]:
    """Sites of `lists` whose titles are in one column on all pages: by its name, and by its number.

    Where the titles of a page of a site are links or headings, plain texts on another of its pages are no titles:
    the first link or heading of each record is.
    """
    by_name, by_number = Share(), Share()
    pages: dict[str, list[_TitledPage]] = defaultdict(list)
    for sheet in track(sheets(), console=Console(stderr=True), description="Columns of sites"):
        pages[sheet.site].append(_titled_page(sheet))
    for site, own in pages.items():
        columns = SiteColumns()
        has_prominent = any(page.is_prominent for page in own)
        names: list[str | None] = []
        numbers: list[int] = []
        for page in own:
            titles = page.first if has_prominent and not page.is_prominent else page.titles
            named, placed = Counter[str](), Counter[int]()
            for row in find_records(page.page, columns=columns):
                named.update(name for name, text in row.values.items() if _is_among(text, titles))
                placed.update(number for number, text in enumerate(row.cells) if _is_among(text, titles))
            if placed:
                names.append(named.most_common(1)[0][0] if named else None)
                numbers.append(placed.most_common(1)[0][0])
        if names:
            by_name.add(len({*names}) == 1 and None not in names, f"{site}: {names}")
            by_number.add(len({*numbers}) == 1, f"{site}: {numbers}")
    return by_name, by_number


def list_pages() -> Iterator[Page]:
    """All pages of `lists`, `courts` and `shops` that list records."""
    yield from (sheet.page for sheet in sheets())
    for _, page, _ in chain(court_lists(), shop_lists()):
        yield page


def _shop_shares() -> dict[str, Share]:
    links, images = measure_links(shop_lists)
    return {"shops: the record's own link": links, "shops: its image": images}


def _court_shares() -> dict[str, Share]:
    return {"courts: the record's own link": measure_links(court_lists)[0]}


def _name_shares() -> dict[str, Share]:
    headers, captions = measure_names(list_pages())
    return {"columns with a header, named by it": headers, "columns with a caption, named by it": captions}


def _site_shares() -> dict[str, Share]:
    names, numbers = measure_sites()
    return {"sites whose titles have one name": names, "sites whose titles have one number": numbers}


MEASURES: dict[str, Callable[[], dict[str, Share]]] = {
    "shops": _shop_shares,
    "courts": _court_shares,
    "names": _name_shares,
    "sites": _site_shares,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--errors", action="store_true", help="print every error")
    parser.add_argument("--only", choices=MEASURES, help="one of the figures")
    options = parser.parse_args()
    shares: dict[str, Share] = {}
    for name, measure in MEASURES.items():
        if options.only in (None, name):
            shares |= measure()
    console, table = Console(width=160), Table("figure", "share")
    for name, share in shares.items():
        table.add_row(name, str(share))
        if options.errors:
            for error in share.errors:
                console.print(f"{name}: {error}", markup=False)
    console.print(table)


if __name__ == "__main__":
    main()
