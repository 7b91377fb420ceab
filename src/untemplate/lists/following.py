"""Follow lists on the web: from page to page of a list, and from its rows to their own pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from urllib.parse import urldefrag, urlsplit

from untemplate.errors import InputError, PageError
from untemplate.layout import Layout
from untemplate.lists.column_names import SiteColumns
from untemplate.lists.hcrf import Hcrf
from untemplate.lists.list_page import find_records
from untemplate.lists.rows import Rows
from untemplate.page import Page
from untemplate.sources import Skipped
from untemplate.sources.page_store import PageStore

__all__ = ["find_site_records", "follow_lists", "follow_rows"]

_PageAndRows = tuple[Page, Rows]


def find_site_records(
    pages: Iterable[Page],
    all_lists: bool = False,
    model: Hcrf | None = None,
    layout: Layout | None = None,
) -> Iterator[_PageAndRows]:
    """Find the records of many list pages, with the same columns on all pages of a site.

    Args:
        pages: list pages of one or more sites. Pages without a URL count as one site.
        all_lists: as for `find_records`.
        model: as for `find_records`.
        layout: as for `find_records`.

    Yields:
        Each page with its rows.

    Example:
        >>> import untemplate as ut
        >>> item = "<li><b>{}</b> <i>{}</i><p>a tea from {} for the early morning</p></li>"
        >>> teas = [("Assam", "$4", "India"), ("Sencha", "$5", "Japan"), ("Keemun", "$6", "China")]
        >>> html = "<ul>" + "".join(item.format(*tea) for tea in teas) + "</ul>"
        >>> [(page, rows)] = ut.find_site_records([ut.Page("http://tea.example/1", html)])
        >>> rows[0].values["price"]
        '$4'
    """
    sites: dict[str, SiteColumns] = {}
    for page in pages:
        columns = sites.setdefault(_host_of(page.url), SiteColumns())
        yield page, find_records(page, all_lists, layout, model, columns)


def follow_lists(
    urls: Iterable[str],
    pages: int = 1,
    *,
    store: PageStore | None = None,
    skipped: Skipped | None = None,
    all_lists: bool = False,
    model: Hcrf | None = None,
) -> Iterator[_PageAndRows]:
    """Fetch list pages, find their records, and go on along the links to the next pages.

    A list ends where no link leads on, where the link leaves the host or leads back, and where a page has no rows or
    only those of the page before it. Fetching is polite: robots.txt, a pause between two requests, no private
    addresses.

    Args:
        urls: the addresses of the first pages.
        pages: how many pages of each list to read at most.
        store: fetches the pages, and keeps them if it has a file; a new run with the same file goes on from there.
        skipped: counts pages that could not be fetched, with the reasons.
        all_lists: as for `find_records`.
        model: as for `find_records`.

    Yields:
        Each page with its rows. All pages of a host have the same columns.

    Example:
        >>> import untemplate as ut
        >>> for page, rows in ut.follow_lists(["https://books.example/new"], pages=5):  # doctest: +SKIP
        ...     print(page.url, [row.url for row in rows])
    """
    fetcher = _Fetcher(store, skipped)
    sites: dict[str, SiteColumns] = {}
    for url in urls:
        columns = sites.setdefault(_host_of(url), SiteColumns())
        find_rows = partial(find_records, all_lists=all_lists, model=model, columns=columns)
        yield from _follow_list(url, pages, fetcher, find_rows)


def _follow_list(
    first: str, pages: int, fetcher: _Fetcher, find_rows: Callable[[Page], Rows]
) -> Iterator[_PageAndRows]:
    """Yield the pages of one list with their rows, from its first page on."""
    url: str | None = first
    visited: set[str] = set()
    last_texts: list[str] = []
    while url is not None and len(visited) < pages:
        visited.add(urldefrag(url).url)
        page = fetcher.fetch(url)
        if page is None:
            return
        rows = find_rows(page)
        texts = [row.text for row in rows]
        if texts and texts == last_texts:
            return
        yield page, rows
        last_texts = texts
        url = _next_url(url, rows, visited)


def follow_rows(
    lists: Iterable[_PageAndRows],
    column: str = "url",
    *,
    store: PageStore | None = None,
    skipped: Skipped | None = None,
) -> Iterator[Page]:
    """Fetch the pages that the rows of lists lead to, for `learn` or `Rules.extract`.

    The id of such a page is the key of its row: the id of the list page, `#`, and the number of the row. So the
    records that are extracted from it say to which row they belong: `record.page_id`. A page that several rows lead
    to is returned once, with the key of the first.

    Args:
        lists: pages and their rows, as from `follow_lists` or `find_site_records`.
        column: the column with the addresses.
        store: fetches the pages, and keeps them if it has a file.
        skipped: counts pages that could not be fetched, with the reasons.

    Yields:
        The pages, in the order of the rows.

    Raises:
        InputError: no row has an address in this column.

    Example:
        >>> import untemplate as ut
        >>> lists = ut.follow_lists(["https://books.example/new"], pages=5)
        >>> books = list(ut.follow_rows(lists))  # doctest: +SKIP
        >>> rules = ut.learn(books, schema=ut.Schema.load("book"))  # doctest: +SKIP
    """
    fetcher = _Fetcher(store, skipped)
    visited: set[str] = set()
    names: dict[str, None] = {}
    for list_page, rows in lists:
        names |= dict.fromkeys(rows.columns)
        for number, url in _row_addresses(rows, column):
            if url in visited:
                continue
            visited.add(url)
            page = fetcher.fetch(url, f"{list_page.id}#{number}")
            if page is not None:
                yield page
    if not visited:
        known = f"; the columns are {', '.join(names)}" if names else ": there are no rows"
        raise InputError(f"no row has an address in a column {column!r}{known}")


def _row_addresses(rows: Rows, column: str) -> Iterator[tuple[int, str]]:
    """Yield the numbers of the rows, from 1, that have a web address in a column, and the address."""
    for number, row in enumerate(rows, 1):
        url = urldefrag(row.values.get(column) or "").url
        if url.startswith(("http://", "https://")):
            yield number, url


class _Fetcher:
    """Fetches pages, and counts those that cannot be fetched as skipped."""

    def __init__(self, store: PageStore | None, skipped: Skipped | None) -> None:
        self._store = store or PageStore()
        self._skipped = Skipped() if skipped is None else skipped

    def fetch(self, url: str, page_id: str = "") -> Page | None:
        """Return the page at an address; None if it cannot be fetched."""
        try:
            return self._store.page(url, page_id)
        except PageError as error:
            self._skipped.add(str(error), url)
            return None


def _next_url(url: str, rows: Rows, visited: set[str]) -> str | None:
    """Return the address of the next page of a list; None if the list ends here."""
    following = rows.next_page
    if not rows or following is None or urldefrag(following).url in visited:
        return None
    return following if _host_of(following) == _host_of(url) else None


def _host_of(url: str) -> str:
    """Return the host of an address without `www.`; "" if it has none."""
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""
