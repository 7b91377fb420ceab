"""Recipe sites nobody labeled: five sites teach the vertical by their visible text, others are labeled and extracted.

python -m benchmarks.measure.unlabeled_recipes                    all other sites
python -m benchmarks.measure.unlabeled_recipes --sites 30         some of them, at equal distances
python -m benchmarks.measure.unlabeled_recipes --turn 1           other sites teach
python -m benchmarks.measure.unlabeled_recipes --labels-only -v   the labels, and every value that is not right

All scripts are removed, so that pages have no JSON-LD. The sites that teach have two or more pages with all fields;
every page of them is labeled. Of all other sites all pages are labeled by the knowledge, rules are learned from these
labels, and records extracted. A field is judged where its true values are on the page. A value is right if its
letters and digits are those of the true one, a list if all its members are, in order.
F1 = 2 · right / (judged + right + wrong).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data import recipes
from benchmarks.data.labeled_site import LabeledSite, choose_half
from benchmarks.measure.todays_pages import Answer, count_verdicts, f1
from untemplate import Knowledge, Label, LabelError, learn, train

TAUGHT_BY = 5
"""Sites that teach."""
MAX_SHOWN = 90


def labels_of_site(site: LabeledSite) -> list[Label]:
    """Return the true values of all pages of a site as labels."""
    labels: list[Label] = []
    for page, fields in site.truth.items():
        for name, values in fields.items():
            labels += [Label(page, name, value) for value in values]
    return labels


def read_sites(names: Sequence[str]) -> Iterator[LabeledSite]:
    """Yield the sites of these names that have something to judge."""
    for name in names:
        site = recipes.read_site(name, scripts=False)
        if site is not None:
            yield site


def choose_teachers(names: Sequence[str], turn: int) -> list[LabeledSite]:
    """Return five sites whose pages show all fields, spread over the alphabet; other turns choose others."""
    step = len(names) // TAUGHT_BY
    teachers: list[LabeledSite] = []
    for number in range(TAUGHT_BY):
        start = number * step + 7 * turn
        candidates = read_sites([names[(start + offset) % len(names)] for offset in range(step)])
        teachers.append(next(site for site in candidates if _shows_everything(site)))
    return teachers


def _shows_everything(site: LabeledSite) -> bool:
    fields = site.schema.attributes.keys()
    return len(site.pages) > 1 and all(fields == shown.keys() for shown in site.truth.values())


def evaluate(site: LabeledSite, knowledge: Knowledge, labels_only: bool) -> list[Answer]:
    """Label a site by knowledge, learn its rules, extract all its pages, and compare them with the truth."""
    labels = knowledge.label(site.pages)
    found: dict[tuple[str, str], list[str]] = {}
    if labels_only:
        for label in labels:
            found.setdefault((label.page, label.attribute), []).append(label.value or "")
    else:
        try:
            rules = learn(site.pages, labels, site.schema)
        except LabelError:
            return list(_answers(site, {}))
        for record in rules.extract(site.pages):
            for name, values in record.values.items():
                found[record.page_id, name] = [value.text for value in values]
    for page in site.pages:
        page.release()
    return list(_answers(site, found))


def _answers(site: LabeledSite, found: dict[tuple[str, str], list[str]]) -> Iterator[Answer]:
    for page, fields in site.truth.items():
        for name, true in fields.items():
            texts = found.get((page, name), [])
            texts = texts if site.schema.attributes[name].many else texts[:1]
            yield Answer(page, name, true, texts, 1.0)


def show(console: Console, answers: Sequence[Answer], sites: int) -> None:
    table = Table("attribute", "judged", "right", "wrong", "nothing", "F1", title=f"recipes, {sites} sites")
    for name in [*recipes.SCHEMA.attributes, ""]:
        verdicts = count_verdicts(answer for answer in answers if name in ("", answer.attribute))
        shares = [verdicts[verdict] / max(1, verdicts.total()) for verdict in ("right", "wrong", "nothing")]
        cells = [f"{share:.1%}" for share in shares]
        table.add_row(name or "all", str(verdicts.total()), *cells, f"{f1(verdicts):.3f}")
    console.print(table)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.unlabeled_recipes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", type=int, metavar="N", help="only so many sites, at equal distances")
    parser.add_argument("--turn", type=int, default=0, metavar="N", help="which sites teach")
    parser.add_argument(
        "--labels-only", action="store_true", help="judge the labels, not what rules make of them"
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="list what is not right")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    try:
        names = recipes.site_names()
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    teachers = choose_teachers(names, options.turn)
    knowledge = train([(site.pages, labels_of_site(site)) for site in teachers], recipes.SCHEMA)
    taught = {site.name for site in teachers}
    tested = choose_half([name for name in names if name not in taught], "all", options.sites)
    answers: list[Answer] = []
    for site in track(list(read_sites(tested)), "sites", console=Console(stderr=True), transient=True):
        of_site = evaluate(site, knowledge, options.labels_only)
        answers += of_site
        if options.verbose:
            for answer in of_site:
                if answer.verdict != "right":
                    texts = f"{list(answer.found)} / {list(answer.true)}"
                    line = f"{site.name} {answer.page} {answer.attribute}: {texts[: 4 * MAX_SHOWN]}"
                    console.print(line, markup=False, highlight=False, soft_wrap=True)
    show(console, answers, len(tested))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
