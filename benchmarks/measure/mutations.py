"""Whether damaged pages cost more than a record: mutated pages through every stage, and the slowest of them.

python -m benchmarks.measure.mutations [--count 10000] [--seed 7]

Pages of made-up sites are damaged at random: flipped bytes, truncations, missing and repeated parts, other
encodings, broken tags, and parts of other pages. Each goes alone through parsing, extraction, list finding with and
without a model that names columns, and watching. Twenty of a site at a time, beside its good pages, go through the
stages that read a whole site: clustering, sampling, learning, healing, and labeling by three trained methods in turn.
Exceptions other than those that the documentation names are failures.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import cycle
from typing import NamedTuple

import untemplate as ut
from untemplate.demo import Site, make_site

SEED, COUNT = 7, 10_000
SLOWEST = 20
SITES = (("restaurant", 7), ("job", 5), ("recipe", 8))  # with small pages
PAGES_PER_SITE = 8
LABELED_PAGES = 2
TRAINING_PAGES = 3  # of each site; the methods need not be good at it
DAMAGED_PAGES = 20  # that go through the stages of a whole site together
METHODS = ("hcrf", "segments", "auto")
ENCODINGS = ("utf-16", "utf-7", "latin-1", "shift_jis", "utf-32", "iso2022_jp")
MAX_FLIPS = 200


class Trial(NamedTuple):
    """One stage with a damaged page, or with several of a site.

    Attributes:
        seconds: the CPU time.
        stage: the name of the stage.
        page: the number of the page, or of the first one.
        damage: the kind of damage, or how many damaged pages there were.
        failure: what went wrong; None if nothing did.
    """

    seconds: float
    stage: str
    page: int
    damage: str
    failure: str | None


class _Damaged(NamedTuple):
    """A damaged page with its number and the kind of damage."""

    number: int
    damage: str
    page: ut.Page


def mutate(html: bytes, other: bytes, chance: random.Random) -> tuple[str, bytes]:
    """Return the name of a kind of damage, and the HTML with it."""
    name = chance.choice(list(_MUTATIONS))
    return name, _MUTATIONS[name](html, other, chance)


def _cut(html: bytes, chance: random.Random) -> tuple[int, int]:
    start, end = sorted(chance.randrange(len(html) + 1) for _ in range(2))
    return start, end


def _flip(html: bytes, other: bytes, chance: random.Random) -> bytes:
    data = bytearray(html)
    for _ in range(chance.randrange(1, MAX_FLIPS)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data)


def _remove(html: bytes, other: bytes, chance: random.Random) -> bytes:
    start, end = _cut(html, chance)
    return html[:start] + html[end:]


def _repeat(html: bytes, other: bytes, chance: random.Random) -> bytes:
    start, end = _cut(html, chance)
    return html[:end] + html[start:end] * chance.randrange(1, 4) + html[end:]


def _splice(html: bytes, other: bytes, chance: random.Random) -> bytes:
    return html[: chance.randrange(len(html))] + other[chance.randrange(len(other)) :]


def _encode(html: bytes, other: bytes, chance: random.Random) -> bytes:
    return html.decode("utf-8", "replace").encode(chance.choice(ENCODINGS), "replace")


def _break_tags(html: bytes, other: bytes, chance: random.Random) -> bytes:
    sign, replacement = chance.choice([b"<", b">", b'"', b"/"]), chance.choice([b"", b"<!--", b"&#x", b"<"])
    return html.replace(sign, replacement, chance.randrange(1, 400))


_MUTATIONS: dict[str, Callable[[bytes, bytes, random.Random], bytes]] = {
    "flipped bytes": _flip,
    "truncated": lambda html, other, chance: html[: chance.randrange(len(html))],
    "a part missing": _remove,
    "a part repeated": _repeat,
    "spliced": _splice,
    "another encoding": _encode,
    "broken tags": _break_tags,
}


class _Target:
    """A site with its rules, whose pages are damaged."""

    def __init__(self, site: Site) -> None:
        details = list(site.truth)
        self.site = site
        self.labels = [label for label in site.labels if label.page in details[:LABELED_PAGES]]
        self.rules = ut.learn(site.pages, self.labels, site.schema)
        seed = [([page for page in site.pages if page.id in details[:TRAINING_PAGES]], site.labels)]
        self.knowledge = {method: ut.train(seed, site.schema, method=method) for method in METHODS}
        self.list_model = ut.list_model()

    def damage(self, numbers: Sequence[int], chance: random.Random) -> list[_Damaged]:
        """Return damaged pages. The first one takes the place of a good page, the others are new ones of the site."""
        damaged: list[_Damaged] = []
        for number in numbers:
            original, other = chance.choice(self.site.pages), chance.choice(self.site.pages)
            kind, html = mutate(original.html, other.html, chance)
            name = f"damaged-{number}.html" if damaged else original.id
            damaged.append(_Damaged(number, kind, ut.Page(original.url, html, name)))
        return damaged

    def page_stages(self, page: ut.Page) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the stages that read a single page, each with its work on a damaged one."""
        yield "parse", page.why_unreadable
        yield "extract", lambda: self.rules.extract_page(page)
        yield "records", lambda: ut.find_records(page)
        yield "names", lambda: ut.find_records(page, model=self.list_model)
        yield "watch", lambda: ut.watch(self.rules, [page])

    def site_stages(
        self, damaged: Sequence[ut.Page], method: str
    ) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield the stages that read a site, each with its work on damaged pages beside the good ones."""
        replaced = {page.id for page in damaged}
        pages = [*damaged, *(page for page in self.site.pages if page.id not in replaced)]
        yield "cluster", lambda: ut.cluster(pages)
        yield "sample", lambda: ut.sample(pages, DAMAGED_PAGES)
        yield "learn", lambda: ut.learn(pages, self.labels, self.site.schema)
        yield "heal", lambda: ut.heal(self.rules, pages)
        yield method, lambda: self.knowledge[method].label(pages)


def run_trials(
    count: int, seed: int, sites: Sequence[tuple[str, int]] = SITES, together: int = DAMAGED_PAGES
) -> Iterator[Trial]:
    """Damage pages and yield what each stage did with them.

    Args:
        count: how many pages to damage.
        seed: the seed of the damage.
        sites: the made-up sites whose pages are damaged: vertical and seed.
        together: how many damaged pages of a site go through the stages of a whole site together.
    """
    chance = random.Random(seed)
    targets = [_Target(make_site(vertical, site_seed, PAGES_PER_SITE)) for vertical, site_seed in sites]
    for first, method in zip(range(0, count, together), cycle(METHODS), strict=False):
        target = chance.choice(targets)
        damaged = target.damage(range(first, min(count, first + together)), chance)
        for number, kind, page in damaged:
            for stage, work in target.page_stages(page):
                yield _try_stage(stage, work, number, kind)
        for stage, work in target.site_stages([page for _, _, page in damaged], method):
            yield _try_stage(stage, work, first, f"{len(damaged)} damaged pages")


def _try_stage(stage: str, work: Callable[[], object], page: int, damage: str) -> Trial:
    started = time.process_time()
    failure = _failure(work)
    return Trial(time.process_time() - started, stage, page, damage, failure)


def _failure(work: Callable[[], object]) -> str | None:
    """Return the exception that some work raises, unless it is one that users are told to expect."""
    try:
        work()
    except ut.InputError:
        return None
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:80]}"
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args(arguments)
    trials: list[Trial] = []
    with suppress(KeyboardInterrupt):  # what is done by then is shown
        trials.extend(run_trials(options.count, options.seed))
    pages = sum(trial.stage == "parse" for trial in trials)
    print(f"{pages:,} damaged pages, seed {options.seed}; CPU seconds by stage:")
    for stage in dict.fromkeys(trial.stage for trial in trials):
        seconds = sorted(trial.seconds for trial in trials if trial.stage == stage)
        print(f"  {stage:8} median {seconds[len(seconds) // 2]:.3f}  slowest {seconds[-1]:.3f}")
    print(f"The slowest {SLOWEST}:")
    for trial in sorted(trials, reverse=True)[:SLOWEST]:
        print(f"  {trial.seconds:.3f} s  {trial.stage:8} page {trial.page:,}: {trial.damage}")
    failures = Counter(f"{trial.stage}: {trial.failure}" for trial in trials if trial.failure)
    print(f"Failures: {sum(failures.values())}")
    for failure, times in failures.most_common():
        print(f"  {times} × {failure}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
