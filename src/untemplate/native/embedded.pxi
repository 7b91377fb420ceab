# Embedded data: the objects in data that were parsed, the values along a path, and the HTML of an element. The Python
# code of `page/embedded_data.py` and `page/embedded_formats.py` does the same, and the rest.


def texts_of_type(Element top not None, str tag not None, str word not None):
    """Return the texts of the elements inside another one that have this tag, and a `type` with a word, in document order.

    Args:
        top: the element around them.
        tag: the tag.
        word: the word, in lower case.
    """
    cdef Document document = top.document
    cdef int32_t wanted = document.tag_filter(tag)
    cdef int32_t type_name = document.number_of("type")
    cdef int32_t end = document.last_inside(top.number)
    cdef int32_t number
    cdef Attribute* attribute
    cdef Node* node
    cdef list texts = []
    if wanted < 0 or type_name == NO_NAME:
        return texts
    number = document.names[wanted].first_node
    while 0 <= number <= end:
        node = &document.nodes[number]
        attribute = document.find_attribute(number, type_name) if number >= top.number else NULL
        if attribute != NULL and word in document.string(attribute.value, attribute.length).lower():
            texts.append(document.string(node.text, node.text_length))
        number = node.same_tag
    return texts


def meta_contents(Element top not None, int32_t most):
    """Return the contents of the meta tags inside an element by name, such as `og:title`.

    Args:
        top: the element around them.
        most: no more tags are read.
    """
    cdef Document document = top.document
    cdef int32_t tag = document.tag_filter("meta")
    cdef int32_t end = document.last_inside(top.number)
    cdef int32_t content_name = document.number_of("content")
    cdef int32_t[2] naming = [document.number_of("property"), document.number_of("name")]
    cdef int32_t meta, number, i
    cdef Attribute* attribute
    cdef Attribute* name
    cdef str content
    cdef dict contents = {}
    number = document.names[tag].first_node if tag >= 0 and content_name != NO_NAME else -1
    while 0 <= number <= end and most > 0:
        meta = number
        number = document.nodes[meta].same_tag
        if meta < top.number:
            continue
        most -= 1
        attribute = document.find_attribute(meta, content_name)
        name = NULL
        for i in range(2):
            if (name == NULL or not name.length) and naming[i] != NO_NAME:
                name = document.find_attribute(meta, naming[i])
        if attribute == NULL or name == NULL or not attribute.length or not name.length:
            continue
        content = document.string(attribute.value, attribute.length)
        if not content.isspace():
            contents.setdefault(_squeeze(document, name.value, name.length).lower(), []).append(content)
    return contents


def readable_texts(list values not None, Py_ssize_t most, read_lines):
    """Return texts of embedded data as a page would show them, without those that have no letters and digits.

    Args:
        values: the texts as they are in the data.
        most: no more characters of a text are read.
        read_lines: a function that returns the texts in one that may contain tags, character references or white
            space. All others are shown as they are.
    """
    cdef list readable = []
    cdef str value, line
    for value in values:
        if len(value) > most:
            value = value[:most]
        if _is_plain_text(value):
            readable.append(value)
            continue
        for line in read_lines(value):
            if any(map(str.isalnum, line)):
                readable.append(line)
    return readable


cdef uint8_t[128] _plain_kinds    # what a text of embedded data may contain if it is shown as it is
for _code in range(128):
    _plain_kinds[<int>_code] = CONTROL if chr(_code) in "<&" else _character_kind(_code)


cdef bint _is_plain_text(str text) except -1:
    """Return True if a text consists of letters, digits, signs, and single blanks between them, with one letter or digit.

    It contains no tags and no character references.
    """
    cdef Py_ssize_t length, at = 0
    cdef const uint8_t* start
    cdef int size, kind
    cdef bint has_letters = False
    try:
        start = <const uint8_t*>PyUnicode_AsUTF8AndSize(text, &length)
    except UnicodeEncodeError:  # it has halves of characters
        return False
    if not length or start[0] == 32 or start[length - 1] == 32:
        return False
    while at < length:
        if start[at] < 0x80:
            if start[at] == 32 and start[at + 1] == 32:
                return False
            kind = _plain_kinds[start[at]]
            size = 1
        else:
            size = _sequence_size(start + at, length - at)
            kind = _character_kind(_code_at(start + at, size)) if size else CONTROL
        if kind == CONTROL:
            return False
        has_letters = has_letters or kind == LETTER
        at += size
    return has_letters


