"""Watch: do the rules of a site still hold on its pages as they are now? (Vertex IV-B)

Most pages show one record, and remembered values can be compared. Lists show other records every day, so nothing is
remembered of them; for lists it is only checked whether records still come out on most pages.

Bellwethers that were not delivered, or that show no record any more, are replaced by fresh pages (`renew_missing`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from untemplate.extraction import Rules
from untemplate.extraction.matching import WrapperIndex
from untemplate.page import Page, index_pages
from untemplate.record import Record
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.schema import Schema
from untemplate.sources import as_pages
from untemplate.watching.bellwethers import BELLWETHERS, MIN_GOLDEN_CONFIDENCE, choose_bellwethers
from untemplate.watching.comparing import (
    Comparison,
    Evidence,
    PagePair,
    compare_pages,
    pair_bellwethers,
)
from untemplate.watching.judging import (
    MAX_ODD_PAGES,
    MAX_UNLIKE_PAGES,
    Alarm,
    judge_attributes,
    judge_delivery,
    judge_matching,
    judge_structure,
)
from untemplate.watching.reusing import extract_list

__all__ = ["ClusterReport", "Renewed", "Report", "renew_bellwethers", "renew_missing", "watch"]

# Fewer pages do not show what is usual for an attribute: what is known from earlier pages stays.
# The number is our judgment, without a sweep.
MIN_PROFILE_PAGES = 10


@dataclass(frozen=True)
class ClusterReport:
    """The figures of one cluster.

    Attributes:
        cluster: its id.
        pages: the number of pages compared.
        coverage: the share of watched pages that still look like the cluster's.
        fill: for each attribute the share of pages on which it came out.
        missing: ids of bellwethers that were not delivered, or that show no record any more.
        new_values: values of today that differ from what is remembered, by bellwether and attribute. Only of clusters
            without alarms, and of attributes that may change. A catalog remembers them from now on.
    """

    cluster: str
    pages: int
    coverage: float
    fill: dict[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    new_values: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON data, without values."""
        figures = asdict(self)
        del figures["new_values"]
        return figures


