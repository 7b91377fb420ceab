"""The fields of a site as input of the method "seed": features and profiles that need no label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from copy import copy
from functools import cached_property
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from untemplate.labeling.nodes import Fields, NodeTable, Screen
from untemplate.labeling.nodes.bags import (
    Bags,
    caption_features,
    name_features,
    shape_features,
    topic_features,
    word_features,
)
from untemplate.labeling.nodes.fields import ANY_TEXT, kinds_of
from untemplate.labeling.nodes.node_table import ELEMENT
from untemplate.layout import VIEWPORT, EstimatedLayout, Layout
from untemplate.page import Page
from untemplate.page.arrays import Bools, Floats, Ints, count_distinct, group_rows
from untemplate.page.dom import split_name
from untemplate.schema import Attribute, Schema, Type
from untemplate.value_types import find_typed

__all__ = ["PARTS", "PROFILE", "SiteFields"]

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
)
"""How a field appears on its site, as numbers that can be compared between sites."""

# A field has a suffix if at least this share of its distinct values end with it.
MIN_SUFFIX_SHARE = 0.9

# Logarithm of the rows from the heading. Larger distances count the same, since pages differ in length.
MAX_HEADING_DISTANCE = 2.0
# A candidate field of a typed attribute has values of that type in at least this share of its texts. On the sites of
# SWDE all texts of such fields have one.
MIN_TYPED_SHARE = 0.1
# Heavier fonts are bold.
MAX_NORMAL_WEIGHT = 500


class SiteFields:
    """The fields of a site with everything that models and rankers use of them.

    Args:
        pages: Pages of one template.
        schema: The attributes that will be searched; their types decide which nodes become rows.
        layout: Where nodes are on screen; estimated from style sheets if not given.
    """

    def __init__(self, pages: Iterable[Page], schema: Schema, layout: Layout | None = None) -> None:
        kinds = {kind for attribute in schema.attributes.values() for kind in kinds_of(attribute)}
        self.table = NodeTable(pages, {*kinds, ELEMENT})
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
        table, fields = self.table, self.fields
        words = Bags(map(word_features, fields.values))
        shapes = Bags(map(shape_features, fields.values))
        labels = Bags(map(caption_features, fields.captions))
        name = group_rows(table.around, table.path, table.following)
        names = Bags(
            name_features(
                table.surroundings[table.around[row]],
                table.paths[table.path[row]],
                table.texts[table.following[row]] if table.following[row] >= 0 else "",
            )
            for row in np.unique(name, return_index=True)[1].tolist()
        )
        topic = group_rows(fields.value, fields.caption)
        topics = Bags(
            topic_features(fields.values[fields.value[row]], fields.captions[fields.caption[row]])
            for row in np.unique(topic, return_index=True)[1].tolist()
        )
        return dict(
            zip(
                PARTS,
                (
                    (words, fields.value),
                    (shapes, fields.value),
                    (labels, fields.caption),
                    (names, name),
                    (topics, topic),
                ),
                strict=True,
            )
        )

    @cached_property
    def value_hashes(self) -> npt.NDArray[np.uint64]:
        """A hash of the words of each distinct value; 0 if it has none."""
        return np.array([hash_of(value) for value in self.fields.values], np.uint64)

    @cached_property
    def profile(self) -> Floats:
        """The profile of each field; `PROFILE` names the columns."""
        table, fields = self.table, self.fields
        around = table.surroundings
        flags = {
            name: np.array([getattr(one, name.replace(" ", "_")) for one in around], np.bool_)[table.around]
            for name in ("heading", "main heading", "stressed", "link")
        }
        values = [value[:100] for value in fields.values]
        length = np.array([len(value) for value in fields.values])
        shown = np.clip(length, 1, 100)
        of_values = {
            "length": np.log1p(length),
            "tokens": np.log1p([value.count(" ") + 1 for value in fields.values]),
            "digits": np.array([sum(map(str.isdigit, value)) for value in values]) / shown,
            "letters": np.array([sum(map(str.isalpha, value)) for value in values]) / shown,
            "capitals": np.array([sum(map(str.isupper, value)) for value in values]) / shown,
        }
        distinct = count_distinct(fields.field, table.text[fields.row], len(fields))
        columns: dict[str, npt.NDArray[np.floating]] = {
            "coverage": fields.size / max(1, len(table.pages)),
            "distinct": distinct / np.maximum(1, fields.size),
            "redundancy": fields.mean(table.redundancy[table.text]),
            "title": fields.mean(table.in_title),
            "order": fields.mean(table.order),
            "captioned": fields.mean(table.caption_distance <= 2),
            "from heading": fields.mean(np.minimum(np.log1p(np.abs(self.offset)), MAX_HEADING_DISTANCE)),
            "prefixed": fields.mean(self._worded[fields.prefix]),
            "size": fields.mean(self.screen.size),
            "bold": fields.mean(self.screen.weight > MAX_NORMAL_WEIGHT),
            "left": fields.mean(self.screen.boxes[:, 0] / VIEWPORT),
            "top": fields.mean(np.log1p(self.screen.boxes[:, 1] / VIEWPORT)),
            "suffixed": self._suffixed,
            "spans nodes": fields.mean(table.spans_nodes),
            **{name: fields.mean(flag) for name, flag in flags.items()},
            **{name: fields.mean(column[fields.value]) for name, column in of_values.items()},
        }
        return np.column_stack([columns[name] for name in PROFILE]).astype(np.float32)

    @cached_property
    def forms(self) -> dict[str, Floats]:
        """How each field was formed, and how uniform it is."""
        table, fields = self.table, self.fields
        labelled = np.where(table.caption_distance <= 1, table.caption, -1)
        own = group_rows(fields.field, labelled[fields.row])
        counts = np.bincount(own)
        most = np.zeros(len(fields), np.float32)
        np.maximum.at(most, fields.field, counts[own].astype(np.float32))
        return {
            "pure": most / np.maximum(1, fields.size),
            "by slot": (fields.grouping == 0).astype(np.float32),
            "by slot and caption": (fields.grouping == 1).astype(np.float32),
            "by caption": (fields.grouping == 2).astype(np.float32),
        }

    @cached_property
    def _worded(self) -> Bools:
        """Whether each prefix is words of a sentence, such as `New`, and no caption. The last entry: no prefix."""
        return np.array([not prefix.endswith(":") for prefix in self.fields.prefixes] + [False], np.bool_)

    @cached_property
    def _suffixed(self) -> Floats:
        """Whether nearly all of a field's distinct values end with the same word, without digits."""
        fields = self.fields
        found = np.zeros(len(fields), np.float32)
        for field in range(len(fields)):
            values = {int(number) for number in fields.value[fields.rows_of(field)]}
            if len(values) < 3:
                continue
            last = Counter(
                fields.values[number].rpartition(" ")[2] for number in values if " " in fields.values[number]
            )
            word, count = last.most_common(1)[0] if last else ("", 0)
            found[field] = count >= MIN_SUFFIX_SHARE * len(values) and not any(map(str.isdigit, word))
        return found

    @cached_property
    def offset(self) -> Ints:
        """How many rows each row is after its page's heading; negative before it.

        The heading is the row that agrees best with the title. Tie-break: prefer heading elements.
        """
        table = self.table
        heading = np.array([one.heading + one.main_heading for one in table.surroundings], np.float32)
        unlikely = table.is_excluded | table.is_static | table.spans_nodes
        likely = np.where(unlikely, -1, table.in_title + heading[table.around] / 4)
        offset = np.zeros(len(table), np.int32)
        for start, stop in zip(table.starts[:-1].tolist(), table.starts[1:].tolist(), strict=True):
            if stop > start:
                offset[start:stop] = table.first[start:stop] - start - int(np.argmax(likely[start:stop]))
        return offset

    def candidates(self, attribute: Attribute, spans_nodes: bool = False) -> Ints:
        """Return the fields that may contain an attribute: of its kind of nodes and its type, and shown on screen.

        Elements with several texts are candidates only if the attribute is known to span nodes. Otherwise they would
        look as good as the value inside of them.
        """
        own = self.fields.candidates(kinds_of(attribute))
        own = own[self.fields.mean(self.screen.is_shown)[own] > 0.5]
        if not spans_nodes:
            own = own[self.fields.mean(self.table.spans_nodes)[own] < 0.5]
        if attribute.type in ANY_TEXT:
            return own
        typed = self.fields.mean(self._typed_shares(attribute.type) > 0)
        return own[typed[own] >= MIN_TYPED_SHARE]

    def typed(self, type: Type) -> Floats:
        """Return how much of each field's values looks like a value of a type, from 0 to 1."""
        return self.fields.mean(self._typed_shares(type))

    def _typed_shares(self, type: Type) -> Floats:
        """Return how much of each row's value, or of its full text, looks like a value of a type.

        The full text matters where all texts begin with `$`, which then counts as a caption. Elements around a typed
        text count as untyped.
        """
        if type not in self._typed:
            values, texts = (
                np.array(
                    [len(find_typed(one[:200], type) or "") / max(1, min(200, len(one))) for one in many]
                )
                for many in (self.fields.values, self.table.texts)
            )
            shares = np.maximum(values[self.fields.value], texts[self.table.text])
            self._typed[type] = np.where(self.table.drop_spans_around(shares > 0), shares, 0).astype(
                np.float32
            )
        return self._typed[type]


def hash_of(text: str) -> int:
    """Return a hash of the words of a text; 0 if it has none."""
    words = " ".join(split_name(text[:300]))
    return int.from_bytes(blake2b(words.encode("utf-8", "replace"), digest_size=8).digest()) if words else 0
