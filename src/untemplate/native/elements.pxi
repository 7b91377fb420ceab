# Elements: what Python sees of a page. An element is made when it is asked for, and stays the same object while it is
# used. All walks use the arrays; only what they return becomes an object.

cdef object _comment_tag = etree.Comment
cdef object _any_element = etree.Element


@cython.no_gc  # refers to its document, which refers to texts only
@cython.final
cdef class Element:
    """An element or a comment of a page, with the part of lxml's interface that extraction uses."""

    cdef Document document
    cdef int32_t number

    def __dealloc__(self):
        if self.document is not None and self.document.proxies != NULL:
            self.document.proxies[self.number] = NULL

    def __repr__(self):
        return f"<Element {self.tag} at {self.xpath()}>"

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

    def __getitem__(self, Py_ssize_t index):
        cdef Node* nodes = self.document.nodes
        cdef bint is_backward = index < 0
        cdef int32_t child = nodes[self.number].last_child if is_backward else nodes[self.number].first_child
        if is_backward:
            index = -index - 1
        while child >= 0 and index:
            child = nodes[child].previous if is_backward else nodes[child].next
            index -= 1
        if child < 0:
            raise IndexError("element has no such child")
        return self.document.element(child)

    def get(self, str name not None, default=None):
        cdef Attribute* attribute = self.document.find_attribute(self.number, self.document.number_of(name))
        return default if attribute == NULL else self.document.string(attribute.value, attribute.length)

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

    def getparent(self):
        return self.document.element(self.document.nodes[self.number].parent)

    def getprevious(self):
        return self.document.element(self.document.nodes[self.number].previous)

    def getnext(self):
        return self.document.element(self.document.nodes[self.number].next)

    def iterancestors(self):
        cdef int32_t number = self.document.nodes[self.number].parent
        while number >= 0:
            yield self.document.element(number)
            number = self.document.nodes[number].parent

    def iterchildren(self, tag=None):
        cdef int32_t wanted = self.document.tag_filter(tag)
        cdef int32_t child = self.document.nodes[self.number].first_child
        while child >= 0:
            if self.document.passes(child, wanted):
                yield self.document.element(child)
            child = self.document.nodes[child].next

    def itersiblings(self, tag=None, *, bint preceding=False):
        cdef int32_t wanted = self.document.tag_filter(tag)
        cdef Node* nodes = self.document.nodes
        cdef int32_t number = nodes[self.number].previous if preceding else nodes[self.number].next
        while number >= 0:
            if self.document.passes(number, wanted):
                yield self.document.element(number)
            number = nodes[number].previous if preceding else nodes[number].next

    def iter(self, tag=None):
        cdef int32_t wanted = self.document.tag_filter(tag)
        cdef int32_t number
        cdef int32_t end = self.document.last_inside(self.number) + 1
        if wanted >= 0 and self.number == self.document.root:
            number = self.document.names[wanted].first_node
            while number >= 0:
                yield self.document.element(number)
                number = self.document.nodes[number].same_tag
            return
        for number in range(self.number, end):
            if self.document.passes(number, wanted):
                yield self.document.element(number)

    def iterdescendants(self, *tags):
        cdef int32_t number
        cdef int32_t end = self.document.last_inside(self.number) + 1
        cdef set wanted = {self.document.tag_filter(tag) for tag in tags or (None,)}
        for number in range(self.number + 1, end):
            if ALL_NODES in wanted or self.document.nodes[number].tag in wanted:
                yield self.document.element(number)

    def elements_with(self, *names):
        """Return the elements inside this one, in document order, that have one of these attributes."""
        cdef Document document = self.document
        cdef int32_t end = document.last_inside(self.number) + 1
        cdef int32_t number, i
        cdef set wanted = {document.number_of(name) for name in names}
        cdef list found = []
        wanted.discard(NO_NAME)
        if not wanted:
            return found
        for number in range(self.number + 1, end):
            for i in range(document.nodes[number].attribute_count):
                if document.attributes[document.nodes[number].attributes + i].name in wanted:
                    found.append(document.element(number))
                    break
        return found

    def walk(self):
        """Return an iterator like lxml's `iterwalk` with all events."""
        cdef Walker walker = Walker.__new__(Walker)
        walker.document = self.document
        walker.top = walker.number = self.number
        return walker

    def depth(self):
        """Return how many ancestors the element has."""
        return self.document.depth_of(self.number)

    def is_inside(self, tags):
        """Return True if the element or one around it has one of these tags."""
        cdef int32_t number = self.number
        cdef int32_t tag
        while number >= 0:
            tag = self.document.nodes[number].tag
            if tag != COMMENT and self.document.name_text(tag) in tags:
                return True
            number = self.document.nodes[number].parent
        return False

    def is_crossed_out(self):
        """Return True if the element or one around it shows its text crossed out."""
        return self.document.is_inside_flagged(self.number, CROSSED_OUT)

    def xpath(self, bint numbered=False):
        """Return the absolute XPath of the element; `numbered` adds a number to every step."""
        cdef list steps = []
        cdef int32_t number = self.number
        if numbered:
            return self.document.numbered_path(number)
        while number >= 0:
            steps.append(self.document.step(number, False))
            number = self.document.nodes[number].parent
        steps.append("")
        return "/".join(reversed(steps))

    def node_xpath(self, str kind not None):
        """Return the XPath of a text of this element, of the text after it, or of the element; numbered in each step.

        Args:
            kind: as in `Node`, but no attribute.
        """
        cdef Document document = self.document
        if kind == "element":
            return document.numbered_path(self.number)
        if kind == "text":
            return f"{document.numbered_path(self.number)}/text()[1]"
        return f"{document.numbered_path(document.nodes[self.number].parent)}/text()[{self.text_number()}]"

    def text_number(self):
        """Return the position of the text after this node among the texts of its parent, from 1."""
        cdef Node* nodes = self.document.nodes
        cdef int32_t number = self.number
        cdef int32_t count = nodes[nodes[number].parent].text_length > 0
        while number >= 0:
            count += nodes[number].tail_length > 0
            number = nodes[number].previous
        return count

    def visible_string(self, str line_end not None, bint with_hidden):
        """Return all text inside the element with `line_end` where a line begins or ends, without hidden parts.

        Args:
            line_end: one or more characters.
            with_hidden: True to include what an attribute or a style hides; scripts and the like never count.
        """
        return _visible_bytes(self.document, self.number, line_end.encode(), with_hidden).decode("utf-8", "replace")

    def html_string(self, int32_t max_length):
        """Return the HTML of the element without attributes, comments and scripts; no more than so many characters."""
        return _html_string(self.document, self.number, max_length)

    def has_tags(self):
        """Return True if the parser read the tags that signatures and cores of templates are made of."""
        return not self.document.tags_differ

    def visible_text(self):
        """Return all text of the element as readers see it, squeezed; see `visible_text` in `page/dom.py`."""
        return self.document.visible_text(self.number)

    def shown_letters(self):
        """Return the letters and digits, in lower case, of the texts that browsers may show inside the element and after it."""
        return _shown_letters(self.document, self.number)

    def texts_before(self, str kind not None, int64_t max_slots):
        """Yield (element, kind, text) of the visible texts before a node of this element, the nearest first.

        Blank texts are skipped. The search ends after `max_slots` places where a text may be.
        """
        cdef Slot slot = Slot(self.number, kind == "tail")
        while max_slots > 0 and self.document.previous_slot(&slot):
            max_slots -= 1
            if self.document.has_words(&slot):
                yield self.document.slot_item(&slot)

    def texts_after(self, str kind not None, int64_t max_slots):
        """Yield (element, kind, text) of the visible texts after a node of this element, the nearest first."""
        cdef Slot slot
        cdef bint has_slot = self.document.first_slot_after(self.number, _node_kind(kind), &slot)
        while max_slots > 0 and has_slot:
            max_slots -= 1
            if self.document.has_words(&slot):
                yield self.document.slot_item(&slot)
            has_slot = self.document.next_slot(&slot)


