"""Extract records: match a page to one of a site's wrappers, apply its rules, normalize the values (Vertex IV-A)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from untemplate.atomic_file import complete_file
from untemplate.errors import PageError, RulesError, why
from untemplate.page import Page, Signature, signature, url_matches
from untemplate.page.signatures import LENGTH
from untemplate.record import Reason, Record, Value
from untemplate.rules.applying import Match, apply_rules, apply_wrapper
from untemplate.rules.file_format import format_rules, parse_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.value_types import parse_typed

__all__ = ["Rules", "WrapperIndex"]

# How many wrappers are tried on a page that none matches. Sites of SWDE have at most two with rules.
MAX_TRIED_WRAPPERS = 16


@dataclass(frozen=True)
class Rules:
    """All wrappers of a site: what `learn` returns, what a rules file contains, and what extracts records.

    Attributes:
        schema: what is extracted.
        wrappers: one for each cluster of pages. A wrapper without rules means that its pages still need labels.

    Example:
        >>> import untemplate as ut
        >>> pages = [ut.Page(f"http://shop.example/{n}", f"<h1>Lamp {n}</h1><p>${n}.99</p>") for n in range(5)]
        >>> labels = [ut.Label(pages[0].id, "name", "Lamp 0"), ut.Label(pages[0].id, "price", "$0.99")]
        >>> rules = ut.learn(pages, labels)
        >>> [record["name"] for record in rules.extract(pages)]
        ['Lamp 0', 'Lamp 1', 'Lamp 2', 'Lamp 3', 'Lamp 4']
        >>> rules.extract_one(pages[3])["price"]
        '$3.99'
    """

    schema: Schema
    wrappers: tuple[Wrapper, ...]

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Read a rules file.

        Args:
            path: the file, as `save` or `untemplate learn` wrote it.

        Raises:
            RulesError: the file is missing, broken, hostile or newer; the message says where and why.
        """
        try:
            return cls.loads(Path(path).read_bytes(), str(path))
        except OSError as error:
            raise RulesError(f"{path}: cannot read the rules: {why(error)}") from error

    @classmethod
    def loads(cls, text: str | bytes, name: str = "rules") -> Rules:
        """Return the rules in the text of a rules file.

        Args:
            text: the content of the file.
            name: the name of the file, for error messages.

        Raises:
            RulesError: the text is not a rules file that this version can use.
        """
        return cls(*parse_rules(text, name))

    def save(self, path: str | Path) -> None:
        """Write a rules file: readable JSON. It appears under its name only when it is complete.

        Raises:
            InputError: the file cannot be written.
        """
        with complete_file(path) as part:
            part.write_text(self.dumps(), "utf-8")

    def dumps(self) -> str:
        """Return the text of a rules file."""
        return format_rules(self.schema, self.wrappers)

    def extract(self, pages: Iterable[Page]) -> Iterator[Record]:
        """Yield a record for each page, or several for a list page.

        Records come as a stream, and the parse tree of each page is released, so memory stays constant. A page that
        cannot be read gets a record without values that says so.

        Args:
            pages: any pages of the site.
        """
        for page in pages:
            yield from self.extract_page(page)
            page.release()

    def extract_one(self, page: Page) -> Record:
        """Return the record of a page; for a list page, the first one."""
        return self.extract_page(page)[0]

    def extract_page(self, page: Page) -> list[Record]:
        """Return the records of a page: one, or one for each row of a list page.

        There is always at least one record. If nothing can be extracted, its `missing` says why.
        """
        try:
            wrapper, results = self._match_page(page)
        except PageError as error:
            return [self._empty_record(page, None, f"{Reason.UNREADABLE}: {error}")]
        if wrapper is None:
            return [self._empty_record(page, None, Reason.NO_WRAPPER)]
        if not wrapper.rules and not wrapper.lost:
            return [self._empty_record(page, wrapper.cluster, Reason.NEEDS_LABELS)]
        if not results:
            return [self._empty_record(page, wrapper.cluster, Reason.NO_RECORDS)]
        return [self._make_record(page, wrapper, result) for result in results]

    def _empty_record(self, page: Page, cluster: str | None, reason: str) -> Record:
        return Record(page.url, page.id, cluster, {}, dict.fromkeys(self.schema.attributes, reason))

    def _make_record(self, page: Page, wrapper: Wrapper, result: _Result) -> Record:
        position = result.record_page.position if result.record_page else None
        record = Record(page.url, page.id, wrapper.cluster, position=position)
        for name, attribute in self.schema.attributes.items():
            if matches := result.matches.get(name):
                record.values[name] = [result.make_value(match, attribute, page) for match in matches]
            else:
                record.missing[name] = _reason_missing(name, wrapper)
        return record

    def _match_page(self, page: Page) -> tuple[Wrapper | None, list[_Result]]:
        """Return the wrapper of a page and what its rules find: by URL, then signature, then success of its rules.

        The paper requires URL and signature to match. We depart from it because signatures change with every
        advertisement: if the URL pattern of a single wrapper matches and its rules succeed, the signature is not
        checked. If no signature matches, we choose the wrapper whose rules succeed and find most. Ties are broken by
        importance.
        """
        ranked = self._index.ranked
        candidates = self._index.find_by_url(page.url)
        if len(candidates) == 1:
            single = ranked[candidates[0]]
            results = self._apply(single, page)
            if single.rules and self._succeed(single, results):
                return single, results
        page_signature = signature(page.html)
        covering = self._index.find_by_signature(page_signature, candidates)
        if covering is not None:
            return ranked[covering], self._apply(ranked[covering], page)
        with_rules = [index for index in candidates if ranked[index].rules]
        similar = self._index.find_most_similar(page_signature, with_rules, MAX_TRIED_WRAPPERS)
        return self._choose_most_successful([ranked[index] for index in similar], page)

    def _choose_most_successful(
        self, wrappers: Iterable[Wrapper], page: Page
    ) -> tuple[Wrapper | None, list[_Result]]:
        """Return the wrapper whose rules succeed and find most, with its results; the first of several."""
        best: tuple[Wrapper | None, list[_Result]] = (None, [])
        most = -1.0
        for wrapper in wrappers:
            results = self._apply(wrapper, page)
            if self._succeed(wrapper, results):
                filled = sum(result.filled for result in results) / len(results)
                if filled > most:
                    best, most = (wrapper, results), filled
        return best

    @cached_property
    def _index(self) -> WrapperIndex:
        return WrapperIndex(self.wrappers)

    def _apply(self, wrapper: Wrapper, page: Page) -> list[_Result]:
        """Return what the rules of a wrapper find: one result, or one for each record of a list page."""
        attributes = self.schema.attributes
        if wrapper.records is None:
            return [_Result(apply_wrapper(wrapper, page, attributes))]
        return [
            _Result(apply_rules(wrapper, ParsedPage(record_page.tree), attributes), record_page)
            for record_page in split_records(wrapper.records, page)
        ]

    def _succeed(self, wrapper: Wrapper, results: Sequence[_Result]) -> bool:
        """Return True if rules succeed on a page: for list pages, in more than half of the records."""
        successes = sum(self._succeed_in(wrapper, result) for result in results)
        return 2 * successes > len(results)

    def _succeed_in(self, wrapper: Wrapper, result: _Result) -> bool:
        """Return True if all mandatory attributes have values.

        If none is mandatory, more than half of all attributes must have values; in a record of a list page, any.
        """
        mandatory = [name for name in wrapper.rules if self.schema.attributes[name].mandatory]
        if mandatory:
            return all(result.matches[name] for name in mandatory)
        if wrapper.records:
            return result.filled > 0
        return 2 * result.filled > len(wrapper.rules)


