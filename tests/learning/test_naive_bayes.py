"""The paper's last resort: only weak attributes tell a rating image from others, and their order varies."""

from __future__ import annotations

from random import Random

from untemplate import Attribute, Label, Page, Schema
from untemplate.learning import SampleTable, learn_rules
from untemplate.learning.refining import learn_classifier
from untemplate.pipeline import learn_site

STARS = '<td><img src="/stars{}.gif" border="0" height="12"></td>'
BUY = '<td><img src="/buy.gif" border="0"></td>'
DOT = '<td><img src="/dot.gif" height="12"></td>'
AD = '<td><img src="/ad{}.gif"></td>'


def pages(count: int = 24) -> list[Page]:
    random = Random(1)
    made = []
    for number in range(count):
        cells = [STARS.format(number % 6), BUY, DOT, *(AD.format(i) for i in range(random.randint(1, 4)))]
        random.shuffle(cells)
        html = f"<h1>Album {number}</h1><table><tr>{''.join(cells)}</tr></table>"
        made.append(Page(f"http://cds.example/{number}", html, str(number)))
    return made


def labels(count: int) -> list[Label]:
    return [Label(str(n), "rating", f"http://cds.example/stars{n % 6}.gif") for n in range(count)]


SCHEMA = Schema("cd", {"rating": Attribute("rating", "image")})


def test_weak_attributes_together_tell_the_image() -> None:
    learned = learn_site(pages(), labels(4), SCHEMA)
    [wrapper] = learned.rules.wrappers
    classifier = wrapper.rules["rating"].classifier
    assert classifier is not None
    assert {feature.type for feature in classifier.features} == {"@border", "@height"}
    for number, record in enumerate(learned.rules.extract(pages())):
        assert record["rating"] == f"/stars{number % 6}.gif"


def test_what_cannot_be_told_apart_gets_no_classifier() -> None:
    table = SampleTable([Page("u", "<td><img src=/a><td><img src=/b>", "0")])
    images = [row for row, node in enumerate(table.rows) if node.kind == "@src"]
    assert learn_classifier(table, images[:1], images[1:]) is None


def test_no_classifier_where_an_xpath_is_precise() -> None:
    made = [Page("u", f"<p>x</p><b>{n}</b>", str(n)) for n in range(5)]
    rules, _ = learn_rules(
        SampleTable(made), {0: [Label("0", "name", "0")]}, Schema("s", {"name": Attribute("name")})
    )
    assert rules["name"].classifier is None
