"""Rules from one labeled page of today's recipe sites and shops, judged on the sites' other pages.

python -m benchmarks.measure.todays_pages                       both sets, all sites, peers included
python -m benchmarks.measure.todays_pages --by untemplate       ours alone
python -m benchmarks.measure.todays_pages --set recipes --half even --sites 30
python -m benchmarks.measure.todays_pages --without-scripts     pages without their scripts, so without JSON-LD
python -m benchmarks.measure.todays_pages --one-cluster         learning apart from clustering
python -m benchmarks.measure.todays_pages --no-labels           the embedded data of the pages teach
python -m benchmarks.measure.todays_pages --only jwhisky -v     these sites, with every value that is not right

A value is right if its letters and digits are those of the true one, a list if all its members are, in order.
F1 = 2 · right / (judged + right + wrong).
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import process_time

import lxml.html
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import recipes, shops
from benchmarks.data.labeled_site import LabeledSite, choose_half, keys
from benchmarks.peers import DETAIL_PEERS, PeerFailed, Uninstallable, install, run_detail_peer
from untemplate import Cluster, LabelError, Page, Record, Rules, Schema, Value, learn
from untemplate.learning import learn_cluster
from untemplate.page import signature
from untemplate.page.url_patterns import learn_url_pattern

OURS = "untemplate"
LABELED, ONE_CLUSTER, NO_LABELS = "one labeled page", "one labeled page, one cluster", "no labels"
"""How untemplate learns."""
SETS = {"recipes": recipes, "shops": shops}
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 1.01)
"""Bounds of the confidence bins; the last bin is for values that everything agrees on."""
WORST_SITES = 20
TIMED_PAGES = 10
PASSES = 3
"""Each timed page is extracted and parsed so often; the least time counts, as others use the machine."""
MAX_SHOWN = 70


@dataclass(frozen=True)
class Answer:
    """What was extracted for a field of a page, beside its true values."""

    page: str
    attribute: str
    true: Sequence[str]
    found: Sequence[str]
    confidence: float

    @property
    def verdict(self) -> str:
        """One of "right", "wrong" and "nothing"."""
        if not self.found:
            return "nothing"
        return "right" if keys(self.found) == keys(self.true) else "wrong"


@dataclass(frozen=True)
class Outcome:
    """What came of one site.

    Attributes:
        site: its name.
        answers: the fields of pages that are judged.
        labeled_answers: the same for the labeled page itself.
        other_pages: the number of pages of other kinds.
        titled_pages: how many of them got a title.
        learning: CPU seconds of learning.
        times: (extraction, parse) of some pages, CPU seconds.
        failure: why nothing could be learned; "" otherwise.
    """

    site: str
    answers: list[Answer]
    labeled_answers: list[Answer]
    other_pages: int
    titled_pages: int
    learning: float
    times: list[tuple[float, float]]
    failure: str = ""


@dataclass(frozen=True)
class Job:
    """One site, and how it is learned."""

    set: str
    name: str
    scripts: bool = True
    by: str = OURS
    learning: str = LABELED

    def read(self) -> LabeledSite | None:
        site: LabeledSite | None = SETS[self.set].read_site(self.name, self.scripts)
        return site


def evaluate(job: Job) -> Outcome | None:
    """Learn from the labeled page of a site and extract from all its pages; None if there is nothing to judge."""
    site = job.read()
    if site is None:
        return None
    return evaluate_ours(site, job.learning) if job.by == OURS else evaluate_peer(site, job.by)


def evaluate_ours(site: LabeledSite, learning: str) -> Outcome:
    """Learn with untemplate, and extract from all pages."""
    started = process_time()
    failure = ""
    try:
        rules = LEARNERS[learning](site)
    except LabelError as error:
        rules, failure = Rules(site.schema, ()), str(error)
    seconds = process_time() - started
    records = {page.id: rules.extract_one(page) for page in released(site.pages)}
    timed = [page for page in site.pages if page.id in site.truth][:TIMED_PAGES]
    return make_outcome(site, records, seconds, measure_times(rules, timed), failure)


def evaluate_peer(site: LabeledSite, peer: str) -> Outcome:
    """Let a peer learn from the labeled page, and extract from all pages; one that fails finds nothing."""
    many = [name for name, attribute in site.schema.attributes.items() if attribute.many]
    tested = {page.id: site.judged(page.id) for page in site.pages}
    failure = ""
    with TemporaryDirectory() as folder:
        for page in site.pages:
            (Path(folder) / page.id).write_bytes(page.html)
        try:
            found, times = run_detail_peer(peer, Path(folder), {site.labeled: site.given}, tested, many)
        except PeerFailed as error:
            found, times, failure = {page.id: {} for page in site.pages}, [], str(error)
    records = {page: as_record(page, texts) for page, texts in found.items()}
    return make_outcome(site, records, 0.0, times, failure)


def as_record(page: str, texts: Mapping[str, Sequence[str]]) -> Record:
    """Return what a peer found as a record."""
    values = {name: [Value(text, None, "", "") for text in found] for name, found in texts.items() if found}
    return Record("", page, None, values)


def make_outcome(
    site: LabeledSite,
    records: Mapping[str, Record],
    learning: float,
    times: list[tuple[float, float]],
    failure: str,
) -> Outcome:
    """Judge the records of a site."""
    answers: list[Answer] = []
    for page in site.truth:
        answers += judge(site, records[page])
    return Outcome(
        site.name,
        [answer for answer in answers if answer.page != site.labeled],
        [answer for answer in answers if answer.page == site.labeled],
        len(site.others),
        sum(records[page]["title"] is not None for page in site.others),
        learning,
        times,
        failure,
    )


def learn_labeled(site: LabeledSite) -> Rules:
    """Learn from the labeled page and all others."""
    return learn(site.pages, site.labels(), site.schema)


def learn_unlabeled(site: LabeledSite) -> Rules:
    """Learn from what the pages' embedded data say."""
    return learn(site.pages, schema=site.named_schema)


