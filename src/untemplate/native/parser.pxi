# The parser: the tokenizer of the HTML standard, and the tree rules of libxml2.
#
# It reads the UTF-8 bytes of a page once, from left to right, and appends to two arrays: nodes and attributes. A text is
# a start and a length in `text`. That is the page itself, followed by the texts that the page does not contain literally:
# those with character references, and those that ignored tags interrupt. Only the text at the end of the array ever grows,
# so no byte is copied more than twice. NUL ends the page, and no NUL is inside: reading one byte ahead is always allowed.

cdef struct Node:
    int32_t tag          # number of the name; COMMENT for comments
    int32_t parent
    int32_t first_child
    int32_t last_child
    int32_t next
    int32_t previous
    int32_t text         # the text before the first child; of a comment, its own
    int32_t text_length
    int32_t tail         # the text after the element
    int32_t tail_length
    int32_t same_tag     # the next element with this tag; −1 for none
    int32_t attributes   # index of the first one
    int32_t attribute_count

cdef struct Attribute:
    int32_t name
    int32_t value
    int32_t length

cdef struct Open:
    int32_t node
    int32_t tag
    int32_t same_name    # index of the next lower open element of this name; −1 for none
    int32_t same_rank    # … of this rank


cdef struct Slot:
    int32_t node
    bint is_tail


cdef enum:
    MAX_REMOVED = 16

cdef struct RemovedTag:
    int32_t at           # where a blank replaces it
    uint64_t word        # what `_next_tag` reads of it


cdef inline bint _is_letter(uint8_t byte) noexcept nogil:
    return b"a" <= (byte | 0x20) <= b"z"


cdef enum:
    ENDS_NAME = 1        # white space, `/`, `>` and NUL
    CAPITAL = 2
    BRACKET = 3

cdef uint8_t[256] _byte_kinds
for _byte in (*b"\t\n\f\r />", 0):
    _byte_kinds[<int>_byte] = ENDS_NAME
for _byte in range(ord("A"), ord("Z") + 1):
    _byte_kinds[<int>_byte] = CAPITAL
_byte_kinds[<int>ord("<")] = BRACKET


cdef bint _is_safe_name(const uint8_t* name, int32_t length) noexcept nogil:
    """Return True if XPath can contain a name as it is, as `shown_text.SAFE_NAME`."""
    cdef int32_t i
    for i in range(length):
        if _is_letter(name[i]) or name[i] == b"_":
            continue
        if i == 0 or not (b"0" <= name[i] <= b"9" or name[i] == b"." or name[i] == b"-"):
            return False
    return length > 0


cdef inline bint _is_space(uint8_t byte) noexcept nogil:
    return byte == 32 or (9 <= byte <= 13 and byte != 11)


# Spare memory: the arrays of the page that was freed last serve the next one. New memory has to be mapped and cleared by
# the system, which takes longer than to parse a page into it. All callers hold the interpreter's lock.

cdef enum:
    TEXT_MEMORY = 0
    NODE_MEMORY = 1
    ATTRIBUTE_MEMORY = 2
    NAME_MEMORY = 3
    SLOT_MEMORY = 4
    STACK_MEMORY = 5
    PROXY_MEMORY = 6
    RUN_MEMORY = 7
    TAG_MEMORY = 8
    MEMORY_KINDS = 9

cdef enum:
    MAX_SPARE_BYTES = 8_388_608  # of each array; larger ones are freed

cdef struct Memory:
    void* start
    size_t size

cdef Memory[MEMORY_KINDS] _spare


cdef int _take_memory(int kind, size_t least, Memory* taken) except -1:
    """Take the spare memory of a kind if it is large enough, or new memory."""
    if _spare[kind].size >= least:
        taken[0] = _spare[kind]
        _spare[kind].start = NULL
        _spare[kind].size = 0
        return 0
    taken.start = malloc(least)
    taken.size = least
    if taken.start == NULL:
        raise MemoryError
    return 0


cdef void _give_memory(int kind, void* start, size_t size) noexcept:
    """Keep memory for the next page if it is the largest of its kind, and not too large; else free it."""
    if start == NULL or size > MAX_SPARE_BYTES or size <= _spare[kind].size:
        free(start)
        return
    free(_spare[kind].start)
    _spare[kind].start = start
    _spare[kind].size = size


