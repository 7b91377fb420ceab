"""The tree rules of libxml2 2.14, as tables. `python -m benchmarks.measure.tree_rules` observed and checks them.

libxml2 tokenizes pages as the HTML standard says, but builds trees by few and simple rules: a start tag closes
certain open elements, an end tag closes the topmost element of its name unless an element of a higher rank is in the
way, and html, head and body are opened where a page leaves them out.
"""

from __future__ import annotations

__all__ = [
    "BOOLEAN_ATTRIBUTES",
    "CLOSED_BY",
    "ESCAPABLE_RAW_TEXT",
    "FRAME_CONTENT",
    "HEAD_CONTENT",
    "KNOWN_NAMES",
    "RANKS",
    "RAW_TEXT",
    "VOID",
]

VOID = frozenset(
    [
        "area",
        "base",
        "basefont",
        "br",
        "col",
        "frame",
        "hr",
        "img",
        "input",
        "isindex",
        "link",
        "meta",
        "param",
    ]
)
"""Elements without content and end tag."""

RAW_TEXT = frozenset(["iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"])
"""Elements whose content is text, whatever it looks like."""

ESCAPABLE_RAW_TEXT = frozenset({"textarea", "title"})
"""Elements whose content is text with character references."""

HEAD_CONTENT = frozenset(["base", "link", "meta", "script", "style", "title"])
"""Elements that open a head if nothing else is open."""

FRAME_CONTENT = frozenset({"frame", "frameset", "noframes"})
"""Elements that open no body."""

RANKS = (
    {"div"},
    {"td", "th"},
    {"tr"},
    {"tbody", "tfoot", "thead"},
    {"table"},
    {"head", "body"},
    {"html"},
)
"""Ranks from low to high; all other elements have the lowest. An end tag closes nothing through a higher rank."""

BOOLEAN_ATTRIBUTES = frozenset(
    {
        *("checked", "compact", "declare", "defer", "disabled", "ismap", "multiple", "nohref", "noresize"),
        *("noshade", "nowrap", "readonly", "selected"),
    }
)
"""Attributes that, without a value, have their name as value; others are empty."""

_HEADINGS = "h1 h2 h3 h4 h5 h6"
_AFTER_HEAD = (
    "a abbr acronym address b bdo big blockquote br center cite code dd dfn dir div dl dt em fieldset font form "
    f"{_HEADINGS} hr i iframe img kbd li listing map menu ol p pre q s samp small span strike strong sub sup "
    "table tt u ul var xmp body frameset"
)
_CLOSED_BY = {
    "a": "a",
    "fieldset": f"a {_HEADINGS} legend listing p pre",
    "table": f"a {_HEADINGS} listing p pre",
    "td th": "a b font i p span td th u",
    "dd dl": "address dir dt listing menu p pre",
    "dt": "address dd dir listing menu p pre",
    "form": f"address dir dl form {_HEADINGS} listing menu ol p pre ul",
    "li": f"address dl {_HEADINGS} li listing p pre",
    "ul": "address dir listing menu p pre",
    "center": "b font i p",
    "p": f"b big {_HEADINGS} i p s small strike tt u",
    "col": "caption p",
    "colgroup": "caption colgroup p",
    "tbody": "caption colgroup p tbody td tfoot th thead tr",
    "tfoot": "caption colgroup p tbody td th thead tr",
    "thead": "caption colgroup",
    "tr": "caption colgroup p td th tr",
    "optgroup option": "option",
    "address menu pre": "p ul",
    f"blockquote body caption dir div frameset {_HEADINGS} head hr listing ol title xmp": "p",
    _AFTER_HEAD: "head",
}


def _expand(table: dict[str, str]) -> dict[str, frozenset[str]]:
    """Return for each new tag the open elements that it closes."""
    closed: dict[str, frozenset[str]] = {}
    for new_tags, opened in table.items():
        for tag in new_tags.split():
            closed[tag] = closed.get(tag, frozenset()) | frozenset(opened.split())
    return closed


CLOSED_BY = _expand(_CLOSED_BY)
"""New tag → open elements that it closes, if they are the innermost."""

_COMMON_NAMES = (
    "alt aria-label class content data-src datetime height hidden href id itemprop itemscope itemtype name noscript "
    "onclick article aside button footer header label main nav option picture property rel role section select "
    "source src srcset style svg path target template time title type typeof value video width"
)

KNOWN_NAMES = tuple(
    dict.fromkeys(
        [
            *sorted(
                {
                    *VOID,
                    *RAW_TEXT,
                    *ESCAPABLE_RAW_TEXT,
                    *HEAD_CONTENT,
                    *FRAME_CONTENT,
                    *BOOLEAN_ATTRIBUTES,
                    *frozenset().union(*RANKS),
                    *CLOSED_BY,
                    *frozenset().union(*CLOSED_BY.values()),
                }
            ),
            *_COMMON_NAMES.split(),
        ]
    )
)
"""Names with rules, and frequent ones."""
