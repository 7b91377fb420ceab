"""Learn all sites of a crawl on this machine, and keep the rules of each in a catalog.

The pages of all sites come in one stream, in any order. They are kept compressed in a temporary file, so memory does
not grow with the crawl, and the sites are learned one after the other. A site that cannot be learned costs its own
outcome and never the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from tempfile import TemporaryFile
from typing import IO, NamedTuple
from urllib.parse import urlsplit

import zstandard

from untemplate.catalog import Catalog
from untemplate.errors import LabelError, UntemplateError
from untemplate.extraction import CrawlRules
from untemplate.labeling import Label
from untemplate.learned import Learned
from untemplate.page import Page, host_of
from untemplate.pipeline import learn_site
from untemplate.schema import Schema
from untemplate.sources import Pages, Skipped

__all__ = ["LearnedSite", "SiteLabeler", "has_several_hosts", "learn_crawl", "learn_in_catalog"]

SiteLabeler = Callable[[Pages, Sequence[Label]], Sequence[Label]]
"""Returns the labels to learn one site from, given its pages and the labels that there are already."""


@dataclass(frozen=True)
class LearnedSite:
    """What learning made of one site of a crawl.

    Attributes:
        site: The name of the site in the catalog.
        learned: The rules and how learning went; None if there are none.
        version: The number of the version in the catalog.
        problem: Why there are no rules, in one line.
    """

    site: str
    learned: Learned | None = None
    version: int | None = None
    problem: str | None = None

    @property
    def has_findings(self) -> bool:
        """True if somebody should look at the site."""
        return self.learned is None or bool(self.learned.attributes_to_check)


def has_several_hosts(pages: Iterable[Page]) -> bool:
    """Return True if the pages are of several hosts, apart from `www.`; read no more of them than needed."""
    first = ""
    for page in pages:
        host = host_of(page.url)
        if first and host and host != first:
            return True
        first = first or host
    return False


def learn_in_catalog(
    catalog: Catalog,
    site: str,
    pages: Pages,
    labels: Sequence[Label],
    schema: Schema,
    by: str = "",
    learn: Callable[[Pages, Sequence[Label], Schema], Learned] = learn_site,
) -> tuple[Learned, int]:
    """Learn one site as a run of the catalog, which keeps the labels, the rules and the sample pages.

    Args:
        catalog: The catalog.
        site: The name of the site.
        pages: Its pages.
        labels: The labels of some of them.
        schema: What to extract.
        by: The person who learns.
        learn: Learns the rules, such as with a progress bar.

    Returns:
        What was learned, and the number of the version.

    Raises:
        LabelError: No label is about an attribute of the schema or about one of the pages, or nothing was learned;
            the rules of before stay.
    """
    run = catalog.start_run(site, "learn")
    learned = learn(pages, labels, schema)
    learned.check_rules()
    catalog.add_labels(site, labels, by)
    without_rules = [result for result in learned.unlabeled if result.needs_labels]
    to_label = {result.wrapper.cluster: result.to_label for result in without_rules}
    version = catalog.save_version(
        site, learned.rules, pages, "learned", by=by, to_label=to_label, labels=labels
    )
    kinds = {result.wrapper.cluster: result.kind for result in without_rules}
    catalog.finish_run(run, learned.to_dict() | {"version": version, "kinds": kinds})
    return learned, version


def learn_crawl(
    catalog: Catalog,
    pages: Iterable[Page],
    labels: Sequence[Label],
    schema: Schema,
    *,
    by: str = "",
    labeler: SiteLabeler | None = None,
) -> Iterator[LearnedSite]:
    """Learn the sites of a crawl, save their rules in the catalog, and yield the outcome of each.

    The site of a page is its host. A site of the catalog with this host and this schema gets a new version; a new
    site is named like its host.

    Args:
        catalog: The catalog.
        pages: Pages of many sites; they are read once.
        labels: Labels of some of these pages, which they name by URL or id. Only sites with labels are learned.
        schema: What to extract.
        by: The person who learns.
        labeler: Adds labels, such as by knowledge of the vertical. Without `labels` it labels all sites of the crawl.

    Raises:
        LabelError: A label names pages of several sites; or there are neither labels nor a labeler.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> import untemplate as ut
        >>> from untemplate.engines.crawl_learning import learn_crawl
        >>> pages = [ut.Page(f"http://a.example/{n}", f"<h1>Lamp {n}</h1><p>{n}") for n in range(5)]
        >>> pages += [ut.Page(f"http://b.example/{n}", f"<p>{n}</p><h2>Chair {n}</h2>") for n in range(5)]
        >>> labels = [ut.Label("http://a.example/0", "name", "Lamp 0")]
        >>> labels += [ut.Label("http://b.example/0", "name", "Chair 0")]
        >>> folder = TemporaryDirectory()
        >>> with ut.Catalog.open(f"{folder.name}/untemplate.db") as catalog:
        ...     schema = ut.Schema("furniture", {"name": ut.Attribute("name")})
        ...     for outcome in learn_crawl(catalog, pages, labels, schema):
        ...         print(outcome.site, outcome.version, outcome.problem)
        a.example 1 None
        b.example 1 None
        >>> folder.cleanup()
    """
    if not labels and labeler is None:
        raise LabelError("needs labels: a crawl of many sites is learned only from them")
    with TemporaryFile() as file:
        crawl = _spool_crawl(pages, labels, file)
        labels_of = _split_labels(labels, crawl.hosts_of_name)
        known = catalog.site_rules()
        for host in sorted(labels_of if labels else crawl.readers):
            reader = crawl.readers.get(host, _SpooledPages(file))
            site = _choose_name(known, host, crawl.names.get(host, host), schema)
            site_pages = Pages(f"pages of {site}", reader)
            yield _learn_host(catalog, site, site_pages, labels_of.get(host, ()), schema, by, labeler)


def _learn_host(
    catalog: Catalog,
    site: str,
    pages: Pages,
    labels: Sequence[Label],
    schema: Schema,
    by: str,
    labeler: SiteLabeler | None,
) -> LearnedSite:
    """Learn a site; its outcome says what went wrong."""
    try:
        if not pages.total:
            return LearnedSite(site, problem="it has labels, but no pages in the crawl")
        if labeler:
            labels = labeler(pages, labels)
        learned, version = learn_in_catalog(catalog, site, pages, labels, schema, by)
        return LearnedSite(site, learned, version)
    except UntemplateError as error:
        return LearnedSite(site, problem=str(error))
    except Exception as error:  # one site must not end the run, and its outcome says what happened
        return LearnedSite(site, problem=f"{type(error).__name__}: {error}")


def _choose_name(known: CrawlRules, host: str, full_host: str, schema: Schema) -> str:
    """Return the name of the site in the catalog that has the host and the schema, else a new name."""
    for entry in known.find_sites(f"//{host}/"):
        if entry.schema.name == schema.name:
            return entry.site
    # Another vertical of the same host keeps its own rules.
    return f"{full_host}/{schema.name}" if full_host in known.sites else full_host


class _Place(NamedTuple):
    """A page in the temporary file."""

    url: str
    id: str
    charset: str | None
    start: int
    size: int


@dataclass
class _SpooledPages:
    """Reads the pages of one site from the temporary file."""

    file: IO[bytes]
    places: list[_Place] = field(default_factory=list)

    @property
    def total(self) -> int:
        return len(self.places)

    def read(self, skipped: Skipped) -> Iterator[Page]:
        for place in self.places:
            self.file.seek(place.start)
            html = zstandard.decompress(self.file.read(place.size))
            yield Page(place.url, html, place.id, charset=place.charset)


@dataclass
class _SpooledCrawl:
    """A crawl by host.

    Attributes:
        readers: The pages of each host.
        names: Each host as the first of its URLs writes it, perhaps with `www.`
        hosts_of_name: The hosts of the pages that a label names by id or URL.
    """

    readers: dict[str, _SpooledPages] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    hosts_of_name: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


def _spool_crawl(pages: Iterable[Page], labels: Sequence[Label], file: IO[bytes]) -> _SpooledCrawl:
    """Write the pages of the sites to learn into the file; pages without a host belong to no site."""
    crawl = _SpooledCrawl()
    labeled = {label.page for label in labels}
    labeled_hosts = {host_of(name) for name in labeled}
    # An id does not name its site, so with ids all sites have to be kept.
    keeps_all = not labels or "" in labeled_hosts
    for page in pages:
        host = host_of(page.url)
        if not host or not (keeps_all or host in labeled_hosts):
            continue
        for name in {page.id, page.url} & labeled:
            crawl.hosts_of_name[name].add(host)
        crawl.names.setdefault(host, _host_name(page.url) or host)
        data = zstandard.compress(page.html)
        place = _Place(page.url, page.id, page.charset, file.tell(), file.write(data))
        crawl.readers.setdefault(host, _SpooledPages(file)).places.append(place)
        page.release()
    return crawl


def _host_name(url: str) -> str | None:
    """Return the host of a URL as it is written there; None for addresses such as `http://[`."""
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _split_labels(labels: Iterable[Label], hosts_of_name: Mapping[str, set[str]]) -> dict[str, list[Label]]:
    """Return the labels of each host; labels of pages that are not in the crawl count for the host of their URL."""
    labels_of: dict[str, list[Label]] = defaultdict(list)
    for label in labels:
        hosts = hosts_of_name.get(label.page) or {host_of(label.page)}
        if len(hosts) > 1:
            raise LabelError(f"{label.page}: pages of several sites have this id; label them by URL")
        [host] = hosts
        if not host:
            raise LabelError(f"{label.page}: the crawl has no such page; label pages of many sites by URL")
        labels_of[host].append(label)
    return labels_of
