"""The CRF kept as arrays labels as CRFsuite does; its features are those that the paper lists."""

from __future__ import annotations

import pytest

from untemplate import Page
from untemplate.labeling.segments.node_crf import (
    CRF,
    NODE_FEATURES,
    REGEX_FEATURES,
    LeafScores,
    WordSequence,
    crf_node_features,
    crf_word_features,
    learn_crf,
    learn_node_crf,
)
from untemplate.labeling.segments.segmenting import SegmentedSite

TEXTS = {
    "Name": ["Chimichurri Grill", "21 Club", "The Red Bar"],
    "Phone": ["(212) 586-8655", "850/231-1008", "206-467-9663"],
    "Address": ["606 9th Ave NY 10036", "70 Hotz Ave", "1400 3rd Ave Seattle 98101"],
    "": ["Write a review", "5 reviews", "Home"],
}


def words(text: str) -> WordSequence:
    split = text.split()
    node = crf_node_features(split, ["The", "Red", "Bar", "in", "Grayton"])
    return [(word, node) for word in split]


SEQUENCES = [
    *((words(text), [label] * len(text.split())) for label, texts in TEXTS.items() for text in texts),
    ([*words("606 9th Ave"), *words("(212) 586-8655")], ["Address"] * 3 + ["Phone"] * 2),
]


@pytest.fixture(scope="module")
def crf() -> CRF:
    return learn_crf(SEQUENCES)


def test_what_was_learnt_is_found(crf: CRF) -> None:
    marginals = crf.marginals([sequence for sequence, _ in SEQUENCES])
    found = [[crf.labels[label] for label in words.argmax(axis=1)] for words in marginals]
    assert found == [given for _, given in SEQUENCES]


def test_marginals_are_those_of_crfsuite(crf: CRF, tmp_path: object) -> None:
    from pycrfsuite import Tagger, Trainer

    trainer = Trainer(algorithm="lbfgs", params={"c1": 0.2, "c2": 0.0, "max_iterations": 100}, verbose=False)
    for sequence, labels in SEQUENCES:
        trainer.append(
            [[*crf_word_features(word), *node] for word, node in sequence], [label or "-" for label in labels]
        )
    trainer.train(f"{tmp_path}/crf")
    tagger = Tagger()
    tagger.open(f"{tmp_path}/crf")
    new = [
        words(text)
        for text in ("The Blue Grill", "70 9th Ave 10036", "212-586-8655", "Home Club 5 reviews", "x")
    ]
    for sequence, found in zip(new, crf.marginals(new), strict=True):
        tagger.set([[*crf_word_features(word), *node] for word, node in sequence])
        for at, chances in enumerate(found):
            expected = [tagger.marginal(label or "-", at) for label in crf.labels]
            assert chances.tolist() == pytest.approx(expected, abs=1e-4)


def test_nothing_to_label(crf: CRF) -> None:
    assert crf.marginals([]) == []
    assert [len(words) for words in crf.marginals([[], words("Home")])] == [0, 1]


def captioned_site(captions: tuple[str, str]) -> SegmentedSite:
    first, second = captions
    pages = [
        Page(id=str(n), html=f"<p>{first}</p><b>{n}x{n}</b><p>{second}</p><b>{n}y{n}</b>") for n in range(10)
    ]
    return SegmentedSite(pages)


@pytest.mark.parametrize("captions", [True, False])
def test_captions_tell_values_apart_that_look_alike(captions: bool) -> None:
    taught = captioned_site(("Width:", "Depth:"))
    classes = [{"Width:": "width", "Depth:": "depth"}.get(before, "") for before, _ in taught.captions]
    new = captioned_site(("Depth:", "Width:"))
    scores = learn_node_crf([(taught, classes)], captions).classify(new)
    names = [name for name, static in zip(scores.labels, new.is_static, strict=True) if not static]
    assert (names == ["depth", "width"] * 10) == captions


def test_scores_of_labels() -> None:
    scores = LeafScores.of_labels(["a", "", "b"], [0.75, 1.0, 0.25])
    assert scores.labels == ["a", "", ""]
    assert scores.chances[:, scores.names.index("b")].tolist() == [0, 0, 0.25]


@pytest.mark.parametrize(
    ("word", "features"),
    [
        ("NY", {"isAllCapsWord", "hasTwoContinuousCaps", "isAlpha"}),
        ("McDONald", {"hasTwoContinuousCaps", "isAlpha"}),
        ("Tues.", {"isDay"}),
        ("mondays", {"isDay", "isAlpha"}),
        ("12", {"1-2digitNumber", "isNumber"}),
        ("(212)", {"3digitNumber"}),
        ("586-8655", {"3digitNumber", "4digitNumber", "dashBetweenDigits"}),
        ("10036,", {"5digitNumber"}),
        ("1234567", {">5digitNumber", "isNumber"}),
        ("…", set()),
    ],
)
def test_regex_features(word: str, features: set[str]) -> None:
    assert set(crf_word_features(word)[1:]) == features


def test_there_are_as_many_features_as_in_the_paper() -> None:
    assert (len(REGEX_FEATURES), len(NODE_FEATURES)) == (11, 7)


def test_node_features() -> None:
    title = ["The", "Red", "Bar", "|", "Grayton"]
    assert crf_node_features(["The", "Red", "Bar"], title) == (
        "propOfTitleCase>0.8",
        "overlapWithTitle 4",
        "prefixOverlapWithTitle 4",
    )
    assert crf_node_features(["bar"], title) == (
        "propOfTitleCase<0.2",
        "overlapWithTitle 4",
        "prefixOverlapWithTitle 0",
    )
    assert {"noOfWords>20", "noOfWords>50"} < set(crf_node_features(["a"] * 60, title))
