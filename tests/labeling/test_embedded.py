"""What a page says of itself becomes labels, as far as it can be seen."""

from __future__ import annotations

import json

import pytest

from untemplate import Attribute, LabelError, Page, Schema, learn
from untemplate.demo import make_site
from untemplate.labeling import EmbeddedLabeler, label_by_embedded

BOOK = Schema.load("book")


def page(head: str = "", body: str = "") -> Page:
    return Page(
        "http://a.example/1", f"<html><head><title>T</title>{head}</head><body>{body}</body></html>", "1"
    )


def script(data: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'


def labeled(one: Page, schema: Schema = BOOK) -> dict[str, str | None]:
    return {label.attribute: label.value for label in EmbeddedLabeler(schema).label([one])}


def test_json_ld_names_what_is_seen() -> None:
    data = {
        "@type": "Book",
        "name": "Emma",
        "author": {"@type": "Person", "name": "Jane Austen"},
        "isbn": "9780141439587",
    }
    one = page(script(data), "<h1>Emma</h1><p>by <a>Jane  Austen</a></p><p>978-0-14-143958-7</p>")
    assert labeled(one) == {"title": "Emma", "author": "Jane Austen", "isbn_13": "978-0-14-143958-7"}


def test_what_is_not_on_the_page_is_not_labeled() -> None:
    assert labeled(page(script({"name": "Emma", "publisher": "Penguin"}), "<h1>Emma</h1>")) == {
        "title": "Emma"
    }


def test_microdata_and_open_graph() -> None:
    body = '<div itemscope itemtype="http://schema.org/Book"><b itemprop="publisher">Penguin</b></div><h1>Emma</h1>'
    assert labeled(page('<meta property="og:title" content="Emma">', body)) == {
        "title": "Emma",
        "publisher": "Penguin",
    }


def test_labels_are_as_the_page_writes_them() -> None:
    one = page(script({"name": "EMMA!"}), "<p>other</p><h1>Emma</h1>")
    (label,) = EmbeddedLabeler(BOOK).label([one])
    assert (label.value, label.source) == ("Emma", "embedded")


def test_meta_tags_count_by_the_names_of_the_schema_alone() -> None:
    head = '<meta name="author" content="Matt"><meta property="og:title" content="Emma">'
    assert labeled(page(head, "<h1>Emma</h1><p>by Matt</p>")) == {"title": "Emma"}


STEPS = [
    {"@type": "HowToSection", "name": "Before", "itemListElement": [{"text": "Chop."}]},
    {"text": "Cook."},
]


@pytest.mark.parametrize(
    ("data", "body", "values"),
    [
        (STEPS, "<h4>Before</h4><li>Chop.<li>Cook.", ["Before", "Chop.", "Cook."]),
        (STEPS, "<li>Chop.<li>Cook.", ["Chop.", "Cook."]),
        (STEPS, "<li>Chop.", []),
        ("<p>Chop.</p><p>Cook.</p>", "<li>Chop.<li>Cook.", ["Chop.", "Cook."]),
        ([{"name": "Chop", "text": "Chop finely."}], "<li>Chop finely.", ["Chop finely."]),
    ],
    ids=["sections", "names not shown", "not all shown", "lines", "name repeated"],
)
def test_lists_are_labeled_whole(data: object, body: str, values: list[str]) -> None:
    one = page(script({"@type": "Recipe", "recipeInstructions": data}), body)
    labels = EmbeddedLabeler(Schema.load("recipe")).label([one])
    assert [label.value for label in labels] == values


def test_the_record_is_the_object_that_names_most_attributes() -> None:
    publisher = {"@type": "Organization", "name": "Shop"}
    books = [
        {"@type": "Book", "name": title, "isbn": f"978014143958{number}"} for number, title in enumerate("AB")
    ]
    pages = [
        Page(
            id=book["name"],
            html=f"{script(publisher)}{script(book)}<b>Shop</b><h1>{book['name']}</h1>{book['isbn']}",
        )
        for book in books
    ]
    titles = [label.value for label in EmbeddedLabeler(BOOK).label(pages) if label.attribute == "title"]
    assert titles == ["A", "B"]


def test_what_is_the_same_on_all_pages_is_no_record() -> None:
    html = script({"@type": "Organization", "name": "Shop"}) + "<b>Shop</b>"
    assert EmbeddedLabeler(BOOK).label([Page(id=name, html=html) for name in "ab"]) == []


def test_images_are_labeled_by_address() -> None:
    html = page(script({"@type": "Product", "image": "http://a/1.png"}), '<img src="http://a/1.png">')
    assert labeled(html, Schema.load("product")) == {"image": "http://a/1.png"}


@pytest.mark.parametrize(
    ("images", "labeled_images"),
    [
        (["http://a/1.png", "http://a/2.png"], ["http://a/1.png", "http://a/2.png"]),
        (["http://a/logo.png", "http://a/logo.png"], []),
        (["A cup of tea", "A pot of tea"], []),
    ],
    ids=["of the page", "of the site", "no address"],
)
def test_images_need_not_be_shown(images: list[str], labeled_images: list[str]) -> None:
    pages = []
    for name, image in zip("AB", images, strict=True):
        data = {"@type": "Product", "name": name, "image": image}
        pages.append(Page(id=name, html=f'{script(data)}<h1>{name}</h1><img src="small.png">'))
    labels = EmbeddedLabeler(Schema.load("product")).label(pages)
    assert [label.value for label in labels if label.attribute == "image"] == labeled_images


def test_an_image_alone_is_no_label() -> None:
    data = {"@type": "Product", "name": "Chair", "image": "http://a/1.png"}
    assert labeled(page(script(data), "<h1>Table</h1>"), Schema.load("product")) == {}


def test_images_that_are_not_shown_are_extracted_from_the_data() -> None:
    html = "<html><body>{}<h1>{}</h1><img src='small.png'></body></html>"
    pages = []
    for name in ("Chair", "Table", "Lamp"):
        data = {"@type": "Product", "name": name, "image": f"http://a.example/{name}.png"}
        pages.append(Page(id=name, html=html.format(script(data), name)))
    records = learn(pages[:2], schema=Schema.load("product")).extract(pages)
    assert [record["image"] for record in records] == [f"http://a.example/{page.id}.png" for page in pages]


def test_same_as_of_a_schema_of_ones_own() -> None:
    schema = Schema("wine", {"grape": Attribute("grape", same_as=("variety",))})
    assert labeled(page(script({"variety": "Riesling"}), "Riesling"), schema) == {"grape": "Riesling"}


def test_learning_without_labels() -> None:
    names = ["Emma", "Ulysses", "Dune"]
    html = "<html><body>{}<h1>{}</h1></body></html>"
    pages = [Page(id=name, html=html.format(script({"@type": "Book", "name": name}), name)) for name in names]
    rules = learn(pages, schema=BOOK)
    without_data = Page(html="<html><body><h1>Persuasion</h1></body></html>")
    assert [record["title"] for record in rules.extract([*pages, without_data])] == [*names, "Persuasion"]


def test_pages_without_data_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(LabelError, match="schema 'book' names: label a page"):
        label_by_embedded([page("", "<h1>Emma</h1>")], BOOK)
    with pytest.raises(LabelError, match="give labels, or a schema"):
        learn([page()])


@pytest.mark.parametrize(
    "head",
    [
        "",
        '<script type="application/ld+json">{"name": </script>',
        script([1, [2], None]),
        script({"@graph": 3, "name": {}}),
    ],
)
def test_odd_data_is_left_out(head: str) -> None:
    assert labeled(page(head, "<h1>Emma</h1>")) == {}


def test_deep_data_ends() -> None:
    data: object = {"name": "Emma"}
    for _ in range(50):
        data = {"about": data}
    assert labeled(page(script(data), "<h1>Emma</h1>")) == {}


def test_pages_that_cannot_be_read_have_no_labels() -> None:
    assert EmbeddedLabeler(BOOK).label([Page("http://a.example/", b"", "1")]) == []


def test_made_up_sites_tell_the_truth() -> None:
    """Of the sites of a vertical some have embedded data, and what they say is true."""
    said = 0
    for number in range(8):
        site = make_site("movie", number, 12)
        for label in EmbeddedLabeler(site.schema).label([one for one in site.pages if one.id in site.truth]):
            said += 1
            assert any(true in (label.value or "") for true in site.truth[label.page][label.attribute])
    assert said > 10


@pytest.mark.parametrize("name", ["Step {}", "{}."])
def test_texts_that_only_count_others_are_no_values(name: str) -> None:
    texts = ["Chop the leek.", "Fry it.", "Serve."]
    steps = [{"name": name.format(n), "text": text} for n, text in enumerate(texts, 1)]
    shown = "".join(f"<li><b>{step['name']}</b> {step['text']}</li>" for step in steps)
    schema = Schema("recipe", {"steps": Attribute("steps", many=True)})
    one = page(script({"@type": "Recipe", "steps": steps}), shown)
    assert [label.value for label in EmbeddedLabeler(schema).label([one])] == texts
