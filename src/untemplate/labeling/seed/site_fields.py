"""The fields of a site as input of the method "seed": features and profiles that need no label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from untemplate.labeling.nodes import Fields, NodeTable, Screen
from untemplate.labeling.nodes.fields import ANY_TEXT, kinds_of
from untemplate.labeling.nodes.node_features import (
    Bags,
    caption_features,
    name_features,
    shape_features,
    topic_features,
    word_features,
)
from untemplate.labeling.nodes.node_table import ELEMENT, pause_collector
from untemplate.layout import VIEWPORT, EstimatedLayout, Layout
from untemplate.page import Page
from untemplate.page.arrays import Bools, Floats, Ints, Numbered, count_distinct, group_rows
from untemplate.page.dom import split_name
from untemplate.schema import Attribute, Schema, Type
from untemplate.value_types import find_typed

__all__ = ["PARTS", "PROFILE", "SiteFields", "hash_words"]

PARTS = ("words", "shape", "caption", "names", "topic")
"""Groups of features, each with its own model: what separates attributes on one site may be missing on the next."""

PROFILE = (
    "coverage",
    "distinct",
    "redundancy",
    "title",
    "heading",
    "main heading",
    "stressed",
    "link",
    "order",
    "captioned",
    "length",
    "tokens",
    "digits",
    "letters",
    "capitals",
    "from heading",
    "prefixed",
    "suffixed",
    "size",
    "bold",
    "left",
    "top",
    "spans nodes",
    "repeated",
)
"""How a field appears on its site, as numbers that can be compared between sites."""

# Words that a text may have before or after another text of its page, and characters of texts that are compared.
MAX_AFFIX_WORDS, MAX_EXTENDED_LENGTH = 3, 120

# A field has a suffix if at least this share of its distinct values end with it.
MIN_SUFFIX_SHARE = 0.9

# A field by slot and caption is as complete as one by slot if it has at least this share of its rows.
MIN_COMPLETE_SHARE = 0.9

# Logarithm of the rows from the heading. Larger distances count the same, since pages differ in length.
MAX_HEADING_DISTANCE = 2.0
# A candidate field of a typed attribute has values of that type in at least this share of its texts. On the sites of
# SWDE all texts of such fields have one.
MIN_TYPED_SHARE = 0.1
# Characters of a text that are searched for a typed value.
MAX_TYPED_LENGTH = 200
# Heavier fonts are bold.
MAX_NORMAL_WEIGHT = 500


class SiteFields:
    """The fields of a site with everything that models and rankers use of them.

    Args:
        pages: Pages of one template.
        schema: The attributes that will be searched; their types decide which nodes become rows.
        layout: Where nodes are on screen; estimated from style sheets if not given.
        with_spans: Whether elements with several texts become rows too. They are half of the work, and no candidates
            of attributes whose values are known to be single texts.
    """

    def __init__(
        self, pages: Iterable[Page], schema: Schema, layout: Layout | None = None, with_spans: bool = True
    ) -> None:
        kinds = set().union(*map(kinds_of, schema.attributes.values()))
        with pause_collector():
            self.table = NodeTable(pages, kinds | {ELEMENT} if with_spans else kinds)
            self.screen = Screen(self.table, layout or EstimatedLayout())
        self.fields = Fields(self.table)
        self._typed: dict[Type, Floats] = {}

    def with_fields(self, fields: Fields) -> SiteFields:
        """Return a copy with other fields of the same rows; what was computed per row is kept."""
        twin = copy(self)
        kept = {"table", "screen", "parts", "value_hashes", "offset", "_typed"}
        twin.__dict__ = {name: value for name, value in self.__dict__.items() if name in kept}
        twin.fields = fields
        return twin

    @cached_property
    def parts(self) -> dict[str, tuple[Bags, Ints]]:
        """For each part its bags, and the number of each row's bag."""
        fields = self.fields
        parts = {
            "words": (Bags(map(word_features, fields.values)), fields.value),
            "shape": (Bags(map(shape_features, fields.values)), fields.value),
            "caption": (Bags(map(caption_features, fields.captions)), fields.caption),
            "names": self._name_bags(),
            "topic": self._topic_bags(),
        }
        return {part: parts[part] for part in PARTS}

    def _name_bags(self) -> tuple[Bags, Ints]:
        """Return a bag for each distinct combination of surroundings, tag path and following text."""
        table = self.table
        kind = group_rows(table.around, table.path, table.following)
        features = []
        for row in np.unique(kind, return_index=True)[1].tolist():
            around, path = table.surroundings[table.around[row]], table.paths[table.path[row]]
            following = table.texts[table.following[row]] if table.following[row] >= 0 else ""
            features.append(name_features(around, path, following))
        return Bags(features), kind

    def _topic_bags(self) -> tuple[Bags, Ints]:
        """Return a bag for each distinct combination of value and captions."""
        fields = self.fields
        kind = group_rows(fields.value, fields.caption)
        features = []
        for row in np.unique(kind, return_index=True)[1].tolist():
            value, captions = fields.values[fields.value[row]], fields.captions[fields.caption[row]]
            features.append(topic_features(value, captions))
        return Bags(features), kind

    @cached_property
    def value_hashes(self) -> npt.NDArray[np.uint64]:
        """A hash of the words of each distinct value; 0 if it has none."""
        return np.array([hash_words(value) for value in self.fields.values], np.uint64)

    @cached_property
    def profile(self) -> Floats:
        """The profile of each field; `PROFILE` names the columns."""
        columns = {
            **self._position_profile(),
            **self._emphasis_profile(),
            **self._value_profile(),
            "prefixed": self.fields.mean(self._worded[self.fields.prefix]),
            "suffixed": self._suffixed,
            "repeated": self.fields.mean(self._repeated),
        }
        return np.column_stack([columns[name] for name in PROFILE]).astype(np.float32)

    def _position_profile(self) -> dict[str, npt.NDArray[np.floating]]:
        """Return on how many pages each field is, and where."""
        table, fields, screen = self.table, self.fields, self.screen
        from_heading = np.minimum(np.log1p(np.abs(self.offset)), MAX_HEADING_DISTANCE)
        return {
            "coverage": fields.size / max(1, len(table.pages)),
            "order": fields.mean(table.order),
            "captioned": fields.mean(table.caption_distance <= 2),
            "from heading": fields.mean(from_heading),
            "left": fields.mean(screen.boxes[:, 0] / VIEWPORT),
            "top": fields.mean(np.log1p(screen.boxes[:, 1] / VIEWPORT)),
            "spans nodes": fields.mean(table.spans_nodes),
        }

    def _emphasis_profile(self) -> dict[str, npt.NDArray[np.floating]]:
        """Return the size and weight of each field's font, and the elements that emphasize it."""
        columns: dict[str, npt.NDArray[np.floating]] = {
            "size": self.fields.mean(self.screen.size),
            "bold": self.fields.mean(self.screen.weight > MAX_NORMAL_WEIGHT),
        }
        for name in ("heading", "main heading", "stressed", "link"):
            flag = attrgetter(name.replace(" ", "_"))
            flags = np.array([flag(around) for around in self.table.surroundings], np.bool_)
            columns[name] = self.fields.mean(flags[self.table.around])
        return columns

    def _value_profile(self) -> dict[str, npt.NDArray[np.floating]]:
        """Return how varied each field's values are, how long, and of which kinds of characters."""
        table, fields = self.table, self.fields
        length = np.array([len(value) for value in fields.values])
        of_values = {
            "length": np.log1p(length),
            "tokens": np.log1p([value.count(" ") + 1 for value in fields.values]),
        }
        starts = [value[:100] for value in fields.values]
        for name, is_kind in (("digits", str.isdigit), ("letters", str.isalpha), ("capitals", str.isupper)):
            counts = np.array([sum(map(is_kind, start)) for start in starts])
            of_values[name] = counts / np.clip(length, 1, 100)
        distinct = count_distinct(fields.field, table.text[fields.row], len(fields))
        return {
            "distinct": distinct / np.maximum(1, fields.size),
            "redundancy": fields.mean(table.redundancy[table.text]),
            "title": fields.mean(table.in_title),
            **{name: fields.mean(column[fields.value]) for name, column in of_values.items()},
        }

    @cached_property
    def forms(self) -> dict[str, Floats]:
        """How each field was formed, and how uniform it is."""
        table, fields = self.table, self.fields
        near_caption = np.where(table.caption_distance <= 1, table.caption, -1)
        same_caption = group_rows(fields.field, near_caption[fields.row])
        counts = np.bincount(same_caption)
        most = np.zeros(len(fields), np.float32)
        np.maximum.at(most, fields.field, counts[same_caption].astype(np.float32))
        return {
            "pure": most / np.maximum(1, fields.size),
            "by slot": (fields.grouping == 0).astype(np.float32),
            "by slot and caption": (fields.grouping == 1).astype(np.float32),
            "by caption": (fields.grouping == 2).astype(np.float32),
            "extended": self._extended,
            "mixed": self._mixed,
        }

    @property
    def _mixed(self) -> Floats:
        """Whether each field by slot has rows of several captions, while a field by slot and caption is as complete.

        An optional fact shifts those after it, so that the fifth item of a list is the ISBN on most pages only.
        """
        fields = self.fields
        by_caption = np.full(len(self.table), -1, np.int32)
        has_caption = fields.grouping[fields.field] == 1
        by_caption[fields.row[has_caption]] = fields.field[has_caption]
        members = np.flatnonzero((fields.grouping[fields.field] == 0) & (by_caption[fields.row] >= 0))
        mixed = np.zeros(len(fields), np.float32)
        if not len(members):
            return mixed
        slot_field, caption_field = fields.field[members], by_caption[fields.row[members]]
        pair = group_rows(slot_field, caption_field)
        shared = np.bincount(pair)[pair]
        size = fields.size[slot_field]
        is_part = (2 * shared >= size) & (shared < size)
        is_complete = fields.size[caption_field] >= MIN_COMPLETE_SHARE * size
        mixed[slot_field[is_part & is_complete]] = 1
        return mixed

    @property
    def _repeated(self) -> Floats:
        """Logarithm of the rows that each row's page has in the same slot after the same caption: items of a list."""
        table = self.table
        same = group_rows(table.page, table.slot, table.caption)
        counts: Floats = np.log(np.bincount(same)).astype(np.float32)
        return counts[same] if len(table) else counts

    @cached_property
    def _extended(self) -> Floats:
        """The share of each field's rows that are another text of their page with the same words around it.

        `Reviews of Chez Nous` and `Chez Nous Photos` are not what they contain.
        """
        fields, affix = self.fields, self._affixes()
        members = np.flatnonzero(affix[fields.row] >= 0)
        extended = np.zeros(len(fields), np.float32)
        if not len(members):
            return extended
        same = group_rows(fields.field[members], affix[fields.row[members]])
        np.maximum.at(extended, fields.field[members], np.bincount(same)[same].astype(np.float32))
        return np.where(extended > 1, extended / np.maximum(1, fields.size), 0).astype(np.float32)

    def _affixes(self) -> Ints:
        """Return the number of the words that each row has beyond another text of its page; −1 if there are none."""
        table = self.table
        affixes = Numbered[str]()
        splits: dict[int, list[tuple[str, int]]] = {}
        column = np.full(len(table), -1, np.int32)
        is_used = table.is_text & ~table.is_excluded & ~table.is_template
        for start, stop in pairwise(table.starts.tolist()):
            rows = start + np.flatnonzero(is_used[start:stop])
            numbers = set(table.text[rows].tolist())
            texts = {table.texts[number] for number in numbers}
            by_text: dict[int, int] = {}
            for number in numbers:
                if number not in splits:
                    splits[number] = [
                        (rest, affixes[words]) for rest, words in _split_affixes(table.texts[number])
                    ]
                by_text[number] = next((affix for rest, affix in splits[number] if rest in texts), -1)
            column[rows] = [by_text[number] for number in table.text[rows].tolist()]
        return column

    @cached_property
    def _worded(self) -> Bools:
        """Whether each prefix is words of a sentence, such as `New`, and no caption. The last entry: no prefix."""
        return np.array([not prefix.endswith(":") for prefix in self.fields.prefixes] + [False], np.bool_)

    @cached_property
    def _suffixed(self) -> Floats:
        """Whether nearly all of a field's distinct values end with the same word, without digits."""
        fields = self.fields
        suffixed = np.zeros(len(fields), np.float32)
        for field in range(len(fields)):
            numbers = set(fields.value[fields.rows_of(field)].tolist())
            suffixed[field] = _have_suffix([fields.values[number] for number in numbers])
        return suffixed

    @cached_property
    def offset(self) -> Ints:
        """How many rows each row is after its page's heading; negative before it.

        The heading is the row that agrees best with the title. Tie-break: prefer heading elements.
        """
        table = self.table
        heading = np.array(
            [around.heading + around.main_heading for around in table.surroundings], np.float32
        )
        unlikely = table.is_excluded | table.is_static | table.spans_nodes
        likely = np.where(unlikely, -1, table.in_title + heading[table.around] / 4)
        offset = np.zeros(len(table), np.int32)
        for start, stop in zip(table.starts[:-1].tolist(), table.starts[1:].tolist(), strict=True):
            if stop > start:
                offset[start:stop] = table.first[start:stop] - start - int(np.argmax(likely[start:stop]))
        return offset

    def candidates(self, attribute: Attribute, spans_nodes: bool = False, crossed_out: bool = False) -> Ints:
        """Return the fields that may contain an attribute: of its kind of nodes and its type, and shown on screen.

        Args:
            attribute: The attribute.
            spans_nodes: Whether it is known to span nodes. Otherwise elements with several texts are no candidates:
                they would look as good as the value inside of them.
            crossed_out: Whether its values are known to be crossed out. Otherwise such texts are no candidates: they
                are former prices and the like.
        """
        fields = self.fields.candidates(kinds_of(attribute))
        fields = fields[self.fields.mean(self.screen.is_shown)[fields] > 0.5]
        if not crossed_out:
            fields = fields[self.fields.mean(self.table.is_crossed_out)[fields] < 0.5]
        if not spans_nodes:
            fields = fields[self.fields.mean(self.table.spans_nodes)[fields] < 0.5]
        if attribute.type in ANY_TEXT:
            return fields
        typed = self.fields.mean(self._typed_shares(attribute.type) > 0)
        return fields[typed[fields] >= MIN_TYPED_SHARE]

    def typed(self, type: Type) -> Floats:
        """Return how much of each field's values looks like a value of a type, from 0 to 1."""
        return self.fields.mean(self._typed_shares(type))

    def _typed_shares(self, type: Type) -> Floats:
        """Return how much of each row's value, or of its full text, looks like a value of a type.

        The full text matters where all texts begin with `$`, which then counts as a caption. Elements around a typed
        text count as untyped.
        """
        if type not in self._typed:
            distinct_texts = {*self.fields.values, *self.table.texts}
            share_of = {text: _typed_share(text, type) for text in distinct_texts}
            values = np.array([share_of[value] for value in self.fields.values])
            texts = np.array([share_of[text] for text in self.table.texts])
            shares = np.maximum(values[self.fields.value], texts[self.table.text])
            is_used = self.table.drop_spans_around(shares > 0)
            self._typed[type] = np.where(is_used, shares, 0).astype(np.float32)
        return self._typed[type]


