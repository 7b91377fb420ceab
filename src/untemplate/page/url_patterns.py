"""URL patterns: the most specific pattern with wild cards that matches all URLs of a cluster (Vertex IV-A).

A pattern is a URL in which each `*` matches any run of characters, such as `http://books.com/*/detail.html`.
Matching is one walk from left to right: linear time, no regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import takewhile

__all__ = ["has_literal_path", "host_of", "learn_url_pattern", "url_matches"]

# The paper limits the size of a pattern against overfitting, but does not say how; these are our limits.
MAX_WILD_CARDS = 6
MAX_PARTS = 64
MAX_LENGTH = 500

# URLs are compared part by part: runs of other characters, and each separator.
_PART = re.compile(r"[^/?&=#.:;,]+|[/?&=#.:;,]")
_HOST = re.compile(r"[^/?#]*//[^/?#]*")
_HOST_NAME = re.compile(r"//(?:www\.)?([^/?#:]+)")


def learn_url_pattern(urls: Iterable[str]) -> str:
    """Return the most specific pattern, limited in size, that matches all these URLs.

    A single URL gives a pattern for its host. Unknown (empty) URLs give `*`.

    >>> learn_url_pattern(["http://a.com/item-12.html", "http://a.com/item-7.html"])
    'http://a.com/item-*.html'
    """
    distinct = list(dict.fromkeys(urls))
    if not all(distinct):
        return "*"
    if len(distinct) < 2:
        host = _HOST.match(distinct[0]) if distinct else None
        return _limit_wild_cards(f"{host[0]}*") if host else "*"
    parts = _split_url(distinct[0])
    for url in distinct[1:]:
        if not url_matches("".join(parts), url):
            parts = _generalize(parts, _split_url(url))
    return _limit_wild_cards("".join(parts))


def url_matches(pattern: str, url: str) -> bool:
    """Return True if the pattern matches the URL.

    >>> url_matches("http://a.com/*.html", "http://a.com/7.html")
    True
    """
    if "*" not in pattern:
        return url == pattern
    first, *middle, last = _pieces(pattern)
    start, end = len(first), len(url) - len(last)
    if start > end or not url.startswith(first) or not url.endswith(last):
        return False
    for piece in middle:
        position = url.find(piece, start, end)
        if position < 0:
            return False
        start = position + len(piece)
    return True


@lru_cache(maxsize=4096)
def _pieces(pattern: str) -> list[str]:
    """Return the texts between the wild cards of a pattern. The same few patterns are matched with many URLs."""
    return pattern.split("*")


def host_of(url: str) -> str:
    """Return the host of a URL or URL pattern, without `www.` and port; empty if it has none or any host matches.

    >>> host_of("https://www.a.com:8080/7"), host_of("http://*.a.com/x"), host_of("http://*"), host_of("7.html")
    ('a.com', '*.a.com', '', '')
    """
    match = _HOST_NAME.search(url)
    host = match[1].lower() if match else ""
    return "" if host == "*" else host


def has_literal_path(pattern: str) -> bool:
    """Return True if a URL pattern says more than the host.

    >>> has_literal_path("http://a.com/tea/*"), has_literal_path("http://a.com/*/*")
    (True, False)
    """
    return bool(pattern.partition("//")[2].partition("/")[2].strip("*/"))


def _split_url(url: str) -> list[str]:
    """Return the parts of a URL; a wild card replaces what is beyond the limits."""
    parts = _PART.findall(url[:MAX_LENGTH])
    if len(url) <= MAX_LENGTH and len(parts) <= MAX_PARTS:
        return parts
    return [*parts[:MAX_PARTS], "*"]


def _generalize(parts: list[str], others: list[str]) -> list[str]:
    """Return the parts of a pattern that matches both URLs.

    URLs with equally many parts are compared part by part, others along their longest runs of equal parts.
    """
    if len(parts) == len(others):
        return list(map(_generalize_part, parts, others))
    merged: list[str] = []
    matcher = SequenceMatcher(None, parts, others, autojunk=False)
    for kind, start, end, other_start, other_end in matcher.get_opcodes():
        if kind == "equal":
            merged += parts[start:end]
        elif end - start == other_end - other_start:
            merged += map(_generalize_part, parts[start:end], others[other_start:other_end])
        else:
            merged.append("*")
    return merged


def _generalize_part(part: str, other: str) -> str:
    """Return the words that both parts begin and end with, and a wild card between them."""
    if part == other:
        return part
    start = _common_words(part, other)
    end = _common_words(part[start:][::-1], other[start:][::-1])
    return f"{part[:start]}*{part[len(part) - end :]}"


def _common_words(part: str, other: str) -> int:
    """Return the length of the longest common beginning that ends between words in both parts."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(part, other, strict=False))
    length = sum(1 for _ in same)
    while not (_is_word_end(part, length) and _is_word_end(other, length)):
        length -= 1
    return length


def _is_word_end(text: str, index: int) -> bool:
    """Return True if no run of letters or of digits continues across this index."""
    if not index:
        return True
    before, after = text[index - 1 : index], text[index : index + 1]
    continues_letters = before.isalpha() and after.isalpha()
    continues_digits = before.isdigit() and after.isdigit()
    return not (continues_letters or continues_digits)


def _limit_wild_cards(pattern: str) -> str:
    """Return the pattern with no more wild cards than allowed; the shortest pieces between them go first."""
    first, *middle, last = re.split(r"\*+", pattern)
    while len(middle) >= MAX_WILD_CARDS:
        middle.remove(min(middle, key=len))
    return "*".join([first, *middle, last])
