"""What a look at fresh pages finds: alarms, and figures to compare with earlier and later ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

__all__ = ["Alarm", "ClusterReport", "Report"]


@dataclass(frozen=True)
class Alarm:
    """A test that failed: what was expected, what was seen, on which pages, and since when, if that is known."""

    cluster: str
    test: str
    attribute: str | None
    expected: str
    seen: str
    pages: tuple[str, ...]
    since: datetime | None = None

    @property
    def key(self) -> tuple[str, str, str | None]:
        """What makes it the same alarm as an earlier one."""
        return self.cluster, self.test, self.attribute

    def __str__(self) -> str:
        what = f"{self.attribute}: " if self.attribute else ""
        return f"{self.cluster}, {self.test} test: {what}expected {self.expected}; seen {self.seen}"


@dataclass(frozen=True)
class ClusterReport:
    """The figures of one cluster.

    `coverage` is the share of the pages looked at that still look like the cluster's; `fill`, per attribute the share
    on which it came out.
    """

    cluster: str
    pages: int
    coverage: float
    fill: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """What a look at fresh pages found."""

    alarms: list[Alarm] = field(default_factory=list)
    clusters: list[ClusterReport] = field(default_factory=list)
