"""The sites of a catalog, each opened when it is first asked for: their pages, parsed and rendered, and benches."""

from __future__ import annotations

from collections import OrderedDict
from functools import cached_property
from threading import RLock, Thread
from typing import Any
from urllib.parse import urlencode, urljoin

from untemplate.catalog import Catalog, StoredLabel, Version
from untemplate.errors import CatalogError
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.web.assets import Assets, find_assets
from untemplate.web.bench import Bench
from untemplate.web.changes import Changes
from untemplate.web.jobs import Jobs
from untemplate.web.rendering import Rendering, render

__all__ = ["SAMPLE", "Desk", "OpenSite"]

SAMPLE = 20
"""Pages of a cluster that rules are learnt from: the paper's sample size."""

_FIGURES = ("source", "columns", "clusters")
# Renderings kept: the page shown, those beside it, and those in other windows.
MAX_RENDERINGS = 12


class Desk:
    """All sites of a catalog, and who works at it."""

    def __init__(self, catalog: Catalog, by: str, frame: str) -> None:
        self.catalog = catalog
        self.by = by
        #: the address below which the frames' own server shows pages and their assets
        self.frame = frame
        self.changes = Changes()
        self.jobs = Jobs()
        self._sites: dict[str, OpenSite] = {}
        self._lock = RLock()

    def site(self, name: str) -> OpenSite:
        """The site of that name, with its newest rules; CatalogError if there is none, or it has no rules."""
        with self._lock:
            versions = self.catalog.history(name)
            if not versions:
                raise CatalogError(
                    f"{name} has no rules yet; start with untemplate annotate PAGES --schema S"
                )
            site = self._sites.get(name)
            if site is None:
                site = self._sites[name] = OpenSite(self, name)
            if site.version != versions[-1]:
                site.load(versions[-1])
            return site


