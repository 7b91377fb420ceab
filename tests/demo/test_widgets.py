"""Widgets: the same in all templates of a site, different between sites, and full of other records."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import median

import numpy as np
import pytest

from untemplate.demo import Site, make_site
from untemplate.demo.look import WIDGETS, Look
from untemplate.demo.setting import Setting
from untemplate.demo.verticals import VERTICALS
from untemplate.demo.widgets import write_widgets
from untemplate.page import Page
from untemplate.page.tag_arrays import read_tags
from untemplate.page.traits import run_table


def make_setting(seed: int, names: tuple[str, ...], area: str) -> Setting:
    """Return a made-up setting whose look has these widgets in an area, and no others."""
    plan = make_site("book", seed, pages=1).plan
    widgets = {**dict.fromkeys(WIDGETS, ()), area: names}
    look: Look = replace(plan.looks["detail"], widgets=widgets)
    return Setting(plan.name, plan.title, plan.host, VERTICALS["book"], look, plan.rows)


def frame_shares(site: Site) -> list[float]:
    """Return the share of each page's tag runs that nearly all pages of the site have."""
    tables = np.array([run_table(read_tags(page.html)) for page in site.pages])
    is_frame = tables.mean(axis=0) >= 0.9
    shares: list[float] = (tables[:, is_frame].sum(axis=1) / tables.sum(axis=1)).tolist()
    return shares


@pytest.mark.parametrize("area", WIDGETS)
def test_every_widget_can_be_written_in_many_ways(area: str) -> None:
    for name in WIDGETS[area]:
        written = {write_widgets(make_setting(seed, (name,), area), area) for seed in range(12)}
        structures = {" ".join(re.findall(r"<(/?\w+)", html)) for html in written}
        assert len(structures) >= 3, name
        for html in written:
            opened, closed = re.findall(r"<(div|ul|ol|li|a|form|table)\b", html), re.findall(r"</(\w+)", html)
            assert all(opened.count(tag) == closed.count(tag) for tag in set(opened)), name


def test_every_widget_occurs() -> None:
    looks = [make_site("movie", seed, pages=1).looks["detail"] for seed in range(60)]
    for area, names in WIDGETS.items():
        assert {name for look in looks for name in look.widgets[area]} == set(names)


def test_all_templates_of_a_site_have_the_same_widgets(sites: list[Site]) -> None:
    for site in sites:
        settings = [
            Setting(site.name, site.plan.title, site.plan.host, site.plan.vertical, look, site.plan.rows)
            for look in site.looks.values()
        ]
        for area in WIDGETS:
            assert len({write_widgets(setting, area) for setting in settings}) == 1


def test_frames_are_as_big_as_those_of_real_sites() -> None:
    """On 31 real sites the quartiles of the mean share are .61, .67 and .71; see benchmarks/measure/frames.py."""
    shares = [np.mean(frame_shares(make_site("product", seed, pages=50))) for seed in range(20)]
    assert 0.55 < median(shares) < 0.75
    assert max(shares) - min(shares) > 0.15


def test_teasers_show_records_of_the_site() -> None:
    setting = make_setting(3, ("recent",), "side")
    page = Page(html=f"<meta charset=utf-8>{write_widgets(setting, 'side')}".encode())
    titles = {setting.head(row) for row in setting.rows}
    assert len(titles & {node.text for node in page.nodes}) >= 3


def test_small_redesigns_keep_the_widgets_and_new_looks_change_them() -> None:
    site = make_site("product", 33, pages=2)
    look = site.looks["detail"]
    assert site.redesign(0.3, 1).looks["detail"].widgets == look.widgets
    assert site.redesign(1.0, 1).looks["detail"].widgets != look.widgets