@dataclass(frozen=True)
class Report:
    """What `watch` found: alarms, and figures to compare with other reports.

    Args:
        alarms: the tests that failed, at most one for each attribute and one for the structure of a cluster.
        clusters: the figures of each cluster that has fresh pages, or whose bellwethers were all requested in vain.

    Example:
        >>> from untemplate import Report
        >>> "all is well" if not Report().alarms else "look at the alarms"
        'all is well'
    """

    alarms: list[Alarm] = field(default_factory=list)
    clusters: list[ClusterReport] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures and alarms as JSON data: what `watch --json` prints and the catalog stores."""
        return {
            "clusters": [figures.to_dict() for figures in self.clusters],
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }


_ClusterResult = tuple[ClusterReport, list[Alarm]]


@dataclass(frozen=True)
class _Thresholds:
    """The share of pages on which a test may fail."""

    attribute: float
    structure: float

    @classmethod
    def of(cls, broken_share: float | None) -> _Thresholds:
        """Return the same share for all tests, or the shares of the paper."""
        if broken_share is None:
            return cls(MAX_ODD_PAGES, MAX_UNLIKE_PAGES)
        return cls(broken_share, broken_share)


def watch(
    rules: Rules | str | Path,
    fresh_pages: Iterable[Page] | str | Path,
    *,
    broken_share: float | None = None,
    history: Sequence[Report] = (),
    is_request: bool = False,
) -> Report:
    """Compare fresh versions of the bellwethers with what is remembered of them.

    Other pages of a cluster are judged too: how often values come out, and whether they look as they did.

    Args:
        rules: the rules of a site, or their file.
        fresh_pages: pages of the site as they are now, or the path of a source of them. Bellwethers are recognized by
            URL or id.
        broken_share: the share of bellwethers on which a test may fail, from 0 to 1. The default is the paper's: half
            for the structure of pages, none for attributes. A high share ignores changes of single pages.
        history: earlier reports, the latest last; they say since when an alarm is raised.
        is_request: True if all bellwethers were requested, so that those without a page are gone. By default the
            pages are a part of the site, and a cluster without any of them is not judged.

    Returns:
        A report with an alarm for each rule that no longer holds. Pages that cannot be read count as empty.

    Example:
        >>> import untemplate as ut
        >>> pages = [ut.Page(id=f"{n}", html=f"<h1>Book {n}</h1><p>{n} $</p>") for n in range(5)]
        >>> rules = ut.learn(pages, [ut.Label("1", "title", "Book 1")])
        >>> ut.watch(rules, pages).alarms
        []
        >>> changed = [ut.Page(id=f"{n}", html=f"<p>{n} $</p><div>Book {n}</div>") for n in range(5)]
        >>> [(alarm.test, alarm.attribute) for alarm in ut.watch(rules, changed).alarms]
        [('shingle', None), ('moved', 'title')]
    """
    if isinstance(rules, str | Path):
        rules = Rules.load(rules)
    pages = list(as_pages(fresh_pages))
    watching = _SiteWatching(rules, _Thresholds.of(broken_share), is_request)
    results = watching.watch_clusters(pages)
    now = max((page.fetched for page in pages if page.fetched), default=None)
    alarms = chain.from_iterable(alarms for _, alarms in results)
    return Report(
        alarms=[_date_alarm(alarm, history, now) for alarm in alarms],
        clusters=[figures for figures, _ in results if figures.pages or figures.missing],
    )


@dataclass(frozen=True)
class _SiteWatching:
    """The rules of a site, and how they are judged."""

    rules: Rules
    thresholds: _Thresholds
    is_request: bool

    @cached_property
    def _index(self) -> WrapperIndex:
        return WrapperIndex(self.rules.wrappers)

    def watch_clusters(self, pages: Sequence[Page]) -> list[_ClusterResult]:
        """Return figures and alarms of each cluster with bellwethers, then of each list with fresh pages."""
        pairs_of = self._pair_pages(pages)
        watched = [wrapper for wrapper in self.rules.wrappers if wrapper.rules and wrapper.bellwethers]
        results = [self._watch_cluster(wrapper, pairs_of[wrapper.cluster]) for wrapper in watched]
        return [*results, *self._watch_lists(pairs_of)]

    def _watch_lists(self, pairs_of: Mapping[str, Sequence[PagePair]]) -> Iterator[_ClusterResult]:
        """Yield figures and alarms of each list with fresh pages."""
        for wrapper in self.rules.wrappers:
            pairs = pairs_of.get(wrapper.cluster, ())
            others = [page for bellwether, page in pairs if bellwether is None]
            if wrapper.records and others:
                yield _watch_list(wrapper, others, self.rules.schema)

    def _pair_pages(self, pages: Sequence[Page]) -> defaultdict[str, list[PagePair]]:
        """Return the fresh pages of each cluster with what is remembered of them, bellwethers first."""
        fresh = index_pages(pages)
        pairs_of: defaultdict[str, list[PagePair]] = defaultdict(list)
        for wrapper in self.rules.wrappers:
            if wrapper.rules:
                pairs_of[wrapper.cluster] += pair_bellwethers(wrapper, fresh)
        bellwethers = {page for _, page in chain.from_iterable(pairs_of.values())}
        for page in pages:
            if page in bellwethers:
                continue
            if cluster := self._cluster_of(page):
                pairs_of[cluster].append((None, page))
        return pairs_of

    def _cluster_of(self, page: Page) -> str | None:
        """Return the cluster of a page that is no bellwether.

        Its wrapper must match the page's URL. A page whose structure fits no wrapper belongs to the only one that
        matches its URL, because a change of the site may be the reason.
        """
        cluster = self._matched_cluster(page)
        page.release()
        by_url = [wrapper.cluster for wrapper in self.rules.wrappers if wrapper.matches_url(page.url)]
        if cluster in by_url:
            return cluster
        return by_url[0] if cluster is None and len(by_url) == 1 else None

    def _matched_cluster(self, page: Page) -> str | None:
        """Return the cluster whose rules `extract` applies to a page; the page is parsed only if that matters."""
        match = self._index.match(page)
        if not match.possible:
            return match.wrapper.cluster if match.wrapper else None
        return self.rules.extract_one(page).cluster

    def _watch_cluster(self, wrapper: Wrapper, pairs: Sequence[PagePair]) -> _ClusterResult:
        """Return the figures and alarms of pages that each show one record."""
        evidence = compare_pages(wrapper, pairs, self.rules.schema)
        unmatched = [page.id for _, page in pairs if self._is_unmatched(page, evidence)]
        for _, page in pairs:
            page.release()
        missing = self._find_missing(evidence, pairs)
        alarms = self._collect_alarms(evidence, unmatched)
        if delivery_alarm := judge_delivery(wrapper, missing):
            alarms = [delivery_alarm, *alarms]
        report = _summarize(evidence, missing)
        if not alarms:
            report = replace(report, new_values=_find_new_values(evidence, pairs, self.rules.schema))
        return report, alarms

    def _is_unmatched(self, page: Page, evidence: Evidence) -> bool:
        """Return True if a watched page with a record gets none, because other rules match it, or none."""
        return page.id in evidence.watched and self._matched_cluster(page) != evidence.wrapper.cluster

    def _find_missing(self, evidence: Evidence, pairs: Sequence[PagePair]) -> list[str]:
        """Return the bellwethers without a record: gone, or not delivered though enough of the others were.

        Other fresh pages of the cluster make up for bellwethers that are not among the pages.
        """
        delivered = {bellwether.page for bellwether, _ in pairs if bellwether}
        absent = [one.page for one in evidence.wrapper.bellwethers if one.page not in delivered]
        others = len(pairs) - len(delivered)
        is_expected = self.is_request or (bool(delivered) and others < len(absent))
        return [*evidence.gone, *(absent if is_expected else ())]

    def _collect_alarms(self, evidence: Evidence, unmatched: Sequence[str]) -> list[Alarm]:
        """Return the alarms of one cluster: one per broken attribute, and one if the page structure changed.

        Pages that no rules match are an alarm of their own only if their structure is as before.
        """
        attribute_alarms = judge_attributes(evidence, self.rules.schema, self.thresholds.attribute)
        alarms = list(attribute_alarms.values())
        structure_alarm = judge_structure(evidence, self.thresholds.structure)
        match_alarm = judge_matching(evidence, unmatched, self.thresholds.attribute)
        if page_alarm := structure_alarm or match_alarm:
            alarms = [page_alarm, *alarms]
        # A new structure is no problem as long as values come out, and the ones we remember if there are any.
        is_harmless = evidence.confirms_a_golden_value() or evidence.fills_all_attributes()
        if is_harmless and not attribute_alarms and not match_alarm:
            return []
        return alarms


def _summarize(evidence: Evidence, missing: Sequence[str]) -> ClusterReport:
    fill = {name: _share_filled(comparisons) for name, comparisons in evidence.comparisons.items()}
    pages = len(evidence.pages) + len(evidence.gone)
    return ClusterReport(evidence.wrapper.cluster, pages, round(evidence.coverage, 4), fill, tuple(missing))


def _find_new_values(
    evidence: Evidence, pairs: Sequence[PagePair], schema: Schema
) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the values of today that differ from what is remembered, by bellwether and attribute.

    A price of last year is on no page any more. `heal` needs values that were on the page yesterday.
    """
    bellwether_of = {page.id: bellwether.page for bellwether, page in pairs if bellwether}
    new_values: defaultdict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for name, comparisons in evidence.comparisons.items():
        profile = evidence.wrapper.profiles.get(name)
        if profile is None or schema.attributes[name].constant:
            continue
        for comparison in comparisons:
            is_sure = comparison.agreement >= MIN_GOLDEN_CONFIDENCE * profile.agreement
            if comparison.golden and comparison.is_other and is_sure:
                new_values[bellwether_of[comparison.page]][name] = comparison.found
    return dict(new_values)


