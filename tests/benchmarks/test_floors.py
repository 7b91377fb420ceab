"""Quick floors of quality on a few real sites: a floor may rise, not sink.

The whole benchmarks are commands (`docs/benchmarks.md`). The corpus is pinned: with other files the floors mean
nothing, so a test whose files differ fails rather than compares.
"""

import hashlib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import mean

import pytest

from benchmarks.data import swde
from benchmarks.measure import changes, noise, rules

# One site of each vertical, every fourth page, two of them labeled: (F1, precision).
SWDE_EVERY = 4
SWDE_LABELED = 2
SWDE_FLOORS = {
    "auto-msn": (1.0, 1.0),
    "book-borders": (0.987, 0.987),
    "nbaplayer-yahoo": (1.0, 1.0),
    "restaurant-zagat": (1.0, 1.0),
}
SWDE_HASH = "31489e98586cf1b5"

# Mean F1 of these sites, every eighth page, if this share of the labels is wrong.
NOISE_EVERY = 8
NOISE_FLOOR = (0.2, 0.99)

# The pairs whose pages changed: shares of judged attributes whose right values come out, and of wrong ones.
CHANGES_FLOOR = 0.93
CHANGES_CEILING_WRONG = 0.045  # 2 of 48
CHANGES_HASH = "3a1d65a38a237765"


def hash_of(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for path in files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


@pytest.fixture(scope="module")
def floor_sites():
    try:
        sites = swde.chosen_sites(swde.VERTICALS, (), SWDE_EVERY)
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    return {name: site for site in sites if (name := f"{site.vertical}-{site.name}") in SWDE_FLOORS}


@pytest.fixture(scope="module")
def changed_pairs():
    try:
        pairs = changes.pairs()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))
    return [pair for pair in pairs if pair.group == "changed"]


def test_sites_are_those_the_floors_were_set_on(floor_sites):
    files = [path for site in floor_sites.values() for path in (*site.files(), *site.truth_files())]
    assert hash_of(files) == SWDE_HASH


def test_pairs_are_those_the_floors_were_set_on(changed_pairs):
    folder = swde.unpacked("changes")
    files = [folder / page.id for pair in changed_pairs for page in (pair.old, pair.new)]
    assert hash_of([folder / "pairs.jsonl", *files]) == CHANGES_HASH


@pytest.mark.parametrize("name", SWDE_FLOORS)
def test_rules_reach_their_floor(name, floor_sites):
    outcome = rules.evaluate(rules.Job(floor_sites[name], rules.OURS, SWDE_LABELED))
    f1, precision = SWDE_FLOORS[name]
    assert outcome.f1 >= f1, outcome.misses
    assert outcome.precision >= precision, outcome.misses


def test_wrong_labels_cost_little(floor_sites):
    share, floor = NOISE_FLOOR
    f1: dict[str, float] = {}
    for name, site in floor_sites.items():
        found = noise.measure_swde(replace(site, every=NOISE_EVERY), share, list(noise.KINDS), draw=1)
        f1[name] = mean(found.values())
    assert mean(f1.values()) >= floor, f1


def test_rules_survive_changes(changed_pairs):
    counts: Counter[tuple[str, str]] = Counter()
    for pair in changed_pairs:
        names, _ = changes.usable(pair)
        counts.update((verdict.by, verdict.outcome) for verdict in changes.judge(pair, names))
    judged = counts.total() / len(changes.METHODS)
    right = {by: counts[by, "right"] / judged for by in changes.METHODS}
    assert right["untemplate"] >= CHANGES_FLOOR
    assert right["untemplate"] >= max(right["absolute XPath"], right["paper's choice"])
    assert counts["untemplate", "wrong"] / judged <= CHANGES_CEILING_WRONG
