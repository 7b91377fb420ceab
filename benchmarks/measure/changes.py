"""Rules learned on an old page alone, applied to the same page after time passed: 166 pairs of recipe pages.

python -m benchmarks.measure.changes               how often the right values still come out
python -m benchmarks.measure.changes -v            and, pair by pair, where ours does not
python -m benchmarks.measure.changes --sites mob_1
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lxml import etree
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks.data.swde import clean, unpacked
from untemplate import Attribute, Label, Page, Rules, Schema, learn

SCHEMA = Schema(
    "recipe",
    {
        "title": Attribute("title", mandatory=True),
        "author": Attribute("author"),
        "ingredients": Attribute("ingredients", many=True),
        "instructions_list": Attribute("instructions_list", many=True),
    },
)
# Of 166 pairs 133 share all tag paths, 15 have an overlap of 0.5 to 0.97, 18 one below 0.5.
REDESIGNED_BELOW = 0.5

Texts = list[str]
Method = Callable[[Page], dict[str, Texts]]


@dataclass(frozen=True)
class Pair:
    """A page before and after, with its true values."""

    site: str
    group: str
    old: Page
    new: Page
    old_truth: dict[str, Texts]
    new_truth: dict[str, Texts]


def pairs(names: Sequence[str] = ()) -> list[Pair]:
    folder = unpacked("changes")
    rows = map(json.loads, (folder / "pairs.jsonl").read_text("utf-8").splitlines())
    return [_pair(folder, row) for row in rows if not names or row["site"] in names]


def _pair(folder: Path, row: dict[str, Any]) -> Pair:
    url = row["new_truth"]["canonical_url"]
    overlap = row["overlap"]
    old, new = (Page(url, (folder / row[side]).read_bytes(), row[side]) for side in ("old", "new"))
    truth = _truth(row["new_truth"])
    group = "redesigned" if overlap < REDESIGNED_BELOW else "changed" if overlap < 1 else "untouched"
    return Pair(
        row["site"], group, old, new, _truth(row["old_truth"]) if "old_truth" in row else truth, truth
    )


def _truth(values: dict[str, Any]) -> dict[str, Texts]:
    lists = {name: values.get(name) or [] for name in SCHEMA.attributes}
    return {
        name: [clean(text) for text in ([found] if isinstance(found, str) else found)]
        for name, found in lists.items()
    }


def plain(text: str) -> str:
    """Letters and digits only, case ignored: the truths were made by other tools, which tidy texts up."""
    return re.sub(r"[\W_]+", "", text).casefold()


def text_of(page: Page) -> str:
    return " ".join(node.text for node in page.nodes if not node.is_attribute)


def usable(pair: Pair) -> tuple[set[str], Counter[tuple[str, str]]]:
    """The attributes that can be judged, and why others cannot."""
    old, new = text_of(pair.old), plain(text_of(pair.new))
    kept: set[str] = set()
    left_out: Counter[tuple[str, str]] = Counter()
    for name in SCHEMA.attributes:
        before, after = pair.old_truth[name], pair.new_truth[name]
        if not before or not after:
            left_out[name, "no truth"] += 1
        elif not all(value in old for value in before):
            left_out[name, "not on the old page"] += 1
        elif not all(plain(value) in new for value in after):
            left_out[name, "not on the new page"] += 1
        else:
            kept.add(name)
    return kept, left_out


def learn_ours(pair: Pair, names: set[str]) -> Rules:
    labels = [Label(pair.old.id, name, value) for name in sorted(names) for value in pair.old_truth[name]]
    return learn([pair.old], labels, SCHEMA)


def paper_choice(rules: Rules) -> Rules:
    """The paper's choice alone: the first of the committee, or, where the search found none, the first selector."""
    wrappers = []
    for wrapper in rules.wrappers:
        own = {
            name: replace(rule, selectors=(rule.committee or rule.selectors)[:1], committee=())
            for name, rule in wrapper.rules.items()
        }
        wrappers.append(replace(wrapper, rules=own))
    return Rules(rules.schema, tuple(wrappers))


def by_rules(rules: Rules) -> Method:
    def extract(page: Page) -> dict[str, Texts]:
        found = rules.extract_one(page).values
        return {name: [value.text for value in values] for name, values in found.items()}

    return extract


def by_absolute_xpath(pair: Pair, names: set[str]) -> Method:
    """As copied from developer tools; for several values, without the numbers in which these differ."""
    xpaths = {name: _absolute_xpath(pair.old, pair.old_truth[name]) for name in names}

    def extract(page: Page) -> dict[str, Texts]:
        found = {name: page.tree.xpath(xpath) for name, xpath in xpaths.items() if xpath}
        return {name: [clean(" ".join(node.itertext())) for node in nodes] for name, nodes in found.items()}

    return extract


def _absolute_xpath(page: Page, values: Texts) -> str | None:
    places = [_element(page.tree, value) for value in values]
    tree = page.tree.getroottree()
    paths = [tree.getpath(place).split("/") for place in places if place is not None]
    if not paths:
        return None
    if len({tuple(re.sub(r"\[\d+\]", "", step) for step in path) for path in paths}) > 1:
        return " | ".join("/".join(path) for path in paths)
    steps = (
        steps[0] if len(set(steps)) == 1 else steps[0].partition("[")[0] for steps in zip(*paths, strict=True)
    )
    return "/".join(steps)


