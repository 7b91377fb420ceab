"""Evidence that a field contains an attribute, as numbers that mean the same in every vertical.

A ranker that was trained on other verticals weighs them. So nothing here may depend on what the attribute is.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from untemplate.labeling.seed.attribute_model import AttributeModel
from untemplate.labeling.seed.site_fields import PARTS, PROFILE, SiteFields
from untemplate.page.arrays import Floats, Ints
from untemplate.page.class_words import split_name
from untemplate.schema import Attribute

__all__ = ["EVIDENCE", "SIGNS", "gather_evidence"]

# Names nearest to a row that are searched for the attribute's own name.
NAMES = 4

_COMPARED = (*PARTS, "values", "named", "parts", "content")

SIGNS: dict[str, int] = {
    **dict.fromkeys(PARTS, +1),
    **{f"reliable {part}": +1 for part in PARTS},
    "values": +1,  # the share of values that are the attribute's on a seed site
    "other values": -1,  # the share that are something else there
    "named": +1,  # words of the attribute's own name in the label
    "named mark": +1,  # in class names and ids
    "typed": +1,
    "untyped": -1,
    "prefixed": -1,
    "suffixed": -1,
    "pure": +1,
    "by slot": 0,
    "by slot and caption": 0,
    "by caption": 0,
    "coverage": +1,
    "title": +1,
    "size": +1,
    "bold": +1,
    "order": 0,
    "from heading": 0,
    **{f"unlike {name}": -1 for name in PROFILE},
    "best clue": +1,
    "parts": +1,
    **{f"{name} below best": +1 for name in _COMPARED},
    **{f"{name} rank": -1 for name in _COMPARED},
}
"""The sign of each number's weight: + speaks for the field, - against it, 0 allows both."""

EVIDENCE = tuple(SIGNS)

# Ranks from here on are alike.
MAX_RANK = 30


def gather_evidence(
    site: SiteFields, candidates: Ints, attribute: Attribute, model: AttributeModel
) -> Floats:
    """Return the evidence for each candidate field; `EVIDENCE` names the columns."""
    fields = site.fields
    columns: dict[str, Floats] = {}
    for part in PARTS:
        bags, numbers = site.parts[part]
        columns[part] = fields.mean(model.parts[part].score(bags)[numbers])
        columns[f"reliable {part}"] = columns[part] * np.float32(model.parts[part].reliability)
    hashes = site.value_hashes
    columns["values"] = fields.mean(np.isin(hashes, model.values)[fields.value])
    columns["other values"] = fields.mean(np.isin(hashes, model.others)[fields.value])
    columns |= _naming(site, attribute)
    typed = site.typed(attribute.type) if attribute.type != "text" else None
    columns["typed"] = typed if typed is not None else np.zeros(len(fields), np.float32)
    columns["untyped"] = 1 - typed if typed is not None else np.zeros(len(fields), np.float32)
    columns |= site.forms
    for number, name in enumerate(PROFILE):
        own = site.profile[:, number]
        unlike = np.abs(own[:, None] - model.profiles[None, :, number])
        columns[f"unlike {name}"] = unlike.min(axis=1) if unlike.size else np.zeros_like(own)
        if name in SIGNS:
            columns[name] = own
    content = (columns["words"] + columns["shape"]) / 2
    columns["best clue"] = np.maximum(content, columns["caption"])
    columns["parts"] = np.sum([columns[part] for part in PARTS], axis=0)
    columns = {name: column[candidates] for name, column in columns.items()}
    for name in _COMPARED:
        column = content[candidates] if name == "content" else columns[name]
        columns[f"{name} below best"] = column - column.max(initial=-np.inf)
        better = len(column) - np.searchsorted(np.sort(column), column, side="right")
        columns[f"{name} rank"] = (np.minimum(MAX_RANK, better) / MAX_RANK).astype(np.float32)
    return np.column_stack([columns[name] for name in EVIDENCE]).astype(np.float32)


def _naming(site: SiteFields, attribute: Attribute) -> dict[str, Floats]:
    """Return the share of the words of the attribute's name that are in captions and in class names, per field."""
    table, fields = site.table, site.fields
    words = frozenset(map(_stem, split_name(attribute.name)))

    def share(others: Iterable[str]) -> float:
        return len(words.intersection(map(_stem, others))) / max(1, len(words))

    labels = np.array([share(w for label in labels for w in split_name(label)) for labels in fields.captions])
    marks = np.array([share(around.names[:NAMES]) for around in table.surroundings])
    return {
        "named": fields.mean(labels[fields.caption]),
        "named mark": fields.mean(marks[table.around]),
    }


def _stem(word: str) -> str:
    """Return a word without the s of the plural: `Engines` name an engine."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word
