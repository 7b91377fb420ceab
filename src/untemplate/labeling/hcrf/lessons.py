"""Lessons: labeled detail pages and list pages as training data of the HCRF.

A label says which value a page or a record has. A lesson says which leaves contain it, so that all blocks of the page
have a true class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from untemplate.errors import PageError
from untemplate.labeling.hcrf.detail_pages import DetailPage, SlotKey, read_detail_pages
from untemplate.labeling.label import Label
from untemplate.labeling.list_labels import LetterIndex, locate_runs
from untemplate.layout import EstimatedLayout
from untemplate.lists.alignment import AlignedLines
from untemplate.lists.block_features import observe_records
from untemplate.lists.cells import shipped_seam_weights
from untemplate.lists.groups import Group
from untemplate.lists.hcrf import ANY_PAGES, ONE_VERTICAL, Hcrf, Prior, train_hcrf
from untemplate.lists.hcrf_blocks import BlockClasses, ObservedBlocks, attributes_inside, true_classes
from untemplate.lists.list_page import ListPage
from untemplate.lists.list_table import build_table
from untemplate.lists.page_tree import Run
from untemplate.lists.scene import Scene, build_scene
from untemplate.lists.vision_tree import VisionTree
from untemplate.page import Page, nodes_at
from untemplate.page.arrays import Longs
from untemplate.page.locating import clean_value, letters_and_digits, match_texts, nodes_by_xpath
from untemplate.schema import Schema

__all__ = [
    "DetailLesson",
    "ListLesson",
    "choose_classes",
    "locate_cells",
    "make_detail_lessons",
    "make_list_lessons",
    "train_details",
    "train_lists",
    "train_names",
]

# Detail pages of a site that are read together.
MAX_PAGES_READ = 12
# Detail pages of all sites that become training data; but at least some of each site. More pages of a template add
# little.
MAX_TRAINING_PAGES = 27
MIN_SITE_PAGES = 3
# List pages of a site that become training data, the first ones with labels.
MAX_LIST_PAGES = 3
# A value is in a leaf that says little more: at least this share of the leaf's text.
MIN_VALUE_SHARE = 0.5
# A text may equal a label's value by chance. At least this share of a slot's leaves on labeled pages must contain the
# attribute.
MIN_CONSISTENT_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class DetailLesson:
    """A detail page with the attributes of its leaves."""

    page: DetailPage
    #: leaf -> attribute
    values: dict[int, str]

    @cached_property
    def attributes(self) -> list[frozenset[str]]:
        """The attributes inside each block."""
        return attributes_inside(self.page.scene.vision, self.values)

    @property
    def values_by_slot(self) -> dict[SlotKey, str]:
        """The attributes of the leaves by their slots."""
        slots = self.page.slots.items()
        return {slot: self.values[leaf] for slot, leaf in slots if leaf in self.values}

    @property
    def record(self) -> int:
        """The smallest block with all values."""
        children = enumerate(self.page.scene.vision.children)
        inner = [block for block, inside in children if inside]
        return max((block for block in inner if self.attributes[block] == self.attributes[0]), default=0)


@dataclass(frozen=True, eq=False)
class ListLesson:
    """A list page whose records are known, with the attributes of their leaves."""

    scene: Scene
    #: the blocks of the records, and the features of each for the model
    records: Mapping[int, ObservedBlocks]
    #: leaf -> attribute
    values: Mapping[int, str]


def make_detail_lessons(pages: Sequence[Page], labels: Iterable[Label], schema: Schema) -> list[DetailLesson]:
    """Return the lessons of a site's detail pages, those with the most attributes first.

    Only some pages are read, spread over the site. Unlabeled ones help to recognize captions.

    Args:
        pages: the pages of the site.
        labels: labels of pages. Labels of records, and labels that say that a value is missing, are ignored.
        schema: attributes that it does not have are ignored.
    """
    page_labels = (label for label in labels if label.record is None and not label.is_gap)
    by_page = _group_labels(page_labels, schema)
    details = read_detail_pages(_choose_pages(pages, by_page))
    located = [DetailLesson(detail, _locate_values(detail, by_page)) for detail in details]
    lessons = _with_values(_drop_inconsistent(_with_values(located)))
    return sorted(lessons, key=lambda lesson: -len(lesson.attributes[0]))


def _with_values(lessons: Iterable[DetailLesson]) -> list[DetailLesson]:
    return [lesson for lesson in lessons if lesson.values]


def _choose_pages(pages: Sequence[Page], by_page: Mapping[str, Sequence[Label]]) -> list[Page]:
    """Return labeled pages spread over the site, and unlabeled ones if there are few."""
    labeled = [page for page in pages if page.is_named_in(by_page)]
    unlabeled = [page for page in pages if not page.is_named_in(by_page)]
    chosen = _sample_evenly(labeled, MAX_PAGES_READ)
    return chosen + _sample_evenly(unlabeled, MAX_PAGES_READ - len(chosen))


def _labels_of(page: Page, by_page: Mapping[str, Sequence[Label]]) -> list[Label]:
    """Return the labels under a page's id and under its URL."""
    by_id = by_page.get(page.id, ())
    by_url = by_page.get(page.url, ()) if page.url != page.id else ()
    return [*by_id, *by_url]


