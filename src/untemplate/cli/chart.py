"""A picture of how well rules held over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from untemplate.errors import InputError, MissingExtra, why

try:
    from matplotlib.axes import Axes
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure
except ImportError as error:
    raise MissingExtra("plot", "A chart") from error

if TYPE_CHECKING:
    from untemplate.catalog import Run

__all__ = ["draw_coverage"]

# Lines that can be told apart; where there are more, those that end lowest.
LINES = 8

_Points = dict[datetime, float]


def draw_coverage(runs: Iterable[Run], site: str, path: Path) -> None:
    """Draw each cluster's coverage and each attribute's fill over the runs of watch; those with alarms are red."""
    finished = [run for run in runs if run.finished]
    figure = Figure(figsize=(10, 7), layout="constrained")
    upper, lower = figure.subplots(2, sharex=True)
    _draw(upper, f"{site}: pages that look as before, by cluster", _coverage(finished))
    _draw(lower, "Pages on which an attribute is found", _fill(finished))
    lower.set_xlabel("UTC")
    alarmed = _moments(run.started for run in finished if run.figures["alarms"])
    for axes in (upper, lower):
        axes.vlines(alarmed, 0, 1, color="red", alpha=0.3, zorder=0)
    try:
        figure.savefig(path)
    except (ValueError, OSError) as error:
        raise InputError(f"{path}: cannot draw: {why(error)}") from error


def _coverage(runs: Sequence[Run]) -> dict[str, _Points]:
    lines: defaultdict[str, _Points] = defaultdict(dict)
    for run in runs:
        for one in run.figures["clusters"]:
            lines[one["cluster"]][run.started] = one["coverage"]
    return lines


def _fill(runs: Sequence[Run]) -> dict[str, _Points]:
    """Of each attribute the share over the pages of all clusters that have it."""
    lines: defaultdict[str, _Points] = defaultdict(dict)
    for run in runs:
        clusters = run.figures["clusters"]
        for name in dict.fromkeys(name for one in clusters for name in one["fill"]):
            having = [one for one in clusters if name in one["fill"]]
            found = sum(one["fill"][name] * one["pages"] for one in having)
            lines[name][run.started] = found / sum(one["pages"] for one in having)
    return lines


def _draw(axes: Axes, title: str, lines: Mapping[str, _Points]) -> None:
    lowest = sorted(lines, key=lambda name: [*lines[name].values()][-1])[:LINES]
    left_out = f" (the {LINES} lowest of {len(lines)})" if len(lines) > LINES else ""
    for number, name in enumerate(name for name in lines if name in lowest):
        width = 1 + 4 * (1 - number / len(lowest))  # ever thinner, so that no line hides another
        shares = [*lines[name].values()]
        axes.plot(_moments(lines[name]), shares, marker="o", linewidth=width, markersize=width, label=name)
    dates = AutoDateLocator()  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_locator(dates)
    axes.xaxis.set_major_formatter(ConciseDateFormatter(dates))  # type: ignore[no-untyped-call]
    axes.set(title=title + left_out, ylim=(-0.03, 1.03))
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.grid(alpha=0.3)
    if lines:
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))


def _moments(moments: Iterable[datetime]) -> NDArray[np.datetime64]:
    return np.array([moment.replace(tzinfo=None) for moment in moments], "datetime64[ms]")
