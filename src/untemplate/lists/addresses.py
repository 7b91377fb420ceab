"""The addresses in the records of a list: all links, the record's own page, and its image.

Links and images at the same place of their records form a *slot*. Slots are judged for all records together: the link
to a record's page is one that most records have, differs from record to record, and is around the title. The image
is the largest one that differs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple
from urllib.parse import parse_qsl, urldefrag, urljoin, urlsplit

from lxml import etree

from untemplate.lists.page_profile import HEADINGS
from untemplate.page import Page, squeeze
from untemplate.page.dom import element_names, split_name

__all__ = [
    "RecordAddresses",
    "are_alike",
    "base_address",
    "find_addresses",
    "image_address",
    "is_web_address",
    "join_address",
    "page_address",
]

# Attributes of images that may contain the address, those that scripts read first: `src` is a placeholder then.
IMAGE_ADDRESS_ATTRIBUTES = (
    *(
        "data-src",
        "data-original",
        "data-original-src",
        "data-lazy",
        "data-lazy-src",
        "data-image",
        "data-img",
    ),
    *("data-echo", "data-url", "data-bg", "data-background-image", "data-srcset", "data-lazy-srcset"),
    *("src", "srcset"),
)
_IMAGE_TAGS = frozenset({"img", "amp-img", "source"})
_STYLE_IMAGE = re.compile(r"background(?:-image)?\s*:[^;]*url\(\s*['\"]?([^'\")]+)")
# Names of images that are no pictures of a record, and of links that do something with it instead of showing it.
_PLACEHOLDER_FILE = re.compile(
    r"(?:^|[/_.-])(?:blank|placeholder|spacer|pixel|transparent|loading|lazy|1x1)[_.-]", re.I
)
_ICON_WORDS = frozenset(
    {
        *("icon", "icons", "avatar", "logo", "star", "stars", "rating", "sprite", "badge", "flag", "emoji"),
        *("ribbon", "button", "btn", "arrow", "gravatar"),
    }
)
_ACTION_WORDS = frozenset(
    {
        *(
            "cart",
            "basket",
            "wishlist",
            "compare",
            "share",
            "login",
            "signin",
            "reply",
            "comments",
            "comment",
        ),
        *("author", "tag", "tags", "category", "categories", "quickview", "favorite", "reviews", "rating"),
        *("print", "email", "facebook", "twitter", "pinterest", "linkedin", "sort"),
    }
)
_ACTION_ADDRESS = re.compile(
    r"[?&](?:add-to-cart|action|share|replytocom|orderby)=|#(?:respond|comments?)$", re.I
)
_INDEX_FILE = re.compile(r"/index\.\w+$")
# Images that say that they are this small are icons.
MAX_ICON_SIZE = 40
# Slots of one list, and links of one record: more are ignored, so that hostile pages cost linear time.
MAX_SLOTS = 200
MAX_LINKS = 1_000
# The score of a slot of links that is better than none.
MIN_LINK_SCORE = 0.01

_LinkSlot = tuple[str, ...]


@dataclass(frozen=True)
class RecordAddresses:
    """The absolute addresses in one record."""

    #: every link to another page, without duplicates, in page order
    links: list[str] = field(default_factory=list)
    #: the record's own page, and its image
    url: str | None = None
    image: str | None = None


class _Address(NamedTuple):
    """A link or an image of a record."""

    slot: _LinkSlot
    address: str
    element: etree._Element


def base_address(page: Page) -> str:
    """Return the address that relative addresses of a page refer to.

    Raises:
        PageError: the page cannot be parsed.
    """
    base = next(page.tree.iter("base"), None)
    href = "" if base is None else squeeze(base.get("href", ""))
    return join_address(page.url, href) or page.url


def join_address(base: str, href: str) -> str:
    """Return an absolute address; "" if it cannot be one."""
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


def page_address(page: Page) -> str:
    """Return the address of a page: its URL, its canonical link, what Open Graph says, or its base; "" if unknown.

    Raises:
        PageError: the page cannot be parsed.
    """
    if page.url:
        return page.url
    for element in page.tree.iter("link", "meta"):
        if "canonical" in element.get("rel", "").lower().split():
            return squeeze(element.get("href", ""))
        if element.get("property") == "og:url":
            return squeeze(element.get("content", ""))
    return base_address(page)


def are_alike(left: str, right: str) -> bool:
    """Return True if two different addresses look as if they were of pages of one kind; hosts are not compared.

    Example:
        >>> are_alike("http://a.example/book/12.html", "http://a.example/book/7.html")
        True
        >>> are_alike("http://a.example/books/", "http://a.example/book/7.html")
        False
        >>> are_alike("http://a.example/show?id=12", "http://a.example/show?id=7")
        True
    """
    (left_path, left_names), (right_path, right_names) = _split_address(left), _split_address(right)
    if left_path == right_path:
        return bool(left_names) and left_names == right_names and left != right
    if not left_path or len(left_path) != len(right_path):
        return False
    if len(left_path) == 1:
        return _look_of(left_path[0]) == _look_of(right_path[0])
    has_common_part = any(map(str.__eq__, left_path, right_path))
    return has_common_part and _file_type(left_path[-1]) == _file_type(right_path[-1])


def _split_address(address: str) -> tuple[list[str], set[str]]:
    """Return the parts of the path, without an index file, and the names of the query's values."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return [], set()
    path = [part for part in _INDEX_FILE.sub("/", parts.path).split("/") if part]
    return path, {name for name, _ in parse_qsl(parts.query)}