def _share_filled(comparisons: Sequence[Comparison]) -> float:
    return round(sum(bool(comparison.found) for comparison in comparisons) / len(comparisons), 4)


def _watch_list(wrapper: Wrapper, pages: Sequence[Page], schema: Schema) -> _ClusterResult:
    """Return the figures of list pages, and an alarm if most of them have no records."""
    records_of = {page.id: extract_list(wrapper, page, schema) for page in pages}
    empty = tuple(page for page, records in records_of.items() if not records)
    records = list(chain.from_iterable(records_of.values()))
    fill = {name: _share_with(name, records) for name in wrapper.rules}
    coverage = round(1 - len(empty) / len(records_of), 4)
    report = ClusterReport(wrapper.cluster, len(pages), coverage, fill)
    if len(empty) <= MAX_UNLIKE_PAGES * len(records_of):
        return report, []
    seen = f"none on {len(empty)} of {len(records_of)} pages"
    return report, [Alarm(wrapper.cluster, "records", None, "records on each page", seen, empty)]


def _share_with(attribute: str, records: Sequence[Record]) -> float:
    if not records:
        return 0.0
    return round(sum(attribute in record.values for record in records) / len(records), 4)


def _date_alarm(alarm: Alarm, history: Sequence[Report], now: datetime | None) -> Alarm:
    """Return the alarm with the time when it was first raised, if every report since then raised it."""
    since = now
    for report in reversed(history):
        earlier = next((other for other in report.alarms if other.key == alarm.key), None)
        if earlier is None:
            break
        since = earlier.since or since
    return replace(alarm, since=since)


@dataclass(frozen=True)
class Renewed:
    """A wrapper with fresh bellwethers, the pages chosen, and how many old bellwethers were replaced."""

    wrapper: Wrapper
    pages: list[Page]
    replaced: int


