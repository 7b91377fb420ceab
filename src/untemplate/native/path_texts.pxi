# The tag paths of a page's texts, for all that compares pages by them. `Page.nodes` has the same, with an element for each.

cdef enum:
    MAX_VALUE_NAMES = 32


@cython.final
cdef class TagPath:
    """A tag path, shared by all elements that have it, and those of the elements inside them by number of the tag."""

    cdef str prefix      # with a slash at its end
    cdef str of_texts    # the path of the texts in such an element
    cdef dict inner


cdef TagPath _make_path(str prefix):
    cdef TagPath path = TagPath.__new__(TagPath)
    path.prefix = prefix
    path.of_texts = f"{prefix}text()"
    path.inner = {}
    return path


def path_texts(Element root not None, attributes not None, Py_ssize_t max_characters):
    """Return path and squeezed text of each text and attribute, in document order, as `Page.nodes` has them.

    Args:
        root: the root element of a page.
        attributes: the names of attributes that count, at most 32.
        max_characters: the most characters that all different paths may have together.

    Raises:
        PageError: the paths are longer.
    """
    cdef Document document = root.document
    cdef Node* nodes = document.nodes
    cdef Node* node
    cdef Attribute* attribute
    cdef int32_t[MAX_VALUE_NAMES] wanted
    cdef int32_t wanted_count = 0
    cdef int32_t number = root.number
    cdef int32_t i, j
    cdef Py_ssize_t characters = 0
    cdef bint is_leaving = False
    cdef list around = []    # the paths of the open elements
    cdef list found = []
    cdef TagPath path = _make_path("")
    cdef TagPath inner
    cdef str text
    if len(attributes) > MAX_VALUE_NAMES:
        raise ValueError(f"no more than {MAX_VALUE_NAMES} attributes count")
    for name in attributes:
        wanted[wanted_count] = document.number_of(name)
        wanted_count += wanted[wanted_count] != NO_NAME
    while True:
        node = &nodes[number]
        if is_leaving or node.tag == COMMENT:
            if is_leaving:
                path = <TagPath>around.pop()
            if node.tail_length:
                text = _squeeze(document, node.tail, node.tail_length)
                if text:
                    found.append((path.of_texts, text))
            if number == root.number:
                return found
            is_leaving = node.next < 0
            number = node.parent if is_leaving else node.next
            continue
        around.append(path)
        inner = <TagPath>path.inner.get(node.tag)
        if inner is None:
            inner = path.inner[node.tag] = _make_path(f"{path.prefix}{document.name_text(node.tag)}/")
            characters += len(inner.prefix)
            if characters > max_characters:
                raise PageError("page nests elements too deeply for the length of their names")
        path = inner
        if node.tag < KNOWN and _flags[node.tag] & NEVER_SHOWN:
            is_leaving = True
            continue
        for i in range(node.attributes, node.attributes + node.attribute_count):
            attribute = &document.attributes[i]
            for j in range(wanted_count):
                if attribute.name == wanted[j]:
                    text = _squeeze(document, attribute.value, attribute.length)
                    if text:
                        found.append((f"{path.prefix}@{document.name_text(attribute.name)}", text))
                    break
        if node.text_length:
            text = _squeeze(document, node.text, node.text_length)
            if text:
                found.append((path.of_texts, text))
        is_leaving = node.first_child < 0
        if not is_leaving:
            number = node.first_child
