"""Rules watched and healed on real pages after time passed: 166 pairs of recipe pages, and the posts of two blogs.

python -m benchmarks.measure.repairs               how often a broken rule raises an alarm, and heals
python -m benchmarks.measure.repairs -v            and, pair by pair, where it does not
python -m benchmarks.measure.repairs --sites mob_1 southhill

Rules for recipes are learned from the old page alone, those for a blog from two labeled posts and all others.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import unpacked
from benchmarks.measure.changes import (
    REDESIGNED_BELOW,
    SCHEMA,
    Pair,
    Texts,
    by_rules,
    learn_ours,
    pairs,
    plain,
    usable,
)
from untemplate import Alarm, Attribute, Label, Page, Rules, Schema, learn, watch
from untemplate.watching import heal_site

# What a recipe says does not change by nature; the title must be there.
WATCHED = Schema(
    SCHEMA.name, {name: replace(attribute, constant=True) for name, attribute in SCHEMA.attributes.items()}
)
# A post keeps its title and its date.
POST = Schema(
    "post",
    {
        "title": Attribute("title", mandatory=True, constant=True),
        "date": Attribute("date", "date", constant=True),
    },
)
BLOG_TIMES = (("before", "after"), ("after", "now"))
LABELED_POSTS = 2


@dataclass(frozen=True)
class Case:
    """A pair whose rules were watched and healed."""

    pair: Pair
    alarms: list[Alarm]
    old: dict[str, Texts]  # what the rules find on the old page
    before: dict[str, Texts]  # what they find on the new page
    after: dict[str, Texts]  # what the healed ones do
    names: set[str]
    repaired: set[str] = field(default_factory=set)  # attributes whose rule was learned again

    def _right(self, found: dict[str, Texts]) -> set[str]:
        truth = self.pair.new_truth
        return {name for name in self.names if _same(found.get(name, []), truth[name])}

    @property
    def broken(self) -> set[str]:
        """Attributes that come out right on the old page, and do not on the new one."""
        learned = {name for name in self.names if _same(self.old.get(name, []), self.pair.old_truth[name])}
        return learned - self._right(self.before)

    @property
    def healable(self) -> set[str]:
        """Broken attributes whose values are what they were, and still on the page."""
        return {name for name in self.broken if _same(self.pair.old_truth[name], self.pair.new_truth[name])}

    @property
    def unhealed(self) -> set[str]:
        return self.healable - self._right(self.after)

    @property
    def is_right(self) -> bool:
        """Whether all values come out right on the new page."""
        return self._right(self.before) == self.names

    @property
    def spoilt(self) -> set[str]:
        """Attributes that came out right before healing and do not after it."""
        return self._right(self.before) - self._right(self.after)

    @property
    def wrong(self) -> set[str]:
        return {name for name in self.names - self._right(self.after) if self.after.get(name)}


def _same(some: Texts, others: Texts) -> bool:
    return [plain(text) for text in some] == [plain(text) for text in others]


def examine(pair: Pair, names: set[str]) -> Case:
    """Watch and heal one page with rules learned from its old version."""
    rules = Rules(WATCHED, learn_ours(pair, names).wrappers)
    [case] = _examine_site(rules, [(pair, names)])
    return case


def _examine_site(rules: Rules, judged: Sequence[tuple[Pair, set[str]]]) -> list[Case]:
    """Watch and heal the new versions of some pages, all of one site."""
    fresh = [pair.new for pair, _ in judged]
    alarms, healed = watch(rules, fresh).alarms, heal_site(rules, fresh)
    repaired = {repair.attribute for repair in healed.healed}
    extract, extract_healed = by_rules(rules), by_rules(healed.rules)
    cases = []
    for pair, names in judged:
        texts = extract(pair.old), extract(pair.new), extract_healed(pair.new)
        cases.append(Case(pair, alarms, *texts, names, repaired & names))
        pair.old.release()
        pair.new.release()
    return cases


def blogs(names: Sequence[str]) -> Iterator[list[Pair]]:
    """Yield the posts of each blog that are stored at two times."""
    for folder in sorted(path for path in unpacked("blogs").iterdir() if path.is_dir()):
        truth = json.loads((folder / "truth.json").read_text("utf-8"))
        for old, new in BLOG_TIMES:
            posts = [file for file in truth.get(old, ()) if file in truth.get(new, ())]
            if posts and (not names or folder.name in names):
                found = [_post_pair(folder, truth, file, old, new) for file in posts]
                if any(pair.old.html != pair.new.html for pair in found):
                    yield found


def _post_pair(folder: Path, truth: dict[str, Any], file: str, old: str, new: str) -> Pair:
    url = f"https://{folder.name}.example/{truth[new][file]['path']}"
    pages = [Page(url, (folder / time / file).read_bytes(), file) for time in (old, new)]
    values = [{name: [truth[time][file][name]] for name in POST.attributes} for time in (old, new)]
    paths = [{node.path for node in page.nodes} for page in pages]
    overlap = len(paths[0] & paths[1]) / len(paths[0] | paths[1])
    group = "redesigned" if overlap < REDESIGNED_BELOW else "changed" if overlap < 1 else "untouched"
    return Pair(folder.name, group, pages[0], pages[1], values[0], values[1])


def examine_blog(posts: Sequence[Pair]) -> list[Case]:
    """Watch and heal a blog with rules learned from a few labeled posts of its old version."""
    labels = []
    for pair in posts[:LABELED_POSTS]:
        labels += [Label(pair.old.id, name, text) for name, [text] in pair.old_truth.items()]
    rules = learn([pair.old for pair in posts], labels, POST)
    return _examine_site(rules, [(pair, set(POST.attributes)) for pair in posts])


def show(console: Console, cases: Sequence[Case]) -> None:
    table = Table(
        "pairs", "", "number", "alarm", "healed", "wrong after", title="Watch and heal, page by page"
    )
    for group in ("redesigned", "changed", "untouched", "all"):
        for what, *cells in rows([case for case in cases if group in (case.pair.group, "all")]):
            table.add_row(group, what, *cells)
        table.add_section()
    console.print(table)


def rows(cases: Sequence[Case]) -> Iterator[tuple[str, ...]]:
    """Lines of the table: what is counted, how many, and the shares of these."""
    right = [case for case in cases if case.is_right]
    wrong = [case for case in cases if not case.is_right]
    broken = [case for case in cases if case.broken]
    healable = [case for case in broken if case.healable]
    attributes, unhealed = sum(len(c.healable) for c in healable), sum(len(c.unhealed) for c in healable)
    yield "a value is not right", str(len(wrong)), _share(bool(case.alarms) for case in wrong)
    yield "and was on the old page", str(len(broken)), _share(bool(case.alarms) for case in broken)
    yield "and is still there", str(len(healable)), "", _share(not case.unhealed for case in healable)
    yield "attributes of these", str(attributes), "", _share(n >= unhealed for n in range(attributes))
    repaired = sum(len(case.repaired) for case in cases)
    wrong_rules = sum(len(case.repaired & case.wrong) for case in cases)
    yield (
        "values of rules learned again",
        str(repaired),
        "",
        "",
        _share(n < wrong_rules for n in range(repaired)),
    )
    alarms, spoilt = _share(bool(case.alarms) for case in right), _share(bool(case.spoilt) for case in right)
    yield "all values are right", str(len(right)), alarms, "", spoilt


def _share(tests: Iterable[bool]) -> str:
    results = list(tests)
    return f"{sum(results) / len(results):.1%}" if results else ""


def show_failures(console: Console, cases: Sequence[Case]) -> None:
    for case in cases:
        page = case.pair.new.id
        if case.broken and not case.alarms:
            console.print(f"no alarm: {page} {sorted(case.broken)}", highlight=False)
        if case.is_right and case.alarms:
            console.print(
                f"false alarm: {page} {[str(alarm) for alarm in case.alarms]}", highlight=False, markup=False
            )
        for name in sorted(case.unhealed | case.spoilt):
            found, true = case.after.get(name, []), case.pair.new_truth[name]
            console.print(
                f"{'spoilt' if name in case.spoilt else 'not healed'}: {page} {case.pair.group} {name}\n"
                f"    golden {len(case.pair.old_truth[name])}: {str(case.pair.old_truth[name])[:150]}\n"
                f"    found {len(found)}: {str(found)[:150]}\n    true {len(true)}: {str(true)[:150]}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.repairs", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as mob_1")
    parser.add_argument("--half", choices=("even", "odd", "all"), default="all", help="of the recipe sites")
    parser.add_argument("-v", "--verbose", action="store_true", help="list where it fails")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        recipes, all_blogs = pairs(options.sites), list(blogs(options.sites))
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        return 0
    chosen = {"even": recipes[::2], "odd": recipes[1::2], "all": recipes}[options.half]
    cases: list[Case] = []
    for posts in all_blogs:
        cases += examine_blog(posts)
    for pair in track(chosen, "pairs", console=Console(stderr=True), transient=True):
        names, _ = usable(pair)
        if names:
            cases.append(examine(pair, names))
    show(console, cases)
    if options.verbose:
        show_failures(console, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
