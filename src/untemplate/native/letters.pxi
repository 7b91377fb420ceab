# Texts in letters and digits alone, in lower case: the form in which values are compared.

cdef enum:
    UNKNOWN_CHARACTER = 0
    LETTER = 1
    SIGN = 2
    CONTROL = 3                  # what browsers do not show, and white space but the blank
    FIRST_SUPPLEMENTARY = 0x10000
    CAPITAL_SIGMA = 0x3A3        # its lower case depends on the characters around it
    NO_LOWER_CODE = 0

cdef uint8_t[FIRST_SUPPLEMENTARY] _character_kinds
cdef uint16_t[FIRST_SUPPLEMENTARY] _lower_codes    # what `_lower_code` found; 0 if nobody asked yet
cdef uint8_t[128] _ascii_letters                   # letters in lower case and digits; 0 for signs
for _code in range(128):
    if chr(_code).isalnum():
        _ascii_letters[<int>_code] = ord(chr(_code).lower())


cdef int _character_kind(uint32_t code) except -1:
    """Ask Python about a character; answers for most of them are remembered."""
    if code < FIRST_SUPPLEMENTARY and _character_kinds[code] != UNKNOWN_CHARACTER:
        return _character_kinds[code]
    cdef str character = chr(code)
    cdef int kind = LETTER if character.isalnum() else SIGN if character.isprintable() else CONTROL
    if code < FIRST_SUPPLEMENTARY:
        _character_kinds[code] = kind
    return kind


cdef uint32_t _lower_code(uint32_t code, int size) except? 1:
    """Return a character in lower case; NO_LOWER_CODE if that is not one character that is as long in UTF-8.

    Python's answers for most characters are remembered.
    """
    if code < FIRST_SUPPLEMENTARY and _lower_codes[code]:
        return _lower_codes[code]
    cdef str lower = chr(code).lower()
    if code == CAPITAL_SIGMA or len(lower) != 1 or len(lower.encode()) != size:
        return NO_LOWER_CODE
    cdef uint32_t found = ord(lower)
    if code < FIRST_SUPPLEMENTARY:
        _lower_codes[code] = found
    return found


cdef inline uint32_t _code_at(const uint8_t* text, int size) noexcept nogil:
    """Return the character that has this many bytes, two or more."""
    cdef uint32_t code = text[0] & (0x7F >> size)
    cdef int i
    for i in range(1, size):
        code = code << 6 | (text[i] & 0x3F)
    return code


cdef inline void _write_utf8(uint32_t code, int size, uint8_t* target) noexcept nogil:
    """Write a character that has this many bytes, two or more."""
    cdef int i
    for i in range(size - 1, 0, -1):
        target[i] = 0x80 | (code & 0x3F)
        code >>= 6
    target[0] = (0xF00 >> size) & 0xFF | code


def letters_and_digits(str text not None):
    """Return the letters and digits of a text in lower case."""
    cdef Py_ssize_t length
    cdef const uint8_t* start
    try:
        start = <const uint8_t*>PyUnicode_AsUTF8AndSize(text, &length)
    except UnicodeEncodeError:  # it has halves of characters
        return _letters_of_string(text)
    cdef bytearray letters = bytearray(length)
    cdef Py_ssize_t count = _copy_letters(start, length, <uint8_t*>PyByteArray_AsString(letters))
    if count < 0:
        return _letters_of_string(text)
    return PyUnicode_DecodeUTF8(PyByteArray_AsString(letters), count, NULL)


cdef str _letters_of_string(str text):
    """Do the same for any text."""
    return "".join(filter(str.isalnum, text.lower()))


cdef Py_ssize_t _copy_letters(const uint8_t* text, Py_ssize_t length, uint8_t* target) except -2:
    """Copy letters and digits in lower case, and return how many bytes they have; −1 if one has no simple lower case."""
    cdef Py_ssize_t at = 0, count = 0
    cdef int size
    cdef uint32_t code
    while at < length:
        if text[at] < 0x80:
            target[count] = _ascii_letters[text[at]]
            count += target[count] != 0
            at += 1
            continue
        size = _sequence_size(text + at, length - at)
        if not size:  # cannot be: the text is valid
            at += 1
            continue
        code = _code_at(text + at, size)
        if _character_kind(code) == LETTER:
            code = _lower_code(code, size)
            if code == NO_LOWER_CODE:
                return -1
            _write_utf8(code, size, target + count)
            count += size
        at += size
    return count


def elements_with_letters(Element top not None, set keys not None, int32_t max_levels):
    """Return the elements inside one whose visible text, in letters and digits, is one of these keys.

    For each text that is a part of a key, these are the element that contains it, and those around that.

    Args:
        top: the element.
        keys: texts in letters and digits.
        max_levels: how many elements are tried for a text, from the innermost on.
    """
    cdef Document document = top.document
    cdef Node* node
    cdef Slot slot = Slot(0, False)
    cdef int32_t number, element, level
    cdef Py_ssize_t longest = max([len(key) for key in keys], default=0)
    cdef str all_keys = "\n".join(keys)
    cdef str letters
    cdef set seen = set()
    cdef list found = []
    for number in range(top.number, document.last_inside(top.number) + 1):
        node = &document.nodes[number]
        slot.node = number
        if not document.shows_content(number) or not document.has_words(&slot):
            continue
        if letters_and_digits(document.string(node.text, node.text_length)) not in all_keys:
            continue
        element = number
        for level in range(max_levels):
            if element < 0 or element in seen:
                break
            seen.add(element)
            letters = letters_and_digits(document.visible_text(element))
            if letters in keys:
                found.append(document.element(element))
            if len(letters) > longest:
                break
            element = document.nodes[element].parent
    return found
