"""Where leaves stand on the pages of a site, and what other pages tell of them.

The paper labels each detail page by itself. Here the pages of a site are read together: leaves in the same place of
different pages are a column, like those of the records of a list, and share its features.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from untemplate.lists.scene import Column, Scene

__all__ = ["Path", "Place", "find_places", "site_texts", "tell"]

# A text that stands on this share of a site's pages, and on two at least, is its own.
COMMON = 0.5
# The label of a value is the text of the site before it, so many leaves away at most.
FAR = 4
# Of a place so many words are known, those that most pages have, and so many letters with which all texts begin.
MAX_WORDS = 12
MAX_SHARED = 8

_WORD = re.compile(r"\w+")

Path = tuple[tuple[str, str], ...]
"""The tags and classes around a leaf."""


class Place(NamedTuple):
    """Where a leaf stands: its path; if several have it, the site's text before it, how far, and its number."""

    path: Path
    label: str = ""
    distance: int = 0
    number: int = 0


def site_texts(scenes: Sequence[Scene]) -> set[str]:
    """The texts of the site itself, such as labels and menus."""
    counts = Counter(text for scene in scenes for text in {*scene.texts})
    least = max(2, COMMON * len(scenes))
    return {text for text, count in counts.items() if text and count >= least}


def find_places(scenes: Sequence[Scene], common: set[str]) -> list[dict[Place, int]]:
    """The leaves with a text of each page by their places, the same on all pages."""
    paths = [_paths(scene) for scene in scenes]
    counts = [Counter(own.values()) for own in paths]
    several = {path for own in counts for path, count in own.items() if count > 1}
    found: list[dict[Place, int]] = []
    for scene, own in zip(scenes, paths, strict=True):
        seen: Counter[Place] = Counter()
        leaves: dict[Place, int] = {}
        label, distance = "", 0
        for block, path in own.items():
            distance += 1
            if scene.texts[block] in common:
                label, distance = scene.texts[block], 0
            near = (label, distance) if distance <= FAR else ("", 0)
            place = Place(path, *near) if path in several else Place(path)
            leaves[place._replace(number=seen[place])] = block
            seen[place] += 1
        found.append(leaves)
    return found


def _paths(scene: Scene) -> dict[int, Path]:
    """The path of each leaf with a text."""
    tree = scene.profile.tree
    steps: list[Path] = []
    for item, tag, parent in zip(tree.items, tree.tags, tree.parent.tolist(), strict=True):
        above = steps[parent] if parent >= 0 else ()
        steps.append(above if isinstance(item, str) else (*above, (tag, item.get("class", ""))))
    return {block: steps[rows[0]] for block, rows in enumerate(scene.vision.rows) if scene.texts[block]}


def tell(
    scenes: Sequence[Scene], places: Sequence[dict[Place, int]], titles: Sequence[str], common: set[str]
) -> list[dict[int, list[str]]]:
    """Of each page the features that the same places of other pages tell of its leaves."""
    told: list[dict[int, list[str]]] = [{} for _ in scenes]
    labels = [_labels_before(scene, common) for scene in scenes]
    columns: dict[Place, dict[int, int]] = {}
    for number, own in enumerate(places):
        for place, leaf in own.items():
            columns.setdefault(place, {})[number] = leaf
    for leaves in columns.values():
        texts = [scenes[number].texts[leaf] for number, leaf in leaves.items()]
        standing = [scenes[number].link_and_heading(leaf) for number, leaf in leaves.items()]
        linked, headed = zip(*standing, strict=True)
        column = Column.measure(dict.fromkeys(leaves.values(), 0), len(scenes), texts, linked, headed)
        in_title = mean(
            len(text) > 2 and text in titles[number] for number, text in zip(leaves, texts, strict=True)
        )
        features = [f"!{name}" for name in column.features()]
        features.append(f"!column in title {round(4 * in_title)}")
        words = Counter(word for text in texts for word in {*_words(text)})
        features += [f"~column word {word}" for word, _ in words.most_common(MAX_WORDS)]
        before = Counter(labels[number][leaf] for number, leaf in leaves.items())
        label, shared = before.most_common(1)[0][0], _shared_start(texts)
        if len(texts) > 1 and shared:
            features.append(f"~column begins {shared[:MAX_SHARED]}")
            label = shared if ":" in shared and _words(shared) else label
        features.append(f"~label {' '.join(_words(label))}")
        features += [f"~label word {word}" for word in _words(label)[-4:]]
        for number, leaf in leaves.items():
            told[number][leaf] = [*features, f"!common {scenes[number].texts[leaf] in common}"]
    return told


def _labels_before(scene: Scene, common: set[str]) -> dict[int, str]:
    """The text of the site before each leaf, if it is near."""
    found: dict[int, str] = {}
    label, distance = "", 0
    for block, text in enumerate(scene.texts):
        if text:
            distance += 1
            found[block] = label if distance <= FAR else ""
            if text in common:
                label, distance = text, 0
    return found


def _shared_start(texts: Sequence[str]) -> str:
    """The letters with which all of these texts begin."""
    low, high = min(texts), max(texts)
    differ = (number for number, (one, other) in enumerate(zip(low, high, strict=False)) if one != other)
    return low[: next(differ, len(low))]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
