"""List pages with their true records (`lists`, `courts`, `shops`, `blogs`), and how found records are scored."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from benchmarks.data.courts import court_pages
from benchmarks.data.post_lists import post_lists
from benchmarks.data.swde import Score, unpacked
from untemplate import Page
from untemplate.layout import EstimatedLayout, Layout
from untemplate.lists import Row
from untemplate.lists.group_scores import GROUP_FEATURES, score_groups
from untemplate.lists.groups import Group, drop_hidden_members
from untemplate.lists.list_page import ListPage
from untemplate.lists.page_tree import Run
from untemplate.page import visible_text
from untemplate.page.arrays import Doubles
from untemplate.page.locating import letters_and_digits

__all__ = [
    "SAME_SCORE",
    "Sheet",
    "all_post_sheets",
    "complete_words",
    "court_sheets",
    "hits",
    "post_sheets",
    "sheets",
    "shop_sheets",
]

# Pages of shops with fewer products are not scored.
MIN_PRODUCTS = 4
# Scores that count as equal, and the share that a group loses which has hardly any of its records' text.
SAME_SCORE = 0.02
INNER_PENALTY = 0.5


Matcher = Callable[[Sequence[str], Sequence[Sequence[str]]], dict[int, int]]
"""Maps each detected record that is right to a true one, such as `hits`."""


@dataclass(frozen=True)
class Sheet:
    """A list page with its true records: of each the letters of its cells, those left out that are nowhere on it."""

    site: str
    page: Page
    records: list[list[str]]
    #: the records as they are given, cell by cell
    given: list[list[str]]
    #: of each record how many of its cells are left out
    otherwise: list[int]
    #: how texts are compared
    normalize: Callable[[str], str] = letters_and_digits
    #: False if a record is known by its key only, such as its title
    has_cells: bool = True
    #: True if all records of the page are known as the page writes them
    is_complete: bool = False
    layout: Layout = field(default_factory=EstimatedLayout)

    @cached_property
    def found(self) -> ListPage:
        return ListPage(self.page, self.layout)

    @cached_property
    def f1(self) -> Doubles:
        """The score of each group of the page, were it chosen."""
        return np.array([self._score(group, hits).f1 for group in self.found.groups])

    def literal_f1(self, number: int) -> float:
        """Return the score of a group as the README of the data defines it: `literal_hits` instead of `hits`."""
        return self._score(self.found.groups[number], literal_hits).f1

    @cached_property
    def _texts(self) -> list[str]:
        return [self.normalize(text) if text else "" for text in self.found.tree.texts]

    @property
    def wanted(self) -> Doubles:
        """How much each group is wanted: its score, less for inner parts of records that are known by a key only.

        A part with the key alone scores as well as the complete record. The complete one has the most text.
        """
        if self.has_cells or not len(self.f1):
            return self.f1
        coverage = self.found.features[:, list(GROUP_FEATURES).index("coverage")]
        largest = coverage[self.f1 >= self.f1.max() - SAME_SCORE].max()
        wanted: Doubles = self.f1 * (1 - INNER_PENALTY * np.clip(1 - coverage / largest, 0, 1))
        return wanted

    @property
    def perfect(self) -> float:
        """The score of the true records themselves: below 1 if the cells of a record all occur in another one."""
        return len(hits(["|".join(row) for row in self.records], self.records)) / len(self.records)

    @property
    def literal_perfect(self) -> float:
        """The score of the true records themselves as the README of the data defines it."""
        return len(literal_hits(["|".join(row) for row in self.records], self.records)) / len(self.records)

    def rows(self, weights: Doubles) -> list[Row]:
        """What is found with these weights."""
        return self.found.rows(self.best_group(weights), 1.0)

    def best_group(self, weights: Doubles) -> Group:
        """The group that is chosen with these weights."""
        return self.found.groups[int(np.argmax(score_groups(self.found.features, weights)))]

    def match(self, runs: Sequence[Run], match: Matcher | None = None) -> dict[int, int]:
        """Map each of these runs that is right to its true record, both by their numbers."""
        texts, end = self._texts, self.found.tree.end
        found = [_collapse("".join("".join(texts[row : end[row]]) for row in run)) for run in runs]
        return (match or hits)(found, self.records)

    def _score(self, group: Group, match: Matcher) -> Score:
        runs = drop_hidden_members(self.found.profile, group).runs
        return Score(len(self.match(runs, match)), len(runs), len(self.records))


def sheets(sites: Sequence[str] = ()) -> Iterator[Sheet]:
    """The list pages of these sites of `lists`, or of all."""
    for path in sorted(unpacked("lists").glob("*/*.html")):
        site = path.parent.name
        if sites and site not in sites:
            continue
        page = Page(html=path.read_bytes(), id=f"{site}/{path.name}")
        with path.with_suffix(".csv").open(encoding="utf-8", errors="replace", newline="") as file:
            yield _make_sheet(site, page, list(csv.reader(file)))


def court_sheets() -> Iterator[Sheet]:
    """The pages of `courts`; a record is its key, its site the family of the court."""
    for court in court_pages():
        keys = [[opinion.get(court.key, "")] for opinion in court.opinions]
        sheet = _make_sheet(court.family, court.page, keys, complete_words, has_cells=False)
        if len(sheet.records) * 2 < len(keys):
            sheet = _make_sheet(court.family, court.page, keys, has_cells=False)
        yield sheet


def shop_sheets() -> Iterator[Sheet]:
    """The pages of `shops` that list four or more products; a record is its title."""
    for path in sorted(unpacked("shops").glob("*/truth.json")):
        site = path.parent.name
        for file, facts in json.loads(path.read_text("utf-8")).items():
            titles = [[row["title"]] for row in facts.get("rows", ())]
            if len(titles) >= MIN_PRODUCTS:
                url = f"https://{site}.example/{facts['path']}"
                page = Page(url=url, html=(path.parent / file).read_bytes(), id=f"{site}/{file}")
                yield _make_sheet(site, page, titles, complete_words, has_cells=False)


def post_sheets() -> Iterator[Sheet]:
    """The pages of `blogs` that list several posts; a record is the text of its link."""
    return (sheet for sheet in all_post_sheets() if len(sheet.records) > 1)


def all_post_sheets() -> Iterator[Sheet]:
    """The pages of `blogs` that list posts, also those of a single one."""
    for listed in post_lists(("blogs",)):
        given = [[title] for title in listed.titles.values()]
        records = [[complete_words(title)] for [title] in given]
        page = Page(listed.page.url, listed.page.html, f"{listed.site}/{listed.page.id}")
        yield Sheet(
            listed.site,
            page,
            records,
            given,
            [0] * len(given),
            complete_words,
            has_cells=False,
            is_complete=True,
        )


def complete_words(text: str) -> str:
    """Return the words of a text with a blank around each, so that a docket is found as a whole or not at all."""
    words = re.findall(r"[^\W_]+", text.casefold())
    return f" {' '.join(words)} " if words else ""


def _make_sheet(
    site: str,
    page: Page,
    given: Iterable[Sequence[str]],
    normalize: Callable[[str], str] = letters_and_digits,
    has_cells: bool = True,
) -> Sheet:
    text = normalize(visible_text(page.tree))
    rows = [list(row) for row in given]
    cells = [[cell for raw in row if (cell := normalize(raw))] for row in rows]
    on_page = [([cell for cell in row if cell in text], len(row)) for row in cells]
    known = [(row, count - len(row)) for row, count in on_page if row]
    records, missing = [row for row, _ in known], [count for _, count in known]
    return Sheet(site, page, records, rows, missing, normalize, has_cells)


def _collapse(words: str) -> str:
    """Return words with one blank between them: each text begins and ends with one."""
    return words.replace("  ", " ")


def literal_hits(found: Sequence[str], records: Sequence[Sequence[str]]) -> dict[int, int]:
    """Map each detected record that is right to a true one, as the README of the data defines it.

    It is right if its text contains all cells of exactly one true record. Equal records are not told apart. Each true
    record counts once.

    Args:
        found: the letters and digits of the detected records.
        records: the cells of the true records, as letters and digits.
    """
    return _match_records(found, records, lambda inside: inside)


def hits(found: Sequence[str], records: Sequence[Sequence[str]]) -> dict[int, int]:
    """Map each detected record that is right to a true one; a perfect answer is all right.

    Unlike by `literal_hits`, a record whose cells all occur in the cells of another one does not count beside it: a
    text with the larger one contains both.
    """
    return _match_records(found, records, _without_parts)


def _match_records(
    found: Sequence[str],
    records: Sequence[Sequence[str]],
    keep: Callable[[list[frozenset[str]]], list[frozenset[str]]],
) -> dict[int, int]:
    equal: dict[frozenset[str], list[int]] = {}
    for number, cells in enumerate(records):
        equal.setdefault(frozenset(cells), []).append(number)
    pairs: dict[int, int] = {}
    for number, text in enumerate(found):
        inside = keep([cells for cells in equal if all(cell in text for cell in cells)])
        if len(inside) == 1 and equal[inside[0]]:
            pairs[number] = equal[inside[0]].pop(0)
    return pairs


def _without_parts(records: list[frozenset[str]]) -> list[frozenset[str]]:
    return [cells for cells in records if not _is_part_of_another(cells, records)]


def _is_part_of_another(cells: frozenset[str], records: Iterable[frozenset[str]]) -> bool:
    others = (" ".join(record) for record in records if record != cells)
    return any(all(cell in other for cell in cells) for other in others)
