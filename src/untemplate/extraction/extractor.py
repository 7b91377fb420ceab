"""Extract records: match a page to one of a site's wrappers, apply its rules, normalize the values (Vertex IV-A)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from untemplate.atomic_file import complete_file
from untemplate.errors import PageError, RulesError, why
from untemplate.extraction.matching import Success, WrapperIndex
from untemplate.input_files import read_limited
from untemplate.page import Page
from untemplate.record import Reason, Record, Value, html_table
from untemplate.rules.applying import UNDECIDED, Match, apply_rules, apply_wrapper
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import Bellwether, Wrapper
from untemplate.schema import Attribute, Schema
from untemplate.value_types import parse_typed

__all__ = ["Rules"]

# Factor of the confidence on pages whose template is uncertain: the success of the rules decided, or a cluster of few
# pages borrowed them. On 60 sites
# of `recipes`, without scripts, only three values came from such pages, one of them right: too few to fit a factor.
# This one keeps such values apart from those that a user may take without a look.
UNCERTAIN_PAGE = 0.7
# Rules with this support find a value on nearly every page of their template. With this many of them, a page on which
# all find something is one of the template.
MIN_USUAL_SUPPORT = 0.9
MIN_USUAL_ATTRIBUTES = 3


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

    def __repr__(self) -> str:
        names = ", ".join(self.schema.attributes)
        clusters = "1 cluster" if len(self.wrappers) == 1 else f"{len(self.wrappers)} clusters"
        return f"Rules({self.schema.name}: {names}; {clusters})"

    def _repr_html_(self) -> str:
        """Return each rule in words as a table, for notebooks."""
        from untemplate.rules.in_words import explain_rule

        rows: list[tuple[str, str, str]] = []
        for wrapper in self.wrappers:
            rows += [(wrapper.cluster, name, explain_rule(rule)) for name, rule in wrapper.rules.items()]
            if not wrapper.rules:
                rows.append((wrapper.cluster, "", str(Reason.NEEDS_LABELS)))
        return html_table(("cluster", "attribute", "rule"), rows)

    @property
    def by_cluster(self) -> dict[str, Wrapper]:
        """The wrappers by the name of their cluster."""
        return {wrapper.cluster: wrapper for wrapper in self.wrappers}

    @property
    def bellwethers(self) -> list[Bellwether]:
        """The watched pages of all wrappers."""
        return list(chain.from_iterable(wrapper.bellwethers for wrapper in self.wrappers))

    @classmethod
    def load(cls, path: str | Path) -> Rules:
        """Read a rules file.

        Args:
            path: the file, as `save` or `untemplate learn` wrote it.

        Raises:
            RulesError: the file is missing, broken, hostile or newer; the message says where and why.
        """
        try:
            text = read_limited(Path(path))
        except (OSError, ValueError) as error:
            raise RulesError(f"{path}: cannot read the rules: {why(error)}") from error
        return cls.loads(text, str(path))

    @classmethod
    def loads(cls, text: str | bytes, name: str = "rules") -> Rules:
        """Return the rules in the text of a rules file.

        Args:
            text: the content of the file.
            name: the name of the file, for error messages.

        Raises:
            RulesError: the text is not a rules file that this version can use.
        """
        from untemplate.rules.file_format import parse_rules  # here, as workers do not read files

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
        from untemplate.rules.file_format import format_rules

        return format_rules(self.schema, self.wrappers)

    def extract(self, pages: Iterable[Page] | str | Path, min_confidence: float = 0.0) -> Iterator[Record]:
        """Yield a record for each page, or several for a list page.

        Records come as a stream, and the parse tree of each page is released, so memory stays constant. A page that
        cannot be read gets a record without values that says so.

        Args:
            pages: any pages of the site, or the path of a source.
            min_confidence: leave out values of a lower confidence, from 0 to 1; the record says so in `missing`.
        """
        if not isinstance(pages, list) or not all(isinstance(page, Page) for page in pages):
            from untemplate.sources import as_pages  # here, as workers get pages and read no sources

            pages = as_pages(pages)
        for page in pages:
            for record in self.extract_page(page):
                yield record.without_doubtful(min_confidence)
            page.release()

    def extract_one(self, page: Page | str | Path) -> Record:
        """Return the record of a page, of its HTML, or of its file; for a list page, the first one."""
        if not isinstance(page, Page):
            from untemplate.sources import as_page

            page = as_page(page)
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
            matches = result.matches.get(name)
            if not matches:
                record.missing[name] = _reason_missing(name, wrapper)
            elif matches[0].confidence == UNDECIDED:
                record.missing[name] = Reason.UNDECIDED
            else:
                record.values[name] = result.make_values(matches, attribute, page)
        return record

    def _match_page(self, page: Page) -> tuple[Wrapper | None, list[_Result]]:
        """Return the wrapper of a page and what its rules find; None if there is no such wrapper."""
        match = self._index.match(page)
        wrapper, results = self._choose_most_successful(match.possible, page, match.success)
        if wrapper is not None:
            is_uncertain = bool(wrapper.signatures)  # without any, it was made for all pages
        elif match.wrapper is None:
            return None, []
        else:
            wrapper, results = match.wrapper, self._apply(match.wrapper, page)
            is_uncertain = bool(wrapper.lender) and wrapper.core is None
        for result in results:
            result.is_uncertain = is_uncertain
        return wrapper, results

    def _choose_most_successful(
        self, wrappers: Iterable[Wrapper], page: Page, success: Success
    ) -> tuple[Wrapper | None, list[_Result]]:
        """Return the wrapper whose rules succeed and are most sure, with its results; the first of several.

        Args:
            wrappers: the wrappers to try.
            page: the page.
            success: what the rules must find.
        """
        best: tuple[Wrapper | None, list[_Result]] = (None, [])
        most = -1.0
        for wrapper in wrappers:
            results = self._apply(wrapper, page)
            if self._succeed(wrapper, results, success):
                agreement = sum(result.agreement for result in results) / len(results)
                if agreement > most:
                    best, most = (wrapper, results), agreement
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

    def _succeed(self, wrapper: Wrapper, results: Sequence[_Result], success: Success) -> bool:
        """Return True if rules succeed on a page: for list pages, in more than half of the records."""
        successes = sum(self._succeed_in(wrapper, result, success) for result in results)
        return 2 * successes > len(results)

    def _succeed_in(self, wrapper: Wrapper, result: _Result, success: Success) -> bool:
        """Return True if all mandatory attributes have values, or more if more is asked for.

        If none is mandatory, more than half of all attributes must have values; in a record of a list page, any.
        """
        if success == "complete":
            usual = [name for name, rule in wrapper.rules.items() if rule.support >= MIN_USUAL_SUPPORT]
            return len(usual) >= MIN_USUAL_ATTRIBUTES and all(map(result.has_sure_value, usual))
        mandatory = [name for name in wrapper.rules if self.schema.attributes[name].mandatory]
        if mandatory:
            has_value = result.matches.__getitem__ if success == "doubtful" else result.has_sure_value
            return all(map(has_value, mandatory))
        if wrapper.records:
            return result.filled > 0
        return 2 * result.filled > len(wrapper.rules)


@dataclass(slots=True)
class _Result:
    """What the rules of a wrapper find on a page, or in one record of a list page."""

    matches: dict[str, list[Match]]
    record_page: RecordPage | None = None
    is_uncertain: bool = False

    @property
    def filled(self) -> int:
        """How many attributes have values."""
        return sum(map(bool, self.matches.values()))

    @property
    def agreement(self) -> float:
        """How sure the rules are, over all attributes: the sum of the lowest confidence in the values of each."""
        found = filter(None, self.matches.values())
        return sum(min(match.confidence for match in matches) for matches in found)

    def has_sure_value(self, attribute: str) -> bool:
        """Return True if an attribute has a value that is not doubtful."""
        return any(not match.is_doubtful for match in self.matches[attribute])

    def make_values(self, matches: Sequence[Match], attribute: Attribute, page: Page) -> list[Value]:
        """Return the matches of one attribute as values: with typed data, and their XPaths on the page.

        What is found together has one confidence.
        """
        share = matches[0].confidence
        confidence = round(share * UNCERTAIN_PAGE if self.is_uncertain else share, 3)
        values: list[Value] = []
        for node, text, rule, *_ in matches:
            data = parse_typed(text, attribute.type, page.url)
            xpath = self.record_page.xpath(node) if self.record_page else node.numbered_xpath
            values.append(Value(text, data, xpath, rule, confidence))
        return values


def _reason_missing(attribute: str, wrapper: Wrapper) -> Reason:
    if attribute in wrapper.lost:
        return Reason.SITE_CHANGED
    return Reason.NOT_ON_PAGE if attribute in wrapper.rules else Reason.NO_RULE
