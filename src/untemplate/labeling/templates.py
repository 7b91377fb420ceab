"""The templates of a site that are labelled: each by itself, and those that list many records not at all."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

from untemplate.clustering import cluster
from untemplate.labeling.finding import Finding
from untemplate.labeling.label import Label
from untemplate.lists.finding import find_records
from untemplate.lists.row import Rows
from untemplate.page import Node, Page
from untemplate.schema import Schema

__all__ = ["MIN_TEMPLATE", "MIN_TEMPLATE_SHARE", "are_of_lists", "split", "with_labels", "without_lists"]

# Pages of a template that are labelled, at least, and their share of all: fewer tell too little of what is static.
MIN_TEMPLATE, MIN_TEMPLATE_SHARE = 5, 0.1
# Pages of a template that are looked at for lists.
LOOKED_AT = 3
# Records that make a list, and the share of them that have a column.
MIN_ROWS, FILLED = 3, 0.5


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
        if any(page.id in named or page.url in named for page in each.pages)
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
