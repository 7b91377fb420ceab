"""Attributes together: a field holds one attribute only, and the attributes of a record stand near each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from untemplate.labeling.seed.ranking import Rankers, softmax
from untemplate.labeling.seed.site_fields import SiteFields
from untemplate.page.arrays import Bools, Doubles, Floats, Ints
from untemplate.schema import Attribute

__all__ = ["JOINT", "JOINT_SIGNS", "gather_joint_evidence", "rank_jointly"]

JOINT_SIGNS: dict[str, int] = {
    "score": +1,
    "taken": -1,  # the chance that the field's rows hold another attribute
    "nearest": -1,  # rows between it and the nearest of the other attributes, logarithmic
    "spread": -1,  # the mean of that over all other attributes
}
JOINT = tuple(JOINT_SIGNS)

# How often choices are made anew in view of all others.
ROUNDS = 2
# Fields of another attribute that distances are measured to: the likeliest, as long as they have so much of a chance.
# Set by hand, as is the next; with both, 0.934 of F1 on SWDE's fields became 0.940, counted once.
LIKELY, LEAST_CHANCE = 5, 0.02
# A typed value, such as a date, that is so much of the text of its field stands among other words.
INSIDE = (0.1, 0.8)


def rank_jointly(
    site: SiteFields,
    attributes: Mapping[str, Attribute],
    candidates: dict[str, Ints],
    scores: dict[str, Doubles],
    rankers: Rankers,
) -> dict[str, Doubles]:
    """Scores of each attribute's candidate fields in view of those of all others."""
    current = scores
    for _ in range(ROUNDS):
        evidence = gather_joint_evidence(site, attributes, candidates, scores, current)
        current = {name: rankers.score_jointly(columns, JOINT) for name, columns in evidence.items()}
    return current


def gather_joint_evidence(
    site: SiteFields,
    attributes: Mapping[str, Attribute],
    candidates: dict[str, Ints],
    scores: dict[str, Doubles],
    current: dict[str, Doubles],
) -> dict[str, Floats]:
    """The evidence of each attribute's candidates, a column each as `JOINT` names them."""
    fields, table = site.fields, site.table
    position = fields.mean(table.first - table.starts[table.page])
    likely = {name: softmax(values) for name, values in current.items()}
    taken, distances = {}, {}
    for name, chance in likely.items():
        of_fields = np.zeros(len(fields))
        of_fields[candidates[name]] = chance
        of_rows = np.zeros(len(table))
        np.maximum.at(of_rows, fields.row, of_fields[fields.field])
        taken[name] = fields.mean(of_rows)
        best = np.argsort(-chance, kind="stable")[:LIKELY]
        best = best[chance[best] >= min(LEAST_CHANCE, chance[best[0]])]
        apart = np.log1p(np.abs(position[:, None] - position[None, candidates[name][best]]))
        distances[name] = apart @ chance[best] / float(chance[best].sum())
    found = {}
    for name, score in scores.items():
        others = [other for other in scores if other != name]
        own = candidates[name]
        if others:
            away = np.array([distances[other][own] for other in others])
            alone = ~_among_words(site, attributes[name])[own]
            columns = [
                np.max([taken[other][own] for other in others], axis=0) * alone,
                away.min(axis=0),
                away.mean(axis=0),
            ]
        else:
            columns = [np.zeros(len(own))] * 3
        found[name] = np.column_stack([score, *columns]).astype(np.float32)
    return found


def _among_words(site: SiteFields, attribute: Attribute) -> Bools:
    """Whether the values of each field hold the attribute's among other words, which may be another attribute's:
    `Knopf; first edition (May 25, 2010)`.
    """
    if attribute.type == "text":
        return np.zeros(len(site.fields), np.bool_)
    share = site.typed(attribute.type)
    among: Bools = (share > INSIDE[0]) & (share < INSIDE[1])
    return among
