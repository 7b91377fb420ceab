"""Slots: the same position on the pages of a site, and features that compare its texts.

The paper labels each detail page by itself. We read the pages of a site together: the leaves of one slot are a
column, like those of the records of a list, and share its features.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import mean
from typing import NamedTuple

from untemplate.lists.scene import Column, Scene

__all__ = ["ClassPath", "SlotKey", "find_site_texts", "find_slots", "site_features"]

# A text on this share of a site's pages, and on at least two, belongs to the site: captions, menus and the like.
MIN_SITE_TEXT_SHARE = 0.5
# The caption of a value is the site text before it, at most this many leaves away.
MAX_CAPTION_DISTANCE = 4
# Words of a slot that are features, those on the most pages; and letters with which all of its texts begin.
MAX_SLOT_WORDS = 12
MAX_SHARED_START = 8
# Words of a caption that are features, the last ones.
MAX_CAPTION_WORDS = 4

_WORD = re.compile(r"\w+")

ClassPath = tuple[tuple[str, str], ...]
"""The tags and classes from the root of a page to a leaf."""


class SlotKey(NamedTuple):
    """The position of a leaf, comparable between the pages of a site.

    The path is enough if no page has two leaves with it. Otherwise the caption before the leaf, its distance and a
    running number make the position unique.
    """

    path: ClassPath
    caption: str = ""
    distance: int = 0
    number: int = 0


def find_site_texts(scenes: Sequence[Scene]) -> set[str]:
    """Return the texts that belong to the site itself, such as captions and menus."""
    counts: Counter[str] = Counter()
    for scene in scenes:
        counts.update({*scene.texts} - {""})
    min_count = max(2, MIN_SITE_TEXT_SHARE * len(scenes))
    return {text for text, count in counts.items() if count >= min_count}


def find_slots(scenes: Sequence[Scene], site_texts: Collection[str]) -> list[dict[SlotKey, int]]:
    """Return per page its leaves with a text by their slots."""
    paths = [_leaf_paths(scene) for scene in scenes]
    repeated: set[ClassPath] = set()
    for leaf_paths in paths:
        counts = Counter(leaf_paths.values())
        repeated.update(path for path, count in counts.items() if count > 1)
    pages = zip(scenes, paths, strict=True)
    return [_page_slots(scene, leaf_paths, repeated, site_texts) for scene, leaf_paths in pages]


def _page_slots(
    scene: Scene, paths: Mapping[int, ClassPath], repeated: Collection[ClassPath], site_texts: Collection[str]
) -> dict[SlotKey, int]:
    captions = _captions_before(scene, site_texts)
    counts: Counter[SlotKey] = Counter()
    slots: dict[SlotKey, int] = {}
    for leaf, path in paths.items():
        slot = SlotKey(path)
        if path in repeated:
            text = scene.texts[leaf]
            caption, distance = (text, 0) if text in site_texts else captions[leaf]
            slot = SlotKey(path, caption, distance)
        slots[slot._replace(number=counts[slot])] = leaf
        counts[slot] += 1
    return slots


def _leaf_paths(scene: Scene) -> dict[int, ClassPath]:
    """Return the path of each leaf with a text."""
    tree = scene.profile.tree
    paths: list[ClassPath] = []
    for item, tag, parent in zip(tree.items, tree.tags, tree.parent.tolist(), strict=True):
        above = paths[parent] if parent >= 0 else ()
        paths.append(above if isinstance(item, str) else (*above, (tag, item.get("class", ""))))
    return {leaf: paths[rows[0]] for leaf, rows in enumerate(scene.vision.rows) if scene.texts[leaf]}


def _captions_before(scene: Scene, site_texts: Collection[str]) -> dict[int, tuple[str, int]]:
    """Return the site text before each leaf with a text, and its distance in leaves; ("", 0) if it is too far."""
    captions: dict[int, tuple[str, int]] = {}
    caption, distance = "", 0
    for leaf, text in enumerate(scene.texts):
        if not text:
            continue
        distance += 1
        captions[leaf] = (caption, distance) if distance <= MAX_CAPTION_DISTANCE else ("", 0)
        if text in site_texts:
            caption, distance = text, 0
    return captions


def site_features(
    scenes: Sequence[Scene],
    slots: Sequence[Mapping[SlotKey, int]],
    titles: Sequence[str],
    site_texts: Collection[str],
) -> list[dict[int, list[str]]]:
    """For each page, map each leaf to features computed from the same slot on the site's other pages.

    Args:
        scenes: the pages.
        slots: their leaves by slots, as from `find_slots`.
        titles: their titles.
        site_texts: the texts of the site itself.
    """
    captions = [_captions_before(scene, site_texts) for scene in scenes]
    features: list[dict[int, list[str]]] = [{} for _ in scenes]
    for leaves in _leaves_by_slot(slots):
        texts = [scenes[page].texts[leaf] for page, leaf in leaves.items()]
        usual_caption = Counter(captions[page][leaf][0] for page, leaf in leaves.items()).most_common(1)[0][0]
        shared = _slot_statistics(scenes, leaves, titles) + _slot_words(texts, usual_caption)
        for (page, leaf), text in zip(leaves.items(), texts, strict=True):
            features[page][leaf] = [*shared, f"!common {text in site_texts}"]
    return features


def _leaves_by_slot(slots: Sequence[Mapping[SlotKey, int]]) -> list[dict[int, int]]:
    """Return for each slot the pages that have it, by number, with their leaf."""
    columns: dict[SlotKey, dict[int, int]] = {}
    for page, leaves in enumerate(slots):
        for slot, leaf in leaves.items():
            columns.setdefault(slot, {})[page] = leaf
    return list(columns.values())


def _slot_statistics(scenes: Sequence[Scene], leaves: Mapping[int, int], titles: Sequence[str]) -> list[str]:
    """Return statistics of a slot's texts."""
    texts = [scenes[page].texts[leaf] for page, leaf in leaves.items()]
    contexts = [scenes[page].link_and_heading(leaf) for page, leaf in leaves.items()]
    linked, headed = zip(*contexts, strict=True)
    column = Column.measure(dict.fromkeys(leaves.values(), 0), len(scenes), texts, linked, headed)
    pages = zip(leaves, texts, strict=True)
    in_title = mean(len(text) > 2 and text in titles[page] for page, text in pages)
    return [*(f"!{name}" for name in column.features()), f"!column in title {round(4 * in_title)}"]


def _slot_words(texts: Sequence[str], caption: str) -> list[str]:
    """Return the words of a slot's texts and of its caption."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update({*_split_words(text)})
    features = [f"~column word {word}" for word, _ in counts.most_common(MAX_SLOT_WORDS)]
    start = _shared_start(texts) if len(texts) > 1 else ""
    if start:
        features.append(f"~column begins {start[:MAX_SHARED_START]}")
    if ":" in start and _split_words(start):
        caption = start
    words = _split_words(caption)
    features.append(f"~label {' '.join(words)}")
    return features + [f"~label word {word}" for word in words[-MAX_CAPTION_WORDS:]]


def _shared_start(texts: Sequence[str]) -> str:
    """Return the characters with which all texts begin."""
    # What the first and the last text in alphabetical order share, all texts share.
    low, high = min(texts), max(texts)
    for index, char in enumerate(low):
        if high[index : index + 1] != char:
            return low[:index]
    return low


def _split_words(text: str) -> list[str]:
    return _WORD.findall(text.lower())
