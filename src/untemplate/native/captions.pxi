# The texts around a node: its caption, and the nearest texts before and after it. Python's `page/captions.py` does the same.

cdef enum:
    TEXT_NODE = 0
    TAIL_NODE = 1
    ELEMENT_NODE = 2
    ATTRIBUTE_NODE = 3
    NODE_KINDS = 4


cdef int32_t _node_kind(str kind):
    """Return the number of a kind of `Node`. Embedded data is at the root, as an element is."""
    if kind == "text":
        return TEXT_NODE
    if kind == "tail":
        return TAIL_NODE
    return ELEMENT_NODE if kind == "element" or kind == "data" else ATTRIBUTE_NODE


cdef str _squeeze(Document document, int32_t start, int32_t length):
    """Return a text of the page with each run of white space replaced by one blank, and none at the ends."""
    cdef const uint8_t* text = document.text + start
    cdef bytearray squeezed
    while length and _is_blank(text[length - 1]):
        length -= 1
    while length and _is_blank(text[0]):
        text += 1
        length -= 1
    if _is_squeezed(text, length):
        return PyUnicode_DecodeUTF8(<const char*>text, length, "replace")
    squeezed = bytearray(length)
    length = <int32_t>_copy_squeezed(text, length, <uint8_t*>PyByteArray_AsString(squeezed))
    return PyUnicode_DecodeUTF8(PyByteArray_AsString(squeezed), length, "replace")


cdef bint _is_squeezed(const uint8_t* text, int32_t length) noexcept nogil:
    """Return True if a text without blanks at its ends has no white space but single blanks."""
    cdef int32_t i
    for i in range(length):
        if text[i] > 32:
            if text[i] >= 0xC2 and _blank_size(text + i):
                return False
        elif _is_blank(text[i]) and (text[i] != 32 or text[i + 1] == 32):
            return False
    return True


cdef Py_ssize_t _copy_squeezed(const uint8_t* text, Py_ssize_t length, uint8_t* target) noexcept nogil:
    """Copy a text with each run of white space replaced by one blank, and none at the ends; return its length.

    The target may be the text itself.
    """
    cdef Py_ssize_t at = 0, count = 0
    cdef int size
    cdef bint is_after_blank = False
    while at < length:
        size = _blank_size(text + at)
        if size:
            is_after_blank = True
            at += size
            continue
        if is_after_blank and count:
            target[count] = 32
            count += 1
        is_after_blank = False
        target[count] = text[at]
        count += 1
        at += 1
    return count


cdef inline int _blank_size(const uint8_t* text) noexcept nogil:
    """Return how many bytes the character has that a text begins with if Python takes it for white space, else 0."""
    if text[0] < 0xC2:
        return _is_blank(text[0])
    if text[0] == 0xC2:
        return 2 if text[1] == 0x85 or text[1] == 0xA0 else 0
    if text[0] == 0xE1:
        return 3 if text[1] == 0x9A and text[2] == 0x80 else 0
    if text[0] == 0xE3:
        return 3 if text[1] == 0x80 and text[2] == 0x80 else 0
    if text[0] != 0xE2:
        return 0
    if text[1] == 0x80:
        return 3 if text[2] <= 0x8A or text[2] == 0xA8 or text[2] == 0xA9 or text[2] == 0xAF else 0
    return 3 if text[1] == 0x81 and text[2] == 0x9F else 0


cdef str _slot_text(Document document, Slot* slot):
    """Return the squeezed text in a slot."""
    cdef Node* node = &document.nodes[slot.node]
    if slot.is_tail:
        return _squeeze(document, node.tail, node.tail_length)
    return _squeeze(document, node.text, node.text_length)


cdef str _text_before(Document document, int32_t number, int32_t kind, int64_t max_slots):
    """Return the nearest visible text before a node; empty if there is none within so many slots."""
    cdef Slot slot = Slot(number, kind == TAIL_NODE)
    while max_slots > 0 and document.previous_slot(&slot):
        max_slots -= 1
        if document.has_words(&slot):
            return _slot_text(document, &slot)
    return ""


cdef str _text_after(Document document, int32_t number, int32_t kind, int64_t max_slots):
    """Return the nearest visible text after the start of a node; empty if there is none within so many slots."""
    cdef Slot slot
    cdef bint has_slot = document.first_slot_after(number, kind, &slot)
    while max_slots > 0 and has_slot:
        max_slots -= 1
        if document.has_words(&slot):
            return _slot_text(document, &slot)
        has_slot = document.next_slot(&slot)
    return ""


@cython.final
cdef class CaptionSearch:
    """Finds the static text before a node, and remembers what it found on the way.

    Args:
        static: keys of static texts: depth, tag and text of each, with blanks between.
        texts: the texts of these keys. Most texts of a page are not among them, which saves making their keys.
    """

    cdef frozenset static, texts
    cdef dict captions       # by the slot where a search started: twice the number of the node, plus one for a tail

    def __cinit__(self, frozenset static not None, frozenset texts not None):
        self.static = static
        self.texts = texts
        self.captions = {}

    def find(self, Element element not None, str kind not None):
        """Return the nearest static text before a node of an element; empty if there is none.

        All nodes must be of one page.
        """
        return self.caption(element.document, element.number, _node_kind(kind))

    cdef str caption(self, Document document, int32_t number, int32_t kind):
        cdef Slot slot = Slot(number, kind == TAIL_NODE)
        cdef int64_t start = -1
        cdef int64_t key
        cdef str caption = None
        while document.previous_slot(&slot):
            if not document.has_words(&slot):
                continue
            key = 2 * <int64_t>slot.node + slot.is_tail
            caption = self.captions.get(key)
            if caption is None:
                start = key if start < 0 else start
                caption = self.as_static(document, &slot)
            if caption is not None:
                break
        if caption is None:
            caption = ""
        if start >= 0:
            self.captions[start] = caption
        return caption

    cdef str as_static(self, Document document, Slot* slot):
        """Return the text in a slot if it is static there, else None."""
        cdef int32_t parent = document.nodes[slot.node].parent if slot.is_tail else slot.node
        cdef str text = _slot_text(document, slot)
        if text not in self.texts:
            return None
        key = f"{document.depth_of(parent)} {document.name_text(document.nodes[parent].tag)} {text}"
        return text if key in self.static else None
