"""Names that the page's own data give to its texts, and what labeled sites teach about them."""

from __future__ import annotations

from untemplate import Attribute, Label, Page, Schema
from untemplate.labeling.groups import GroupModel
from untemplate.labeling.groups.named_texts import name_texts

SCHEMA = Schema("post", {"summary": Attribute("summary")})
PLACES = "abcd"


def make_site(site: str, place: str) -> tuple[list[Page], list[Label]]:
    """Return a site whose pages show four texts; meta data say which one is the description."""
    pages, labels = [], []
    for number in range(3):
        texts = {name: f"{site}{number}{name} is a text." for name in PLACES}
        meta = f'<meta property="og:description" content="{texts[place]}">'
        body = "".join(f"<p class={name}>{text}</p>" for name, text in texts.items())
        pages.append(Page(id=f"{site}{number}", html=f"<html><head>{meta}</head><body>{body}</body></html>"))
        labels.append(Label(f"{site}{number}", "summary", texts[place]))
    return pages, labels


def test_labeled_sites_teach_what_data_call_a_value() -> None:
    model = GroupModel.train([make_site(f"x{place}", place) for place in PLACES], SCHEMA)
    weights = model.weights["summary"]
    assert max(weights, key=lambda name: weights[name]) == "data og:description"
    for place in PLACES:
        pages, labels = make_site("new", place)
        (finding,) = model.find(pages, SCHEMA, SCHEMA.attributes)
        assert [node.text for _, node in finding.places] == [label.value for label in labels]


def test_people_have_the_name_of_their_role_and_things_that_of_their_type() -> None:
    data = '{"@type": "Book", "name": "Emma", "author": {"@type": "Person", "name": "Jane Austen"}}'
    names = name_texts(Page(html=f"<script type=application/ld+json>{data}</script>"))
    assert names == {"emma": {"Book"}, "janeausten": {"author", "Person"}}


def test_hostile_data_cost_little() -> None:
    many = ",".join(f'"k{number}": "v{number}"' for number in range(50_000))
    page = Page(html=f'<script type="application/ld+json">{{"@type": "A", {many}}}</script><p>x</p>')
    assert len(name_texts(page)) <= 2000
    assert name_texts(Page(html="<script type='application/ld+json'>{broken</script>")) == {}
