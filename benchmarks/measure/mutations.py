"""Whether damaged pages cost more than a record: mutated pages through every stage, and the slowest of them.

python -m benchmarks.measure.mutations [--count 10000] [--seed 7] [--learn-every 20]

Pages of made-up sites are damaged at random: flipped bytes, truncations, missing and repeated parts, other
encodings, broken tags, and parts of other pages. Each goes through parsing, clustering, extraction, list finding
with and without a model that names columns, and watching. Every twentieth goes through what takes longer: sampling,
learning, labeling by trained methods, and healing. Exceptions other than those that the documentation names are
failures.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import untemplate as ut
from untemplate.demo import Site, make_site

SEED, COUNT, LEARN_EVERY = 7, 10_000, 20
SLOWEST = 20
SITES = (("restaurant", 4), ("book", 5), ("recipe", 6))
PAGES_PER_SITE = 8
LABELED_PAGES = 2
METHODS = ("hcrf", "segments", "auto")
ENCODINGS = ("utf-16", "utf-7", "latin-1", "shift_jis", "utf-32", "iso2022_jp")
MAX_FLIPS = 200


class Trial(NamedTuple):
    """One damaged page in one stage: the seconds of CPU time, and what went wrong; None if nothing did."""

    seconds: float
    stage: str
    mutation: str
    page: int
    failure: str | None


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
        labeled = list(site.truth)[:LABELED_PAGES]
        self.site = site
        self.labels = [label for label in site.labels if label.page in labeled]
        self.rules = ut.learn(site.pages, self.labels, site.schema)
        seed = [(site.pages, site.labels)]
        self.knowledge = {method: ut.train(seed, site.schema, method=method) for method in METHODS}
        self.list_model = ut.list_model()

    def stages(self, page: ut.Page, with_learning: bool) -> Iterator[tuple[str, Callable[[], object]]]:
        """Yield each stage with the work that it does on a damaged page beside the others of its site."""
        others = [other for other in self.site.pages if other.id != page.id]
        yield "parse", page.why_unreadable
        yield "cluster", lambda: ut.cluster([page, *others])
        yield "extract", lambda: self.rules.extract_page(page)
        yield "records", lambda: ut.find_records(page)
        yield "names", lambda: ut.find_records(page, model=self.list_model)
        yield "watch", lambda: ut.watch(self.rules, [page])
        if with_learning:
            yield "sample", lambda: [ut.sample(cluster) for cluster in ut.cluster([page, *others])]
            yield "learn", lambda: ut.learn([page, *others], self.labels, self.site.schema)
            yield "heal", lambda: ut.heal(self.rules, [page, *others])
            for method, knowledge in self.knowledge.items():
                yield method, partial(knowledge.label, [page, *others])


def run_trials(count: int, seed: int, learn_every: int = LEARN_EVERY) -> Iterator[Trial]:
    """Damage pages and yield what each stage did with them."""
    chance = random.Random(seed)
    targets = [_Target(make_site(vertical, site_seed, PAGES_PER_SITE)) for vertical, site_seed in SITES]
    for number in range(count):
        target = chance.choice(targets)
        original, other = chance.choice(target.site.pages), chance.choice(target.site.pages)
        mutation, html = mutate(original.html, other.html, chance)
        page = ut.Page(original.url, html, original.id)
        for stage, work in target.stages(page, number % learn_every == 0):
            started = time.process_time()
            failure = _failure(work)
            yield Trial(time.process_time() - started, stage, mutation, number, failure)


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
    parser.add_argument("--learn-every", type=int, default=LEARN_EVERY)
    options = parser.parse_args(arguments)
    trials: list[Trial] = []
    with suppress(KeyboardInterrupt):  # what is done by then is shown
        trials.extend(run_trials(options.count, options.seed, options.learn_every))
    pages = len({trial.page for trial in trials})
    print(f"{pages:,} damaged pages, seed {options.seed}; CPU seconds by stage:")
    for stage in dict.fromkeys(trial.stage for trial in trials):
        seconds = sorted(trial.seconds for trial in trials if trial.stage == stage)
        print(f"  {stage:8} median {seconds[len(seconds) // 2]:.3f}  slowest {seconds[-1]:.3f}")
    print(f"The slowest {SLOWEST}:")
    for trial in sorted(trials, reverse=True)[:SLOWEST]:
        print(f"  {trial.seconds:.3f} s  {trial.stage:8} page {trial.page}: {trial.mutation}")
    failures = Counter(f"{trial.stage}: {trial.failure}" for trial in trials if trial.failure)
    print(f"Failures: {sum(failures.values())}")
    for failure, times in failures.most_common():
        print(f"  {times} × {failure}")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
