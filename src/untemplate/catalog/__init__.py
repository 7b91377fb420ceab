"""What untemplate stores between runs: in a SQLite file by default, in PostgreSQL for a team (Vertex II-C)."""

from untemplate.catalog.catalog import DEFAULT_CATALOG, Catalog
from untemplate.catalog.live_rules import LiveRules
from untemplate.catalog.rule_versions import PagesToLabel, Version
from untemplate.catalog.runs import Run, StoredAlarm
from untemplate.catalog.site_contents import StoredLabel
from untemplate.catalog.site_rounds import (
    SiteOutcome,
    heal_sites,
    sites_to_heal,
    sites_to_watch,
    split_by_site,
    watch_sites,
)
from untemplate.catalog.site_status import Measure, SiteStatus, WaitingWork

__all__ = [
    "DEFAULT_CATALOG",
    "Catalog",
    "LiveRules",
    "Measure",
    "PagesToLabel",
    "Run",
    "SiteOutcome",
    "SiteStatus",
    "StoredAlarm",
    "StoredLabel",
    "Version",
    "WaitingWork",
    "heal_sites",
    "sites_to_heal",
    "sites_to_watch",
    "split_by_site",
    "watch_sites",
]
