"""What can go wrong, as one tree.

UntemplateError
├── InputError        something the user gave cannot be used: one line, what and where and what to do
│   ├── SourceError   pages
│   ├── SchemaError   a schema
│   ├── LabelError    labels
│   ├── RulesError    rules
│   ├── KnowledgeError  knowledge
│   ├── CatalogError  a catalog
│   │   └── VersionConflict  somebody else has saved rules since they were read
│   └── EndpointError  a language model
├── PageError         one page cannot be read: costs one record, never the run
└── MissingExtra      an optional dependency is not installed

Catch InputError around calls with input of your users, and show its message: it names the file and what to do.

Example:
    >>> from untemplate import InputError, Schema
    >>> try:
    ...     Schema.load("no-such-file.toml")
    ... except InputError as error:
    ...     print(error)
    no-such-file.toml: cannot read the schema: No such file or directory
"""

__all__ = [
    "CatalogError",
    "EndpointError",
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
]


class UntemplateError(Exception):
    """Base of every error that untemplate raises on purpose."""


class InputError(UntemplateError):
    """Something the user gave cannot be used. The message says in one line what, where and what to do."""


class SourceError(InputError):
    """Pages cannot be read from their source: no such file, an unknown format, a broken archive."""


class SchemaError(InputError):
    """A schema cannot be read, or is not valid."""


class LabelError(InputError):
    """Labels cannot be read, or do not fit the pages or the schema."""


class RulesError(InputError):
    """A rules file cannot be read, or is not valid."""


class KnowledgeError(InputError):
    """A knowledge folder cannot be read, or is not valid."""


class CatalogError(InputError):
    """A catalog cannot be opened, read or written, or does not contain what was asked for."""


class VersionConflict(CatalogError):
    """Somebody else saved rules of the site since they were read. Nothing was changed: read them again."""


class EndpointError(InputError):
    """A language model cannot be asked: the address, the key or the name of the model is wrong."""


class PageError(UntemplateError):
    """One page cannot be read. The message is the reason that its record will have."""


class MissingExtra(UntemplateError, ImportError):
    """An optional dependency is not installed. The message names the extra to install.

    Args:
        extra: the name of the extra, as in `untemplate[web]`
        purpose: what needs it, as the subject of a sentence

    Example:
        >>> from untemplate import MissingExtra
        >>> print(MissingExtra("web", "The web interface"))
        The web interface is not installed. Run: pip install 'untemplate[web]'
    """

    def __init__(self, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} is not installed. Run: pip install 'untemplate[{extra}]'")
        self.extra = extra


EXTRA_MODULES = {
    "models": ("extruct", "pycrfsuite", "scipy", "sklearn", "threadpoolctl"),
    "web": ("fastapi", "starlette", "uvicorn"),
    "render": ("playwright",),
    "spark": ("pandas", "py4j", "pyspark"),
    "plot": ("matplotlib",),
    "postgres": ("psycopg",),
    "scrapy": ("itemadapter", "scrapy"),
    "llm": ("openai",),
    "mcp": ("anyio", "mcp"),
}


def extra_of_module(module: str) -> str | None:
    """Return the extra that installs a module; None if none does.

    Example:
        >>> extra_of_module("scipy.sparse")
        'models'
    """
    top = module.partition(".")[0]
    return next((extra for extra, modules in EXTRA_MODULES.items() if top in modules), None)


def why(error: Exception) -> str:
    """Return what went wrong in words, without the number and path that Python adds to a system's error."""
    return str(getattr(error, "strerror", None) or error)
