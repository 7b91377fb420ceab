"""The newest rules of all sites, packed for other processes, and live for long ones."""

from __future__ import annotations

import pickle
from dataclasses import replace

from untemplate import Catalog, Page, Rules
from untemplate.catalog import LiveRules
from untemplate.demo import Site

SITE = "books.example"


def test_packed_rules_extract_the_same_records(catalog: Catalog, rules: Rules, site: Site) -> None:
    catalog.save_rules(SITE, replace(rules, wrappers=()))
    catalog.save_rules(SITE, rules)
    packed = pickle.loads(pickle.dumps(catalog.packed_rules()))
    live = catalog.site_rules()
    assert packed.schemas == live.schemas
    assert packed.memory > 0
    for page in site.pages:
        expected = rules.extract_page(page)
        for crawl_rules in (packed, live):
            found = crawl_rules.extract_page(page)
            assert (found.site, found.table, found.records) == (SITE, "book", expected)
    assert packed.extract_page(Page("http://elsewhere.example/1", b"<p>x")) is None


def test_a_long_process_gets_new_versions(catalog: Catalog, rules: Rules, site: Site) -> None:
    catalog.save_rules(SITE, replace(rules, wrappers=rules.wrappers[:1]))
    patient, eager = LiveRules(catalog), LiveRules(catalog, refresh_seconds=0)
    found = list(eager.extract(site.pages))
    catalog.save_rules(SITE, replace(rules, wrappers=()))
    catalog.save_rules("new.example", rules)
    assert [one.records for one in patient.extract(site.pages)] == [one.records for one in found]
    assert patient.rules.sites[SITE].version == 1
    assert eager.rules.sites[SITE].version == 2
    assert "new.example" in eager.rules.sites


def test_an_empty_catalog_has_no_rules(catalog: Catalog) -> None:
    assert catalog.packed_rules().sites == {}
