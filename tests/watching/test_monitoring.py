"""Alarms: for each way in which rules break one, and none for what is harmless."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.made_up_sites import learned_site
from tests.watching.shops import COUNT, SCHEMA, SHOP, Shop, rules_of
from tests.watching.teas import TEA_RULES, tea_page, tea_page_with
from untemplate import Alarm, Attribute, Label, Page, Report, Rules, Schema, heal, learn, watch
from untemplate.demo import VERTICALS
from untemplate.watching import BELLWETHERS, ClusterReport, renew_missing
from untemplate.watching.comparing import is_same_or_edited

RULES = rules_of()


def failed_tests(report: Report) -> set[tuple[str, str | None]]:
    return {(alarm.test, alarm.attribute) for alarm in report.alarms}


def test_rules_remember_bellwethers_with_golden_records() -> None:
    (wrapper,) = RULES.wrappers
    assert len(wrapper.bellwethers) == BELLWETHERS
    for known in wrapper.bellwethers:
        number = int(known.page.removesuffix(".html"))
        assert known.url == f"http://shop.example/p/{number}"
        assert known.golden == {name: (SHOP.value(name, number),) for name in SCHEMA.attributes}
    assert "Price:" in wrapper.profiles["price"].captions
    assert "cost" in wrapper.profiles["price"].names


def test_memory_survives_the_rules_file(tmp_path: Path) -> None:
    RULES.save(tmp_path / "rules.json")
    loaded = Rules.load(tmp_path / "rules.json")
    assert loaded.wrappers[0].bellwethers == RULES.wrappers[0].bellwethers
    assert loaded.wrappers[0].profiles == RULES.wrappers[0].profiles


@pytest.mark.parametrize(
    "later",
    [SHOP, SHOP.changed(shift=7), SHOP.changed(shift=500), SHOP.changed(frame="section")],
    ids=["the same", "other prices", "dearer", "another frame"],
)
def test_no_alarm_for_what_is_harmless(later: Shop) -> None:
    assert watch(RULES, later.read()).alarms == []


@pytest.mark.parametrize(
    ("later", "expected"),
    [
        (SHOP.changed(hidden=frozenset({"name"})), {("mandatory", "name")}),
        (SHOP.changed(hidden=frozenset({"brand"})), {("constant", "brand")}),
        (SHOP.changed(hidden=frozenset({"price"})), {("fill", "price")}),
        (SHOP.changed(wrong=frozenset({"brand"})), {("constant", "brand")}),
    ],
)
def test_alarm_for_each_kind_of_break(later: Shop, expected: set[tuple[str, str]]) -> None:
    assert failed_tests(watch(RULES, later.read())) == expected


def test_values_that_do_not_look_like_the_attribute() -> None:
    schema = Schema("product", SCHEMA.attributes | {"price": Attribute("price")})
    rules = rules_of(schema=schema)
    assert ("shape", "price") in failed_tests(watch(rules, SHOP.changed(wrong=frozenset({"price"})).read()))


def test_a_redesign_fails_the_shingle_test_too() -> None:
    failed = failed_tests(watch(RULES, SHOP.changed(look="new", frame="section").read()))
    assert ("shingle", None) in failed
    assert {name for _, name in failed} >= {None, "name", "brand", "price"}


def test_an_alarm_says_what_was_expected_and_seen_and_where() -> None:
    report = watch(RULES, SHOP.changed(wrong=frozenset({"brand"})).read())
    alarm = next(alarm for alarm in report.alarms if alarm.test == "constant")
    assert "Sold out" in alarm.seen
    assert any(brand in alarm.expected for brand in ("Acme", "Globex", "Initech", "Umbrella", "Vandelay"))
    assert set(alarm.pages) <= {f"{number}.html" for number in range(COUNT)}
    assert len(alarm.pages) == BELLWETHERS
    assert str(alarm).startswith("c1, constant test: brand: expected ")


def test_one_page_whose_data_changed_is_an_alarm_unless_more_must_break() -> None:
    pages = SHOP.read()
    known = RULES.wrappers[0].bellwethers[3]
    renamed = {known.page: b"class=maker>New "}
    moved = [
        Page(page.url, page.html.replace(b"class=maker>", renamed.get(page.id, b"class=maker>")), page.id)
        for page in pages
    ]
    assert failed_tests(watch(RULES, moved)) == {("constant", "brand")}
    assert watch(RULES, moved, broken_share=0.1).alarms == []


SORRY = "<html><body><h1>Sorry</h1><p>This page is no longer available</p></body></html>"
WATCHED = [one.page for one in RULES.wrappers[0].bellwethers]


def shop_without(gone: list[str], html: str = SORRY) -> list[Page]:
    return [Page(page.url, html, page.id) if page.id in gone else page for page in SHOP.read()]


def test_a_few_pages_that_are_gone_are_counted_and_raise_no_alarm() -> None:
    report = watch(RULES, shop_without(WATCHED[:3]))
    assert report.alarms == []
    assert set(report.clusters[0].missing) == set(WATCHED[:3])


def test_most_pages_gone_are_an_alarm() -> None:
    assert ("bellwethers", None) in failed_tests(watch(RULES, shop_without(WATCHED[:18])))


def test_most_pages_not_delivered_are_an_alarm() -> None:
    delivered = [page for page in SHOP.read() if page.id in WATCHED[18:]]
    [alarm] = watch(RULES, delivered).alarms
    assert (alarm.test, len(alarm.pages)) == ("bellwethers", 18)
    assert str(alarm).endswith("seen none on 18 of 20 watched pages")
    crawl = SHOP.changed(pages=range(COUNT, 2 * COUNT)).read()
    assert watch(RULES, [*delivered, *crawl]).alarms == []  # other pages of the cluster make up for them


def test_pages_that_were_requested_in_vain_are_an_alarm() -> None:
    assert failed_tests(watch(RULES, [], is_request=True)) == {("bellwethers", None)}


def test_missing_bellwethers_are_replaced() -> None:
    pages = shop_without(WATCHED[:3])
    report = watch(RULES, pages)
    renewed, replaced = renew_missing(RULES, pages, report)
    assert replaced == 3
    now = {one.page for one in renewed.wrappers[0].bellwethers}
    assert (len(now), now & set(WATCHED)) == (BELLWETHERS, set(WATCHED[3:]))
    assert watch(renewed, pages).clusters[0].missing == ()


def test_missing_bellwethers_stay_if_there_are_no_other_pages() -> None:
    pages = [page for page in SHOP.read() if page.id in WATCHED[3:]]
    report = watch(RULES, pages, is_request=True)
    assert report.clusters[0].missing == tuple(WATCHED[:3])
    assert renew_missing(RULES, pages, report) == (RULES, 0)


def test_pages_that_no_rules_match_are_an_alarm() -> None:
    """The rules would find everything, but they are for URLs of another host."""
    wrapper = replace(RULES.wrappers[0], url_pattern="http://elsewhere.example/*")
    assert ("match", None) in failed_tests(watch(Rules(SCHEMA, (wrapper,)), SHOP.read()))


def test_rules_that_never_fitted_their_labels_raise_no_alarm() -> None:
    labels = [Label(f"{n}.html", name, SHOP.value(name, n)) for n in (0, 1) for name in SCHEMA.attributes]
    labels[1] = Label("0.html", "brand", "$10.99")  # the price, by mistake
    rules = learn(SHOP.read(), labels, SCHEMA)
    assert watch(rules, SHOP.read()).alarms == []


def test_an_edited_text_is_the_same_value() -> None:
    old = ("Fry the onions in oil, see the notes below.",)
    assert is_same_or_edited(old, ("Fry the onions in olive oil. See notes below",), Attribute("method"))
    assert not is_same_or_edited(old, ("Boil the rice in water, see the notes above.",), Attribute("method"))
    assert not is_same_or_edited(("Anchor no. 1",), ("Anchor no. 2",), Attribute("name"))


def test_figures_tell_how_often_values_come_out() -> None:
    (figures,) = watch(RULES, SHOP.changed(hidden=frozenset({"price"})).read()).clusters
    assert figures.cluster == "c1"
    assert figures.coverage == 1.0
    assert figures.fill == {"name": 1.0, "brand": 1.0, "price": 0.0}


def test_pages_are_found_again_by_id_where_they_have_no_url() -> None:
    shop = SHOP.changed(hidden=frozenset({"brand"}))
    pages = [Page(html=page.html, id=page.id) for page in shop.read()]
    assert ("constant", "brand") in failed_tests(watch(RULES, pages))


def test_pages_never_seen_before_are_judged_by_how_often_values_come_out() -> None:
    new = SHOP.changed(pages=range(100, 130))
    assert watch(RULES, new.read()).alarms == []
    broken = watch(RULES, new.changed(hidden=frozenset({"price"})).read())
    assert failed_tests(broken) == {("fill", "price")}


def test_no_pages_no_alarms() -> None:
    assert watch(RULES, []) == Report()


def test_an_alarm_stands_since_it_was_first_raised() -> None:
    first, second = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    broken = SHOP.changed(hidden=frozenset({"price"}))

    def look(when: datetime, shop: Shop, *history: Report) -> list[Alarm]:
        pages = [Page(page.url, page.html, page.id, fetched=when) for page in shop.read()]
        return watch(RULES, pages, history=history).alarms

    earlier = Report(look(first, broken))
    assert [alarm.since for alarm in earlier.alarms] == [first]
    assert [alarm.since for alarm in look(second, broken, earlier)] == [first]
    assert [alarm.since for alarm in look(second, broken, earlier, Report())] == [second]


def test_a_page_that_cannot_be_read_counts_as_one_without_values() -> None:
    pages = [Page(page.url, b"", page.id) for page in SHOP.read()]
    assert {("bellwethers", None), ("mandatory", "name")} <= failed_tests(watch(RULES, pages))


def test_a_higher_share_of_broken_samples_tells_redesigns_from_flapping_ads() -> None:
    pages = SHOP.changed(look="new").read()
    half = [
        old if number % 3 == 0 else new
        for number, (old, new) in enumerate(zip(SHOP.read(), pages, strict=True))
    ]
    assert ("shingle", None) in failed_tests(watch(RULES, half))
    assert ("shingle", None) not in failed_tests(watch(RULES, half, broken_share=0.9))


def test_what_is_golden_must_come_out() -> None:
    (wrapper,) = RULES.wrappers
    golden = [replace(known, golden={**known.golden, "brand": ("Hooli",)}) for known in wrapper.bellwethers]
    rules = Rules(SCHEMA, (replace(wrapper, bellwethers=tuple(golden)),))
    assert ("constant", "brand") in failed_tests(watch(rules, SHOP.read()))


@pytest.mark.parametrize("vertical", VERTICALS)
def test_refreshes_of_made_up_sites_raise_no_alarm(vertical: str) -> None:
    site, rules = learned_site(vertical)
    assert watch(rules, site.redesign(0, 5).pages).alarms == []


def test_new_records_of_lists_are_no_alarm() -> None:
    report = watch(TEA_RULES, [tea_page(number, day=9) for number in range(1, 5)])
    assert report.alarms == []
    (figures,) = report.clusters
    assert figures.pages == 4
    assert figures.fill == {"name": 1.0, "price": 1.0}


def test_list_pages_without_records_are_an_alarm() -> None:
    report = watch(TEA_RULES, [tea_page_with(number, "<div>Sorry</div>") for number in range(1, 5)])
    assert [(alarm.test, alarm.attribute) for alarm in report.alarms] == [("records", None)]
    assert report.alarms[0].pages == ("1", "2", "3", "4")


def test_a_report_is_json_data() -> None:
    since = datetime(2026, 1, 2, tzinfo=UTC)
    alarm = Alarm("c1", "moved", "name", "'Tea 1'", "nothing on 1 of 2 pages", ("1",), since)
    figures = ClusterReport("c1", 2, 0.5, {"name": 0.5}, ("3",))
    data = json.loads(json.dumps(Report([alarm], [figures]).to_dict()))
    assert data["clusters"] == [
        {"cluster": "c1", "pages": 2, "coverage": 0.5, "fill": {"name": 0.5}, "missing": ["3"]}
    ]
    assert data["alarms"][0]["since"] == "2026-01-02T00:00:00+00:00"
    assert json.loads(json.dumps(data))["alarms"][0]["pages"] == ["1"]


def reused_shop(shop: Shop) -> list[Page]:
    """The shop with five watched pages that show another record now, of the same brand."""
    pages = {page.id: page for page in shop.read()}
    for id in WATCHED[5:10]:
        number = (int(id.partition(".")[0]) + 5) % COUNT
        pages[id] = Page(pages[id].url, shop.page(number).html, id)
    return list(pages.values())


CODED = replace(SCHEMA, attributes={**SCHEMA.attributes, "price": Attribute("price", constant=True)})


def test_pages_that_show_another_record_raise_no_alarm() -> None:
    """Their names and codes are replaced, and the brand is the same."""
    rules = rules_of(SHOP, CODED)
    assert watch(rules, reused_shop(SHOP)).alarms == []
    [alarm] = watch(rules, SHOP.changed(wrong=frozenset({"name"})).read()).alarms
    assert (alarm.test, alarm.attribute) == ("constant", "name")


def test_pages_that_show_another_record_do_not_mislead_healing() -> None:
    changed = SHOP.changed(look="new")
    pages = reused_shop(changed)
    rules = heal(RULES, pages)
    numbers = {page.html: SHOP.value("name", n) for n, page in enumerate(changed.read())}
    assert [rules.extract_one(page)["name"] for page in pages] == [numbers[page.html] for page in pages]


def test_the_old_record_may_be_mentioned_on_a_page_that_shows_another() -> None:
    """One watched page shows the record of another product, and mentions its old one in a list of related ones."""
    rules = rules_of(SHOP, CODED)
    pages = {page.id: page for page in SHOP.read()}
    old, new = WATCHED[5], WATCHED[6]
    related = pages[old].text.partition("</table>")[2].replace("h1", "h4").replace("<div", "<section")
    shown = pages[new].text.replace("<p>Bye</p>", f"<aside>{related}</aside><p>Bye</p>")
    pages[old] = Page(pages[old].url, shown, old)
    assert watch(rules, pages.values()).alarms == []
    both = pages[new].text.replace("<p>Bye</p>", SHOP.page(int(old.partition(".")[0])).text)
    pages[old] = Page(pages[old].url, both, old)
    assert watch(rules, pages.values()).alarms, "the old record is still where pages show their own"


def test_pages_that_are_gone_raise_no_alarm_after_their_replacement() -> None:
    """Their URLs still look like those of the cluster."""
    gone = [Page(f"http://shop.example/p/{n}", "<p>No longer available.</p>") for n in (90, 91)]
    assert watch(RULES, [*SHOP.read(), *gone]).alarms == []
    only_gone = [Page(f"http://shop.example/p/{n}", "<p>No longer available.</p>") for n in range(90, 99)]
    assert watch(RULES, only_gone).alarms, "if most pages are gone, the site may have changed"


def test_new_values_of_attributes_that_may_change() -> None:
    today = SHOP.changed(shift=5)
    [figures] = watch(RULES, today.read()).clusters
    first = WATCHED[0]
    assert figures.new_values[first] == {"price": (today.value("price", int(first.partition(".")[0])),)}
    assert "new_values" not in figures.to_dict()
    [figures] = watch(RULES, SHOP.read()).clusters
    assert figures.new_values == {}
    [figures] = watch(RULES, today.changed(hidden=frozenset({"name"})).read()).clusters
    assert figures.new_values == {}, "an alarm says that the rules may be wrong"
