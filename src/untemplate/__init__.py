"""Turn template-generated web sites back into the database they were made from."""

from untemplate.errors import (
    InputError,
    LabelError,
    MissingExtra,
    PageError,
    RulesError,
    SchemaError,
    SourceError,
    UntemplateError,
)
from untemplate.labeling import Label, Labeler, read_labels, write_labels
from untemplate.page import Limits, Node, Page, static_text
from untemplate.record import Reason, Record, Value
from untemplate.schema import Attribute, Schema

__all__ = [
    "Attribute",
    "InputError",
    "Label",
    "LabelError",
    "Labeler",
    "Limits",
    "MissingExtra",
    "Node",
    "Page",
    "PageError",
    "Reason",
    "Record",
    "RulesError",
    "Schema",
    "SchemaError",
    "SourceError",
    "UntemplateError",
    "Value",
    "read_labels",
    "static_text",
    "write_labels",
]