def _element(tree: etree._Element, value: str) -> etree._Element | None:
    """The innermost of the first visible elements whose text is the value."""
    wanted = plain(value)
    body = tree.find("body")
    for element in (tree if body is None else body).iter(etree.Element):
        if element.tag not in ("script", "style") and _plain_text(element) == wanted:
            inner = [
                child for child in element.iterdescendants(etree.Element) if _plain_text(child) == wanted
            ]
            return inner[-1] if inner else element
    return None


def _plain_text(element: etree._Element) -> str:
    return plain("".join(element.itertext()))


@dataclass(frozen=True)
class Verdict:
    """What a method gave for an attribute of a pair."""

    pair: Pair
    attribute: str
    by: str
    found: Texts

    @property
    def is_right(self) -> bool:
        """Whether the values are the true ones, in their order."""
        return [plain(text) for text in self.found] == [
            plain(text) for text in self.pair.new_truth[self.attribute]
        ]

    @property
    def outcome(self) -> str:
        return "right" if self.is_right else "wrong" if self.found else "nothing"


METHODS = ("absolute XPath", "paper's choice", "untemplate")


def judge(pair: Pair, names: set[str]) -> Iterator[Verdict]:
    rules = learn_ours(pair, names)
    methods = (by_absolute_xpath(pair, names), by_rules(paper_choice(rules)), by_rules(rules))
    for by, extract in zip(METHODS, methods, strict=True):
        found = extract(pair.new)
        for name in sorted(names):
            yield Verdict(pair, name, by, found.get(name, []))
    pair.old.release()
    pair.new.release()


def show(console: Console, verdicts: Sequence[Verdict], left_out: Counter[tuple[str, str, str]]) -> None:
    table = Table("pairs", "attribute", "judged", *METHODS, title="The right values come out (wrong ones do)")
    for group in ("redesigned", "changed", "untouched"):
        for name in (*SCHEMA.attributes, "all"):
            own = [v for v in verdicts if v.pair.group == group and name in (v.attribute, "all")]
            counts = {by: Counter(v.outcome for v in own if v.by == by) for by in METHODS}
            judged = counts[METHODS[0]].total()
            if judged:
                cells = [f"{c['right'] / judged:.1%} ({c['wrong'] / judged:.1%})" for c in counts.values()]
                table.add_row(group, name, str(judged), *cells, end_section=name == "all")
    console.print(table)
    reasons = ("no truth", "not on the old page", "not on the new page")
    table = Table("pairs", "attribute", *reasons, title="Not judged")
    for group in ("redesigned", "changed", "untouched"):
        for name in SCHEMA.attributes:
            table.add_row(group, name, *(str(left_out[group, name, reason]) for reason in reasons))
    totals = (sum(count for (_, _, why), count in left_out.items() if why == reason) for reason in reasons)
    table.add_section()
    table.add_row("all", "all", *map(str, totals))
    console.print(table)


def show_failures(console: Console, verdicts: Sequence[Verdict]) -> None:
    by_pair: defaultdict[tuple[str, str], dict[str, Verdict]] = defaultdict(dict)
    for verdict in verdicts:
        by_pair[verdict.pair.new.id, verdict.attribute][verdict.by] = verdict
    for (page, name), judged in by_pair.items():
        ours = judged["untemplate"]
        if not ours.is_right:
            others = ", ".join(f"{by} {verdict.outcome}" for by, verdict in judged.items())
            true = ours.pair.new_truth[name]
            console.print(
                f"{ours.pair.group} {page} {name}: {others}\n"
                f"    found {len(ours.found)}: {str(ours.found)[:150]}\n    true {len(true)}: {str(true)[:150]}",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )


def open_pairs(name: str, doc: str | None, arguments: Sequence[str]) -> tuple[Console, bool, Iterator[Pair]]:
    """Where to print, whether in detail, and the pairs that were asked for; ends where the data does not exist."""
    parser = argparse.ArgumentParser(
        prog=f"python -m benchmarks.measure.{name}", description=(doc or "").partition("\n")[0]
    )
    parser.add_argument("--sites", nargs="+", default=(), metavar="SITE", help="only these, such as mob_1")
    parser.add_argument("-v", "--verbose", action="store_true", help="list where it fails")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        chosen = pairs(options.sites)
    except FileNotFoundError as missing:
        console.print(f"skipped: {missing}")
        sys.exit(0)
    return (
        console,
        options.verbose,
        iter(track(chosen, "pairs", console=Console(stderr=True), transient=True)),
    )


def main(arguments: Sequence[str]) -> int:
    console, verbose, chosen = open_pairs("changes", __doc__, arguments)
    verdicts: list[Verdict] = []
    left_out: Counter[tuple[str, str, str]] = Counter()
    for pair in chosen:
        names, reasons = usable(pair)
        left_out.update({(pair.group, name, why): count for (name, why), count in reasons.items()})
        if names:
            verdicts += judge(pair, names)
    show(console, verdicts, left_out)
    if verbose:
        show_failures(console, verdicts)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
