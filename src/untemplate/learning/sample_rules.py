"""The rules of a sample of pages: from visible nodes, from embedded data, and checked on the labeled pages.

This is the last step of `learn_cluster`. Healing and the web server, which choose their pages themselves, start
here.

A value such as the title is at many paths of the embedded data. Coherence decides between them: the type of objects
that contains most of the labeled attributes is that of the record, and the shortest path in it is best. Paths that
say the same on other pages as on the labeled ones are tried last.

Every labeled page is extracted again: a rule that does not return its own labels is a finding. A person who labels
must learn at once that a rule does not do what the labels say, and on which page to look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product

from untemplate.labeling import Label
from untemplate.learning.attributes import learn_rules
from untemplate.learning.label_fit import LabelFit, compare_labels
from untemplate.learning.label_groups import LabelGroups
from untemplate.learning.odd_labels import drop_odd_labels
from untemplate.learning.reports import AttributeReport, LearnedRules
from untemplate.learning.sample_table import SampleTable
from untemplate.page import Page
from untemplate.page.embedded_data import META, NAMING_KEYS, TYPED_SOURCES, DataObject, DataPath
from untemplate.page.embedded_formats import html_to_text
from untemplate.page.locating import clean_value, letters_and_digits
from untemplate.rules.applying import apply_rules
from untemplate.rules.embedded_values import MAX_EMBEDDED_TEXT, are_mostly_same, embedded_texts
from untemplate.rules.list_look import are_sentences
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.rule import EmbeddedSelector, Rule, Wrapper
from untemplate.schema import Attribute, Schema

__all__ = ["learn_embedded", "learn_sample"]


# Paths of one attribute that a rule keeps.
MAX_PATHS = 4
# Candidate paths of one attribute on one page, and objects of one source, that are compared.
MAX_CANDIDATES = 200
MAX_COMPARED_OBJECTS = 200
# Levels above a value at which a list may begin: `recipeInstructions`, `itemListElement`, `text`.
MAX_LIST_LEVELS = 3


def learn_sample(table: SampleTable, labels: Mapping[Page, Sequence[Label]], schema: Schema) -> LearnedRules:
    """Learn the rules of pages that each show one record, from a sample that is chosen already.

    Learning again after a label changed is cheap: the table is reused, and only labeled attributes are learned.

    Args:
        table: readable pages of one cluster, with labels or without.
        labels: the labels of some pages of the table.
        schema: the attributes to learn; labels of others are ignored.

    Returns:
        The rules of all labeled attributes, and the static text of the table. Reports name rules that do not return
        their own labels.
    """
    groups = LabelGroups(table, schema, _learn_trusted)
    trusted = drop_odd_labels(groups, labels)
    learned = _learn_trusted(table, trusted, schema)
    fits = _check_labels(Wrapper("", (), 0, "*", learned.rules, learned.static), labels, schema)
    reports = [_add_fit(report, fits.get(report.attribute), schema) for report in learned.reports]
    return LearnedRules(_rules_of(reports), learned.static, reports)


def _learn_trusted(
    table: SampleTable, labels: Mapping[Page, Sequence[Label]], schema: Schema
) -> LearnedRules:
    """Learn from labels as they are."""
    numbers = {page: number for number, page in enumerate(table.pages)}
    _, reports = learn_rules(table, {numbers[page]: own for page, own in labels.items()}, schema)
    unlabeled = [page for page in table.pages if page not in labels]
    embedded = learn_embedded(labels, unlabeled, schema)
    reports = [_with_embedded(report, embedded.get(report.attribute, ())) for report in reports]
    return LearnedRules(_rules_of(reports), tuple(sorted(table.static)), reports)


def _rules_of(reports: Iterable[AttributeReport]) -> dict[str, Rule]:
    return {report.attribute: report.rule for report in reports if report.rule}


def _add_fit(report: AttributeReport, fit: LabelFit | None, schema: Schema) -> AttributeReport:
    """Return a report that says so if the rule does not return its own labels."""
    if report.rule is None or fit is None or fit.problem is None:
        return report
    is_unfit = schema.attributes[report.attribute].many and fit.returns_other_lists
    rule = replace(report.rule, unfit=is_unfit)
    return replace(report, rule=rule, problems=[*report.problems, fit.problem], unfit=fit.page)


def _with_embedded(report: AttributeReport, embedded: tuple[EmbeddedSelector, ...]) -> AttributeReport:
    """Add to a rule where its values are in the embedded data.

    They can be a rule on their own. Then it is no problem that the page does not show them; whether the rule returns
    its labels is checked later.
    """
    if not embedded:
        return report
    rule = replace(report.rule or Rule(report.attribute, ()), embedded=embedded)
    coverage = max(report.coverage, embedded[0].support)
    return replace(
        report,
        rule=rule,
        coverage=coverage,
        label_next=None if coverage == 1 else report.label_next,
        problems=report.problems if report.rule else [],
    )


def _check_labels(
    wrapper: Wrapper, labeled: Mapping[Page, Sequence[Label]], schema: Schema
) -> dict[str, LabelFit]:
    """Return for each attribute with a rule how well it returns the labels of all pages.

    Values are compared by letters and digits. Labels that only pin a node by an XPath are not judged.
    """
    fits = {name: LabelFit() for name in wrapper.rules}
    for page, labels in labeled.items():
        parsed = ParsedPage(page.tree)
        for name, matches in apply_rules(wrapper, parsed, schema.attributes).items():
            own = [label for label in labels if label.attribute == name]
            if own and not any(map(_is_only_pinned, own)):
                fit = compare_labels(own, [match.text for match in matches], schema.attributes[name], parsed)
                fits[name] = fits[name].plus(replace(fit, page=None if fit.fitting else page.id))
    return fits


def _is_only_pinned(label: Label) -> bool:
    return label.xpath is not None and label.value is None


@dataclass(frozen=True)
class _Wanted:
    """The labeled values of one attribute on one page, in letters and digits; none if it is labeled as missing."""

    page: Page
    attribute: Attribute
    keys: tuple[str, ...]

    def is_selected_by(self, selector: EmbeddedSelector) -> bool:
        """Return True if a selector selects exactly these values; for a single value, first of all."""
        found = tuple(map(letters_and_digits, embedded_texts(selector, self.page.embedded)))
        if self.attribute.many or not self.keys:
            return found == self.keys
        return found[:1] == self.keys[:1]

    def is_written_otherwise_by(self, selector: EmbeddedSelector) -> bool:
        """Return True if a selector selects this list, with some members in a writing that the page does not show.

        Where the page shows such a member in this writing, it may be a part of another value.
        """
        texts = embedded_texts(selector, self.page.embedded)
        if not self.attribute.many or not are_mostly_same(texts, self.keys):
            return False
        page = ParsedPage(self.page.tree)
        different = (text for text in texts if letters_and_digits(text) not in self.keys)
        return not any(map(page.shows, different))


@dataclass
class _PathCandidate:
    """A path with the labeled pages that it fits, what it says about the other pages, and what members are."""

    selector: EmbeddedSelector
    attribute: Attribute
    fits: int = 0
    values: list[tuple[str, ...]] = field(default_factory=list)
    is_constant: bool = False
    of_sentences: bool = False

    @property
    def is_named(self) -> bool:
        """True if a name on the path is one of those that the schema gives the attribute."""
        names = set(map(letters_and_digits, (self.attribute.name, *self.attribute.same_as)))
        return any(letters_and_digits(key) in names for key in self.selector.path.keys)

    @property
    def length(self) -> int:
        """How much text it selects on unlabeled pages."""
        return sum(len("".join(keys)) for keys in self.values)


def learn_embedded(
    labeled: Mapping[Page, Sequence[Label]], unlabeled: Sequence[Page], schema: Schema
) -> dict[str, tuple[EmbeddedSelector, ...]]:
    """Return for each attribute the embedded values that are its labels, the best path first.

    Args:
        labeled: readable pages with their labels.
        unlabeled: other pages of the same template.
        schema: the attributes to learn; other labels are ignored.
    """
    wanted = [_find_wanted(labels, page, schema) for page, labels in labeled.items()]
    by_attribute: dict[str, list[_Wanted]] = {}
    for page_wanted in wanted:
        for one in page_wanted:
            by_attribute.setdefault(one.attribute.name, []).append(one)
    candidates = {name: _find_candidates(values, unlabeled) for name, values in by_attribute.items()}
    roots = _count_attributes(candidates)
    return {name: _choose_paths(found, roots, len(unlabeled)) for name, found in candidates.items() if found}


def _find_wanted(labels: Sequence[Label], page: Page, schema: Schema) -> Iterator[_Wanted]:
    """Yield the labeled values of each attribute of a page."""
    for attribute in schema.attributes.values():
        own = [label for label in labels if label.attribute == attribute.name]
        keys = [letters_and_digits(clean_value(label.value or "")) for label in own if not label.is_gap]
        if own and all(keys):
            yield _Wanted(page, attribute, tuple(keys))


def _find_candidates(wanted: Sequence[_Wanted], unlabeled: Sequence[Page]) -> list[_PathCandidate]:
    """Return the paths that fit most labeled pages, with what they select on unlabeled ones.

    If there is none, paths fit that select a list in another writing: they show where it is on a page.
    """
    candidates = _make_candidates(wanted)
    best = _best_fitting(candidates, len(wanted))
    if not best:
        for candidate in candidates:
            candidate.fits = sum(one.is_written_otherwise_by(candidate.selector) for one in wanted)
        best = _best_fitting(candidates, len(wanted))
    labeled_values = {one.keys for one in wanted}
    for candidate in best:
        _try_on_pages(candidate, unlabeled, labeled_values)
    return best


def _best_fitting(candidates: Sequence[_PathCandidate], pages: int) -> list[_PathCandidate]:
    """Return the candidates that fit most pages, if those are more than half."""
    most = max((candidate.fits for candidate in candidates), default=0)
    return [candidate for candidate in candidates if candidate.fits == most] if 2 * most > pages else []


def _make_candidates(wanted: Sequence[_Wanted]) -> list[_PathCandidate]:
    """Return the paths that may select the labeled values of any page, with how many pages they fit."""
    selectors: dict[EmbeddedSelector, None] = {}
    for one in wanted:
        if one.keys:
            selectors.update(dict.fromkeys(_selectors_on_page(one)))
    attribute = wanted[0].attribute
    of_sentences = are_sentences(chain.from_iterable(one.keys for one in wanted))
    candidates = []
    for selector in selectors:
        fits = sum(one.is_selected_by(selector) for one in wanted)
        candidates.append(_PathCandidate(selector, attribute, fits, of_sentences=of_sentences))
    return candidates


def _try_on_pages(candidate: _PathCandidate, pages: Sequence[Page], labeled: set[tuple[str, ...]]) -> None:
    """Note what a candidate selects on unlabeled pages, and whether it only repeats the labeled values."""
    for page in pages:
        keys = tuple(map(letters_and_digits, embedded_texts(candidate.selector, page.embedded)))
        candidate.values.append(keys if candidate.attribute.many else keys[:1])
    found = [keys for keys in candidate.values if keys]
    candidate.is_constant = bool(found) and all(keys in labeled for keys in found)


def _count_attributes(candidates: Mapping[str, Sequence[_PathCandidate]]) -> Counter[tuple[str, str]]:
    """Return for each source and type how many attributes it contains."""
    counts: Counter[tuple[str, str]] = Counter()
    for found in candidates.values():
        counts.update({(one.selector.path.source, one.selector.path.type) for one in found})
    return counts


def _choose_paths(
    candidates: Sequence[_PathCandidate], roots: Counter[tuple[str, str]], pages: int
) -> tuple[EmbeddedSelector, ...]:
    """Return the best paths, without those that say the same as a better one on all pages."""

    def rank(candidate: _PathCandidate) -> tuple[object, ...]:
        selector, path = candidate.selector, candidate.selector.path
        return (
            -roots[path.source, path.type],
            _source_rank(path.source),
            not path.type,
            not candidate.is_named,
            len(path.keys),
            candidate.is_constant,
            selector.position,
            # Whether titles of sections belong to a list cannot be known from a page without any. They mostly do if
            # the members are sentences, but are not items.
            (len(path.ends) > 1) != candidate.of_sentences,
            path.only_first_end,
            # Names of steps that their texts repeat are not members of their own.
            len(path.ends) > 1 and not path.only_first_end and not selector.skips_repeats,
            -candidate.length if candidate.attribute.many else 0,
            selector.lines,
            selector.skips_repeats,
        )

    chosen: dict[tuple[tuple[str, ...], ...], EmbeddedSelector] = {}
    for candidate in sorted(candidates, key=rank):
        found = sum(map(bool, candidate.values))
        support = round(found / pages, 3) if pages else 1.0
        key = tuple(candidate.values)
        if found or not pages:
            chosen.setdefault(key, replace(candidate.selector, support=support))
    return tuple(chosen.values())[:MAX_PATHS]


def _source_rank(source: str) -> int:
    if source in TYPED_SOURCES:
        return TYPED_SOURCES.index(source)
    return len(TYPED_SOURCES) + (source == META)


def _selectors_on_page(wanted: _Wanted) -> Iterator[EmbeddedSelector]:
    """Yield selectors that may select the labeled values of an attribute on a page."""
    for source in wanted.page.embedded.sources():
        seen: Counter[str] = Counter()
        for data_object in wanted.page.embedded.objects(source)[:MAX_COMPARED_OBJECTS]:
            seen[data_object.type] += 1
            # The first object of a type is the one that extraction reads.
            if seen[data_object.type] > 2:
                continue
            values = _ObjectValues(source, data_object)
            yield from (
                values.find_list(wanted.keys) if wanted.attribute.many else values.find_one(wanted.keys[0])
            )


class _ObjectValues:
    """The values of one object in letters and digits."""

    def __init__(self, source: str, data_object: DataObject) -> None:
        self.source = source
        self.type = data_object.type
        self._values = data_object.values

    @cached_property
    def keyed(self) -> list[tuple[tuple[str, ...], str]]:
        """The keys of each value, and its letters and digits."""
        return [
            (keys, letters_and_digits(html_to_text(text)) if len(text) <= MAX_EMBEDDED_TEXT else "")
            for keys, text, _ in self._values
        ]

    def find_one(self, wanted: str) -> Iterator[EmbeddedSelector]:
        """Yield a selector for each path whose values include this one; by position if it is not the first."""
        numbers: Counter[tuple[str, ...]] = Counter()
        for keys, text in self.keyed:
            if not text:
                continue
            numbers[keys] += 1
            if text == wanted and keys:
                position = numbers[keys] if numbers[keys] > 1 else 0
                yield EmbeddedSelector(self._path(keys), position)

    def _path(self, keys: tuple[str, ...]) -> DataPath:
        """Return the path to a value; `author.name` also means `author`, since both are used."""
        if self.source in TYPED_SOURCES and len(keys) > 1 and keys[-1] in NAMING_KEYS:
            return DataPath(self.source, self.type, keys[:-1], keys[-1:])
        return DataPath(self.source, self.type, keys)

    def find_list(self, wanted: tuple[str, ...]) -> Iterator[EmbeddedSelector]:
        """Yield selectors around the values that contain the first labeled one, or are another."""
        members = set(wanted)
        found = (keys for keys, text in self.keyed if wanted[0] in text or text in members)
        starts = dict.fromkeys(filter(None, found))
        for keys in list(starts)[:MAX_CANDIDATES]:
            for path, lines, skips_repeats in product(self._list_paths(keys), (False, True), (False, True)):
                yield EmbeddedSelector(path, 0, lines, skips_repeats)

    def _list_paths(self, keys: tuple[str, ...]) -> Iterator[DataPath]:
        """Yield paths of lists that contain a value: the value's own, and those above with its last name."""
        yield DataPath(self.source, self.type, keys)
        for level in range(1, MAX_LIST_LEVELS):
            above = keys[:-level]
            if not above:
                return
            yield DataPath(self.source, self.type, above, keys[-1:])
            if keys[-1] in NAMING_KEYS:
                yield DataPath(self.source, self.type, above, NAMING_KEYS)
                yield DataPath(self.source, self.type, above, ("text", "name"), only_first_end=True)
