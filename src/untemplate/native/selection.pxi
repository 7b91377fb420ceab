# Selection: the features of a selector, tested on the arrays of a page.
#
# A structural feature is about the element some levels above a node, or about a sibling of that element. All elements of
# a page are tested in document order: first the element that contains the node, then those around it. The nodes that are
# left are tested for the features of texts.

cdef enum:
    TAG_TEST = 0
    ATTRIBUTE_TEST = 1
    TOKEN_TEST = 2
    CELL_TEST = 3

cdef enum:
    MAX_CELLS = 50

cdef enum:
    SELECT_TEXT = 0
    SELECT_ELEMENT = 1
    SELECT_ATTRIBUTE = 2

cdef struct Text:
    const uint8_t* start
    int32_t length

cdef struct Test:
    int32_t kind
    int32_t level
    int32_t axis         # −1 for siblings before, 1 for siblings after, 0 for the element itself
    int32_t distance     # how many siblings away
    int32_t first        # index of the first value
    int32_t count        # of the values
    int32_t name         # number of the attribute on the page that is tested
    bint is_empty_default    # a missing attribute counts as an empty one


cdef enum:
    CAPTION_TEST = 0
    TEXT_BEFORE_TEST = 1
    TEXT_AFTER_TEST = 2
    WORD_BEFORE_TEST = 3
    WORD_AFTER_TEST = 4
    START_TEST = 5
    END_TEST = 6
    WORD_TEST = 7

cdef dict _TEXT_TESTS = {
    ("label", None): CAPTION_TEST,
    ("text", "left"): TEXT_BEFORE_TEST,
    ("text", "right"): TEXT_AFTER_TEST,
    ("word", "left"): WORD_BEFORE_TEST,
    ("word", "right"): WORD_AFTER_TEST,
    ("inside-left-text", None): START_TEST,
    ("inside-right-text", None): END_TEST,
    ("inside-word", None): WORD_TEST,
}


@cython.final
cdef class TextTest:
    """One feature of texts, as `feature_matches` in `rules/node_selection.py` tests it."""

    cdef int32_t kind
    cdef tuple values

    def __cinit__(self, str kind, str side, tuple values not None):
        self.kind = _TEXT_TESTS[kind, side]
        self.values = values

    cdef bint matches(
        self, Document document, int32_t number, int32_t kind, str text, CaptionSearch captions, int64_t max_slots
    ) except -1:
        if self.kind == START_TEST:
            return text.startswith(self.values)
        if self.kind == END_TEST:
            return text.endswith(self.values)
        if self.kind == WORD_TEST:
            return not set(self.values).isdisjoint(text.split(" "))
        return self.beside(document, number, kind, captions, max_slots) in self.values

    cdef str beside(
        self, Document document, int32_t number, int32_t kind, CaptionSearch captions, int64_t max_slots
    ):
        """Return the text beside a node that is compared."""
        if self.kind == CAPTION_TEST:
            return captions.caption(document, number, kind)
        if self.kind == TEXT_BEFORE_TEST:
            return _text_before(document, number, kind, max_slots)
        if self.kind == WORD_BEFORE_TEST:
            return _text_before(document, number, kind, max_slots).rpartition(" ")[2]
        if self.kind == WORD_AFTER_TEST:
            return _text_after(document, number, kind, max_slots).partition(" ")[0]
        return _text_after(document, number, kind, max_slots)


