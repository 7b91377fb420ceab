"""Rules for each list that labels may mean, tried on the labeled pages: which of them to keep.

The repeated group that `find_records` knows comes first: it is mostly right, and includes records that look unusual.
It is kept unless another list returns more of the labeled values, or as many, and has values like the labeled ones in
its records where the group has not, or has many more records.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from lxml import etree

from untemplate.labeling import Label
from untemplate.learning.reports import LearnedRules
from untemplate.page import Page, visible_text
from untemplate.page.locating import letters_and_digits
from untemplate.rules.applying import Match, apply_rules
from untemplate.rules.parsed_page import ParsedPage
from untemplate.rules.record_pages import RecordPage, split_records
from untemplate.rules.rule import Wrapper
from untemplate.schema import Schema

__all__ = ["ListGate", "ListTrial", "choose_trial"]

# A value that is so many times longer or shorter than all labeled ones is not like them.
MAX_LENGTH_RATIO = 4
# Values with a smaller share of digits are words, and others like them may have none.
MIN_DIGIT_SHARE = 0.25
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")

_Values = dict[str, Counter[str]]
"""Attribute → the letters and digits of its values in one record."""


@dataclass(frozen=True)
class ListTrial:
    """Rules for one of the lists that the labels may mean, and what they return on the labeled pages.

    Attributes:
        learned: the rules.
        is_group: True if the records are members of repeated groups; False if some are known by their labels alone.
        is_anchored: True if the records are around texts like the labeled ones.
        labeled: the labels of each page.
        schema: the attributes.
        apart: page → the names of labeled records whose values are in no single record of this list.
    """

    learned: LearnedRules
    is_group: bool
    is_anchored: bool
    labeled: Mapping[Page, Sequence[Label]]
    schema: Schema
    apart: Mapping[str, set[str]]

    @cached_property
    def records(self) -> dict[Page, list[RecordPage]]:
        """The records that the rules find, for each labeled page."""
        rule = self.learned.records
        return {} if rule is None else {page: split_records(rule, page) for page in self.labeled}

    @cached_property
    def _matches(self) -> dict[Page, list[dict[str, list[Match]]]]:
        """What the rules find in each of these records."""
        wrapper = Wrapper("", (), 0, "*", self.learned.rules, self.learned.static)
        attributes = self.schema.attributes
        matches: dict[Page, list[dict[str, list[Match]]]] = {}
        for page, records in self.records.items():
            matches[page] = [apply_rules(wrapper, ParsedPage(record.tree), attributes) for record in records]
        return matches

    @cached_property
    def found(self) -> dict[Page, list[_Values]]:
        """The values of each of these records."""
        return {page: list(map(_values_of, records)) for page, records in self._matches.items()}

    @cached_property
    def elements(self) -> set[etree._Element]:
        """The elements that the records consist of."""
        records = chain.from_iterable(self.records.values())
        return {element for record in records for element in record.elements}

    def shared_part_of(self, other: ListTrial) -> float:
        """Return the share of another trial's records that contain some of these records, or are in them."""
        around = {above for element in self.elements for above in (element, *element.iterancestors())}

        def is_shared(element: etree._Element) -> bool:
            return element in around or not self.elements.isdisjoint(element.iterancestors())

        records = list(chain.from_iterable(other.records.values()))
        return sum(any(map(is_shared, record.elements)) for record in records) / max(1, len(records))

    def is_purer_than(self, group: ListTrial, min_share: float) -> bool:
        """Return True if this is a part of a group that only lacks records without a value like the labeled ones."""
        is_part = len(self.starts & group.starts) >= min_share * self.size
        return is_part and self.size < group.size and self.plausible_records >= group.plausible_records

    @cached_property
    def starts(self) -> set[tuple[etree._Element, str]]:
        """Where the records begin."""
        return {record.start for record in chain.from_iterable(self.records.values())}

    def joins_equally(self, min_share: float) -> bool:
        """Return True if at least this share of the records have the same number of elements, more than one."""
        lengths = Counter(len(record.elements) for record in chain.from_iterable(self.records.values()))
        [(length, count)] = lengths.most_common(1) or [(0, 0)]
        return length > 1 and count >= min_share * lengths.total()

    @property
    def size(self) -> int:
        """How many records the rules find."""
        return sum(map(len, self.found.values()))

    @cached_property
    def missing(self) -> dict[tuple[str, str], set[str]]:
        """The page and name of labeled records that do not come back, with the attributes that differ.

        The attributes are those of the most similar record that comes back.
        """
        missing: dict[tuple[str, str], set[str]] = {}
        for page, labels in self.labeled.items():
            for name, wanted in _wanted_values(labels).items():
                differences = [_different_attributes(wanted, found) for found in self.found.get(page, ())]
                least = min(differences, key=len, default=set(wanted))
                if least:
                    missing[page.id, name] = least
        return missing

    @property
    def lost_values(self) -> int:
        """How many labeled values do not come back."""
        return sum(map(len, self.missing.values()))

    @property
    def plausible_share(self) -> float:
        """The share of the records with a value like the labeled ones: mean over what all labeled records have."""
        return sum(self._plausible_shares) / len(self._plausible_shares)

    @property
    def best_plausible_share(self) -> float:
        """The largest of these shares: an attribute may be optional although all labeled records have it."""
        return max(self._plausible_shares)

    @property
    def plausible_records(self) -> int:
        """How many records that share is."""
        return round(self.best_plausible_share * self.size)

    @cached_property
    def _plausible_shares(self) -> list[float]:
        records = [record for labels in self.labeled.values() for record in _wanted_values(labels).values()]
        usual = [name for name in self.learned.rules if all(record.get(name) for record in records)]
        return list(map(self._share_like_labels, usual or self.learned.rules)) or [0.0]

    @property
    def has_others(self) -> bool:
        """True if the rules find other records than the labeled ones."""
        return self.size > sum(len(_wanted_values(labels)) for labels in self.labeled.values())

    def _share_like_labels(self, attribute: str) -> float:
        labeled_values: list[str] = []
        for labels in self.labeled.values():
            labeled_values += [label.value or "" for label in labels if label.attribute == attribute]
        is_like_labels = _likeness_test(filter(None, map(letters_and_digits, labeled_values)))
        path = self._usual_path(attribute)
        plausible = 0
        for page, records in self.found.items():
            for values, record in zip(records, self.records[page], strict=True):
                # A rule from two records may miss a value of the others. The record is one all the same.
                texts = values.get(attribute) or _texts_at(record.tree, path)
                plausible += any(map(is_like_labels, texts))
        return plausible / max(1, self.size)

    def _usual_path(self, attribute: str) -> str:
        """Return the tags from the root of a record to the element of its value, as most records have them."""
        paths: Counter[str] = Counter()
        for match in chain.from_iterable(
            record.get(attribute, ()) for record in chain.from_iterable(self._matches.values())
        ):
            paths[_path_in_record(match.node.parent)] += 1
        return paths.most_common(1)[0][0] if paths else ""

    def report(self, problems: Sequence[str]) -> LearnedRules:
        """Return the rules with a finding for each labeled record that does not come back."""
        messages: list[str] = []
        unfit: dict[str, str] = {}
        for (page, name), attributes in self.missing.items():
            if name in self.apart.get(page, ()):
                messages.append(f"{page}: record {name}: its values are not close together on the page")
            else:
                names = ", ".join(sorted(attributes))
                messages.append(f"{page}: record {name} does not come back as labeled: look at {names}")
            unfit.update(dict.fromkeys(attributes, page))
        reports = [replace(report, unfit=unfit.get(report.attribute)) for report in self.learned.reports]
        return replace(self.learned, reports=reports, problems=[*problems, *messages])


