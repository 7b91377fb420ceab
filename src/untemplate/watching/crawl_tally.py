"""Watch a crawl by its records, counted by cluster and attribute: compare with earlier crawls (Vertex IV-B).

The paper counts the changes of a site by the coverage of the pages that are crawled anyway (its Table III): a day on
which it drops by 10 % or more is a change. Nothing has to be fetched or remembered for that.

Departures. Coverage is the share of pages that rules match, because pages are matched by more than their signatures
(`extraction/matching.py`). Three further figures are compared for each attribute: how often it has a value, how sure
the committee is, and how often the committee or the embedded data disagree with the value. The last two are compared
only with crawls by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import median
from typing import NamedTuple

from untemplate.output.quality import CrawlTally, Tally
from untemplate.record import Reason
from untemplate.watching.judging import MIN_AGREEMENT_SHARE, MIN_SIGMAS, Alarm, share_deviation

__all__ = ["SITE", "judge_crawl"]

SITE = "site"
"""Stands for a cluster in alarms about a crawl as a whole."""

# Table III of the paper: the smallest drop of a share that counts as a change of the site.
MIN_DROP = 0.1
# A crawl with a smaller share of the usual number of pages has lost a part of the site.
MIN_PAGES_SHARE = 0.5
# Clusters with fewer records say nothing about confidence and the agreement of the committee.
MIN_RECORDS = 10
# Other advertisements can divide the committee on all pages at once. How much, only several crawls show.
MIN_CRAWLS = 5
# The median distance of figures from their median, times this, is their standard deviation if they are normal.
SIGMA_PER_MEDIAN_DISTANCE = 1.4826


class _Share(NamedTuple):
    """A share of pages or records, as a fraction."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return self.part / self.whole


def judge_crawl(tally: CrawlTally, history: Sequence[CrawlTally]) -> list[Alarm]:
    """Return an alarm for each figure of a crawl that is clearly worse than in earlier crawls.

    A figure is compared with its median over the earlier crawls. It must be worse by 10 points, and by more than the
    size of the crawl and the usual ups and downs explain.

    Args:
        tally: the counts of the crawl.
        history: the counts of earlier crawls of the same site, in any order. Without any, there are no alarms.
    """
    alarms = [_judge_pages(tally, history), _judge_coverage(tally, history)]
    for cluster, counts in tally.clusters.items():
        earlier = [past.clusters[cluster] for past in history if cluster in past.clusters]
        alarms += _judge_cluster(cluster, counts, earlier)
    return [alarm for alarm in alarms if alarm]


def _judge_pages(tally: CrawlTally, history: Sequence[CrawlTally]) -> Alarm | None:
    """Return an alarm if the crawl has far fewer pages than usual."""
    if not history:
        return None
    pages = tally.total().pages
    usual = median(past.total().pages for past in history)
    if pages >= MIN_PAGES_SHARE * usual:
        return None
    return Alarm(SITE, "pages", None, f"about {usual:,.0f} pages", f"{pages:,} pages", ())


def _judge_coverage(tally: CrawlTally, history: Sequence[CrawlTally]) -> Alarm | None:
    """Return an alarm if rules match a smaller share of the pages than usual."""
    usual = _usual_share([_matched_share(past) for past in history], _matched_share(tally))
    if usual is None:
        return None
    return _share_alarm(SITE, "coverage", None, "rules that match", usual, _matched_share(tally))


def _matched_share(tally: CrawlTally) -> _Share:
    """Return the share of pages that rules match, without pages of a kind that nobody labeled."""
    total = tally.total()
    return _Share(total.pages - total.unmatched.total(), total.pages - total.unmatched[Reason.NEEDS_LABELS])


def _judge_cluster(cluster: str, counts: Tally, earlier: Sequence[Tally]) -> Iterator[Alarm]:
    """Yield the alarms of a cluster, at most one for each attribute."""
    names = dict.fromkeys(chain.from_iterable(past.filled for past in earlier))
    for name in names:
        alarm = _judge_fill(cluster, name, counts, earlier)
        alarm = alarm or _judge_confidence(cluster, name, counts, earlier)
        alarm = alarm or _judge_disagreements(cluster, name, counts, earlier)
        if alarm:
            yield alarm


def _judge_fill(cluster: str, name: str, counts: Tally, earlier: Sequence[Tally]) -> Alarm | None:
    """Return an alarm if an attribute has a value less often than usual."""
    filled = _Share(counts.filled[name], counts.matched)
    usual = _usual_share([_Share(past.filled[name], past.matched) for past in earlier], filled)
    if usual is None:
        return None
    return _share_alarm(cluster, "fill", name, "a value", usual, filled)


def _judge_confidence(cluster: str, name: str, counts: Tally, earlier: Sequence[Tally]) -> Alarm | None:
    """Return an alarm if the committee is far less certain than usual."""
    means = [past.mean_confidence(name) for past in earlier if _shows_confidence(past, name)]
    if len(means) < MIN_CRAWLS or not _shows_confidence(counts, name):
        return None
    lowest, now = min(means), counts.mean_confidence(name)
    if now >= MIN_AGREEMENT_SHARE * lowest:
        return None
    return Alarm(cluster, "agreement", name, f"a confidence of at least {lowest:.2f}", f"{now:.2f}", ())


def _shows_confidence(counts: Tally, name: str) -> bool:
    return name in counts.confidence and counts.filled[name] >= MIN_RECORDS


def _judge_disagreements(cluster: str, name: str, counts: Tally, earlier: Sequence[Tally]) -> Alarm | None:
    """Return an alarm if values are contradicted more often than usual, and more often than ever."""
    agreeing = _agreeing(counts, name)
    before = [_agreeing(past, name) for past in earlier if _shows_confidence(past, name)]
    if len(before) < MIN_CRAWLS or agreeing.whole < MIN_RECORDS:
        return None
    usual = _usual_share(before, agreeing)
    if usual is None or agreeing.value >= min(share.value for share in before):
        return None
    return _share_alarm(cluster, "disagreement", name, "no contradiction", usual, agreeing)


def _agreeing(counts: Tally, name: str) -> _Share:
    """Return the share of values that neither the committee nor the embedded data contradict."""
    return _Share(counts.filled[name] - counts.doubtful[name], counts.filled[name])


def _usual_share(history: Sequence[_Share], now: _Share) -> float | None:
    """Return the usual share if the present one is clearly smaller, else None.

    Args:
        history: the share in earlier crawls; crawls without such pages do not count.
        now: the share in this crawl.
    """
    history = [share for share in history if share.whole]
    if not history or not now.whole:
        return None
    usual = median(share.value for share in history)
    spread = SIGMA_PER_MEDIAN_DISTANCE * median(abs(share.value - usual) for share in history)
    pages = sum(share.whole for share in history)
    deviation = max(spread, share_deviation(usual, pages, now.value, now.whole))
    return usual if usual - now.value >= max(MIN_DROP, MIN_SIGMAS * deviation) else None


def _share_alarm(
    cluster: str, test: str, attribute: str | None, expected: str, usual: float, now: _Share
) -> Alarm:
    what = "pages" if attribute is None else "records"
    return Alarm(
        cluster,
        test,
        attribute,
        f"{expected} on {usual:.0%} of the {what}",
        f"{now.value:.0%} of {now.whole:,}",
        (),
    )
