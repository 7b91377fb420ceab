"""What is remembered between runs: SQLite by default, PostgreSQL for a team (Vertex II-C)."""

from untemplate.catalog.catalog import DEFAULT, Catalog
from untemplate.catalog.stored import GivenLabel, RaisedAlarm, Run, Task, Version

__all__ = ["DEFAULT", "Catalog", "GivenLabel", "RaisedAlarm", "Run", "Task", "Version"]
