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
    """Return a text with each run of white space replaced by one blank, and none at the ends."""
    cdef const uint8_t* text = document.text + start
    cdef int32_t i
    while length and _is_blank(text[length - 1]):
        length -= 1
    while length and _is_blank(text[0]):
        text += 1
        length -= 1
    for i in range(length):
        if text[i] > 32:
            # Characters that begin with these bytes may be white space, too.
            if text[i] == 0xC2 or 0xE1 <= text[i] <= 0xE3:
                break
        elif text[i] != 32 or text[i + 1] == 32:
            break
    else:
        return PyUnicode_DecodeUTF8(<const char*>text, length, "replace")
    return " ".join(PyUnicode_DecodeUTF8(<const char*>text, length, "replace").split())


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
