"""A few days of 30 made-up sites with the commands of a scheduler; `benchmarks.measure.fleet_month` plays a month."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure.fleet_month import Fleet, describe, play_month
from tests.cli.running import Run

SITES, PAGES, DAYS = 30, 9, 6


def test_a_month(run: Run, tmp_path: Path) -> None:
    month = play_month(
        lambda *arguments: run(*arguments).stdout, tmp_path, Fleet.make(SITES, PAGES, DAYS), DAYS
    )
    happened, story = month.events, "\n".join(describe(month))
    # What was learned is right, and nothing breaks by itself.
    assert month.learned_wrong <= 0.02 * month.values / (DAYS - 1), story
    assert month.calm <= 0.002 * month.values, story
    # A change that costs values is noticed on the same day, and so is an outage, which costs no rules.
    assert happened["breaking"] >= 5, story
    assert happened["breaking noticed"] == happened["breaking"], story
    assert happened["outages noticed"] == happened["error page"] + happened["nothing"] > 0, story
    assert "rules changed" not in story, story
    # Healing repairs most values, and makes none wrong; calm sites raise hardly any alarms.
    assert month.wrong == 0, story
    assert month.lost <= 0.15 * month.broken, story
    assert month.false_alarms <= 0.03 * month.site_days, story