@cython.final
cdef class Conditions:
    """The features of a selector.

    Args:
        node: `text()`, `element()` or an attribute such as `@src`.
        features: for each structural one its kind, level, axis, sibling and values, as `Feature` has them.
        texts: for each feature of texts its kind, side and values.
        max_slots: how many places are searched for the text beside a node.
    """

    cdef list _texts         # keeps the values alive
    cdef Test* tests
    cdef Text* values
    cdef int32_t* tags       # per value of a tag test, the number of the tag on the page that is tested
    cdef int32_t test_count, value_count
    cdef int32_t selected    # SELECT_TEXT …
    cdef int32_t top         # the highest level that is tested
    cdef str attribute
    cdef list _names         # per test, the attribute
    cdef list _text_tests    # of texts, in order
    cdef int64_t max_slots
    cdef int64_t serial      # of the page whose names were looked up last

    def __cinit__(self, str node not None, features, texts, int64_t max_slots):
        cdef int32_t number = 0
        self._text_tests = [TextTest(kind, side, tuple(values)) for kind, side, values in texts]
        self.max_slots = max_slots
        self.serial = -1
        self._texts = []
        self._names = []
        self.selected = SELECT_TEXT
        if node == "element()":
            self.selected = SELECT_ELEMENT
        elif node != "text()":
            self.selected = SELECT_ATTRIBUTE
            self.attribute = node[1:]
        self.top = 0 if self.selected == SELECT_TEXT else 1
        features = sorted(features, key=itemgetter(1))
        self.test_count = len(features)
        self.value_count = sum(len(values) for *_, values in features)
        self.tests = <Test*>calloc(self.test_count + 1, sizeof(Test))
        self.values = <Text*>calloc(self.value_count + 1, sizeof(Text))
        self.tags = <int32_t*>calloc(self.value_count + 1, sizeof(int32_t))
        if self.tests == NULL or self.values == NULL or self.tags == NULL:
            raise MemoryError
        for index, (kind, level, axis, sibling, values) in enumerate(features):
            self._add_test(&self.tests[<int32_t>index], kind, level, axis, sibling)
            self.tests[<int32_t>index].first = number
            self.tests[<int32_t>index].count = len(values)
            for value in values:
                text = value.encode("utf-8", "surrogatepass")
                self._texts.append(text)
                self.values[number].start = <const uint8_t*><const char*>text
                self.values[number].length = len(text)
                number += 1

    def __dealloc__(self):
        free(self.tests)
        free(self.values)
        free(self.tags)

    cdef int _add_test(self, Test* test, str kind, int32_t level, axis, int32_t sibling) except -1:
        test.level = level
        test.axis = 0 if axis is None else -1 if axis == "preceding" else 1
        test.distance = sibling
        test.is_empty_default = kind in ("id", "class")
        self.top = max(self.top, level)
        if kind == "tag":
            test.kind = TAG_TEST
        elif kind == "token":
            test.kind = TOKEN_TEST
        elif kind == "cell":
            test.kind = CELL_TEST
        else:
            test.kind = ATTRIBUTE_TEST
        self._names.append("class" if kind == "token" else kind.removeprefix("@"))
        return 0

    def find(self, Element root not None, regions=None):
        """Return the nodes that match, in document order, as `FoundNodes`.

        Args:
            root: the root element of a page.
            regions: elements of the page, none inside another; only nodes inside them count. None for all nodes.
        """
        cdef FoundNodes found = FoundNodes.__new__(FoundNodes)
        cdef Document document = root.document
        cdef Element region
        found.document = document
        found.attribute = self.attribute
        self._look_up(document)
        if self.attribute is not None:
            found.attribute_name = document.number_of(self.attribute)
            if found.attribute_name == NO_NAME:
                return found
        if regions is None:
            self._collect(document, root.number, -1, found)
        else:
            for region in regions:
                self._collect(document, region.number, region.number, found)
        return found

    def select(self, FoundNodes found not None, CaptionSearch captions not None):
        """Yield element, kind and squeezed text of the nodes that match the features of texts, and are not hidden.

        Args:
            found: what `find` returned, of these conditions or of others with the same structural features.
            captions: the captions of the page.
        """
        cdef int32_t i
        cdef str text
        for i in range(found.count):
            text = self._selected_text(found, i, captions)
            if text is not None:
                yield found.document.element(found.numbers[i]), found.kind_name(found.node_kind(i)), text

    cdef int32_t _find_first(self, FoundNodes found, CaptionSearch captions, int32_t position, cut, list value) except -2:
        """Return the index of the first selected node that has a value, and append its text and value; −1 for none.

        A node that is crossed out counts if there is no other.

        Args:
            found: what `find` returned, of these conditions or of others with the same structural features.
            captions: the captions of the page.
            position: which of the selected nodes to look at, counted from 1; −1 for the last, 0 for all.
            cut: a function that returns the value in a text, or None; None if the texts are the values.
            value: gets the text of the node, and its value.
        """
        cdef int32_t i
        cdef int32_t last = -1
        cdef int32_t crossed_out = -1
        cdef int32_t seen = 0
        cdef str text
        for i in range(found.count):
            text = self._selected_text(found, i, captions)
            if text is None:
                continue
            seen += 1
            last = i
            if position < 0 or seen < position:
                continue
            if crossed_out < 0 or not found.is_crossed_out(i):
                if _add_value(text, cut, value):
                    if not found.is_crossed_out(i):
                        return i
                    crossed_out = i
            if position > 0:
                break
        if position < 0 and last >= 0:
            return last if _add_value(found.text(last), cut, value) else -1
        return crossed_out

    cdef str _selected_text(self, FoundNodes found, int32_t i, CaptionSearch captions):
        """Return the text of a found node if it matches the features of texts and is not hidden, else None."""
        cdef str text = found.text(i)
        if not text or not self._texts_match(found.document, found.numbers[i], found.node_kind(i), text, captions):
            return None
        return None if found.document.is_hidden(found.parent(i)) else text

    def matches(self, Element element not None, str kind not None, str text not None, CaptionSearch captions not None):
        """Return True if a node of this element, with this kind and text as in `Node`, matches all features."""
        return self._node_matches(element.document, element.number, _node_kind(kind), text, captions)

    cdef bint _node_matches(
        self, Document document, int32_t number, int32_t kind, str text, CaptionSearch captions
    ) except -1:
        cdef Slot slot = Slot(number, kind == TAIL_NODE)
        cdef bint is_text = kind == TEXT_NODE or kind == TAIL_NODE
        cdef int32_t parent = document.nodes[number].parent if slot.is_tail else number
        self._look_up(document)
        if self.tests[0].level == 0 and self.test_count and not self._context_matches(document, &slot, is_text):
            return False
        if not self._element_matches(document, parent):
            return False
        return self._texts_match(document, number, kind, text, captions)

    cdef bint _texts_match(
        self, Document document, int32_t number, int32_t kind, str text, CaptionSearch captions
    ) except -1:
        cdef TextTest test
        for test in self._text_tests:
            if not test.matches(document, number, kind, text, captions, self.max_slots):
                return False
        return True

    cdef int _look_up(self, Document document) except -1:
        """Find the numbers of the names on a page."""
        cdef int32_t i, j, number
        cdef Test* test
        if self.serial == document.serial:
            return 0
        self.serial = document.serial
        for i in range(self.test_count):
            test = &self.tests[i]
            if test.kind == TAG_TEST:
                for j in range(test.first, test.first + test.count):
                    number = document.find_name(self.values[j].start, self.values[j].length)
                    self.tags[j] = number if number >= 0 else NO_NAME
            else:
                test.name = document.number_of(<str>self._names[i])
        return 0

    cdef int _collect(self, Document document, int32_t start, int32_t region, FoundNodes found) except -1:
        """Add the nodes inside an element that match, in document order."""
        cdef int32_t end = document.last_inside(start)
        cdef int32_t number, candidate
        cdef int32_t last_end = -1
        cdef bint is_nested = False
        cdef int32_t first = found.count
        cdef int32_t minimum = start + (region >= 0 and self.selected == SELECT_ELEMENT and self.top == 1)
        cdef int32_t chain = self._only_tag(document)
        number = minimum if chain == ALL_ELEMENTS else chain
        while 0 <= number <= end:
            candidate = number
            number = candidate + 1 if chain == ALL_ELEMENTS else document.nodes[candidate].same_tag
            if candidate < minimum or document.nodes[candidate].tag == COMMENT:
                continue
            if not self._element_matches(document, candidate):
                continue
            if region >= 0 and not self._is_in_region(document, candidate, region):
                continue
            if self.selected == SELECT_TEXT:
                is_nested = is_nested or candidate <= last_end
                last_end = max(last_end, document.last_inside(candidate))
                self._collect_texts(document, candidate, found)
            elif self.selected == SELECT_ELEMENT or document.find_attribute(candidate, found.attribute_name) != NULL:
                found.add(candidate, SELECTED_ITSELF)
        if is_nested:
            found.sort_from(first)
        return 0

    cdef int32_t _only_tag(self, Document document) noexcept nogil:
        """Return the first element of the tag that the element of level 1 must have; ALL_ELEMENTS if it may have any."""
        cdef int32_t i
        cdef Test* test
        for i in range(self.test_count):
            test = &self.tests[i]
            if test.kind == TAG_TEST and test.level == 1 and not test.axis and test.count == 1:
                return document.names[self.tags[test.first]].first_node if self.tags[test.first] >= 0 else -1
        return ALL_ELEMENTS

    cdef bint _is_in_region(self, Document document, int32_t number, int32_t region) noexcept nogil:
        """Return True if the highest element that is tested is the region or inside it."""
        cdef int32_t level = self.top
        while level > 1 and number >= 0:
            number = document.nodes[number].parent
            level -= 1
        return number >= region

    cdef int _collect_texts(self, Document document, int32_t number, FoundNodes found) except -1:
        """Add the texts of an element, without those of the elements inside it."""
        cdef Node* nodes = document.nodes
        cdef int32_t child = nodes[number].first_child
        if nodes[number].text_length and self._text_matches(document, number, False):
            found.add(number, SELECTED_TEXT)
        while child >= 0:
            if nodes[child].tail_length and self._text_matches(document, child, True):
                found.add(child, SELECTED_TAIL)
            child = nodes[child].next
        return 0

    cdef bint _text_matches(self, Document document, int32_t number, bint is_tail) noexcept nogil:
        cdef Slot slot
        slot.node = number
        slot.is_tail = is_tail
        return not self.test_count or self.tests[0].level or self._context_matches(document, &slot, True)

    cdef bint _context_matches(self, Document document, Slot* slot, bint is_text) noexcept nogil:
        """Return True if a text matches the features of level 0, which are about the elements beside it."""
        cdef int32_t i = 0
        while i < self.test_count and self.tests[i].level == 0:
            if not self._test_element(document, &self.tests[i], self._beside(document, &self.tests[i], slot, is_text)):
                return False
            i += 1
        return True

    cdef int32_t _beside(self, Document document, Test* test, Slot* slot, bint is_text) noexcept nogil:
        """Return the element before or after a text that a test is about; −1 if it is missing."""
        cdef Node* nodes = document.nodes
        cdef int32_t nearest
        if not is_text:
            return -1
        if test.axis < 0:
            nearest = slot.node if slot.is_tail else -1
        else:
            nearest = nodes[slot.node].next if slot.is_tail else nodes[slot.node].first_child
        while nearest >= 0 and nodes[nearest].tag == COMMENT:
            nearest = nodes[nearest].previous if test.axis < 0 else nodes[nearest].next
        return document.sibling(nearest, test.axis, test.distance - 1)

    cdef bint _element_matches(self, Document document, int32_t number) noexcept nogil:
        """Return True if the element of level 1 and those around it match."""
        cdef int32_t level = 1
        cdef int32_t i
        cdef Test* test
        for i in range(self.test_count):
            test = &self.tests[i]
            if test.level == 0:
                continue
            while level < test.level:
                number = document.nodes[number].parent
                if number < 0:
                    return False
                level += 1
            if not self._test_element(
                document, test, document.sibling(number, test.axis, test.distance) if test.axis else number
            ):
                return False
        return True

    cdef bint _test_element(self, Document document, Test* test, int32_t number) noexcept nogil:
        """Return True if an element matches one of the values of a test; −1 means that there is no such element."""
        cdef int32_t j
        if number < 0:
            if test.kind != TAG_TEST:
                return False
            for j in range(test.first, test.first + test.count):
                if self.values[j].length == 0:
                    return True
            return False
        if test.kind == TAG_TEST:
            for j in range(test.first, test.first + test.count):
                if self.tags[j] == document.nodes[number].tag:
                    return True
            return False
        if test.kind == CELL_TEST:
            return self._test_cell(document, test, number)
        return self._test_attribute(document, test, number)

    cdef bint _test_attribute(self, Document document, Test* test, int32_t number) noexcept nogil:
        cdef Attribute* attribute = document.find_attribute(number, test.name)
        cdef const uint8_t* value = document.text
        cdef int32_t length = 0
        cdef int32_t j
        if attribute != NULL:
            value = document.text + attribute.value
            length = attribute.length
        elif not test.is_empty_default:
            return False
        for j in range(test.first, test.first + test.count):
            if test.kind == TOKEN_TEST:
                if _has_token(value, length, self.values[j]):
                    return True
            elif length == self.values[j].length and memcmp(value, self.values[j].start, length) == 0:
                return True
        return False

    cdef bint _test_cell(self, Document document, Test* test, int32_t number) noexcept nogil:
        """Return True if an element is a table cell with one of these numbers in its row."""
        cdef int32_t tag = document.nodes[number].tag
        cdef int32_t place = 1
        cdef int32_t sibling = document.nodes[number].previous
        cdef int32_t j
        if tag != TD and tag != TH:
            return False
        while sibling >= 0 and place <= MAX_CELLS:
            place += document.nodes[sibling].tag != COMMENT
            sibling = document.nodes[sibling].previous
        if place > MAX_CELLS:
            return False
        for j in range(test.first, test.first + test.count):
            if _as_number(self.values[j]) == place:
                return True
        return False


