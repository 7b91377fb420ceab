"""All wrappers of a site: match a page to one of them and extract its record (Vertex IV-A)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from untemplate.clustering import signature
from untemplate.errors import PageError, RulesError
from untemplate.extraction.apply import Found, apply_rule
from untemplate.extraction.format import format_rules, parse_rules
from untemplate.extraction.output import complete_file
from untemplate.extraction.rule import Wrapper
from untemplate.page import Page
from untemplate.patterns import parse_typed
from untemplate.record import Reason, Record, Value
from untemplate.schema import Attribute, Schema

__all__ = ["Rules"]

_Values = dict[str, list[Found]]


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
            raise RulesError(f"{path}: cannot read the rules: {error}") from error

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
        """A record for each page, as a stream; what was parsed of a page is forgotten again."""
        for page in pages:
            yield self.extract_one(page)
            page.release()

    def extract_one(self, page: Page) -> Record:
        """The record of one page: values, and for each gap its reason."""
        try:
            wrapper, found = self._match(page)
        except PageError as error:
            return self._empty(page, None, f"{Reason.UNREADABLE}: {error}")
        if wrapper is None:
            return self._empty(page, None, Reason.NO_WRAPPER)
        if not wrapper.rules and not wrapper.lost:
            return self._empty(page, wrapper.cluster, Reason.NEEDS_LABELS)
        record = Record(page.url, page.id, wrapper.cluster)
        for name, attribute in self.schema.attributes.items():
            if places := found.get(name):
                record.values[name] = [_value(place, attribute, page) for place in places]
            else:
                record.missing[name] = _reason(name, wrapper)
        return record

    def _match(self, page: Page) -> tuple[Wrapper | None, _Values]:
        """The wrapper of a page and what its rules find: by URL, then signature, then by whether its rules hold.

        The paper asks for URL and signature to match. Signatures change with every advertisement, so this departs
        from it: one wrapper alone whose URL pattern matches and whose rules hold needs no signature, and where no
        signature matches, the wrapper whose rules hold and find most will do. Importance breaks ties.
        """
        by_url = [wrapper for wrapper in self.wrappers if wrapper.knows_url(page.url)]
        candidates = by_url or self.wrappers
        if len(candidates) == 1:
            found = self._apply(candidates[0], page)
            if candidates[0].rules and self._hold(candidates[0], found):
                return candidates[0], found
        own = signature(page.html)
        ranked = sorted(candidates, key=lambda wrapper: -wrapper.importance)
        for wrapper in ranked:
            if wrapper.knows_signature(own):
                return wrapper, self._apply(wrapper, page)
        holding = [
            (wrapper, found)
            for wrapper in ranked
            if wrapper.rules and self._hold(wrapper, found := self._apply(wrapper, page))
        ]
        return max(holding, key=lambda pair: sum(map(bool, pair[1].values())), default=(None, {}))

    def _apply(self, wrapper: Wrapper, page: Page) -> _Values:
        tree = page.tree
        attributes = self.schema.attributes
        return {
            name: apply_rule(rule, tree, wrapper, attributes[name]) for name, rule in wrapper.rules.items()
        }

    def _hold(self, wrapper: Wrapper, found: _Values) -> bool:
        """Whether rules hold on a page: all mandatory attributes come out, or where none is mandatory, most."""
        mandatory = [name for name in wrapper.rules if self.schema.attributes[name].mandatory]
        if mandatory:
            return all(found[name] for name in mandatory)
        return 2 * sum(bool(places) for places in found.values()) > len(wrapper.rules)

    def _empty(self, page: Page, cluster: str | None, reason: str) -> Record:
        return Record(page.url, page.id, cluster, {}, dict.fromkeys(self.schema.attributes, reason))


def _reason(attribute: str, wrapper: Wrapper) -> Reason:
    if attribute in wrapper.lost:
        return Reason.SITE_CHANGED
    return Reason.NOT_ON_PAGE if attribute in wrapper.rules else Reason.NO_RULE


def _value(found: Found, attribute: Attribute, page: Page) -> Value:
    data = parse_typed(found.text, attribute.type, page.url)
    return Value(found.text, data, found.node.xpath, found.rule, round(found.confidence, 3))
