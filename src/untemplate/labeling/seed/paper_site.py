"""Features of a site and knowledge of a seed site, as in "From One Tree to a Forest".

A node has content features, and three kinds of context: the static text to its top left, and the words that its
value begins and ends with. A seed site teaches both for each attribute, and how far attributes are from each other on
screen. `paper_model` adapts this knowledge to new sites and lists the departures from the paper.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from untemplate.errors import MissingExtra
from untemplate.labeling.nodes import NodeTable, Screen
from untemplate.layout import VIEWPORT, EstimatedLayout, Layout
from untemplate.page import Page
from untemplate.page.arrays import Bools, Doubles, Floats, Ints, Numbered, count_distinct, group_rows
from untemplate.page.captions import may_be_caption, min_static_pages

__all__ = [
    "FEATURES",
    "FirstBoxes",
    "PaperSite",
    "SeedAttribute",
    "SeedSite",
    "best_match",
    "first_boxes",
    "learn_seed",
    "mean_distance",
]

# The preceding text lies within a rectangle this many times as wide and as high as the node, at least as a short line
# of text. The paper says "proportional". F1 of labels on SWDE, three seed sites a vertical: 0.737 with a height of 1,
# 0.717 with 2; the width does not matter (5, 10).
WIDTHS, HEIGHTS = 5.0, 1.0
MIN_WIDTH, MIN_HEIGHT = 60.0, 18.0
# Pixels by which a preceding text may lie lower or further right: estimated boxes are not exact.
SLACK_DOWN, SLACK_RIGHT = 6.0, 2.0
# The middle of a node's first line is at most this far below its top.
MAX_HALF_LINE = 10.0
# Static texts before a node, in document order, among which the preceding one is searched.
MAX_LOOK_BACK = 20
# Longer texts are no captions.
MAX_PRECEDING_LENGTH = 60
# A text with a higher page redundancy is static.
MAX_REDUNDANCY = 0.5
# A text precedes nodes of a tag path on this share of the pages; otherwise it is there by chance. 0.4 is alike.
MIN_PRECEDING_SHARE = 0.2
# A prefix or suffix is shared by nodes of a format on this share of the pages; 0.5 is alike.
MIN_AFFIX_SHARE = 0.8
# Words of a prefix or suffix.
MAX_AFFIX_WORDS = 5
# Contexts match if they have at least this share of their words in common.
MIN_MATCH = 0.5

MAX_POSITIVE, MAX_NEGATIVE = 1000, 2000
# Of the radial kernel. Weak on purpose: F1 of labels on SWDE 0.682 with these, 0.646 with 2 and 1, three seed sites a
# vertical; with each site as seed 0.706, and 0.695 with 0.2 and 10.
GAMMA, PENALTY = 0.5, 10.0
# Of the sigmoid; 0.697 with 1, 0.701 with 4, 0.717 with this.
SLOPE = 2.0
# Unigrams as frequent as those of the most typical tenth of the seed's nodes count as 1.
TYPICAL_QUANTILE = 0.9
# Counts are at most this many times the largest of the seed's nodes.
MAX_COUNT = 2.0
# A context is known if this share of the seed's nodes has it, and this share of all nodes with it are the seed's.
# 0.03 to 0.3 are alike, and 0.2 to 0.8.
MIN_CONTEXT_SHARE, MIN_CONTEXT_PRECISION = 0.1, 0.3
# Texts that are classified at once, which bounds memory.
CHUNK_SIZE = 2000

FEATURES = ("unigrams", "tokens", "characters", "types", "redundancy")


class PaperSite:
    """The text nodes of a site with the paper's features.

    Attributes:
        table: The text nodes of all pages.
        boxes: The box of each row: x, y, width, height.
        eligible: Whether each row could contain an attribute: it is shown, has letters or digits, and is not static,
            or other texts take its place on other pages, such as `Used` instead of `New`.
        context: The contexts of each row.
        redundancy: The share of the other pages that contain each text. The page itself does not count, so that small
            and large sites are alike.
    """

    def __init__(self, pages: Sequence[Page], layout: Layout | None = None) -> None:
        self.table = table = NodeTable(pages)
        screen = Screen(table, layout or EstimatedLayout())
        self.boxes = screen.boxes
        self.eligible: Bools = ~table.is_excluded & screen.is_shown & (self.boxes[:, 3] > 0)
        if len(table):
            worded = np.array([any(map(str.isalnum, text)) for text in table.texts], np.bool_)
            self.eligible &= worded[table.text]
            is_rare = _page_shares(table, group_rows(table.path, table.text)) <= MAX_REDUNDANCY
            # A site of one page does not tell values from template text.
            self.eligible &= is_rare | (~table.is_template if len(pages) > 1 else False)
        self.context = _find_contexts(table, self.boxes, self.eligible)
        self.unigrams = [text.lower().split() for text in table.texts]
        self.tokens = np.array([len(words) for words in self.unigrams], np.float32)
        self.characters = np.array([sum(map(len, words)) for words in self.unigrams], np.float32)
        self.types = np.array([_type_shares(text) for text in table.texts], np.float32).reshape(-1, 3)
        count = len(table.pages)
        self.redundancy = ((table.redundancy * count - 1) / max(1, count - 1)).astype(np.float32)


def _type_shares(text: str) -> tuple[float, float, float]:
    """Return the shares of letters, digits and other signs among the characters that are no white space."""
    shown = [char for char in text[:1000] if not char.isspace()]
    letters, digits = sum(map(str.isalpha, shown)), sum(map(str.isdigit, shown))
    total = max(1, len(shown))
    return letters / total, digits / total, (len(shown) - letters - digits) / total


def _page_shares(table: NodeTable, kind: Ints) -> Floats:
    """Return for each row the share of the pages that have a row of its kind."""
    shares = count_distinct(kind, table.page) / max(1, len(table.pages))
    return shares.astype(np.float32)[kind]


# Contexts


class Context(NamedTuple):
    """The contexts of each row: numbers of `texts`, −1 for none."""

    texts: list[str]
    preceding: Ints
    prefix: Ints
    suffix: Ints


def _find_contexts(table: NodeTable, boxes: Floats, eligible: Bools) -> Context:
    """Return the three contexts of each row; only eligible rows have prefixes and suffixes."""
    contexts: Numbered[str] = Numbered()
    preceding = _find_preceding(table, boxes)
    numbers = np.array([contexts[_plain_context(text)] for text in table.texts], np.int32)
    if len(table):
        preceding = np.where(preceding >= 0, numbers[preceding], -1)
    words = [text.split(" ") for text in table.texts]
    prefixes = _find_affixes(table, words, eligible)
    suffixes = _find_affixes(table, [text_words[::-1] for text_words in words], eligible)
    columns = []
    for affixes, step in ((prefixes, 1), (suffixes, -1)):
        column = np.full(len(table), -1, np.int32)
        for row, affix in affixes:
            column[row] = contexts[_plain_context(" ".join(affix[::step]))]
        columns.append(column)
    return Context(list(contexts), preceding, *columns)


def _plain_context(text: str) -> str:
    """Return a context in the form in which contexts are compared: `Height:` and `HEIGHT` are alike."""
    return text.lower().strip(" :.*")


def _find_preceding(table: NodeTable, boxes: Floats) -> Ints:
    """Return for each row the nearest static text to its top left, within its rectangle; −1 for none."""
    preceding = np.full(len(table), -1, np.int32)
    static = _preceding_texts(table, boxes)
    if not len(static):
        return preceding
    last = np.searchsorted(static, np.arange(len(table))) - 1
    nearest = np.full(len(table), np.inf, np.float32)
    max_left = WIDTHS * np.maximum(boxes[:, 2], MIN_WIDTH)
    max_up = HEIGHTS * np.maximum(boxes[:, 3], MIN_HEIGHT)
    middle = boxes[:, 1] + np.minimum(boxes[:, 3] / 2, MAX_HALF_LINE)
    for back in range(MAX_LOOK_BACK):
        caption = static[np.maximum(last - back, 0)]
        left, up = boxes[:, 0] - boxes[caption, 0], boxes[:, 1] - boxes[caption, 1]
        inside = (last >= back) & (table.page[caption] == table.page)
        inside &= (left >= -SLACK_RIGHT) & (left <= max_left) & (up >= -SLACK_DOWN) & (up <= max_up)
        gap = np.hypot(np.maximum(0, left - boxes[caption, 2]), middle - middle[caption])
        closer = inside & (gap < nearest)
        nearest[closer], preceding[closer] = gap[closer], table.text[caption][closer]
    usual = _page_shares(table, group_rows(table.path, preceding)) >= MIN_PRECEDING_SHARE
    return np.where(usual, preceding, -1).astype(np.int32)


def _preceding_texts(table: NodeTable, boxes: Floats) -> npt.NDArray[np.intp]:
    """Return the rows with a static text that is shown and can be a caption."""
    if not len(table):
        return np.zeros(0, np.intp)
    is_short = np.array([may_be_caption(text, MAX_PRECEDING_LENGTH) for text in table.texts], np.bool_)
    is_static = table.redundancy[table.text] > MAX_REDUNDANCY
    return np.flatnonzero(is_static & is_short[table.text] & (boxes[:, 3] > 0))


def _find_affixes(
    table: NodeTable, words: Sequence[list[str]], eligible: Bools
) -> list[tuple[int, list[str]]]:
    """Return rows with the words that they share with many values of their format; longer ones come later.

    The format is the tag path and whether the value begins with a word or a number. Values of a format are divided by
    their first word, then by their second, as long as enough of them remain together.

    Args:
        table: The text nodes.
        words: The words of each text; in reverse order to find suffixes.
        eligible: The rows to use.
    """
    if not len(table):
        return []
    first_signs = np.array([_sign_kind(text_words[0]) for text_words in words], np.int32)
    rows = np.flatnonzero(eligible)
    format = group_rows(table.path, first_signs[table.text])[rows]
    numbered: Numbered[str] = Numbered()
    min_pages = min_static_pages(len(table.pages), MIN_AFFIX_SHARE)
    affixes = []
    for length in range(MAX_AFFIX_WORDS):
        numbers = [_affix_word(text_words, length, numbered) for text_words in words]
        word = np.array(numbers, np.int32)[table.text[rows]]
        rows, format, word = rows[word >= 0], format[word >= 0], word[word >= 0]
        if not len(rows):
            break
        divided = group_rows(format, word)
        pages = count_distinct(divided, table.page[rows])
        enough = (pages >= min_pages) & (count_distinct(divided, table.text[rows]) > 2)
        rows, format = rows[enough[divided]], divided[enough[divided]]
        affixes += [(row, words[table.text[row]][: length + 1]) for row in rows.tolist()]
    return affixes


def _affix_word(words: Sequence[str], index: int, numbered: Numbered[str]) -> int:
    """Return the number of a word; −1 if it has digits or no other word follows it."""
    if len(words) <= index + 1 or any(map(str.isdigit, words[index])):
        return -1
    return numbered[words[index].lower()]


def _sign_kind(word: str) -> int:
    """Return 0 for a word that begins with a letter, 1 for a digit, 2 for any other sign."""
    if word[:1].isalpha():
        return 0
    return 1 if word[:1].isdigit() else 2


def best_match(context: str, known_contexts: Collection[str]) -> float:
    """Return the share of words that a context shares with the most similar known one; 0 if that is too small."""
    words = _context_words(context)
    shares = [_shared_words(words, _context_words(known)) for known in known_contexts]
    share = max(shares, default=0.0)
    return share if share >= MIN_MATCH else 0.0


def _shared_words(words: frozenset[str], known_words: frozenset[str]) -> float:
    return len(words & known_words) / len(words | known_words) if known_words else 0.0


def _context_words(text: str) -> frozenset[str]:
    """Return the words of a context without the s of a plural; `isbn-13` is one word."""
    words = (re.sub(r"[^a-z0-9]", "", word) for word in re.split(r"[\s/():,]+", text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words if word)


# Distances on screen

FirstBoxes = dict[int, npt.NDArray[np.float32]]
"""The box of an attribute on each page, by the page's number: x, y, width, height."""


