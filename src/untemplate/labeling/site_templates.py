"""The templates of a site: each is searched by itself, and those that list many records are ignored."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Sequence

from untemplate.clustering import cluster
from untemplate.labeling.finding import Finding, merge
from untemplate.labeling.label import Label
from untemplate.labeling.methods import Model
from untemplate.lists.list_page import find_records
from untemplate.lists.row import Rows
from untemplate.page import Node, Page
from untemplate.schema import Schema

__all__ = [
    "MIN_TEMPLATE",
    "MIN_TEMPLATE_SHARE",
    "are_of_lists",
    "find_in_rounds",
    "find_on_site",
    "split",
    "with_labels",
    "without_lists",
]

# Pages of a template that are labelled, at least, and their share of all: fewer tell too little of what is static.
MIN_TEMPLATE, MIN_TEMPLATE_SHARE = 5, 0.1
# Pages of a template that are looked at for lists.
LOOKED_AT = 3
# Records that make a list, and the share of them that have a column.
MIN_ROWS, FILLED = 3, 0.5
# Findings with at least this confidence are clear. If enough pages lack a clear finding or a mandatory attribute,
# treat them as a separate template.
MIN_CLEAR_CONFIDENCE = 0.5


def find_on_site(model: Model, pages: Sequence[Page], schema: Schema) -> list[Finding]:
    """Return a finding for each attribute, in the order of the schema, on pages of a site that nobody labeled.

    The model searches each template by itself. Findings on templates that list many records are dropped.
    """
    templates = split(pages)
    found = [_complete(model.find(template, schema), schema) for template in templates]
    kept = without_lists(found, schema)
    page_count = sum(len(templates[number]) for number in kept)
    by_attribute = zip(*(found[number] for number in kept), strict=True)
    return _complete([merge(findings, page_count) for findings in by_attribute], schema)


def find_in_rounds(
    find: Callable[[Sequence[Page], Schema], Iterable[Finding]], pages: Sequence[Page], schema: Schema
) -> list[Finding]:
    """Find on all pages of a template; then, while many pages lack something, search those by themselves.

    Clustering by structure can miss a template that differs in details. On the remaining pages the values may be
    elsewhere.
    """
    found: dict[str, list[Finding]] = {}
    rest, least = pages, max(MIN_TEMPLATE, MIN_TEMPLATE_SHARE * len(pages))
    while rest:
        findings = list(find(rest, schema))
        done = _finished_pages(findings, schema)
        unfinished = [page for page in rest if id(page) not in done]
        is_last = not done or len(unfinished) < least
        for finding in findings:
            found.setdefault(finding.attribute, []).append(finding if is_last else finding.on(done))
        rest = [] if is_last else unfinished
    return [merge(findings, len(pages)) for findings in found.values()]


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


def split(pages: Sequence[Page]) -> list[Sequence[Page]]:
    """The pages of each template that has enough of them; all pages as one if none has."""
    least = max(MIN_TEMPLATE, MIN_TEMPLATE_SHARE * len(pages))
    return [each.pages for each in cluster(pages) if len(each.pages) >= least] or [pages]


def with_labels(pages: Sequence[Page], labels: Iterable[Label]) -> list[Page]:
    """The pages of templates that have any labelled page: what others repeat is not theirs."""
    named = {label.page for label in labels}
    return [
        page
        for each in cluster(pages)
        if any(page.is_named_in(named) for page in each.pages)
        for page in each.pages
    ]


def without_lists(found: Sequence[Sequence[Finding]], schema: Schema) -> list[int]:
    """The numbers of the templates that do not list many records, given what was found on each.

    If all seem to, the one with the surest findings is kept: a car may have a list of its engines and their prices.
    """
    if len(found) < 2:
        return list(range(len(found)))
    kept = [number for number, findings in enumerate(found) if not are_of_lists(findings, schema)]
    return kept or [max(range(len(found)), key=lambda number: _sureness(found[number]))]


def _sureness(findings: Sequence[Finding]) -> float:
    return sum(finding.confidence for finding in findings if finding.found)


def are_of_lists(findings: Sequence[Finding], schema: Schema) -> bool:
    """Whether what was found on pages of a template is of one of the many records that each of them lists.

    Then most of it stands in the page's main list, and each attribute in a column of its own that most rows have; the
    facts of a single record, in a list of labels and values, stand in the same one.
    """
    found: dict[int, list[tuple[Node, float]]] = {}
    pages: dict[int, Page] = {}
    for finding in findings:
        if finding.found and not schema.attributes[finding.attribute].many:
            for page, node in finding.places:
                if not node.is_attribute:
                    pages[id(page)] = page
                    found.setdefault(id(page), []).append((node, finding.confidence))
    richest = sorted(found, key=lambda number: -len(found[number]))[:LOOKED_AT]
    lists = [_is_of_a_list(pages[number], found[number]) for number in richest]
    return bool(lists) and sum(lists) * 2 > len(lists)


def _is_of_a_list(page: Page, found: Sequence[tuple[Node, float]]) -> bool:
    """Whether more of what was found, by how sure it is, stands in columns of the page's main list than elsewhere."""
    rows = find_records(page)
    if len(rows) < MIN_ROWS:
        return False
    root = found[0][0].parent.getroottree().getroot()  # the page may have been parsed anew since
    position = {element: number for number, element in enumerate(root.iter())}
    firsts = [root.xpath(row.xpath)[0] for row in rows]
    starts = [position[first] for first in firsts]
    columns: dict[int, float] = {}
    elsewhere = 0.0
    for node, confidence in found:
        number = bisect(starts, position[node.parent]) - 1
        inside = number >= 0 and firsts[number].getparent() in node.parent.iterancestors()
        column = _column(node.text, rows[number].cells, rows) if inside else None
        if column is None:
            elsewhere += confidence
        else:
            columns[column] = max(columns.get(column, 0.0), confidence)
    return len(columns) > 1 and sum(columns.values()) > elsewhere


def _column(text: str, cells: Sequence[str | None], rows: Rows) -> int | None:
    """The column of a row's cell that holds a text, if most rows have it."""
    for number, cell in enumerate(cells):
        if cell is not None and text in cell:
            filled = sum(row.cells[number] is not None for row in rows)
            return number if filled >= FILLED * len(rows) else None
    return None
