"""What fresh pages show about the rules of a cluster: values remembered and values found, side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from untemplate.errors import PageError
from untemplate.labeling.golden import Golden, ValueFinder
from untemplate.page import Page, index_pages, signature
from untemplate.page.same_values import folded_words, same_values
from untemplate.page.template_cores import PageRuns
from untemplate.rules import Bellwether, Wrapper
from untemplate.rules.applying import NOT_SHOWN, Match, apply_wrapper
from untemplate.schema import Attribute, Schema
from untemplate.watching.bellwethers import mean_confidence

__all__ = [
    "Comparison",
    "Evidence",
    "PagePair",
    "compare_pages",
    "is_outage",
    "is_same_or_edited",
    "pair_bellwethers",
]

PagePair = tuple[Bellwether | None, Page]
"""What is remembered of a page, if anything, and the page as it is now."""

_AttributeValue = tuple[str, tuple[str, ...]]

# A single value that only one record has may have been rewritten; if two are gone, the page shows another record.
# The number is our judgment, without a sweep.
MIN_VANISHED_VALUES = 2
# A page shows another record if its rules work as on other pages: on this many, so that it is no coincidence.
MIN_CONFIRMING_PAGES = 3
# Two texts with this share of their words in common are versions of one text, if it is not short. Both numbers are
# our judgment, without a sweep; `benchmarks.measure.repairs` shows their effect on real pages.
MIN_SHARED_WORDS = 0.8
MIN_EDITED_WORDS = 5


@dataclass(frozen=True)
class Comparison:
    """One attribute on one page: what is remembered, and what its rule finds now.

    Attributes:
        page: the page's id.
        golden: the remembered values; empty if there were none, None if nothing is remembered of the page.
        found: the values that the rule finds now.
        is_same: the values found are the remembered ones, at most edited.
        is_elsewhere: the remembered values are still on the page, but the rule does not find them.
        agreement: the committee's confidence in the values found.
        was_doubtful: there was a value, but the committee doubted it, so it is not remembered.
        is_unseen: the values found are those of the embedded data, and a reader of the page does not see them.
    """

    page: str
    golden: tuple[str, ...] | None
    found: tuple[str, ...] = ()
    is_same: bool = False
    is_elsewhere: bool = False
    agreement: float = 0.0
    was_doubtful: bool = False
    is_unseen: bool = False

    @property
    def is_missing(self) -> bool:
        """True if there was a value, and now there is none."""
        return bool(self.golden) and not self.found

    @property
    def is_other(self) -> bool:
        """True if another value is found than is remembered, or one where there was none."""
        return bool(self.found) and self.golden is not None and not self.is_same

    @property
    def is_confirmed(self) -> bool:
        """True if a remembered value comes out again."""
        return self.is_same and bool(self.golden)

    @property
    def is_filled_gap(self) -> bool:
        """True if a value is found where it is remembered that there is none."""
        return self.golden == () and bool(self.found)


@dataclass(frozen=True)
class Evidence:
    """What fresh pages show about the rules of one cluster.

    Attributes:
        wrapper: the rules.
        pages: ids of all pages compared.
        watched: ids of the bellwethers among them; of all pages if there are no bellwethers.
        unlike: ids of watched pages whose structure no signature of the wrapper covers.
        gone: ids of bellwethers whose pages no longer show a record; they are not compared.
        reused: ids of bellwethers whose pages show another record now; they are compared like other pages.
        comparisons: by attribute. An attribute without a rule is compared if values of it are remembered.
    """

    wrapper: Wrapper
    pages: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    unlike: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    reused: tuple[str, ...] = ()
    comparisons: dict[str, list[Comparison]] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """The share of watched pages that still have the structure of the cluster."""
        return 1 - len(self.unlike) / len(self.watched) if self.watched else 0.0

    def confirms_a_golden_value(self) -> bool:
        """Return True if any remembered value comes out again."""
        return any(_any_confirmed(comparisons) for comparisons in self.comparisons.values())

    def fills_all_attributes(self) -> bool:
        """Return True if each attribute with a rule has a value on each page compared."""
        return all(_all_found(self.comparisons.get(name, ())) for name in self.wrapper.rules)


def _any_confirmed(comparisons: Iterable[Comparison]) -> bool:
    return any(comparison.is_confirmed for comparison in comparisons)


def _all_found(comparisons: Sequence[Comparison]) -> bool:
    return bool(comparisons) and all(comparison.found for comparison in comparisons)


def pair_bellwethers(wrapper: Wrapper, fresh: Mapping[str, Page]) -> list[PagePair]:
    """Return the wrapper's bellwethers that have a fresh version in an index of pages."""
    pairs: list[PagePair] = []
    for bellwether in wrapper.bellwethers:
        page = fresh.get(bellwether.url) or fresh.get(bellwether.page)
        if page is not None:
            pairs.append((bellwether, page))
    return pairs


