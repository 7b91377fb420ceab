# Texts in letters and digits alone, in lower case: the form in which values are compared.

cdef enum:
    UNKNOWN_CHARACTER = 0
    LETTER = 1
    SIGN = 2
    FIRST_SUPPLEMENTARY = 0x10000
    CAPITAL_SIGMA = 0x3A3        # its lower case depends on the characters around it
    CAPITAL_DOTTED_I = 0x130     # has two characters in lower case, one of which is no letter

cdef uint8_t[FIRST_SUPPLEMENTARY] _character_kinds


cdef bint _is_letter_or_digit(uint32_t code) except -1:
    """Ask Python about a character; answers for most of them are remembered."""
    if code >= FIRST_SUPPLEMENTARY:
        return chr(code).isalnum()
    if _character_kinds[code] == UNKNOWN_CHARACTER:
        _character_kinds[code] = LETTER if chr(code).isalnum() else SIGN
    return _character_kinds[code] == LETTER


def letters_and_digits(str text not None):
    """Return the letters and digits of a text in lower case.

    None if that needs more: if the characters around decide on lower case, or if there are halves of characters.
    """
    cdef Py_ssize_t length, count
    cdef const uint8_t* start
    cdef bytearray letters
    try:
        start = <const uint8_t*>PyUnicode_AsUTF8AndSize(text, &length)
    except UnicodeEncodeError:
        return None
    letters = bytearray(length)
    count = _copy_letters(start, length, <uint8_t*>PyByteArray_AsString(letters))
    if count < 0:
        return None
    found = PyUnicode_DecodeUTF8(PyByteArray_AsString(letters), count, NULL)
    return found if length == len(text) else found.lower()


cdef Py_ssize_t _copy_letters(const uint8_t* text, Py_ssize_t length, uint8_t* target) except -2:
    """Copy letters and digits, ASCII ones in lower case, and return how many bytes they have; −1 for special ones."""
    cdef Py_ssize_t at = 0, count = 0
    cdef int size, i
    cdef uint32_t code
    while at < length:
        if text[at] < 0x80:
            target[count] = text[at] | 0x20 if b"A" <= text[at] <= b"Z" else text[at]
            count += _is_alphanumeric(text[at])
            at += 1
            continue
        size = _sequence_size(text + at, length - at)
        if not size:  # cannot be: the text is valid
            at += 1
            continue
        code = text[at] & (0x7F >> size)
        for i in range(1, size):
            code = code << 6 | (text[at + i] & 0x3F)
        if code == CAPITAL_SIGMA or code == CAPITAL_DOTTED_I:
            return -1
        if _is_letter_or_digit(code):
            memcpy(target + count, text + at, size)
            count += size
        at += size
    return count


def elements_with_letters(Element top not None, str keys not None):
    """Return the elements inside one whose own first text, in letters and digits, is a part of these keys.

    Elements of which browsers show nothing, and blank texts, are left out.
    A text whose lower case depends on the characters around it counts as a part.
    """
    cdef Document document = top.document
    cdef Node* node
    cdef int32_t number
    cdef Slot slot = Slot(0, False)
    cdef list found = []
    for number in range(top.number, document.last_inside(top.number) + 1):
        node = &document.nodes[number]
        slot.node = number
        if not document.shows_content(number) or not document.has_words(&slot):
            continue
        letters = letters_and_digits(document.string(node.text, node.text_length))
        if letters is None or letters in keys:
            found.append(document.element(number))
    return found