def _look_of(part: str) -> tuple[bool, bool, str]:
    has_digits = any(map(str.isdigit, part))
    return has_digits, re.search(r"[-_+]", part) is not None, _file_type(part)


def _file_type(part: str) -> str:
    return part.rpartition(".")[2].lower() if "." in part else ""


def is_web_address(href: str) -> bool:
    """Return True for relative addresses and those of http; False for `mailto:`, `javascript:` and the like."""
    has_scheme = ":" in re.split(r"[/?#]", href, maxsplit=1)[0]
    return not has_scheme or href.lower().startswith(("http:", "https:"))


def image_address(element: etree._Element) -> str:
    """Return the address of an image as the page writes it; "" if only a script knows it.

    Example:
        >>> image_address(etree.fromstring('<img src="blank.gif" data-src="tea.jpg"/>'))
        'tea.jpg'
    """
    for name in IMAGE_ADDRESS_ATTRIBUTES:
        # A `srcset` is a list of addresses with sizes.
        address = squeeze(element.get(name, "")).partition(" ")[0].rstrip(",")
        if address and is_web_address(address) and not _PLACEHOLDER_FILE.search(address):
            return address
    style = _STYLE_IMAGE.search(element.get("style", ""))
    return style.group(1).strip() if style and is_web_address(style.group(1).strip()) else ""


def find_addresses(
    records: Sequence[Sequence[etree._Element]], base: str, titles: Iterable[etree._Element] = ()
) -> list[RecordAddresses]:
    """Return the addresses of each record of a list.

    Args:
        records: the elements of each record.
        base: what relative addresses refer to.
        titles: the elements around the records' titles. Links around or inside them lead to the records' pages.
    """
    tops = frozenset(chain.from_iterable(records))
    links = [_find_links(record, base, tops) for record in records]
    images = [_find_images(record, base, tops) for record in records]
    own_links = _choose_slots(links, _LinkScore(frozenset(titles)))
    own_images = _choose_slots(images, _score_images)
    unique = (dict.fromkeys(link.address for link in found) for found in links)
    return [
        RecordAddresses(list(addresses), url, image)
        for addresses, url, image in zip(unique, own_links, own_images, strict=True)
    ]


def _find_links(
    record: Sequence[etree._Element], base: str, tops: frozenset[etree._Element]
) -> list[_Address]:
    """Return the links of a record to other pages; a link around the whole record is the first."""
    found: list[_Address] = []
    around = record[0].iterancestors("a") if record else ()
    outer: list[tuple[_LinkSlot, etree._Element]] = [(("around",), element) for element in around]
    for slot, element in [*outer, *_slots(record, _is_link, tops)]:
        href = squeeze(element.get("href", ""))
        if not href or href.startswith("#") or not is_web_address(href):
            continue
        if address := join_address(base, href):
            found.append(_Address(slot, address, element))
        if len(found) == MAX_LINKS:
            break
    return found


def _find_images(
    record: Sequence[etree._Element], base: str, tops: frozenset[etree._Element]
) -> list[_Address]:
    found: list[_Address] = []
    for slot, element in _slots(record, _may_show_image, tops):
        address = join_address(base, image_address(element))
        if address:
            found.append(_Address(slot, address, element))
    return found[:MAX_LINKS]


def _slots(
    record: Sequence[etree._Element],
    is_wanted: Callable[[etree._Element], bool],
    tops: frozenset[etree._Element],
) -> Iterator[tuple[_LinkSlot, etree._Element]]:
    """Yield the wanted elements of a record with their slots, without those of records inside it.

    A slot is the tags and first classes from the record down, and the number of the element among those alike.
    """
    counts: Counter[_LinkSlot] = Counter()
    for top in record:
        paths: dict[etree._Element, _LinkSlot] = {top: (_slot_step(top),)}
        for element in top.iter(etree.Element):
            if element is not top:
                above = paths.get(element.getparent())
                if above is None or element in tops:
                    continue
                paths[element] = (*above[-6:], _slot_step(element))
            if is_wanted(element):
                counts[paths[element]] += 1
                yield (*paths[element], str(counts[paths[element]])), element