def compare_pages(wrapper: Wrapper, pairs: Iterable[PagePair], schema: Schema) -> Evidence:
    """Apply a wrapper to fresh versions of its bellwethers and to other pages, and compare.

    Args:
        wrapper: the rules to check.
        pairs: fresh pages with what is remembered of them; None for pages that are no bellwethers.
        schema: the attributes of the rules.
    """
    gone: list[Page] = []
    compared: list[_ComparedPage] = []
    common = _common_values(wrapper.bellwethers)
    for bellwether, page in pairs:
        by_name = _compare_page(wrapper, bellwether, page, schema, common)
        if by_name is None:
            gone.append(page)
        else:
            compared.append(_ComparedPage(bellwether, page, by_name))
    compared = _without_strays(wrapper, compared)
    compared = _forget_other_records(wrapper, compared, common, schema)
    pages = [one.page for one in compared]
    watched = [one.page for one in compared if one.bellwether] or pages
    return Evidence(
        wrapper,
        _ids(pages),
        _ids(watched),
        _ids(_unlike_pages(wrapper, watched)),
        _ids(gone),
        _ids(one.page for one in compared if one.is_reused),
        _group_by_attribute(compared),
    )


@dataclass(frozen=True)
class _ComparedPage:
    """A fresh page, what is remembered of it, and the comparison of each attribute."""

    bellwether: Bellwether | None
    page: Page
    comparisons: dict[str, Comparison]

    @property
    def is_reused(self) -> bool:
        """True if it was remembered, but nothing of that is compared: it shows another record now."""
        return self.bellwether is not None and all(one.golden is None for one in self.comparisons.values())


def _group_by_attribute(compared: Iterable[_ComparedPage]) -> dict[str, list[Comparison]]:
    by_attribute: defaultdict[str, list[Comparison]] = defaultdict(list)
    for one in compared:
        for name, comparison in one.comparisons.items():
            by_attribute[name].append(comparison)
    return dict(by_attribute)


def _without_strays(wrapper: Wrapper, compared: list[_ComparedPage]) -> list[_ComparedPage]:
    """Return the pages without those that are no bellwethers, have another structure, and show no record.

    They are in the cluster by their URL alone, such as pages that are no longer available. If they are most pages,
    the site may have changed, and they count.
    """
    strays = [one for one in compared if one.bellwether is None and _is_stray(wrapper, one)]
    return compared if 2 * len(strays) >= len(compared) else [one for one in compared if one not in strays]


def _is_stray(wrapper: Wrapper, compared: _ComparedPage) -> bool:
    has_values = any(comparison.found for comparison in compared.comparisons.values())
    return not has_values and not _has_structure(wrapper, compared.page)


def _forget_other_records(
    wrapper: Wrapper, compared: list[_ComparedPage], common: Collection[_AttributeValue], schema: Schema
) -> list[_ComparedPage]:
    """Return the pages, with those that show another record compared like pages never seen.

    The remembered record may still be mentioned on such a page, as a related one. But another record is at the places
    where other pages show their own.
    """
    places = _OwnPlaces(wrapper, compared, schema)
    result = []
    for one in compared:
        names = _replaced_names(one, common, schema)
        if names and places.show_other_record(one, names) and _has_structure(wrapper, one.page):
            one = replace(one, comparisons=_forget_values(one.comparisons))
        result.append(one)
    return result


def _replaced_names(
    compared: _ComparedPage, common: Collection[_AttributeValue], schema: Schema
) -> list[str]:
    """Return the attributes that identify a record and have other values now; none if one has its old value.

    There must be several. The other record may lack some that the old one has.
    """
    names = _identifying_names(compared.comparisons, common, schema)
    replaced = [name for name in names if compared.comparisons[name].is_other]
    is_confirmed = not _confirmed_names(compared.comparisons).isdisjoint(names)
    return replaced if len(replaced) >= MIN_VANISHED_VALUES and not is_confirmed else []


