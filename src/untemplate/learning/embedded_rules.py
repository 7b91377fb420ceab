"""Where labeled values are in the embedded data: the paths that a rule reads beside the nodes that it selects.

A value such as the title occurs at many paths. Coherence decides between them: the type of objects that contains most
of the labeled attributes is that of the record, and the shortest path in it is best. Paths that say the same on other
pages as on the labeled ones are tried last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, product

from untemplate.labeling import Label
from untemplate.page import Page
from untemplate.page.embedded_data import META, NAMING_KEYS, TYPED_SOURCES, DataObject, DataPath, html_to_text
from untemplate.page.locating import clean_value, letters_and_digits
from untemplate.rules.embedded_selection import MAX_EMBEDDED_TEXT, embedded_texts
from untemplate.rules.list_look import are_sentences
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.rule import EmbeddedSelector
from untemplate.rules.shown_lists import are_mostly_same
from untemplate.schema import Attribute, Schema

__all__ = ["learn_embedded"]

# Paths of one attribute that a rule keeps.
MAX_PATHS = 4
# Candidate paths of one attribute on one page, and objects of one source, that are compared.
MAX_CANDIDATES = 200
MAX_COMPARED_OBJECTS = 200
# Levels above a value at which a list may begin: `recipeInstructions`, `itemListElement`, `text`.
MAX_LIST_LEVELS = 3


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
class _Candidate:
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
    return {name: _choose(found, roots, len(unlabeled)) for name, found in candidates.items() if found}


def _find_wanted(labels: Sequence[Label], page: Page, schema: Schema) -> Iterator[_Wanted]:
    """Yield the labeled values of each attribute of a page."""
    for attribute in schema.attributes.values():
        own = [label for label in labels if label.attribute == attribute.name]
        keys = [letters_and_digits(clean_value(label.value or "")) for label in own if not label.is_gap]
        if own and all(keys):
            yield _Wanted(page, attribute, tuple(keys))


def _find_candidates(wanted: Sequence[_Wanted], unlabeled: Sequence[Page]) -> list[_Candidate]:
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


def _best_fitting(candidates: Sequence[_Candidate], pages: int) -> list[_Candidate]:
    """Return the candidates that fit most pages, if those are more than half."""
    most = max((candidate.fits for candidate in candidates), default=0)
    return [candidate for candidate in candidates if candidate.fits == most] if 2 * most > pages else []


def _make_candidates(wanted: Sequence[_Wanted]) -> list[_Candidate]:
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
        candidates.append(_Candidate(selector, attribute, fits, of_sentences=of_sentences))
    return candidates


def _try_on_pages(candidate: _Candidate, pages: Sequence[Page], labeled: set[tuple[str, ...]]) -> None:
    """Note what a candidate selects on unlabeled pages, and whether it only repeats the labeled values."""
    for page in pages:
        keys = tuple(map(letters_and_digits, embedded_texts(candidate.selector, page.embedded)))
        candidate.values.append(keys if candidate.attribute.many else keys[:1])
    found = [keys for keys in candidate.values if keys]
    candidate.is_constant = bool(found) and all(keys in labeled for keys in found)


def _count_attributes(candidates: Mapping[str, Sequence[_Candidate]]) -> Counter[tuple[str, str]]:
    """Return for each source and type how many attributes it contains."""
    counts: Counter[tuple[str, str]] = Counter()
    for found in candidates.values():
        counts.update({(one.selector.path.source, one.selector.path.type) for one in found})
    return counts


def _choose(
    candidates: Sequence[_Candidate], roots: Counter[tuple[str, str]], pages: int
) -> tuple[EmbeddedSelector, ...]:
    """Return the best paths, without those that say the same as a better one on all pages."""

    def rank(candidate: _Candidate) -> tuple[object, ...]:
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
