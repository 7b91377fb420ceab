"""Random pages, and the features that their nodes have, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from untemplate.learning import SampleTable
from untemplate.learning.search import caption_feature, features_of_row, tag_path
from untemplate.page import Node
from untemplate.rules.feature import Feature

__all__ = ["features_of", "html_trees", "place"]

WORDS = (
    "Price:",
    "Price",
    "$5",
    "review",
    "reviews",
    "Tom & Jerry",
    'say "hi"',
    "it's",
    "é",
    "\xa0",
    "a\u3000b",
    " ",
)
# Two words, so that classes can be told from their tokens.
NAMES = ("a", "b", "a b", 'q"t', "x'y")
TAGS = ("div", "span", "td", "b", "ul", "li", "my-tag", "o:p", "section")

_texts = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def _attributes(names: dict[str, str | None]) -> str:
    return "".join(f' {name}="{_escape(value)}"' for name, value in names.items() if value is not None)


def _element(tag: str, names: dict[str, str | None], children: list[str]) -> str:
    return f"<{tag}{_attributes(names)}>{''.join(children)}</{tag}>"


_names = st.fixed_dictionaries(
    {},
    optional={
        "class": st.sampled_from(NAMES),
        "id": st.sampled_from(NAMES),
        "itemprop": st.sampled_from(NAMES),
        "data-x": st.sampled_from(NAMES),
        "title": st.sampled_from(("t", 'T "1"')),
    },
)
_leaves = st.one_of(
    _texts.map(_escape),
    st.sampled_from(
        (
            "<br>",
            "<!-- no -->",
            "<script>var a</script>",
            "<style>b</style>",
            "<template>c<b>d</b></template>",
        )
    ),
    st.builds(lambda href: f'<a href="{href}">link</a>', st.sampled_from(("/x", "/y"))),
    st.builds(
        lambda src, names: f'<img src="{src}"{_attributes(names)}>',
        st.sampled_from(("1.png", "2.png")),
        _names,
    ),
)
_content = st.recursive(
    _leaves,
    lambda inner: st.builds(_element, st.sampled_from(TAGS), _names, st.lists(inner, max_size=5)),
    max_leaves=25,
)

html_trees = st.lists(_content, min_size=1, max_size=6).map(
    lambda parts: f"<html><head><title>Shop</title></head><body>{''.join(parts)}</body></html>"
)
"""The HTML of small pages with everything that features speak of: names, siblings, tails, hidden texts."""


def place(node: Node) -> tuple[object, str]:
    """What two nodes have in common that are the same."""
    return node.element, node.kind


def features_of(table: SampleTable, row: int) -> list[Feature]:
    """All features that learning gives to a row, in a fixed order, with those it uses for descriptions."""
    found = {*features_of_row(table, row), *tag_path(table, row), caption_feature(table, row)}
    return sorted(found, key=lambda feature: (feature.type, feature.level, feature.values))
