# Names of tags and attributes: each distinct name of a page is a number. The names that have tree rules come first, in
# the order of `tree_rules.KNOWN_NAMES`, so that their numbers are the same on every page.

cdef struct Name:
    int32_t start      # in the text of the page; for known names in `_known_text`
    int32_t length
    uint64_t head      # the first eight bytes
    uint32_t hash
    uint64_t word      # what `_next_tag` reads of it as a tag; 0 if it was no tag yet
    int32_t open       # the topmost open element of this name: an index of the stack, −1 for none
    int32_t last_tag   # the last tag that has an attribute of this name
    int32_t first_node # the first and the last element with this tag; −1 for none
    int32_t last_node


cdef list _known_names = [
    sys.intern(name)
    for name in dict.fromkeys(
        [
            *tree_rules.KNOWN_NAMES,
            *sorted(shown_text.INLINE_TAGS | shown_text.UNSHOWN_TAGS | shown_text.TITLE_TAGS),
        ]
    )
]
cdef bytes _known_bytes = "".join(_known_names).encode()
cdef const uint8_t* _known_text = <const uint8_t*>_known_bytes
cdef int32_t KNOWN = len(_known_names)

cdef Name[MAX_KNOWN] _known
cdef int32_t[FIRST_SLOTS] _known_slots
cdef uint16_t[MAX_KNOWN] _flags        # what an element is: VOID, RAW …
cdef uint8_t[MAX_KNOWN] _rank         # end tags do not close elements of a higher rank
cdef uint8_t[MAX_KNOWN][MAX_KNOWN] _closes   # [open][new]: the new tag closes the open element


cdef inline uint64_t _name_head(const uint8_t* text, int32_t length) noexcept nogil:
    """Return the first eight bytes of a name as a number. Most names have no more, so that comparing it is enough."""
    cdef uint64_t head = 0
    cdef int32_t i
    if length >= 8:
        memcpy(&head, text, 8)
        return head
    for i in range(length):
        head |= <uint64_t>text[i] << (8 * i)
    return head


cdef inline uint32_t _hash_name(uint64_t head, const uint8_t* text, int32_t length) noexcept nogil:
    """Return the hash of a name, of which all bytes count. The last eight may be read together with some before."""
    cdef uint64_t value = head
    cdef uint64_t word
    cdef int32_t at = 8
    while at < length:
        memcpy(&word, text + min(at, length - 8), 8)
        value = (value ^ word) * 0xD6E8FEB86659FD93u
        value ^= value >> 32
        at += 8
    value = (value ^ <uint64_t>length) * 0x9E3779B97F4A7C15u
    return <uint32_t>(value >> 32)


cdef int _fill_known() except -1:
    """Fill the tables of the known names from `tree_rules`."""
    cdef int32_t number, start = 0
    cdef uint32_t slot
    if KNOWN > MAX_KNOWN:
        raise ValueError("too many known names")
    memset(_known_slots, 0xFF, sizeof(_known_slots))
    for number, name in enumerate(_known_names):
        _known[number].start = start
        _known[number].length = len(name)
        _known[number].head = _name_head(_known_text + start, len(name))
        _known[number].hash = _hash_name(_known[number].head, _known_text + start, len(name))
        _known[number].word = _tag_name(_known_text + start, len(name))
        _known[number].open = -1
        _known[number].last_tag = -1
        _known[number].first_node = _known[number].last_node = -1
        start += len(name)
        slot = _known[number].hash & (FIRST_SLOTS - 1)
        while _known_slots[slot] >= 0:
            slot = (slot + 1) & (FIRST_SLOTS - 1)
        _known_slots[slot] = number
    numbers = {name: number for number, name in enumerate(_known_names)}
    for names, flag in (
        (tree_rules.VOID, VOID),
        (tree_rules.RAW_TEXT, RAW),
        (tree_rules.ESCAPABLE_RAW_TEXT, ESCAPABLE),
        (tree_rules.HEAD_CONTENT, HEAD_CONTENT),
        (tree_rules.FRAME_CONTENT, FRAME_CONTENT),
        (tree_rules.BOOLEAN_ATTRIBUTES, BOOLEAN),
        (shown_text.INLINE_TAGS, INLINE),
        (shown_text.HIDDEN_TAGS, NEVER_SHOWN | UNSHOWN),
        (shown_text.UNSHOWN_TAGS, UNSHOWN),
        (shown_text.CROSSED_OUT_TAGS, CROSSED_OUT),
        (shown_text.TITLE_TAGS, TITLE),
    ):
        for name in names:
            _flags[<int>numbers[name]] |= <uint16_t>flag
    for rank, names in enumerate(tree_rules.RANKS, 1):
        for name in names:
            _rank[<int>numbers[name]] = rank
    for new, opened in tree_rules.CLOSED_BY.items():
        for name in opened:
            _closes[<int>numbers[name]][<int>numbers[new]] = 1
    return 0


