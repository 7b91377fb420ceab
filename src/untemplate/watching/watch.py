"""Watch: do the rules of a site still hold on its pages as they are now? (Vertex IV-B)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from untemplate.extraction import Rules, Wrapper
from untemplate.page import Page
from untemplate.watching.alarm import Alarm, ClusterReport, Report
from untemplate.watching.evidence import Evidence, Pair, gather, pair
from untemplate.watching.judging import FIELD_SHARE, SHINGLE_SHARE, judge_attributes, judge_structure

__all__ = ["watch"]


def watch(
    rules: Rules,
    fresh_pages: Iterable[Page],
    *,
    broken_share: float | None = None,
    history: Sequence[Report] = (),
) -> Report:
    """Compare fresh versions of the bellwethers with what is remembered of them.

    Other pages of a cluster are judged too: how often values come out, and whether they look as they did.
    `broken_share` is the share of bellwethers that must fail a test, by default the paper's: a majority for the
    shingle test, any for the field test. A high one tells redesigns from flapping advertisements and changes of data.
    `history`, earlier reports, the latest last, tells since when an alarm stands.
    """
    pages = list(fresh_pages)
    report = Report()
    now = max((page.fetched for page in pages if page.fetched), default=None)
    for wrapper in rules.wrappers:
        if not wrapper.rules or not wrapper.bellwethers:
            continue
        known = pair(wrapper, pages)
        evidence = gather(wrapper, [*known, *_alike(wrapper, pages, known, rules)], rules.schema)
        if evidence.pages:
            report.clusters.append(_figures(evidence))
            report.alarms.extend(_alarms(evidence, rules, broken_share))
    report.alarms[:] = [replace(alarm, since=_since(alarm, history, now)) for alarm in report.alarms]
    return report


def _alike(wrapper: Wrapper, pages: Sequence[Page], known: Sequence[Pair], rules: Rules) -> Iterator[Pair]:
    """Pages besides its bellwethers that match the wrapper, and those that match none but have its URLs alone."""
    watched = {id(page) for _, page in known}
    for page in pages:
        if id(page) in watched or not wrapper.knows_url(page.url):
            continue
        cluster = rules.extract_one(page).cluster
        others = (one for one in rules.wrappers if one is not wrapper and one.knows_url(page.url))
        if cluster == wrapper.cluster or (cluster is None and next(others, None) is None):
            yield None, page


def _alarms(evidence: Evidence, rules: Rules, share: float | None) -> list[Alarm]:
    verdicts = judge_attributes(evidence, rules.schema, FIELD_SHARE if share is None else share)
    alarms = [alarm for found in verdicts.values() for alarm in found]
    structure = judge_structure(evidence, SHINGLE_SHARE if share is None else share)
    vouched = any(one.is_same and one.golden for found in evidence.comparisons.values() for one in found)
    return [structure, *alarms] if structure and (alarms or not vouched) else alarms


def _figures(evidence: Evidence) -> ClusterReport:
    fill = {
        name: round(sum(bool(one.found) for one in found) / len(found), 4)
        for name, found in evidence.comparisons.items()
    }
    return ClusterReport(evidence.wrapper.cluster, len(evidence.pages), round(evidence.coverage, 4), fill)


def _since(alarm: Alarm, history: Sequence[Report], now: datetime | None) -> datetime | None:
    """When the alarm was first raised, if every report since then raised it."""
    since = now
    for report in reversed(history):
        earlier = next((one for one in report.alarms if one.key == alarm.key), None)
        if earlier is None:
            break
        since = earlier.since or since
    return since
