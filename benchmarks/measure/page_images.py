"""Images of today's recipe pages: how often their data name the true one, and what rules without labels extract.

python -m benchmarks.measure.page_images             all sites
python -m benchmarks.measure.page_images --sites 30  some of them, at equal distances

The rules are learned from the embedded data of a site's pages, with the schema `recipe`. An address is right if it is
the true one without its query. The truth is what maintainers of scrapers expect; most of it was read from such data.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote, urljoin, urlsplit

from rich.console import Console
from rich.progress import track

from benchmarks.data.labeled_site import choose_half
from benchmarks.data.recipes import page_url, site_names
from benchmarks.data.swde import unpacked
from untemplate import LabelError, Page, Schema, learn
from untemplate.labeling.embedded import find_data_path
from untemplate.lists.addresses import image_address
from untemplate.page.embedded_data import META, TYPED_SOURCES

SCHEMA = Schema.load("recipe")
IMAGE = SCHEMA.attributes["image"]
IMAGE_TAGS = ("img", "source", "amp-img")
TYPED, TAGS, EITHER, SHOWN = "JSON-LD, microdata or RDFa", "meta tags", "either", "img"
"""Parts of a page that may name its image."""


def read_site(name: str) -> dict[str, tuple[Page, str]]:
    """Return the pages of a site by id, each with the address of its true image."""
    pages: dict[str, tuple[Page, str]] = {}
    for path in sorted((unpacked("recipes") / name).glob("*.html")):
        expected = json.loads(path.with_suffix(".json").read_text("utf-8"))
        page = Page(url=page_url(name, path, expected), html=path.read_bytes(), id=path.name)
        pages[page.id] = page, expected["image"]
    return pages


def without_query(address: str, page: Page) -> str:
    """Return an address of a page without its scheme, query and encoding."""
    parts = urlsplit(urljoin(page.url, address.strip()))
    return unquote(parts.netloc.removeprefix("www.") + parts.path).lower()


def named_images(page: Page, sources: Iterable[str]) -> Iterator[str]:
    """Yield what the embedded data of some sources name as an image."""
    for source in sources:
        for data_object in page.embedded.objects(source):
            if path := find_data_path(source, data_object, IMAGE):
                yield from page.embedded.read(path)


def count_named(page: Page, true: str) -> Iterator[str]:
    """Yield which parts of a page name its true image."""
    wanted = without_query(true, page)
    typed, meta = (
        {without_query(address, page) for address in named_images(page, sources)}
        for sources in (TYPED_SOURCES, (META,))
    )
    shown = {without_query(image_address(element), page) for element in page.tree.iter(*IMAGE_TAGS)}
    parts = {TYPED: typed, TAGS: meta, EITHER: typed | meta, SHOWN: shown}
    return (name for name, addresses in parts.items() if wanted in addresses)


def count_extracted(pages: dict[str, tuple[Page, str]]) -> Iterator[str]:
    """Yield for each page whether its image is "right", "wrong" or "nothing" by rules learned without labels."""
    try:
        rules = learn([page for page, _ in pages.values()], schema=SCHEMA)
    except LabelError:
        yield from ["nothing"] * len(pages)
        return
    for page, true in pages.values():
        found = rules.extract_one(page)["image"]
        if found is None:
            yield "nothing"
        else:
            yield "right" if without_query(found, page) == without_query(true, page) else "wrong"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.page_images", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", type=int, metavar="N", help="only so many sites, at equal distances")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        names = choose_half(site_names(), "all", options.sites)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    total = 0
    named: Counter[str] = Counter()
    extracted: Counter[str] = Counter()
    for name in track(names, "sites", console=Console(stderr=True), transient=True):
        pages = read_site(name)
        total += len(pages)
        for page, true in pages.values():
            named.update(count_named(page, true))
        extracted.update(count_extracted(pages))
        for page, _ in pages.values():
            page.release()
    console.print(f"{total} pages of {len(names)} sites")
    for part in (TYPED, TAGS, EITHER, SHOWN):
        console.print(f"true image named by {part}: {named[part] / total:.1%}")
    for verdict in ("right", "wrong", "nothing"):
        console.print(f"extracted without labels, {verdict}: {extracted[verdict] / total:.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
