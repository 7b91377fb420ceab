"""What a crawl's records say about the site, compared with earlier crawls."""

from __future__ import annotations

import json

from untemplate import Reason, Record, Value
from untemplate.output.quality import CrawlTally
from untemplate.watching.crawl_tally import MIN_CRAWLS, SITE, judge_crawl


def record(page: int, cluster: str | None = "c1", confidence: float = 1.0, **texts: str) -> Record:
    values = {name: [Value(text, text, "/", name, confidence)] for name, text in texts.items()}
    reason = Reason.NOT_ON_PAGE if cluster else Reason.NO_WRAPPER
    missing = {name: str(reason) for name in {"name", "price"} - values.keys()}
    return Record(f"http://a/{page}", f"{page}", cluster, values, missing)


def crawl(pages: int = 100, *, unmatched: int = 0, unpriced: int = 0, confidence: float = 1.0) -> CrawlTally:
    tally = CrawlTally()
    for page in range(pages):
        if page < unmatched:
            tally.add(record(page, None))
        elif page < unmatched + unpriced:
            tally.add(record(page, name=f"Lamp {page}"))
        else:
            tally.add(record(page, confidence=confidence, name=f"Lamp {page}", price=f"{page} $"))
    return tally


def failed(tally: CrawlTally, *history: CrawlTally) -> list[tuple[str, str, str | None]]:
    return [alarm.key for alarm in judge_crawl(tally, history)]


def test_a_tally_counts_by_cluster_and_attribute() -> None:
    tally = crawl(10, unmatched=2, unpriced=3, confidence=0.5)
    tally.add(record(11, "c2", name="Sofa"))
    lamps = tally.clusters["c1"]
    assert (lamps.pages, lamps.matched, lamps.filled) == (8, 8, {"name": 8, "price": 5})
    assert (lamps.mean_confidence("price"), lamps.doubtful["price"]) == (0.5, 5)
    assert tally.clusters[""].unmatched == {Reason.NO_WRAPPER: 2}
    assert tally.clusters["c2"].mean_confidence("name") == 1
    assert tally.total().pages == 11


def test_parts_of_a_crawl_merge_and_survive_json() -> None:
    tally = crawl(7, unpriced=2)
    tally.merge(crawl(5, unmatched=1, confidence=0.4))
    restored = CrawlTally.from_dict(json.loads(json.dumps(tally.to_dict())))
    assert restored == tally
    assert restored.total().pages == 12
    restored.add(record(99, name="Lamp"))
    assert restored.total().pages == 13


def test_a_crawl_like_those_before_raises_no_alarm() -> None:
    history = [crawl(unpriced=20), crawl(unpriced=25), crawl(unpriced=15, unmatched=2)]
    assert not failed(crawl(unpriced=27, unmatched=4), *history)
    assert not failed(crawl(unpriced=90))  # nothing to compare with


def test_pages_that_no_rules_match_are_a_change() -> None:
    assert failed(crawl(unmatched=30), crawl(), crawl()) == [(SITE, "coverage", None)]
    [alarm] = judge_crawl(crawl(unmatched=30), [crawl()])
    assert str(alarm) == (
        "site, coverage test: expected rules that match on 100% of the pages; seen 70% of 100"
    )


def test_pages_of_a_kind_that_needs_labels_do_not_count() -> None:
    tally = crawl()
    for page in range(100):
        tally.add(Record("", f"x{page}", "c2", {}, {"name": Reason.NEEDS_LABELS}))
    assert not failed(tally, crawl())


def test_values_that_no_longer_come_out_are_a_change() -> None:
    assert failed(crawl(unpriced=30), crawl(), crawl()) == [("c1", "fill", "price")]


def test_a_share_that_always_varied_may_vary() -> None:
    history = [crawl(unpriced=count) for count in (0, 40, 10, 60, 20)]
    assert not failed(crawl(unpriced=60), *history)
    assert failed(crawl(unpriced=60), *[crawl(unpriced=count) for count in (0, 1, 0, 60, 2)])


def test_few_pages_prove_nothing() -> None:
    assert not failed(crawl(3, unpriced=1), crawl(4))


def test_a_committee_that_disagrees_is_a_change() -> None:
    calm = [crawl()] * MIN_CRAWLS
    assert failed(crawl(confidence=0.4), *calm) == [
        ("c1", "agreement", "name"),
        ("c1", "agreement", "price"),
    ]
    mixed = crawl()
    mixed.merge(crawl(30, confidence=0.5))
    assert failed(mixed, *calm) == [("c1", "disagreement", "name"), ("c1", "disagreement", "price")]


def test_a_committee_is_compared_with_several_crawls_by_the_same_rules() -> None:
    divided = crawl(confidence=0.4)
    assert not failed(divided, *[crawl()] * (MIN_CRAWLS - 1))
    assert not failed(divided, *[crawl()] * MIN_CRAWLS, crawl(confidence=0.45)), "that happened before"
    assert not failed(divided, *[crawl().without_confidence()] * MIN_CRAWLS)
    assert failed(crawl(unpriced=30), crawl().without_confidence()) == [("c1", "fill", "price")]


def test_half_of_a_site_that_is_missing_is_a_change() -> None:
    assert failed(crawl(40), crawl(100), crawl(110)) == [(SITE, "pages", None)]
    assert not failed(crawl(60), crawl(100), crawl(110))
