"""The method "auto", the default: all evidence at once.

Three kinds of evidence are used together:

- what seed sites taught, weighed by the rankers of the method "seed";
- the page's own data, as far as the schema names them (`labeling/embedded.py`);
- agreement: where both name the same values, they confirm each other.

`docs/label.md` says how the default was chosen and what each part is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from untemplate.labeling.embedded import EmbeddedLabeler
from untemplate.labeling.label import Finding
from untemplate.labeling.methods import LabeledSite
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.page import Page
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Schema

__all__ = ["AutoModel", "agreement", "combine_findings"]

SOURCE = "auto"

# Two findings are the same if they have the same values on at least this share of the pages that both cover.
MIN_AGREEMENT = 0.5
# The page's data must cover this share of the pages to overrule another finding; a few pages may be a mistake.
MIN_DATA_COVERAGE = 0.5


@dataclass(frozen=True)
class AutoModel:
    """What labeled sites taught about a vertical. It is used together with the embedded data of the new site."""

    seed: SeedModel

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> AutoModel:
        """Learn as the method "seed" does; the page's data need no training."""
        return cls(SeedModel.train(sites, schema, unlabeled))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template, by all evidence together."""
        return combine_findings(self.seed.find(pages, schema), EmbeddedLabeler(schema).find(pages))

    def teach_together(self, sites: Sequence[Sequence[Page]], schema: Schema) -> list[AutoModel]:
        """Return a model for each of several sites, which all teach each other."""
        return [AutoModel(seed) for seed in self.seed.teach_together(sites, schema)]

    def save(self, folder: Path) -> None:
        """Write the files of the method "seed"."""
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> AutoModel:
        """Read what `save`, or the method "seed", wrote."""
        return cls(SeedModel.load(folder))


def combine_findings(taught: Sequence[Finding], by_data: Sequence[Finding]) -> list[Finding]:
    """Return one finding for each attribute, from what seed sites taught and what the page's data say.

    If both have the same values, the places that seed sites taught are used, and they are surer than each alone. If
    they differ, the data decide, if they are on most pages: they name their values, and the page shows them.
    """
    data = {finding.attribute: finding for finding in by_data}
    combined = [_combine(finding, data.pop(finding.attribute, None)) for finding in taught]
    return [*combined, *(replace(finding, source=SOURCE) for finding in data.values())]


def _combine(taught: Finding, by_data: Finding | None) -> Finding:
    if by_data is None or by_data.coverage < MIN_DATA_COVERAGE:
        return replace(taught, source=SOURCE)
    if agreement(taught, by_data) < MIN_AGREEMENT:
        return replace(by_data, source=SOURCE)
    confidence = 1 - (1 - taught.confidence) * (1 - by_data.confidence)
    return replace(taught, confidence=confidence, found=True, source=SOURCE)


def agreement(first: Finding, second: Finding) -> float:
    """Return the share of the pages with both findings on which they have the same values."""
    values, other_values = _values_by_page(first), _values_by_page(second)
    shared = values.keys() & other_values.keys()
    if not shared:
        return 0.0
    return sum(values[page] == other_values[page] for page in shared) / len(shared)


def _values_by_page(finding: Finding) -> dict[int, list[str]]:
    """Return the letters and digits of the values of each page, by `id()` of the page."""
    values: dict[int, list[str]] = {}
    for page, node in finding.places:
        values.setdefault(id(page), []).append(letters_and_digits(node.text))
    return values
