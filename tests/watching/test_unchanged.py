"""Healing a site that did not change does no harm, whichever of its pages the fresh crawl has."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from lxml import etree

from tests.watching.shops import SCHEMA, SHOP, extracted, rules_of
from untemplate import Limits, Page, Reason, Rules, learn
from untemplate.demo import Site, make_site
from untemplate.page.parsing import parse_html
from untemplate.watching import HealCounts, heal_site

Values = dict[tuple[str, str], list[str]]


@pytest.fixture(scope="module")
def site() -> Site:
    """A site with several templates: two that show records, lists and others."""
    return make_site("restaurant", 200, 120)


@pytest.fixture(scope="module")
def rules(site: Site) -> Rules:
    pages = site.pages[::2]
    shown = [page.id for page in pages if page.id in site.truth]
    chosen = {*shown[:4], *[page for page in shown if site.templates[page] != site.templates[shown[0]]][:4]}
    return learn(pages, [label for label in site.labels if label.page in chosen], site.schema)


def values(rules: Rules, site: Site) -> Values:
    found: Values = {}
    for record in rules.extract(site.pages):
        for name, texts in record.values.items():
            found[record.page_id, name] = [value.text for value in texts]
    return found


def crawl(site: Site, rules: Rules, shared: set[str]) -> list[Page]:
    """Pages that the rules do not remember, and the bellwethers of some clusters."""
    watched = {one.page: wrapper.cluster for wrapper in rules.wrappers for one in wrapper.bellwethers}
    return [page for page in site.pages if page.id not in watched or watched[page.id] in shared]


@pytest.mark.parametrize("shared", [set(), {"c1"}, {"c2"}, {"c1", "c2"}], ids=["none", "c1", "c2", "both"])
def test_no_value_is_lost_whichever_bellwethers_are_there(site: Site, rules: Rules, shared: set[str]) -> None:
    """The fault: bellwethers of one template, other pages of another; the latter lost its rules."""
    before = values(rules, site)
    assert len(before) > 200
    healed = heal_site(rules, crawl(site, rules, shared))
    assert values(healed.rules, site) == before
    assert not healed.lost
    assert not healed.healed


def test_names_of_clusters_are_stable(site: Site, rules: Rules) -> None:
    names = {wrapper.cluster: wrapper.rules for wrapper in rules.wrappers}
    for shared in (set[str](), {"c1"}, {"c1", "c2"}):
        healed = heal_site(rules, crawl(site, rules, shared))
        kept = {wrapper.cluster: wrapper.rules for wrapper in healed.rules.wrappers}
        assert {name: kept[name] for name in names} == names
        assert all(new == old for new, old in healed.reused.items())


def test_a_few_pages_are_enough(site: Site, rules: Rules) -> None:
    before = values(rules, site)
    for count in (1, 3, 8):
        assert values(heal_site(rules, site.pages[:count]).rules, site) == before


def test_counts_add_up_over_sites(site: Site, rules: Rules) -> None:
    counts = heal_site(rules, site.pages).counts
    assert counts.reused >= 1
    assert counts.reused_pages <= counts.pages <= len(site.pages)
    assert (counts.relearned, counts.refused, counts.lost) == (0, 0, 0)
    assert counts.kept == sum(len(wrapper.rules) for wrapper in rules.wrappers)
    total = counts + counts + HealCounts(lost=1)
    assert (total.kept, total.lost) == (2 * counts.kept, 1)
    assert set(total.to_dict()) >= {"clusters", "reused", "pages", "relearned", "refused", "lost"}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """How often each page is parsed by lxml."""
    counts: Counter[bytes] = Counter()

    def count(html: bytes, limits: Limits) -> etree._Element:
        counts[html] += 1
        return parse_html(html, limits)

    monkeypatch.setattr("untemplate.page.page.parse_html", count)
    return counts


def test_no_page_is_parsed_twice(site: Site, rules: Rules, parsed: Counter[bytes]) -> None:
    heal_site(rules, site.pages)
    assert parsed
    assert max(parsed.values()) == 1


def test_no_page_is_parsed_twice_after_a_redesign(site: Site, rules: Rules, parsed: Counter[bytes]) -> None:
    later = site.redesign(1.0, 3)
    healed = heal_site(rules, later.pages)
    assert healed.healed
    assert max(parsed.values()) == 1


def test_a_page_that_changed_alone_does_not_break_a_rule_that_holds_elsewhere() -> None:
    rules = rules_of()
    watched = {one.page for one in rules.wrappers[0].bellwethers}
    new = SHOP.changed(pages=range(100, 130)).read()
    one = next(page for page in SHOP.read() if page.id in watched)
    renamed = Page(one.url, one.html.replace(b"class=maker>", b"class=maker>New "), one.id)
    healed = heal_site(rules, [renamed, *new])
    assert healed.rules.wrappers[0].rules == rules.wrappers[0].rules
    assert [(refusal.cluster, refusal.attribute) for refusal in healed.refused] == [("c1", "brand")]
    assert healed.counts.refused == 1


def test_pages_that_are_no_longer_available_are_replaced() -> None:
    rules = rules_of()
    watched = {one.page for one in rules.wrappers[0].bellwethers}
    gone = set(sorted(watched)[:4])
    sorry = "<html><body><h1>Sorry</h1><p>No longer available</p></body></html>"
    pages = [Page(page.url, sorry, page.id) if page.id in gone else page for page in SHOP.read()]
    healed = heal_site(rules, pages)
    now = {one.page for one in healed.rules.wrappers[0].bellwethers}
    assert len(now) == 20
    assert not now & gone
    assert watched - gone <= now
    assert healed.counts.replaced == 4
    assert extracted(healed.rules, SHOP) == extracted(rules, SHOP)


def test_new_pages_of_a_kind_without_rules_need_labels_and_take_nothing_away() -> None:
    rules = rules_of()
    other = [
        Page(f"http://shop.example/about/{n}", "<ul>" + "<li>x" * 30 + f"<p>{n}", f"a{n}") for n in range(8)
    ]
    healed = heal_site(rules, [*SHOP.read(), *other])
    assert extracted(healed.rules, SHOP) == extracted(rules, SHOP)
    record = healed.rules.extract_one(other[0])
    assert record.missing["name"] == Reason.NEEDS_LABELS
    assert record.cluster not in {wrapper.cluster for wrapper in rules.wrappers}


def test_a_rule_that_is_right_more_often_than_not_is_not_dropped() -> None:
    """Six of twenty brands are gone from their pages; the rule finds the others."""
    rules = rules_of()
    (wrapper,) = rules.wrappers
    hidden = {one.page for one in wrapper.bellwethers[:6]}
    without = {page.id: page for page in SHOP.changed(hidden=frozenset({"brand"})).read()}
    pages = [without[page.id] if page.id in hidden else page for page in SHOP.read()]
    healed = heal_site(rules, pages)
    assert not healed.lost
    assert extracted(healed.rules, SHOP) == extracted(rules, SHOP)


def test_rules_without_bellwethers_stay() -> None:
    (wrapper,) = rules_of().wrappers
    rules = Rules(SCHEMA, (replace(wrapper, bellwethers=(), profiles={}),))
    healed = heal_site(rules, SHOP.read())
    assert healed.reused == {"c1": "c1"}
    assert extracted(healed.rules, SHOP) == extracted(rules, SHOP)
