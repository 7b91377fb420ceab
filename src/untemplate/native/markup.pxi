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



cdef struct Tag:
    Py_ssize_t start
    uint64_t name        # its first eight letters in lower case, the first one lowest
    bint is_closing


cdef bint _next_tag(const uint8_t* text, Py_ssize_t length, Py_ssize_t* at, Tag* tag) noexcept nogil:
    """Read the next tag outside scripts, styles and comments; False at the end. `at` is where to go on.

    The text ends with a NUL and has no other one: reading until one is allowed.
    """
    cdef const void* found
    while True:
        found = memchr(text + at[0], b"<", length - at[0])
        if found == NULL:
            return False
        tag.start = <const uint8_t*>found - text
        if text[tag.start + 1] == b"!":
            at[0] = _skip_comment(text, tag.start, length)
            continue
        tag.is_closing = text[tag.start + 1] == b"/"
        at[0] = tag.start + 1
        if not tag.is_closing and not _is_letter(text[tag.start + 1]):
            continue
        tag.name = _tag_name(text + tag.start + 1 + tag.is_closing)
        if not tag.is_closing and (tag.name == _SCRIPT_NAME or tag.name == _STYLE_NAME):
            at[0] = _find_closing(text, at[0], length, tag.name)
        if tag.name:
            return True


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
    cdef bytearray starts = bytearray(8 * room), names = bytearray(8 * room), closing = bytearray(room)
    cdef Tag tag
    while _next_tag(text, length, &at, &tag):
        if count == room:
            room *= 2
            PyByteArray_Resize(starts, 8 * room)
            PyByteArray_Resize(names, 8 * room)
            PyByteArray_Resize(closing, room)
        (<int64_t*>PyByteArray_AsString(starts))[count] = tag.start
        (<uint64_t*>PyByteArray_AsString(names))[count] = tag.name
        PyByteArray_AsString(closing)[count] = tag.is_closing
        count += 1
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


cdef enum:
    MAX_RUN_LENGTH = 16
    MAX_RUN_BITS = 24


@cython.final
cdef class RunSet:
    """The tag runs of a page as a set: a bit for each possible one. `PageRuns` in `page/traits.py` says what they are.

    Args:
        html: the page, without NUL bytes.
        length: the number of tags in a run, at most 16.
        bits: the number of bits that are kept of a run's hash, from 3 to 24.
    """

    cdef uint8_t* table
    cdef size_t table_size, memory_size

    def __cinit__(self, bytes html not None, int length, int bits):
        cdef Memory taken
        if not 0 < length <= MAX_RUN_LENGTH or not 3 <= bits <= MAX_RUN_BITS:
            raise ValueError("runs have 1 to 16 tags, and 3 to 24 bits")
        self.table_size = <size_t>1 << (bits - 3)
        _take_memory(RUN_MEMORY, self.table_size, &taken)
        self.table, self.memory_size = <uint8_t*>taken.start, taken.size
        memset(self.table, 0, self.table_size)
        self.read(<const uint8_t*><const char*>html, len(html), length)

    def __dealloc__(self):
        _give_memory(RUN_MEMORY, self.table, self.memory_size)

    cdef void read(self, const uint8_t* text, Py_ssize_t size, int length) noexcept nogil:
        """Add every run. Tags that are too few for one are padded."""
        cdef uint64_t[MAX_RUN_LENGTH] words
        cdef Py_ssize_t at = 0
        cdef int count = 0
        cdef Tag tag
        memset(words, 0, sizeof(words))
        while _next_tag(text, size, &at, &tag):
            words[count % length] = _mix_bits(tag.name | (<uint64_t>tag.is_closing << 63))
            count += 1
            if count >= length:
                self.add(words, count % length, length)
            if count == 2 * length:
                count = length
        if count < length:
            self.add(words, 0, length)

    cdef inline void add(self, uint64_t* words, int first, int length) noexcept nogil:
        """Add the run of these words, which begins at `first` and goes on at the start."""
        cdef uint64_t value = 0
        cdef int i
        for i in range(first, length):
            value = value * _MIX + words[i]
        for i in range(first):
            value = value * _MIX + words[i]
        value = _mix_bits(value) & (8 * self.table_size - 1)
        self.table[value >> 3] |= <uint8_t>(1 << (value & 7))

    def count(self, bytes runs not None):
        """Return how many of these runs the page has; they are an array of 32-bit numbers."""
        cdef const uint32_t* run = <const uint32_t*><const char*>runs
        cdef Py_ssize_t i, count = 0
        for i in range(len(runs) // 4):
            if run[i] < 8 * self.table_size:
                count += self.table[run[i] >> 3] >> (run[i] & 7) & 1
        return count
