"""All wrappers of a site: match a page to one of them and extract its record (Vertex IV-A)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from untemplate.atomic_file import complete_file
from untemplate.errors import PageError, RulesError, why
from untemplate.extraction.matching import Matcher
from untemplate.page import Page, signature
from untemplate.record import Reason, Record, Value
from untemplate.rules.applying import Match, apply_rules, apply_wrapper
from untemplate.rules.file_format import format_rules, parse_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.value_types import parse_typed

__all__ = ["Rules"]

_Values = dict[str, list[Match]]
_Parts = list[tuple[RecordPage | None, _Values]]
"""What rules find on a page: in each record of a list page, or on the page as a whole."""

# Wrappers that are tried on a page which none matches. Sites of SWDE have two with rules at most.
TRIED = 16


@dataclass(frozen=True)
class Rules:
    """All wrappers of a site. A wrapper without rules stands for pages that still need labels."""

    schema: Schema
    wrappers: tuple[Wrapper, ...]

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Read a rules file; RulesError says what is wrong with a broken, hostile or newer one."""
        try:
            return cls.loads(Path(path).read_bytes(), str(path))
        except OSError as error:
            raise RulesError(f"{path}: cannot read the rules: {why(error)}") from error

    @classmethod
    def loads(cls, text: str | bytes, name: str = "rules") -> Rules:
        """The rules that a rules file says; `name` stands for it in errors."""
        return cls(*parse_rules(text, name))

    def save(self, path: str | Path) -> None:
        """Write a rules file, readable JSON; it appears when it is complete."""
        with complete_file(path) as part:
            part.write_text(self.dumps(), "utf-8")

    def dumps(self) -> str:
        """The rules as the text of a rules file."""
        return format_rules(self.schema, self.wrappers)

    def extract(self, pages: Iterable[Page]) -> Iterator[Record]:
        """A record for each page, or for each row of a list page, as a stream; what was parsed is forgotten."""
        for page in pages:
            yield from self.extract_page(page)
            page.release()

    def extract_one(self, page: Page) -> Record:
        """The record of one page, of a list page the first: values, and for each gap its reason."""
        return self.extract_page(page)[0]

    def extract_page(self, page: Page) -> list[Record]:
        """The records of one page: one, or one a row of a list page; without rows, one that says so."""
        try:
            wrapper, parts = self._match(page)
        except PageError as error:
            return [self._empty(page, None, f"{Reason.UNREADABLE}: {error}")]
        if wrapper is None:
            return [self._empty(page, None, Reason.NO_WRAPPER)]
        if not wrapper.rules and not wrapper.lost:
            return [self._empty(page, wrapper.cluster, Reason.NEEDS_LABELS)]
        if not parts:
            return [self._empty(page, wrapper.cluster, Reason.NO_RECORDS)]
        return [self._record(page, wrapper, part, found) for part, found in parts]

    def _record(self, page: Page, wrapper: Wrapper, part: RecordPage | None, found: _Values) -> Record:
        record = Record(page.url, page.id, wrapper.cluster, position=part.position if part else None)
        for name, attribute in self.schema.attributes.items():
            if places := found.get(name):
                record.values[name] = [_value(place, attribute, page, part) for place in places]
            else:
                record.missing[name] = _reason(name, wrapper)
        return record

    def _match(self, page: Page) -> tuple[Wrapper | None, _Parts]:
        """The wrapper of a page and what its rules find: by URL, then signature, then by whether its rules hold.

        The paper asks for URL and signature to match. Signatures change with every advertisement, so this departs
        from it: one wrapper alone whose URL pattern matches and whose rules hold needs no signature, and where no
        signature matches, the wrapper whose rules hold and find most will do. Importance breaks ties.
        """
        ranked = self._matcher.ranked
        candidates = self._matcher.by_url(page.url)
        if len(candidates) == 1:
            alone = ranked[candidates[0]]
            found = self._apply(alone, page)
            if alone.rules and self._hold(alone, found):
                return alone, found
        own = signature(page.html)
        covering = self._matcher.by_signature(own, candidates)
        if covering is not None:
            return ranked[covering], self._apply(ranked[covering], page)
        with_rules = [index for index in candidates if ranked[index].rules]
        holding = [
            (ranked[index], found)
            for index in self._matcher.most_alike(own, with_rules, TRIED)
            if self._hold(ranked[index], found := self._apply(ranked[index], page))
        ]
        return max(holding, key=lambda pair: _mean_found(pair[1]), default=(None, []))

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.wrappers)

    def _apply(self, wrapper: Wrapper, page: Page) -> _Parts:
        attributes = self.schema.attributes
        if wrapper.records is None:
            return [(None, apply_wrapper(wrapper, page, attributes))]
        parts = split_records(wrapper.records, page)
        return [(part, apply_rules(wrapper, ParsedPage(part.tree), attributes)) for part in parts]

    def _hold(self, wrapper: Wrapper, parts: _Parts) -> bool:
        """Whether rules hold on a page: on it as a whole, or in most of its records."""
        return 2 * sum(self._hold_in(wrapper, found) for _, found in parts) > len(parts)

    def _hold_in(self, wrapper: Wrapper, found: _Values) -> bool:
        """Whether all mandatory attributes come out, or where none is mandatory, most; in a record of many, any."""
        mandatory = [name for name in wrapper.rules if self.schema.attributes[name].mandatory]
        if mandatory:
            return all(found[name] for name in mandatory)
        if wrapper.records:
            return any(found.values())
        return 2 * sum(bool(places) for places in found.values()) > len(wrapper.rules)

    def _empty(self, page: Page, cluster: str | None, reason: str) -> Record:
        return Record(page.url, page.id, cluster, {}, dict.fromkeys(self.schema.attributes, reason))


def _reason(attribute: str, wrapper: Wrapper) -> Reason:
    if attribute in wrapper.lost:
        return Reason.SITE_CHANGED
    return Reason.NOT_ON_PAGE if attribute in wrapper.rules else Reason.NO_RULE


def _value(found: Match, attribute: Attribute, page: Page, part: RecordPage | None) -> Value:
    data = parse_typed(found.text, attribute.type, page.url)
    xpath = part.xpath(found.node) if part else found.node.numbered_xpath
    return Value(found.text, data, xpath, found.rule, round(found.confidence, 3))


def _mean_found(parts: _Parts) -> float:
    """How many attributes come out, on the mean of the records."""
    return sum(bool(places) for _, found in parts for places in found.values()) / len(parts)