cdef bint _add_value(str text, cut, list value) except -1:
    """Append a text and the value in it, instead of earlier ones; False without a value."""
    found = text if cut is None else cut(text)
    if found is None:
        return False
    value[:] = (text, found)
    return True


def find_value(list searches not None, dict found not None, find, CaptionSearch captions not None, cut, bint votes):
    """Return the first value that selectors find: number of the selector, element, kind, text, value, and votes for it.

    The votes are how many of the selector's `members` match the node, too. None if no selector finds a value.

    Args:
        searches: the selectors, tried in order, as `FirstSearch` in `rules/rule.py` has them.
        found: the candidates of selectors by `key`, as far as they were searched for on this page.
        find: a function that searches for the candidates of a selector.
        captions: the captions of the page.
        cut: a function that returns the value in a text, or None; None if the texts are the values.
        votes: True to count the votes.
    """
    cdef Conditions conditions, member
    cdef FoundNodes nodes
    cdef int32_t position, i, number, kind
    cdef Py_ssize_t index
    cdef int32_t agreeing = 0
    cdef list value = []
    for index in range(len(searches)):
        conditions, key, position, selector, members, _ = searches[index]
        nodes = found.get(key)
        if nodes is None:
            nodes = find(selector)
        i = conditions._find_first(nodes, captions, position, cut, value)
        if i < 0:
            continue
        number, kind = nodes.numbers[i], nodes.node_kind(i)
        if votes:
            for member in members:
                agreeing += member._node_matches(nodes.document, number, kind, value[0], captions)
        return index, nodes.document.element(number), nodes.kind_name(kind), value[0], value[1], agreeing
    return None


