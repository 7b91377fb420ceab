"""What untemplate stores between runs: in a SQLite file by default, in PostgreSQL for a team (Vertex II-C)."""

from untemplate.catalog.catalog import DEFAULT_CATALOG, Catalog
from untemplate.catalog.rule_versions import PagesToLabel, Version
from untemplate.catalog.runs import Run, StoredAlarm
from untemplate.catalog.site_contents import StoredLabel

__all__ = ["DEFAULT_CATALOG", "Catalog", "PagesToLabel", "Run", "StoredAlarm", "StoredLabel", "Version"]
