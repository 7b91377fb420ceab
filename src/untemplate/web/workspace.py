"""The workspace of the server: the sites of a catalog, each opened on first use, with parsed and rendered pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from threading import RLock, Thread
from typing import Any
from urllib.parse import urlencode

from untemplate.catalog import Catalog, StoredLabel, Version
from untemplate.clustering import Cluster
from untemplate.errors import CatalogError
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.rules import Wrapper
from untemplate.schema import Schema
from untemplate.sources.assets import Assets, find_assets
from untemplate.value_types import absolute_url
from untemplate.watching import Healed
from untemplate.web.background import ChangeFeed, Jobs
from untemplate.web.cluster_session import ClusterSession
from untemplate.web.public_hosts import is_public_url, url_origin
from untemplate.web.rendering import Rendering, render

__all__ = ["SAMPLE_PAGES", "OpenSite", "ProposedRepair", "Workspace", "named_templates"]

SAMPLE_PAGES = 20
"""Pages of a cluster that rules are learned from: the sample size of Vertex."""

MAX_RENDERINGS = 12
"""Renderings that a site keeps: the page shown, its neighbors, and those in other windows."""

_FIGURES = ("source", "options", "clusters", "names", "flags")


@dataclass(frozen=True)
class ProposedRepair:
    """Repaired rules that wait until a person approves them, with the fresh pages from which they were learned."""

    job: int  # the job that made them
    based_on: int  # the version of the rules that they repair
    healed: Healed
    pages: list[Page]
    source: str | None


def named_templates(catalog: Catalog, site: str) -> dict[str, str]:
    """Return the templates of a site that a person named, by page: by those to label and the watched ones.

    `cluster` makes these templates again if it gets these names. They are empty for a site without rules.
    """
    if site not in catalog.sites() or not catalog.history(site):
        return {}
    wrappers = [wrapper for wrapper in catalog.rules(site).wrappers if wrapper.named]
    samples = _read_figures(catalog, site).get("clusters", {})
    names: dict[str, str] = {}
    for wrapper in wrappers:
        sample = samples.get(wrapper.cluster, {"pages": ()})
        watched = [bellwether.page for bellwether in wrapper.bellwethers]
        names |= dict.fromkeys([*sample["pages"], *watched], wrapper.cluster)
    return names


def _read_figures(catalog: Catalog, site: str) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for run in catalog.runs(site):
        if run.finished and run.kind in ("annotate", "heal", "name", "flag"):
            figures |= {name: run.figures[name] for name in _FIGURES if name in run.figures}
    return figures


def _attributes_on(pages: Collection[str], labels: Iterable[Label]) -> set[str]:
    """Return the attributes that labels of some pages have."""
    return {label.attribute for label in labels if label.page in pages}


class Workspace:
    """All sites of a catalog, and what the server shares between requests.

    Args:
        catalog: The catalog to work on.
        user: The name that is stored with labels and versions.
        frame_address: The address of the second server, which shows pages and their assets.
    """

    def __init__(self, catalog: Catalog, user: str, frame_address: str) -> None:
        self.catalog = catalog
        self.user = user
        self.frame_address = frame_address
        self.changes = ChangeFeed()
        self.jobs = Jobs(self.changes.publish)
        #: repaired rules that wait for a person, by site
        self.repairs: dict[str, ProposedRepair] = {}
        self._sites: dict[str, OpenSite] = {}
        self._lock = RLock()

    def site(self, name: str) -> OpenSite:
        """Return a site with its newest rules; raise CatalogError if it does not exist or has no rules."""
        with self._lock:
            versions = self.catalog.history(name)
            if not versions:
                raise CatalogError(
                    f"{name} has no rules yet; start with untemplate annotate PAGES --schema S"
                )
            site = self._sites.get(name)
            if site is None:
                site = self._sites[name] = OpenSite(self, name, versions[-1])
            elif site.version != versions[-1]:
                site.load(versions[-1])
            return site


class OpenSite:
    """A site in use: its rules, the stored pages of its clusters, labeling sessions, and rendered pages.

    Sessions and rendered pages are kept in memory, because parsing a page takes longer than a person wants to wait.

    Args:
        workspace: The workspace that opens the site.
        name: The name of the site in the catalog.
        version: The newest version of its rules.
    """

    def __init__(self, workspace: Workspace, name: str, version: Version) -> None:
        self.name = name
        self.workspace = workspace
        self.catalog = workspace.catalog
        #: the newest version of the rules
        self.version: Version
        self.rules: Rules
        #: for each cluster, the ids of its pages in the catalog, the best ones to label first
        self.pages: dict[str, list[str]] = {}
        #: whether pages may load assets from other hosts
        self.remote = False
        self._renderings: OrderedDict[str, tuple[bool, Page, Rendering]] = OrderedDict()
        self._sessions: dict[str, ClusterSession] = {}
        self._list_wrappers: dict[str, tuple[tuple[Label, ...], Wrapper]] = {}
        #: locked while labels or rules are written, so that no label gets lost between two versions
        self.writing = RLock()
        self._lock = RLock()
        self.load(version)

    def load(self, version: Version) -> None:
        """Use the rules of a version from now on."""
        with self._lock:
            old_schema = self.schema if self.pages else None
            self.rules = self.catalog.rules(self.name, version.number)
            self.__dict__.pop("figures", None)
            pages = self._pages_by_cluster()
            if pages != self.pages or self.schema != old_schema:
                self._forget_pages()
            self.pages = pages
            self.version = version

    def forget_pages(self) -> None:
        """Read all pages again, because the catalog has new states of them."""
        with self._lock:
            self._forget_pages()
        self.workspace.changes.publish(self.name)

    def _forget_pages(self) -> None:
        self._sessions.clear()
        self._renderings.clear()
        self._list_wrappers.clear()

    @property
    def schema(self) -> Schema:
        """The schema of the rules."""
        return self.rules.schema

    @cached_property
    def figures(self) -> dict[str, Any]:
        """The source of the pages, the number and ids of each cluster's pages, and the names of clusters.

        Adding a site records them, healing it does so again for fresh pages, and naming a cluster records the names.
        The newest run counts.
        """
        return _read_figures(self.catalog, self.name)

    def name_cluster(self, cluster: str, name: str) -> None:
        """Give a cluster a name for people; an empty one takes it away.

        Raises:
            CatalogError: The site has no such cluster.
        """
        self.wrapper(cluster)
        names = {**self.figures.get("names", {}), cluster: name}
        run = self.catalog.start_run(self.name, "name")
        self.catalog.finish_run(run, {"names": {key: value for key, value in names.items() if value}})
        self.__dict__.pop("figures", None)
        self.workspace.changes.publish(self.name)

    @property
    def flags(self) -> dict[str, dict[str, str]]:
        """The pages that somebody left aside: for each, its cluster, a note, by whom, and when."""
        flags: dict[str, dict[str, str]] = self.figures.get("flags", {})
        return flags

    def flag_page(self, page: str, note: str | None) -> None:
        """Leave a page aside with a note for people; None takes the flag away.

        Raises:
            CatalogError: The site has no such page.
        """
        cluster = self.cluster_of(page)
        with self.writing:
            flags = {id: flag for id, flag in self.flags.items() if id != page}
            if note is not None:
                at = datetime.now(UTC).isoformat()
                flags[page] = {"cluster": cluster, "note": note, "by": self.workspace.user, "at": at}
            run = self.catalog.start_run(self.name, "flag")
            self.catalog.finish_run(run, {"flags": flags})
            self.__dict__.pop("figures", None)
        self.workspace.changes.publish(self.name)

    def filled_shares(self, cluster: str) -> dict[str, float]:
        """Return, for each attribute of a cluster with a rule, the share of pages on which it finds a value.

        These are the pages of the latest watch run, if it tested the newest rules; otherwise the bellwethers, with
        the values that are remembered of them. All views show these shares.
        """
        wrapper = self.wrapper(cluster)
        watched = self._watched_shares(cluster)
        shares = {}
        for name in wrapper.rules:
            if name in watched:
                shares[name] = watched[name]
            elif wrapper.bellwethers:
                filled = sum(name in bellwether.golden for bellwether in wrapper.bellwethers)
                shares[name] = round(filled / len(wrapper.bellwethers), 3)
        return shares

    def _watched_shares(self, cluster: str) -> dict[str, float]:
        """Return the fill rates of a cluster in the latest watch run since the newest rules were saved."""
        runs = [run for run in self.catalog.runs(self.name, "watch") if run.finished]
        if not runs or runs[-1].started < self.version.saved:
            return {}
        figures = runs[-1].figures.get("clusters")
        for tested in figures if isinstance(figures, list) else []:
            if tested["cluster"] == cluster:
                return dict(tested["fill"])
        return {}

    @cached_property
    def assets(self) -> Assets:
        """The images, style sheets and fonts that came with the pages."""
        return find_assets(self.figures.get("source"))

    def cluster_of(self, page: str) -> str:
        """Return the cluster of a page; raise CatalogError if no cluster contains it."""
        for cluster, ids in self.pages.items():
            if page in ids:
                return cluster
        raise CatalogError(f"no page {page!r} of {self.name} in the catalog")

    def wrapper(self, cluster: str) -> Wrapper:
        """Return the newest wrapper of a cluster; raise CatalogError if there is none."""
        for wrapper in self.rules.wrappers:
            if wrapper.cluster == cluster:
                return wrapper
        raise CatalogError(f"no cluster {cluster!r} of {self.name} in the catalog")

    def labels(self, page: str | None = None) -> list[StoredLabel]:
        """Return the labels that are not removed, of all pages or of one."""
        labels = self.catalog.labels(self.name)
        if page is None:
            return labels
        return [stored for stored in labels if stored.label.page == page]

    def cached_list_wrapper(
        self, cluster: str, labels: tuple[Label, ...], learn: Callable[[], Wrapper]
    ) -> Wrapper:
        """Return the list rules of a cluster that were learned from these labels, and learn them if needed."""
        with self._lock:
            cached = self._list_wrappers.get(cluster)
            if cached is None or cached[0] != labels:
                cached = self._list_wrappers[cluster] = (labels, learn())
            return cached[1]

    def stored_cluster(self, wrapper: Wrapper) -> Cluster:
        """Return a cluster with the pages that the catalog has of it."""
        pages = [self.catalog.page(self.name, id) for id in self.pages[wrapper.cluster]]
        return Cluster(
            wrapper.cluster,
            pages,
            wrapper.signatures,
            wrapper.importance,
            wrapper.url_pattern,
            wrapper.core,
            named=wrapper.named,
        )

    def labeled_pages(self, cluster: str) -> set[str]:
        """Return the ids of the pages of a cluster that have labels."""
        return {stored.label.page for stored in self.labels()} & set(self.pages[cluster])

    def changed_attributes(self) -> dict[str, set[str]]:
        """Return, for each cluster, the attributes whose labels have changed since the rules were saved.

        Removed labels count, too. The rules of these attributes have to be learned again, as have attributes with
        labels and without a rule, such as those that got another type, unless a change of the site broke their rule.
        Labels of list rows belong to list rules, which are learned together.
        """
        changed = [label for label in self._changed_labels() if label.record is None]
        labels = [stored.label for stored in self.labels() if stored.label.record is None]
        values = [label for label in labels if not label.is_gap]
        attributes: dict[str, set[str]] = {}
        for cluster, ids in self.pages.items():
            wrapper, on_pages = self.wrapper(cluster), set(ids)
            unlearned = _attributes_on(on_pages, values) - {*wrapper.rules, *wrapper.lost}
            attributes[cluster] = _attributes_on(on_pages, changed)
            attributes[cluster] |= unlearned & self.schema.attributes.keys()
        return attributes

    def changed_lists(self) -> set[str]:
        """Return the clusters whose labels of list rows have changed since the rules were saved."""
        pages = {label.page for label in self._changed_labels() if label.record is not None}
        return {cluster for cluster, ids in self.pages.items() if not pages.isdisjoint(ids)}

    def _changed_labels(self) -> list[Label]:
        return [
            stored.label
            for stored in self.catalog.labels(self.name, removed=True)
            if stored.changed > self.version.saved
        ]

    def session(self, cluster: str) -> ClusterSession:
        """Return the session of a cluster, after it has learned the current labels of the catalog.

        The first call parses the sample pages of the cluster.

        Raises:
            CatalogError: The site has no such cluster.
        """
        session = self._open_session(cluster)
        ids = set(self.pages[cluster])
        with session.lock:  # otherwise labels that were read earlier could be learned later
            labels = [stored.label for stored in self.labels() if stored.label.page in ids]
            beside_sample = {label.page for label in labels} - set(session.pages)
            extra_pages = [self.catalog.page(self.name, id) for id in sorted(beside_sample)]
            session.flagged = frozenset(self.flags)
            session.update(self.wrapper(cluster), labels, self.changed_attributes()[cluster], extra_pages)
        return session

    def session_if_open(self, cluster: str) -> ClusterSession | None:
        """Return the session of a cluster if somebody has opened it before."""
        return self.session(cluster) if cluster in self._sessions else None

    def rendered_page(self, id: str) -> tuple[Page, Rendering]:
        """Return a parsed page and its rendering, from the cache if possible.

        Raises:
            CatalogError: The site has no such page.
            PageError: The page cannot be parsed.
        """
        sample_page = self._open_session(self.cluster_of(id)).pages.get(id)
        with self._lock:
            if cached := self._cached_rendering(id, sample_page):
                return cached
            page = sample_page or self.catalog.page(self.name, id)
            rendering = render(page, lambda reference: self.asset_address(page, None, reference))
            self._renderings[id] = (self.remote, page, rendering)
            while len(self._renderings) > MAX_RENDERINGS:
                self._renderings.popitem(last=False)
            return page, rendering

    def asset_address(self, page: Page, base: str | None, reference: str) -> str | None:
        """Return the address from which the frame may load an asset; None if it may not.

        Args:
            page: The page that needs the asset.
            base: The key of the style sheet that contains the reference; None if the page itself does.
            reference: The reference, relative or absolute.
        """
        key = self.assets.key(page, base, reference)
        if key is not None:
            query = urlencode({"site": self.name, "page": page.id, "key": key})
            return f"{self.workspace.frame_address}/asset?{query}"
        url = absolute_url(reference, page.url) or ""
        return url if self.remote and is_public_url(url) else None

    def remote_hosts(self, page: str) -> list[str]:
        """Return the hosts from which a page may load assets: those that it names, if they are public."""
        if not self.remote:
            return []
        _, rendering = self.rendered_page(page)
        origins = {url_origin(url) for url in rendering.addresses if is_public_url(url)}
        return sorted(filter(None, origins))

    def _pages_by_cluster(self) -> dict[str, list[str]]:
        """Return the ids of each cluster's stored pages, the best ones to label first.

        These are the pages that healing asks a person to label, then the sample, then the bellwethers.
        """
        stored = {page.id for page in self.catalog.pages(self.name)}
        to_label = {request.cluster: request.pages for request in self.catalog.pages_to_label(self.name)}
        samples = self.figures.get("clusters", {})
        pages = {}
        for wrapper in self.rules.wrappers:
            sample = samples.get(wrapper.cluster, {"pages": ()})
            bellwethers = [bellwether.page for bellwether in wrapper.bellwethers]
            ids = dict.fromkeys([*to_label.get(wrapper.cluster, ()), *sample["pages"], *bellwethers])
            pages[wrapper.cluster] = [id for id in ids if id in stored]
        return pages

    def _open_session(self, cluster: str) -> ClusterSession:
        """Return the session of a cluster as it is, and create it if needed."""
        wrapper = self.wrapper(cluster)
        with self._lock:
            session = self._sessions.get(cluster)
            if session is None:
                pages = (self.catalog.page(self.name, id) for id in self.pages[cluster][:SAMPLE_PAGES])
                session = self._sessions[cluster] = ClusterSession(wrapper, pages, self.schema)
                Thread(target=session.warm_up, daemon=True).start()
            return session

    def _cached_rendering(self, id: str, sample_page: Page | None) -> tuple[Page, Rendering] | None:
        """Return a cached rendering, unless the remote setting or the page of the session has changed since."""
        if id not in self._renderings:
            return None
        remote, page, rendering = self._renderings[id]
        if remote != self.remote or sample_page not in (None, page):
            return None
        self._renderings.move_to_end(id)
        return page, rendering
