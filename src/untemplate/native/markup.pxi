# What is read of the bytes of a page before it is parsed: its encoding, and its tags for signatures and traits.


def is_utf8(bytes html not None):
    """Return True if the bytes are valid UTF-8, as strictly as Python decodes it."""
    return _is_utf8(<const uint8_t*><const char*>html, len(html))


cdef enum:
    ASCII_BLOCK = 64
    DECLARED_WITHIN = 4096   # bytes in which a page declares its encoding, as in `w3lib.encoding`


def utf8_start(bytes html not None, str charset):
    """Return where the text of a page begins if it is UTF-8 that needs no decoding: after the byte-order mark.

    That is so if the bytes are valid UTF-8 without NUL bytes, and either there is a byte-order mark, or all are ASCII
    without escape sequences, or UTF-8 is declared. −1 for all other pages: `find_encoding` in `page/parsing.py` knows
    more ways to declare an encoding.

    Args:
        html: the page.
        charset: the encoding that the HTTP header gave, or None.
    """
    cdef const uint8_t* text = <const uint8_t*><const char*>html
    cdef Py_ssize_t length = len(html)
    cdef Py_ssize_t start = 0
    cdef Py_ssize_t ascii_length = _ascii_length(text, length)
    if memchr(text, 0, length) != NULL:
        return -1
    if length >= 3 and text[0] == 0xEF and text[1] == 0xBB and text[2] == 0xBF:
        start = 3
    elif ascii_length == length:
        return 0 if memchr(text, 0x1B, length) == NULL else -1
    elif charset is None:
        if not _declares_utf8(text, min(length, DECLARED_WITHIN)):
            return -1
    elif charset.lower() != "utf-8":
        return -1
    ascii_length = max(start, ascii_length)
    return start if _is_utf8(text + ascii_length, length - ascii_length) else -1