def _group_labels(labels: Iterable[Label], schema: Schema) -> dict[str, list[Label]]:
    """Group labels of the schema's attributes by page id or URL."""
    by_page: dict[str, list[Label]] = {}
    for label in labels:
        if label.attribute in schema.attributes:
            by_page.setdefault(label.page, []).append(label)
    return by_page


def _sample_evenly(pages: Sequence[Page], count: int) -> list[Page]:
    """Return at most this many pages, evenly spread."""
    if len(pages) <= count:
        return list(pages)
    return [pages[number * len(pages) // count] for number in range(count)]


def _locate_values(detail: DetailPage, by_page: Mapping[str, Sequence[Label]]) -> dict[int, str]:
    """Return the attributes of the leaves that the labels of a page mean."""
    values: dict[int, str] = {}
    for label in _labels_of(detail.page, by_page):
        if label.xpath is not None:
            leaves = _leaves_at(detail, label.xpath)
        else:
            leaves = _leaves_with_text(detail, clean_value(label.value or ""))
        for leaf in leaves:
            values.setdefault(leaf, label.attribute)
    return values


def _leaves_with_text(detail: DetailPage, value: str) -> list[int]:
    """Return all leaves with this text; if there are none, the shortest leaf that contains it and little more."""
    texts = {leaf: detail.scene.texts[leaf] for leaf in detail.slots.values()}
    return [leaf for leaf in match_texts(texts, value) if len(value) >= MIN_VALUE_SHARE * len(texts[leaf])]


def _leaves_at(detail: DetailPage, xpath: str) -> list[int]:
    """Return the leaves of the nodes that an XPath selects; of an element, the leaf of its first text."""
    leaves: list[int] = []
    for kind, selected in nodes_by_xpath(detail.nodes, detail.page.tree, xpath):
        leaves += selected[:1] if kind == "element" else selected
    return leaves


def _drop_inconsistent(lessons: Sequence[DetailLesson]) -> list[DetailLesson]:
    """Return the lessons without the values of slots that contain a label's value only by chance."""
    page_counts: Counter[SlotKey] = Counter()
    value_counts: Counter[tuple[SlotKey, str]] = Counter()
    for lesson in lessons:
        page_counts.update(lesson.page.slots.keys())
        value_counts.update(lesson.values_by_slot.items())
    consistent: list[DetailLesson] = []
    for lesson in lessons:
        kept = {
            lesson.page.slots[slot]: attribute
            for slot, attribute in lesson.values_by_slot.items()
            if value_counts[slot, attribute] >= MIN_CONSISTENT_SHARE * page_counts[slot]
        }
        consistent.append(DetailLesson(lesson.page, kept))
    return consistent


def train_details(sites: Sequence[Sequence[DetailLesson]], schema: Schema) -> Hcrf | None:
    """Train a model of a vertical's detail pages on the lessons of sites; None if there are no lessons.

    Every page is one record, so its smallest block with all values has the class of records.
    """
    lessons = _select_lessons(sites)
    if not lessons:
        return None
    classes = _choose_detail_classes(lessons, schema)
    truth = [_page_classes(classes, lesson.page.scene, [lesson.record], lesson.values) for lesson in lessons]
    return train_hcrf(classes, [lesson.page.observed for lesson in lessons], truth, ONE_VERTICAL)


def _select_lessons(sites: Sequence[Sequence[DetailLesson]]) -> list[DetailLesson]:
    """Return the first lessons of each site: MAX_TRAINING_PAGES in total, but at least MIN_SITE_PAGES per site."""
    taught_sites = [site for site in sites if site]
    count = max(MIN_SITE_PAGES, MAX_TRAINING_PAGES // max(1, len(taught_sites)))
    return [*chain.from_iterable(site[:count] for site in taught_sites)]


def _choose_detail_classes(lessons: Sequence[DetailLesson], schema: Schema) -> BlockClasses:
    """Return the classes for the taught attributes, with the combinations that occur together in parts of pages."""
    taught: set[str] = set()
    combinations: list[frozenset[str]] = []
    for lesson in lessons:
        taught |= lesson.attributes[0]
        combinations += _inner_combinations(lesson.page.scene.vision, [lesson.record], lesson.attributes)
    return BlockClasses.choose([name for name in schema.attributes if name in taught], combinations)


def _inner_combinations(
    vision: VisionTree, records: Iterable[int], attributes: Sequence[frozenset[str]]
) -> list[frozenset[str]]:
    """Return the attributes inside each inner block of some records."""
    combinations: list[frozenset[str]] = []
    for record in records:
        blocks = range(record + 1, int(vision.end[record]))
        combinations += [attributes[block] for block in blocks if vision.children[block]]
    return combinations


def _page_classes(
    classes: BlockClasses, scene: Scene, records: Iterable[int], values: Mapping[int, str]
) -> Longs:
    return true_classes(classes, scene.profile, scene.vision, records, values)


def make_list_lessons(pages: Iterable[Page], labels: Iterable[Label], schema: Schema) -> list[ListLesson]:
    """Return the lessons of a site's list pages: the first pages with labels, on which these records are found.

    Labels of a few records are enough, because the columns of all records get their names.

    Args:
        pages: the pages of the site.
        labels: labels of records. Labels of pages are ignored.
        schema: attributes that it does not have are ignored.
    """
    by_page = _group_labels((label for label in labels if label.record is not None), schema)
    with_labels = ((page, page.entry_in(by_page)) for page in pages)
    labeled = [(page, page_labels) for page, page_labels in with_labels if page_labels]
    lessons = (_make_list_lesson(page, page_labels) for page, page_labels in labeled[:MAX_LIST_PAGES])
    return [lesson for lesson in lessons if lesson is not None]


def _make_list_lesson(page: Page, labels: Sequence[Label]) -> ListLesson | None:
    try:
        list_page = ListPage(page, EstimatedLayout())
    except PageError:
        return None
    located = locate_runs(page, list_page, labels)
    if not located:
        return None
    group = Group(tuple(run for run, _ in located))
    lines = build_table(list_page.profile, group, shipped_seam_weights()).lines
    scene = build_scene(list_page.profile, group.runs, lines)
    values = _LabeledLeaves(page, scene, located).name_columns(lines)
    return ListLesson(scene, observe_records(page.title, scene, group), values) if values else None


class _LabeledLeaves:
    """The leaves of labeled records, and the attributes of those that contain a value."""

    def __init__(self, page: Page, scene: Scene, located: Sequence[tuple[Run, Sequence[Label]]]) -> None:
        self._page, self._scene = page, scene
        self._leaves: set[int] = set()
        self._attributes: dict[int, str] = {}
        for run, labels in located:
            leaves = scene.leaves_inside(run) if labels else []
            self._leaves.update(leaves)
            for label in labels:
                for leaf in self._find(leaves, label):
                    self._attributes.setdefault(leaf, label.attribute)

    def name_columns(self, lines: AlignedLines) -> dict[int, str]:
        """Return the attributes of the leaves of all records, column by column, and of their largest images."""
        columns = [column.leaves for column in self._scene.columns_of(lines)]
        columns.append(self._scene.largest_images(self._scene.runs))
        values: dict[int, str] = {}
        for leaves in columns:
            if name := self._column_name(leaves):
                values |= dict.fromkeys(leaves, name)
        return values

    def _column_name(self, leaves: Iterable[int]) -> str | None:
        """Return the attribute of most leaves of labeled records in a column; None if there is no such attribute."""
        labeled = self._leaves.intersection(leaves)
        counts = Counter(self._attributes[leaf] for leaf in labeled if leaf in self._attributes)
        best = max(counts, key=lambda name: counts[name], default=None)
        return best if best is not None and 2 * counts[best] > len(labeled) else None

    def _find(self, leaves: Sequence[int], label: Label) -> list[int]:
        """Return the leaves of a record that a label means."""
        if label.xpath is not None:
            return self._find_at(leaves, label.xpath)
        value = (label.value or "").strip()
        images = [leaf for leaf in leaves if value and self._scene.image_address(leaf) == value]
        return images or sorted(locate_cells(self._scene, leaves, [letters_and_digits(value)]))

    def _find_at(self, leaves: Sequence[int], xpath: str) -> list[int]:
        """Return the leaves of a record that show what an XPath selects."""
        selected: set[int] = set()
        for element, kind in nodes_at(self._page.tree, xpath):
            if kind in ("text", "tail"):
                text = element.tail if kind == "tail" else element.text
                selected |= locate_cells(self._scene, leaves, [letters_and_digits(text or "")])
            else:
                selected.update(self._scene.leaves_of_element(element))
        return sorted(selected.intersection(leaves))


def locate_cells(scene: Scene, leaves: Sequence[int], cells: Iterable[str]) -> set[int]:
    """Return the leaves of a record that contain its cells.

    Args:
        scene: the page.
        leaves: the leaves of the record, in page order.
        cells: the cells, as from `letters_and_digits`. A cell may span several leaves, or be most of one.
    """
    letters = {leaf: letters_and_digits(scene.texts[leaf]) for leaf in leaves}
    with_letters = {leaf: text for leaf, text in letters.items() if text}
    order, index = list(with_letters), LetterIndex(list(with_letters.values()))
    located: set[int] = set()
    for cell in filter(None, cells):
        if span := index.find_complete(cell):
            located.update(order[span.start : span.stop])
        elif (leaf := _find_leaf_with(cell, with_letters)) is not None:
            located.add(leaf)
    return located


def _find_leaf_with(cell: str, letters: Mapping[int, str]) -> int | None:
    """Return the first leaf that contains a cell and little more."""
    containing = (leaf for leaf, text in letters.items() if cell in text)
    return next((leaf for leaf in containing if len(cell) >= MIN_VALUE_SHARE * len(letters[leaf])), None)


def train_lists(sites: Sequence[Sequence[ListLesson]], schema: Schema) -> Hcrf | None:
    """Train a model that names the columns of a vertical's lists; None if there are no lessons."""
    lessons = [*chain.from_iterable(sites)]
    if not lessons:
        return None
    taught: set[str] = set()
    for lesson in lessons:
        taught.update(lesson.values.values())
    return train_names([name for name in schema.attributes if name in taught], lessons, ONE_VERTICAL)


def train_names(names: Sequence[str], lessons: Sequence[ListLesson], prior: Prior = ANY_PAGES) -> Hcrf:
    """Train a model that names the leaves of records.

    Args:
        names: the attributes.
        lessons: list pages with known records and values.
        prior: the variances of the weights.
    """
    classes = choose_classes(names, lessons)
    records: list[ObservedBlocks] = []
    truth: list[Longs] = []
    for lesson in lessons:
        page_classes = _page_classes(classes, lesson.scene, lesson.records, lesson.values)
        for record, observed in lesson.records.items():
            records.append(observed)
            truth.append(page_classes[record : int(lesson.scene.vision.end[record])])
    return train_hcrf(classes, records, truth, prior)


def choose_classes(names: Iterable[str], lessons: Iterable[ListLesson]) -> BlockClasses:
    """Return the classes for some attributes, with the combinations that occur together in parts of records."""
    seen: list[frozenset[str]] = []
    for lesson in lessons:
        attributes = attributes_inside(lesson.scene.vision, lesson.values)
        seen += _inner_combinations(lesson.scene.vision, lesson.records, attributes)
    return BlockClasses.choose(names, seen)
