"""Tags before which reading a page may stop, since the rules find all they look for before them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from untemplate.errors import PageError
from untemplate.page import Page
from untemplate.rules.applying import apply_rules
from untemplate.rules.parsed_page import NeedsCompletePage, read_page_beginning
from untemplate.rules.rule import Wrapper
from untemplate.schema import Schema

__all__ = ["learn_stops"]

# Pages that are tried.
PAGES = 12
# Tags that are looked for on each page.
MAX_STOPS = 3
# A tag that saves less than this share of reading all pages is not worth looking for.
MIN_GAIN = 0.1

_TAG = re.compile(rb"<[a-zA-Z][a-zA-Z0-9]*\s[^<>\x80-\xff]{4,100}>")


def learn_stops(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> tuple[str, ...]:
    """The tag that saves most of reading these pages, then the one that does on those that lack it, and so on."""
    left = [_gains(page, wrapper, schema) for page in pages[:: max(1, len(pages) // PAGES)][:PAGES]]
    least = MIN_GAIN * len(left)
    stops: list[bytes] = []
    while len(stops) < MAX_STOPS:
        gains: defaultdict[bytes, float] = defaultdict(float)
        for own in left:
            for tag, gain in own.items():
                gains[tag] += gain
        best = max(gains, key=gains.__getitem__, default=b"")
        if gains[best] <= least:
            break
        stops.append(best)
        left = [own for own in left if best not in own]
    return tuple(stop.decode() for stop in stops)


def _gains(page: Page, wrapper: Wrapper, schema: Schema) -> dict[bytes, float]:
    """For each tag the share of a page that is not read if reading stops there; less than nothing if too early."""
    places: dict[bytes, int] = {}
    for match in _TAG.finditer(page.html):
        places.setdefault(match[0], match.start())
    tags = list(places)
    needed = bisect_left(tags, True, key=lambda tag: _is_enough(page, tag, wrapper, schema))
    read = {tag: place / len(page.html) for tag, place in places.items()}
    return {tag: 1 - read[tag] if number >= needed else -read[tag] for number, tag in enumerate(tags)}


def _is_enough(page: Page, stop: bytes, wrapper: Wrapper, schema: Schema) -> bool:
    try:
        beginning = read_page_beginning(page, (stop,))
        if beginning is None:
            return False
        apply_rules(wrapper, beginning, schema.attributes)
    except (PageError, NeedsCompletePage):
        return False
    return True
