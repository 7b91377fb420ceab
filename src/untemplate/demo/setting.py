"""Where a page is rendered: the site, its rows and URLs, and one template's look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from untemplate.demo.formats import written
from untemplate.demo.look import Look
from untemplate.demo.names import Names
from untemplate.demo.rows import Row
from untemplate.demo.verticals import Field, Vertical

__all__ = ["Setting", "detail_url"]

_URLS = (
    "/{plural}/{slug}-{number}.html",
    "/{vertical}/{number}/{slug}",
    "/item.php?id={number}",
    "/{plural}/{number}/",
    "/{slug}/{vertical}/{number}.htm",
    "/view/{number}.aspx",
)


def detail_url(site: str, vertical: Vertical, row: Row) -> str:
    """The path of a row's page; a site keeps to one shape, also when it is redesigned."""
    shape = Random(f"{site}/url").choice(_URLS)
    return shape.format(vertical=vertical.name, plural=vertical.plural, slug=row.slug, number=row.number)


@dataclass(frozen=True)
class Setting:
    """All that the pages of one template of a site have in common."""

    site: str
    title: str
    host: str
    vertical: Vertical
    look: Look
    rows: Sequence[Row]

    @cached_property
    def names(self) -> Names:
        return Names(self.look)

    def url(self, row: Row) -> str:
        return detail_url(self.site, self.vertical, row)

    def head(self, row: Row) -> str:
        """What the row is called on this site."""
        return self.text(self.vertical.head, row)

    def text(self, field: Field, row: Row) -> str:
        """The values of a field on one line, or nothing."""
        return ", ".join(written(field, value, self.look) for value in row.values[field.name])

    def image(self, value: str) -> str:
        """The address of a picture; sites that name it in Open Graph give it in full everywhere."""
        return f"{self.host}{value}" if self.look.embedded == "open graph" else value