def learn_one_cluster(site: LabeledSite) -> Rules:
    """Learn from all detail pages of a site as if clustering had put exactly them together."""
    pages = [page for page in site.pages if page.id in site.truth]
    signatures = tuple(dict.fromkeys(signature(page.html) for page in pages))
    cluster = Cluster("c1", pages, signatures, len(pages), learn_url_pattern(page.url for page in pages))
    learned = learn_cluster(cluster, {site.labeled: site.labels()}, site.schema)
    return Rules(site.schema, (learned.wrapper,))


LEARNERS = {LABELED: learn_labeled, ONE_CLUSTER: learn_one_cluster, NO_LABELS: learn_unlabeled}


def released(pages: Iterable[Page]) -> Iterator[Page]:
    """Yield pages, and free the memory of each when the next one is asked for."""
    for page in pages:
        yield page
        page.release()


def judge(site: LabeledSite, record: Record) -> list[Answer]:
    """Return an answer for each field that is judged on the page of a record."""
    answers: list[Answer] = []
    for name, true in site.judged(record.page_id).items():
        values = record.values.get(name, [])
        found = [value.text for value in values]
        found = found if site.schema.attributes[name].many else found[:1]
        confidence = min((value.confidence for value in values), default=0.0)
        answers.append(Answer(record.page_id, name, true, found, confidence))
    return answers


def measure_times(rules: Rules, pages: Sequence[Page]) -> list[tuple[float, float]]:
    """Return CPU seconds of extraction and of the plain lxml parse for each page."""
    return [
        (_least_time(partial(_extract, rules, page)), _least_time(partial(_parse, page))) for page in pages
    ]


def _extract(rules: Rules, page: Page) -> None:
    rules.extract_page(page)
    page.release()


def _parse(page: Page) -> None:
    lxml.html.document_fromstring(page.html)


def _least_time(work: Callable[[], None]) -> float:
    times = []
    for _ in range(PASSES):
        started = process_time()
        work()
        times.append(process_time() - started)
    return min(times)


