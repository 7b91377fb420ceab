"""Fetch the pages of many sites at once: hosts in parallel, each as politely as alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event

from untemplate.page import DEFAULT_LIMITS, Limits
from untemplate.sources.fetch import DEFAULT_POLITENESS, Fetcher, Politeness
from untemplate.sources.page_source import Pages, Skipped
from untemplate.sources.url_list import UrlReader

__all__ = ["fetch_groups"]

MAX_THREADS = 256
"""Sites that are fetched at the same time. A thread waits most of the time, and each needs two open files."""


def fetch_groups(
    groups: Mapping[str, Sequence[str]],
    *,
    limits: Limits = DEFAULT_LIMITS,
    politeness: Politeness = DEFAULT_POLITENESS,
) -> Iterator[tuple[str, Pages]]:
    """Fetch groups of URLs in parallel; yield the name and the pages of each group when all of them are fetched.

    All groups share one memory of hosts, so a host that occurs in several of them gets one request at a time, with
    the delay between them. Fetched pages wait in a temporary file for each group.

    Args:
        groups: The URLs of each group, such as the bellwethers of each site.
        limits: The size limits of each page.
        politeness: How to fetch.
    """
    fetcher = Fetcher(politeness, limits.bytes)
    stop = Event()
    threads = ThreadPoolExecutor(min(MAX_THREADS, max(1, len(groups))), "fetch")
    readers = {name: UrlReader(urls, limits, politeness, fetcher=fetcher) for name, urls in groups.items()}
    name_of = {threads.submit(_fetch_all, reader, stop): name for name, reader in readers.items()}
    try:
        for done in as_completed(name_of):
            name = name_of[done]
            done.result()
            reader = readers.pop(name)
            yield name, Pages(f"{reader.total:,} URLs of {name}", reader, limits)
    finally:
        stop.set()
        threads.shutdown(cancel_futures=True)


def _fetch_all(reader: UrlReader, stop: Event) -> None:
    """Fetch all pages of a reader into its temporary file."""
    for _ in reader.read(Skipped()):
        if stop.is_set():
            return
