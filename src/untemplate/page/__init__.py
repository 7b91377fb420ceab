"""Bytes to tree to nodes: everything that is known about one page."""

from untemplate.page.page import (
    DEFAULT_LIMITS,
    HIDDEN_TAGS,
    INLINE_TAGS,
    VALUE_ATTRIBUTES,
    Limits,
    Node,
    Page,
    decode,
    element_xpath,
    nodes_at,
    squeeze,
    static_text,
    visible_text,
)
from untemplate.page.signature import NO_TAGS, Signature, signature
from untemplate.page.url_patterns import learn_url_pattern, url_matches

__all__ = [
    "DEFAULT_LIMITS",
    "HIDDEN_TAGS",
    "INLINE_TAGS",
    "NO_TAGS",
    "VALUE_ATTRIBUTES",
    "Limits",
    "Node",
    "Page",
    "Signature",
    "decode",
    "element_xpath",
    "learn_url_pattern",
    "nodes_at",
    "signature",
    "squeeze",
    "static_text",
    "url_matches",
    "visible_text",
]
