"""Tags before which reading a page may stop, because the rules have found all their values before them.

Parsing is most of what a page costs, so reading only its beginning makes extraction faster. Extraction checks on each
page that the rules need nothing behind the tag; here it is only decided which tags are worth trying.
"""

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

# Pages on which tags are tried.
MAX_STOP_PAGES = 12
# Tags that extraction searches for on each page.
MAX_STOPS = 3
# A tag that saves less than this share of all bytes is not worth the search.
MIN_SAVED_SHARE = 0.1

_TAG = re.compile(rb"<[a-zA-Z][a-zA-Z0-9]*\s[^<>\x80-\xff]{4,100}>")


def learn_stops(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> tuple[str, ...]:
    """Return the tags before which reading should stop, at most three.

    The first is the tag that saves most bytes on these pages, the next the one that saves most on pages without the
    first, and so on.

    Args:
        wrapper: the rules that must find their values before the tag.
        pages: pages of the wrapper's cluster.
        schema: the attributes of the rules.
    """
    step = max(1, len(pages) // MAX_STOP_PAGES)
    remaining = [_saved_shares(page, wrapper, schema) for page in pages[::step][:MAX_STOP_PAGES]]
    least = MIN_SAVED_SHARE * len(remaining)
    stops: list[bytes] = []
    while len(stops) < MAX_STOPS:
        total: defaultdict[bytes, float] = defaultdict(float)
        for shares in remaining:
            for tag, share in shares.items():
                total[tag] += share
        best = max(total, key=total.__getitem__, default=b"")
        if total[best] <= least:
            break
        stops.append(best)
        remaining = [shares for shares in remaining if best not in shares]
    return tuple(stop.decode() for stop in stops)


def _saved_shares(page: Page, wrapper: Wrapper, schema: Schema) -> dict[bytes, float]:
    """Return for each tag the share of the page behind it; negative for tags that come too early.

    A tag that comes too early costs reading up to it in vain.
    """
    offsets: dict[bytes, int] = {}
    for match in _TAG.finditer(page.html):
        offsets.setdefault(match[0], match.start())
    tags = list(offsets)
    first_sufficient = bisect_left(tags, True, key=lambda tag: _is_enough(page, tag, wrapper, schema))
    shares: dict[bytes, float] = {}
    for number, (tag, offset) in enumerate(offsets.items()):
        read = offset / len(page.html)
        shares[tag] = 1 - read if number >= first_sufficient else -read
    return shares


def _is_enough(page: Page, stop: bytes, wrapper: Wrapper, schema: Schema) -> bool:
    """Return True if the rules find all their values before a tag."""
    try:
        beginning = read_page_beginning(page, (stop,))
        if beginning is None:
            return False
        apply_rules(wrapper, beginning, schema.attributes)
    except (PageError, NeedsCompletePage):
        return False
    return True