def _slot_step(element: etree._Element) -> str:
    first_class = element.get("class", "").split()[:1]
    return ".".join([str(element.tag), *first_class])


def _is_link(element: etree._Element) -> bool:
    return element.tag == "a" and element.get("href") is not None


def _may_show_image(element: etree._Element) -> bool:
    return (
        element.tag in _IMAGE_TAGS or "url(" in element.get("style", "") or "/" in element.get("data-bg", "")
    )


def _choose_slots(
    records: Sequence[Sequence[_Address]], score: Callable[[Sequence[_Address], int], float]
) -> list[str | None]:
    """Return per record the address of its candidate in the slot with the best score."""
    scores = {slot: score(members, len(records)) for slot, members in _members_by_slot(records).items()}
    chosen: list[str | None] = []
    for candidates in records:
        known = [candidate for candidate in candidates if scores.get(candidate.slot, 0.0) > 0]
        # max returns the first of equals
        best = max(known, key=lambda candidate: scores[candidate.slot], default=None)
        chosen.append(best.address if best else None)
    return chosen


def _members_by_slot(records: Iterable[Sequence[_Address]]) -> dict[_LinkSlot, list[_Address]]:
    """Group the candidates of all records by slot, the first one of each record and slot; at most MAX_SLOTS slots."""
    slots: dict[_LinkSlot, list[_Address]] = {}
    for candidates in records:
        first_by_slot = {candidate.slot: candidate for candidate in reversed(candidates)}
        for slot, candidate in first_by_slot.items():
            if slot in slots or len(slots) < MAX_SLOTS:
                slots.setdefault(slot, []).append(candidate)
    return slots


class _LinkScore:
    """Scores a slot of links: how likely they lead to the pages of their records.

    The weights were set by hand and not fitted; `benchmarks.measure.row_columns` measures the result.
    """

    def __init__(self, titles: frozenset[etree._Element]) -> None:
        self._titles = titles

    def __call__(self, members: Sequence[_Address], records: int) -> float:
        shares = [
            sum(map(test, members)) / len(members)
            for test in (self._has_title, _has_heading, _does_something)
        ]
        titled, headed, acting = shares
        if len(members) > 2 and len({member.address for member in members}) == 1:
            return 0.0
        texts = [squeeze("".join(member.element.itertext())) for member in members]
        worded = sum(bool(text) for text in texts) / len(members)
        shows_all = sum(text == texts[0] for text in texts) == len(texts) > 1
        filled = len(members) / records + 2 * _distinct(members)
        score = filled + 3 * titled + headed + worded / 2 - 3 * acting - shows_all
        return max(float(score), MIN_LINK_SCORE)

    def _has_title(self, member: _Address) -> bool:
        if not self._titles.isdisjoint([member.element, *member.element.iterancestors()]):
            return True
        return any(element in self._titles for element in member.element.iterdescendants())


def _has_heading(member: _Address) -> bool:
    parents = (element.tag for element in member.element.iterancestors(*HEADINGS))
    return next(parents, None) is not None or next(member.element.iter(*HEADINGS), None) is not None


def _does_something(member: _Address) -> bool:
    """Return True if a link puts its record into a cart, shares it, or leads to its author or tags."""
    words = {*split_name(element_names(member.element)), *split_name(member.element.get("rel", ""))}
    return not words.isdisjoint(_ACTION_WORDS) or bool(_ACTION_ADDRESS.search(member.address))


def _score_images(members: Sequence[_Address], records: int) -> float:
    """Score a slot of images: how likely they are the pictures of their records. Icons get nothing."""
    icons = sum(map(_is_icon, members)) / len(members)
    if icons > 0.5:
        return 0.0
    distinct = _distinct(members) if len(members) > 1 else 1.0
    is_alternative = members[0].element.tag != "img"
    score: float = len(members) / records + 2 * distinct - 0.1 * is_alternative - 2 * icons
    return score


def _is_icon(member: _Address) -> bool:
    names = split_name(element_names(member.element, ("class", "id")))
    file_name = split_name(urldefrag(member.address).url.rpartition("/")[2])
    sizes = [member.element.get(name, "").removesuffix("px") for name in ("width", "height")]
    is_small = any(size.isdigit() and int(size) <= MAX_ICON_SIZE for size in sizes)
    return is_small or not _ICON_WORDS.isdisjoint(names) or not _ICON_WORDS.isdisjoint(file_name[:1])


def _distinct(members: Sequence[_Address]) -> float:
    return len({member.address for member in members}) / len(members)
