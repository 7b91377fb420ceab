"""Select embedded values on a page, and decide between them and what the page shows.

Both kinds of values fail in their own way. Embedded data may be those of another template, or say more than the page
shows. Rules for visible nodes may select the wrong place. So an embedded value counts if the page shows it, else the
visible value does, and values on which both agree are nearly always right.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from untemplate.page import Node
from untemplate.page.embedded_data import NAMING_KEYS, TYPED_SOURCES, EmbeddedData, html_lines, html_to_text
from untemplate.page.locating import letters_and_digits
from untemplate.rules.rule import EmbeddedSelector

__all__ = ["MAX_EMBEDDED_TEXT", "embedded_nodes", "embedded_texts", "same_texts", "with_other_syntax"]

# Longer texts are not values.
MAX_EMBEDDED_TEXT = 20_000


def embedded_texts(selector: EmbeddedSelector, embedded: EmbeddedData) -> list[str]:
    """Return the values that a selector selects in embedded data, as a page would show them."""
    texts = list(_readable_texts(embedded.read(selector.path), selector.lines))
    if selector.skips_repeats:
        texts = _without_repeats(texts)
    if selector.position:
        return texts[selector.position - 1 : selector.position]
    return texts


def with_other_syntax(selector: EmbeddedSelector, embedded: EmbeddedData) -> Iterator[EmbeddedSelector]:
    """Yield a selector of the same names in the other syntaxes of a vocabulary, if its own has no such object.

    A redesigned page may say in JSON-LD what it said in microdata. There, texts may be inside objects, as steps are.
    """
    path = selector.path
    if path.source not in TYPED_SOURCES or not path.type:
        return
    if any(data_object.type == path.type for data_object in embedded.objects(path.source)):
        return
    ends = path.ends or NAMING_KEYS
    for source in TYPED_SOURCES:
        if source != path.source:
            yield replace(selector, path=replace(path, source=source, ends=ends), skips_repeats=True)


def embedded_nodes(selector: EmbeddedSelector, embedded: EmbeddedData, root: object) -> Iterator[Node]:
    """Yield the values that a selector selects as nodes, each with its path."""
    texts = embedded_texts(selector, embedded)
    first = max(selector.position, 1)
    for number, text in enumerate(texts, first):
        is_only_one = len(texts) == 1 and not selector.position
        path = str(selector.path) if is_only_one else f"{selector.path}[{number}]"
        yield Node(root, "data", text, path)


def same_texts(first: Sequence[str], second: Sequence[str]) -> bool:
    """Return True if two lists of texts are the same in letters and digits, in this order."""
    if len(first) != len(second):
        return False
    return all(
        a == b or letters_and_digits(a) == letters_and_digits(b) for a, b in zip(first, second, strict=True)
    )


def _readable_texts(values: Sequence[str], lines: bool) -> Iterator[str]:
    """Yield texts without HTML, one for each value or for each line; texts without letters and digits are dropped."""
    for value in values:
        short = value[:MAX_EMBEDDED_TEXT]
        for text in html_lines(short) if lines else [html_to_text(short)]:
            if any(map(str.isalnum, text)):
                yield text


def _without_repeats(texts: Sequence[str]) -> list[str]:
    """Return the texts without those that a neighbor repeats and continues."""
    keys = ["", *map(letters_and_digits, texts), ""]
    kept = []
    for number, text in enumerate(texts, 1):
        before, key, after = keys[number - 1 : number + 2]
        is_continued_before = before != key and before.startswith(key)
        if not is_continued_before and not after.startswith(key):
            kept.append(text)
    return kept
