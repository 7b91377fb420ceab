# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The native core: a page as flat arrays, its elements, and the selection of nodes on the arrays.

See `native/README.md` for how it works, and `core.pyi` for what it offers to Python.
"""

import sys
from html.entities import html5 as html5_entities

from lxml import etree

from untemplate.errors import PageError
from untemplate.native import tree_rules

from cpython.object cimport PyObject
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

cdef enum:
    MAX_KNOWN = 256
    FIRST_SLOTS = 1024
    MAX_ENTITIES = 2400
    RANK_COUNT = 9
    COMMENT = -2
    NO_TAG = 2147483647

cdef enum:
    VOID = 1
    RAW = 2
    ESCAPABLE = 4
    HEAD_CONTENT = 8
    FRAME_CONTENT = 16
    BOOLEAN = 32

cdef enum:
    FEW_ATTRIBUTES = 64
    MAX_COMPARISONS = 100_000_000

cdef enum:
    OUT_OF_MEMORY = 1
    TOO_DEEP = 2
    TOO_MANY_ELEMENTS = 3
    TOO_MANY_ATTRIBUTES = 4

cdef class Element

include "names.pxi"
include "parser.pxi"
include "elements.pxi"