cdef Py_ssize_t _ascii_length(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    """Return how many bytes are ASCII up to the first that is not.

    The compiler makes the inner loop one that tests many bytes at once.
    """
    cdef Py_ssize_t at = 0
    cdef int i
    cdef uint8_t found
    cdef uint64_t word
    while at + ASCII_BLOCK <= length:
        found = 0
        for i in range(ASCII_BLOCK):
            found |= text[at + i]
        if found & 0x80:
            break
        at += ASCII_BLOCK
    while at + 8 <= length:
        memcpy(&word, text + at, 8)
        if word & 0x8080808080808080u:
            break
        at += 8
    while at < length and text[at] < 0x80:
        at += 1
    return at


cdef bint _declares_utf8(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    """Return True if the first `meta` with a charset is `<meta charset="utf-8">`, and all before it is written plainly.

    False does not mean that the page declares something else: another function has to look.
    """
    cdef const uint8_t* found
    cdef Py_ssize_t at = 0
    while True:
        found = _find_bracket(text + at, text + length)
        if found == NULL or text + length - found < 8:
            return False
        at = found - text + 1
        if _has_word(text + at, b"!--", 3):
            found = <const uint8_t*>memmem(text + at + 3, length - at - 3, b"-->", 3)
            if found == NULL:
                return False
            at = found - text + 3
        elif text[at] == b"?" or _is_blank(text[at]) or _has_word(text + at, b"body", 4):
            return False
        elif _has_word(text + at, b"meta", 4):
            at = _skip_plain_meta(text, at + 4, length)
            if at <= 0:
                return at == 0


cdef Py_ssize_t _skip_plain_meta(const uint8_t* text, Py_ssize_t at, Py_ssize_t length) noexcept nogil:
    """Return where a `meta` ends; 0 if it declares UTF-8, −1 if it may declare an encoding or is not written plainly.

    Plain attributes have a blank before them, and quoted values without angle brackets.
    """
    cdef Py_ssize_t name
    while at + 2 < length:
        if text[at] == b">" or (text[at] == b"/" and text[at + 1] == b">"):
            return at + 1
        if text[at] != b" ":
            return -1
        while at < length and text[at] == b" ":
            at += 1
        name = at
        while at < length and (_is_alphanumeric(text[at]) or text[at] == b"-" or text[at] == b":"):
            at += 1
        if at == name:  # blanks before the end
            continue
        if at + 2 >= length or text[at] != b"=" or text[at + 1] != b'"':
            return -1
        at += 2
        while at < length and text[at] != b'"':
            if text[at] == b"<" or text[at] == b">":
                return -1
            at += 1
        if at - name == 14 and _has_word(text + name, b'charset="utf-8', 14):
            return 0
        if at == length or _contains_word(text + name, at - name, b"charset", 7):
            return -1
        at += 1
    return -1


cdef inline bint _has_word(const uint8_t* text, const char* word, int length) noexcept nogil:
    """Return True if a text begins with a word in lower case, whatever the case of its own letters."""
    cdef int i
    for i in range(length):
        if text[i] != <uint8_t>word[i] and not (_is_letter(text[i]) and (text[i] | 0x20) == <uint8_t>word[i]):
            return False
    return True


cdef bint _contains_word(const uint8_t* text, Py_ssize_t length, const char* word, int word_length) noexcept nogil:
    cdef Py_ssize_t at
    for at in range(length - word_length + 1):
        if _has_word(text + at, word, word_length):
            return True
    return False


cdef bint _is_utf8(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    cdef Py_ssize_t at = 0
    cdef int size
    while at < length:
        if text[at] < 0x80:
            at += _ascii_length(text + at, length - at)
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
    cdef const uint8_t* found
    cdef Py_ssize_t start
    while True:
        found = _find_bracket(text + at[0], text + length)
        if found == NULL:
            return False
        tag.start = found - text
        if text[tag.start + 1] == b"!":
            at[0] = _skip_comment(text, tag.start, length)
            continue
        tag.is_closing = text[tag.start + 1] == b"/"
        at[0] = tag.start + 1
        if not tag.is_closing and not _is_letter(text[tag.start + 1]):
            continue
        start = tag.start + 1 + tag.is_closing
        tag.name = _tag_name(text + start, length - start)
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


cdef uint64_t _tag_name(const uint8_t* text, Py_ssize_t length) noexcept nogil:
    """Return the first eight letters of a name in lower case, the first one lowest; bytes above ASCII lose a bit.

    This works on all bytes of a word at once: in each difference, the lowest byte whose high bit is set is the first
    one that ends a name. White space, control characters, `/` and `>` do.
    """
    cdef uint64_t word = 0, ends, kept
    memcpy(&word, text, 8 if length >= 8 else length)
    ends = ((word - _ONES * 0x21) & ~word & (_ONES * 0x80)) | _bytes_equal(word, b"/") | _bytes_equal(word, b">")
    kept = ((ends & (~ends + 1)) >> 7) - 1   # all bits before the first end, or all without one
    return (word | _ONES * 0x20) & kept & (_ONES * 0x7F)


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
        if text[at + 1] == b"/" and _tag_name(text + at + 2, length - at - 2) == name:
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
    SIGNATURE_LENGTH = 8


cdef struct RunReader:
    const uint8_t* text              # of the page, if its tags are not read yet
    const uint64_t* tags             # that the parser has read; NULL without them
    Py_ssize_t size                  # of `text`, or the number of tags
    Py_ssize_t at
    int length                       # of a run
    int count                        # of the tags read so far, up to the length
    int oldest                       # place of the oldest tag in the circle
    uint64_t[MAX_RUN_LENGTH] words   # of the last tags, in a circle
    uint64_t power                   # what the oldest tag of a run is multiplied by
    uint64_t sum                     # of the words of the run, each multiplied by a power of _MIX


cdef int _start_runs(RunReader* reader, page, int length) except -1:
    cdef int i
    cdef bytes html
    if not 0 < length <= MAX_RUN_LENGTH:
        raise ValueError("a run has 1 to 16 tags")
    memset(reader, 0, sizeof(RunReader))
    if isinstance(page, Element):
        reader.tags = (<Element>page).document.tags
        reader.size = (<Element>page).document.tag_count
    else:
        html = page
        reader.text = <const uint8_t*><const char*>html
        reader.size = len(html)
    reader.length = length
    reader.power = 1
    for i in range(1, length):
        reader.power *= _MIX
    return 0


cdef inline bint _next_word(RunReader* reader, uint64_t* word) noexcept nogil:
    """Read the name of the next tag, with a bit for closing ones; False at the end."""
    cdef Tag tag
    if reader.tags != NULL:
        if reader.at == reader.size:
            return False
        word[0] = reader.tags[reader.at]
        reader.at += 1
        return True
    if not _next_tag(reader.text, reader.size, &reader.at, &tag):
        return False
    word[0] = tag.name | (CLOSING_BIT if tag.is_closing else 0)
    return True


cdef inline bint _next_run(RunReader* reader, uint64_t* run) noexcept nogil:
    """Read the next run of tags as a hash; False at the end. Tags that are too few for a run are padded to one."""
    cdef uint64_t word
    while _next_word(reader, &word):
        word = _mix_bits(word)
        reader.sum = (reader.sum - reader.words[reader.oldest] * reader.power) * _MIX + word
        reader.words[reader.oldest] = word
        reader.oldest = reader.oldest + 1 if reader.oldest + 1 < reader.length else 0
        if reader.count < reader.length:
            reader.count += 1
        if reader.count == reader.length:
            run[0] = _mix_bits(reader.sum)
            return True
    if reader.count == reader.length:
        return False
    while reader.count < reader.length:
        reader.sum *= _MIX
        reader.count += 1
    run[0] = _mix_bits(reader.sum)
    return True


def read_signature(page not None, int length, bytes multipliers not None):
    """Return the eight bytes of a page's signature; None if it has no tags. See `page/signatures.py`.

    Args:
        page: its bytes, without NUL bytes, or its root element, if that `has_tags`.
        length: the number of tags in a shingle, at most 16.
        multipliers: an array of eight 64-bit numbers.
    """
    cdef RunReader reader
    cdef uint64_t[SIGNATURE_LENGTH] factors
    cdef uint64_t[SIGNATURE_LENGTH] minima
    cdef uint64_t run
    cdef int i
    if len(multipliers) != sizeof(factors):
        raise ValueError("a signature needs eight multipliers")
    memcpy(factors, <const char*>multipliers, sizeof(factors))
    memset(minima, 0xFF, sizeof(minima))
    _start_runs(&reader, page, length)
    while _next_run(&reader, &run):
        for i in range(SIGNATURE_LENGTH):
            minima[i] = min(minima[i], run * factors[i])
    if reader.oldest == 0 and reader.words[0] == 0:
        return None
    return tuple([<int>(_mix_bits(minima[i]) & 0xFF) for i in range(SIGNATURE_LENGTH)])


@cython.final
cdef class RunSet:
    """The tag runs of a page as a set: a bit for each possible one. `PageRuns` in `page/traits.py` says what they are.

    Args:
        page: its bytes, without NUL bytes, or its root element, if that `has_tags`.
        length: the number of tags in a run, at most 16.
        bits: the number of bits that are kept of a run's hash, from 3 to 24.
    """

    cdef uint8_t* table
    cdef size_t memory_size
    cdef uint64_t table_size     # in bits

    def __cinit__(self, page not None, int length, int bits):
        cdef Memory taken
        cdef RunReader reader
        cdef uint64_t run
        if not 3 <= bits <= MAX_RUN_BITS:
            raise ValueError("3 to 24 bits of a run are kept")
        _start_runs(&reader, page, length)
        self.table_size = <uint64_t>1 << bits
        _take_memory(RUN_MEMORY, self.table_size // 8, &taken)
        self.table, self.memory_size = <uint8_t*>taken.start, taken.size
        memset(self.table, 0, self.table_size // 8)
        while _next_run(&reader, &run):
            run &= self.table_size - 1
            self.table[run >> 3] |= <uint8_t>(1 << (run & 7))

    def __dealloc__(self):
        _give_memory(RUN_MEMORY, self.table, self.memory_size)

    def count(self, bytes runs not None):
        """Return how many of these runs the page has; they are an array of 32-bit numbers."""
        cdef const uint32_t* run = <const uint32_t*><const char*>runs
        cdef Py_ssize_t i, count = 0
        for i in range(len(runs) // 4):
            if run[i] < self.table_size:
                count += self.table[run[i] >> 3] >> (run[i] & 7) & 1
        return count