def _split_affixes(text: str) -> Iterator[tuple[str, str]]:
    """Yield a text without its first or last words, and these words.

    >>> list(_split_affixes("Chez Nous"))
    [('Nous', 'Chez …'), ('Chez', '… Nous')]
    """
    words = text.split(" ") if len(text) <= MAX_EXTENDED_LENGTH else []
    for count in range(1, min(MAX_AFFIX_WORDS, len(words) - 1) + 1):
        yield " ".join(words[count:]), f"{' '.join(words[:count])} …"
        yield " ".join(words[:-count]), f"… {' '.join(words[-count:])}"


def _have_suffix(values: Sequence[str]) -> bool:
    """Return True if there are several values and nearly all end with the same word, without digits.

    A word after a number, such as `lbs`, is a unit and no suffix.
    """
    if len(values) < 3:
        return False
    last_words: Counter[str] = Counter()
    for value in values:
        before, _, word = value.rpartition(" ")
        if before and not any(map(str.isdigit, before.rpartition(" ")[2])):
            last_words[word] += 1
    if not last_words:
        return False
    word, count = last_words.most_common(1)[0]
    return count >= MIN_SUFFIX_SHARE * len(values) and not any(map(str.isdigit, word))


def _typed_share(text: str, type: Type) -> float:
    """Return the share of a text's first characters that is a value of a type."""
    start = text[:MAX_TYPED_LENGTH]
    return len(find_typed(start, type) or "") / max(1, len(start))


def hash_words(text: str) -> int:
    """Return a hash of the words of a text; 0 if it has none."""
    words = " ".join(split_name(text[:300]))
    return int.from_bytes(blake2b(words.encode("utf-8", "replace"), digest_size=8).digest()) if words else 0