@dataclass
class _OwnPlaces:
    """Where the pages of a cluster show the values of their own record."""

    wrapper: Wrapper
    compared: Sequence[_ComparedPage]
    schema: Schema

    def show_other_record(self, compared: _ComparedPage, names: Collection[str]) -> bool:
        """Return True if a page has other values at these places, and nowhere there what is remembered."""
        found = apply_wrapper(self.wrapper, compared.page, self.schema.attributes)
        return all(self._is_replaced(compared, name, found[name]) for name in names)

    def _is_replaced(self, compared: _ComparedPage, name: str, found: Sequence[Match]) -> bool:
        own_paths = self._paths_of[name]
        if not all(match.node.path in own_paths for match in found):
            return False
        texts = {node.text for node in compared.page.nodes if node.path in own_paths}
        return texts.isdisjoint(compared.comparisons[name].golden or ())

    @cached_property
    def _paths_of(self) -> dict[str, set[str]]:
        """For each attribute, the paths of values that come out as remembered, on enough pages."""
        counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for one in self.compared:
            names = _confirmed_names(one.comparisons)
            if not names:
                continue
            for name, matches in apply_wrapper(self.wrapper, one.page, self.schema.attributes).items():
                if name in names:
                    counts[name].update({match.node.path for match in matches})
        return defaultdict(
            set,
            {
                name: {path for path, pages in paths.items() if pages >= MIN_CONFIRMING_PAGES}
                for name, paths in counts.items()
            },
        )


def _unlike_pages(wrapper: Wrapper, pages: Iterable[Page]) -> list[Page]:
    return [page for page in pages if not wrapper.matches_signature(signature(page.html))]


def _ids(pages: Iterable[Page]) -> tuple[str, ...]:
    return tuple(page.id for page in pages)


def _common_values(bellwethers: Iterable[Bellwether]) -> set[_AttributeValue]:
    """Return the values that several bellwethers have: they do not identify a record."""
    counts: Counter[_AttributeValue] = Counter()
    for bellwether in bellwethers:
        counts.update(bellwether.golden.items())
    return {value for value, count in counts.items() if count > 1}


def _compare_page(
    wrapper: Wrapper,
    bellwether: Bellwether | None,
    page: Page,
    schema: Schema,
    common: Collection[_AttributeValue],
) -> dict[str, Comparison] | None:
    """Compare all attributes of one page; None for a bellwether that no longer shows a record.

    On another page that cannot be read, nothing is found.
    """
    try:
        comparisons = _compare_values(wrapper, bellwether, page, schema)
        if bellwether is None or not any(map(_has_changed, comparisons.values())):
            return comparisons
        present = _still_present(bellwether.golden, page, schema)
    except PageError:
        return None if bellwether else {name: Comparison(page.id, None) for name in wrapper.rules}
    kept = present | _confirmed_names(comparisons)
    if not kept:
        return None if _is_gone(wrapper, comparisons.values(), page) else _forget_values(comparisons)
    # Where the structure is new, the rules find other texts because the site changed.
    if _shows_other_record(comparisons, kept, common, schema) and _has_structure(wrapper, page):
        return _forget_values(comparisons)
    return _mark_places(comparisons, present)


def _confirmed_names(comparisons: Mapping[str, Comparison]) -> set[str]:
    return {name for name, comparison in comparisons.items() if comparison.is_confirmed}


def _forget_values(comparisons: Mapping[str, Comparison]) -> dict[str, Comparison]:
    """Return the comparisons of a page that is about something else now: like those of a page never seen."""
    return {
        name: replace(comparison, golden=None, was_doubtful=False) for name, comparison in comparisons.items()
    }


def _shows_other_record(
    comparisons: Mapping[str, Comparison],
    kept: Collection[str],
    common: Collection[_AttributeValue],
    schema: Schema,
) -> bool:
    """Return True if a page shows another record now, which may have some values in common with the remembered one.

    Values identify a record if they never change and no other record has them. Several of them are gone from the
    page, and the rules find others: most of them, or a mandatory one. The others may still be somewhere on the page,
    because pages mention other records, or because short values occur everywhere.

    Args:
        comparisons: what is remembered and what the rules find now, by attribute.
        kept: attributes whose remembered values are still on the page.
        common: values that other records have too.
        schema: says which attributes never change.
    """
    identifying = _identifying_names(comparisons, common, schema)
    vanished = identifying - set(kept)
    replaced = {name for name in vanished if comparisons[name].found}
    mandatory = {name for name in identifying if schema.attributes[name].mandatory}
    is_confirmed = not mandatory.isdisjoint(_confirmed_names(comparisons))
    if is_confirmed or len(vanished) < MIN_VANISHED_VALUES or not replaced:
        return False
    return 2 * len(vanished) > len(identifying) or not mandatory.isdisjoint(replaced)


def _identifying_names(
    comparisons: Mapping[str, Comparison], common: Collection[_AttributeValue], schema: Schema
) -> set[str]:
    """Return the attributes whose remembered values never change, and are those of this record alone."""
    remembered = {name: comparison.golden for name, comparison in comparisons.items() if comparison.golden}
    constant = {name for name in remembered if schema.attributes[name].constant}
    return {name for name in constant if (name, remembered[name]) not in common}


