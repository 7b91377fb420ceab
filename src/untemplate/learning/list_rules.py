"""Labels of several records of list pages to the rules of such pages: where records stand, and what is in each.

The records are found by the paper's search (Vertex III-C.2) among all elements instead of texts. Each is then a small
page of its own, from which the rules of its attributes are learnt as from any page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from lxml import etree

from untemplate.errors import PageError
from untemplate.labeling import Label
from untemplate.labeling.list_labels import Located, locate
from untemplate.learning.attributes import AttributeReport, learn_rules
from untemplate.learning.features import node_features
from untemplate.learning.sample_table import Table
from untemplate.learning.search import Search, disjunctions
from untemplate.learning.selectors import MAX_COMMITTEE, places_of
from untemplate.page import Node, Page
from untemplate.page.xpaths import NumberedXPaths
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import RecordRule, Rule, Selector
from untemplate.schema import Schema

__all__ = ["LearnedList", "learn_list"]

T = TypeVar("T")
_TAGS = re.compile(r"(/[a-z][a-z0-9]*)+")

# Records whose features are looked at, labelled records that rules are learnt from, others they generalise over.
SOME = 200
LABELLED = 40
OTHERS = 40
# Records labelled, at least, and their share of those that look alike, if others were left out on purpose. From 0.4
# to 0.7 record F1 on `lists` is the same.
AT_LEAST = 5
MANY = 0.6
# How deep inside a record it is looked for what others lack.
DEPTH = 4
# Pages besides the labelled ones on which a rule should find records, and from which such others come.
PAGES = 5


@dataclass
class LearnedList:
    """What was learnt from list pages: no record rule, no other rules; `problems` says why."""

    records: RecordRule | None = None
    rules: dict[str, Rule] = field(default_factory=dict)
    static: tuple[str, ...] = ()
    reports: list[AttributeReport] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def learn_list(
    labelled: Mapping[Page, Sequence[Label]], others: Sequence[Page], schema: Schema
) -> LearnedList:
    """The rules of list pages from readable pages with labels of records, and others of their kind."""
    learned = LearnedList()
    located: dict[Page, list[Located]] = {}
    for page, labels in labelled.items():
        try:
            records = locate(page, labels)
        except PageError as error:
            learned.problems.append(f"{page.id}: {error}")
            continue
        missing = _not_located(page, labels, records)
        learned.problems += missing
        if records:
            located[page] = records if missing else _without_strangers(records)
    if not located:
        return learned
    others = others[:PAGES]
    learned.records = _learn_records(located, others)
    if learned.records is None:
        learned.problems.append("no rule tells the labelled records from the rest of their page")
        return learned
    parts = _parts(located)
    known = _spread([part for part, labels in parts if labels], LABELLED)
    more = [part for part, labels in parts if not labels]
    more += [part for page in others for part in split_records(learned.records, page)]
    labels_of = dict(parts)
    table = Table([*known, *_spread(more, OTHERS)])
    given = {number: labels_of[part] for number, part in enumerate(known)}
    learned.rules, learned.reports = learn_rules(table, given, schema)
    learned.static = tuple(sorted(table.static))
    return learned


def _without_strangers(records: Sequence[Located]) -> list[Located]:
    """The records without those that were left out on purpose, if so many are labelled that it must be so.

    What stands beside labelled records and is made like them is none of these: it was forgotten.
    """
    labelled = [record for record in records if record.labels]
    if len(labelled) < max(AT_LEAST, MANY * len(records)):
        return list(records)
    heads = [record.elements[0] for record in labelled]
    places = {(head.getparent(), head.tag, head.get("class")) for head in heads}
    inside = [_paths_inside(head) for head in heads]
    shared, known = set.intersection(*inside), set.union(*inside)

    def is_alike(head: etree._Element) -> bool:
        place = (head.getparent(), head.tag, head.get("class"))
        return place in places and shared <= _paths_inside(head) <= known

    return [record for record in records if record.labels or is_alike(record.elements[0])]


def _not_located(page: Page, labels: Sequence[Label], located: Sequence[Located]) -> list[str]:
    placed = {label.record for one in located for label in one.labels}
    missing = dict.fromkeys(label.record for label in labels if label.record not in placed)
    return [
        f"{page.id}: labels of the whole page left out, since records of it are labelled"
        if name is None
        else f"{page.id}: record {name}: its values do not stand together on the page"
        for name in missing
    ]


class _Elements(Table):
    """All elements of pages that hold some text."""

    def _nodes(self, page: Page) -> list[Node]:
        texts = (node.parent for node in page.nodes if node.is_text)
        speaking: set[etree._Element] = set()
        for element in texts:
            while element is not None and element not in speaking:
                speaking.add(element)
                element = element.getparent()
        return [Node(one, "element", "") for one in page.tree.iter(etree.Element) if one in speaking]


def _learn_records(located: Mapping[Page, Sequence[Located]], others: Sequence[Page]) -> RecordRule | None:
    """Where records begin: the most general precise descriptions, each using nothing that another uses."""
    table = _Elements([*located, *others])
    row_of = {node.element: row for row, node in enumerate(table.rows)}
    records = [record for found in located.values() for record in found]
    heads = [row for record in records if (row := row_of.get(record.elements[0])) is not None]
    search = Search(table, heads, range(len(located)), (1 << len(table)) - 1, many=True)
    features = disjunctions([node_features(table, row) for row in _spread(heads, SOME)])
    selectors: list[Selector] = []
    holds = ""
    while features and len(selectors) < MAX_COMMITTEE:
        best = search.best_by_distance(features)
        if best is None or (selectors and not best.is_precise):
            break
        if not best.is_precise:
            selected = {row for page in range(len(located)) for row in table.on_page(best.bits, page)}
            holds = _what_tells(table, heads, selected.difference(heads))
        selectors.append(Selector("element()", best.features, support=round(best.support, 3)))
        used = places_of(best.features)
        features = {feature for feature in features if not places_of([feature]) & used}
    if not selectors:
        return None
    following = [element for record in records for element in record.elements[1:]]
    return RecordRule(
        tuple(selectors),
        holds,
        max(len(record.elements) for record in records) - 1,
        tuple(sorted({element.tag for element in following})),
    )


def _what_tells(table: Table, heads: Sequence[int], others: Collection[int]) -> str:
    """The path of tags inside all heads that the fewest others have, the shortest of such; empty if all have all."""
    shared = set.intersection(*(_paths_inside(table.rows[row].element) for row in heads))
    left = {path: sum(table.rows[row].element.find(path) is not None for row in others) for path in shared}
    best = min(left, key=lambda path: (left[path], path.count("/"), path), default="")
    return best if best and left[best] < len(others) else ""


def _paths_inside(element: etree._Element) -> set[str]:
    found: set[str] = set()
    level = [("", element)]
    for _ in range(DEPTH):
        level = [(f"{path}/{one.tag}", one) for path, around in level for one in around.iterchildren("*")]
        found.update(path[1:] for path, _ in level if _TAGS.fullmatch(path))
    return found


def _parts(located: Mapping[Page, Sequence[Located]]) -> list[tuple[RecordPage, list[Label]]]:
    """Each located record as a page, with its labels."""
    parts = []
    for page, records in located.items():
        paths = NumberedXPaths()
        for position, record in enumerate(records, 1):
            part = RecordPage(page, record.elements, position, paths)
            parts.append((part, [_inside(label, page, part) for label in record.labels]))
    return parts


def _inside(label: Label, page: Page, part: RecordPage) -> Label:
    """The label of a place in the page as one of the same place in the part."""
    if label.xpath is None:
        return label
    try:
        results = page.tree.xpath(label.xpath)
    except etree.XPathError:
        return label
    copies = {
        one: copy
        for whole, top in zip(part.elements, part.tree, strict=True)
        for one, copy in zip(whole.iter(), top.iter(), strict=True)
    }
    for result in results if isinstance(results, list) else []:
        is_element = isinstance(result, etree._Element)
        copy = copies.get(result if is_element else result.getparent())
        if copy is not None:
            kind = "element" if is_element else f"@{result.attrname}" if result.is_attribute else "text"
            kind = "tail" if not is_element and result.is_tail else kind
            return replace(label, xpath=Node(copy, kind, "").xpath)
    return label


def _spread(items: Sequence[T], count: int) -> list[T]:
    """So many of the items, evenly spread."""
    return list(items[:: max(1, -(-len(items) // count))])
