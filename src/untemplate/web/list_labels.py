"""List pages: the rows that are found without labels, rows that a person labels, and the rules learned from them.

A person names the columns of the proposed rows, or clicks the values of two rows. Both give labels with the row that
they belong to, and the learner of list rules does the rest, as `untemplate learn` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin

from untemplate.errors import LabelError
from untemplate.extraction import Rules
from untemplate.labeling import Label
from untemplate.learning import learn_cluster
from untemplate.lists import Row, Rows, find_records
from untemplate.page import Page, element_xpath, squeeze
from untemplate.record import Record
from untemplate.rules import Wrapper
from untemplate.web.page_labels import Click, LabelChange, label_from_click
from untemplate.web.workspace import OpenSite

__all__ = ["ListRow", "label_cell", "label_columns", "learn_list_wrapper", "list_rows", "propose_rows"]

LABELED_ROWS = 2
"""Rows that become labels when a person names the columns. The rules find the others, which a person sees at once."""


@dataclass(frozen=True)
class ListRow:
    """A row of a list page: its values by attribute, where they are, and the record that its labels have.

    Attributes:
        record: What the labels of this row share.
        cells: The texts by attribute.
        xpaths: The XPaths of the first value by attribute.
        labeled: The attributes that a person labeled.
        contradicted: Those of them for which the rules find something else.
    """

    record: str
    cells: dict[str, list[str]]
    xpaths: Mapping[str, str | None]
    labeled: tuple[str, ...] = field(default=())
    contradicted: tuple[str, ...] = field(default=())


def propose_rows(site: OpenSite, page: str) -> Rows:
    """Return the rows that repeat on a page, found without labels."""
    parsed, _ = site.rendered_page(page)
    return find_records(parsed)


def label_columns(site: OpenSite, page: str, columns: Mapping[str, str]) -> LabelChange:
    """Label the first rows of the proposal on a page: a person has said which attributes its columns are.

    Args:
        site: The site of the page.
        page: The id of the page.
        columns: The names of columns, and the attributes that they are.

    Raises:
        LabelError: There is no such column or attribute, or no row.
    """
    for attribute in columns.values():
        _check_attribute(site, attribute)
    parsed, _ = site.rendered_page(page)
    rows = find_records(parsed)
    complete = sorted(rows, key=lambda row: sum(row.values.get(column) is None for column in columns))
    if not complete or not columns or not columns.keys() <= set(rows.columns):
        raise LabelError("the page has no such rows or columns; load it again")
    labels: list[Label] = []
    for row in complete[:LABELED_ROWS]:
        for column, attribute in columns.items():
            labels += _label_of_cell(parsed, row, column, attribute)
    return _replace_rows(site, page, labels)


def label_cell(site: OpenSite, page: str, row: ListRow, attribute: str, click: Click | None) -> LabelChange:
    """Label a row with the values that it has, one of which a person corrected.

    Args:
        site: The site of the page.
        page: The id of the page.
        row: The row; one without values is new.
        attribute: The attribute that is corrected.
        click: Where its value is; None if the row does not have it.

    Raises:
        LabelError: The schema has no such attribute, or the click is not on a value.
    """
    _check_attribute(site, attribute)
    parsed, rendering = site.rendered_page(page)
    labels = [
        Label(page, name, texts[0], row.xpaths.get(name), record=row.record)
        for name, texts in row.cells.items()
        if name != attribute and texts
    ]
    if click is None:
        labels.append(Label(page, attribute, None, record=row.record))
    else:
        definition = site.schema.attributes[attribute]
        label = label_from_click(click, parsed, rendering, definition)
        labels.append(replace(label, record=row.record))
    others = [label for label in _row_labels(site, page) if label.record != row.record]
    return _replace_rows(site, page, [*others, *labels])


def list_rows(site: OpenSite, page: str) -> list[ListRow]:
    """Return the rows that the list rules find on a page; without rules, the rows that a person labeled."""
    labels = _row_labels(site, page)
    wrapper = learn_list_wrapper(site, site.cluster_of(page))
    if wrapper is None or not wrapper.records:
        return list(_labeled_rows(labels))
    parsed, _ = site.rendered_page(page)
    rules = Rules(replace(site.schema, rows=True), (wrapper,))
    records = enumerate(rules.extract_page(parsed), start=1)
    return [_make_list_row(record, number, labels) for number, record in records]


def _make_list_row(record: Record, number: int, labels: Sequence[Label]) -> ListRow:
    """Return a record as a row; it has the name of the labeled row whose values it has, or its number.

    The labels of a person are always right, so their values are shown instead of what the rules find.
    """
    cells = {name: [value.text for value in values] for name, values in record.values.items()}
    xpaths = {name: values[0].xpath for name, values in record.values.items() if values}
    own_labels = _labels_of_row(labels, cells, xpaths)
    if not own_labels or own_labels[0].record is None:
        return ListRow(f"row {number}", cells, xpaths, ())
    name = own_labels[0].record
    return _correct_row(ListRow(name, cells, xpaths, ()), [label for label in labels if label.record == name])


def _correct_row(row: ListRow, labels: Sequence[Label]) -> ListRow:
    """Return a row with the values of its labels, and which of them differ from what the rules find."""
    given = {label.attribute: label for label in labels}
    values = {name: [label.value] if label.value else [] for name, label in given.items()}
    contradicted = tuple(name for name in given if row.cells.get(name, []) != values[name])
    places = {name: given[name].xpath for name in contradicted}
    return replace(
        row,
        cells={**row.cells, **values},
        xpaths={**row.xpaths, **places},
        labeled=tuple(given),
        contradicted=contradicted,
    )


def learn_list_wrapper(site: OpenSite, cluster: str) -> Wrapper | None:
    """Return the wrapper with list rules of a cluster: learned from its labeled rows, or else the saved one.

    None if the cluster has neither.
    """
    labels = [
        stored.label
        for stored in site.labels()
        if stored.label.record is not None and stored.label.page in set(site.pages[cluster])
    ]
    saved = site.wrapper(cluster)
    if not labels:
        return saved if saved.records else None
    return site.cached_list_wrapper(cluster, tuple(labels), lambda: _learn_wrapper(site, saved, labels))


def _learn_wrapper(site: OpenSite, saved: Wrapper, labels: Sequence[Label]) -> Wrapper:
    by_page: dict[str, list[Label]] = {}
    for label in labels:
        by_page.setdefault(label.page, []).append(label)
    learned = learn_cluster(site.stored_cluster(saved), by_page, site.schema).wrapper
    return replace(saved, rules=learned.rules, static=learned.static, records=learned.records)


def _check_attribute(site: OpenSite, attribute: str) -> None:
    if attribute not in site.schema.attributes:
        raise LabelError(f"schema {site.schema.name!r} has no attribute {attribute!r}")


def _row_labels(site: OpenSite, page: str) -> list[Label]:
    return [stored.label for stored in site.labels(page) if stored.label.record is not None]


def _labels_of_row(
    labels: Sequence[Label], cells: Mapping[str, Sequence[str]], xpaths: Mapping[str, str | None]
) -> list[Label]:
    """Return the labels that have a value of a row, at the same place if it is known."""
    return [
        label
        for label in labels
        if label.value in cells.get(label.attribute, ())
        and (label.xpath is None or label.xpath == xpaths.get(label.attribute))
    ]


def _labeled_rows(labels: Sequence[Label]) -> Iterator[ListRow]:
    """Yield the rows that a person labeled, in the order of their labels."""
    by_record: dict[str, list[Label]] = {}
    for label in labels:
        by_record.setdefault(label.record or "", []).append(label)
    for record, row_labels in by_record.items():
        cells = {label.attribute: [label.value] if label.value else [] for label in row_labels}
        xpaths = {label.attribute: label.xpath for label in row_labels}
        yield ListRow(record, cells, xpaths, tuple(cells))


def _label_of_cell(page: Page, row: Row, column: str, attribute: str) -> list[Label]:
    """Return the label of a cell; none if the row lacks it. Addresses are labeled as the page writes them."""
    text = row.values.get(column)
    if text is None:
        return []
    if column in ("url", "image"):
        return _label_of_address(page, row, column, attribute, text)
    return [Label(page.id, attribute, text, record=row.xpath)]


def _label_of_address(page: Page, row: Row, column: str, attribute: str, address: str) -> list[Label]:
    tag, name = ("a", "href") if column == "url" else ("img", "src")
    for element in page.tree.xpath(row.xpath):
        for inside in element.iter(tag):
            reference = squeeze(inside.get(name) or "")
            if reference and urljoin(page.url, reference) == urljoin(page.url, address):
                return [
                    Label(page.id, attribute, reference, f"{element_xpath(inside)}/@{name}", record=row.xpath)
                ]
    return []


def _replace_rows(site: OpenSite, page: str, labels: Sequence[Label]) -> LabelChange:
    """Replace the labels of all rows of a page."""
    with site.writing:
        stored = [old for old in site.labels(page) if old.label.record is not None]
        removed = [old.id for old in stored if old.label not in labels]
        for id in removed:
            site.catalog.remove_label(id, site.workspace.user)
        stored_labels = [old.label for old in stored]
        new = [label for label in labels if label not in stored_labels]
        added = site.catalog.add_labels(site.name, new, site.workspace.user)
    site.workspace.changes.publish(site.name)
    return LabelChange(tuple(added), tuple(removed))