@cython.no_gc  # refers to texts only
@cython.final
cdef class Document:
    """A parsed page: arrays of nodes and attributes, and the texts that they refer to."""

    cdef uint8_t* text
    cdef int32_t size          # bytes of `text` in use
    cdef int32_t room          # bytes of `text` that are allocated
    cdef int32_t page_size     # bytes of the page itself, with which `text` begins
    cdef Node* nodes
    cdef int32_t node_count, node_room
    cdef Attribute* attributes
    cdef int32_t attribute_count, attribute_room
    cdef Name* names
    cdef int32_t name_count, name_room
    cdef int32_t* slots        # hash table of the names
    cdef int32_t slot_count, slot_room
    cdef Open* stack
    cdef int32_t depth, stack_room
    cdef int32_t[RANK_COUNT] rank_open   # the topmost open element of each rank
    cdef int32_t root
    cdef bint has_returns      # the page contains carriage returns, which become line feeds
    cdef bint seen_head, seen_body, is_done, is_self_closing
    cdef int32_t last_comment  # the number of the comment that was read last
    cdef int32_t comment_run   # how many comments there are up to it without an element between them
    cdef int32_t tag_number    # tags read so far
    cdef uint64_t* tags        # those that `_next_tag` in `markup.pxi` finds, with a bit for closing ones
    cdef int32_t tag_count, tag_room
    cdef bint tags_differ      # `_next_tag` finds others
    cdef RemovedTag[MAX_REMOVED] removed
    cdef int32_t removed_count, removed_read
    cdef int32_t ignored       # start tags of html, head and body that were ignored; as many end tags are
    cdef int32_t max_depth
    cdef int64_t element_count, max_elements
    cdef int64_t comparisons   # squares of the numbers of attributes of tags with many
    cdef int error
    cdef PyObject** proxies    # the elements that Python uses now
    cdef size_t proxy_size
    cdef list name_texts
    cdef dict paths            # numbered XPaths of elements with values inside, by number
    cdef dict visible_texts    # of elements, by number
    cdef int64_t serial        # differs from that of every other page

    def __cinit__(self):
        self.root = self.last_comment = -1
        self.depth = 0

    def __dealloc__(self):
        _give_memory(TEXT_MEMORY, self.text, self.room)
        _give_memory(NODE_MEMORY, self.nodes, self.node_room * sizeof(Node))
        _give_memory(ATTRIBUTE_MEMORY, self.attributes, self.attribute_room * sizeof(Attribute))
        _give_memory(NAME_MEMORY, self.names, self.name_room * sizeof(Name))
        _give_memory(SLOT_MEMORY, self.slots, self.slot_room * sizeof(int32_t))
        _give_memory(STACK_MEMORY, self.stack, self.stack_room * sizeof(Open))
        _give_memory(PROXY_MEMORY, self.proxies, self.proxy_size)
        _give_memory(TAG_MEMORY, self.tags, self.tag_room * sizeof(uint64_t))

    # Memory

    cdef int prepare(self, const uint8_t* html, Py_ssize_t length) except -1:
        """Take the arrays, and copy the page, with a blank for each tag that closes the body or the page."""
        cdef Memory taken
        _take_memory(TEXT_MEMORY, length + length // 2 + 64, &taken)
        self.text, self.room = <uint8_t*>taken.start, <int32_t>taken.size
        _take_memory(NODE_MEMORY, (length // 24 + 64) * sizeof(Node), &taken)
        self.nodes, self.node_room = <Node*>taken.start, <int32_t>(taken.size // sizeof(Node))
        _take_memory(ATTRIBUTE_MEMORY, (length // 24 + 64) * sizeof(Attribute), &taken)
        self.attributes, self.attribute_room = <Attribute*>taken.start, <int32_t>(taken.size // sizeof(Attribute))
        _take_memory(NAME_MEMORY, (KNOWN + 64) * sizeof(Name), &taken)
        self.names, self.name_room = <Name*>taken.start, <int32_t>(taken.size // sizeof(Name))
        _take_memory(SLOT_MEMORY, FIRST_SLOTS * sizeof(int32_t), &taken)
        self.slots, self.slot_room = <int32_t*>taken.start, <int32_t>(taken.size // sizeof(int32_t))
        _take_memory(STACK_MEMORY, (self.max_depth + 16) * sizeof(Open), &taken)
        self.stack, self.stack_room = <Open*>taken.start, <int32_t>(taken.size // sizeof(Open))
        _take_memory(TAG_MEMORY, (length // 24 + 64) * sizeof(uint64_t), &taken)
        self.tags, self.tag_room = <uint64_t*>taken.start, <int32_t>(taken.size // sizeof(uint64_t))
        self.slot_count = FIRST_SLOTS
        memcpy(self.names, _known, KNOWN * sizeof(Name))
        memcpy(self.slots, _known_slots, sizeof(_known_slots))
        memset(self.rank_open, 0xFF, sizeof(self.rank_open))
        self.name_count = KNOWN
        self.copy_page(html, length)
        return 0

    cdef int prepare_proxies(self) except -1:
        """Take the array of the elements that Python uses: none yet."""
        cdef Memory taken
        _take_memory(PROXY_MEMORY, self.node_count * sizeof(PyObject*), &taken)
        self.proxies, self.proxy_size = <PyObject**>taken.start, taken.size
        memset(self.proxies, 0, self.node_count * sizeof(PyObject*))
        return 0

    cdef void copy_page(self, const uint8_t* html, Py_ssize_t length) noexcept nogil:
        """Copy the page into `text`. libxml2 drops everything after </html>; browsers ignore the tag, and so do we."""
        cdef const uint8_t* at = html
        cdef const uint8_t* end = html + length
        cdef const uint8_t* copied = html
        cdef uint8_t* target = self.text
        cdef const uint8_t* after
        while True:
            at = _find_closing_candidate(at, end)
            if at == NULL:
                break
            after = _closing_tag_end(at, end)
            if after == NULL:
                at += 1
                continue
            memcpy(target, copied, at - copied)
            target += at - copied
            self.note_removed(<int32_t>(target - self.text), _tag_name(at + 2, end - at - 2))
            target[0] = b" "
            target += 1
            at = copied = after
        memcpy(target, copied, end - copied)
        target += end - copied
        target[0] = 0
        self.page_size = <int32_t>(target - self.text)
        self.has_returns = memchr(self.text, b"\r", self.page_size) != NULL
        self.size = self.page_size + 1

    cdef bint make_room(self, int64_t more) noexcept nogil:
        """Make room for more bytes at the end of `text`, which may move; False if there is no memory for them."""
        cdef int64_t room = 2 * (<int64_t>self.size + more)
        cdef uint8_t* grown = NULL
        if self.size + more <= self.room:
            return True
        if room <= MAX_ROOM:
            grown = <uint8_t*>realloc(self.text, room)
        if grown == NULL:
            self.error = OUT_OF_MEMORY
            return False
        self.text = grown
        self.room = <int32_t>room
        return True

    cdef int32_t new_node(self, int32_t tag) noexcept nogil:
        """Append a node as the last child of the current element; −1 if there are too many."""
        cdef Node* grown
        cdef Node* node
        cdef int32_t number = self.node_count
        cdef int32_t parent, last
        if number >= self.node_room:
            grown = <Node*>realloc(self.nodes, 2 * <size_t>self.node_room * sizeof(Node))
            if grown == NULL:
                self.error = OUT_OF_MEMORY
                return -1
            self.nodes = grown
            self.node_room *= 2
        self.node_count += 1
        node = &self.nodes[number]
        node.tag = tag
        node.first_child = node.last_child = node.next = node.previous = -1
        node.same_tag = -1
        if tag != COMMENT:
            if self.names[tag].last_node >= 0:
                self.nodes[self.names[tag].last_node].same_tag = number
            else:
                self.names[tag].first_node = number
            self.names[tag].last_node = number
        node.text = node.text_length = node.tail = node.tail_length = 0
        node.attributes = self.attribute_count
        node.attribute_count = 0
        parent = self.stack[self.depth - 1].node if self.depth else -1
        node.parent = parent
        if parent >= 0:
            last = self.nodes[parent].last_child
            node.previous = last
            self.nodes[parent].last_child = number
            if last >= 0:
                self.nodes[last].next = number
            else:
                self.nodes[parent].first_child = number
        return number

    # Names

    cdef int32_t find_name(self, const uint8_t* text, int32_t length) noexcept nogil:
        """Return the number of a name; −1 if the page does not contain it."""
        return self.find_name_with(_name_head(text, length), text, length)

    cdef inline uint64_t head_at(self, int32_t start, int32_t length) noexcept nogil:
        """Return the first eight bytes of a name in the page. The memory goes on behind the page."""
        cdef uint64_t head
        memcpy(&head, self.text + start, 8)
        return head if length >= 8 else head & ((<uint64_t>1 << (8 * length)) - 1)

    cdef inline int32_t find_name_with(self, uint64_t head, const uint8_t* text, int32_t length) noexcept nogil:
        cdef uint32_t slot = _hash_name(head, text, length) & (self.slot_count - 1)
        cdef int32_t number = self.slots[slot]
        while number >= 0:
            if self.names[number].head == head and self.is_name(number, text, length):
                return number
            slot = (slot + 1) & (self.slot_count - 1)
            number = self.slots[slot]
        return -1

    cdef inline const uint8_t* name_start(self, int32_t number) noexcept nogil:
        return (_known_text if number < KNOWN else self.text) + self.names[number].start

    cdef inline bint is_name(self, int32_t number, const uint8_t* text, int32_t length) noexcept nogil:
        """Return True if a name that has the same first eight bytes is the same."""
        if self.names[number].length != length:
            return False
        return length <= 8 or memcmp(self.name_start(number), text, length) == 0

    cdef int32_t add_name(self, int32_t start, int32_t length) noexcept nogil:
        """Return the number of a name in the page; −1 without memory."""
        cdef int32_t number = self.find_name_with(self.head_at(start, length), self.text + start, length)
        cdef Name* grown
        if number >= 0:
            return number
        if self.name_count >= self.name_room:
            grown = <Name*>realloc(self.names, 2 * <size_t>self.name_room * sizeof(Name))
            if grown == NULL:
                self.error = OUT_OF_MEMORY
                return -1
            self.names = grown
            self.name_room *= 2
        if 2 * self.name_count >= self.slot_count and not self.grow_slots():
            return -1
        number = self.name_count
        self.name_count += 1
        self.names[number].start = start
        self.names[number].length = length
        self.names[number].head = _name_head(self.text + start, length)
        self.names[number].hash = _hash_name(self.names[number].head, self.text + start, length)
        self.names[number].word = 0
        self.names[number].open = -1
        self.names[number].last_tag = -1
        self.names[number].first_node = self.names[number].last_node = -1
        self.put_in_slot(number)
        return number

    cdef bint grow_slots(self) noexcept nogil:
        cdef int32_t number
        cdef int32_t* grown = <int32_t*>malloc(4 * <size_t>self.slot_count * sizeof(int32_t))
        if grown == NULL:
            self.error = OUT_OF_MEMORY
            return False
        free(self.slots)
        self.slots = grown
        self.slot_count *= 4
        self.slot_room = self.slot_count
        memset(self.slots, 0xFF, self.slot_count * sizeof(int32_t))
        for number in range(self.name_count):
            self.put_in_slot(number)
        return True

    cdef void put_in_slot(self, int32_t number) noexcept nogil:
        cdef uint32_t slot = self.names[number].hash & (self.slot_count - 1)
        while self.slots[slot] >= 0:
            slot = (slot + 1) & (self.slot_count - 1)
        self.slots[slot] = number

    # What elements need

    cdef object string(self, int32_t start, int32_t length):
        return PyUnicode_DecodeUTF8(<const char*>self.text + start, length, "replace")

    cdef object name_text(self, int32_t number):
        """Return a name as text."""
        if number < KNOWN:
            return _known_names[number]
        text = self.name_texts[number - KNOWN]
        if text is None:
            text = self.string(self.names[number].start, self.names[number].length)
            self.name_texts[number - KNOWN] = text
        return text

    cdef int32_t number_of(self, str name) except -3:
        """Return the number of a name; NO_NAME if the page does not contain it."""
        cdef Py_ssize_t length
        cdef const char* text = PyUnicode_AsUTF8AndSize(name, &length)
        cdef int32_t number = self.find_name(<const uint8_t*>text, <int32_t>length)
        return number if number >= 0 else NO_NAME

    cdef int32_t tag_filter(self, tag) except -3:
        """Return which tags an iteration wants: one, all elements, or all nodes."""
        if tag is None:
            return ALL_NODES
        if tag is _any_element or tag == "*":
            return ALL_ELEMENTS
        return self.number_of(tag)

    cdef inline bint passes(self, int32_t number, int32_t wanted) noexcept nogil:
        cdef int32_t tag = self.nodes[number].tag
        return tag == wanted or wanted == ALL_NODES or (wanted == ALL_ELEMENTS and tag != COMMENT)

    cdef Attribute* find_attribute(self, int32_t number, int32_t name) noexcept nogil:
        cdef Attribute* attribute = self.attributes + self.nodes[number].attributes
        cdef Attribute* end = attribute + self.nodes[number].attribute_count
        while attribute < end:
            if attribute.name == name:
                return attribute
            attribute += 1
        return NULL

    cdef int32_t last_inside(self, int32_t number) noexcept nogil:
        """Return the last node inside a node; nodes are numbered in document order."""
        while self.nodes[number].last_child >= 0:
            number = self.nodes[number].last_child
        return number

    cdef Element element(self, int32_t number):
        """Return the element or comment of this number; None for a negative one."""
        cdef Element made
        if number < 0:
            return None
        if self.proxies[number] != NULL:
            return <Element>self.proxies[number]
        made = Element.__new__(Element)
        made.document = self
        made.number = number
        self.proxies[number] = <PyObject*>made
        return made

    cdef str numbered_path(self, int32_t number):
        """Return the XPath of an element with a number in every step. Those of inner elements are remembered."""
        cdef str path
        if number < 0:
            return ""
        path = self.paths.get(number)
        if path is None:
            path = f"{self.numbered_path(self.nodes[number].parent)}/{self.step(number, True)}"
            if self.nodes[number].first_child >= 0:
                self.paths[number] = path
        return path

    cdef object step(self, int32_t number, bint numbered):
        """Return the step of an XPath that selects this element among its siblings."""
        cdef Node* nodes = self.nodes
        cdef int32_t tag = nodes[number].tag
        cdef int32_t sibling = nodes[number].previous
        cdef int32_t same = 1, all_before = 1
        while sibling >= 0:
            same += nodes[sibling].tag == tag
            all_before += nodes[sibling].tag != COMMENT
            sibling = nodes[sibling].previous
        if not _is_safe_name(self.name_start(tag), self.names[tag].length):
            return f"*[{all_before}]"
        name = self.name_text(tag)
        if same == 1 and not numbered:
            sibling = nodes[number].next
            while sibling >= 0 and nodes[sibling].tag != tag:
                sibling = nodes[sibling].next
            if sibling < 0:
                return name
        return f"{name}[{same}]"

    cdef inline bint is_inline(self, int32_t tag) noexcept nogil:
        return tag < KNOWN and (_flags[tag] & INLINE) != 0

    cdef bint is_unseen(self, int32_t number, bint with_hidden) except -1:
        """Return True if browsers show nothing of an element."""
        cdef int32_t tag = self.nodes[number].tag
        cdef Attribute* style
        if tag < KNOWN and _flags[tag] & NEVER_SHOWN:
            return True
        if with_hidden or not self.nodes[number].attribute_count:
            return False
        if self.find_attribute(number, HIDDEN) != NULL:
            return True
        style = self.find_attribute(number, STYLE)
        return style != NULL and style.length > 11 and shown_text.hides_element(self.string(style.value, style.length))

    cdef int32_t sibling(self, int32_t number, int32_t axis, int32_t distance) noexcept nogil:
        """Return the element that many siblings before or after a node; −1 if there is none."""
        while distance > 0 and number >= 0:
            number = self.nodes[number].previous if axis < 0 else self.nodes[number].next
            distance -= number >= 0 and self.nodes[number].tag != COMMENT
        return number

    cdef bint contains(self, int32_t start, int32_t length, list words) except -1:
        """Return True if a text contains one of these words."""
        cdef bytes word
        for word in words:
            if memmem(self.text + start, length, <const char*>word, len(word)) != NULL:
                return True
        return False

    # Slots: the places where a text may be, at the start of an element or after it

    cdef bint shows_content(self, int32_t number) noexcept nogil:
        cdef int32_t tag = self.nodes[number].tag
        return tag != COMMENT and not (tag < KNOWN and _flags[tag] & NEVER_SHOWN)

    cdef inline int32_t shown_length(self, int32_t number) noexcept nogil:
        """Return the length of the text before the first child if browsers may show it, else 0."""
        cdef int32_t tag = self.nodes[number].tag
        return 0 if tag == COMMENT or (tag < KNOWN and _flags[tag] & UNSHOWN) else self.nodes[number].text_length

    cdef void enter(self, Slot* slot) noexcept nogil:
        slot.is_tail = not self.shows_content(slot.node)

    cdef bint previous_slot(self, Slot* slot) noexcept nogil:
        """Go to the slot before this one; False at the start of the page."""
        cdef Node* node = &self.nodes[slot.node]
        if slot.is_tail and self.shows_content(slot.node):
            if node.last_child >= 0:
                slot.node = node.last_child
            else:
                slot.is_tail = False
        elif node.previous >= 0:
            slot.node = node.previous
            slot.is_tail = True
        else:
            slot.node = node.parent
            slot.is_tail = False
        return slot.node >= 0

    cdef bint next_slot(self, Slot* slot) noexcept nogil:
        """Go to the slot after this one; False at the end of the page."""
        cdef Node* node = &self.nodes[slot.node]
        if not slot.is_tail:
            if node.first_child >= 0:
                slot.node = node.first_child
                self.enter(slot)
            else:
                slot.is_tail = True
        elif node.next >= 0:
            slot.node = node.next
            self.enter(slot)
        else:
            slot.node = node.parent
        return slot.node >= 0

    cdef bint first_slot_after(self, int32_t number, int32_t kind, Slot* slot) noexcept nogil:
        """Find the first slot after the start of a node: for an attribute, inside its element; False without one."""
        slot.node = number
        slot.is_tail = kind != TEXT_NODE
        if kind == TEXT_NODE or kind == TAIL_NODE:
            return self.next_slot(slot)
        if kind == ATTRIBUTE_NODE:
            self.enter(slot)
        return True

    cdef int32_t depth_of(self, int32_t number) noexcept nogil:
        """Return how many ancestors a node has."""
        cdef int32_t depth = -1
        while number >= 0:
            depth += 1
            number = self.nodes[number].parent
        return depth

    cdef bint is_hidden(self, int32_t number) noexcept nogil:
        """Return True if the element or one around it is of a kind of which browsers show nothing."""
        return self.is_inside_flagged(number, NEVER_SHOWN)

    cdef bint is_inside_flagged(self, int32_t number, int32_t flag) noexcept nogil:
        """Return True if the element or one around it is of a known kind with this flag."""
        cdef int32_t tag
        while number >= 0:
            tag = self.nodes[number].tag
            if 0 <= tag < KNOWN and _flags[tag] & flag:
                return True
            number = self.nodes[number].parent
        return False

    cdef str visible_text(self, int32_t number):
        """Return all text of an element as readers see it; several selectors select the same elements."""
        cdef Node* node = &self.nodes[number]
        cdef str text
        if node.first_child < 0:
            return _squeeze(self, node.text, node.text_length) if self.shows_content(number) else ""
        text = self.visible_texts.get(number)
        if text is None:
            text = self.squeezed_parts(number) if self.shows_content(number) else ""
            self.visible_texts[number] = text
        return text

    cdef str squeezed_parts(self, int32_t number):
        """Return the texts inside an element that readers see, with blanks between blocks, squeezed."""
        cdef bytearray parts = _visible_bytes(self, number, b" ", False)
        cdef uint8_t* text = <uint8_t*>PyByteArray_AsString(parts)
        return PyUnicode_DecodeUTF8(<const char*>text, _copy_squeezed(text, PyByteArray_Size(parts), text), "replace")

    cdef bint has_words(self, Slot* slot) except -1:
        """Return True if the text in a slot is not blank."""
        cdef Node* node = &self.nodes[slot.node]
        cdef int32_t start = node.tail if slot.is_tail else node.text
        cdef int32_t length = node.tail_length if slot.is_tail else node.text_length
        cdef int32_t i
        cdef uint8_t byte
        for i in range(start, start + length):
            byte = self.text[i]
            if byte >= 0x80:
                return not self.string(start, length).isspace()
            if byte > 32 or byte < 9 or 13 < byte < 28:
                return True
        return False

    cdef tuple slot_item(self, Slot* slot):
        cdef Node* node = &self.nodes[slot.node]
        element = self.element(slot.node)
        if slot.is_tail:
            return element, "tail", self.string(node.tail, node.tail_length)
        return element, "text", self.string(node.text, node.text_length)

    # Tree rules

    cdef inline int32_t current_tag(self) noexcept nogil:
        return self.stack[self.depth - 1].tag if self.depth else NO_TAG

    cdef inline uint8_t rank_of(self, int32_t tag) noexcept nogil:
        return _rank[tag] if tag < KNOWN else 0

    cdef void push(self, int32_t tag) noexcept nogil:
        """Open an element."""
        cdef int32_t number = self.new_node(tag)
        cdef uint8_t rank = self.rank_of(tag)
        cdef Open* entry
        if number < 0:
            return
        self.element_count += 1
        if self.element_count > self.max_elements:
            self.error = TOO_MANY_ELEMENTS
            return
        if self.depth >= self.max_depth:
            self.error = TOO_DEEP
            return
        if self.depth == 0:
            self.root = number
        entry = &self.stack[self.depth]
        entry.node = number
        entry.tag = tag
        entry.same_name = self.names[tag].open
        entry.same_rank = self.rank_open[rank]
        self.names[tag].open = self.depth
        self.rank_open[rank] = self.depth
        self.depth += 1
        if tag == HEAD:
            self.seen_head = True
        elif tag == BODY:
            self.seen_body = True

    cdef void pop(self) noexcept nogil:
        """Close the current element. What follows the root is not part of the page."""
        self.depth -= 1
        cdef Open* entry = &self.stack[self.depth]
        self.names[entry.tag].open = entry.same_name
        self.rank_open[self.rank_of(entry.tag)] = entry.same_rank
        if self.depth == 0:
            self.is_done = True

    cdef void close_before(self, int32_t tag) noexcept nogil:
        """Close the elements that a start tag closes."""
        if tag >= KNOWN:
            return
        while self.depth and self.current_tag() < KNOWN and _closes[self.current_tag()][tag]:
            self.pop()

    cdef void open_implied(self, int32_t tag) noexcept nogil:
        """Open html, head or body if a page leaves them out before this tag."""
        cdef uint16_t flags = _flags[tag] if tag < KNOWN else 0
        if tag == HTML:
            return
        if self.depth == 0:
            self.push(HTML)
        if tag == HEAD or tag == BODY:
            return
        if self.depth <= 1 and flags & HEAD_CONTENT:
            if not self.seen_head and not self.seen_body:
                self.push(HEAD)
        elif not flags & FRAME_CONTENT and not self.seen_body:
            if self.names[BODY].open < 0 and self.names[HEAD].open < 0:
                self.push(BODY)

    cdef bint is_ignored_start(self, int32_t tag) noexcept nogil:
        """Return True for a second html, head or body."""
        if tag == HTML:
            return self.depth > 0
        if tag == HEAD:
            return self.depth != 1
        return tag == BODY and self.names[BODY].open >= 0

    cdef void close(self, int32_t tag) noexcept nogil:
        """Close the topmost open element of this name, unless an element of a higher rank is in the way."""
        cdef int32_t position
        cdef int rank
        if self.ignored and (tag == HTML or tag == HEAD or tag == BODY):
            self.ignored -= 1
            return
        position = self.names[tag].open
        if position < 0:
            return
        for rank in range(self.rank_of(tag) + 1, RANK_COUNT):
            if self.rank_open[rank] > position:
                return
        while self.depth > position:
            self.pop()

    cdef void add_text(self, int32_t start, int32_t length) noexcept nogil:
        """Add a text to the tree, where text is allowed: between html and body only white space is."""
        cdef int32_t blanks = 0
        cdef int32_t tag = self.current_tag()
        if self.depth == 0 or tag == HTML or tag == HEAD:
            while blanks < length and _is_space(self.text[start + blanks]):
                blanks += 1
            if self.depth and blanks:
                self.append_text(start, blanks)
            start += blanks
            length -= blanks
            if not length:
                return
            self.close_before(P)
            self.open_implied(P)
            if self.error:
                return
        self.append_text(start, length)

    cdef void append_text(self, int32_t start, int32_t length) noexcept nogil:
        """Append to the text where the page is now: of the current element, or after its last child."""
        cdef Node* element = &self.nodes[self.stack[self.depth - 1].node]
        if element.last_child < 0:
            self.extend(&element.text, &element.text_length, start, length)
        else:
            self.extend(&self.nodes[element.last_child].tail, &self.nodes[element.last_child].tail_length, start, length)

    cdef void extend(self, int32_t* start, int32_t* length, int32_t more, int32_t more_length) noexcept nogil:
        """Append to a text that may have been begun. Texts in two places are copied to the end."""
        if not length[0]:
            start[0] = more
            length[0] = more_length
            return
        if start[0] + length[0] == more:
            length[0] += more_length
            return
        if not self.make_room(<int64_t>length[0] + more_length):
            return
        if start[0] + length[0] != self.size or start[0] < self.page_size:
            memcpy(self.text + self.size, self.text + start[0], length[0])
            start[0] = self.size
            self.size += length[0]
        memcpy(self.text + self.size, self.text + more, more_length)
        self.size += more_length
        length[0] += more_length

    # Tags for signatures and for the cores of templates: those that `_next_tag` finds in the bytes, in their order. It knows
    # less of HTML, so on pages with `<` inside of values, names and the like it finds others. Such pages are read twice.

    cdef void note_removed(self, int32_t at, uint64_t name) noexcept nogil:
        """Remember a closing tag that is not copied."""
        if self.removed_count == MAX_REMOVED:
            self.tags_differ = True
            return
        self.removed[self.removed_count].at = at
        self.removed[self.removed_count].word = name | CLOSING_BIT
        self.removed_count += 1

    cdef void add_tag(self, int32_t at, int32_t end, int32_t tag, uint64_t closing_bit) noexcept nogil:
        """Add the tag whose name is from `at` to `end`; its number may be −1."""
        cdef uint64_t word
        if self.removed_read < self.removed_count:
            self.add_removed(at)
            if self.removed_read < self.removed_count and self.removed[self.removed_read].at == end:
                self.tags_differ = True
        if tag >= 0 and self.names[tag].word:
            word = self.names[tag].word
        else:
            word = _tag_name(self.text + at, self.page_size - at)
            if tag >= 0:
                self.names[tag].word = word
            if word == _SCRIPT_NAME or word == _STYLE_NAME:
                self.tags_differ = True
        self.append_tag(word | closing_bit)

    cdef void append_tag(self, uint64_t word) noexcept nogil:
        cdef uint64_t* grown
        if self.tag_count >= self.tag_room:
            grown = <uint64_t*>realloc(self.tags, 2 * <size_t>self.tag_room * sizeof(uint64_t))
            if grown == NULL:
                self.error = OUT_OF_MEMORY
                return
            self.tags = grown
            self.tag_room *= 2
        self.tags[self.tag_count] = word
        self.tag_count += 1

    cdef void add_removed(self, int32_t end) noexcept nogil:
        """Add the removed tags before a place."""
        while self.removed_read < self.removed_count and self.removed[self.removed_read].at < end:
            self.append_tag(self.removed[self.removed_read].word)
            self.removed_read += 1

    cdef void skip_removed(self, int32_t start, int32_t end) noexcept nogil:
        """Add the removed tags before a comment or a script, and leave out those in it."""
        self.add_removed(start)
        while self.removed_read < self.removed_count and self.removed[self.removed_read].at < end:
            self.removed_read += 1

    cdef void scan_tags(self, int32_t at, int32_t end) noexcept nogil:
        """Add the tags that `_next_tag` finds in the text of an element, of which the parser sees none."""
        cdef Tag tag
        cdef Py_ssize_t position = at
        self.add_removed(at)
        if self.removed_read < self.removed_count and self.removed[self.removed_read].at < end:
            self.tags_differ = True
        tag.start = self.page_size
        while _next_tag(self.text, self.page_size, &position, &tag) and tag.start < end:
            self.append_tag(tag.name | (CLOSING_BIT if tag.is_closing else 0))
            tag.start = self.page_size
        if tag.start != end:  # it has skipped the end of the element
            self.tags_differ = True

    cdef inline void note_bracket(self, int32_t start, int32_t end) noexcept nogil:
        """Note that the tags differ if there is a `<` where the parser sees no tag."""
        if memchr(self.text + start, b"<", end - start) != NULL:
            self.tags_differ = True

    # Tokens

    cdef void parse(self) noexcept nogil:
        """Read the page to its end."""
        cdef int32_t at = 0
        cdef int32_t end = self.page_size
        while at < end and not self.is_done and not self.error:
            at = self.read_markup(at) if self.text[at] == b"<" else self.read_text(at, at)
        self.add_removed(end + 1)
        self.note_bracket(min(at, end), end)

    cdef int32_t read_text(self, int32_t start, int32_t from_) noexcept nogil:
        """Add the text up to the next `<` after `from_`."""
        cdef bint is_plain
        cdef int32_t end = self.find_end(from_, b"<", &is_plain)
        if is_plain:
            self.add_text(start, end - start)
        else:
            self.decode(start, end, True, False)
        return end

    cdef int32_t find_end(self, int32_t at, uint8_t stop, bint* is_plain) noexcept nogil:
        """Return where a byte occurs next, or the end of the page; and whether nothing before it must be decoded.

        Most texts are short, so eight bytes are tested at a time. The memory goes on behind the page.
        """
        cdef int32_t end = self.page_size
        cdef int32_t near = min(at + NEAR_BYTES, end)
        cdef uint64_t word, stops, signs, brackets
        is_plain[0] = True
        while at < near:
            memcpy(&word, self.text + at, 8)
            stops = _bytes_equal(word, stop)
            signs = _bytes_equal(word, b"&")
            if self.has_returns:
                signs |= _bytes_equal(word, b"\r")
            brackets = _bytes_equal(word, b"<")
            if brackets and (not stops or __builtin_ctzll(brackets) < __builtin_ctzll(stops)):
                self.tags_differ = True
            if stops:
                if signs and __builtin_ctzll(signs) < __builtin_ctzll(stops):
                    is_plain[0] = False
                return min(at + __builtin_ctzll(stops) // 8, end)
            if signs:
                is_plain[0] = False
            at += 8
        if at >= end:
            return end
        near = self.find_byte(at, stop)
        is_plain[0] = is_plain[0] and self.is_plain(at, near - at)
        if stop != b"<":
            self.note_bracket(at, near)
        return near

    cdef inline bint is_plain(self, int32_t start, int32_t length) noexcept nogil:
        """Return True if a text has neither character references nor carriage returns."""
        if memchr(self.text + start, b"&", length) != NULL:
            return False
        return not self.has_returns or memchr(self.text + start, b"\r", length) == NULL

    cdef int32_t read_markup(self, int32_t at) noexcept nogil:
        """Read what begins with `<`, and return where it ends."""
        cdef uint8_t following = self.text[at + 1]
        if _is_letter(following):
            return self.read_start_tag(at + 1)
        if following == b"!":
            return self.read_declaration(at + 2)
        if following == b"?":
            return self.read_bogus_comment(at + 1)
        if following != b"/":
            return self.read_lone_bracket(at)
        following = self.text[at + 2]
        if _is_letter(following):
            return self.read_end_tag(at + 2)
        if following == b">":
            return at + 3
        if following == 0:
            return self.read_lone_bracket(at)
        self.tags_differ = True
        return self.read_bogus_comment(at + 2)

    cdef int32_t read_lone_bracket(self, int32_t at) noexcept nogil:
        """Read a text that begins with `<`. Unlike other texts, it opens a body even inside a frameset."""
        if self.names[HEAD].open < 0 and self.current_tag() != HTML:
            self.open_implied(P)
        return self.read_text(at, at + 1)

    cdef int32_t read_declaration(self, int32_t at) noexcept nogil:
        """Read a comment, a document type, or what is neither, after `<!`."""
        cdef int32_t end
        if self.text[at] == b"-" and self.text[at + 1] == b"-":
            end = self.read_comment(at + 2)
            self.skip_removed(at, end)
            return end
        if self.has_word(at, b"doctype", 7):
            end = self.find_byte(at, b">")
            self.note_bracket(at, end)
            return min(end + 1, self.page_size)
        return self.read_bogus_comment(at)

    cdef int32_t read_bogus_comment(self, int32_t at) noexcept nogil:
        cdef const void* found = memchr(self.text + at, b">", self.page_size - at)
        cdef int32_t end = self.page_size if found == NULL else <int32_t>(<const uint8_t*>found - self.text)
        self.note_bracket(at, end)
        self.add_comment(at, end)
        return end + (found != NULL)

    cdef int32_t read_comment(self, int32_t at) noexcept nogil:
        """Read a comment, which ends with `-->` or `--!>`; `<!-->` and `<!--->` are empty ones."""
        cdef const uint8_t* text = self.text
        cdef int32_t dash = at
        cdef const void* found
        if text[at] == b">":
            self.add_comment(at, at)
            return at + 1
        if text[at] == b"-" and text[at + 1] == b">":
            self.add_comment(at, at)
            return at + 2
        while True:
            found = memchr(text + dash, b"-", self.page_size - dash)
            if found == NULL:
                self.add_comment(at, self.page_size)
                return self.page_size
            dash = <int32_t>(<const uint8_t*>found - text)
            if text[dash + 1] == b"-":
                if text[dash + 2] == b">":
                    self.add_comment(at, dash)
                    return dash + 3
                if text[dash + 2] == b"!" and text[dash + 3] == b">":
                    self.tags_differ = True
                    self.add_comment(at, dash)
                    return dash + 4
            dash += 1

    cdef void add_comment(self, int32_t start, int32_t end) noexcept nogil:
        """Add a comment, unless very many are before it without an element between them; see `parse_html`."""
        cdef int32_t number, previous
        if self.depth == 0:  # before the root
            return
        previous = self.nodes[self.stack[self.depth - 1].node].last_child
        self.comment_run = self.comment_run + 1 if previous >= 0 and previous == self.last_comment else 1
        if self.comment_run > MAX_COMMENT_RUN:
            return
        number = self.last_comment = self.new_node(COMMENT)
        if number >= 0:
            self.nodes[number].text = start
            self.nodes[number].text_length = end - start

    cdef bint has_word(self, int32_t at, const char* word, int32_t length) noexcept nogil:
        """Return True if the page continues with this word, whatever the case of its letters."""
        cdef int32_t i
        for i in range(length):
            if (self.text[at + i] | 0x20) != <uint8_t>word[i]:
                return False
        return True

    cdef inline int32_t simple_name_length(self, int32_t at) noexcept nogil:
        """Return the length of a short name in lower case, up to the first byte that may end it; 0 for other names.

        All bytes are tested at once: which one ends a name is hard to predict for the processor.
        """
        cdef uint64_t word, ends
        cdef int32_t length
        memcpy(&word, self.text + at, 8)
        ends = (word - _ONES * 0x21) & ~word & (_ONES * 0x80)
        ends |= _bytes_equal(word, b"/") | _bytes_equal(word, b">") | _bytes_equal(word, b"=") | _bytes_equal(word, b"<")
        if not ends:
            return 0
        length = __builtin_ctzll(ends) // 8
        # Small letters, digits and hyphens have this bit, capitals do not.
        return 0 if ~word & (_ONES * 0x20) & ((<uint64_t>1 << (8 * length)) - 1) else length

    cdef int32_t read_name(self, int32_t at) noexcept nogil:
        """Put the name of a tag into lower case, and return its end."""
        cdef uint8_t* text = self.text
        cdef int32_t length = self.simple_name_length(at)
        cdef uint8_t kind
        if length and _byte_kinds[text[at + length]] == ENDS_NAME:
            return at + length
        kind = _byte_kinds[text[at]]
        while kind != ENDS_NAME:
            if kind == CAPITAL:
                text[at] |= 0x20
            elif kind == BRACKET:
                self.tags_differ = True
            at += 1
            kind = _byte_kinds[text[at]]
        return at

    cdef int32_t name_length(self, int32_t start, int32_t end) noexcept nogil:
        """Return how many bytes of a name count: the characters that fit into MAX_NAME_LENGTH bytes."""
        if end - start <= MAX_NAME_LENGTH:
            return end - start
        end = start + MAX_NAME_LENGTH
        while self.text[end] & 0xC0 == 0x80:
            end -= 1
        return end - start

    cdef int32_t read_start_tag(self, int32_t at) noexcept nogil:
        """Read a start tag, and what no tag may interrupt after it: scripts and the like."""
        cdef int32_t end = self.read_name(at)
        cdef int32_t tag = self.add_name(at, self.name_length(at, end))
        cdef int32_t first = self.attribute_count
        cdef int32_t size = self.size
        cdef bint is_ignored
        if tag < 0:
            return end
        self.add_tag(at, end, tag, 0)
        self.close_before(tag)
        self.open_implied(tag)
        if self.error or self.is_done:
            return end
        is_ignored = self.is_ignored_start(tag)
        end = self.read_attributes(end)
        if end < 0 or self.error:  # the page ends inside the tag
            return self.page_size
        if is_ignored:
            self.attribute_count = first
            self.size = size
            self.ignored += 1
            if self.is_self_closing:  # closes what is open, as if the tag had been no second one
                self.pop()
            return end
        self.push(tag)
        if self.error:
            return end
        self.nodes[self.node_count - 1].attributes = first
        self.nodes[self.node_count - 1].attribute_count = self.attribute_count - first
        return self.after_start_tag(tag, end)

    cdef int32_t after_start_tag(self, int32_t tag, int32_t at) noexcept nogil:
        cdef uint16_t flags = _flags[tag] if tag < KNOWN else 0
        if self.is_self_closing or flags & VOID:
            if tag == SCRIPT or tag == STYLE:
                self.tags_differ = True
            self.pop()
        elif flags & (RAW | ESCAPABLE):
            return self.read_raw_text(tag, at)
        return at

    cdef int32_t read_end_tag(self, int32_t at) noexcept nogil:
        """Read an end tag; its attributes do not matter."""
        cdef int32_t end = self.read_name(at)
        cdef int32_t length = self.name_length(at, end)
        cdef int32_t tag = self.find_name_with(self.head_at(at, length), self.text + at, length)
        cdef int32_t first = self.attribute_count
        cdef int32_t size = self.size
        self.add_tag(at, end, tag, CLOSING_BIT)
        if self.text[end] == b">" and not self.ignored and self.depth and self.current_tag() == tag:
            self.pop()
            return end + 1
        end = self.read_attributes(end)
        self.attribute_count = first
        self.size = size
        if end < 0:
            return self.page_size
        if tag >= 0:
            self.close(tag)
        return end

    cdef int32_t read_attributes(self, int32_t at) noexcept nogil:
        """Read the attributes of a tag, and return where the tag ends; −1 if the page ends before."""
        cdef uint8_t* text = self.text
        cdef int32_t count = 0
        self.is_self_closing = False
        self.tag_number += 1
        while not self.error:
            while _is_space(text[at]):
                at += 1
            if text[at] == b">":
                self.count_comparisons(count)
                return at + 1
            if text[at] == b"/":
                at += 1
                if text[at] == b">":
                    self.is_self_closing = True
                continue
            if text[at] == 0:
                return -1
            at = self.read_attribute(at)
            text = self.text  # may have moved
            count += 1
        return -1

    cdef void count_comparisons(self, int32_t count) noexcept nogil:
        """Refuse what takes other parsers long, so that a page is refused with and without this one."""
        if count > FEW_ATTRIBUTES:
            self.comparisons += <int64_t>count * count
            if self.comparisons > MAX_COMPARISONS:
                self.error = TOO_MANY_ATTRIBUTES

    cdef int32_t read_attribute(self, int32_t at) noexcept nogil:
        """Read one attribute, and return where it ends. Of several with the same name the first counts."""
        cdef uint8_t* text = self.text
        cdef int32_t start = at
        cdef int32_t name, value_start, value_length
        cdef int32_t length = self.simple_name_length(at)
        cdef uint8_t kind
        if length and (text[at + length] == b"=" or _byte_kinds[text[at + length]] == ENDS_NAME):
            at += length
            kind = ENDS_NAME
        else:
            kind = _byte_kinds[text[at]]
        while kind != ENDS_NAME:
            if kind == CAPITAL:
                text[at] |= 0x20
            elif kind == BRACKET:
                self.tags_differ = True
            at += 1
            if text[at] == b"=":
                break
            kind = _byte_kinds[text[at]]
        name = self.add_name(start, self.name_length(start, at))
        if name < 0:
            return at
        while _is_space(text[at]):
            at += 1
        value_start = value_length = 0
        if text[at] == b"=":
            at = self.read_value(at + 1, &value_start, &value_length)
        elif name < KNOWN and _flags[name] & BOOLEAN:
            value_start = start
            value_length = self.names[name].length
        if self.names[name].last_tag != self.tag_number:
            self.names[name].last_tag = self.tag_number
            self.add_attribute(name, value_start, value_length)
        return at

    cdef int32_t read_value(self, int32_t at, int32_t* start, int32_t* length) noexcept nogil:
        """Read the value of an attribute, and return where it ends."""
        cdef uint8_t* text = self.text
        cdef uint8_t quote
        cdef int32_t end
        cdef bint is_plain
        while _is_space(text[at]):
            at += 1
        quote = text[at]
        if quote == b'"' or quote == b"'":
            at += 1
            end = self.find_end(at, quote, &is_plain)
            self.set_value(at, end, is_plain, start, length)
            return end + (end < self.page_size)
        end = at
        while text[end] and not _is_space(text[end]) and text[end] != b">":
            end += 1
        self.note_bracket(at, end)
        self.set_value(at, end, self.is_plain(at, end - at), start, length)
        return end

    cdef void add_attribute(self, int32_t name, int32_t start, int32_t length) noexcept nogil:
        cdef Attribute* grown
        if self.attribute_count >= self.attribute_room:
            grown = <Attribute*>realloc(self.attributes, 2 * <size_t>self.attribute_room * sizeof(Attribute))
            if grown == NULL:
                self.error = OUT_OF_MEMORY
                return
            self.attributes = grown
            self.attribute_room *= 2
        self.attributes[self.attribute_count].name = name
        self.attributes[self.attribute_count].value = start
        self.attributes[self.attribute_count].length = length
        self.attribute_count += 1

    cdef int32_t read_raw_text(self, int32_t tag, int32_t at) noexcept nogil:
        """Read the text of an element in which no tag counts but its own end tag."""
        cdef int32_t end = self.page_size
        cdef int32_t first_end = -1
        if tag == SCRIPT:
            end = self.find_script_end(at, &first_end)
        elif tag != PLAINTEXT:
            end = self.find_end_tag(tag, at)
        if tag == SCRIPT or tag == STYLE:
            self.skip_removed(at, end if first_end < 0 else first_end)
            self.tags_differ = self.tags_differ or end == self.page_size
            if first_end >= 0:
                self.scan_tags(first_end, end)
        elif memchr(self.text + at, b"<", end - at) != NULL:
            self.scan_tags(at, end)
        self.decode(at, end, (_flags[tag] & ESCAPABLE) != 0, True)
        return end

    cdef inline int32_t find_byte(self, int32_t at, uint8_t byte) noexcept nogil:
        """Return where a byte occurs next; the end of the page if nowhere."""
        cdef const void* found = memchr(self.text + at, byte, self.page_size - at)
        return self.page_size if found == NULL else <int32_t>(<const uint8_t*>found - self.text)

    cdef inline bint ends_name(self, int32_t at) noexcept nogil:
        return _is_space(self.text[at]) or self.text[at] == b"/" or self.text[at] == b">"

    cdef bint is_tag_of(self, int32_t tag, int32_t at) noexcept nogil:
        """Return True if the page continues with the name of this element, as that of a tag."""
        cdef int32_t length = self.names[tag].length
        if self.has_word(at, <const char*>self.name_start(tag), length) and self.ends_name(at + length):
            return True
        if _tag_name(self.text + at, self.page_size - at) == self.names[tag].word:
            self.tags_differ = True
        return False

    cdef int32_t find_end_tag(self, int32_t tag, int32_t at) noexcept nogil:
        while True:
            at = self.find_byte(at, b"<")
            if at == self.page_size:
                return at
            if self.text[at + 1] == b"/" and self.is_tag_of(tag, at + 2):
                return at
            at += 1

    cdef int32_t find_script_end(self, int32_t at, int32_t* first_end) noexcept nogil:
        """Return where the end tag of a script begins. Inside a comment, one that ends an inner script does not count.

        The first of these is `first_end`.
        """
        cdef bint in_comment = False, in_script = False
        cdef uint8_t* text = self.text
        cdef int32_t dash = at       # no `-->` is before
        cdef int32_t comment_end
        while True:
            at = self.find_byte(at, b"<")
            if in_comment:
                comment_end = self.find_comment_end(dash, at)
                if comment_end >= 0:
                    in_comment = in_script = False
                    at = comment_end
                    continue
                dash = at
            if at == self.page_size:
                return at
            if text[at + 1] == b"/" and self.is_tag_of(SCRIPT, at + 2):
                if not in_script:
                    return at
                in_script = False
                if first_end[0] < 0:
                    first_end[0] = at
            elif in_comment and self.is_tag_of(SCRIPT, at + 1):
                in_script = True
            elif not in_comment and text[at + 1] == b"!" and text[at + 2] == b"-" and text[at + 3] == b"-":
                in_comment = True
                dash = at + 2
            at += 1

    cdef int32_t find_comment_end(self, int32_t at, int32_t end) noexcept nogil:
        """Return where the first `-->` ends that begins before `end`; −1 if there is none."""
        cdef const void* found
        while at < end:
            found = memchr(self.text + at, b"-", end - at)
            if found == NULL:
                return -1
            at = <int32_t>(<const uint8_t*>found - self.text)
            if self.text[at + 1] == b"-" and self.text[at + 2] == b">":
                return at + 3
            at += 1
        return -1

    # Character references

    cdef void decode(self, int32_t start, int32_t end, bint references, bint is_raw) noexcept nogil:
        """Add a text of the page, with line ends and, if wanted, character references decoded."""
        cdef int32_t length = end - start
        cdef bint is_plain
        if length <= 0:
            return
        is_plain = not self.has_returns or memchr(self.text + start, b"\r", length) == NULL
        if is_plain and references:
            is_plain = memchr(self.text + start, b"&", length) == NULL
        if not is_plain:
            length = self.decode_to_end(start, end, references, False)
            start = self.size - length
            if self.error:
                return
        if is_raw:
            self.append_text(start, length)
        else:
            self.add_text(start, length)

    cdef void set_value(
        self, int32_t at, int32_t end, bint is_plain, int32_t* start, int32_t* length
    ) noexcept nogil:
        """Set the start and the length of the value of an attribute."""
        start[0] = at
        length[0] = end - at
        if not is_plain:
            length[0] = self.decode_to_end(at, end, True, True)
            start[0] = self.size - length[0]

    cdef int32_t decode_to_end(self, int32_t at, int32_t end, bint references, bint in_value) noexcept nogil:
        """Append the decoded text to the end of `text`, and return its length."""
        cdef uint8_t* text
        cdef int32_t target = self.size
        cdef int32_t after
        if not self.make_room(MAX_EXPANSION * <int64_t>(end - at)):
            return 0
        text = self.text
        while at < end:
            if text[at] == b"\r":
                text[target] = b"\n"
                target += 1
                at += 1
                if at < end and text[at] == b"\n":
                    at += 1
            elif text[at] == b"&" and references:
                after = self.decode_reference(at, end, in_value, &target)
                if after == at:
                    text[target] = b"&"
                    target += 1
                    after = at + 1
                at = after
            else:
                after = at + 1
                while after < end and text[after] != b"&" and text[after] != b"\r":
                    after += 1
                memcpy(text + target, text + at, after - at)
                target += after - at
                at = after
        at = target - self.size
        self.size = target
        return at

    cdef int32_t decode_reference(self, int32_t at, int32_t end, bint in_value, int32_t* target) noexcept nogil:
        """Append the character that a reference means, and return where the reference ends; `at` if it is none."""
        if at + 1 < end and self.text[at + 1] == b"#":
            return self.decode_number(at, end, target)
        if at + 1 < end and _is_letter(self.text[at + 1]):
            return self.decode_entity(at, end, in_value, target)
        return at

    cdef int32_t decode_number(self, int32_t at, int32_t end, int32_t* target) noexcept nogil:
        cdef uint32_t code = 0
        cdef int32_t start = at + 2
        cdef uint32_t base = 10
        cdef int digit
        if start < end and (self.text[start] | 0x20) == b"x":
            base = 16
            start += 1
        cdef int32_t digits = start
        while digits < end:
            digit = _digit(self.text[digits])
            if digit < 0 or <uint32_t>digit >= base:
                break
            if code <= 0x10FFFF:
                code = code * base + <uint32_t>digit
            digits += 1
        if digits == start:
            return at
        target[0] = _put_utf8(self.text, target[0], _standard_code(code))
        if digits < end and self.text[digits] == b";":
            digits += 1
        return digits

    cdef int32_t decode_entity(self, int32_t at, int32_t end, bint in_value, int32_t* target) noexcept nogil:
        """Decode the longest name of the standard. In a value, one without semicolon must not continue."""
        cdef int32_t length = 1
        cdef int32_t limit = end - at - 1
        cdef int32_t entity
        cdef uint8_t following
        if limit > MAX_ENTITY_LENGTH:
            limit = MAX_ENTITY_LENGTH
        while length < limit and _is_alphanumeric(self.text[at + 1 + length]):
            length += 1
        if length < limit and self.text[at + 1 + length] == b";":
            length += 1
        while length > 1:
            entity = _find_entity(self.text + at + 1, length)
            if entity >= 0:
                following = self.text[at + 1 + length]
                if in_value and self.text[at + length] != b";" and at + 1 + length < end:
                    if following == b"=" or _is_alphanumeric(following):
                        return at
                memcpy(self.text + target[0], _entity_text + _entities[entity].value, _entities[entity].value_length)
                target[0] += _entities[entity].value_length
                return at + 1 + length
            length -= 1
        return at


cdef inline bint _is_alphanumeric(uint8_t byte) noexcept nogil:
    return _is_letter(byte) or b"0" <= byte <= b"9"


cdef inline int _digit(uint8_t byte) noexcept nogil:
    if b"0" <= byte <= b"9":
        return byte - 48
    if b"a" <= (byte | 0x20) <= b"f":
        return (byte | 0x20) - 87
    return -1


cdef uint32_t _standard_code(uint32_t code) noexcept nogil:
    """Return the character that the standard substitutes for a number."""
    if code == 0 or code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        return 0xFFFD
    if 0x80 <= code <= 0x9F:
        return _windows_1252[code - 0x80]
    return code


cdef int32_t _put_utf8(uint8_t* text, int32_t at, uint32_t code) noexcept nogil:
    """Write a character, and return where it ends."""
    if code < 0x80:
        text[at] = <uint8_t>code
        return at + 1
    if code < 0x800:
        text[at] = <uint8_t>(0xC0 | code >> 6)
        text[at + 1] = <uint8_t>(0x80 | code & 0x3F)
        return at + 2
    if code < 0x10000:
        text[at] = <uint8_t>(0xE0 | code >> 12)
        text[at + 1] = <uint8_t>(0x80 | code >> 6 & 0x3F)
        text[at + 2] = <uint8_t>(0x80 | code & 0x3F)
        return at + 3
    text[at] = <uint8_t>(0xF0 | code >> 18)
    text[at + 1] = <uint8_t>(0x80 | code >> 12 & 0x3F)
    text[at + 2] = <uint8_t>(0x80 | code >> 6 & 0x3F)
    text[at + 3] = <uint8_t>(0x80 | code & 0x3F)
    return at + 4


cdef const uint8_t* _find_closing_candidate(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Return where `</bo` or `</ht` occurs next, in any case; near the end of the page, where `<` does; NULL if nowhere.

    The compiler makes the inner loop one that tests many bytes at once.
    """
    cdef int i
    cdef uint8_t found
    while end - at >= CLOSING_BLOCK + 3:
        found = 0
        for i in range(CLOSING_BLOCK):
            found |= (
                (at[i] == 0x3C)
                & (at[i + 1] == 0x2F)
                & ((((at[i + 2] | 0x20) == 0x62) & ((at[i + 3] | 0x20) == 0x6F))
                   | (((at[i + 2] | 0x20) == 0x68) & ((at[i + 3] | 0x20) == 0x74)))
            )
        if found:
            return _find_bracket(at, end)
        at += CLOSING_BLOCK
    return _find_bracket(at, end)


cdef const uint8_t* _closing_tag_end(const uint8_t* at, const uint8_t* end) noexcept nogil:
    """Return where a tag ends that closes the body or the page, and nothing else; NULL for all others."""
    if end - at < 7 or at[1] != b"/":
        return NULL
    cdef uint8_t first = at[2] | 0x20
    if first == b"b":
        if (at[3] | 0x20) != b"o" or (at[4] | 0x20) != b"d" or (at[5] | 0x20) != b"y":
            return NULL
    elif first == b"h":
        if (at[3] | 0x20) != b"t" or (at[4] | 0x20) != b"m" or (at[5] | 0x20) != b"l":
            return NULL
    else:
        return NULL
    at += 6
    while at < end and (_is_space(at[0]) or at[0] == 11):
        at += 1
    return at + 1 if at < end and at[0] == b">" else NULL
