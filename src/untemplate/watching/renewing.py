"""Renew bellwethers: pages that were not delivered, or that show no record any more, are replaced by fresh ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from untemplate.extraction import Rules
from untemplate.extraction.matching import WrapperIndex
from untemplate.page import Page, index_pages
from untemplate.rules import Bellwether, Profile, Wrapper
from untemplate.schema import Schema
from untemplate.watching.bellwethers import BELLWETHERS, choose_bellwethers
from untemplate.watching.comparing import PagePair, pair_bellwethers
from untemplate.watching.monitoring import Report

__all__ = ["Renewed", "renew_bellwethers", "renew_missing"]

# Fewer pages do not show what is usual for an attribute: what is known from earlier pages stays.
# The number is our judgment, without a sweep.
MIN_PROFILE_PAGES = 10


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
    fresh = [_keep_golden(one, delivered.get(one.page), old_values) for one in chosen.remembered]
    absent = _find_absent(wrapper, pairs, gone)[: max(0, BELLWETHERS - len(fresh))]
    kept = len(absent) + sum(one.page in delivered for one in fresh)
    profiles = _merge_profiles(wrapper.profiles, chosen.profiles, len(fresh))
    renewed = replace(wrapper, bellwethers=(*fresh, *absent), profiles=profiles)
    return Renewed(renewed, chosen.pages, len(wrapper.bellwethers) - kept)


def _find_absent(wrapper: Wrapper, pairs: Sequence[PagePair], gone: Collection[str]) -> list[Bellwether]:
    """Return the bellwethers that are neither among the pages nor gone."""
    known = {bellwether.page for bellwether, _ in pairs if bellwether}
    return [one for one in wrapper.bellwethers if one.page not in known and one.page not in gone]


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
    missing = {one.cluster: one.missing for one in report.clusters if one.cluster not in alarmed}
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
        watched.update(one.page for one in wrapper.bellwethers)
        watched.update(one.url for one in wrapper.bellwethers if one.url)
    index = WrapperIndex(rules.wrappers)
    by_cluster: defaultdict[str, list[Page]] = defaultdict(list)
    for page in sorted(pages, key=lambda page: not page.is_named_in(watched)):
        match = index.match(page)
        if match.wrapper and not match.possible:
            by_cluster[match.wrapper.cluster].append(page)
    return by_cluster
