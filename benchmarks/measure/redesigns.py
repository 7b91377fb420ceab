"""Watch and heal on the made-up web: redesigns of every strength over 40 sites, and harmless refreshes.

python -m benchmarks.measure.redesigns               alarms, repairs, and wrong values after them
python -m benchmarks.measure.redesigns -v            and, site by site, what was missed
python -m benchmarks.measure.redesigns --sites 6 --first-seed 500

Sites and redesigns with seeds from 200 on, as looked at in development; nobody looked at those from 600 on.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.progress import track
from rich.table import Table

from untemplate import Alarm, Label, Page, Rules, watch
from untemplate.demo import VERTICALS, Site, make_site
from untemplate.page import squeeze
from untemplate.pipeline import learn
from untemplate.schema import Attribute
from untemplate.watching import Healed, heal_site

STRENGTHS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0)
REFRESHES = 3  # of strength 0, for each site
LABELED = 3  # pages of each template
# An attribute is broken if it no longer comes out right on more than this share of the pages where it did.
BROKEN_SHARE = 0.05
WRONG_SHARE = 0.01

Right = dict[str, set[str]]
"""Per attribute, the pages where it comes out right."""


@dataclass(frozen=True)
class Case:
    """A site after a redesign: what was right before it, after it, and after healing."""

    site: str
    strength: float
    schema: dict[str, Attribute]
    alarms: list[Alarm]
    healing: Healed
    before: Right
    after: Right
    healed: Right
    wrong: Right  # pages with a value that is not true, after healing
    pages: int

    @property
    def is_breaking(self) -> bool:
        """Whether any value of any page that came out right no longer does."""
        return breaks(self.before, self.after)

    @property
    def broken(self) -> set[str]:
        return {name for name in self.schema if self._lost(name, self.after) > BROKEN_SHARE}

    @property
    def unhealed(self) -> set[str]:
        return {name for name in self.broken if self._lost(name, self.healed) > BROKEN_SHARE}

    @property
    def repaired(self) -> set[str]:
        return {repair.attribute for repair in self.healing.healed}

    @property
    def wrongly_healed(self) -> set[str]:
        """Attributes with a repaired rule that returns wrong values on pages where they were right before."""
        return {
            name
            for name in self.repaired
            if len(self.wrong[name] & self.before[name]) > WRONG_SHARE * len(self.before[name])
        }

    def _lost(self, name: str, now: Right) -> float:
        before = self.before[name]
        return len(before - now[name]) / len(before) if before else 0.0


def breaks(before: Right, after: Right) -> bool:
    """Whether a value of any page that came out right no longer does."""
    return any(before[name] - after[name] for name in before)


def sites(count: int, first_seed: int) -> Iterator[Site]:
    """Made-up sites of all verticals in turn."""
    verticals = list(VERTICALS)
    for seed in range(first_seed, first_seed + count):
        yield make_site(verticals[(seed - first_seed) % len(verticals)], seed)


def redesigns(site: Site) -> Iterator[tuple[float, Site]]:
    """A site at later times: refreshed, and redesigned with every strength."""
    numbers = [(0.0, number) for number in range(REFRESHES)] + [(strength, 0) for strength in STRENGTHS[1:]]
    for strength, number in numbers:
        yield strength, site.redesign(strength, number)


def learn_site(site: Site) -> Rules:
    """Rules learned from the first pages of each template that shows records."""
    return learn(site.pages, _labels(site), site.schema)


def cases(site: Site) -> Iterator[Case]:
    """All redesigns of a site."""
    rules = learn_site(site)
    before, _ = judge(rules, site)
    for strength, later in redesigns(site):
        healing = heal_site(rules, later.pages)
        after, _ = judge(rules, later)
        healed, wrong = judge(healing.rules, later)
        yield Case(
            site.name,
            strength,
            dict(site.schema.attributes),
            watch(rules, later.pages).alarms,
            healing,
            before,
            after,
            healed,
            wrong,
            len(site.truth),
        )


def _labels(site: Site) -> list[Label]:
    """The truth of the first pages of each template that shows records."""
    counts: Counter[str] = Counter()
    chosen = set()
    for page in site.pages:
        template = site.templates[page.id]
        if page.id in site.truth and counts[template] < LABELED:
            counts[template] += 1
            chosen.add(page.id)
    return [label for label in site.labels if label.page in chosen]


def judge(rules: Rules, site: Site) -> tuple[Right, Right]:
    """Per attribute, the pages with the true values, and those with others."""
    right: Right = {name: set() for name in site.schema.attributes}
    wrong: Right = {name: set() for name in site.schema.attributes}
    for record in rules.extract(_detail_pages(site)):
        for name, attribute in site.schema.attributes.items():
            found = [squeeze(value.text) for value in record.values.get(name, ())]
            true = [squeeze(text) for text in site.truth[record.page_id][name]]
            if found == true or (found and not attribute.many and found[0] in true):
                right[name].add(record.page_id)
            elif found:
                wrong[name].add(record.page_id)
    return right, wrong


def _detail_pages(site: Site) -> list[Page]:
    return [page for page in site.pages if page.id in site.truth]


def show(console: Console, found: Sequence[Case]) -> None:
    table = Table(
        *("strength", "redesigns", "breaking", "of them alarmed", "harmless", "of them alarmed"),
        *("broken attributes", "healed", "rules repaired", f"> {WRONG_SHARE:.0%} of pages wrong"),
        title="Redesigns of made-up sites",
    )
    for strength in (*STRENGTHS, None):
        own = [case for case in found if strength in (case.strength, None)]
        breaking = [case for case in own if case.is_breaking]
        harmless = [case for case in own if not case.is_breaking]
        broken, unhealed = sum(len(c.broken) for c in own), sum(len(c.unhealed) for c in own)
        table.add_row(
            "all" if strength is None else f"{strength:g}",
            str(len(own)),
            str(len(breaking)),
            _share(sum(bool(case.alarms) for case in breaking), len(breaking)),
            str(len(harmless)),
            _share(sum(bool(case.alarms) for case in harmless), len(harmless)),
            str(broken),
            _share(broken - unhealed, broken),
            str(sum(len(case.repaired) for case in own)),
            str(sum(len(case.wrongly_healed) for case in own)),
            end_section=strength == STRENGTHS[-1],
        )
    console.print(table)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""


def show_failures(console: Console, found: Sequence[Case]) -> None:
    for case in found:
        where = f"{case.site} at {case.strength:g}"
        notes = []
        if case.is_breaking and not case.alarms:
            lost = {name: len(case.before[name] - case.after[name]) for name in case.schema}
            notes.append(f"no alarm: { ({name: count for name, count in lost.items() if count}) }")
        if not case.is_breaking and case.alarms:
            notes.append(f"alarm: {'; '.join(map(str, case.alarms))}")
        for name in sorted(case.unhealed):
            why = [loss.why for loss in case.healing.lost if loss.attribute == name]
            notes.append(
                f"{name} not healed: right on {len(case.healed[name])} of {len(case.before[name])}, {why}"
            )
        notes += [
            f"{name} wrong on {len(case.wrong[name])} of {case.pages} pages"
            for name in sorted(case.wrongly_healed)
        ]
        for note in notes:
            console.print(f"{where}: {note}", highlight=False, markup=False, soft_wrap=True)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.redesigns", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sites", type=int, default=40, help="how many sites")
    parser.add_argument("--first-seed", type=int, default=200, help="the seed of the first site")
    parser.add_argument("-v", "--verbose", action="store_true", help="list what was missed")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 160)
    chosen = sites(options.sites, options.first_seed)
    progress = track(chosen, "sites", options.sites, console=Console(stderr=True), transient=True)
    found = [case for site in progress for case in cases(site)]
    show(console, found)
    if options.verbose:
        show_failures(console, found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
