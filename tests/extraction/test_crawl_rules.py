"""Pages of many sites and schemas in one stream."""

from __future__ import annotations

import pickle

import pytest

from untemplate import Attribute, Label, Page, Rules, Schema, learn
from untemplate.extraction import CrawlRules, OneSite, SiteRules
from untemplate.extraction.crawl_rules import combine_schemas

BOOK = Schema("book", {"title": Attribute("title")})
PERSON = Schema("person", {"name": Attribute("name")})


def pages_of(host: str, folder: str = "") -> list[Page]:
    return [
        Page(f"http://{host}/{folder}{number}.html", f"<h1>{host} {number}</h1><p>No. {number}</p>")
        for number in range(6)
    ]


def site_rules(name: str, pages: list[Page], schema: Schema, version: int = 1) -> SiteRules:
    [attribute] = schema.attributes
    rules = learn(pages, [Label(pages[0].id, attribute, pages[0].text[4:].partition("<")[0])], schema)
    patterns = [wrapper.url_pattern for wrapper in rules.wrappers]
    return SiteRules(name, version, schema, patterns, lambda: rules)


def test_a_page_goes_to_the_rules_of_its_host() -> None:
    books, people = pages_of("www.books.example"), pages_of("people.example:8080")
    rules = CrawlRules([site_rules("books", books, BOOK), site_rules("people", people, PERSON)])
    assert set(rules.schemas) == {"book", "person"}
    found = rules.extract_page(books[3])
    assert found is not None
    assert (found.site, found.table, found.records[0]["title"]) == ("books", "book", "www.books.example 3")
    found = rules.extract_page(people[2])
    assert found is not None
    assert (found.site, found.table, found.records[0]["name"]) == (
        "people",
        "person",
        "people.example:8080 2",
    )


@pytest.mark.parametrize("url", ["http://elsewhere.example/", "", "7.html", "http://[broken"])
def test_a_page_of_an_unknown_host_has_no_records(url: str) -> None:
    rules = CrawlRules([site_rules("books.example", pages_of("books.example"), BOOK)])
    assert rules.extract_page(Page(url, b"<h1>x")) is None
    assert rules.refuse_page(Page(url, b"<h1>x"), "odd") is None


def test_of_two_sites_of_a_host_the_one_that_matches_extracts() -> None:
    books = list(pages_of("shop.example", "book/"))
    people = [
        Page(page.url, page.html.replace(b"h1", b"h3") * 2) for page in pages_of("shop.example", "person/")
    ]
    rules = CrawlRules(
        [
            site_rules("shop-books", books, BOOK),
            SiteRules(
                "shop-people",
                1,
                PERSON,
                ["http://shop.example/person/*.html"],
                lambda: learn(people, [Label(people[0].id, "name", "shop.example 0")], PERSON),
            ),
        ]
    )
    found = rules.extract_page(people[3])
    assert found is not None
    assert found.site == "shop-people"


def test_the_name_of_a_site_is_its_host_if_the_rules_have_none() -> None:
    pages = [Page(id=f"{number}", html=page.html) for number, page in enumerate(pages_of("a.example"))]
    rules = CrawlRules([site_rules("www.a.example", pages, BOOK)])
    assert rules.find_sites("https://a.example/7")[0].site == "www.a.example"


def test_rules_are_loaded_when_a_page_needs_them() -> None:
    def fail() -> Rules:
        raise AssertionError

    rules = CrawlRules(
        [
            site_rules("a.example", pages_of("a.example"), BOOK),
            SiteRules("b.example", 1, BOOK, ["http://b.example/*"], fail),
        ]
    )
    assert rules.extract_page(pages_of("a.example")[0]) is not None
    with pytest.raises(AssertionError):
        rules.extract_page(pages_of("b.example")[0])


def test_loaded_rules_of_the_same_version_are_kept() -> None:
    old = CrawlRules([site_rules("a.example", pages_of("a.example"), BOOK)])
    old.extract_page(pages_of("a.example")[0])
    same = CrawlRules(old.sites.values())
    same.keep_loaded(old)
    assert same._loaded == old._loaded
    newer = CrawlRules([site_rules("a.example", pages_of("a.example"), BOOK, version=2)])
    newer.keep_loaded(old)
    assert not newer._loaded


def test_schemas_of_one_name_share_a_table_if_they_agree() -> None:
    longer = Schema("book", {"title": Attribute("title"), "isbn": Attribute("isbn")}, rows=True)
    other = Schema("book", {"title": Attribute("title", many=True)})
    tables, table_of = combine_schemas({"a": BOOK, "b": longer, "c": other, "d": PERSON})
    assert table_of == {"a": "book", "b": "book", "c": "book-2", "d": "person"}
    assert set(tables["book"].attributes) == {"title", "isbn"}
    assert tables["book"].rows
    assert tables["book-2"] == other
    tables, _ = combine_schemas({"a": Schema("../etc/pass wd"), "b": Schema("..")})
    assert set(tables) == {"_etc_pass_wd", "records"}


def test_attributes_of_other_sites_are_missing_for_a_reason() -> None:
    longer = Schema("book", {"title": Attribute("title"), "isbn": Attribute("isbn")})
    pages = pages_of("a.example")
    rules = CrawlRules(
        [site_rules("a.example", pages, BOOK), SiteRules("b", 1, longer, [], lambda: Rules(longer, ()))]
    )
    found = rules.extract_page(pages[1])
    assert found is not None
    assert found.records[0].missing == {"isbn": "no rule for this attribute"}


def test_one_site_can_be_sent_to_another_process() -> None:
    pages = pages_of("a.example")
    rules = site_rules("a.example", pages, BOOK).load()
    copy = pickle.loads(pickle.dumps(OneSite(rules)))
    assert copy.extract_page(pages[1]) == OneSite(rules).extract_page(pages[1])
    assert copy.digest == OneSite(rules).digest