def run(jobs: Sequence[Job], processes: int) -> list[Outcome]:
    """Evaluate all sites, in so many processes."""
    os.environ["OMP_NUM_THREADS"] = "1"
    console = Console(stderr=True)
    with ProcessPoolExecutor(processes) as pool:
        outcomes = track(pool.map(evaluate, jobs), "sites", total=len(jobs), console=console, transient=True)
        return [outcome for outcome in outcomes if outcome is not None]


def f1(verdicts: Counter[str]) -> float:
    """Return 2 · right / (judged + right + wrong)."""
    total = verdicts.total() + verdicts["right"] + verdicts["wrong"]
    return 2 * verdicts["right"] / total if total else 0.0


def count_verdicts(answers: Iterable[Answer]) -> Counter[str]:
    return Counter(answer.verdict for answer in answers)


def show(console: Console, title: str, schema: Schema, outcomes: Sequence[Outcome]) -> None:
    """Print all figures of one set of sites."""
    answers, labeled = collect_answers(outcomes)
    table = Table("attribute", "judged", "right", "wrong", "nothing", "F1", "labeled page", title=title)
    for name in [*schema.attributes, ""]:
        verdicts = count_verdicts(answer for answer in answers if name in ("", answer.attribute))
        own = count_verdicts(answer for answer in labeled if name in ("", answer.attribute))
        table.add_row(
            name or "all",
            str(verdicts.total()),
            *(_share(verdicts[verdict], verdicts.total()) for verdict in ("right", "wrong", "nothing")),
            f"{f1(verdicts):.3f}",
            _share(own["right"], own.total()),
        )
    console.print(table)
    show_costs(console, outcomes)


def collect_answers(outcomes: Iterable[Outcome]) -> tuple[list[Answer], list[Answer]]:
    """Return the answers of all sites: about other pages, and about labeled pages."""
    answers: list[Answer] = []
    labeled: list[Answer] = []
    for outcome in outcomes:
        answers += outcome.answers
        labeled += outcome.labeled_answers
    return answers, labeled


