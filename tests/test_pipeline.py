"""The whole flow: clusters, labels, rules, records; what is borrowed, what is missing, what is said about it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.made_up_sites import LABELED, learned_site
from untemplate import Attribute, Label, LabelError, Page, Reason, Rules, Schema, learn
from untemplate.demo import VERTICALS
from untemplate.pipeline import learn_site

SCHEMA = Schema("book", {"title": Attribute("title", mandatory=True), "price": Attribute("price", "price")})
WORDS = ("Ash", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine")


def books(folder: str, look: str, count: int = 30) -> list[Page]:
    """Pages of one template; the look is one of several templates, of which `a` and `b` show books alike."""
    title = {"a": "<h1 class=title>{}</h1>", "b": "<h1 class=title>{}</h1>", "list": "<ol><li>{}</ol>"}[look]
    frame = {
        "a": "<table><tr><td>x</td></tr></table>" * 15,
        "b": "<ul><li><b>y</b></li></ul>" * 15,
        "list": "<hr>" * 30,
    }[look]
    price = "" if look == "list" else "<p class=price>${}.99</p>"
    return [
        Page(
            f"http://shop.example/{folder}/{i}.html",
            f"<html><body>{frame}{title.format(WORDS[i % 10] + str(i))}{price.format(i)}<p>{look}</p></body></html>",
            f"{folder}/{i}",
        )
        for i in range(count)
    ]


def labels(page: str, i: int) -> list[Label]:
    return [Label(page, "title", WORDS[i % 10] + str(i)), Label(page, "price", f"${i}.99")]


def test_a_wrapper_for_each_labeled_cluster() -> None:
    pages = [*books("novels", "a"), *books("comics", "b")]
    rules = learn(pages, [*labels("novels/0", 0), *labels("comics/1", 1)], SCHEMA)
    assert len(rules.wrappers) == 2
    records = list(rules.extract(pages))
    assert [record["price"] for record in records] == [f"${i}.99" for i in range(30)] * 2
    assert len({record.cluster for record in records}) == 2


def test_a_cluster_without_labels_borrows_rules_that_hold() -> None:
    pages = [*books("novels", "a"), *books("comics", "b")]
    learned = learn_site(pages, labels("novels/0", 0), SCHEMA)
    assert len(learned.borrowed) == 1
    assert learned.needs_labels == []
    records = list(learned.rules.extract(pages))
    assert [record["title"] for record in records] == [f"{WORDS[i % 10]}{i}" for i in range(30)] * 2


def test_a_cluster_on_which_no_rules_hold_needs_labels() -> None:
    pages = [*books("novels", "a"), *books("all", "list")]
    learned = learn_site(pages, labels("novels/0", 0), SCHEMA)
    [cluster] = learned.needs_labels
    assert learned.borrowed == {}
    records = list(learned.rules.extract(pages[30:]))
    assert {record.cluster for record in records} == {cluster}
    assert all(set(record.missing.values()) == {Reason.NEEDS_LABELS} for record in records)


def test_pages_of_one_kind_are_never_lost_to_clustering() -> None:
    """Five pages are too few for the paper's clusters, and differ; still they are one site."""
    pages = books("novels", "a", 3) + books("comics", "b", 2)
    rules = learn(pages, labels("novels/0", 0), SCHEMA)
    assert all(record["title"] for record in rules.extract(pages))


def test_a_foreign_page_matches_nothing() -> None:
    rules = learn(books("novels", "a"), labels("novels/0", 0), SCHEMA)
    foreign = Page("http://elsewhere.example/", "<html><body><form><input></form></body></html>", "f")
    [record] = rules.extract([foreign])
    assert record.cluster is None
    assert set(record.missing.values()) == {Reason.NO_WRAPPER}


# what is said about labels


