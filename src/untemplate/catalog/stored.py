"""What a catalog gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from untemplate.labeling import Label
from untemplate.watching import Alarm

__all__ = ["GivenLabel", "RaisedAlarm", "Run", "Task", "Version"]


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a site's rules: why it was saved, by whom and when, and how much it holds."""

    number: int
    reason: str
    note: str
    by: str
    saved: datetime
    clusters: int
    rules: int


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A label, who gave it and when; `removed` says since when it no longer counts."""

    id: int
    label: Label
    by: str
    given: datetime
    removed: datetime | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command over a site; without `finished` it is under way, or was cut off."""

    id: int
    kind: str
    started: datetime
    finished: datetime | None
    figures: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class RaisedAlarm(Alarm):
    """An alarm, when it was raised, and when it was found to have passed."""

    id: int
    raised: datetime
    cleared: datetime | None


@dataclass(frozen=True, slots=True)
class Task:
    """Pages that a person should label: those of a cluster whose rules for some attributes a change broke."""

    cluster: str
    attributes: tuple[str, ...]
    pages: tuple[str, ...]
