"""What a page's own data call the values that the page shows, and what labeled sites teach about these names.

A schema may say what embedded data call an attribute (`same_as`). Where it does not, labeled sites do: if the labels
of an attribute are what the data of their pages call `sku`, then so they are on other sites.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from untemplate.labeling.label import Label
from untemplate.labeling.methods import LabeledSite
from untemplate.page import Page
from untemplate.page.embedded_data import META, NAMING_KEYS, TYPED_SOURCES
from untemplate.page.locating import letters_and_digits
from untemplate.schema import Schema

__all__ = ["LearnedNames", "learn_data_names", "name_texts", "with_data_names"]

# Values of a page's data that are read, and labeled pages of a site.
MAX_VALUES, MAX_PAGES = 2000, 20
# A name means an attribute if the label has it on this share of the labeled pages, and on this share of the pages
# whose data have the name. Labels with fewer distinct values may equal anything, such as the name of the site. All
# three were set by hand.
MIN_SHARE, MIN_RIGHT, MIN_DISTINCT = 0.5, 0.9, 3

LearnedNames = Mapping[str, Sequence[str]]
"""What embedded data call each attribute, the best name first."""


def name_texts(page: Page) -> dict[str, set[str]]:
    """Return the names that the data of a page give to texts, by the letters and digits of the text.

    Example:
        >>> from untemplate import Page
        >>> name_texts(Page(html="<meta property='og:title' content='Leek soup'><h1>Leek soup</h1>"))
        {'leeksoup': {'og:title'}}
    """
    names: dict[str, set[str]] = {}
    for name, letters in islice(_named_values(page), MAX_VALUES):
        names.setdefault(letters, set()).add(name)
    return names


def _named_values(page: Page) -> Iterator[tuple[str, str]]:
    """Yield names and values of a page's data: the name of a person who is the author is called `author`."""
    for source in (*TYPED_SOURCES, META):
        for data_object in page.embedded.objects(source):
            for value in data_object.values:
                role = next((key for key in reversed(value.keys) if key not in NAMING_KEYS), None)
                if letters := letters_and_digits(value.text):
                    yield role or value.keys[-1], letters


def learn_data_names(sites: Sequence[LabeledSite], schema: Schema) -> LearnedNames:
    """Return what embedded data call the attributes of a schema, as far as labeled sites show it.

    Lists of values are left out: the page may write their members in another way than the data.
    """
    single = {name for name, attribute in schema.attributes.items() if not attribute.many}
    rights: defaultdict[str, list[Counter[str]]] = defaultdict(list)
    for pages, labels in sites:
        for attribute, right in _names_on_site(pages, labels).items():
            if attribute in single:
                rights[attribute].append(right)
    learned: dict[str, Sequence[str]] = {}
    for attribute, of_sites in rights.items():
        on_all = set.intersection(*(set(right) for right in of_sites))
        if on_all:
            learned[attribute] = sorted(
                on_all, key=lambda name: (-sum(right[name] for right in of_sites), name)
            )
    return learned


def _names_on_site(pages: Iterable[Page], labels: Sequence[Label]) -> dict[str, Counter[str]]:
    """Return for each attribute the names that mean it on one site, with the number of pages that confirm them."""
    values: dict[str, dict[str, str]] = {}
    for label in labels:
        if label.value is not None:
            values.setdefault(label.page, {}).setdefault(label.attribute, letters_and_digits(label.value))
    labeled = (page for page in pages if page.is_named_in(values) and not page.why_unreadable())
    right: defaultdict[str, Counter[str]] = defaultdict(Counter)
    present: Counter[str] = Counter()
    texts: defaultdict[str, list[str]] = defaultdict(list)
    for page in islice(labeled, MAX_PAGES):
        named = name_texts(page)
        present.update(set().union(*named.values()))
        for attribute, letters in (page.entry_in(values) or {}).items():
            texts[attribute].append(letters)
            right[attribute].update(named.get(letters, ()))
    names: dict[str, Counter[str]] = {}
    for attribute, counts in right.items():
        if len(set(texts[attribute])) >= MIN_DISTINCT:
            enough = MIN_SHARE * len(texts[attribute])
            means_it = {n: c for n, c in counts.items() if c >= max(enough, MIN_RIGHT * present[n])}
            names[attribute] = Counter(means_it)
    return names


def with_data_names(schema: Schema, learned: LearnedNames) -> Schema:
    """Return a schema whose attributes have the learned names after those of the schema."""
    attributes = {
        name: replace(attribute, same_as=tuple(dict.fromkeys((*attribute.same_as, *learned.get(name, ())))))
        for name, attribute in schema.attributes.items()
    }
    return replace(schema, attributes=attributes)
