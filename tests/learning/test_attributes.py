"""Rules learned from few labels are right on the other pages: typical pages, each with one difficulty."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal

import pytest

from tests.learning.lessons import HOST, extract, labels_of, learn_from, schema_of, site, texts
from untemplate import Label, Price, Reason, learn
from untemplate.pipeline import learn_site
from untemplate.rules.value_range import Range

PLACES = ("Akron", "Boston", "Chicago", "Denver", "El Paso", "Fresno", "Galveston", "Houston")
COUNT = len(PLACES)


def test_one_labeled_page_is_enough() -> None:
    bodies = [f"<h1>Hotel {place}</h1><p class=tel>212-555-010{i}</p>" for i, place in enumerate(PLACES)]
    records = extract(
        bodies, {0: {"name": "Hotel Akron", "phone": "212-555-0100"}}, name="text", phone="phone"
    )
    assert texts(records, "name") == [f"Hotel {place}" for place in PLACES]
    assert texts(records, "phone") == [f"212-555-010{i}" for i in range(COUNT)]
    assert [record.page_id for record in records] == [str(i) for i in range(COUNT)]
    assert len({record.cluster for record in records}) == 1


def test_a_labeled_page_alone() -> None:
    bodies = [f"<h1>Hotel {place}</h1><p class=tel>212-555-010{i}</p>" for i, place in enumerate(PLACES)]
    rules = learn_from(
        bodies[:1],
        {0: {"name": "Hotel Akron", "phone": "212-555-0100"}},
        schema_of(name="text", phone="phone"),
    )
    records = [rules.extract_one(page) for page in site(bodies)]
    assert texts(records, "name") == [f"Hotel {place}" for place in PLACES]
    assert texts(records, "phone") == [f"212-555-010{i}" for i in range(COUNT)]


def test_labels_may_name_the_url() -> None:
    bodies = [f"<h1>Hotel {place}</h1>" for place in PLACES]
    rules = learn(
        site(bodies), [Label(f"{HOST}/items/0.html", "name", "Hotel Akron")], schema_of(name="text")
    )
    assert texts(rules.extract(site(bodies)), "name") == [f"Hotel {place}" for place in PLACES]


def test_a_few_labels_of_another_place_do_not_spoil_the_rest() -> None:
    bodies = [f"<p><b>{place}</b><b>{10 + i}</b></p>" for i, place in enumerate(PLACES)]
    given = {0: "Akron", 1: "Boston", 2: "Chicago", 3: "13", 4: "El Paso"}
    labels = labels_of({page: {"name": value} for page, value in given.items()})
    learned = learn_site(site(bodies), labels, schema_of(name="text"))
    assert texts(learned.rules.extract(site(bodies)), "name") == list(PLACES)
    ((report,),) = learned.reports.values()
    assert report.problems == ["the rule does not return 1 of 5 labeled values: look at 3"]
    assert report.unfit == "3"


# several matches of a value


def test_a_value_in_title_breadcrumb_and_heading() -> None:
    """Whichever place the rule takes, the value comes out whole and alone."""
    bodies = [
        f"<p class=crumbs><a href=/>All</a> &gt; <b>{place}</b></p><h1>{place}</h1>"
        f"<p>More about {place} here</p><p><a href=/{i}>Next</a></p>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"name": "Akron"}}, name="text")
    assert texts(records, "name") == list(PLACES)


def test_navigation_that_repeats_the_value() -> None:
    """All places are links on all pages: the label's text stands there too, and is static."""
    links = "".join(f"<li><a href=/{place}>{place}</a></li>" for place in PLACES)
    bodies = [
        f"<ul>{links}</ul><p><b>{place}</b></p><p><b>{i} rooms</b></p>" for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"name": "Akron"}}, name="text")
    assert texts(records, "name") == list(PLACES)


