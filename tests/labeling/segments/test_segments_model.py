"""Labels of a new site by site knowledge: the paper's example 4.1, made-up sites, any classifier."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import untemplate as ut
from benchmarks.measure.segments import Row, refine
from tests.labeling.segments.yelp import LABELS, yelp
from tests.labeling.truth import details, share_right
from untemplate import Attribute, Knowledge, KnowledgeError, Label, LabelError, Page, Schema
from untemplate.demo import Site, make_site
from untemplate.labeling.label import labels_of
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite
from untemplate.labeling.segments.site_knowledge import find_by_segments, refine_labels

PAGES = 30


@dataclass(frozen=True)
class ByText:
    """A classifier that knows some texts."""

    labels: dict[str, str]

    def classify(self, site: SegmentedSite) -> list[str]:
        return [self.labels.get(site.texts[text], NOISE) for text in site.text]


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("hops", [False, True])
def test_example_4_1(exact: bool, hops: bool) -> None:
    site = yelp()
    given = ByText(LABELS).classify(site)
    texts = [site.texts[text] for text in site.text]

    def addresses(labels: list[str]) -> list[str]:
        return [text for text, label in zip(texts, labels, strict=True) if label == "Address"]

    assert addresses(given) == ["166 1st Ave", "NY 10009", "1st Ave", "606 9th Ave", "NY 10036", "42nd St"]
    selected = refine(site, given, Row("SS", exact, hops))
    assert addresses(selected) == ["166 1st Ave", "NY 10009", "606 9th Ave", "NY 10036"]
    corrected = refine(site, given, Row("ED", exact, hops))
    assert addresses(corrected) == ["460 Gw St", "NY 10013", *addresses(selected)]
    assert refine(site, given, Row("NODE")) == given
    assert refine_labels(site, given) == corrected


def test_what_the_classifier_did_not_say_lowers_the_confidence() -> None:
    schema = Schema("restaurant", {name: Attribute(name) for name in ("Address", "Phone", "Hours")})
    pages = yelp().table.pages
    findings = find_by_segments(pages, ByText(LABELS), schema)
    address, phone, hours = findings
    assert (round(address.confidence, 3), phone.confidence, address.coverage) == (0.667, 1, 1)
    assert address.found
    assert not hours.found
    whole = ["460 Gw St NY 10013", "166 1st Ave NY 10009", "606 9th Ave NY 10036"]
    assert [node.text for _, node in address.places] == whole
    labels = labels_of(findings)
    assert {label.source for label in labels} == {"segments"}
    assert Label("p1", "Phone", "(212) 219-0500", "/html/body/span/text()[1]", "segments", 1.0) in labels


@pytest.fixture(scope="module")
def seeds() -> list[Site]:
    return [make_site("movie", number, PAGES) for number in (101, 103)]


@pytest.fixture(scope="module")
def new_site() -> Site:
    return make_site("movie", 102, PAGES)


@pytest.fixture(scope="module")
def knowledge(seeds: list[Site]) -> Knowledge:
    return ut.train([(details(site), site.labels) for site in seeds], seeds[0].schema, "segments")


def test_a_new_site_is_labeled(knowledge: Knowledge, new_site: Site) -> None:
    labels = knowledge.label(details(new_site))
    assert "title" in {label.attribute for label in labels}
    assert share_right(labels, new_site) > 0.7
    assert knowledge.method == "segments"
    assert knowledge.seed_sites("title") == 2


def test_what_is_saved_labels_alike(knowledge: Knowledge, new_site: Site, tmp_path: Path) -> None:
    knowledge.save(tmp_path / "knowledge")
    loaded = Knowledge.load(tmp_path / "knowledge")
    assert loaded.label(details(new_site)) == knowledge.label(details(new_site))
    assert loaded.seed_sites("title") == 2
    readable = tmp_path / "knowledge" / "segments.json"
    readable.write_text(readable.read_text().replace('"features": [', '"features": ["one more",'))
    with pytest.raises(KnowledgeError, match="wrong type or shape"):
        Knowledge.load(tmp_path / "knowledge")


def test_site_knowledge_corrects_what_seed_sites_taught(
    seeds: list[Site], new_site: Site, tmp_path: Path
) -> None:
    ut.train([(details(seeds[0]), seeds[0].labels)], seeds[0].schema).save(tmp_path)
    labels = Knowledge.load(tmp_path, "seed+segments").label(details(new_site))
    assert {label.source for label in labels} == {"segments"}
    assert share_right(labels, new_site) > 0.8


def test_nodes_alone_are_no_fields(knowledge: Knowledge, tmp_path: Path) -> None:
    knowledge.save(tmp_path)
    with pytest.raises(KnowledgeError, match=r"trained by method 'segments'.* --method seed"):
        Knowledge.load(tmp_path, "seed")


def test_labels_that_are_nowhere(seeds: list[Site]) -> None:
    labels = [Label("0001.html", "title", "no such text")]
    with pytest.raises(LabelError, match="found on the pages"):
        ut.train([(details(seeds[0]), labels)], seeds[0].schema, "segments")


def test_odd_pages(knowledge: Knowledge) -> None:
    nothing = [False] * len(knowledge.schema.attributes)
    for pages in ([], [Page(html="")], [Page(html=b"\xff\xfe")] * 3, [Page(html="<script>x</script>")] * 3):
        assert [finding.found for finding in knowledge.find(pages)] == nothing
    assert len(knowledge.find([Page(html="<p>one page")])) == len(nothing)