@dataclass(frozen=True)
class ListGate:
    """When the repeated group is not the list that the labels mean.

    Attributes:
        min_plausible: the least share of its records with a value like the labeled ones.
        min_more: how many times as many records another list must have that is as good.
    """

    min_plausible: float
    min_more: float


# The share is that of a prototype. With shares of 0.7 to 0.95 and factors of 1.3 to 2 value F1 on `courts` is the
# same, one family of courts left out: `python -m benchmarks.measure.two_rows --constants`. Below 2, rows of other
# lists of a page join some lists of `lists`.
GATE = ListGate(0.8, 2.0)


def choose_trial(trials: Sequence[ListTrial], gate: ListGate = GATE) -> ListTrial:
    """Return the trial whose list the labels mean most likely: the group, unless another list is clearly better."""
    candidates = [trial for trial in trials if trial.is_anchored]
    if group := next((trial for trial in trials if not trial.is_anchored), None):
        candidates = [trial for trial in candidates if _beats(trial, group, gate)] or [group]
    return min(
        candidates,
        key=lambda trial: (trial.lost_values, trial.plausible_share < gate.min_plausible, -trial.size),
    )


def _beats(trial: ListTrial, group: ListTrial, gate: ListGate) -> bool:
    """Return True if a list returns more labeled values than a group, or as many from better or many more records."""
    if trial.lost_values != group.lost_values:
        return trial.lost_values < group.lost_values
    if group.has_others and not trial.has_others:
        return False
    if trial.plausible_share < gate.min_plausible:
        return False
    if not group.is_group:
        return trial.plausible_share >= group.plausible_share
    joins_all = trial.joins_equally(gate.min_plausible) and group.elements <= trial.elements
    share = group.plausible_share if joins_all else group.best_plausible_share
    if share < gate.min_plausible:
        return True
    if trial.size >= gate.min_more * group.size:
        return trial.shared_part_of(group) >= gate.min_plausible
    return trial.is_purer_than(group, gate.min_plausible)


