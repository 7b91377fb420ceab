"""URL patterns: the most specific one with wild cards that matches all URLs of a cluster (Vertex IV-A).

A pattern is a URL in which each `*` stands for any run of characters, such as `http://books.com/*/detail.html`.
Matching is a walk from left to right: linear, without regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import takewhile

__all__ = ["learn_url_pattern", "url_matches"]

# The paper limits the size of a pattern against overfitting, but does not say how; these are our limits.
MAX_WILD_CARDS = 6
MAX_PARTS = 64
MAX_LENGTH = 500

_PART = re.compile(r"[^/?&=#.:;,]+|[/?&=#.:;,]")
_HOST = re.compile(r"[^/?#]*//[^/?#]*")


def learn_url_pattern(urls: Iterable[str]) -> str:
    """The most specific pattern that matches all these URLs, limited in size; of one URL alone, its host."""
    distinct = list(dict.fromkeys(urls))
    if not all(distinct):
        return "*"
    if len(distinct) < 2:
        host = _HOST.match(distinct[0]) if distinct else None
        return _limit(f"{host[0]}*") if host else "*"
    parts = _split(distinct[0])
    for url in distinct[1:]:
        if not url_matches("".join(parts), url):
            parts = _generalize(parts, _split(url))
    return _limit("".join(parts))


def url_matches(pattern: str, url: str) -> bool:
    """Whether the URL is one that the pattern stands for."""
    first, *middle = pattern.split("*")
    if not middle:
        return url == pattern
    last = middle.pop()
    start, end = len(first), len(url) - len(last)
    if start > end or not (url.startswith(first) and url.endswith(last)):
        return False
    for piece in middle:
        found = url.find(piece, start, end)
        if found < 0:
            return False
        start = found + len(piece)
    return True


def _split(url: str) -> list[str]:
    parts = _PART.findall(url[:MAX_LENGTH])
    whole = len(url) <= MAX_LENGTH and len(parts) <= MAX_PARTS
    return parts if whole else [*parts[:MAX_PARTS], "*"]


def _generalize(parts: list[str], others: list[str]) -> list[str]:
    """Part by part when there are equally many, else along the longest runs of equal parts."""
    if len(parts) == len(others):
        return list(map(_generalize_part, parts, others))
    merged: list[str] = []
    for kind, i, j, k, m in SequenceMatcher(None, parts, others, autojunk=False).get_opcodes():
        if kind == "equal":
            merged += parts[i:j]
        elif j - i == m - k:
            merged += map(_generalize_part, parts[i:j], others[k:m])
        else:
            merged.append("*")
    return merged


def _generalize_part(part: str, other: str) -> str:
    """What two parts begin and end with, in whole words, and a wild card for the rest."""
    if part == other:
        return part
    start = _common_words(part, other)
    end = _common_words(part[start:][::-1], other[start:][::-1])
    return f"{part[:start]}*{part[len(part) - end :]}"


def _common_words(part: str, other: str) -> int:
    """The length of the longest common beginning that ends between words in both."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(part, other, strict=False))
    length = sum(1 for _ in same)
    while not (_is_word_end(part, length) and _is_word_end(other, length)):
        length -= 1
    return length


def _is_word_end(text: str, index: int) -> bool:
    before, after = text[index - 1 : index], text[index : index + 1]
    same_kind = (before.isalpha() and after.isalpha()) or (before.isdigit() and after.isdigit())
    return not index or not same_kind


def _limit(pattern: str) -> str:
    """The pattern with no more wild cards than allowed: the shortest pieces between them go first."""
    first, *middle, last = re.split(r"\*+", pattern)
    while len(middle) >= MAX_WILD_CARDS:
        middle.remove(min(middle, key=len))
    return "*".join([first, *middle, last])
