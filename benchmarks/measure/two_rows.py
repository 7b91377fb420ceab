"""How well a list rule from two labeled rows of a page does on that page, and whether no rule would do better.

python -m benchmarks.measure.two_rows              values on `courts`, and rows on all three sets
python -m benchmarks.measure.two_rows --every 6    the rows of every sixth page only
python -m benchmarks.measure.two_rows --page NAME  only pages whose name contains this, one by one
python -m benchmarks.measure.two_rows --constants  `courts`: the gate chosen on other families of courts
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import untemplate as ut
from benchmarks.data.courts import CourtPage, court_pages
from benchmarks.data.swde import Score, unpacked
from benchmarks.measure.list_rules import labels, rows, text_of
from benchmarks.measure.lists import hits, sheets
from untemplate.learning.list_rules import try_lists
from untemplate.learning.list_trials import ListGate, ListTrial, choose_trial
from untemplate.page import visible_text
from untemplate.page.locating import letters_and_digits

LABELED_ROWS = 2
# Fields of opinions that pages show as they are; dates are written differently everywhere.
FIELDS = ("docket", "name", "judge")
MIN_SHOP_ROWS = 4
PLAUSIBLE_SHARES = (0.7, 0.8, 0.9, 0.95)
FACTORS = (1.3, 1.6, 2.0, 3.0)


def court_labels(court: CourtPage, fields: Sequence[str]) -> list[ut.Label]:
    """The first two opinions of a page, by the given fields."""
    labeled = []
    for number, opinion in enumerate(court.opinions[:LABELED_ROWS]):
        for field in fields:
            if opinion.get(field):
                labeled.append(ut.Label(court.page.id, field, opinion[field], record=str(number)))
    return labeled


def fields_on_page(court: CourtPage) -> list[str]:
    """The key, and the other fields that the page shows as they are for each of the labeled opinions."""
    text = letters_and_digits(visible_text(court.page.tree))

    def is_shown(field: str) -> bool:
        values = [letters_and_digits(opinion.get(field, "")) for opinion in court.opinions[:LABELED_ROWS]]
        return all(value and value in text for value in values)

    return [court.key, *(field for field in FIELDS if field != court.key and is_shown(field))]


def value_f1(found: Iterable[str], court: CourtPage, field: str) -> float:
    """F1 of the values of a field, compared by letters and digits."""
    values = Counter(filter(None, map(letters_and_digits, found)))
    true = Counter(filter(None, (letters_and_digits(opinion.get(field, "")) for opinion in court.opinions)))
    return Score((values & true).total(), values.total(), true.total()).f1


def extracted(court: CourtPage, fields: Sequence[str]) -> dict[str, float]:
    """F1 of each field by the rule that is learned from two rows."""
    rules = ut.learn([court.page], court_labels(court, fields))
    records = rules.extract_page(court.page)
    figures: dict[str, float] = {}
    for field in fields:
        texts = [value.text for record in records for value in record.values.get(field, ())]
        figures[field] = value_f1(texts, court, field)
    return figures


def measure_courts(console: Console, progress: Console, wanted: str) -> None:
    """Print the value F1 of `courts`, with the key labeled alone and with all fields that the page shows."""
    keys: list[float] = []
    keys_of_all: list[float] = []
    fields_of_all: list[float] = []
    courts = [court for court in court_pages() if wanted in court.page.id]
    for court in track(courts, console=progress, description="Courts"):
        fields = fields_on_page(court)
        key = extracted(court, [court.key])[court.key]
        figures = extracted(court, fields)
        keys.append(key)
        keys_of_all.append(figures[court.key])
        fields_of_all.append(float(np.mean(list(figures.values()))))
        if wanted:
            rounded = {field: round(figure, 3) for field, figure in figures.items()}
            console.print(f"{court.page.id}: {court.key} alone {key:.3f}; {rounded}", markup=False)
    table = Table(
        "labeled", "value F1", "perfect", title=f"Rules from two rows, {len(courts)} pages of courts"
    )
    table.add_row("the key of each record", *mean_and_perfect(keys))
    table.add_row("all fields: values of the key", *mean_and_perfect(keys_of_all))
    table.add_row("all fields: all values", *mean_and_perfect(fields_of_all))
    console.print(table)


def mean_and_perfect(figures: Sequence[float]) -> tuple[str, str]:
    return f"{np.mean(figures):.3f}", f"{np.mean(np.array(figures) > 1 - 1e-9):.0%}"


@dataclass(frozen=True)
class RowTask:
    """A page with two labeled rows, and how many of some rows are right."""

    page: ut.Page
    labels: list[ut.Label]
    records: int
    count_right: Callable[[list[str]], int]

    def f1(self, texts: list[str]) -> float:
        return Score(self.count_right(texts), len(texts), self.records).f1

    def has_labeled_rows(self, texts: list[str]) -> bool:
        """Whether each labeled row is one of these rows, and no two are the same."""
        values: dict[str, list[str]] = {}
        for label in self.labels:
            values.setdefault(label.record or "", []).append(letters_and_digits(label.value or ""))
        rows_of = [
            {number for number, text in enumerate(texts) if all(value in text for value in own)}
            for own in values.values()
        ]
        return all(rows_of) and len(set.union(*rows_of)) >= len(rows_of)


def list_tasks() -> Iterator[RowTask]:
    """Every page of `lists` with more than two records."""
    for sheet in sheets([]):
        if len(sheet.records) > LABELED_ROWS:
            first = [label for label in labels(sheet) if int(label.record or 0) < LABELED_ROWS]

            def count_right(texts: list[str], records: list[list[str]] = sheet.records) -> int:
                return len(hits(texts, records))

            yield RowTask(sheet.page, first, len(sheet.records), count_right)


def shop_tasks() -> Iterator[RowTask]:
    """The first three pages of each shop with at least four products."""
    for folder in sorted(path for path in unpacked("shops").iterdir() if path.is_dir()):
        described = json.loads((folder / "truth.json").read_text("utf-8"))
        lists = {
            file: facts for file, facts in described.items() if len(facts.get("rows") or ()) >= MIN_SHOP_ROWS
        }
        for file, facts in list(lists.items())[:3]:
            titles = [row["title"] for row in facts["rows"]]
            page = ut.Page(
                f"https://{folder.name}.example/{facts['path']}", (folder / file).read_bytes(), file
            )
            first = [
                ut.Label(page.id, "title", title, record=str(number))
                for number, title in enumerate(titles[:LABELED_ROWS])
            ]
            keys = list(map(letters_and_digits, titles))

            def count_right(texts: list[str], keys: list[str] = keys) -> int:
                return len(hits(texts, [[key] for key in keys]))

            yield RowTask(page, first, len(titles), count_right)


def court_tasks() -> Iterator[RowTask]:
    """Every page of `courts`; a row is right if it has the key of one record, compared by letters and digits."""
    for court in court_pages():
        keys = [
            [key] for opinion in court.opinions if (key := letters_and_digits(opinion.get(court.key, "")))
        ]

        def count_right(texts: list[str], keys: list[list[str]] = keys) -> int:
            return len(hits(texts, keys))

        yield RowTask(court.page, court_labels(court, [court.key]), len(keys), count_right)


def measure_rows(console: Console, progress: Console, wanted: str, every: int) -> None:
    """Print the record F1 of rules from two rows beside that of find_records."""
    table = Table(
        "pages",
        "rule from two rows",
        "find_records",
        "worse",
        "better",
        "worse, though find_records has both rows",
        title="Record F1 on the labeled page",
    )
    for name, tasks in (("lists", list_tasks()), ("shops", shop_tasks()), ("courts", court_tasks())):
        by_rule: list[float] = []
        without: list[float] = []
        are_found: list[bool] = []
        for task in track(list(tasks)[::every], console=progress, description=name):
            if wanted and wanted not in f"{task.page.url} {task.page.id}":
                continue
            rules = ut.learn([task.page], task.labels)
            by_rule.append(task.f1([text_of(row) for row in rows(rules, task.page)]))
            found = [letters_and_digits(row.text) for row in ut.find_records(task.page)]
            without.append(task.f1(found))
            are_found.append(task.has_labeled_rows(found))
            if wanted or by_rule[-1] < without[-1]:
                console.print(
                    f"{task.page}: {by_rule[-1]:.3f}, find_records {without[-1]:.3f}, "
                    f"which has both labeled rows: {are_found[-1]}",
                    markup=False,
                )
            task.page.release()
        gains = np.array(by_rule) - np.array(without)
        is_worse = gains < -1e-9
        counts = (
            str(int(is_worse.sum())),
            str(int((gains > 1e-9).sum())),
            f"{int((is_worse & are_found).sum())} of {sum(are_found)}",
        )
        table.add_row(
            f"{len(gains)} of {name}", f"{np.mean(by_rule):.3f}", f"{np.mean(without):.3f}", *counts
        )
    console.print(table)


def trial_f1(trial: ListTrial, court: CourtPage) -> float:
    found = [
        values for record in trial.found[court.page] for values in record.get(court.key, Counter()).elements()
    ]
    return value_f1(found, court, court.key)


def measure_constants(console: Console, progress: Console) -> None:
    """Print the value F1 of `courts` for each gate, and with the best gate of the other families for each family."""
    gates = [ListGate(share, factor) for share, factor in product(PLAUSIBLE_SHARES, FACTORS)]
    families: dict[str, list[list[float]]] = {}
    for court in track(list(court_pages()), console=progress, description="Courts"):
        schema = ut.Schema("opinion", {court.key: ut.Attribute(court.key)})
        trials, _ = try_lists({court.page: court_labels(court, [court.key])}, [], schema)
        figures = [trial_f1(choose_trial(trials, gate), court) if trials else 0.0 for gate in gates]
        families.setdefault(court.family, []).append(figures)
    left_out: list[float] = []
    for family, scored in families.items():
        others = [figures for name, pages in families.items() if name != family for figures in pages]
        best = int(np.mean(others, axis=0).argmax())
        left_out += [figures[best] for figures in scored]
    means = np.mean([figures for pages in families.values() for figures in pages], axis=0)
    table = Table("share of plausible records", "factor of other records", "value F1")
    for gate, mean in zip(gates, means, strict=True):
        table.add_row(str(gate.min_plausible), str(gate.min_more), f"{mean:.3f}")
    console.print(table)
    console.print(f"chosen on other families: {np.mean(left_out):.3f}, {len(families)} families")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--page", default="", help="only pages whose name contains this, one by one")
    parser.add_argument("--every", type=int, default=1, help="the rows of every so many pages only")
    parser.add_argument(
        "--constants", action="store_true", help="choose the gate on other families of courts"
    )
    options = parser.parse_args()
    console, progress = Console(width=120), Console(stderr=True)
    if options.constants:
        measure_constants(console, progress)
        return
    measure_courts(console, progress, options.page)
    measure_rows(console, progress, options.page, options.every)


if __name__ == "__main__":
    main()