def _values_of(matches: Mapping[str, Sequence[Match]]) -> _Values:
    return {
        name: Counter(letters_and_digits(match.text) for match in values) for name, values in matches.items()
    }


def _path_in_record(element: etree._Element) -> str:
    """Return the tags from the root of a record, without it, down to an element; cells of a table are counted."""
    steps = []
    while (parent := element.getparent()) is not None:
        is_cell = element.tag in ("td", "th")
        number = sum(1 for _ in element.itersiblings(element.tag, preceding=True)) + 1
        steps.append(f"{element.tag}[{number}]" if is_cell else element.tag)
        element = parent
    return "/".join(reversed(steps))


def _texts_at(record: etree._Element, path: str) -> list[str]:
    """Return the letters and digits of the elements at a path of a record."""
    elements = record.findall(path) if path else []
    return [letters_and_digits(visible_text(element)) for element in elements]


def _wanted_values(labels: Iterable[Label]) -> dict[str, _Values]:
    """Return the labeled values of each record; labels that only pin a node by an XPath are not judged."""
    wanted: dict[str, _Values] = {}
    for label in labels:
        is_pinned = label.xpath is not None and label.value is None
        if label.record is not None and not is_pinned:
            values = wanted.setdefault(label.record, {}).setdefault(label.attribute, Counter())
            values.update([] if label.is_gap else [letters_and_digits(label.value or "")])
    return wanted


def _different_attributes(wanted: _Values, found: _Values) -> set[str]:
    """Return the attributes whose labeled values a record lacks."""
    return {name for name, values in wanted.items() if values - found.get(name, Counter())}


def _likeness_test(values: Iterable[str]) -> Callable[[str], bool]:
    """Return a test whether a text is like the given ones: about as long, with digits if all have many."""
    texts = list(values)
    kind = _DIGIT if all(map(_is_number, texts)) else _LETTER
    lengths = [len(text) for text in texts] or [0]
    shortest, longest = min(lengths) / MAX_LENGTH_RATIO, max(lengths) * MAX_LENGTH_RATIO

    def is_like(text: str) -> bool:
        return shortest <= len(text) <= longest and kind.search(text) is not None

    return is_like


def _is_number(text: str) -> bool:
    """Return True for a number, price or code; two labeled titles may have digits by chance, as in `Route 66`."""
    return len(_DIGIT.findall(text)) >= MIN_DIGIT_SHARE * len(text)
