# What is read of the bytes of a page before it is parsed: its encoding, and its tags for signatures and traits.


def is_utf8(bytes html not None):
    """Return True if the bytes are valid UTF-8, as strictly as Python decodes it."""
    return _is_utf8(<const uint8_t*><const char*>html, len(html))


cdef bint _is_utf8(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t at = 0
    cdef int size
    cdef uint64_t word
    while at < length:
        if text[at] < 0x80:
            at += 1
            while at + 8 <= length:  # most pages are mostly ASCII
                memcpy(&word, text + at, 8)
                if word & 0x8080808080808080u:
                    break
                at += 8
            continue
        size = _sequence_size(text + at, length - at)
        if not size:
            return False
        at += size
    return True


cdef int _sequence_size(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    """Return how many bytes a character has that is not ASCII; 0 if it is invalid."""
    cdef uint8_t first = text[0]
    cdef uint8_t low = 0x80, high = 0xBF   # of the second byte: no surrogates, nothing longer than necessary
    cdef int size, i
    if 0xC2 <= first <= 0xDF:
        size = 2
    elif 0xE0 <= first <= 0xEF:
        size = 3
        if first == 0xE0:
            low = 0xA0
        elif first == 0xED:
            high = 0x9F
    elif 0xF0 <= first <= 0xF4:
        size = 4
        if first == 0xF0:
            low = 0x90
        elif first == 0xF4:
            high = 0x8F
    else:
        return 0
    if length < size or not low <= text[1] <= high:
        return 0
    for i in range(2, size):
        if text[i] & 0xC0 != 0x80:
            return 0
    return size



def read_tags(bytes html not None):
    """Return where the tags of a page are, their names and whether they are closing ones, as three byte arrays.

    These are arrays of 64-bit positions, of the first eight letters of each name in lower case as a number, and of
    bytes. Tags inside scripts, styles and comments are left out. NUL bytes must have been removed.
    """
    cdef const uint8_t* text = <const uint8_t*><const char*>html
    cdef Py_ssize_t length = len(html)
    cdef Py_ssize_t room = 1024
    cdef Py_ssize_t count = 0
    cdef Py_ssize_t at = 0
    cdef const void* found
    cdef bytearray starts = bytearray(8 * room), names = bytearray(8 * room), closing = bytearray(room)
    cdef uint64_t name
    cdef bint is_closing
    while True:
        found = memchr(text + at, b"<", length - at)
        if found == NULL:
            break
        at = <const uint8_t*>found - text
        if text[at + 1] == b"!":
            at = _skip_comment(text, at, length)
            continue
        is_closing = text[at + 1] == b"/"
        if not is_closing and not _is_letter(text[at + 1]):
            at += 1
            continue
        name = _tag_name(text + at + 1 + is_closing)
        if name:
            if count == room:
                room *= 2
                PyByteArray_Resize(starts, 8 * room)
                PyByteArray_Resize(names, 8 * room)
                PyByteArray_Resize(closing, room)
            (<int64_t*>PyByteArray_AsString(starts))[count] = at
            (<uint64_t*>PyByteArray_AsString(names))[count] = name
            PyByteArray_AsString(closing)[count] = is_closing
            count += 1
        at += 1
        if not is_closing and (name == _SCRIPT_NAME or name == _STYLE_NAME):
            at = _find_closing(text, at, length, name)
    PyByteArray_Resize(starts, 8 * count)
    PyByteArray_Resize(names, 8 * count)
    PyByteArray_Resize(closing, count)
    return starts, names, closing


cdef uint64_t _SCRIPT_NAME = int.from_bytes(b"script", "little")
cdef uint64_t _STYLE_NAME = int.from_bytes(b"style", "little")


cdef uint64_t _tag_name(const uint8_t* text) noexcept nogil:
    """Return the first eight letters of a name in lower case, the first one lowest; bytes above ASCII lose a bit."""
    cdef uint64_t name = 0
    cdef int i
    for i in range(8):
        if text[i] <= 0x20 or text[i] == b"/" or text[i] == b">":
            break
        name |= <uint64_t>((text[i] | 0x20) & 0x7F) << (8 * i)
    return name


cdef Py_ssize_t _skip_comment(const uint8_t* text, Py_ssize_t at, Py_ssize_t length) noexcept nogil:
    """Return where to go on after `<!`: after the start of a declaration, or at the end of a comment."""
    cdef const void* found
    if text[at + 2] != b"-" or text[at + 3] != b"-":
        return at + 1
    found = memmem(text + at + 2, length - at - 2, b"-->", 3)
    return length if found == NULL else <const uint8_t*>found - text


cdef Py_ssize_t _find_closing(const uint8_t* text, Py_ssize_t at, Py_ssize_t length, uint64_t name) noexcept nogil:
    """Return where the next closing tag of this name begins; the end of the page if there is none."""
    cdef const void* found
    while True:
        found = memchr(text + at, b"<", length - at)
        if found == NULL:
            return length
        at = <const uint8_t*>found - text
        if text[at + 1] == b"/" and _tag_name(text + at + 2) == name:
            return at
        at += 1


cdef inline uint64_t _mix_bits(uint64_t value) noexcept nogil:
    """Spread every bit over all others, as `mix_bits` in `page/signatures.py`."""
    value = (value ^ (value >> 32)) * _MIX
    value = (value ^ (value >> 32)) * _MIX
    return value ^ (value >> 32)


cdef uint64_t _MIX = 0xD6E8FEB86659FD93u


def hash_runs(bytes names not None, bytes closing not None, int length):
    """Return a hash of each run of this many tags in a row; names and marks are those of `read_tags`.

    There must be at least as many tags. The hashes are an array of 64-bit numbers, the same as those of `hash_runs` in
    `page/signatures.py`.
    """
    cdef Py_ssize_t count = len(names) // 8
    cdef Py_ssize_t run_count = max(count - length + 1, 0)
    cdef const uint64_t* name = <const uint64_t*><const char*>names
    cdef const char* is_closing = <const char*>closing
    cdef bytearray words = bytearray(8 * count)
    cdef uint64_t* word = <uint64_t*>PyByteArray_AsString(words)
    cdef Py_ssize_t i
    cdef int offset
    cdef uint64_t value
    for i in range(count):
        word[i] = _mix_bits(name[i] | (<uint64_t>(is_closing[i] != 0) << 63))
    for i in range(run_count):
        value = word[i]
        for offset in range(1, length):
            value = value * _MIX + word[i + offset]
        word[i] = _mix_bits(value)
    PyByteArray_Resize(words, 8 * run_count)
    return words