def test_labels_of_pages_that_are_not_there() -> None:
    pages = books("novels", "a")
    learned = learn_site(pages, [*labels("novels/0", 0), Label("nowhere.html", "title", "x")], SCHEMA)
    assert ["nowhere.html" in problem for problem in learned.problems] == [True]
    with pytest.raises(LabelError, match=r"none of the labeled pages.*nowhere\.html"):
        learn(pages, [Label("nowhere.html", "title", "x")], SCHEMA)


def test_labels_of_attributes_that_the_schema_lacks() -> None:
    pages = books("novels", "a")
    learned = learn_site(pages, [*labels("novels/0", 0), Label("novels/0", "color", "red")], SCHEMA)
    assert ["color" in problem for problem in learned.problems] == [True]
    with pytest.raises(LabelError, match="no labels for the attributes"):
        learn(pages, [Label("novels/0", "color", "red")], SCHEMA)
    with pytest.raises(LabelError):
        learn(pages, [], SCHEMA)


def test_an_unreadable_labeled_page_is_a_problem_not_an_end() -> None:
    pages = books("novels", "a")
    pages[3] = Page(pages[3].url, b"<div>" * 5000, pages[3].id)
    learned = learn_site(pages, [*labels("novels/0", 0), *labels("novels/3", 3)], SCHEMA)
    assert any(problem.startswith("novels/3: ") for problem in learned.problems)
    records = list(learned.rules.extract(pages))
    assert records[4]["title"] == "Fir4"
    assert records[3].missing["title"].startswith(Reason.UNREADABLE)


def test_only_an_unreadable_page_is_labeled() -> None:
    pages = books("novels", "a")
    pages[3] = Page(pages[3].url, b"<div>" * 5000, pages[3].id)
    learned = learn_site(pages, labels("novels/3", 3), SCHEMA)
    assert any(problem.startswith("novels/3: ") for problem in learned.problems)
    assert all(not record.values for record in learned.rules.extract(pages))
    with pytest.raises(
        LabelError, match=r"^nothing was learned .*: novels/3: page is nested deeper"
    ) as raised:
        learn(pages, labels("novels/3", 3), SCHEMA)
    assert "\n" not in str(raised.value)


def test_labels_without_a_value_teach_nothing() -> None:
    with pytest.raises(LabelError, match=r"nothing was learned .*: they contain no value"):
        learn(books("novels", "a"), [Label("novels/0", "price", None)], SCHEMA)


def test_an_error_names_a_few_reasons() -> None:
    wrong = [Label("novels/0", name, "not there") for name in "abcdefgh"]
    with pytest.raises(
        LabelError, match=r"nothing was learned .*'not there' is not on the page.*; and 11 more$"
    ):
        learn(books("novels", "a"), wrong)


def test_an_error_is_short_whatever_the_labels_are() -> None:
    long = [
        Label("novels/0", "title", "x" * 100_000),
        Label("novels/0", "price", "1", xpath="(" * 100_000),
    ]
    with pytest.raises(LabelError, match=r"is not on the page.*selects no text") as raised:
        learn(books("novels", "a"), long, SCHEMA)
    assert len(str(raised.value)) < 1500


def test_an_unreadable_labeled_page_is_reported_without_assertions_too() -> None:
    """`python -O` removes assert statements, so nothing may depend on them."""
    code = """
import untemplate as ut
from untemplate.pipeline import learn_site
pages = [ut.Page(id=f"{n}", html=f"<h1>Book {n}</h1><p>{n} $</p>") for n in range(5)]
pages.append(ut.Page(id="deep", html=b"<div>" * 5000))
labels = [ut.Label("1", "title", "Book 1"), ut.Label("deep", "title", "x")]
learned = learn_site(pages, labels)
print(learned.problems, learned.rules.extract_one(pages[3])["title"])
"""
    run = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "['deep: page is nested deeper than 2,000 elements'] Book 3\n", run.stderr


# made-up sites: recall 1 on what was labeled, nothing where nothing is


