"""What can go wrong, as one tree.

UntemplateError
├── InputError        something the user gave cannot be used: one line, what and where and what to do
│   ├── SourceError   pages
│   ├── SchemaError   a schema
│   ├── LabelError    labels
│   ├── RulesError    rules
│   ├── KnowledgeError  knowledge
│   └── CatalogError  a catalog
├── PageError         one page cannot be read: costs one record, never the run
└── MissingExtra      an optional dependency is not installed
"""

__all__ = [
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
]


class UntemplateError(Exception):
    """Base of every error that untemplate raises on purpose."""


class InputError(UntemplateError):
    """Something the user gave cannot be used; the message says in one line what, where and what to do."""


class SourceError(InputError):
    """Pages cannot be read from where they should come from."""


class SchemaError(InputError):
    """A schema cannot be read."""


class LabelError(InputError):
    """Labels cannot be read."""


class RulesError(InputError):
    """Rules cannot be read."""


class KnowledgeError(InputError):
    """Knowledge cannot be read."""


class CatalogError(InputError):
    """A catalog cannot be opened, read or written, or does not hold what was asked for."""


class PageError(UntemplateError):
    """One page cannot be read; the message is the reason its record will carry."""


class MissingExtra(UntemplateError, ImportError):
    """An optional dependency is missing; the message names the extra to install."""

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs an optional part: pip install 'untemplate[{extra}]'")
        self.extra = extra


def why(error: Exception) -> str:
    """What went wrong in words, without the number and path that Python puts around a system's error."""
    return str(getattr(error, "strerror", None) or error)
