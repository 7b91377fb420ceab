"""Find values that changed by what surrounds them: the caption, the names of classes and ids, their shape."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from untemplate.labeling import Label
from untemplate.page import Node, Page
from untemplate.page.captions import text_before
from untemplate.page.dom import words_around
from untemplate.page.same_values import folded_words
from untemplate.rules import Profile
from untemplate.schema import Attribute
from untemplate.value_types import find_typed
from untemplate.watching.bellwethers import NAMED_LEVELS
from untemplate.watching.value_shape import ValueShape

__all__ = ["find_alike"]

# Similar surroundings: the same caption, or most of the names. A lower score is a guess.
MIN_PLACE_SCORE = 0.5
# How much better than any other place the best one must be.
MIN_MARGIN = 0.2
# Nodes of one place that are scored: the others are like them.
MAX_SCORED_NODES = 5
# A place on a smaller share of the pages that had a value does not show that value.
MIN_PLACE_SHARE = 0.5


@dataclass
class _SimilarPlace:
    """Nodes with the same path and caption on several pages, as a candidate for a value that changed."""

    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))  # by page
    labels: dict[str, Label] = field(default_factory=dict)  # the first node of each page
    scores: list[float] = field(default_factory=list)

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)

    def is_plausible(self, expected_pages: float, golden: Sequence[str]) -> bool:
        """Return True if it is on about as many pages as expected, once a page, and not always the same."""
        if any(len(texts) > 1 for texts in self.texts.values()):
            return False
        different = {texts[0] for texts in self.texts.values()}
        varies = len(different) > 1 or len(set(golden)) == 1 or len(self.texts) == 1
        return varies and len(self.texts) >= MIN_PLACE_SHARE * expected_pages

    def agrees_with(self, other: _SimilarPlace) -> bool:
        """Return True if two places show the same texts on all pages that have both."""
        return all(self.texts[page] == other.texts[page] for page in self.texts.keys() & other.texts.keys())


def find_alike(
    attribute: Attribute, profile: Profile, golden: Sequence[str], fill: float, pages: Sequence[Page]
) -> list[Label]:
    """Return labels at the place whose surroundings are most similar to those remembered.

    Args:
        attribute: the attribute to find.
        profile: the captions and names that used to be around its values.
        golden: its remembered values, for their shape.
        fill: the share of pages that used to have a value.
        pages: fresh pages.

    Returns:
        No labels if no place is similar enough, or if another is nearly as similar but shows other texts.
    """
    readable = [page for page in pages if not page.why_unreadable()]
    places = _group_places(readable, attribute, profile, ValueShape.of(golden, attribute.type))
    plausible = [place for place in places if place.is_plausible(fill * len(readable), golden)]
    best = max(plausible, key=lambda place: place.score, default=None)
    if best is None or best.score < MIN_PLACE_SCORE:
        return []
    rivals = [place for place in plausible if place.score > best.score - MIN_MARGIN]
    return list(best.labels.values()) if all(map(best.agrees_with, rivals)) else []


def _group_places(
    pages: Iterable[Page], attribute: Attribute, profile: Profile, shape: ValueShape
) -> Iterable[_SimilarPlace]:
    """Return all places with texts of the right shape: nodes with the same path and caption."""
    places: defaultdict[tuple[str, str, bool], _SimilarPlace] = defaultdict(_SimilarPlace)
    for page in pages:
        for node, text, caption in _fitting_nodes(page, attribute, shape):
            place = places[node.path, caption, text == node.text]
            place.texts[page.id].append(text)
            place.labels.setdefault(page.id, Label(page.id, attribute.name, text, node.xpath, "neighborhood"))
            if len(place.scores) < MAX_SCORED_NODES:
                place.scores.append(_surroundings_score(node, caption, profile))
    return places.values()


def _fitting_nodes(page: Page, attribute: Attribute, shape: ValueShape) -> Iterator[tuple[Node, str, str]]:
    """Yield nodes that contain a text of the right shape, that text, and its caption."""
    is_link = attribute.type in ("url", "image")
    for node in page.nodes:
        if node.is_attribute != is_link:
            continue
        text = node.text if is_link else find_typed(node.text, attribute.type) or node.text
        if shape.fits(text):
            before = node.text.partition(text)[0]
            yield node, text, " ".join(folded_words(before) or folded_words(text_before(node)))


def _surroundings_score(node: Node, caption: str, profile: Profile) -> float:
    """Return from 0 to 1 how similar the surroundings are: half for the caption, half for the names."""
    captions = {" ".join(folded_words(text)) for text in profile.captions}
    names = set(words_around(node.parent, NAMED_LEVELS))
    shared = sum(name in names for name in profile.names) / len(profile.names) if profile.names else 0.0
    has_caption = bool(caption) and caption in captions
    return has_caption / 2 + shared / 2