def visit_objects(list roots not None, int max_depth, Py_ssize_t max_visited):
    """Return all objects inside data, an object before those inside it.

    Args:
        roots: the data.
        max_depth: objects on lower levels are not visited.
        max_visited: no more objects are visited.
    """
    cdef list visited = []
    _visit(roots, -1, max_depth, max_visited, visited)
    return visited[:max_visited]


cdef int _visit(content, int depth, int max_depth, Py_ssize_t max_visited, list visited) except -1:
    if isinstance(content, dict):
        visited.append(content)
    if depth >= max_depth or len(visited) >= max_visited:
        return 0
    if isinstance(content, dict):
        for part in (<dict>content).values():
            if isinstance(part, (dict, list)):
                _visit(part, depth + 1, max_depth, max_visited, visited)
    else:
        for part in <list>content:
            if isinstance(part, (dict, list)):
                _visit(part, depth + 1, max_depth, max_visited, visited)
    return 0


def objects_of_type(list visited not None, str wanted not None, local_name, Py_ssize_t max_objects):
    """Return those of some objects that have a type.

    Args:
        visited: the objects, as `visit_objects` returns them.
        wanted: the type, without the address of its vocabulary.
        local_name: a function that returns a type without the address of its vocabulary.
        max_objects: no more objects with any type count; one with several types counts as several.
    """
    cdef list found = []
    cdef dict content
    for content in visited:
        types = content.get("@type") or content.get("__typename")
        if types is None:
            continue
        for type_ in types if isinstance(types, list) else (types,):
            if max_objects <= 0:
                return found
            if not isinstance(type_, str) or not local_name(type_):
                continue
            max_objects -= 1
            if (<str>type_).endswith(wanted) and local_name(type_) == wanted:
                found.append(content)
    return found


