"""Whether a page lists records at all, or is about one thing: evidence around its likeliest list, and a model of it.

Every page repeats something: reviews, related products, a table of facts, navigation. A page is about one thing if
much of its text, headings and captions is outside of what repeats, if its data describe one thing, or if the repeated
parts do not lead to pages of their own. Boosted trees weigh this evidence, because most of it decides only together
with other evidence. `python -m benchmarks.train.page_types` trains them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np
from lxml import etree

from untemplate.lists.addresses import are_alike, base_address, join_address, page_address
from untemplate.lists.group_scores import GROUP_FEATURES
from untemplate.lists.groups import Group, drop_hidden_members
from untemplate.lists.page_profile import HEADINGS, RESULT_WORDS, PageProfile
from untemplate.lists.page_tree import Run
from untemplate.page import Page, squeeze
from untemplate.page.arrays import Bools, Doubles, Longs
from untemplate.page.embedded_data import JSON_LD

__all__ = [
    "LIST_FEATURES",
    "SHIPPED_TREES",
    "BoostedTrees",
    "describe_list",
    "is_number_stated",
    "list_confidence",
]

SHIPPED_TREES = Path(__file__).with_name("page_types.npz")

_FEATURES_OF_GROUPS = (
    *(
        "uneven",
        "documents",
        "own_main",
        "similarity",
        "paths",
        "links",
        "coverage",
        "length",
        "number",
        "compact",
        "aside",
        "near_aside",
        "in_navigation",
    ),
)
_EVIDENCE = {
    "score": "score of the list among the groups of its page",
    "margin": "how much better it is than the best group that does not overlap, at most 5",
    "texts_outside": "number of texts of the main part outside of the list, log",
    "plain_outside": "number of those that are no links, log",
    "plain_before": "characters of those before the list, log",
    "long_outside": "characters of long texts among those, log",
    "longest_outside": "characters of the longest of those, log",
    "captions_outside": "number of captions (`Price:`) outside of the list, log",
    "headings_outside": "number of headings outside of the list, log",
    "rows_outside": "number of table rows outside of the list, log",
    "images_outside": "number of images outside of the list, log",
    "main_share": "share of the characters of the main part",
    "h1": "there is a main heading",
    "h1_in_title": "the page's title contains it",
    "h1_distance": "characters between it and the list, log",
    "records_linked": "share of records with a link that no other record has",
    "distinct_links": "share of different first links",
    "first_linked": "share of records whose first text is a link",
    "like_page": "share of records whose first link has an address like that of the page: pages of its own kind",
    "links_per_record": "mean number of links, log",
    "texts_per_record": "mean number of texts, log",
    "images": "share of records with an image",
    "headed_related": "one of the two headings above it, no main heading, says related, similar, other and the like",
    "in_results": "the list is in a part named results, products and the like",
    "in_reviews": "the list is in a part named reviews, related, details and the like",
    "results_named": "another part is named results",
    "paging_named": "another part is named pagination",
    "list_names": "number of other parts named results, sort, filter, pagination and the like, log",
    "one_declared": "JSON-LD describes exactly one product, recipe, article or the like",
    "one_shared": "Open Graph calls the page a product, an article or the like",
    "comment_field": "there is a field for long texts",
    "searched": "a search field has a value",
    "list_title": "the title has a word such as search, results, category or archive",
    "list_heading": "a main heading has such a word",
}
LIST_FEATURES = (*_FEATURES_OF_GROUPS, *_EVIDENCE)
"""What `describe_list` measures, in order."""

_PAGING_WORDS = frozenset({"pagination", "pager", "paging", "paginator"})
_LIST_WORDS = frozenset(
    {
        *RESULT_WORDS,
        *_PAGING_WORDS,
        *("sort", "sorting", "orderby", "filter", "filters", "facet", "facets", "refine", "refinement"),
    }
)
_AROUND_RECORDS = frozenset(
    {
        *("results", "result", "search", "searchresults", "listing", "listings", "products", "archive"),
        *("category", "posts", "hits", "feed"),
    }
)
_AROUND_PARTS = frozenset(
    {
        *("review", "reviews", "comment", "comments", "related", "similar", "recommended", "also"),
        *("specs", "spec", "details", "detail", "tab", "tabs", "rating", "ratings"),
        *("ingredients", "ingredient", "instructions", "steps", "directions"),
    }
)
# Types of JSON-LD and Open Graph that a page about one thing declares.
_ONE_THING = frozenset(
    {
        *("Product", "Recipe", "Article", "NewsArticle", "BlogPosting", "Book", "Movie", "Person", "Event"),
        *("JobPosting", "Restaurant", "LocalBusiness", "Vehicle", "Car", "VideoObject"),
    }
)
_ONE_SHARED = (*("product", "article", "book", "video", "profile", "music", "restaurant", "recipe", "food"),)
# How much likelier a page lists records, in log odds, if it states the number of its likeliest list. Of 802 pages
# with records 287 do, and 8 of 699 others; the logarithm of the ratio is 3.2 to 4.3 in five folds over sites.
STATED_LOG_ODDS = 3.0
_SEARCH_FIELD = re.compile(
    r"\bq\b|\bs\b|search|query|keyword|term|find|such|zoek|busca|recherche|ricerca", re.IGNORECASE
)
_LIST_TITLE = re.compile(
    r"\b(search|results?|archives?|category|categories|browse|listings?|shop|tag|opinions|catalog\w*|suche"
    r"|suchergebnisse|archiv|recherche|résultats|busca|búsqueda|resultados|zoeken|ricerca)\b",
    re.IGNORECASE,
)
# Words in the heading of a list that belongs to the thing which the page is about: English, German, French, Spanish,
# Italian, Dutch, the Nordic languages, Polish, Russian, Japanese, Chinese.
_RELATED_HEADING = re.compile(
    r"\b(related|similar|also|recommend\w*|others?|more|reviews?|comments?|customers?|popular|latest|recent"
    r"|ähnliche\w*|auch|mehr|verwandt\w*|similaires?|autres?|recommandé\w*|vous aimerez|relacionad\w*|puede\w*"
    r"|correlat\w*|potrebbe|gerelateerd\w*|også|relatert\w*|relaterede|liknande|podobn\w*|похож\w*|также)\b"
    r"|関連|相关|推荐",
    re.IGNORECASE,
)
# Headings above a list that may say what it is.
MAX_HEADINGS_ABOVE = 2
MIN_LONG_TEXT = 80
MAX_MARGIN = 5.0
# Records that are read one by one.
MAX_READ_RECORDS = 50


@dataclass(frozen=True)
class BoostedTrees:
    """Binary decision trees whose values add up to log odds.

    Attributes:
        feature: the number of the feature that a node compares; -1 for leaves.
        threshold: a row goes left if its feature is at most this.
        left: the node on the left.
        right: the node on the right.
        value: what a leaf adds to the log odds.
        roots: the first node of each tree.
    """

    feature: Longs
    threshold: Doubles
    left: Longs
    right: Longs
    value: Doubles
    roots: Longs

    def log_odds(self, features: Doubles) -> float:
        """Return the sum of what the trees give to a row of features."""
        nodes = self.roots
        while (is_inner := self.feature[nodes] >= 0).any():
            goes_left = features[self.feature[nodes]] <= self.threshold[nodes]
            nodes = np.where(is_inner, np.where(goes_left, self.left[nodes], self.right[nodes]), nodes)
        return float(self.value[nodes].sum())

    def save(self, path: Path) -> None:
        """Write the trees as arrays."""
        np.savez_compressed(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> BoostedTrees:
        """Return the trees that `save` wrote."""
        with np.load(path, allow_pickle=False) as arrays:
            return cls(**{name: arrays[name] for name in cls.__dataclass_fields__})


@cache
def _shipped_trees() -> BoostedTrees:
    return BoostedTrees.load(SHIPPED_TREES)


def list_confidence(features: Doubles, is_stated: bool, trees: BoostedTrees | None = None) -> float:
    """Return the probability that a list is one of records, and its page no detail page.

    Args:
        features: the LIST_FEATURES of the list.
        is_stated: whether the page states that it shows as many results.
        trees: weigh the features; the shipped ones if omitted.
    """
    log_odds = (trees or _shipped_trees()).log_odds(features) + STATED_LOG_ODDS * is_stated
    return float(1 / (1 + np.exp(-log_odds)))


def is_number_stated(profile: PageProfile, group: Group) -> bool:
    """Return True if the page states, in words, that it shows as many results as a group has records."""
    return len(drop_hidden_members(profile, group)) in profile.hints.named_counts


def describe_list(
    page: Page, profile: PageProfile, groups: Sequence[Group], features: Doubles, scores: Doubles, number: int
) -> Doubles:
    """Return the LIST_FEATURES of a group.

    Args:
        page: the page.
        profile: its profile.
        groups: everything that repeats on it.
        features: a row of GROUP_FEATURES per group.
        scores: the score of each group.
        number: the number of the group to describe.
    """
    members = drop_hidden_members(profile, groups[number])
    evidence = _ListEvidence(page, profile, members)
    values = dict(zip(GROUP_FEATURES, features[number].tolist(), strict=True))
    values["score"] = float(scores[number])
    values["margin"] = evidence.margin(groups, scores, number)
    values |= evidence.measure_outside()
    values |= evidence.measure_heading()
    values |= evidence.measure_records()
    values |= evidence.measure_names()
    values |= evidence.measure_declarations()
    values |= evidence.measure_search()
    values |= evidence.measure_relation()
    return np.array([float(values[name]) for name in LIST_FEATURES])


class _ListEvidence:
    """Measures a list and what is outside of it."""

    def __init__(self, page: Page, profile: PageProfile, members: Group) -> None:
        self._page, self._profile, self._tree, self._runs = page, profile, profile.tree, members.runs
        self._lengths = np.diff(profile.chars_before)
        #: texts of the main part that people see, and those of them that are no links
        self._main: Bools = (self._lengths > 0) & (profile.aside == 0) & profile.shown
        self._plain: Bools = self._main & (profile.in_link == 0)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [(run[0], int(self._tree.end[run[-1]])) for run in self._runs]

    @cached_property
    def _inside(self) -> Bools:
        inside = np.zeros(len(self._tree), np.bool_)
        for start, end in self._spans:
            inside[start:end] = True
        return inside

    def margin(self, groups: Sequence[Group], scores: Doubles, number: int) -> float:
        """Return how much better a group is than the best one that does not overlap."""
        overlaps = np.zeros(len(groups), np.bool_)
        for pick in (_first_row, _middle_row, _last_row):
            overlaps |= self._inside[[pick(group) for group in groups]]
        others = scores[~overlaps]
        best = float(others.max()) if len(others) else -np.inf
        return min(MAX_MARGIN, float(scores[number]) - best)

    def measure_outside(self) -> dict[str, float]:
        """Count what the main part shows outside of the list."""
        outside, plain = self._main & ~self._inside, self._plain & ~self._inside
        before = plain[: self._spans[0][0]]
        lengths = self._lengths
        texts = (self._tree.texts[row] for row in np.flatnonzero(outside).tolist())
        return {
            "texts_outside": np.log1p(outside.sum()),
            "plain_outside": np.log1p(plain.sum()),
            "plain_before": np.log1p(lengths[: len(before)][before].sum()),
            "long_outside": np.log1p(lengths[plain & (lengths >= MIN_LONG_TEXT)].sum()),
            "longest_outside": np.log1p(lengths[plain].max(initial=0)),
            "captions_outside": np.log1p(sum(text.rstrip().endswith(":") for text in texts)),
            "headings_outside": self._count_outside(HEADINGS),
            "rows_outside": self._count_outside({"tr"}),
            "images_outside": self._count_outside({"img"}),
            "main_share": lengths[self._main & self._inside].sum() / max(lengths[self._main].sum(), 1.0),
        }

    def _count_outside(self, tags: Sequence[str] | frozenset[str] | set[str]) -> float:
        is_outside = ~self._inside & (self._profile.aside == 0)
        return float(np.log1p((self._tree.has_tag(tags) & is_outside).sum()))

    def measure_heading(self) -> dict[str, float]:
        """Compare the main heading with the page's title and the place of the list."""
        rows = np.flatnonzero(self._tree.has_tag({"h1"}) & self._profile.shown).tolist()
        if not rows:
            return {"h1": 0.0, "h1_in_title": 0.0, "h1_distance": 0.0}
        row, first = rows[0], self._spans[0][0]
        heading = squeeze("".join(self._tree.texts[row : int(self._tree.end[row])])).casefold()
        title = squeeze(self._page.tree.findtext(".//title") or "").casefold()
        between = self._lengths[row:first][self._main[row:first]]
        return {
            "h1": 1.0,
            "h1_in_title": bool(heading) and heading in title,
            "h1_distance": np.log1p(between.sum()),
        }

    def measure_records(self) -> dict[str, float]:
        """Describe links, texts and images of a sample of the records."""
        step = max(1, len(self._runs) // MAX_READ_RECORDS)
        runs = self._runs[::step]
        return self._measure_links(runs) | self._measure_contents(runs)

    def _measure_links(self, runs: Sequence[Run]) -> dict[str, float]:
        links = [self._links(run) for run in runs]
        records_with = Counter(chain.from_iterable(map(set, links)))
        own = [any(records_with[address] == 1 for address in addresses) for addresses in links]
        return {
            "records_linked": np.mean(own),
            "distinct_links": len({addresses[0] for addresses in links if addresses}) / len(runs),
            "links_per_record": np.log1p(np.mean([len(set(addresses)) for addresses in links])),
        }

    def _measure_contents(self, runs: Sequence[Run]) -> dict[str, float]:
        texts = [self._texts_inside(run) for run in runs]
        images = self._tree.total(self._tree.has_tag({"img"}).astype(np.float64))
        return {
            "first_linked": np.mean([bool(rows and self._profile.in_link[rows[0]]) for rows in texts]),
            "texts_per_record": np.log1p(np.mean(list(map(len, texts)))),
            "images": np.mean([any(images[row] > 0 for row in run) for run in runs]),
        }

    def _texts_inside(self, run: Run) -> list[int]:
        return [row for row in self._tree.rows_inside(run) if self._lengths[row]]

    def _links(self, run: Run) -> list[str]:
        rows = (row for row in self._tree.rows_inside(run) if self._tree.tags[row] == "a")
        addresses = (self._tree.elements[row].get("href", "") for row in rows)
        return [
            address
            for address in addresses
            if address and not address.startswith(("#", "javascript:", "mailto:"))
        ]

    def measure_names(self) -> dict[str, float]:
        """Look at the names of the parts around the list and of other parts."""
        around = self._words_around()
        other_words = [
            words & _LIST_WORDS
            for words, inside in zip(self._profile.words, self._inside.tolist(), strict=True)
            if words and not inside
        ]
        named = [words for words in other_words if words]
        return {
            "in_results": not around.isdisjoint(_AROUND_RECORDS),
            "in_reviews": not (around | self._profile.words[self._runs[0][0]]).isdisjoint(_AROUND_PARTS),
            "results_named": any(not words.isdisjoint(RESULT_WORDS) for words in named),
            "paging_named": any(not words.isdisjoint(_PAGING_WORDS) for words in named),
            "list_names": np.log1p(len(named)),
        }

    def _words_around(self) -> frozenset[str]:
        words: set[str] = set()
        row = int(self._tree.parent[self._runs[0][0]])
        while row >= 0:
            words |= self._profile.words[row]
            row = int(self._tree.parent[row])
        return frozenset(words)

    def measure_declarations(self) -> dict[str, float]:
        """Read what the page says about itself."""
        types = Counter(data_object.type for data_object in self._page.embedded.objects(JSON_LD))
        shared = next(self._open_graph_types(), "")
        return {
            "one_declared": any(types[name] == 1 for name in _ONE_THING),
            "one_shared": shared.startswith(_ONE_SHARED),
            "comment_field": next(self._page.tree.iter("textarea"), None) is not None,
        }

    def measure_search(self) -> dict[str, float]:
        """Look for signs that the page answers a search, or shows a category."""
        tree = self._page.tree
        headings = (text for heading in tree.iter("h1") for text in heading.itertext())
        return {
            "searched": any(map(_has_search_words, tree.iter("input"))),
            "list_title": _LIST_TITLE.search(tree.findtext(".//title") or "") is not None,
            "list_heading": any(_LIST_TITLE.search(str(text)) for text in headings),
        }

    def measure_relation(self) -> dict[str, float]:
        """Look for signs that the records belong to the thing which the page is about, such as related products."""
        step = max(1, len(self._runs) // MAX_READ_RECORDS)
        first_links = [next(iter(self._links(run)), "") for run in self._runs[::step]]
        address, base = page_address(self._page), base_address(self._page)
        alike = [bool(link) and are_alike(address, join_address(base, link)) for link in first_links]
        headings = islice(self._headings_above(), MAX_HEADINGS_ABOVE)
        return {
            "like_page": float(np.mean(alike)),
            "headed_related": any(_RELATED_HEADING.search(heading) for heading in headings),
        }

    def _headings_above(self) -> Iterator[str]:
        """Yield the texts of the headings above the list, the nearest first; "" for a main heading."""
        is_heading = self._tree.has_tag(HEADINGS) & self._profile.shown
        for row in np.flatnonzero(is_heading[: self._spans[0][0]])[::-1].tolist():
            text = " ".join(filter(None, self._tree.texts[row : int(self._tree.end[row])]))
            yield "" if self._tree.tags[row] == "h1" else squeeze(text)

    def _open_graph_types(self) -> Iterator[str]:
        for element in self._page.tree.iter("meta"):
            if element.get("property") == "og:type":
                yield element.get("content", "").casefold()


def _has_search_words(field: etree._Element) -> bool:
    """Return True for a search field that has a value."""
    if field.get("type", "text").lower() not in ("text", "search") or not field.get("value", "").strip():
        return False
    names = (field.get(name, "") for name in ("name", "id", "class", "placeholder"))
    return _SEARCH_FIELD.search(" ".join(names)) is not None


def _first_row(group: Group) -> int:
    return group.runs[0][0]


def _middle_row(group: Group) -> int:
    return group.runs[len(group) // 2][0]


def _last_row(group: Group) -> int:
    return group.runs[-1][0]
