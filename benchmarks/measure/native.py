"""The native core beside lxml: the same trees on every page of the data sets, and on pages made at random.

On random pages, what random selectors select is compared, too, with and without the core.

python -m benchmarks.measure.native                         all pages of all data sets, and 100,000 random ones
python -m benchmarks.measure.native --sets courts recipes   these sets
python -m benchmarks.measure.native --random 1000000 --seed 3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from lxml import etree
from rich.console import Console
from rich.progress import track

from benchmarks.data.html_noise import make_noise
from benchmarks.data.swde import unpacked
from untemplate import Page
from untemplate.errors import PageError
from untemplate.page import Node
from untemplate.page.captions import static_key, text_after, text_before
from untemplate.rules.applying import apply_rule
from untemplate.rules.feature import CAPTION, Feature
from untemplate.rules.node_selection import select
from untemplate.rules.rule import Region, Rule, Selector, Wrapper
from untemplate.rules.value_range import Range
from untemplate.schema import Attribute

SETS = ("blogs", "changes", "courts", "lists", "recipes", "shops", "swde")
SHOWN = 300

_Nodes = list[tuple[Any, ...]]


def find_difference(html: bytes) -> tuple[object, object] | None:
    """Return the first nodes in which the trees of the core and of lxml differ; None if they do not."""
    native, plain = _nodes(html, is_plain=False), _nodes(html, is_plain=True)
    for mine, theirs in zip(native, plain, strict=False):
        if mine != theirs:
            return mine, theirs
    return None if len(native) == len(plain) else (len(native), len(plain))


def _nodes(html: bytes, is_plain: bool) -> _Nodes:
    """Return depth, tag, text, tail and attributes of every node, in document order; why there are none otherwise."""
    page = Page(html=html)
    try:
        root = page.tree if is_plain else page.root
    except PageError as error:
        return [(str(error),)]
    nodes: _Nodes = []
    waiting = [(root, 0)]
    while waiting:
        element, depth = waiting.pop()
        if element.tag is etree.Comment:
            nodes.append((depth, "comment", element.tail))
            continue
        tail = element.tail if depth else None
        nodes.append((depth, element.tag, element.text, tail, element.items()))
        waiting += reversed([(child, depth + 1) for child in element.iterchildren()])
    return nodes


def find_selection_difference(html: bytes, random: Random) -> tuple[object, object] | None:
    """Return what a random selector selects with and without the core, if that differs; else None."""
    page, plain = Page(html=html), Page(html=html)
    if plain.why_unreadable() is not None or not plain.nodes:
        return None
    if plain.tree.tail or plain.tree.getnext() is not None:  # after `</html x>`, which the core leaves out
        return None
    node = random.choice(plain.nodes)
    texts = [one for one in plain.nodes if one.is_text]
    static = frozenset(static_key(one.parent, one.text) for one in random.sample(texts, len(texts) // 2))
    features = random.sample(list(_features_of(node, texts)), random.randint(0, 2))
    region = Region((Feature("tag", 1, (random.choice([*node.parent.iterancestors(), node.parent]).tag,)),))
    kind = random.choice(("text()", "element()", node.kind if node.is_attribute else "text()"))
    selector = Selector(
        kind,
        tuple(features),
        random.choice((0, 0, 1, -1)),
        region=random.choice((None, None, region, Region(region.features, 1))),
    )
    try:
        etree.XPath(selector.xpath)
    except (etree.XPathError, ValueError):  # of characters that XPath cannot contain
        return None
    found, expected = (
        [(one.numbered_xpath, one.text) for one in select(selector, tree, static)]
        for tree in (page.root, plain.tree)
    )
    if found != expected:
        return (selector, found), expected
    return _find_rule_difference(selector, (page.root, plain.tree), static, random)


def _find_rule_difference(
    selector: Selector, trees: tuple[etree._Element, etree._Element], static: frozenset[str], random: Random
) -> tuple[object, object] | None:
    """Return what a rule with this selector finds on the tree of the core and on that of lxml, if that differs."""
    members = tuple(replace(selector, features=selector.features[:end], position=0) for end in range(3))
    range_ = random.choice((None, Range(start=0, stop=1), Range(after="a")))
    rule = Rule("x", (selector,), members, range=range_, typed=random.random() < 0.5)
    attribute = Attribute("x", type=random.choice(("text", "number")), many=random.random() < 0.3)
    wrapper = Wrapper("c", (), 1, "*", {"x": rule}, static=tuple(static))
    found, expected = (
        [
            (match.node.numbered_xpath, match.text, match.rule, match.confidence)
            for match in apply_rule(rule, tree, wrapper, attribute)
        ]
        for tree in trees
    )
    return None if found == expected else ((rule, attribute, found), expected)


def _features_of(node: Node, texts: Sequence[Node]) -> Iterator[Feature]:
    """Yield features of a node, some of which other nodes have, too."""
    ancestors = [node.parent, *node.parent.iterancestors()]
    for level, element in enumerate(ancestors[:3], 1):
        yield Feature("tag", level, (element.tag,))
        yield Feature("class", level, (element.get("class", ""),))
        for name, value in element.items():
            yield Feature("id" if name == "id" else f"@{name}", level, (value,))
    for sibling in node.parent.itersiblings("*", preceding=True):
        yield Feature("preceding-sibling-tag-1", 1, (sibling.tag,))
        break
    yield Feature("preceding-sibling-tag-1", 0, ("", "b"))
    yield Feature("following-sibling-tag-1", 0, ("", "b"))
    before, after = text_before(node), text_after(node)
    yield Feature("out-left-text", 0, (before,))
    yield Feature("out-left-word", 0, (before.rpartition(" ")[2],))
    yield Feature("out-right-text", 0, (after,))
    yield Feature("out-right-word", 0, (after.partition(" ")[0],))
    yield Feature("inside-left-text", 0, (node.text[:2],))
    yield Feature("inside-right-text", 0, (node.text[-2:],))
    yield Feature("inside-word", 0, (node.text.split(" ")[0],))
    if texts:
        yield Feature(CAPTION, 0, tuple({texts[0].text, texts[len(texts) // 2].text}))


def pages_of(data_set: str) -> Iterator[Path]:
    """Yield the HTML files of a data set."""
    for path in sorted(unpacked(data_set).rglob("*")):
        if path.suffix in (".htm", ".html"):
            yield path


def compare_pages(console: Console, data_set: str) -> int:
    """Print the pages of a data set whose trees differ, and return how many there are."""
    paths = list(pages_of(data_set))
    differing = 0
    for path in track(paths, data_set, console=Console(stderr=True), transient=True):
        if difference := find_difference(path.read_bytes()):
            differing += 1
            console.print(f"{path}: {difference}"[:SHOWN], markup=False)
    console.print(f"{data_set}: {len(paths):,} pages, {differing} differ")
    return differing


def compare_random(console: Console, count: int, seed: int) -> int:
    """Print the random pages whose trees differ, and return how many there are."""
    random = Random(seed)
    differing = 0
    for _ in track(range(count), "random", console=Console(stderr=True), transient=True):
        html = make_noise(random)
        if difference := find_difference(html) or find_selection_difference(html, random):
            differing += 1
            console.print(f"{html!r}: {difference}"[:SHOWN], markup=False)
    console.print(f"random: {count:,} pages of seed {seed}, {differing} differ")
    return differing


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.measure.native", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--sets", nargs="*", choices=SETS, default=SETS, help="only these")
    parser.add_argument("--random", type=int, default=100_000, metavar="N", help="so many random pages")
    parser.add_argument("--seed", type=int, default=1, help="of the random pages")
    options = parser.parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 140)
    differing = sum(compare_pages(console, data_set) for data_set in options.sets)
    differing += compare_random(console, options.random, options.seed)
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