@cython.final
cdef class Walker:
    """Yields (event, element) as lxml's `iterwalk` does: "start", "end", and "comment"."""

    cdef Document document
    cdef int32_t top
    cdef int32_t number, entered
    cdef bint is_leaving, is_finished

    def __iter__(self):
        return self

    def __next__(self):
        cdef Node* nodes = self.document.nodes
        cdef int32_t number = self.number
        if self.is_finished:
            raise StopIteration
        element = self.document.element(number)
        if nodes[number].tag == COMMENT:
            self.go_on(number)
            return "comment", element
        if self.is_leaving:
            self.go_on(number)
            return "end", element
        if nodes[number].first_child >= 0:
            self.number = nodes[number].first_child
        else:
            self.is_leaving = True
        self.entered = number
        return "start", element

    cdef void go_on(self, int32_t number) noexcept:
        """Go to what follows a node that was left."""
        cdef Node* node = &self.document.nodes[number]
        if number == self.top:
            self.is_finished = True
        elif node.next >= 0:
            self.number = node.next
            self.is_leaving = False
        else:
            self.number = node.parent
            self.is_leaving = True

    def skip_subtree(self):
        """Go to the end of the element that was entered last."""
        self.number = self.entered
        self.is_leaving = True


cdef int _append(bytearray parts, const uint8_t* text, Py_ssize_t length) except -1:
    cdef Py_ssize_t size = PyByteArray_Size(parts)
    PyByteArray_Resize(parts, size + length)
    memcpy(PyByteArray_AsString(parts) + size, text, length)
    return 0


