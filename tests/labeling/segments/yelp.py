"""The paper's three pages of figure 4, and the labels that its CRF gave them."""

from __future__ import annotations

from untemplate import Page
from untemplate.labeling.segments.segmenting import NOISE, SegmentedSite

PAGE = """<body> <p> Yelp </p> <h1> {name} </h1> <p> <strong> Categories: </strong> {category} </p>
<div> {street} <br> {city} <br> </div> <span> {phone} </span> <p> <strong> Nearest Transit: </strong> {transit} </p>
</body>"""

RESTAURANTS = [
    ("21 Club", "American", "460 Gw St", "NY 10013", "(212) 219-0500", "Canal St"),
    ("Momofuku", "", "166 1st Ave", "NY 10009", "(212) 475-7899", "1st Ave"),
    ("Chimichurri Grill", "Argentine, Steakhouses", "606 9th Ave", "NY 10036", "(212) 586-8655", "42nd St"),
]
KEYS = ("name", "category", "street", "city", "phone", "transit")

LABELS = {
    **{name: "Name" for name, *_ in RESTAURANTS},
    **{phone: "Phone" for *_, phone, _ in RESTAURANTS},
    **dict.fromkeys(["American", "Argentine, Steakhouses"], "Category"),
    **dict.fromkeys(["166 1st Ave", "NY 10009", "606 9th Ave", "NY 10036"], "Address"),
    **dict.fromkeys(["1st Ave", "42nd St"], "Address"),
}
"""What is not here was labeled noise: both address nodes of the first page."""


def yelp() -> SegmentedSite:
    pages = [
        Page(id=f"p{number}", html=PAGE.format(**dict(zip(KEYS, values, strict=True))))
        for number, values in enumerate(RESTAURANTS, 1)
    ]
    return SegmentedSite(pages)


def texts_of(site: SegmentedSite, page: int) -> dict[str, list[str]]:
    """The texts of each segment of a page, by the text of the static node before it."""
    return {
        site.ids[segment.id].text if segment.id >= 0 else "": [
            site.texts[site.text[leaf]] for leaf in segment.leaves
        ]
        for segment in site.segments
        if segment.page == page
    }


def labels_in(site: SegmentedSite) -> list[tuple[int, set[str]]]:
    """Of each segment its id and the labels of its nodes."""
    return [
        (
            segment.id,
            {LABELS.get(site.texts[site.text[leaf]], NOISE) for leaf in segment.leaves} - {NOISE},
        )
        for segment in site.segments
    ]
