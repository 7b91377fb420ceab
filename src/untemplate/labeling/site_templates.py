"""The templates of a site: each is searched by itself, and those that list many records are ignored."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from lxml import etree

from untemplate.clustering import cluster
from untemplate.labeling.label import Finding, Label, merge_findings
from untemplate.labeling.methods import Model
from untemplate.lists.list_page import find_records
from untemplate.lists.rows import Rows
from untemplate.page import Node, Page
from untemplate.schema import Schema

__all__ = [
    "MIN_TEMPLATE_PAGES",
    "drop_list_templates",
    "find_in_rounds",
    "find_on_site",
    "is_list_template",
    "pages_of_labeled_templates",
    "split_templates",
]

# A template with fewer pages, or a smaller share of the site's pages, is ignored: its static text is unknown.
MIN_TEMPLATE_PAGES, MIN_TEMPLATE_SHARE = 5, 0.1
# Pages of a template that are checked for lists.
LIST_CHECK_PAGES = 3
# Records that make a list.
MIN_LIST_RECORDS = 3
# The share of a list's records that have a value in a column.
MIN_COLUMN_FILL = 0.5
# Findings with at least this confidence are clear. If enough pages lack a clear finding or a mandatory attribute,
# treat them as a separate template.
MIN_CLEAR_CONFIDENCE = 0.5


def find_on_site(model: Model, pages: Sequence[Page], schema: Schema) -> list[Finding]:
    """Return a finding for each attribute, in the order of the schema, on pages of a site that nobody labeled.

    The model searches each template by itself. Findings on templates that list many records are dropped.
    """
    templates = split_templates(pages)
    findings_by_template = [_complete(model.find(template, schema), schema) for template in templates]
    kept = drop_list_templates(findings_by_template, schema)
    page_count = sum(len(templates[number]) for number in kept)
    by_attribute = zip(*(findings_by_template[number] for number in kept), strict=True)
    return _complete([merge_findings(findings, page_count) for findings in by_attribute], schema)


def find_in_rounds(
    find: Callable[[Sequence[Page], Schema], Iterable[Finding]], pages: Sequence[Page], schema: Schema
) -> list[Finding]:
    """Find on all pages of a template; then, while many pages lack something, search those by themselves.

    Clustering by structure can miss a template that differs in details. On the remaining pages the values may be
    elsewhere.
    """
    by_attribute: dict[str, list[Finding]] = {}
    rest, min_pages = pages, _min_pages(len(pages))
    while rest:
        findings = list(find(rest, schema))
        done = _finished_pages(findings, schema)
        unfinished = [page for page in rest if id(page) not in done]
        is_last = not done or len(unfinished) < min_pages
        for finding in findings:
            part = finding if is_last else finding.on_pages(done)
            by_attribute.setdefault(finding.attribute, []).append(part)
        rest = [] if is_last else unfinished
    return [merge_findings(findings, len(pages)) for findings in by_attribute.values()]


def _finished_pages(findings: Sequence[Finding], schema: Schema) -> set[int]:
    """Return the pages, by `id()`, with a clear finding and with each mandatory attribute that other pages have."""
    finished: set[int] = set()
    for finding in findings:
        if finding.confidence >= MIN_CLEAR_CONFIDENCE:
            finished |= finding.page_ids()
    for finding in findings:
        if finding.found and schema.attributes[finding.attribute].mandatory:
            finished &= finding.page_ids()
    return finished


def _complete(findings: Sequence[Finding], schema: Schema) -> list[Finding]:
    """Return a finding per attribute in the order of the schema; "not found" where there is none."""
    by_name = {finding.attribute: finding for finding in findings}
    return [by_name.get(name) or Finding(name, 0.0, (), 0.0, False) for name in schema.attributes]


def split_templates(pages: Sequence[Page]) -> list[Sequence[Page]]:
    """Return the pages of each template that has enough of them; all pages as one template if none has."""
    min_pages = _min_pages(len(pages))
    return [template.pages for template in cluster(pages) if len(template.pages) >= min_pages] or [pages]


def _min_pages(page_count: int) -> float:
    return max(MIN_TEMPLATE_PAGES, MIN_TEMPLATE_SHARE * page_count)


def pages_of_labeled_templates(pages: Sequence[Page], labels: Iterable[Label]) -> list[Page]:
    """Return the pages of templates with at least one labeled page. Only these show which of its texts are static."""
    named = {label.page for label in labels}
    kept: list[Page] = []
    for template in cluster(pages):
        if any(page.is_named_in(named) for page in template.pages):
            kept += template.pages
    return kept


# Templates that list many records


def drop_list_templates(findings: Sequence[Sequence[Finding]], schema: Schema) -> list[int]:
    """Return the numbers of the templates that do not list many records, from the findings on each.

    If all seem to, keep the one with the surest findings: a page about a car may list its engines and their prices.
    """
    if len(findings) < 2:
        return list(range(len(findings)))
    kept = [
        number for number, on_template in enumerate(findings) if not is_list_template(on_template, schema)
    ]
    return kept or [max(range(len(findings)), key=lambda number: _total_confidence(findings[number]))]


def _total_confidence(findings: Sequence[Finding]) -> float:
    return sum(finding.confidence for finding in findings if finding.found)


class _FoundValue(NamedTuple):
    node: Node
    confidence: float


def is_list_template(findings: Sequence[Finding], schema: Schema) -> bool:
    """Return True if these findings belong to one row of a list rather than to a page about one record.

    A list page shows many records, so labeling it as a detail page would pick one of them at random. We call a
    template a list if most findings lie inside the page's main list and each attribute fills its own column of that
    list. The facts of a single record, in a list of captions and values, are all in the same column.
    """
    values_by_page: defaultdict[int, list[_FoundValue]] = defaultdict(list)
    pages: dict[int, Page] = {}
    for finding in findings:
        if not finding.found or schema.attributes[finding.attribute].many:
            continue
        for page, node in finding.places:
            if not node.is_attribute:
                pages[id(page)] = page
                values_by_page[id(page)].append(_FoundValue(node, finding.confidence))
    richest = sorted(values_by_page, key=lambda number: -len(values_by_page[number]))[:LIST_CHECK_PAGES]
    verdicts = [_is_in_list(pages[number], values_by_page[number]) for number in richest]
    return sum(verdicts) * 2 > len(verdicts)


def _is_in_list(page: Page, values: Sequence[_FoundValue]) -> bool:
    """Return True if the values in columns of the page's main list are surer, in total, than those elsewhere."""
    rows = find_records(page)
    if len(rows) < MIN_LIST_RECORDS:
        return False
    main_list = _MainList(rows, values[0].node.parent.getroottree().getroot())
    columns: dict[int, float] = {}
    elsewhere = 0.0
    for node, confidence in values:
        column = main_list.column_of(node)
        if column is None:
            elsewhere += confidence
        else:
            columns[column] = max(columns.get(column, 0.0), confidence)
    return len(columns) > 1 and sum(columns.values()) > elsewhere


class _MainList:
    """The records of a page's main list in a tree; the page may have been parsed again since the tree was built."""

    def __init__(self, rows: Rows, root: etree._Element) -> None:
        self._rows = rows
        self._position = {element: number for number, element in enumerate(root.iter())}
        self._first_elements = [root.xpath(row.xpath)[0] for row in rows]
        self._starts = [self._position[element] for element in self._first_elements]

    def column_of(self, node: Node) -> int | None:
        """Return the column of the cell that contains a node's text, if most rows have that column."""
        number = bisect(self._starts, self._position[node.parent]) - 1
        if number < 0 or self._first_elements[number].getparent() not in node.parent.iterancestors():
            return None
        for column, cell in enumerate(self._rows[number].cells):
            if cell is not None and node.text in cell:
                return column if self._fill(column) >= MIN_COLUMN_FILL else None
        return None

    def _fill(self, column: int) -> float:
        """Return the share of rows with a value in a column."""
        return sum(row.cells[column] is not None for row in self._rows) / len(self._rows)
