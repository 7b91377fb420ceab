"""List pages: do the rules of a cluster still find records on them?

A list shows other records every day, so nothing is remembered of it to compare with. What can be told is whether
records, with their mandatory attributes, still come out on most pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from untemplate.clustering import Cluster
from untemplate.extraction import Rules
from untemplate.page import Page
from untemplate.record import Record
from untemplate.rules import Wrapper
from untemplate.watching.alarm import Alarm, ClusterReport
from untemplate.watching.judging import SHINGLE_SHARE

__all__ = ["holding_list", "judge_list"]

# Pages of a new cluster on which the rules of a list are tried.
TRIED = 10


def judge_list(wrapper: Wrapper, pages: Sequence[Page], rules: Rules) -> tuple[ClusterReport, Alarm | None]:
    """The figures of the pages of a list, and an alarm if most of them have no records any more."""
    by_page = {page.id: _records(wrapper, page, rules) for page in pages}
    empty = tuple(page for page, records in by_page.items() if not records)
    records = [record for found in by_page.values() for record in found]
    fill = {
        name: round(sum(name in record.values for record in records) / len(records), 4) if records else 0.0
        for name in wrapper.rules
    }
    report = ClusterReport(wrapper.cluster, len(pages), round(1 - len(empty) / len(by_page), 4), fill)
    if len(empty) <= SHINGLE_SHARE * len(by_page):
        return report, None
    seen = f"none on {len(empty)} of {len(by_page)} pages"
    return report, Alarm(wrapper.cluster, "records", None, "records on each page", seen, empty)


def holding_list(group: Cluster, rules: Rules) -> Wrapper | None:
    """The rules of list pages that still find records on most pages of a cluster."""
    few = group.pages[:: max(1, len(group.pages) // TRIED)][:TRIED]
    for wrapper in rules.wrappers:
        if wrapper.records and 2 * sum(bool(_records(wrapper, page, rules)) for page in few) > len(few):
            return wrapper
    return None


def _records(wrapper: Wrapper, page: Page, rules: Rules) -> list[Record]:
    """The records of a page by the rules of one list."""
    alone = Rules(rules.schema, (replace(wrapper, signatures=(), url_pattern="*"),))
    records = [record for record in alone.extract_page(page) if record.position]
    page.release()
    return records
