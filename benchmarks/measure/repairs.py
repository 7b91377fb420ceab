"""Rules learned on an old page, watched and healed on the same page after time passed: 166 pairs of recipe pages.

python -m benchmarks.measure.repairs               how often a broken rule raises an alarm, and heals
python -m benchmarks.measure.repairs -v            and, pair by pair, where it does not
python -m benchmarks.measure.repairs --sites mob_1
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from benchmarks.measure.changes import SCHEMA, Pair, Texts, by_rules, learn_ours, open_pairs, plain, usable
from untemplate import Alarm, Rules, Schema, heal, watch

# What a recipe says does not change by nature; the title must be there.
WATCHED = Schema(
    SCHEMA.name, {name: replace(attribute, constant=True) for name, attribute in SCHEMA.attributes.items()}
)


@dataclass(frozen=True)
class Case:
    """A pair whose rules were watched and healed."""

    pair: Pair
    alarms: list[Alarm]
    old: dict[str, Texts]  # what the rules find on the old page
    before: dict[str, Texts]  # what they find on the new page
    after: dict[str, Texts]  # what the healed ones do
    names: set[str]

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
    learned = learn_ours(pair, names)
    rules = Rules(WATCHED, learned.wrappers)
    fresh = [pair.new]
    old, before = by_rules(rules)(pair.old), by_rules(rules)(pair.new)
    after = by_rules(heal(rules, fresh))(pair.new)
    case = Case(pair, watch(rules, fresh).alarms, old, before, after, names)
    pair.old.release()
    pair.new.release()
    return case


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
    console, verbose, chosen = open_pairs("repairs", __doc__, arguments)
    cases = []
    for pair in chosen:
        names, _ = usable(pair)
        if names:
            cases.append(examine(pair, names))
    show(console, cases)
    if verbose:
        show_failures(console, cases)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
