"""Small made-up restaurant sites, each with a template of its own, and their labels."""

from __future__ import annotations

from untemplate import Attribute, Label, Page, Schema

SCHEMA = Schema(
    "restaurant",
    {
        "name": Attribute("name", mandatory=True),
        "phone": Attribute("phone", type="phone"),
        "cuisine": Attribute("cuisine"),
    },
)
NAMES = (
    "Amber Grill",
    "Blue Fig",
    "Casa Roma",
    "Dragon Gate",
    "Elm Tavern",
    "Fish & Fork",
    "Green Door",
    "Harbor",
)
CUISINES = ("Italian", "French", "Chinese", "Thai", "Greek", "Indian", "Mexican", "Spanish")
TEMPLATES = (
    "<h1>{name}</h1><table><tr><td>Cuisine:</td><td>{cuisine}</td></tr><tr><td>Phone:</td><td>{phone}</td></tr></table>",
    "<div class='top'><h2 class='title'>{name}</h2></div><dl><dt>Phone</dt><dd>{phone}</dd>"
    "<dt>Cuisine</dt><dd>{cuisine}</dd></dl>",
    "<h1 class='fn'>{name}</h1><p><b>Cuisine</b> <span>{cuisine}</span></p><p><b>Phone</b> <span>{phone}</span></p>",
    "<div class='head'><h1>{name}</h1></div><ul><li><b>Phone:</b> <i>{phone}</i></li>"
    "<li><b>Cuisine:</b> <i>{cuisine}</i></li></ul>",
)
FRAME = (
    "<html><head><title>{name} - Guide {site}</title></head><body><div class='nav'><a>Home</a> <a>Cities</a> "
    "<a>Help</a></div>{body}<div class='text'><p>People of number {number} come here for lunch and dinner.</p></div>"
    "<div class='foot'>All rights reserved by Guide {site}</div></body></html>"
)


def values_of(site: int, number: int) -> dict[str, str]:
    return {
        "name": f"{NAMES[(number + site) % 8]} {site}{number}",
        "phone": f"(212) 555-{site}{number:03}",
        "cuisine": CUISINES[(3 * number + site) % 8],
    }


def make_pages(site: int, count: int = 8, lacking: str = "") -> list[Page]:
    """The pages of a site; those of one that lacks an attribute show neither its values nor its name."""
    template = TEMPLATES[site % 4]
    if lacking:
        template = template.replace(f"{{{lacking}}}", "").replace(lacking.title(), "")
    return [
        Page(
            url=f"http://{site}.example/{number}",
            id=f"{site}-{number}",
            html=FRAME.format(
                body=template.format(**values), name=values["name"], site=site, number=7 * number
            ),
        )
        for number in range(count)
        for values in [values_of(site, number)]
    ]


def make_labels(site: int, count: int = 8) -> list[Label]:
    return [
        Label(f"{site}-{number}", name, value)
        for number in range(count)
        for name, value in values_of(site, number).items()
    ]
