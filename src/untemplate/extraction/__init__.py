"""Page and rules to record: match, apply, normalise (Vertex IV-A)."""

from untemplate.extraction.output import open_records, write_records
from untemplate.extraction.rule import Bellwether, Profile, RecordRule, Rule, Selector, Wrapper
from untemplate.extraction.rules import Rules

__all__ = [
    "Bellwether",
    "Profile",
    "RecordRule",
    "Rule",
    "Rules",
    "Selector",
    "Wrapper",
    "open_records",
    "write_records",
]