def renew_bellwethers(
    wrapper: Wrapper,
    pages: Sequence[Page],
    schema: Schema,
    *,
    gone: Collection[str] = (),
    doubted: Collection[str] = (),
) -> Renewed:
    """Return a wrapper whose bellwethers are as the fresh pages are now.

    Bellwethers among the pages stay, with the values of today. Others are replaced, as far as there are fresh pages.

    Args:
        wrapper: the rules, with their old bellwethers.
        pages: fresh pages of the cluster.
        schema: the attributes of the rules.
        gone: ids of pages that show no record any more.
        doubted: attributes whose old values stay remembered, because what the rules find now may be wrong.
    """
    pairs = pair_bellwethers(wrapper, index_pages(pages))
    delivered = {page.id: bellwether for bellwether, page in pairs if bellwether and page.id not in gone}
    usable = [page for page in pages if page.id not in gone]
    chosen = choose_bellwethers(wrapper, usable, schema, {}, delivered)
    old_values = {*doubted, *wrapper.lost}
    fresh = [
        _keep_golden(bellwether, delivered.get(bellwether.page), old_values)
        for bellwether in chosen.remembered
    ]
    absent = _find_absent(wrapper, pairs, gone)[: max(0, BELLWETHERS - len(fresh))]
    kept = len(absent) + sum(bellwether.page in delivered for bellwether in fresh)
    profiles = _merge_profiles(wrapper.profiles, chosen.profiles, len(fresh))
    renewed = replace(wrapper, bellwethers=(*fresh, *absent), profiles=profiles)
    return Renewed(renewed, chosen.pages, len(wrapper.bellwethers) - kept)


def _find_absent(wrapper: Wrapper, pairs: Sequence[PagePair], gone: Collection[str]) -> list[Bellwether]:
    """Return the bellwethers that are neither among the pages nor gone."""
    delivered = {bellwether.page for bellwether, _ in pairs if bellwether}
    accounted = delivered.union(gone)
    return [bellwether for bellwether in wrapper.bellwethers if bellwether.page not in accounted]


def _merge_profiles(
    old: Mapping[str, Profile], fresh: Mapping[str, Profile], pages: int
) -> dict[str, Profile]:
    """Return what is usual for each attribute: by the fresh pages, if these are enough."""
    return {**old, **fresh} if pages >= MIN_PROFILE_PAGES else {**fresh, **old}


def _keep_golden(fresh: Bellwether, earlier: Bellwether | None, names: Collection[str]) -> Bellwether:
    """Return a fresh bellwether that still has the old values of some attributes."""
    if earlier is None:
        return fresh
    kept = {name: texts for name, texts in earlier.golden.items() if name in names}
    return replace(fresh, golden={**fresh.golden, **kept})


def renew_missing(rules: Rules, pages: Iterable[Page], report: Report) -> tuple[Rules, int]:
    """Return the rules of a site with other bellwethers for those that are missing, and how many were replaced.

    Clusters with alarms stay as they are, because their rules may not fit the fresh pages. A missing bellwether is
    kept if there is no other page for it: if most are missing some day, that is an alarm.

    Args:
        rules: the rules.
        pages: fresh pages of the site.
        report: what watching these pages found.
    """
    alarmed = {alarm.cluster for alarm in report.alarms}
    calm = [figures for figures in report.clusters if figures.cluster not in alarmed]
    missing = {figures.cluster: figures.missing for figures in calm}
    if not any(missing.values()):
        return rules, 0
    fresh = _pages_by_cluster(rules, pages)
    wrappers: list[Wrapper] = []
    replaced = 0
    for wrapper in rules.wrappers:
        renewed = _replace_missing(wrapper, fresh[wrapper.cluster], rules.schema, missing)
        wrappers.append(renewed.wrapper)
        replaced += renewed.replaced
    return Rules(rules.schema, tuple(wrappers)), replaced


def _replace_missing(
    wrapper: Wrapper, fresh: Sequence[Page], schema: Schema, missing: Mapping[str, Collection[str]]
) -> Renewed:
    """Return a wrapper with other bellwethers for those that are missing, or as it is if there are no other pages."""
    gone = missing.get(wrapper.cluster)
    if gone and fresh:
        renewed = renew_bellwethers(wrapper, fresh, schema, gone=gone)
        if len(renewed.wrapper.bellwethers) > len(wrapper.bellwethers) - len(gone):
            return renewed
    return Renewed(wrapper, [], 0)


def _pages_by_cluster(rules: Rules, pages: Iterable[Page]) -> defaultdict[str, list[Page]]:
    """Return the pages of each cluster by their cores, bellwethers first."""
    watched: set[str] = set()
    for wrapper in rules.wrappers:
        watched.update(bellwether.page for bellwether in wrapper.bellwethers)
        watched.update(bellwether.url for bellwether in wrapper.bellwethers if bellwether.url)
    index = WrapperIndex(rules.wrappers)
    by_cluster: defaultdict[str, list[Page]] = defaultdict(list)
    for page in sorted(pages, key=lambda page: not page.is_named_in(watched)):
        match = index.match(page)
        if match.wrapper and not match.possible:
            by_cluster[match.wrapper.cluster].append(page)
    return by_cluster
