# Elements: what Python sees of a page. An element is made when it is asked for, and stays the same as long as it is used.

cdef class Element:
    """An element or a comment of a page, with the part of lxml's interface that extraction uses."""

    cdef Document document
    cdef int32_t number

    def __dealloc__(self):
        if self.document is not None and self.document.proxies != NULL:
            self.document.proxies[self.number] = NULL

    def __repr__(self):
        return f"<Element {self.tag}>"

    @property
    def tag(self):
        cdef int32_t tag = self.document.nodes[self.number].tag
        return _comment_tag if tag == COMMENT else self.document.name_text(tag)

    @property
    def text(self):
        cdef Node* node = &self.document.nodes[self.number]
        if node.text_length == 0 and node.tag != COMMENT:
            return None
        return self.document.string(node.text, node.text_length)

    @property
    def tail(self):
        cdef Node* node = &self.document.nodes[self.number]
        return self.document.string(node.tail, node.tail_length) if node.tail_length else None

    def __len__(self):
        cdef int32_t child = self.document.nodes[self.number].first_child
        cdef Py_ssize_t count = 0
        while child >= 0:
            count += 1
            child = self.document.nodes[child].next
        return count

    def items(self):
        cdef Node* node = &self.document.nodes[self.number]
        cdef Attribute* attribute
        cdef int32_t i
        pairs = []
        for i in range(node.attributes, node.attributes + node.attribute_count):
            attribute = &self.document.attributes[i]
            pairs.append(
                (self.document.name_text(attribute.name), self.document.string(attribute.value, attribute.length))
            )
        return pairs

    def iterchildren(self):
        cdef int32_t child = self.document.nodes[self.number].first_child
        while child >= 0:
            yield self.document.element(child)
            child = self.document.nodes[child].next


cdef object _comment_tag = etree.Comment




def parse(bytes html not None, int max_elements, int max_depth):
    """Return the root element of a page in UTF-8 without NUL; None if it has none."""
    cdef Document document = Document.__new__(Document)
    document.max_elements = max_elements
    document.max_depth = max_depth
    document.prepare(html, len(html))
    with nogil:
        document.parse()
    if document.error:
        _raise(document.error, max_elements, max_depth)
    if document.root < 0:
        return None
    free(document.stack)
    document.stack = NULL
    document.proxies = <PyObject**>calloc(document.node_count, sizeof(PyObject*))
    if document.proxies == NULL:
        raise MemoryError
    document.name_texts = list(_known_names)
    document.name_texts.extend([None] * (document.name_count - KNOWN))
    return document.element(document.root)


cdef int _raise(int error, int max_elements, int max_depth) except -1:
    if error == TOO_DEEP:
        raise PageError(f"page is nested deeper than {max_depth:,} elements")
    if error == TOO_MANY_ELEMENTS:
        raise PageError(f"page has more than {max_elements:,} elements")
    if error == TOO_MANY_ATTRIBUTES:
        raise PageError("page has tags with more than 10,000 attributes")
    raise MemoryError