@cython.final
cdef class PathReader:
    """Reads the values along a path of names, as `DataObject.read` does for paths without wild cards.

    Args:
        keys: the names on the way.
        ends: names of values below, in the members of lists at any level.
        members: what lists call their members.
        only_first_end: True if of an object with several of the ends only the first counts.
        max_depth: parts on lower levels are not read.
        max_parts: how many parts are read in all.
    """

    cdef tuple keys, ends
    cdef frozenset members
    cdef bint only_first_end
    cdef Py_ssize_t key_count
    cdef int max_depth
    cdef Py_ssize_t parts_left
    cdef list texts      # of the values that were read
    cdef list owners     # per value, the object that has it, and the number of its end

    def __cinit__(
        self,
        tuple keys not None,
        tuple ends not None,
        frozenset members not None,
        bint only_first_end,
        int max_depth,
        Py_ssize_t max_parts,
    ):
        self.keys = keys
        self.ends = ends
        self.members = members
        self.only_first_end = only_first_end
        self.key_count = len(keys)
        self.max_depth = max_depth
        self.parts_left = max_parts

    def read(self, content):
        """Return the texts of the values in an object, with numbers as texts.

        None if an object on the way may be a reference to another one, or if there are too many parts.
        """
        self.texts = []
        self.owners = []
        if not self._read(content, 0, 0, None, 0, True):
            return None
        return self._without_later_ends() if self.only_first_end else self.texts

    cdef bint _read(
        self, content, Py_ssize_t level, int depth, owner, Py_ssize_t end, bint may_descend
    ) except -1:
        """Add the values of a part of the data; False if the data have to be read otherwise.

        Args:
            content: the part.
            level: how many of the keys lead to it.
            depth: how many levels of the data it is below the start.
            owner: the innermost object around it.
            end: the number of the end that leads to it; −1 for the members of a list.
            may_descend: True if objects in it may have values.
        """
        self.parts_left -= 1
        if self.parts_left < 0:
            return False
        if isinstance(content, str) or (isinstance(content, (int, float)) and not isinstance(content, bool)):
            if level == self.key_count and end >= 0:
                self.texts.append(content if isinstance(content, str) else str(content))
                self.owners.append((id(owner), end))
        elif isinstance(content, list) and depth < self.max_depth:
            for part in <list>content:
                if not self._read(part, level, depth + 1, owner, end, may_descend):
                    return False
        elif isinstance(content, dict) and depth < self.max_depth and may_descend:
            return self._read_object(<dict>content, level, depth)
        return True

    cdef bint _read_object(self, dict content, Py_ssize_t level, int depth) except -1:
        if "@id" in content and len(content) == 1 + ("@type" in content):
            return False
        if level < self.key_count:
            part = content.get(self.keys[level])
            return part is None or self._read(part, level + 1, depth + 1, content, 0, True)
        if not self.ends:
            return True
        # Names come first, as elsewhere.
        if "name" in content and not self._read_below("name", content, level, depth):
            return False
        for key in content:
            if key != "name" and not self._read_below(key, content, level, depth):
                return False
        return True

    cdef bint _read_below(self, str key, dict content, Py_ssize_t level, int depth) except -1:
        """Add the values of a name of an object, if it is an end, or that of members."""
        cdef bint is_member = key in self.members
        cdef Py_ssize_t end = self.ends.index(key) if key in self.ends else -1
        if end < 0 and not is_member:
            return True
        return self._read(content[key], level, depth + 1, content, end, is_member)

    cdef list _without_later_ends(self):
        """Return the texts of each object's first end."""
        cdef dict first = {}
        cdef Py_ssize_t i
        for owner, end in self.owners:
            first[owner] = min(end, first.get(owner, end))
        return [self.texts[i] for i in range(len(self.texts)) if first[self.owners[i][0]] == self.owners[i][1]]


cdef str _html_string(Document document, int32_t top, int32_t max_length):
    """Return the HTML of an element without attributes, comments and scripts; no more than so many characters."""
    cdef Node* nodes = document.nodes
    cdef bytearray parts = bytearray()
    cdef int32_t number = top
    cdef bint is_leaving = False
    while PyByteArray_Size(parts) < MAX_UTF8 * <Py_ssize_t>max_length:
        if is_leaving or not document.shows_content(number):
            if is_leaving and document.shows_content(number):
                _append_tag(parts, b"</", document.name_text(nodes[number].tag))
            if number == top:
                break
            _append_escaped(parts, document.text + nodes[number].tail, nodes[number].tail_length)
            is_leaving = nodes[number].next < 0
            number = nodes[number].parent if is_leaving else nodes[number].next
            continue
        _append_tag(parts, b"<", document.name_text(nodes[number].tag))
        _append_escaped(parts, document.text + nodes[number].text, nodes[number].text_length)
        is_leaving = nodes[number].first_child < 0
        if not is_leaving:
            number = nodes[number].first_child
    return parts.decode("utf-8", "replace")[:max_length]


cdef enum:
    MAX_UTF8 = 4    # bytes of a character


cdef int _append_tag(bytearray parts, bytes start, str name) except -1:
    parts += start
    parts += name.encode("utf-8", "replace")
    parts += b">"
    return 0


cdef int _append_escaped(bytearray parts, const uint8_t* text, int32_t length) except -1:
    """Append a text as `html.escape` writes it."""
    cdef int32_t start = 0
    cdef int32_t at
    for at in range(length):
        if text[at] not in b"&<>\"'":
            continue
        _append(parts, text + start, at - start)
        start = at + 1
        if text[at] == b"&":
            parts += b"&amp;"
        elif text[at] == b"<":
            parts += b"&lt;"
        elif text[at] == b">":
            parts += b"&gt;"
        elif text[at] == b'"':
            parts += b"&quot;"
        else:
            parts += b"&#x27;"
    return _append(parts, text + start, length - start)