@pytest.mark.parametrize("vertical", sorted(VERTICALS))
@pytest.mark.parametrize("seed", [0, 1])
def test_labeled_pages_give_back_their_labels(vertical: str, seed: int, tmp_path: Path) -> None:
    site, rules = learned_site(vertical, seed)
    rules.save(tmp_path / "rules.json")
    records = {record.page_id: record for record in Rules.load(tmp_path / "rules.json").extract(site.pages)}
    assert list(records.values()) == list(rules.extract(site.pages))
    wrong = []
    for page in list(site.truth)[:LABELED]:
        for attribute, true in site.truth[page].items():
            found = [value.text for value in records[page].values.get(attribute, [])]
            if found != true[: None if site.schema.attributes[attribute].many else 1]:
                wrong.append((page, attribute, found, true))
    assert wrong == []


# A few articles of one publisher, months apart

ARTICLE = Schema(
    "article",
    {
        "title": Attribute("title", mandatory=True),
        "author": Attribute("author"),
        "date": Attribute("date", "date"),
    },
)
FRAMES = {
    "January": "<header class=top><ul>{links}</ul></header>{main}<footer class=foot><p>About</p></footer>",
    "August": "<div class=cookies>OK?</div><div class=bar>{links}</div><div class=ads><b>Buy</b></div>{main}"
    "<div class=footer><a>About</a><a>Terms</a></div>",
}


def article(month: str, number: int) -> Page:
    """An article; between January and August the frame of the site changed, and the article somewhat."""
    tag, promo = ("li", "") if month == "January" else ("a", "<figure><img src=p.jpg></figure>")
    links = "".join(f"<{tag} class=nav>{word}</{tag}>" for word in WORDS)
    related = "".join(f"<div class=teaser><h3>{word} news {number}</h3></div>" for word in WORDS[:4])
    text = "".join(f"<p>{' '.join(WORDS[start:])}</p>" for start in range(4 + number % 3))
    main = (
        f"<main><article><h1 class=headline>{WORDS[number]} plan agreed</h1><div class=meta><span class=by>By "
        f"<a rel=author>{month} Writer{number}</a></span> <time>{10 + number} {month} 2023</time></div>{promo}{text}"
        f"</article><aside>{related}</aside></main>"
    )
    return Page(
        f"http://daily.example/2023/{month}/{10 + number}/{WORDS[number]}",
        f"<html><body>{FRAMES[month].format(links=links, main=main)}</body></html>",
        f"{month}{number}",
    )


def section(number: int) -> Page:
    items = "".join(f"<li><a href=/{word}><h3>{word} news</h3></a></li>" for word in WORDS)
    html = f"<div class=bar>Daily</div><main><h1 class=section>{WORDS[number]}</h1><ul>{items}</ul></main>"
    return Page(f"http://daily.example/section/{WORDS[number]}", html, f"section{number}")


@pytest.mark.parametrize(("before", "after", "sections"), [(1, 1, 0), (1, 2, 1), (2, 2, 2), (3, 1, 1)])
def test_few_articles_of_one_publisher_months_apart(before: int, after: int, sections: int) -> None:
    """The labeled article's rules are tried on all pages of the host, and are less sure where the frame changed."""
    old = [article("January", number) for number in range(before)]
    new = [article("August", number) for number in range(after)]
    others = [section(number) for number in range(sections)]
    given = {"title": "Ash plan agreed", "author": "January Writer0", "date": "10 January 2023"}
    labels = [Label(old[0].id, name, value) for name, value in given.items()]
    rules = learn([*old, *new, *others], labels, ARTICLE)
    [own] = rules.extract([old[0]])
    for number, record in enumerate(rules.extract([*new, article("August", 7)])):
        number = number if number < after else 7
        assert record["title"] == f"{WORDS[number]} plan agreed"
        assert record["author"] == f"August Writer{number}"
        assert record["date"] == f"{10 + number} August 2023"
        for name in ARTICLE.attributes:
            assert (record.confidence(name) or 0) < (own.confidence(name) or 0)
    for record in rules.extract([*others, section(8)]):
        assert not record.values
