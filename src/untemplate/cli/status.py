"""untemplate status: how all sites of a catalog are doing, the worst first."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain
from typing import TYPE_CHECKING

import click

from untemplate.cli.catalog_options import DEFAULT_CATALOG, catalog_option, open_catalog, shown
from untemplate.cli.shell import counted, examples, json_option, say, show, show_json

if TYPE_CHECKING:
    from untemplate.catalog import Measure, SiteStatus

__all__ = ["command", "show_statuses"]

# Changes of a share that the table shows; smaller ones are noise.
MIN_SHOWN_CHANGE = 0.005
# Work items that the table lists; --json has all of them.
MAX_SHOWN_WORK = 20


@click.command(
    epilog=examples(
        "untemplate status",
        "untemplate status --catalog postgresql://ada@db.example/untemplate",
        "untemplate status --json | jq '.sites[] | select(.alarms > 0) | .site'",
    )
)
@catalog_option("The catalog.", default=DEFAULT_CATALOG)
@json_option
def command(catalog_name: str, as_json: bool) -> None:
    """Show how every site is doing, the worst first, and what waits for a person, most lost pages first.

    Coverage is the share of pages that rules match, and fill the share of values that come out, both in the last
    extract run, or else in the last watch run. The arrow compares them with the runs before.
    """
    with open_catalog(catalog_name) as catalog:
        statuses = catalog.statuses()
    if as_json:
        show_json({"sites": [status.to_dict() for status in statuses]})
    else:
        show_statuses(statuses)


def show_statuses(statuses: list[SiteStatus]) -> None:
    """Print a table with a line a site, and one of what waits for people."""
    columns = (
        "site",
        "schema",
        "pages",
        "coverage",
        "fill",
        "rules",
        "last watch",
        "alarms",
        "waiting",
        "lost pages",
    )
    show(counted(len(statuses), "site"), columns, map(_status_row, statuses))
    all_work = chain.from_iterable(status.waiting for status in statuses)
    work = sorted(all_work, key=lambda waiting: -waiting.pages)
    if work:
        rows = [
            (one.site, one.cluster, one.reason, ", ".join(one.attributes), one.page or "", one.pages)
            for one in work[:MAX_SHOWN_WORK]
        ]
        show(
            "Waiting for a person",
            ("site", "cluster", "reason", "attributes", "page to label", "lost pages"),
            rows,
        )
    if len(work) > MAX_SHOWN_WORK:
        say(f"and {len(work) - MAX_SHOWN_WORK:,} more; untemplate serve shows all")


def _status_row(status: SiteStatus) -> list[object]:
    """Return the cells of a site."""
    return [
        status.site,
        status.schema or "no rules",
        "" if status.pages is None else f"{status.pages:,}",
        _show_measure(status.coverage),
        _show_measure(status.fill),
        _show_age(status.saved),
        shown(status.last_watch) if status.last_watch else "never",
        status.alarms,
        len(status.waiting),
        status.pages_lost,
    ]


def _show_measure(measure: Measure) -> str:
    """Return a share in percent, with an arrow if it changed."""
    if measure.now is None:
        return ""
    if abs(measure.change) < MIN_SHOWN_CHANGE:
        return f"{measure.now:.0%}"
    arrow = "↑" if measure.change > 0 else "↓"
    return f"{measure.now:.0%} {arrow}{abs(measure.change):.0%}"


def _show_age(moment: datetime | None) -> str:
    """Return the time since a moment in days, or in hours on its first day."""
    if moment is None:
        return ""
    age = datetime.now(UTC) - moment
    return f"{age.days} d" if age.days else f"{age.seconds // 3600} h"
