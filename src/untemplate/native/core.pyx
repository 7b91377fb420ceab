# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The native core: a page as flat arrays, its elements, and the selection of nodes on the arrays.

Python sees `parse`, `Element`, `Conditions`, `find_value`, `CaptionSearch` and `find_texts`, and for the bytes of a page `is_utf8`, `utf8_start`,
`read_tags`, `hash_runs`, `read_signature` and `RunSet`; for comparisons `letters_and_digits` and
`elements_with_letters`; for embedded data `texts_of_type`, `meta_contents`, `visit_objects`,
`objects_of_type`, `PathReader` and `readable_texts`; for lists `is_shown_as_title` and `tags_between`; for comparisons of pages `path_texts`. Everything else works on C arrays without Python objects.
"""

import sys

cimport cython
from html.entities import html5 as html5_entities
from operator import itemgetter

from lxml import etree

from untemplate.errors import PageError
from untemplate.native import shown_text, tree_rules

from cpython.object cimport PyObject
from cpython.bytearray cimport PyByteArray_AsString, PyByteArray_Size, PyByteArray_Resize
from cpython.unicode cimport PyUnicode_AsUTF8AndSize, PyUnicode_DecodeUTF8
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

cdef extern from "string.h" nogil:
    void* memmem(const void* text, size_t length, const void* word, size_t word_length)

cdef extern from *:
    int __builtin_ctzll(unsigned long long word) noexcept nogil

cdef uint64_t _ONES = 0x0101010101010101u
cdef uint64_t CLOSING_BIT = 0x8000000000000000u


cdef inline uint64_t _bytes_equal(uint64_t word, uint8_t byte) noexcept nogil:
    """Return a word with the highest bit set in each byte that equals this one.

    The lowest of these bits is always right; above it there may be wrong ones.
    """
    word ^= _ONES * byte
    return (word - _ONES) & ~word & (_ONES * 0x80)

cdef enum:
    MAX_KNOWN = 256
    FIRST_SLOTS = 1024
    MAX_ENTITIES = 2400
    ENTITY_SLOTS = 8192
    MAX_NAME_LENGTH = 100
    RANK_COUNT = 9
    COMMENT = -2
    ALL_NODES = -4
    ALL_ELEMENTS = -5
    NO_NAME = -6
    NO_TAG = 2147483647

cdef enum:
    VOID = 1
    RAW = 2
    ESCAPABLE = 4
    HEAD_CONTENT = 8
    FRAME_CONTENT = 16
    BOOLEAN = 32
    INLINE = 64
    NEVER_SHOWN = 128
    UNSHOWN = 256
    CROSSED_OUT = 512
    TITLE = 1024

cdef enum:
    MAX_BYTES = 500_000_000
    MAX_ROOM = 2_000_000_000
    MAX_EXPANSION = 2  # of a text by its character references: the longest has six bytes for the five of `&nGt;`
    MAX_COMMENT_RUN = 200
    PARSER_DEPTH = 2046  # libxml2 stops two levels below
    FEW_ATTRIBUTES = 64
    MAX_COMPARISONS = 100_000_000
    NEAR_BYTES = 64
    CLOSING_BLOCK = 64

cdef enum:
    OUT_OF_MEMORY = 1
    TOO_DEEP = 2
    TOO_MANY_ELEMENTS = 3
    TOO_MANY_ATTRIBUTES = 4

cdef inline const uint8_t* _find_bracket(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Return where `<` occurs next; NULL if nowhere. Most are near, so eight bytes are tested at a time."""
    cdef const uint8_t* near = at + NEAR_BYTES
    cdef uint64_t word, found
    while at + 8 <= end and at < near:
        memcpy(&word, at, 8)
        found = _bytes_equal(word, b"<")
        if found:
            return at + __builtin_ctzll(found) // 8
        at += 8
    return <const uint8_t*>memchr(at, b"<", end - at)


cdef class Element

include "names.pxi"
include "parser.pxi"
include "elements.pxi"
include "captions.pxi"
include "selection.pxi"
include "markup.pxi"
include "letters.pxi"
include "embedded.pxi"
include "list_look.pxi"
include "path_texts.pxi"