class OpenSite:
    """One site: its rules, its clusters with their pages, benches, and how pages are shown."""

    def __init__(self, desk: Desk, name: str) -> None:
        self.name = name
        self.desk = desk
        self.catalog = desk.catalog
        self.version: Version | None = None
        self.rules: Rules
        #: per cluster the pages that the catalog keeps, those worth labelling first
        self.pages: dict[str, list[str]] = {}
        #: whether the person lets pages load what did not come with them
        self.remote = False
        self._renderings: OrderedDict[str, tuple[bool, Page, Rendering]] = OrderedDict()
        self._benches: dict[str, Bench] = {}
        #: held by who gives labels or saves rules, so that no label falls between two versions
        self.writing = RLock()
        self._lock = RLock()

    def load(self, version: Version) -> None:
        """Take the rules of a version for the site's own."""
        with self._lock:
            self.rules = self.catalog.rules(self.name, version.number)
            self.__dict__.pop("figures", None)
            pages = self._place_pages()
            if pages != self.pages:
                self._benches.clear()
                self._renderings.clear()
            self.pages = pages
            self.version = version

    def forget_pages(self) -> None:
        """Read pages anew: the catalog keeps fresh ones."""
        with self._lock:
            self._benches.clear()
            self._renderings.clear()
        self.desk.changes.tell(self.name)

    @property
    def schema(self) -> Schema:
        return self.rules.schema

    @cached_property
    def figures(self) -> dict[str, Any]:
        """Where pages come from, and per cluster how many and which are kept; empty if nobody told the catalog."""
        found: dict[str, Any] = {}
        for run in self.catalog.runs(self.name):
            if run.finished and run.kind in ("annotate", "heal"):
                found |= {name: value for name, value in run.figures.items() if name in _FIGURES}
        return found

    @cached_property
    def assets(self) -> Assets:
        return find_assets(self.figures.get("source"))

    def _place_pages(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {wrapper.cluster: [] for wrapper in self.rules.wrappers}
        for task in self.catalog.pages_to_label(self.name):
            found[task.cluster].extend(task.pages)
        for cluster, entry in self.figures.get("clusters", {}).items():
            if cluster in found:
                found[cluster].extend(entry["pages"])
        for wrapper in self.rules.wrappers:
            found[wrapper.cluster].extend(one.page for one in wrapper.bellwethers)
        kept = {page.id for page in self.catalog.pages(self.name)}
        return {cluster: [id for id in dict.fromkeys(ids) if id in kept] for cluster, ids in found.items()}

    def cluster_of(self, page: str) -> str:
        """The cluster whose page this is."""
        for cluster, ids in self.pages.items():
            if page in ids:
                return cluster
        raise CatalogError(f"no page {page!r} of {self.name} in the catalog")

    def wrapper(self, cluster: str) -> Wrapper:
        for wrapper in self.rules.wrappers:
            if wrapper.cluster == cluster:
                return wrapper
        raise CatalogError(f"no cluster {cluster!r} of {self.name} in the catalog")

    def labelled_pages(self, cluster: str) -> set[str]:
        """The pages of a cluster that have labels."""
        return {given.label.page for given in self.labels()} & set(self.pages[cluster])

    def fresh_labels(self) -> dict[str, set[str]]:
        """Per cluster the attributes whose labels have changed since the rules were saved."""
        assert self.version is not None
        fresh: dict[str, set[str]] = {cluster: set() for cluster in self.pages}
        for given in self.catalog.labels(self.name, removed=True):
            if max(given.added, given.removed or given.added) > self.version.saved:
                for cluster, ids in self.pages.items():
                    if given.label.page in ids:
                        fresh[cluster].add(given.label.attribute)
        return fresh

    def labels(self, page: str | None = None) -> list[StoredLabel]:
        """The labels that count, of all pages or one."""
        given = self.catalog.labels(self.name)
        return given if page is None else [one for one in given if one.label.page == page]

    def opened(self, cluster: str) -> Bench | None:
        """The cluster on its bench, if somebody has put it there."""
        return self.bench(cluster) if cluster in self._benches else None

    def bench(self, cluster: str) -> Bench:
        """The cluster on its bench, which has learnt the labels that the catalog holds now."""
        bench = self._put_on_bench(cluster)
        own = set(self.pages[cluster])
        with bench.lock:  # else labels read earlier could be learnt later
            labels = [given.label for given in self.labels() if given.label.page in own]
            strange = {label.page for label in labels} - set(bench.pages)
            strangers = [self.catalog.page(self.name, id) for id in sorted(strange)]
            bench.update(self.wrapper(cluster), labels, self.fresh_labels()[cluster], strangers)
        return bench

    def _put_on_bench(self, cluster: str) -> Bench:
        wrapper = self.wrapper(cluster)
        with self._lock:
            bench = self._benches.get(cluster)
            if bench is None:
                pages = (self.catalog.page(self.name, id) for id in self.pages[cluster][:SAMPLE])
                bench = self._benches[cluster] = Bench(wrapper, pages, self.schema)
                Thread(target=bench.warm_up, daemon=True).start()
            return bench

    def shown(self, id: str) -> tuple[Page, Rendering]:
        """A page, parsed and kept, and how it is shown; PageError if it cannot be read."""
        own = self._put_on_bench(self.cluster_of(id)).pages.get(id)
        with self._lock:
            known = self._renderings.get(id)
            if known and known[0] == self.remote and own in (None, known[1]):
                self._renderings.move_to_end(id)
                return known[1], known[2]
            page = own or self.catalog.page(self.name, id)
            rendering = render(page, lambda reference: self.link(page, None, reference))
            self._renderings[id] = (self.remote, page, rendering)
            while len(self._renderings) > MAX_RENDERINGS:
                self._renderings.popitem(last=False)
            return page, rendering

    def link(self, page: Page, base: str | None, reference: str) -> str | None:
        """From where the frame may load what a page, or its stylesheet with the key `base`, refers to."""
        key = self.assets.key(page, base, reference)
        if key is not None:
            query = urlencode({"site": self.name, "page": page.id, "key": key})
            return f"{self.desk.frame}/asset?{query}"
        url = urljoin(page.url, reference)
        return url if self.remote and url.startswith(("http://", "https://")) else None
