"""Redesigns: the same data in another look, by degrees, and harmless at strength 0."""

from __future__ import annotations

from dataclasses import replace
from statistics import mean

import pytest

from tests.demo.silence import quiet
from untemplate.demo import VERTICALS, Site, make_site

STRENGTHS = (0.0, 0.1, 0.3, 0.5, 0.8, 1.0)


def likeness(one: Site, other: Site) -> float:
    """Mean overlap of the tag paths of the same pages."""
    shares = []
    for old, new in zip(one.pages, other.pages, strict=True):
        if old.id in one.truth:
            before, after = ({node.path for node in page.nodes} for page in (old, new))
            shares.append(len(before & after) / len(before | after))
    return mean(shares)


def plain(text: str) -> str:
    """What is left of a value when its writing does not matter."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())


@pytest.mark.parametrize("vertical", VERTICALS)
def test_a_refresh_changes_nothing_but_noise_and_prices(vertical: str) -> None:
    site = make_site(vertical, 21, pages=24)
    later = site.redesign(0.0, 1)
    assert later.looks == site.looks
    for old, new in zip(site.pages, later.pages, strict=True):
        assert old.html != new.html
        if old.id in site.truth:
            before, after = quiet(old).nodes, quiet(new).nodes
            assert [node.path for node in before] == [node.path for node in after]
            assert [node.element.attrib for node in before] == [node.element.attrib for node in after]
        for name, values in site.truth.get(old.id, {}).items():
            assert (later.truth[old.id][name] != values) == (name in later.changed[old.id])


@pytest.mark.parametrize("vertical", VERTICALS)
@pytest.mark.parametrize("strength", STRENGTHS)
def test_urls_and_data_stay(vertical: str, strength: float) -> None:
    site = make_site(vertical, 22, pages=16)
    later = site.redesign(strength, 2)
    assert [(page.id, page.url) for page in later.pages] == [(page.id, page.url) for page in site.pages]
    assert later.templates == site.templates
    for page, truth in site.truth.items():
        for name, values in truth.items():
            fresh = later.truth[page][name]
            assert bool(fresh) == bool(values)
            if name in ("name", "title", "publisher", "ingredients", "director", "company", "year"):
                assert plain("".join(fresh)) == plain("".join(values))


def test_constant_attributes_never_change() -> None:
    for vertical in VERTICALS:
        site = make_site(vertical, 23, pages=24)
        changed = {name for names in site.redesign(0.5, 3).changed.values() for name in names}
        assert not any(site.schema.attributes[name].constant for name in changed)
        assert bool(changed) == (vertical in ("book", "product"))


def test_the_stronger_the_less_alike() -> None:
    sites = [make_site(vertical, seed, pages=6) for vertical in VERTICALS for seed in (31, 32)]
    curve = [mean(likeness(site, site.redesign(strength, 4)) for site in sites) for strength in STRENGTHS]
    assert curve == sorted(curve, reverse=True)
    assert curve[0] > 0.85
    assert 0.7 < curve[1] < 0.97
    assert curve[-1] < 0.2


def test_small_redesigns_rename_wrap_and_move() -> None:
    site = make_site("product", 33, pages=8)
    look = site.looks["detail"]
    seen = {"renamed": 0, "wrapped": 0, "moved": 0}
    for seed in range(10):
        later = site.redesign(0.15, seed)
        fresh = later.looks["detail"]
        assert fresh.outer == look.outer
        assert fresh.class_style == look.class_style
        seen["wrapped"] += fresh.wrappers != look.wrappers
        seen["moved"] += fresh.order != look.order
        before, after = (set(one.pages[0].tree.xpath("//@class")) for one in (site, later))
        seen["renamed"] += bool(before) and bool(before - after)
    assert all(count >= 5 for count in seen.values()), seen


def test_the_strongest_redesign_is_a_new_look() -> None:
    site = make_site("movie", 34, pages=40)
    look, fresh = site.looks["detail"], site.redesign(1.0, 5).looks["detail"]
    assert replace(fresh, renames=()) != look
    assert fresh.names != look.names
    assert fresh.order != look.order


def test_templates_stay_apart_when_redesigned() -> None:
    site = next(
        site for seed in range(10) if "detail-2" in (site := make_site("recipe", seed, pages=24)).looks
    )
    looks = site.redesign(1.0, 6).looks
    assert looks["detail"].footer == looks["detail-2"].footer
    assert looks["detail"].order != looks["detail-2"].order


def test_a_site_can_be_redesigned_again_and_again() -> None:
    site = make_site("restaurant", 35, pages=10)
    for seed in range(3):
        site = site.redesign(0.6, seed)
    assert all(truth["name"] for truth in site.truth.values())
    assert (
        site.pages[0].html
        == make_site("restaurant", 35, pages=10)
        .redesign(0.6, 0)
        .redesign(0.6, 1)
        .redesign(0.6, 2)
        .pages[0]
        .html
    )