@dataclass(frozen=True, slots=True)
class _Result:
    """What the rules of a wrapper find on a page, or in one record of a list page."""

    matches: dict[str, list[Match]]
    record_page: RecordPage | None = None

    @property
    def filled(self) -> int:
        """How many attributes have values."""
        return sum(map(bool, self.matches.values()))

    def make_value(self, match: Match, attribute: Attribute, page: Page) -> Value:
        """Return a match as a value: with its typed data, and its XPath on the page."""
        data = parse_typed(match.text, attribute.type, page.url)
        xpath = self.record_page.xpath(match.node) if self.record_page else match.node.numbered_xpath
        return Value(match.text, data, xpath, match.rule, round(match.confidence, 3))


def _reason_missing(attribute: str, wrapper: Wrapper) -> Reason:
    if attribute in wrapper.lost:
        return Reason.SITE_CHANGED
    return Reason.NOT_ON_PAGE if attribute in wrapper.rules else Reason.NO_RULE


class WrapperIndex:
    """Finds the wrappers a page may belong to without trying all, so that a thousand templates cost no more than one.

    Wrappers are numbered by importance, the most important first; `ranked` lists them in this order. URL patterns are
    looked up by the texts before their first and after their last `*`.
    """

    def __init__(self, wrappers: Sequence[Wrapper]) -> None:
        self.ranked = sorted(wrappers, key=lambda wrapper: -wrapper.importance)
        self._by_pattern: dict[str, list[int]] = defaultdict(list)
        for index, wrapper in enumerate(self.ranked):
            self._by_pattern[wrapper.url_pattern].append(index)
        self._by_ends: dict[tuple[str, str], list[str]] = defaultdict(list)
        for pattern in self._by_pattern:
            self._by_ends[_literal_ends(pattern)].append(pattern)
        self._lengths = {(len(start), len(end)) for start, end in self._by_ends}
        owners: list[int] = []
        values: list[list[int]] = []
        for index, wrapper in enumerate(self.ranked):
            owners += [index] * len(wrapper.signatures)
            values += map(_signature_values, wrapper.signatures)
        self._owners = np.array(owners, np.intp)
        self._values = np.array(values, np.int16).reshape(-1, LENGTH)

    def find_by_url(self, url: str) -> Sequence[int]:
        """Return the wrappers whose URL pattern matches; all wrappers if there are none."""
        matching: list[int] = []
        for pattern in self._patterns_with_ends_of(url):
            if url_matches(pattern, url):
                matching += self._by_pattern[pattern]
        return sorted(matching) or range(len(self.ranked))

    def _patterns_with_ends_of(self, url: str) -> Iterator[str]:
        """Yield the patterns that begin and end like a URL."""
        for start, end in self._lengths:
            if start + end <= len(url):
                yield from self._by_ends.get((url[:start], url[len(url) - end :]), ())

    def find_by_signature(self, page_signature: Signature, among: Sequence[int]) -> int | None:
        """Return the first of these wrappers with a signature that covers this one; None if there is none."""
        covers = (self._values < 0) | self._equal_bytes(page_signature)
        covering = self._owners[covers.all(axis=1)]
        return next((index for index in covering.tolist() if index in among), None)

    def find_most_similar(self, page_signature: Signature, among: Sequence[int], count: int) -> list[int]:
        """Return up to `count` of these wrappers, those with the signatures most similar to this one."""
        agreement = np.zeros(len(self.ranked), np.intp)
        np.maximum.at(agreement, self._owners, self._equal_bytes(page_signature).sum(axis=1))
        return sorted(sorted(among, key=lambda index: -agreement[index])[:count])

    def _equal_bytes(self, page_signature: Signature) -> NDArray[np.bool_]:
        """Return, for each signature, at which positions it has the same byte."""
        return np.equal(self._values, np.array(page_signature.values, np.int16))


def _literal_ends(pattern: str) -> tuple[str, str]:
    """Return the texts before the first and after the last `*` of a URL pattern."""
    start, wildcard, rest = pattern.partition("*")
    return start, rest.rpartition("*")[2] if wildcard else ""


def _signature_values(masked: Signature) -> list[int]:
    """Return the bytes of a signature, with −1 for a wild card."""
    return [-1 if value is None else value for value in masked.values]
