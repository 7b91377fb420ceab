"""The method "auto", the default: all evidence at once.

These kinds of evidence are used together:

- what seed sites taught about the fields of a site, weighed by the rankers of the method "seed";
- what they taught about groups of elements (`labeling/groups/`), for lists of values and for sites with few pages;
- the page's own data, as far as the schema names them (`labeling/embedded.py`);
- agreement: where both name the same values, they confirm each other.

`docs/label.md` says how the default was chosen and what each part is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from untemplate.labeling.embedded import EmbeddedLabeler
from untemplate.labeling.groups import GroupModel
from untemplate.labeling.label import Finding
from untemplate.labeling.methods import LabeledSite
from untemplate.labeling.seed.seed_model import SeedModel
from untemplate.labeling.site_templates import MIN_TEMPLATE_PAGES
from untemplate.page import Page
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Schema

__all__ = ["AutoModel", "agreement", "combine_findings"]

SOURCE = "auto"

# Two findings are the same if they have the same values on at least this share of the pages that both cover.
MIN_AGREEMENT = 0.5
# The page's data must cover this share of the pages to overrule another finding; a few pages may be a mistake.
MIN_DATA_COVERAGE = 0.5

# Pages whose groups of elements are compared: more would make labeling slow, and rules need no more labels.
MAX_GROUP_PAGES = 8


@dataclass(frozen=True)
class AutoModel:
    """What labeled sites taught about a vertical. It is used together with the embedded data of the new site.

    Attributes:
        seed: Models of the fields of a site.
        groups: Models of groups of elements.
    """

    seed: SeedModel
    groups: GroupModel

    @property
    def taught(self) -> Mapping[str, int]:
        """How many sites taught each attribute."""
        return self.seed.taught

    @classmethod
    def train(
        cls, sites: Sequence[LabeledSite], schema: Schema, unlabeled: Sequence[Sequence[Page]] = ()
    ) -> AutoModel:
        """Learn from labeled sites, as the method "seed" does also from unlabeled ones."""
        return cls(SeedModel.train(sites, schema, unlabeled), GroupModel.train(sites, schema))

    def find(self, pages: Sequence[Page], schema: Schema) -> list[Finding]:
        """Return where the attributes are on pages of one template, by all evidence together."""
        has_few_pages = len(pages) < MIN_TEMPLATE_PAGES
        names = schema.attributes if has_few_pages else self.groups.lists
        in_groups = self.groups.find(pages[:MAX_GROUP_PAGES], schema, names) if names else []
        by_name = {finding.attribute: finding for finding in in_groups}
        rest = replace(
            schema, attributes={name: own for name, own in schema.attributes.items() if name not in by_name}
        )
        in_fields = self.seed.find(pages, rest) if rest.attributes else []
        by_name |= {finding.attribute: finding for finding in in_fields}
        taught = [by_name[name] for name in schema.attributes if name in by_name]
        return combine_findings(taught, EmbeddedLabeler(schema).find(pages))

    def teach_together(self, sites: Sequence[Sequence[Page]], schema: Schema) -> list[AutoModel]:
        """Return a model for each of several sites, which all teach each other."""
        return [replace(self, seed=seed) for seed in self.seed.teach_together(sites, schema)]

    def save(self, folder: Path) -> None:
        """Write `groups.json` and the files of the method "seed"."""
        self.groups.save(folder)
        self.seed.save(folder)

    @classmethod
    def load(cls, folder: Path) -> AutoModel:
        """Read what `save` wrote."""
        return cls(SeedModel.load(folder), GroupModel.load(folder))


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