cdef int32_t _as_number(Text text) noexcept nogil:
    """Return a number of at most four digits; −1 for anything else."""
    cdef int32_t number = 0
    cdef int32_t i
    if not 0 < text.length <= 4:
        return -1
    for i in range(text.length):
        if not b"0" <= text.start[i] <= b"9":
            return -1
        number = 10 * number + text.start[i] - 48
    return number


cdef bint _has_token(const uint8_t* value, int32_t length, Text token) noexcept nogil:
    """Return True if one of the words of a class is this one."""
    cdef int32_t at = 0
    cdef int32_t start
    while at < length:
        while at < length and _is_blank(value[at]):
            at += 1
        start = at
        while at < length and not _is_blank(value[at]):
            at += 1
        if at - start == token.length and at > start and memcmp(value + start, token.start, token.length) == 0:
            return True
    return False


cdef inline bint _is_blank(uint8_t byte) noexcept nogil:
    return byte == 32 or 9 <= byte <= 13 or 28 <= byte <= 31


cdef enum:
    SELECTED_TEXT = 0
    SELECTED_TAIL = 1
    SELECTED_ITSELF = 2


@cython.final
cdef class FoundNodes:
    """Nodes that were found on a page, in document order. Each becomes an object when it is iterated over."""

    cdef Document document
    cdef str attribute           # if the nodes are attributes, their name and its number
    cdef int32_t attribute_name
    cdef int32_t* numbers
    cdef uint8_t* kinds
    cdef int32_t count, room

    def __cinit__(self):
        self.attribute_name = NO_NAME

    def __dealloc__(self):
        free(self.numbers)
        free(self.kinds)

    def __len__(self):
        return self.count

    def cut(self, int32_t count):
        """Forget all but the first so many nodes."""
        self.count = min(self.count, count)

    def __iter__(self):
        """Yield the element, the kind as in `Node`, and the squeezed text, without nodes that have none."""
        cdef int32_t i
        cdef str text
        for i in range(self.count):
            text = self.text(i)
            if text:
                yield self.document.element(self.numbers[i]), self.kind_name(self.node_kind(i)), text

    def elements(self):
        """Return the elements of the nodes."""
        cdef int32_t i
        return [self.document.element(self.numbers[i]) for i in range(self.count)]

    def outermost(self):
        """Return the elements of the nodes without those inside another of them."""
        cdef int32_t i, end = -1
        cdef list found = []
        for i in range(self.count):
            if self.numbers[i] > end:
                found.append(self.document.element(self.numbers[i]))
                end = self.document.last_inside(self.numbers[i])
        return found

    cdef inline int32_t parent(self, int32_t i) noexcept nogil:
        """Return the element that contains a node."""
        return self.document.nodes[self.numbers[i]].parent if self.kinds[i] == SELECTED_TAIL else self.numbers[i]

    cdef inline bint is_crossed_out(self, int32_t i) noexcept nogil:
        return self.document.is_inside_flagged(self.parent(i), CROSSED_OUT)

    cdef inline int32_t node_kind(self, int32_t i) noexcept nogil:
        if self.kinds[i] != SELECTED_ITSELF:
            return TAIL_NODE if self.kinds[i] == SELECTED_TAIL else TEXT_NODE
        return ELEMENT_NODE if self.attribute_name == NO_NAME else ATTRIBUTE_NODE

    cdef str kind_name(self, int32_t kind):
        if kind == ATTRIBUTE_NODE:
            return "@" + self.attribute
        return "tail" if kind == TAIL_NODE else "text" if kind == TEXT_NODE else "element"

    cdef str text(self, int32_t i):
        """Return the squeezed text of a node: for an element, what readers see of it."""
        cdef int32_t kind = self.node_kind(i)
        cdef Attribute* attribute
        cdef Slot slot
        if kind == ELEMENT_NODE:
            return self.document.visible_text(self.numbers[i])
        if kind == ATTRIBUTE_NODE:
            attribute = self.document.find_attribute(self.numbers[i], self.attribute_name)
            return _squeeze(self.document, attribute.value, attribute.length)
        slot.node = self.numbers[i]
        slot.is_tail = kind == TAIL_NODE
        return _slot_text(self.document, &slot)

    cdef int add(self, int32_t number, uint8_t kind) except -1:
        cdef int32_t* numbers
        cdef uint8_t* kinds
        cdef int32_t room
        if self.count >= self.room:
            room = max(16, 2 * self.room)
            numbers = <int32_t*>realloc(self.numbers, room * sizeof(int32_t))
            if numbers != NULL:
                self.numbers = numbers
            kinds = <uint8_t*>realloc(self.kinds, room)
            if kinds != NULL:
                self.kinds = kinds
            if numbers == NULL or kinds == NULL:
                raise MemoryError
            self.room = room
        self.numbers[self.count] = number
        self.kinds[self.count] = kind
        self.count += 1
        return 0

    cdef int sort_from(self, int32_t first) except -1:
        """Put texts into document order. A text after an element comes after all that is inside the element."""
        cdef int32_t i, number
        cdef list keys = []
        for i in range(first, self.count):
            number = self.numbers[i]
            if self.kinds[i] == SELECTED_TAIL:
                keys.append((self.document.last_inside(number), -number, number, SELECTED_TAIL))
            else:
                keys.append((number, -self.document.node_count, number, SELECTED_TEXT))
        keys.sort()
        for i in range(first, self.count):
            self.numbers[i] = keys[i - first][2]
            self.kinds[i] = keys[i - first][3]
        return 0


def find_texts(Element root not None, words):
    """Return all texts of a page that contain one of these words, in document order, as `FoundNodes`."""
    cdef FoundNodes found = FoundNodes.__new__(FoundNodes)
    cdef Document document = root.document
    cdef list encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    cdef Node* nodes = document.nodes
    cdef int32_t number = root.number
    cdef bint is_leaving = False
    found.document = document
    while number >= 0:
        if is_leaving or nodes[number].tag == COMMENT:
            if nodes[number].tail_length and document.contains(nodes[number].tail, nodes[number].tail_length, encoded):
                found.add(number, SELECTED_TAIL)
            if nodes[number].next >= 0:
                number, is_leaving = nodes[number].next, False
            else:
                number, is_leaving = nodes[number].parent, True
            continue
        if nodes[number].text_length and document.contains(nodes[number].text, nodes[number].text_length, encoded):
            found.add(number, SELECTED_TEXT)
        if nodes[number].first_child >= 0:
            number = nodes[number].first_child
        else:
            is_leaving = True
    return found
