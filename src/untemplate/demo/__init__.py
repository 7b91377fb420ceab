"""A made-up web with its truth: for the demo, the tests and the docs.

`make_site("book", seed=7)` is a site of a hundred pages, several templates and all the troubles of the real
web; `site.redesign(0.5, seed=1)` is the same site some time later.
"""

from untemplate.demo.site import Site, make_site, write_site
from untemplate.demo.verticals import VERTICALS as _VERTICALS

__all__ = ["VERTICALS", "Site", "make_site", "write_site"]

#: the names of the verticals there are
VERTICALS: tuple[str, ...] = tuple(_VERTICALS)