def first_boxes(site: PaperSite, rows: npt.NDArray[np.integer]) -> FirstBoxes:
    """Return the box of the first of these rows on each page."""
    pages, first = np.unique(site.table.page[rows], return_index=True)
    return dict(zip(pages.tolist(), site.boxes[rows[first]], strict=True))


def mean_distance(boxes: FirstBoxes, other_boxes: FirstBoxes) -> float:
    """Return the mean distance of two attributes on pages that have both, relative to the width of the window.

    The distance is that of the top left corners; 0 if no page has both.
    """
    pages = sorted(boxes.keys() & other_boxes.keys())
    if not pages:
        return 0.0
    corners = np.array([boxes[page][:2] for page in pages])
    other_corners = np.array([other_boxes[page][:2] for page in pages])
    distances = np.hypot(*(corners - other_corners).T).astype(np.float32)
    return float(distances.mean()) / VIEWPORT


# Learning from a seed site


@dataclass(frozen=True)
class SeedAttribute:
    """What a seed site teaches about one attribute: a classifier of contents, and known contexts.

    Attributes:
        frequencies: The share of its values that contain each word.
        mean_types: The mean shares of letters, digits and other signs in its values.
        high: What counts as 1: typical unigrams, the most tokens, the most characters.
        support: The classifier's support vectors.
        dual: The weights of the support vectors.
        intercept: The classifier's intercept.
        contexts: Contexts that appear mostly with this attribute.
    """

    frequencies: dict[str, float]
    mean_types: Floats
    high: Floats
    support: Floats
    dual: Floats
    intercept: float
    contexts: frozenset[str]

    def relevance(self, site: PaperSite) -> Floats:
        """Return the relevance of each row: by its content or by its context, whichever is larger."""
        features = _content_features(site, self.frequencies, self.mean_types, self.high)
        chunks = np.array_split(features, max(1, len(features) // CHUNK_SIZE))
        distances = np.concatenate([self._decide(chunk) for chunk in chunks])
        content = 1 / (1 + np.exp(-SLOPE * np.clip(distances, -3, 3)))
        relevance: Floats = content[site.table.text].astype(np.float32)
        matches = np.zeros(len(site.context.texts) + 1, np.float32)
        for column in site.context[1:]:
            for number in np.unique(column[column >= 0]).tolist():
                matches[number] = best_match(site.context.texts[number], self.contexts)
            relevance = np.maximum(relevance, matches[column])
        return relevance

    def _decide(self, features: Floats) -> Doubles:
        """Return the classifier's decision for each row of features: positive for the attribute."""
        square = (features**2).sum(axis=1)[:, None] + (self.support**2).sum(axis=1)
        square -= 2 * features @ self.support.T
        distances: Doubles = np.exp(-GAMMA * square) @ self.dual.astype(np.float64)
        return distances + self.intercept


@dataclass(frozen=True)
class SeedSite:
    """What one seed site taught: its attributes, and the mean distance of each two of them on screen."""

    attributes: dict[str, SeedAttribute]
    layout: Floats


def learn_seed(site: PaperSite, positive: dict[str, Bools]) -> SeedSite:
    """Learn from a seed site.

    Args:
        site: The seed site.
        positive: By attribute, whether each row contains it.
    """
    taught = {name: rows for name, rows in positive.items() if rows.any()}
    attributes = {name: _learn_seed_attribute(site, rows) for name, rows in taught.items()}
    boxes = [first_boxes(site, np.flatnonzero(rows)) for rows in taught.values()]
    layout = [[mean_distance(row, column) for column in boxes] for row in boxes]
    return SeedSite(attributes, np.array(layout, np.float32).reshape(len(boxes), len(boxes)))


def _learn_seed_attribute(site: PaperSite, positive: Bools) -> SeedAttribute:
    numbers = site.table.text[positive]
    frequencies = _word_frequencies(site, numbers)
    mean_types = site.types[numbers].mean(axis=0)
    unigrams = _unigrams_of_others(site, numbers, frequencies)
    high = np.array(
        [
            max(1e-6, float(np.quantile(unigrams, TYPICAL_QUANTILE))),
            max(1.0, float(site.tokens[numbers].max())),
            max(1.0, float(site.characters[numbers].max())),
        ],
        np.float32,
    )
    features = _content_features(site, frequencies, mean_types, high)
    positive_features = features[numbers]
    positive_features[:, 0] = np.clip(unigrams / high[0], 0, 1)
    negative = site.table.text[site.eligible & ~positive]
    negative = negative[~np.isin(negative, numbers)]
    random = np.random.default_rng(0)
    sample = random.permutation(negative)[:MAX_NEGATIVE]
    classifier = _train_classifier(random.permutation(positive_features)[:MAX_POSITIVE], features[sample])
    contexts = _characteristic_contexts(site, positive)
    return SeedAttribute(frequencies, mean_types, high, *classifier, contexts)


def _word_frequencies(site: PaperSite, numbers: Ints) -> dict[str, float]:
    """Return the share of these texts that contain each word."""
    frequencies: dict[str, float] = {}
    for number in numbers.tolist():
        for word in set(site.unigrams[number]):
            frequencies[word] = frequencies.get(word, 0.0) + 1 / len(numbers)
    return frequencies


def _unigrams_of_others(site: PaperSite, numbers: Ints, frequencies: dict[str, float]) -> Floats:
    """Return the unigram feature of the seed's nodes, each computed from all the other nodes."""
    count = len(numbers)
    means = [np.mean([frequencies[word] for word in site.unigrams[number]]) for number in numbers.tolist()]
    return np.maximum(0, (np.array(means) * count - 1) / max(1, count - 1)).astype(np.float32)


def _characteristic_contexts(site: PaperSite, positive: Bools) -> frozenset[str]:
    """Return the contexts that enough of the positive rows have, and few other rows."""
    contexts: set[str] = set()
    for column in site.context[1:]:
        numbers, counts = np.unique(column[positive], return_counts=True)
        everywhere = np.bincount(column[site.eligible | positive] + 1, minlength=int(column.max()) + 2)
        is_frequent = counts >= MIN_CONTEXT_SHARE * positive.sum()
        is_precise = counts >= MIN_CONTEXT_PRECISION * everywhere[numbers + 1]
        chosen = numbers[is_frequent & is_precise & (numbers >= 0)]
        contexts.update(site.context.texts[number] for number in chosen.tolist())
    return frozenset(contexts)


def _content_features(
    site: PaperSite, frequencies: dict[str, float], mean_types: Floats, high: Floats
) -> Floats:
    """Return the content features of each distinct text, mostly from 0 to 1; `FEATURES` names the columns."""
    unigrams = [sum(frequencies.get(word, 0.0) for word in words) / len(words) for words in site.unigrams]
    lengths = np.linalg.norm(site.types, axis=1) * np.linalg.norm(mean_types)
    columns = [
        np.clip(np.array(unigrams) / high[0], 0, 1),
        np.clip(site.tokens / high[1], 0, MAX_COUNT),
        np.clip(site.characters / high[2], 0, MAX_COUNT),
        site.types @ mean_types / np.maximum(lengths, 1e-9),
        site.redundancy,
    ]
    return np.column_stack(columns).astype(np.float32)


def _train_classifier(positive: Floats, negative: Floats) -> tuple[Floats, Floats, float]:
    """Train a support vector machine and return its support vectors, their weights, and its intercept."""
    try:
        from sklearn.svm import SVC
    except ImportError as error:
        raise MissingExtra("models", "Training of models") from error
    if not len(negative):
        return np.zeros((0, len(FEATURES)), np.float32), np.zeros(0, np.float32), 0.0
    features = np.concatenate([positive, negative])
    is_positive = np.arange(len(features)) < len(positive)
    machine = SVC(gamma=GAMMA, C=PENALTY).fit(features, is_positive)
    return (
        machine.support_vectors_.astype(np.float32),
        machine.dual_coef_[0].astype(np.float32),
        float(machine.intercept_[0]),
    )