cdef bytearray _visible_bytes(Document document, int32_t top, bytes line_end, bint with_hidden):
    """Walk over the element in document order; at each place, add a line end for a block, and the text."""
    cdef Node* nodes = document.nodes
    cdef bytearray parts = bytearray()
    cdef int32_t number = top
    cdef bint is_leaving = False, is_skipped = False
    cdef Node* node
    while True:
        node = &nodes[number]
        if is_leaving or node.tag == COMMENT:
            if not is_skipped and node.tag != COMMENT and not document.is_inline(node.tag):
                _append(parts, line_end, len(line_end))
            is_skipped = False
            if number == top:
                break
            _append(parts, document.text + node.tail, node.tail_length)
            if node.next >= 0:
                number, is_leaving = node.next, False
            else:
                number, is_leaving = node.parent, True
            continue
        if number != top and document.is_unseen(number, with_hidden):
            is_leaving = is_skipped = True
            continue
        if not document.is_inline(node.tag):
            _append(parts, line_end, len(line_end))
        _append(parts, document.text + node.text, node.text_length)
        if node.first_child >= 0:
            number = node.first_child
        else:
            is_leaving = True
    return parts


cdef str _shown_letters(Document document, int32_t top):
    cdef int32_t end = document.last_inside(top) + 1
    cdef Py_ssize_t size = 0, count = 0, text_count, tail_count
    cdef bytearray letters
    cdef uint8_t* target
    cdef int32_t number
    cdef Node* node
    for number in range(top, end):
        size += document.shown_length(number) + document.nodes[number].tail_length
    letters = bytearray(size)
    target = <uint8_t*>PyByteArray_AsString(letters)
    for number in range(top, end):
        node = &document.nodes[number]
        text_count = _copy_letters(document.text + node.text, document.shown_length(number), target + count)
        count += max(text_count, 0)
        tail_count = _copy_letters(document.text + node.tail, node.tail_length, target + count)
        count += max(tail_count, 0)
        if text_count < 0 or tail_count < 0:
            return _letters_of_string(_shown_string(document, top))
    return PyUnicode_DecodeUTF8(PyByteArray_AsString(letters), count, NULL)


cdef str _shown_string(Document document, int32_t top):
    cdef int32_t number
    cdef Node* node
    cdef list texts = []
    for number in range(top, document.last_inside(top) + 1):
        node = &document.nodes[number]
        texts.append(document.string(node.text, document.shown_length(number)))
        texts.append(document.string(node.tail, node.tail_length))
    return "".join(texts)


cdef int64_t _serial = 0


def parse(bytes html not None, int64_t max_elements, int64_t max_depth, Py_ssize_t start=0):
    """Return the root element of a page in UTF-8 without NUL bytes, from a byte on; None if it has none.

    Raises:
        PageError: the page is over these limits, or has tags with too many attributes.
        MemoryError: there is not enough memory.
    """
    global _serial
    cdef Document document = Document.__new__(Document)
    if len(html) > MAX_BYTES:
        raise PageError(f"page is larger than {MAX_BYTES:,} bytes")
    document.max_elements = max_elements
    document.max_depth = min(max_depth, PARSER_DEPTH)
    if not 0 <= start <= len(html):
        raise ValueError("the page does not have so many bytes")
    document.prepare(<const uint8_t*><const char*>html + start, len(html) - start)
    with nogil:
        document.parse()
    if document.error:
        _raise(document.error, max_elements, max_depth)
    if document.root < 0:
        return None
    _give_memory(STACK_MEMORY, document.stack, document.stack_room * sizeof(Open))
    document.stack = NULL
    document.prepare_proxies()
    document.paths = {}
    document.visible_texts = {}
    _serial += 1
    document.serial = _serial
    document.name_texts = [None] * (document.name_count - KNOWN)
    return document.element(document.root)


cdef int _raise(int error, int64_t max_elements, int64_t max_depth) except -1:
    if error == TOO_DEEP:
        raise PageError(f"page is nested deeper than {max_depth:,} elements")
    if error == TOO_MANY_ELEMENTS:
        raise PageError(f"page has more than {max_elements:,} elements")
    if error == TOO_MANY_ATTRIBUTES:
        raise PageError("page has tags with more than 10,000 attributes")
    raise MemoryError