def _compare_values(
    wrapper: Wrapper, bellwether: Bellwether | None, page: Page, schema: Schema
) -> dict[str, Comparison]:
    values_of = apply_wrapper(wrapper, page, schema.attributes)
    golden = bellwether.golden if bellwether else {}
    comparisons = {}
    for name in {**wrapper.rules, **golden}:
        values = values_of.get(name, [])
        remembered = bellwether.golden_values(name) if bellwether else None
        texts = tuple(value.text for value in values)
        comparisons[name] = Comparison(
            page.id,
            remembered,
            texts,
            is_same=remembered is not None and is_same_or_edited(remembered, texts, schema.attributes[name]),
            agreement=mean_confidence(values),
            was_doubtful=bellwether is not None and name in bellwether.unsure,
            is_unseen=any(_is_unseen(value) for value in values),
        )
    return comparisons


def _is_unseen(value: Match) -> bool:
    """Return True if a value was read from the embedded data, and the page does not show it."""
    return value.node.kind == "data" and value.confidence <= NOT_SHOWN


def is_same_or_edited(some: Sequence[str], others: Sequence[str], attribute: Attribute) -> bool:
    """Return True if values are the same, or if one is a slightly edited version of the other.

    >>> old, new = ["Fry the onions, see notes below."], ["Fry the onions. See the notes below."]
    >>> is_same_or_edited(old, new, Attribute("method"))
    True
    >>> is_same_or_edited(["Tea no. 1"], ["Tea no. 2"], Attribute("name"))
    False
    """
    if same_values(some, others, attribute.type):
        return True
    return len(some) == len(others) and all(map(_is_edited, some, others))


def _is_edited(text: str, other: str) -> bool:
    """Return True if two texts of some length have most of their words in common."""
    words, other_words = Counter(folded_words(text)), Counter(folded_words(other))
    shared = (words & other_words).total()
    sizes = words.total(), other_words.total()
    return min(sizes) >= MIN_EDITED_WORDS and 2 * shared >= MIN_SHARED_WORDS * sum(sizes)


def _has_changed(comparison: Comparison) -> bool:
    return not comparison.is_same and comparison.golden is not None


def _mark_places(comparisons: Mapping[str, Comparison], present: set[str]) -> dict[str, Comparison]:
    """Mark values that are elsewhere on the page."""
    marked = {}
    for name, comparison in comparisons.items():
        marked[name] = replace(comparison, is_elsewhere=name in present and not comparison.is_same)
    return marked


def _is_gone(wrapper: Wrapper, comparisons: Iterable[Comparison], page: Page) -> bool:
    """Return True if a page without any remembered value shows no other record either.

    Such a page says that it is no longer available, or is another one to which its URL was redirected: the rules find
    nothing on it, or its structure is not that of the cluster.
    """
    if not any(comparison.found for comparison in comparisons):
        return True
    return wrapper.core is not None and not _has_structure(wrapper, page)


def _has_structure(wrapper: Wrapper, page: Page) -> bool:
    """Return True if a page has the core of the cluster or, if that has none, one of its signatures."""
    if wrapper.core is None:
        return wrapper.matches_signature(signature(page.html))
    return wrapper.core.matches(PageRuns(page.html))


def _still_present(golden: Golden, page: Page, schema: Schema) -> set[str]:
    """Return the attributes all of whose remembered values are somewhere on the page."""
    finder = ValueFinder(page)
    present = set()
    for name, texts in golden.items():
        if all(finder.find(text, schema.attributes[name].type) for text in texts):
            present.add(name)
    return present


def is_outage(wrappers: Iterable[Wrapper], pages: Sequence[Page]) -> bool:
    """Return True if pages all say the same, and most bellwethers among them show nothing that we remember.

    Then the server is down or asks to log in.
    """
    if not _say_the_same(pages):
        return False
    fresh = index_pages(pages)
    watched = showing = 0
    for wrapper in wrappers:
        for bellwether, page in pair_bellwethers(wrapper, fresh):
            watched += 1
            showing += bellwether is not None and _shows_golden_text(bellwether, page)
    return 2 * showing < watched


def _say_the_same(pages: Sequence[Page]) -> bool:
    """Return True if several pages differ in nothing but numbers and addresses, such as the time of an error."""
    return len(pages) > 1 and len({_letter_words(page) for page in pages}) == 1


def _letter_words(page: Page) -> tuple[str, ...]:
    words: list[str] = []
    for node in page.nodes:
        if "@" not in node.xpath:
            words += filter(str.isalpha, node.text.split())
    return tuple(words)


def _shows_golden_text(bellwether: Bellwether, page: Page) -> bool:
    """Return True if a remembered value is a complete text of the page. Its words in an address do not count."""
    texts = {node.text for node in page.nodes}
    return any(not texts.isdisjoint(values) for values in bellwether.golden.values())