def test_recommendations_of_the_same_kind() -> None:
    def body(i: int) -> str:
        others = "".join(
            f"<li><b>{PLACES[(i + j) % COUNT]}</b> <span class=price>${(i + j) % COUNT + 5}.00</span></li>"
            for j in (1, 2, 3)
        )
        return f"<div><b>{PLACES[i]}</b> <span class=price>${i + 5}.00</span></div><ul>{others}</ul>"

    bodies = [body(i) for i in range(COUNT)]
    records = extract(bodies, {0: {"name": "Akron", "price": "$5.00"}}, name="text", price="price")
    assert texts(records, "name") == list(PLACES)
    assert texts(records, "price") == [f"${i + 5}.00" for i in range(COUNT)]


# labeled fields beside each other


def test_rows_of_label_and_value_in_any_order() -> None:
    def body(i: int) -> str:
        rows = [
            ("Author", f"Sam {PLACES[i]}"),
            ("Pages", str(100 + 7 * i)),
            ("Publisher", f"{PLACES[-1 - i]} Press"),
        ]
        rows = rows[i % 3 :] + rows[: i % 3]
        return (
            "<table>"
            + "".join(f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rows)
            + "</table>"
        )

    bodies = [body(i) for i in range(COUNT)]
    given = {0: {"author": "Sam Akron", "pages": "100", "publisher": "Houston Press"}}
    records = extract(bodies, given, author="text", pages="number", publisher="text")
    assert texts(records, "author") == [f"Sam {place}" for place in PLACES]
    assert texts(records, "pages") == [str(100 + 7 * i) for i in range(COUNT)]
    assert texts(records, "publisher") == [f"{place} Press" for place in reversed(PLACES)]


def test_a_missing_row_is_no_value() -> None:
    def body(i: int) -> str:
        fax = f"<tr><td>Fax</td><td>212-555-020{i}</td></tr>" if i % 2 == 0 else ""
        return f"<table>{fax}<tr><td>Phone</td><td>212-555-010{i}</td></tr></table>"

    bodies = [body(i) for i in range(COUNT)]
    records = extract(bodies, {0: {"fax": "212-555-0200"}, 1: {"fax": None}}, fax="phone")
    assert texts(records, "fax") == [f"212-555-020{i}" if i % 2 == 0 else None for i in range(COUNT)]
    assert records[1].missing == {"fax": Reason.NOT_ON_PAGE}


def test_null_everywhere_learns_nothing() -> None:
    bodies = [f"<h1>{place}</h1>" for place in PLACES]
    records = extract(bodies, {0: {"name": "Akron", "phone": None}}, name="text", phone="phone")
    assert texts(records, "name") == list(PLACES)
    assert {record.missing["phone"] for record in records} == {Reason.NO_RULE}


def test_nothing_on_pages_labeled_null() -> None:
    bodies = [
        f"<p><b>{place}</b></p><p><i>{'was' if i % 2 else 'now'}</i> <b>${i}.00</b></p>"
        for i, place in enumerate(PLACES)
    ]
    given = {0: {"now": "$0.00"}, 1: {"now": None}, 2: {"now": "$2.00"}}
    records = extract(bodies, given, now="price")
    assert [record["now"] for record in records] == [None if i % 2 else f"${i}.00" for i in range(COUNT)]


# variants of a template


def test_linked_on_some_pages_and_not_on_others() -> None:
    bodies = [
        f"<p><i>Author</i> {f'<a href=/{i}>Sam {place}</a>' if i % 2 else f'Sam {place}'}</p>"
        f"<p><i>Pages</i> {i + 100}</p>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"author": "Sam Akron"}, 1: {"author": "Sam Boston"}}, author="text")
    assert texts(records, "author") == [f"Sam {place}" for place in PLACES]


def test_an_optional_wrapper() -> None:
    bodies = [
        "<div class=box>" * (i % 2)
        + f"<p class=name>{place}</p><p class=price>${i}.10</p>"
        + "</div>" * (i % 2)
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"name": "Akron", "price": "$0.10"}}, name="text", price="price")
    assert texts(records, "name") == list(PLACES)
    assert texts(records, "price") == [f"${i}.10" for i in range(COUNT)]


