"""Watch: do the rules of a site still hold on its pages as they are now? (Vertex IV-B)"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.watching.alarm import Alarm, ClusterReport, Report
from untemplate.watching.evidence import Evidence, by_name, gather, pair
from untemplate.watching.judging import FIELD_SHARE, SHINGLE_SHARE, judge_attributes, judge_structure
from untemplate.watching.lists import judge_list

__all__ = ["watch"]


def watch(
    rules: Rules,
    fresh_pages: Iterable[Page],
    *,
    broken_share: float | None = None,
    history: Sequence[Report] = (),
) -> Report:
    """Compare fresh versions of the bellwethers with what is remembered of them.

    Other pages of a cluster are judged too: how often values come out, and whether they look as they did. Of list
    pages, only whether records come out.
    `broken_share` is the share of bellwethers that must fail a test, by default the paper's: a majority for the
    shingle test, any for the field test. A high one tells redesigns from flapping advertisements and changes of data.
    `history`, earlier reports, the latest last, tells since when an alarm stands.
    """
    pages = list(fresh_pages)
    report = Report()
    now = max((page.fetched for page in pages if page.fetched), default=None)
    fresh = by_name(pages)
    watched = [wrapper for wrapper in rules.wrappers if wrapper.rules and wrapper.bellwethers]
    known = {wrapper.cluster: pair(wrapper, fresh) for wrapper in watched}
    bellwethers = {id(page) for pairs in known.values() for _, page in pairs}
    others = _others(rules, [page for page in pages if id(page) not in bellwethers])
    for wrapper in watched:
        pairs = [*known[wrapper.cluster], *((None, page) for page in others[wrapper.cluster])]
        evidence = gather(wrapper, pairs, rules.schema)
        if evidence.pages:
            report.clusters.append(_figures(evidence))
            report.alarms.extend(_alarms(evidence, rules, broken_share))
        for _, page in pairs:
            page.release()
    for wrapper in rules.wrappers:
        if wrapper.records and others[wrapper.cluster]:
            figures, alarm = judge_list(wrapper, others[wrapper.cluster], rules)
            report.clusters.append(figures)
            report.alarms.extend([alarm] if alarm else [])
    report.alarms[:] = [replace(alarm, since=_since(alarm, history, now)) for alarm in report.alarms]
    return report


def _others(rules: Rules, pages: Iterable[Page]) -> Mapping[str, list[Page]]:
    """Per cluster the pages that match its wrapper, and those that match none but have its URLs alone."""
    found: defaultdict[str, list[Page]] = defaultdict(list)
    for page in pages:
        cluster = rules.extract_one(page).cluster
        page.release()
        knowing = [wrapper.cluster for wrapper in rules.wrappers if wrapper.matches_url(page.url)]
        if cluster in knowing:
            found[cluster].append(page)
        elif cluster is None and len(knowing) == 1:
            found[knowing[0]].append(page)
    return found


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