def show_costs(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print what learning and extraction cost, and how many pages of other kinds got a title."""
    others = sum(outcome.other_pages for outcome in outcomes)
    if others:
        titled = sum(outcome.titled_pages for outcome in outcomes)
        console.print(f"pages of other kinds that get a title: {_share(titled, others)} of {others}")
    learning = [outcome.learning for outcome in outcomes]
    if any(learning):
        console.print(
            f"learning a site: {mean(learning):.2f} s of CPU, median {median(learning):.2f}, most {max(learning):.2f}"
        )
    failed = sum(bool(outcome.failure) for outcome in outcomes)
    if failed:
        console.print(f"failed on {failed} of {len(outcomes)} sites")
    times: list[tuple[float, float]] = []
    for outcome in outcomes:
        times += outcome.times
    if times:
        ratio = sum(extraction for extraction, _ in times) / sum(parse for _, parse in times)
        middle = median(extraction / parse for extraction, parse in times)
        console.print(f"extraction: {ratio:.2f} × the lxml parse of the same pages, median {middle:.2f}")


def show_calibration(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Print the share of right values by confidence."""
    extracted = [answer for answer in collect_answers(outcomes)[0] if answer.found]
    table = Table("confidence", "values", "right", title="calibration")
    for low, high in pairwise(BINS):
        within = [answer for answer in extracted if low <= answer.confidence < high]
        right = sum(answer.verdict == "right" for answer in within)
        table.add_row(f"{low:g} to {min(high, 1):g}", str(len(within)), _share(right, len(within)))
    above = [answer for answer in extracted if answer.confidence > 0.9]
    table.add_row("above 0.9", str(len(above)), _share(count_verdicts(above)["right"], len(above)))
    console.print(table)


def show_worst(console: Console, outcomes: Iterable[Outcome], count: int | None) -> None:
    """Print the sites with the lowest F1, and what came out there that is not right; None for all sites."""
    ranked = sorted(outcomes, key=lambda outcome: f1(count_verdicts(outcome.answers)))
    for outcome in ranked[:count]:
        failures = [answer for answer in outcome.answers if answer.verdict != "right"]
        failures += [answer for answer in outcome.labeled_answers if answer.verdict != "right"]
        if failures:
            verdicts = count_verdicts(outcome.answers)
            lines = [f"{outcome.site}: F1 {f1(verdicts):.2f} {dict(verdicts)} {outcome.failure}"]
            lines += _failure_lines(outcome, failures if count is None else _one_per_attribute(failures))
            console.print("\n    ".join(lines), markup=False, highlight=False, soft_wrap=True)


def _one_per_attribute(failures: Sequence[Answer]) -> list[Answer]:
    return list({(answer.attribute, answer.verdict): answer for answer in reversed(failures)}.values())[::-1]


def _failure_lines(outcome: Outcome, failures: Iterable[Answer]) -> Iterator[str]:
    for answer in failures:
        where = "labeled page" if answer in outcome.labeled_answers else answer.page
        found, true = _differing_part(answer.found, answer.true)
        sizes = f"{len(answer.found)} for {len(answer.true)}: " if len(answer.true) > 1 else ""
        about = f"{answer.verdict} {answer.attribute} ({where}, {answer.confidence:.2f})"
        yield f"{about}: {sizes}{found}, true is {true}"


def _differing_part(found: Sequence[str], true: Sequence[str]) -> tuple[str, str]:
    """Return the first members of two lists that differ, shortened."""
    first = 0
    for found_key, true_key in zip(keys(found), keys(true), strict=False):
        if found_key != true_key:
            break
        first += 1
    return _short(found[first : first + 1]), _short(true[first : first + 1])


def _short(texts: Sequence[str]) -> str:
    if not texts:
        return "nothing"
    text = texts[0]
    return repr(text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…")


def _share(part: int, total: int) -> str:
    return f"{part / total:.1%}" if total else "–"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.todays_pages", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--set", nargs="+", choices=SETS, default=tuple(SETS), help="only this set")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all", help="every second site")
    parser.add_argument("--sites", type=int, metavar="N", help="only so many sites of each set")
    parser.add_argument(
        "--only", nargs="+", default=(), metavar="SITE", help="only the sites with these names"
    )
    parser.add_argument("--without-scripts", action="store_true", help="remove scripts from all pages first")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--one-cluster",
        dest="learning",
        action="store_const",
        const=ONE_CLUSTER,
        default=LABELED,
        help="treat a site's detail pages as one cluster",
    )
    ways.add_argument(
        "--no-labels",
        dest="learning",
        action="store_const",
        const=NO_LABELS,
        help="learn from the embedded data of the pages",
    )
    known = (OURS, *DETAIL_PEERS)
    parser.add_argument("--by", nargs="+", choices=known, default=known, help="only these")
    parser.add_argument("--processes", type=int, default=1, metavar="N", help="processes to use")
    parser.add_argument("-v", "--verbose", action="store_true", help="list every value that is not right")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    methods = install_peers(console, options.by)
    for chosen in options.set:
        try:
            names = SETS[chosen].site_names()
        except FileNotFoundError as missing:
            console.print(f"{chosen} skipped: {missing}")
            continue
        names = choose_half(names, options.half, options.sites)
        names = [name for name in names if not options.only or name in options.only]
        for by in methods:
            jobs = [Job(chosen, name, not options.without_scripts, by, options.learning) for name in names]
            outcomes = run(jobs, options.processes)
            scripts = ", without scripts" if options.without_scripts else ""
            learning = options.learning if by == OURS else LABELED
            title = f"{by} on {chosen}: {learning}, {len(outcomes)} sites{scripts}"
            show(console, title, SETS[chosen].SCHEMA, outcomes)
            if by == OURS:
                show_calibration(console, outcomes)
                show_worst(console, outcomes, None if options.verbose else WORST_SITES)
    return 0


def install_peers(console: Console, methods: Sequence[str]) -> list[str]:
    """Install the peers among these, and return the methods that can be run."""
    usable = []
    for method in methods:
        try:
            if method != OURS:
                install(method)
            usable.append(method)
        except Uninstallable as error:
            console.print(f"{method}: does not install: {error}")
    return usable


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
