"""What the node CRF sees of a word and of its node: the features that the paper lists, all binary."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = [
    "NODE_FEATURES",
    "REGEX_FEATURES",
    "node_features",
    "split_words",
    "word_features",
]

# Words of a node that are looked at; the majority label of so many is that of all.
MAX_WORDS = 200

REGEX_FEATURES: dict[str, re.Pattern[str]] = {
    "isAllCapsWord": re.compile(r"\W*[^\W\d_a-z]+\W*\Z"),
    "hasTwoContinuousCaps": re.compile(r".*[A-Z]{2}"),
    "isDay": re.compile(
        r"(?i)\W*(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?s?)\W*\Z"
    ),
    "1-2digitNumber": re.compile(r".*(?<!\d)\d{1,2}(?!\d)"),
    "3digitNumber": re.compile(r".*(?<!\d)\d{3}(?!\d)"),
    "4digitNumber": re.compile(r".*(?<!\d)\d{4}(?!\d)"),
    "5digitNumber": re.compile(r".*(?<!\d)\d{5}(?!\d)"),
    ">5digitNumber": re.compile(r".*\d{6}"),
    "dashBetweenDigits": re.compile(r".*\d-\d"),
    "isAlpha": re.compile(r"[^\W\d_]+\Z"),
    "isNumber": re.compile(r"\d+\Z"),
}

NODE_FEATURES = (
    "noOfWords>20",
    "noOfWords>50",
    "noOfWords>100",
    "propOfTitleCase<0.2",
    "propOfTitleCase>0.8",
    "overlapWithTitle",
    "prefixOverlapWithTitle",
)
# The parts of a share from 0 to 1 that are told apart; the paper leaves them open.
BINS = 4

_EDGES = re.compile(r"^\W+|\W+$")


def split_words(text: str) -> list[str]:
    """The words of a node, punctuation and all."""
    return text.split()[:MAX_WORDS]


def word_features(word: str) -> list[str]:
    """The word itself, in lower case without punctuation around it, and the patterns that it fits."""
    return [
        f"word {_bare(word)}",
        *(name for name, pattern in REGEX_FEATURES.items() if pattern.match(word[:100])),
    ]


def node_features(words: Sequence[str], title: Sequence[str]) -> tuple[str, ...]:
    """What is the same for all words of a node: how long it is, its capitals, and what the page's title shares."""
    count = max(1, len(words))
    capitals = sum(word[:1].isupper() for word in words) / count
    bare = [_bare(word) for word in words]
    titled = [_bare(word) for word in title]
    known = set(titled)
    shared = sum(word in known for word in bare) / count
    start = 0
    while start < min(len(bare), len(titled)) and bare[start] == titled[start]:
        start += 1
    flags = (count > 20, count > 50, count > 100, capitals < 0.2, capitals > 0.8)
    return (
        *(name for name, flag in zip(NODE_FEATURES, flags, strict=False) if flag),
        *(
            f"{name} {_bin(share)}"
            for name, share in zip(NODE_FEATURES[5:], (shared, start / count), strict=True)
        ),
    )


def _bare(word: str) -> str:
    return _EDGES.sub("", word).lower()


def _bin(share: float) -> int:
    """0 for nothing, the last for all, and those between."""
    return 0 if share == 0 else min(BINS, 1 + int(share * (BINS - 1)))
