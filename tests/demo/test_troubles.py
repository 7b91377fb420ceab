"""Each trouble of the real web really occurs, and where it occurs the pages still decode and parse."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from untemplate.demo import Site, make_site
from untemplate.page import Page


def details(site: Site) -> list[Page]:
    return [page for page in site.pages if page.id in site.truth]


def texts(page: Page) -> list[str]:
    return [node.text for node in page.nodes if not node.is_attribute]


def test_odd_encodings_decode(sites: list[Site]) -> None:
    seen = Counter(site.looks["detail"].encoding for site in sites)
    assert {"utf-8", "bom", "latin-1", "cp1252", "undeclared", "late"} <= set(seen)
    accents = 0
    for site in sites:
        for page in site.pages:
            assert "\ufffd" not in page.text
            assert "Ã" not in page.text
            accents += "é" in page.text
    assert accents > 100


@pytest.mark.parametrize(
    ("encoding", "codec", "declared"),
    [
        ("bom", "utf-8-sig", b"iso-8859-1"),
        ("latin-1", "cp1252", b"iso-8859-1"),
        ("cp1252", "cp1252", b"windows-1252"),
        ("undeclared", "cp1252", None),
        ("late", "utf-8", b"utf-8"),
    ],
)
def test_bytes_are_really_in_the_encoding(
    sites: list[Site], encoding: str, codec: str, declared: bytes | None
) -> None:
    pages = [page for site in sites if site.looks["detail"].encoding == encoding for page in site.pages]
    assert any(not page.html.isascii() for page in pages)
    for page in pages:
        assert page.html.decode(codec) == page.text
        found = re.search(rb"charset=\"?([\w-]+)", page.html)
        assert (found[1] if found else None) == declared
        if encoding == "late":
            assert page.html.index(b"charset=") > 1024


def test_letters_the_encoding_lacks_become_references(sites: list[Site]) -> None:
    assert any(b"&#345;" in page.html for site in sites for page in site.pages)  # ř


@pytest.mark.parametrize("style", ["bare", "module", "opaque", "legacy", "utility"])
def test_class_styles(sites: list[Site], style: str) -> None:
    chosen = [site for site in sites if site.looks["detail"].class_style == style]
    assert chosen
    page = details(chosen[0])[0]
    classes = page.tree.xpath("//body//@class")
    if style == "bare":
        assert set(classes) <= {"col"}
    if style == "opaque":
        assert any(re.fullmatch(r"sc-\w{5}", name) for name in classes)


def test_ids_with_running_numbers(sites: list[Site]) -> None:
    chosen = next(site for site in sites if site.looks["detail"].running_ids)
    one, other = [page for page in details(chosen) if chosen.templates[page.id] == "detail"][:2]
    ids = [
        set(page.tree.xpath("//*[starts-with(@id, 'facts-') or starts-with(@id, 'title')]/@id"))
        for page in (one, other)
    ]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_classes_with_tokens_of_the_page(sites: list[Site]) -> None:
    tokens = {
        token
        for site in sites
        if site.looks["detail"].page_tokens
        for page in details(site)
        for token in re.findall(rb" k[0-9a-f]{5}\b", page.html)
    }
    assert len(tokens) > 20


def test_unclosed_and_shouted_tags(sites: list[Site]) -> None:
    for tag in ("li", "p", "td"):
        chosen = [site for site in sites if tag in site.looks["detail"].unclosed]
        html = b"".join(page.html.lower() for site in chosen for page in site.pages)
        assert html.count(f"<{tag}".encode()) > 2 * html.count(f"</{tag}>".encode())
    assert any(b"<TABLE" in page.html or b"<DIV" in page.html for site in sites for page in site.pages)


def test_missing_attributes(sites: list[Site]) -> None:
    gaps = Counter(
        (site.vertical, name)
        for site in sites
        for truth in site.truth.values()
        for name, values in truth.items()
        if not values
    )
    assert {vertical for vertical, _ in gaps} == {site.vertical for site in sites}


def test_an_attribute_may_be_missing_from_a_whole_site() -> None:
    def absent(site: Site) -> bool:
        return any(not any(truth[name] for truth in site.truth.values()) for name in site.schema.attributes)

    assert any(absent(make_site("book", seed, pages=24)) for seed in range(40))


def test_labels_in_the_node_of_the_value(sites: list[Site]) -> None:
    found = [
        text
        for site in sites
        for page in details(site)
        for value in site.truth[page.id].get("price", [])
        for text in texts(page)
        if value in text and re.match(r"(Our )?Price: ", text)
    ]
    assert found


def test_values_are_links_on_some_pages_only(sites: list[Site]) -> None:
    for site in sites:
        linked = Counter(
            bool(page.tree.xpath("//a[starts-with(@href, $start)]", start=f"/find/{name}/"))
            for page in details(site)
            if site.templates[page.id] == "detail"
            for name, values in site.truth[page.id].items()
            if values
            and site.looks["detail"].markup[name].link == "sometimes"
            and site.looks["detail"].places[name] == "fact"
            and not site.schema.attributes[name].many
        )
        if len(linked) == 2:
            return
    pytest.fail("no site links a value on some pages and not on others")


def test_recommendations_repeat_values_of_other_pages_and_of_their_own(sites: list[Site]) -> None:
    own = others = 0
    for site in sites:
        head = next(iter(site.schema.attributes))
        names = {page: truth[head][0] for page, truth in site.truth.items()}
        for page in details(site):
            blocks = b"".join(re.findall(rb"<!-- related -->.*?<!-- /related -->", page.html, re.DOTALL))
            shown = set(texts(Page(html=b"<meta charset=utf-8>" + blocks))) if blocks else set()
            own += names[page.id] in shown
            others += bool(shown & (set(names.values()) - {names[page.id]}))
    assert own > 10
    assert others > 500


def test_navigation_repeats_values(sites: list[Site]) -> None:
    site = next(site for site in sites if site.vertical == "movie")
    page = next(page for page in details(site) if site.truth[page.id]["genre"])
    everywhere = {text for text in texts(page) if any(text in texts(other) for other in details(site)[-2:])}
    genres = {genre for truth in site.truth.values() for genre in truth["genre"]}
    assert everywhere & genres


@pytest.mark.parametrize("way", ["shuffled", "swapped", "blanks", "lazy_images", "broken_prose", "spaced"])
def test_habits_occur(sites: list[Site], way: str) -> None:
    assert {getattr(site.looks["detail"], way) for site in sites} == {True, False}


@pytest.mark.parametrize(
    ("embedded", "sign"),
    [("json-ld", b"application/ld+json"), ("microdata", b"itemprop="), ("open graph", b"og:title")],
)
def test_embedded_data(sites: list[Site], embedded: str, sign: bytes) -> None:
    chosen = [site for site in sites if site.looks["detail"].embedded == embedded]
    assert chosen
    assert all(sign in page.html.replace(b'"', b"") for page in details(chosen[0]))


def test_second_detail_templates(sites: list[Site]) -> None:
    count = sum("detail-2" in site.looks for site in sites)
    assert 0.2 * len(sites) < count < 0.7 * len(sites)


def test_all_layouts_of_facts_and_results(sites: list[Site]) -> None:
    looks = [look for site in sites for look in site.looks.values()]
    assert len({look.facts for look in looks}) == 9
    assert len({look.results for look in looks}) == 6
    assert {look.address for look in looks} == {"line", "breaks", "spans", "divs"}