def test_an_advertisement_before_the_value() -> None:
    bodies = [
        "<div class=ad><p>Buy!</p></div>" * (i % 3) + f"<div class=item><p>{place}</p></div>"
        for i, place in enumerate(PLACES)
    ]
    assert texts(extract(bodies, {0: {"name": "Akron"}}, name="text"), "name") == list(PLACES)


# parts and spans


def test_our_price_in_one_node() -> None:
    bodies = [f"<p>List Price: ${i + 40}.00</p><p>Our Price: ${i + 20}.99</p>" for i in range(COUNT)]
    records = extract(bodies, {0: {"price": "$20.99"}}, price="price")
    assert texts(records, "price") == [f"${i + 20}.99" for i in range(COUNT)]
    assert records[3].values["price"][0].data == Price(Decimal("23.99"), "$")


def test_a_part_between_words() -> None:
    authors = ("Sam Smith", "Ann", "Mary Ann van Dyke", "Bo Li")
    bodies = [f"<p>by {author} (Editor)</p><p>{i} stars</p>" for i, author in enumerate(authors)]
    records = extract(bodies, {0: {"author": "Sam Smith"}, 1: {"author": "Ann"}}, author="text")
    assert texts(records, "author") == list(authors)


def test_an_address_over_line_breaks() -> None:
    bodies = [
        f"<h1>{place}</h1><div class=adr>{i + 1} Main St<br>{place}<br>NY 1000{i}</div><p>Open</p>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"address": "1 Main St Akron NY 10000"}}, address="text")
    assert texts(records, "address") == [
        f"{i + 1} Main St {place} NY 1000{i}" for i, place in enumerate(PLACES)
    ]


def test_some_nodes_of_an_element() -> None:
    bodies = [
        f"<div class=card><b>{place}</b><br>{i + 1} Main St<br>{place}, NY<br>Tel 212-555-010{i}</div>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"address": "1 Main St Akron, NY"}}, address="text")
    assert texts(records, "address") == [f"{i + 1} Main St {place}, NY" for i, place in enumerate(PLACES)]


# many values


def test_many_values_in_order() -> None:
    def values(i: int) -> list[str]:
        return [f"{word} {PLACES[i]}" for word in ("Beef", "Rice", "Salt", "Oil", "Lime")[: 2 + i % 4]]

    bodies = [
        f"<h1>{PLACES[i]}</h1><ul class=ingredients>{''.join(f'<li>{v}</li>' for v in values(i))}</ul>"
        f"<ul class=more><li>x{i}</li></ul>"
        for i in range(COUNT)
    ]
    records = extract(bodies, {1: {"ingredients": values(1)}}, ingredients="text*")
    for i, record in enumerate(records):
        assert [value.text for value in record.values["ingredients"]] == values(i)
    xpaths = [value.xpath for value in records[1].values["ingredients"]]
    assert len(set(xpaths)) == len(xpaths)


def test_labels_that_always_have_one_member_of_a_list_mean_that_member() -> None:
    def facts(i: int) -> list[str]:
        return [f"{PLACES[i]} East", f"cuisine {i}", f"{i}-{i + 7} dollars"]

    bodies = [f"<div>{''.join(f'<p>{v}</p>' for v in facts(i))}</div>" for i in range(COUNT)]
    bodies[0] = "<div><p>cuisine 0</p></div>"
    given = {i: {"cuisine": [f"cuisine {i}"]} for i in range(COUNT - 2)}
    records = extract(bodies, given, cuisine="text*")
    assert [[value.text for value in record.values["cuisine"]] for record in records[1:]] == [
        [f"cuisine {i}"] for i in range(1, COUNT)
    ]


def test_related_records_that_happen_to_have_the_value_are_no_list() -> None:
    kinds = [
        "Greek, Indian",
        "Spanish",
        "Thai, Diner",
        "Cajun",
        "Korean, Thai",
        "Tapas",
        "Diner",
        "Soul Food",
    ]

    def related(i: int) -> str:
        # The first related record of the first page has the value of the page.
        others = [kinds[0], *kinds[4:]] if i == 0 else [kinds[(i + n) % COUNT] for n in (1, 3, 6)]
        return "".join(
            f"<li><a href=/{n}>More</a> <span class=kind>{kind}</span></li>" for n, kind in enumerate(others)
        )

    bodies = [
        f"<h1>{place}</h1><dl><dd class=kind><span class=kind>Type of food: {kinds[i]}</span></dd></dl>"
        f"<aside><ul>{related(i)}</ul></aside>"
        for i, place in enumerate(PLACES)
    ]
    given = {i: {"cuisine": [kinds[i]]} for i in range(4)}
    records = extract(bodies, given, cuisine="text*")
    assert [[value.text for value in record.values["cuisine"]] for record in records] == [
        [kind] for kind in kinds
    ]


def test_a_single_attribute_has_one_value() -> None:
    bodies = [f"<ul>{''.join(f'<li>{place}{j}</li>' for j in range(3))}</ul>" for place in PLACES]
    for record in extract(bodies, {0: {"first": "Akron0"}, 1: {"first": "Boston0"}}, first="text"):
        assert len(record.values["first"]) == 1


# links, images, types


def test_links_and_images_are_absolute_in_their_data() -> None:
    bodies = [
        '<a href=/logo><img src="/logo.png"></a>'
        f'<div class=item><img src="../img/{place}.png"><a href="buy?i={i}">Buy</a></div>'
        for i, place in enumerate(PLACES)
    ]
    given = {0: {"image": "../img/Akron.png", "link": f"{HOST}/items/buy?i=0"}}
    records = extract(bodies, given, image="image", link="url")
    assert [record.values["image"][0].data for record in records] == [
        f"{HOST}/img/{place}.png" for place in PLACES
    ]
    assert texts(records, "image") == [f"../img/{place}.png" for place in PLACES]
    assert [record.values["link"][0].data for record in records] == [
        f"{HOST}/items/buy?i={i}" for i in range(COUNT)
    ]


def test_typed_values() -> None:
    bodies = [
        f"<p class=p>${i + 1},250.50</p><p class=d>March {i + 1}, 2009</p><p class=t>(212) 586-865{i}</p>"
        f"<p class=u><a href=/go/{i}>go</a></p>"
        for i in range(COUNT)
    ]
    given = {0: {"price": "$1,250.50", "day": "March 1, 2009", "phone": "(212) 586-8650", "link": "/go/0"}}
    record = extract(bodies, given, price="price", day="date", phone="phone", link="url")[4]
    data = {name: values[0].data for name, values in record.values.items()}
    assert data == {
        "price": Price(Decimal("5250.50"), "$"),
        "day": date(2009, 3, 5),
        "phone": "+12125868654",
        "link": f"{HOST}/go/4",
    }
    assert record["price"] == "$5,250.50"


def test_what_is_not_of_the_type_is_no_value() -> None:
    bodies = [f"<p>Tel</p><p class=t>{f'212-555-010{i}' if i % 4 else 'call us'}</p>" for i in range(COUNT)]
    records = extract(bodies, {1: {"phone": "212-555-0101"}, 2: {"phone": "212-555-0102"}}, phone="phone")
    assert texts(records, "phone") == [f"212-555-010{i}" if i % 4 else None for i in range(COUNT)]


# labels by XPath


@pytest.mark.parametrize(
    ("xpath", "type_", "expected"),
    [
        ("//h1", "text", "Boston"),
        ("//h1/text()", "text", "Boston"),
        ("//div[@class='adr']", "text", "2 Main St Boston"),
        ("//div[@class='adr']/text()[2]", "text", "Boston"),
        ("//img/@src", "image", "/1.png"),
        ("//img/@alt", "text", "Photo 1"),
    ],
)
def test_labels_by_xpath(xpath: str, type_: str, expected: str) -> None:
    bodies = [
        f"<h1>{place}</h1><div class=adr>{i + 1} Main St<br>{place}</div><img src=/{i}.png alt='Photo {i}'>"
        for i, place in enumerate(PLACES)
    ]
    rules = learn(site(bodies), [Label("0", "it", None, xpath)], schema_of(it=type_))
    assert rules.extract_one(site(bodies)[1])["it"] == expected


# generated names


def test_generated_names_are_kept_out_of_rules() -> None:
    """Ids with running numbers and hashed class names change with every page, or every build."""
    bodies = [
        f'<div id="post-{1700 + i}"><p class="sc-{i * 7919:x}f3a9c0d" id="p{i}8842">{place}</p><p>x{i}</p></div>'
        for i, place in enumerate(PLACES)
    ]
    for count in (1, 2, COUNT):
        rules = learn_from(bodies[:count], {0: {"name": "Akron"}}, schema_of(name="text"))
        xpaths = [s.xpath for s in _selectors(rules)]
        assert xpaths
        assert not any(name in xpath for xpath in xpaths for name in ("1700", "f3a9", "8842"))
    assert texts(rules.extract(site(bodies)), "name") == list(PLACES)


def test_a_stable_word_of_a_class_is_used_where_the_class_is_not_stable() -> None:
    bodies = [
        f'<p class="name v{i}7f3e1">{place}</p><p class="other v{i}7f3e1">{place}x</p><p>y</p>' * 1
        for i, place in enumerate(PLACES)
    ]
    assert texts(extract(bodies, {0: {"name": "Akron"}}, name="text"), "name") == list(PLACES)


def _selectors(rules):
    return [
        s for w in rules.wrappers for rule in w.rules.values() for s in (*rule.selectors, *rule.committee)
    ]


# labels that do not fit


def test_a_label_that_matches_nothing_is_reported_and_does_not_stop_the_rest() -> None:
    bodies = [f"<h1>Hotel {place}</h1><p class=tel>212-555-010{i}</p>" for i, place in enumerate(PLACES)]
    given = {0: {"name": "Hotl Akron", "phone": "212-555-0100"}, 1: {"name": "Hotel Boston"}}
    learned = learn_site(site(bodies), labels_of(given), schema_of(name="text", phone="phone"))
    [problems] = [
        report.problems
        for reports in learned.reports.values()
        for report in reports
        if report.attribute == "name"
    ]
    assert problems == [
        "0: 'Hotl Akron' is not on the page; the closest text is 'Hotel Akron'",
        "the rule does not return 1 of 2 labeled values: look at 0",
    ]
    records = list(learned.rules.extract(site(bodies)))
    assert texts(records, "name") == [f"Hotel {place}" for place in PLACES]
    assert texts(records, "phone") == [f"212-555-010{i}" for i in range(COUNT)]


def test_only_labels_that_match_nothing() -> None:
    bodies = [f"<h1>{place}</h1>" for place in PLACES]
    learned = learn_site(
        site(bodies),
        labels_of({0: {"name": "Zanzibar", "place": "Akron"}}),
        schema_of(name="text", place="text"),
    )
    record = learned.rules.extract_one(site(bodies)[0])
    assert record["place"] == "Akron"
    assert record.missing["name"] == Reason.NO_RULE


def test_coverage_and_the_page_to_label_next() -> None:
    """The paper's stop criterion: no further label is needed once the rule holds on the rest of the sample."""
    bodies = [f"<p class=c>{i}</p><p>Name:</p><h1>{place}</h1>" for i, place in enumerate(PLACES)]
    bodies[5] = "<p class=c>5</p>"
    learned = learn_site(
        site(bodies), labels_of({0: {"name": "Akron", "n": "0"}}), schema_of(name="text", n="number")
    )
    reports = {report.attribute: report for reports in learned.reports.values() for report in reports}
    assert (reports["n"].coverage, reports["n"].label_next) == (1.0, None)
    assert reports["name"].coverage < 1
    assert reports["name"].label_next == "5"


# Values that begin in one node and end in another


def test_from_the_middle_of_one_node_to_the_middle_of_another() -> None:
    """The value is a part of the paragraph, and its first and last node contain more than the value."""
    bodies = [
        f"<h1>Fair {place}</h1><p class=when>From {i + 1} <b>May</b> to {i + 3} <b>May</b> {2020 + i}, daily</p>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"dates": "1 May to 3 May 2020"}}, dates="text")
    assert texts(records, "dates") == [f"{i + 1} May to {i + 3} May {2020 + i}" for i in range(COUNT)]


def test_as_many_nodes_as_the_value_has() -> None:
    """Some dates are of one day, so that the value has two nodes less."""
    dates = [f"{i + 1} <b>May</b>" + (f" to {i + 3} <b>June</b>" if i % 2 else "") for i in range(COUNT)]
    bodies = [
        f"<h1>Fair {place}</h1><div>{'x ' * 300}<br>Open from {date} 2020, daily <i>{place}</i><p>Bye</div>"
        for place, date in zip(PLACES, dates, strict=True)
    ]
    plain = [re.sub("</?b>", "", date) + " 2020" for date in dates]
    records = extract(bodies, {0: {"dates": plain[0]}, 1: {"dates": plain[1]}}, dates="text")
    assert texts(records, "dates") == plain


def test_a_pair_of_nodes_without_an_element_around() -> None:
    bodies = [
        f"<h1>Fair {place}</h1><div>{'x ' * 300}<br>Call 555 <b>010{i}</b> now<p>Bye</div>"
        for i, place in enumerate(PLACES)
    ]
    rules = learn_from(bodies, {0: {"phone": "555 0100"}}, schema_of(phone="text"))
    rule = rules.wrappers[0].rules["phone"]
    assert rule.nodes == 2
    assert rule.range == Range(after="Call ")
    assert texts(rules.extract(site(bodies)), "phone") == [f"555 010{i}" for i in range(COUNT)]


def test_a_part_that_is_written_in_another_way() -> None:
    """Only letters and digits are the same, which is reported."""
    bodies = [f"<h1>Hotel</h1><p>Chef: Ann-Marie O’{place}, since 1999</p>" for place in PLACES]
    learned = learn_site(site(bodies), labels_of({0: {"chef": "ann marie O'AKRON"}}), schema_of(chef="text"))
    [report] = learned.reports["c1"]
    assert any("'Ann-Marie O’Akron', which has the same letters" in problem for problem in report.problems)
    assert learned.rules.extract_one(site(bodies)[3])["chef"] == "Ann-Marie O’Denver"


def test_names_with_control_characters_are_kept_out_of_rules() -> None:
    bodies = [
        f"<div id='main\x01'><h1 class='na\x02me'>Hotel {place}</h1><b class='\x1f'>Tel\x03</b> 212-555-010{i}</div>"
        for i, place in enumerate(PLACES)
    ]
    given = {0: {"name": "Hotel Akron", "phone": "212-555-0100"}}
    records = extract(bodies, given, name="text", phone="phone")
    assert texts(records, "name") == [f"Hotel {place}" for place in PLACES]
    assert texts(records, "phone") == [f"212-555-010{i}" for i in range(COUNT)]


def test_tags_with_control_characters_are_kept_out_of_rules() -> None:
    bodies = [
        f"<cen\x04er class='place'><i>No. {i}</i><div class='name'>Hotel {place}</div></cen\x04er>"
        for i, place in enumerate(PLACES)
    ]
    records = extract(bodies, {0: {"name": "Hotel Akron"}}, name="text")
    assert texts(records, "name") == [f"Hotel {place}" for place in PLACES]
