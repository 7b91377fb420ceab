"""Names that the page's own data give to its texts, and what labeled sites learn from them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from untemplate import Attribute, Knowledge, Label, Page, Schema, train
from untemplate.labeling.named_data import learn_data_names, name_texts

# The names of the attributes say nothing, and no page has captions or class names.
SCHEMA = Schema("offer", {"what": Attribute("what"), "code": Attribute("code")})
CODES = ("QX-81", "RB-07", "MN-55", "TK-30", "VW-92", "AE-14")


def make_site(site: str, turned: bool) -> tuple[list[Page], list[Label]]:
    """Return a site whose pages show two codes that look alike, and say in JSON-LD which one is the SKU."""
    pages, labels = [], []
    for number, code in enumerate(CODES):
        other = CODES[(number + 2) % len(CODES)]
        name = f"{site} thing {number * 13}"
        first, second = (other, code) if turned else (code, other)
        data = f'{{"@type": "Product", "name": "{name}", "sku": "{code}"}}'
        html = f"<script type=application/ld+json>{data}</script><h1>{name}</h1><p>{first}</p><div>{second}</div>"
        pages.append(Page(url=f"http://{site}.example/{number}", html=html, id=f"{site}{number}"))
        labels += [Label(f"{site}{number}", "what", name), Label(f"{site}{number}", "code", code)]
    return pages, labels


def test_labeled_sites_teach_what_data_call_an_attribute(tmp_path: Path) -> None:
    seed, labels = make_site("a", turned=False)
    new_site, _ = make_site("b", turned=True)
    train([(seed, labels)], SCHEMA).save(tmp_path)
    found = {finding.attribute: finding for finding in Knowledge.load(tmp_path).find(new_site)}
    assert [node.text for _, node in found["code"].places] == list(CODES)


def test_names_must_fit_on_all_labeled_sites() -> None:
    first, second = make_site("a", turned=False), make_site("b", turned=True)
    assert learn_data_names([first, second], SCHEMA) == {"what": ["name"], "code": ["sku"]}
    pages, labels = second
    moved = [replace(label, value=f"{label.value}!x") for label in labels]
    assert learn_data_names([first, (pages, moved)], SCHEMA) == {}


def test_labels_that_are_the_same_everywhere_teach_no_names() -> None:
    pages, labels = make_site("a", turned=False)
    same = [replace(label, value="a thing 0") for label in labels]
    assert learn_data_names([(pages, same)], SCHEMA) == {}


def test_people_and_things_have_the_name_of_their_role() -> None:
    data = '{"@type": "Book", "name": "Emma", "author": {"@type": "Person", "name": "Jane Austen"}}'
    names = name_texts(Page(html=f"<script type=application/ld+json>{data}</script>"))
    assert names == {"emma": {"name"}, "janeausten": {"author", "name"}}


def test_hostile_data_cost_little() -> None:
    many = ",".join(f'"k{number}": "v{number}"' for number in range(50_000))
    page = Page(html=f'<script type="application/ld+json">{{"@type": "A", {many}}}</script><p>x</p>')
    assert len(name_texts(page)) <= 2000
    assert name_texts(Page(html="<script type='application/ld+json'>{broken</script>")) == {}
