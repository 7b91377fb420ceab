"""Bytes to tree to nodes: everything about one page that needs no other page."""

from untemplate.page.captions import static_text
from untemplate.page.dom import (
    HIDDEN_TAGS,
    INLINE_TAGS,
    NumberedXPaths,
    element_xpath,
    nodes_at,
    squeeze,
    visible_text,
)
from untemplate.page.page import VALUE_ATTRIBUTES, Node, Page, index_pages, names_of_pages
from untemplate.page.parsing import DEFAULT_LIMITS, Limits, decode
from untemplate.page.signatures import NO_TAGS, Signature, signature
from untemplate.page.url_patterns import has_literal_path, host_of, learn_url_pattern, url_matches

__all__ = [
    "DEFAULT_LIMITS",
    "HIDDEN_TAGS",
    "INLINE_TAGS",
    "NO_TAGS",
    "VALUE_ATTRIBUTES",
    "Limits",
    "Node",
    "NumberedXPaths",
    "Page",
    "Signature",
    "decode",
    "element_xpath",
    "has_literal_path",
    "host_of",
    "index_pages",
    "learn_url_pattern",
    "names_of_pages",
    "nodes_at",
    "signature",
    "squeeze",
    "static_text",
    "url_matches",
    "visible_text",
]
