"""Watch: do the rules of a site still hold on its pages as they are now? (Vertex IV-B)"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from untemplate.extraction import Rules, Wrapper
from untemplate.page import Page
from untemplate.watching.alarm import Alarm, ClusterReport, Report
from untemplate.watching.evidence import Evidence, Pair, gather, pair
from untemplate.watching.judging import SHINGLE_SHARE, judge_attributes, judge_structure

__all__ = ["watch"]


def watch(
    rules: Rules,
    fresh_pages: Iterable[Page],
    *,
    shingle_share: float = SHINGLE_SHARE,
    history: Sequence[Report] = (),
) -> Report:
    """Compare fresh versions of the bellwethers with what is remembered of them.

    A cluster none of whose bellwethers is among the pages is judged by others that match it, or by URL might: how
    often values come out, and whether they look as they did. `shingle_share` is the share of pages that must look
    unlike before; a higher one tells redesigns from flapping advertisements. `history`, earlier reports, the latest
    last, tells since when an alarm stands.
    """
    pages = list(fresh_pages)
    report = Report()
    now = max((page.fetched for page in pages if page.fetched), default=None)
    for wrapper in rules.wrappers:
        if not wrapper.rules or not wrapper.bellwethers:
            continue
        evidence = gather(wrapper, pair(wrapper, pages) or _alike(wrapper, pages, rules), rules.schema)
        if evidence.pages:
            report.clusters.append(_figures(evidence))
            report.alarms.extend(_alarms(evidence, rules, shingle_share))
    report.alarms[:] = [replace(alarm, since=_since(alarm, history, now)) for alarm in report.alarms]
    return report


def _alike(wrapper: Wrapper, pages: Sequence[Page], rules: Rules) -> Iterator[Pair]:
    """Pages that match the wrapper, and those of its URL pattern that match no other."""
    for page in pages:
        if wrapper.knows_url(page.url) and rules.extract_one(page).cluster in (wrapper.cluster, None):
            yield None, page


def _alarms(evidence: Evidence, rules: Rules, shingle_share: float) -> list[Alarm]:
    alarms = [alarm for found in judge_attributes(evidence, rules.schema).values() for alarm in found]
    structure = judge_structure(evidence, shingle_share)
    vouched = any(one.is_same and one.golden for found in evidence.comparisons.values() for one in found)
    return [structure, *alarms] if structure and (alarms or not vouched) else alarms


def _figures(evidence: Evidence) -> ClusterReport:
    pages = len(evidence.pages)
    fill = {name: sum(bool(one.found) for one in found) for name, found in evidence.comparisons.items()}
    return ClusterReport(
        evidence.wrapper.cluster,
        pages,
        round(1 - len(evidence.unlike) / pages, 4),
        {name: round(count / pages, 4) for name, count in fill.items()},
    )


def _since(alarm: Alarm, history: Sequence[Report], now: datetime | None) -> datetime | None:
    """When the alarm was first raised, if every report since then raised it."""
    since = now
    for report in reversed(history):
        earlier = next((one for one in report.alarms if one.key == alarm.key), None)
        if earlier is None:
            break
        since = earlier.since or since
    return since