_fill_known()
cdef int32_t HTML = _known_names.index("html")
cdef int32_t HEAD = _known_names.index("head")
cdef int32_t BODY = _known_names.index("body")
cdef int32_t P = _known_names.index("p")
cdef int32_t SCRIPT = _known_names.index("script")
cdef int32_t PLAINTEXT = _known_names.index("plaintext")
cdef int32_t TD = _known_names.index("td")
cdef int32_t TH = _known_names.index("th")
cdef int32_t STYLE = _known_names.index("style")
cdef int32_t HIDDEN = _known_names.index("hidden")


# The named character references of the standard, as Python has them.

cdef struct Entity:
    int32_t name
    int32_t name_length
    int32_t value
    int32_t value_length

cdef list _entity_names = [(name.encode(), value.encode()) for name, value in html5_entities.items()]
cdef int32_t ENTITIES = len(_entity_names)
cdef bytes _entity_bytes = b"".join(name + value for name, value in _entity_names)
cdef const uint8_t* _entity_text = <const uint8_t*>_entity_bytes
cdef int32_t MAX_ENTITY_LENGTH = max(len(name) for name, _ in _entity_names)
cdef Entity[MAX_ENTITIES] _entities
cdef int16_t[ENTITY_SLOTS] _entity_slots    # hash table of their names
cdef uint32_t[32] _windows_1252


cdef int _fill_entities() except -1:
    cdef int32_t number, start = 0
    cdef uint32_t slot
    if ENTITIES > MAX_ENTITIES:
        raise ValueError("too many entities")
    memset(_entity_slots, 0xFF, sizeof(_entity_slots))
    for number, (name, value) in enumerate(_entity_names):
        _entities[number].name = start
        _entities[number].name_length = len(name)
        _entities[number].value = start + len(name)
        _entities[number].value_length = len(value)
        slot = _entity_slot(_entity_text + start, len(name))
        while _entity_slots[slot] >= 0:
            slot = (slot + 1) % ENTITY_SLOTS
        _entity_slots[slot] = <int16_t>number
        start += len(name) + len(value)
    for number in range(32):
        try:
            _windows_1252[number] = ord(bytes([0x80 + number]).decode("cp1252"))
        except UnicodeDecodeError:  # five bytes stand for control characters
            _windows_1252[number] = 0x80 + number
    return 0


cdef int32_t _find_entity(const uint8_t* text, int32_t length) noexcept nogil:
    """Return the number of an entity; −1 if there is none of this name."""
    cdef uint32_t slot = _entity_slot(text, length)
    cdef int32_t number = _entity_slots[slot]
    while number >= 0:
        if _entities[number].name_length == length:
            if memcmp(_entity_text + _entities[number].name, text, length) == 0:
                return number
        slot = (slot + 1) % ENTITY_SLOTS
        number = _entity_slots[slot]
    return -1


cdef inline uint32_t _entity_slot(const uint8_t* text, int32_t length) noexcept nogil:
    """Return where to look for an entity first."""
    return _hash_name(_name_head(text, length), text, length) % ENTITY_SLOTS


_fill_entities()
