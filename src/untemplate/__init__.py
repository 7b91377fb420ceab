"""Turn template-generated web sites back into the database they were made from."""

from typing import TYPE_CHECKING

from untemplate.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from untemplate.catalog import Catalog
    from untemplate.clustering import Cluster, Clustering, cluster
    from untemplate.errors import (
        CatalogError,
        InputError,
        KnowledgeError,
        LabelError,
        MissingExtra,
        PageError,
        RulesError,
        SchemaError,
        SourceError,
        UntemplateError,
        VersionConflict,
    )
    from untemplate.extraction import Rules
    from untemplate.labeling import Finding, Knowledge, Label, Labeler, read_labels, train, write_labels
    from untemplate.lists import (
        Row,
        Rows,
        SiteColumns,
        find_records,
        find_site_records,
        follow_lists,
        follow_rows,
        list_model,
    )
    from untemplate.output import to_frame, write_records
    from untemplate.page import Limits, Node, Page, static_text
    from untemplate.pipeline import learn
    from untemplate.record import Reason, Record, Value
    from untemplate.sampling import sample
    from untemplate.schema import Attribute, Schema
    from untemplate.sources import Pages, read_pages
    from untemplate.value_types import Price
    from untemplate.watching import Alarm, Report, heal, watch

__all__ = [
    "Alarm",
    "Attribute",
    "Catalog",
    "CatalogError",
    "Cluster",
    "Clustering",
    "Finding",
    "InputError",
    "Knowledge",
    "KnowledgeError",
    "Label",
    "LabelError",
    "Labeler",
    "Limits",
    "MissingExtra",
    "Node",
    "Page",
    "PageError",
    "Pages",
    "Price",
    "Reason",
    "Record",
    "Report",
    "Row",
    "Rows",
    "Rules",
    "RulesError",
    "Schema",
    "SchemaError",
    "SiteColumns",
    "SourceError",
    "UntemplateError",
    "Value",
    "VersionConflict",
    "cluster",
    "find_records",
    "find_site_records",
    "follow_lists",
    "follow_rows",
    "heal",
    "learn",
    "list_model",
    "read_labels",
    "read_pages",
    "sample",
    "static_text",
    "to_frame",
    "train",
    "watch",
    "write_labels",
    "write_records",
]

# Where each name lives.
_HOMES = {
    "catalog": ("Catalog",),
    "clustering": ("Cluster", "Clustering", "cluster"),
    "errors": (
        "CatalogError",
        "InputError",
        "KnowledgeError",
        "LabelError",
        "MissingExtra",
        "PageError",
        "RulesError",
        "SchemaError",
        "SourceError",
        "UntemplateError",
        "VersionConflict",
    ),
    "extraction": ("Rules",),
    "labeling": ("Finding", "Knowledge", "Label", "Labeler", "read_labels", "train", "write_labels"),
    "lists": (
        "Row",
        "Rows",
        "SiteColumns",
        "find_records",
        "find_site_records",
        "follow_lists",
        "follow_rows",
        "list_model",
    ),
    "output": ("to_frame", "write_records"),
    "page": ("Limits", "Node", "Page", "static_text"),
    "value_types": ("Price",),
    "pipeline": ("learn",),
    "record": ("Reason", "Record", "Value"),
    "sampling": ("sample",),
    "schema": ("Attribute", "Schema"),
    "sources": ("Pages", "read_pages"),
    "watching": ("Alarm", "Report", "heal", "watch"),
}
__getattr__ = _lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
