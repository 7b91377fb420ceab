# What lists look like: titles, and what is between the members. The Python code of `rules/list_look.py` does the same.

cdef enum:
    MAX_TITLE_LEVEL = 2


cdef bint _is_title_tag(Document document, int32_t number) noexcept nogil:
    cdef int32_t tag = document.nodes[number].tag
    return 0 <= tag < KNOWN and (_flags[tag] & TITLE) != 0


def is_shown_as_title(Element element not None, str kind not None, str text not None):
    """Return True if elements show a node with this kind and text as a title."""
    cdef Document document = element.document
    cdef int32_t number = element.number
    cdef int32_t level, end
    if kind == "element":
        end = document.last_inside(number)
        if _is_title_tag(document, number):
            return True
        for number in range(number + 1, end + 1):
            if _is_title_tag(document, number):
                return document.visible_text(number) == text
        return False
    if kind == "tail":
        number = document.nodes[number].parent
    for level in range(MAX_TITLE_LEVEL):
        if number < 0:
            return False
        if _is_title_tag(document, number):
            return True
        number = document.nodes[number].parent
    return False


def tags_between(list members not None):
    """Return the tags of the outermost elements with words between the first and the last member of a list.

    Text that is not in an element of its own counts as `text()`.

    Args:
        members: the element and the kind of each member, as in `Node`, in document order; there is at least one.
    """
    if not members:
        raise ValueError("a list has members")
    cdef Element first = members[0][0]
    cdef Element final = members[len(members) - 1][0]
    cdef Document document = first.document
    cdef Node* nodes = document.nodes
    cdef set places = set()      # the members: twice the number of the node and the kind
    cdef set around = set()      # the elements around members
    cdef set since = None        # tags since the last member; None before the first
    cdef set tags = set()
    cdef int32_t number, top, last
    cdef bint is_leaving = False
    cdef Element member
    for member, kind in members:
        if member.document is not document:
            raise ValueError("a list is on one page")
        places.add(NODE_KINDS * <int64_t>member.number + _node_kind(kind))
        number = _element_around(document, member.number, _node_kind(kind))
        while number >= 0 and number not in around:
            around.add(number)
            number = nodes[number].parent
    top = _element_around(document, first.number, _node_kind(members[0][1]))
    last = _element_around(document, final.number, _node_kind(members[len(members) - 1][1]))
    while top >= 0 and not top <= last <= document.last_inside(top):
        top = nodes[top].parent
    if top < 0:  # a member is the root
        return tags
    number = top
    while True:
        if is_leaving or nodes[number].tag == COMMENT:
            if number == top:
                return tags
            since = _pass_place(document, number, TAIL_NODE, places, since, tags)
            is_leaving = nodes[number].next < 0
            number = nodes[number].parent if is_leaving else nodes[number].next
        elif number in around and NODE_KINDS * <int64_t>number + ELEMENT_NODE not in places:
            since = _pass_place(document, number, TEXT_NODE, places, since, tags)
            is_leaving = nodes[number].first_child < 0
            number = number if is_leaving else nodes[number].first_child
        else:
            if document.shows_content(number):
                since = _pass_place(document, number, ELEMENT_NODE, places, since, tags)
            is_leaving = True


cdef int32_t _element_around(Document document, int32_t number, int32_t kind) noexcept nogil:
    """Return the innermost element around a member: that of a text, or the one around an element."""
    return document.nodes[number].parent if kind == TAIL_NODE or kind == ELEMENT_NODE else number


cdef set _pass_place(Document document, int32_t number, int32_t kind, set places, set since, set tags):
    """Return the tags since the last member after a place; at a member, those since the one before are between."""
    cdef Node* node = &document.nodes[number]
    cdef str text
    if NODE_KINDS * <int64_t>number + kind in places:
        if since:
            tags |= since
        return set()
    if since is None:
        return None
    if kind == ELEMENT_NODE:
        text = document.visible_text(number)
    elif kind == TEXT_NODE:
        text = document.string(node.text, node.text_length)
    else:
        text = document.string(node.tail, node.tail_length)
    if any([character.isalpha() for character in text]):
        since.add(document.name_text(node.tag) if kind == ELEMENT_NODE else "text()")
    return since
