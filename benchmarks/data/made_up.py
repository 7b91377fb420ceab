"""Made-up sites of `untemplate.demo` as if they were of SWDE: whole sites, list pages and all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from benchmarks.data.swde import Truth, clean
from untemplate import Page
from untemplate.demo import VERTICALS, Site, make_site

__all__ = ["VERTICALS", "MadeUp", "made_up_sites"]

# Sites of a vertical, and their pages. The rankers of the package learned from the sites with the numbers 0 to 5.
SITES, FIRST, PAGES = 10, 900, 120


@dataclass(frozen=True)
class MadeUp:
    """A site of a vertical."""

    vertical: str
    number: int

    @property
    def name(self) -> str:
        return str(self.number)

    @cached_property
    def _site(self) -> Site:
        return make_site(self.vertical, self.number, PAGES)

    def pages(self) -> list[Page]:
        return list(self._site.pages)

    def truth(self) -> Truth:
        """Pages that are no record have no value of any attribute."""
        names, truth = self._site.schema.attributes, self._site.truth
        return {
            page.id: {name: [clean(one) for one in truth.get(page.id, {}).get(name, ())] for name in names}
            for page in self._site.pages
        }


def made_up_sites(vertical: str) -> list[MadeUp]:
    return [MadeUp(vertical, FIRST + number) for number in range(SITES)]
