"""Values that changed, found again by where they stood: the label before them, the names around them, their shape.

For attributes that are not constant: their remembered values tell little of what they are now. A place is taken only
if its neighborhood speaks for it and no other place is nearly as good.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.page import Node, Page
from untemplate.page.captions import text_before
from untemplate.page.sameness import folded_words
from untemplate.rules import Profile
from untemplate.schema import Attribute
from untemplate.value_types import find_typed
from untemplate.watching.bellwethers import names_around
from untemplate.watching.shape import Shape

__all__ = ["find_alike"]

# What speaks for a place: the same label, or most of the names around it; less is a guess.
MIN_SCORE = 0.5
# How much better than any other it must be.
MARGIN = 0.2
# Places of one kind that are looked at more closely: the others are like them.
MAX_SCORED = 5
# A place on fewer of the pages that had a value is not the value's.
MIN_FILL = 0.5


@dataclass
class _Field:
    """Places of one kind, with their texts by page."""

    texts: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    places: dict[str, Label] = field(default_factory=dict)
    scores: list[float] = field(default_factory=list)


def find_alike(
    attribute: Attribute, profile: Profile, golden: Sequence[str], fill: float, pages: Sequence[Page]
) -> list[Label]:
    """Labels at the places most like those remembered; none if it is not clear which these are.

    `fill` is the share of pages that used to have a value.
    """
    shape = Shape.of(golden, attribute.type)
    fields: defaultdict[tuple[str, str, bool], _Field] = defaultdict(_Field)
    readable = 0
    for page in pages:
        try:
            candidates = list(_candidates(page, attribute, shape))
        except PageError:
            continue
        readable += 1
        for node, text, label in candidates:
            known = fields[node.path, label, text == node.text]
            known.texts[page.id].append(text)
            known.places.setdefault(page.id, Label(page.id, attribute.name, text, node.xpath, "neighborhood"))
            if len(known.scores) < MAX_SCORED:
                known.scores.append(_score(node, label, profile))
    ranked = sorted(
        ((_mean(one.scores), one) for one in fields.values() if _is_plausible(one, fill * readable, golden)),
        key=lambda pair: pair[0],
        reverse=True,
    )
    if not ranked or ranked[0][0] < MIN_SCORE:
        return []
    best, rivals = ranked[0][1], [one for score, one in ranked[1:] if score > ranked[0][0] - MARGIN]
    if any(
        rival.texts[page] != texts
        for rival in rivals
        for page, texts in best.texts.items()
        if page in rival.texts
    ):
        return []
    return list(best.places.values())


def _candidates(page: Page, attribute: Attribute, shape: Shape) -> Iterator[tuple[Node, str, str]]:
    """Nodes that hold a text of the right shape, that text, and the label before it."""
    is_link = attribute.type in ("url", "image")
    for node in page.nodes:
        if node.is_attribute != is_link:
            continue
        text = find_typed(node.text, attribute.type) or node.text if not is_link else node.text
        if shape.fits(text):
            before = node.text.partition(text)[0]
            yield node, text, " ".join(folded_words(before) or folded_words(text_before(node)))


def _score(node: Node, label: str, profile: Profile) -> float:
    """How much the neighborhood is like the remembered one: the label for half, the names for half."""
    labels = {" ".join(folded_words(text)) for text in profile.captions}
    names = set(names_around(node.parent))
    shared = sum(name in names for name in profile.names) / len(profile.names) if profile.names else 0.0
    return (bool(label) and label in labels) / 2 + shared / 2


def _is_plausible(found: _Field, expected: float, golden: Sequence[str]) -> bool:
    """Whether there is one on about as many pages as there should be, and not always the same."""
    counts = Counter(texts[0] for texts in found.texts.values())
    varies = len(counts) > 1 or len(set(golden)) == 1 or len(found.texts) == 1
    alone = all(len(texts) == 1 for texts in found.texts.values())
    return varies and alone and len(found.texts) >= MIN_FILL * expected


def _mean(scores: Sequence[float]) -> float:
    return sum(scores) / len(scores)
