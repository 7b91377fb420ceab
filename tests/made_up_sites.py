"""Made-up sites with learned rules, which the tests of a process share: learning one takes a second."""

from __future__ import annotations

from functools import cache

from untemplate import Rules, learn
from untemplate.demo import Site, make_site

__all__ = ["learned_site"]

PAGES, LABELED = 30, 3


@cache
def learned_site(vertical: str, seed: int = 0) -> tuple[Site, Rules]:
    """A site of 30 pages, and the rules that the labels of three of them teach."""
    site = make_site(vertical, seed, PAGES)
    labeled = list(site.truth)[:LABELED]
    return site, learn(site.pages, [label for label in site.labels if label.page in labeled], site.schema)
