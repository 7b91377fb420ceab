"""What made-up sites are about: the verticals, their fields, how real sites caption and place them, and the words."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib import resources
from random import Random

__all__ = [
    "CITIES",
    "VERTICALS",
    "WORDS",
    "Field",
    "Vertical",
    "make_paragraph",
    "make_person",
    "make_sentence",
]

#: the words that a made-up web is written with, by what they are for
WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(items)
    for name, items in tomllib.loads((resources.files(__package__) / "words.toml").read_text("utf-8")).items()
}
#: city, state and the first three digits of a zip code
CITIES = tuple((city, state, code) for city, state, code in (line.split("|") for line in WORDS["cities"]))


def make_person(rng: Random) -> str:
    """Return a full name, sometimes with an initial."""
    initial = f" {rng.choice('ABCDEFGHJKLMPRSTW')}." if rng.random() < 0.2 else ""
    return f"{rng.choice(WORDS['first_names'])}{initial} {rng.choice(WORDS['last_names'])}"


def make_sentence(rng: Random) -> str:
    """Return a sentence as in reviews and descriptions."""
    parts = (rng.choice(WORDS["subjects"]), rng.choice(WORDS["verbs"]), rng.choice(WORDS["opinions"]))
    return f"{' '.join(parts)}{rng.choice(WORDS['tails'])}."


def make_paragraph(rng: Random, most: int = 5) -> str:
    """Return two to `most` sentences."""
    return " ".join(make_sentence(rng) for _ in range(rng.randint(2, most)))


@dataclass(frozen=True)
class Field:
    """What a row knows: how it is labelled, where a look may put it, and how often a row lacks it.

    `places` are parts of the page (see `detail`). `affixes` are words around the value
    that share its node. `extra` fields are asked for by no schema: they are there to confuse.
    """

    name: str
    labels: tuple[str, ...]
    kind: str = "text"
    places: tuple[str, ...] = ("fact",)
    affixes: tuple[tuple[str, str], ...] = (("", ""),)
    itemprop: str = ""
    missing: float = 0.0
    volatile: bool = False
    many: bool = False
    extra: bool = False


@dataclass(frozen=True)
class Vertical:
    """What sites are about: fields (the first is the heading), what lists show, categories."""

    name: str
    plural: str
    type: str
    fields: tuple[Field, ...]
    listed: tuple[str, ...]
    categories: tuple[str, ...]

    @property
    def head(self) -> Field:
        return self.fields[0]

    @property
    def attributes(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if not field.extra)


_DESCRIPTION = Field(
    "description", ("About", "Overview", "Description", "Summary"), "prose", ("prose",), extra=True
)
_SCORE = Field(
    "score", ("User rating", "Readers’ score", "Stars"), "rating", missing=0.3, extra=True, volatile=True
)
_LIST_PRICE = Field(
    "list_price", ("List Price", "Was", "RRP"), "money", missing=0.4, extra=True, volatile=True
)
_BY = (("", ""), ("by ", ""), ("By: ", ""))
_OFFERS = (
    ("", ""),
    ("Our Price: ", ""),
    ("Price: ", ""),
    ("Buy new for ", " plus shipping"),
    ("Now only ", "!"),
)
_STARS = (("", ""), ("", " out of 5 stars"), ("Rated ", "/5"), ("Average rating: ", ""))

_ALL = (
    Vertical(
        "restaurant",
        "restaurants",
        "Restaurant",
        (
            Field("name", ("Name",), places=("heading",), itemprop="name"),
            Field(
                "address",
                ("Address", "Location", "Where"),
                "address",
                ("fact", "block"),
                itemprop="address",
                missing=0.05,
            ),
            Field(
                "phone",
                ("Phone", "Telephone", "Tel", "Call"),
                "phone",
                ("fact", "byline", "block"),
                (("", ""), ("Tel: ", ""), ("Call ", "")),
                "telephone",
                0.12,
            ),
            Field(
                "cuisine",
                ("Cuisine", "Cuisines", "Food", "Type of food"),
                places=("fact", "byline"),
                itemprop="servesCuisine",
                missing=0.08,
                many=True,
            ),
            Field("hours", ("Hours", "Open", "Opening hours"), missing=0.3, extra=True),
            Field("price_range", ("Price", "Price range", "Cost"), missing=0.2, extra=True),
            Field("fax", ("Fax", "Facsimile"), "phone", missing=0.7, extra=True),
            _SCORE,
            _DESCRIPTION,
        ),
        ("cuisine", "address", "phone"),
        WORDS["cuisines"],
    ),
    Vertical(
        "book",
        "books",
        "Book",
        (
            Field(
                "title",
                ("Title",),
                affixes=(("", ""), ("", " (Paperback)"), ("", " [Hardcover]")),
                places=("heading",),
                itemprop="name",
            ),
            Field(
                "author",
                ("Author", "Authors", "Written by", "Writer"),
                "text",
                ("fact", "byline"),
                _BY,
                "author",
                0.04,
                many=True,
            ),
            Field("isbn_13", ("ISBN-13", "ISBN", "EAN", "ISBN 13"), "isbn", itemprop="isbn", missing=0.08),
            Field("publisher", ("Publisher", "Published by", "Imprint"), itemprop="publisher", missing=0.1),
            Field(
                "publication_date",
                ("Publication date", "Published", "Pub. date", "Release date"),
                "date",
                itemprop="datePublished",
                missing=0.1,
            ),
            Field(
                "price",
                ("Our Price", "Price", "Buy new"),
                "money",
                ("offer", "fact"),
                _OFFERS,
                "price",
                0.06,
                True,
            ),
            _LIST_PRICE,
            Field("pages", ("Pages", "Length"), missing=0.15, extra=True),
            Field("language", ("Language",), missing=0.3, extra=True),
            Field("isbn_10", ("ISBN-10", "ISBN (10)"), missing=0.4, extra=True),
            _SCORE,
            _DESCRIPTION,
        ),
        ("author", "price", "publication_date"),
        WORDS["book_subjects"],
    ),
    Vertical(
        "product",
        "products",
        "Product",
        (
            Field("name", ("Product",), places=("heading",), itemprop="name"),
            Field(
                "brand", ("Brand", "Manufacturer", "Made by"), "text", ("fact", "byline"), _BY, "brand", 0.08
            ),
            Field(
                "price",
                ("Price", "Our Price", "Sale price"),
                "money",
                ("offer", "fact"),
                _OFFERS,
                "price",
                0.04,
                True,
            ),
            Field("image", ("Picture",), "image", ("image",), itemprop="image", missing=0.06),
            Field(
                "description",
                ("Description", "Product Details", "About this item"),
                "prose",
                ("prose",),
                itemprop="description",
                missing=0.08,
            ),
            Field(
                "rating",
                ("Rating", "Average rating", "Customer rating"),
                "rating",
                ("byline", "fact"),
                _STARS,
                "ratingValue",
                0.2,
                True,
            ),
            _LIST_PRICE,
            Field("model", ("Model", "Model no.", "Item model number"), missing=0.2, extra=True),
            Field("weight", ("Weight", "Shipping weight"), missing=0.3, extra=True),
            Field("availability", ("Availability", "Stock"), missing=0.2, extra=True),
            Field("warranty", ("Warranty", "Guarantee"), missing=0.4, extra=True),
        ),
        ("price", "brand", "rating"),
        WORDS["product_kinds"],
    ),
    Vertical(
        "job",
        "jobs",
        "JobPosting",
        (
            Field("title", ("Job title",), places=("heading",), itemprop="title"),
            Field(
                "company",
                ("Company", "Employer", "Hiring company"),
                "text",
                ("fact", "byline"),
                (("", ""), ("at ", ""), ("Company: ", "")),
                "hiringOrganization",
                0.04,
            ),
            Field(
                "location",
                ("Location", "Job location", "City"),
                "text",
                ("fact", "byline"),
                itemprop="jobLocation",
                missing=0.05,
            ),
            Field(
                "date_posted",
                ("Posted", "Date posted", "Listed"),
                "date",
                ("fact", "byline"),
                (("", ""), ("Posted on ", ""), ("Posted: ", "")),
                "datePosted",
                0.08,
            ),
            Field("salary", ("Salary", "Pay", "Compensation"), itemprop="baseSalary", missing=0.3),
            Field("employment", ("Job type", "Employment type"), missing=0.15, extra=True),
            Field("closing", ("Closing date", "Apply before"), "date", missing=0.5, extra=True),
            Field("reference", ("Reference", "Job ID", "Req. number"), missing=0.3, extra=True),
            Field(
                "requirements",
                ("Requirements", "What you bring"),
                places=("list",),
                missing=0.3,
                many=True,
                extra=True,
            ),
            Field(
                "description",
                ("Job description", "The role", "About the job"),
                "prose",
                ("prose",),
                itemprop="description",
                missing=0.05,
            ),
        ),
        ("company", "location", "date_posted"),
        WORDS["job_fields"],
    ),
    Vertical(
        "movie",
        "movies",
        "Movie",
        (
            Field("title", ("Title",), places=("heading",), itemprop="name"),
            Field(
                "director",
                ("Director", "Directed by", "Directors"),
                "text",
                ("fact", "byline"),
                (("", ""), ("Directed by ", ""), ("a film by ", "")),
                "director",
                0.06,
                many=True,
            ),
            Field(
                "genre",
                ("Genre", "Genres", "Category"),
                places=("fact", "byline"),
                itemprop="genre",
                missing=0.06,
                many=True,
            ),
            Field(
                "mpaa_rating",
                ("Rating", "MPAA Rating", "Rated", "Certificate"),
                "text",
                ("fact", "byline"),
                (("", ""), ("Rated ", ""), ("MPAA: ", "")),
                "contentRating",
                0.15,
            ),
            Field(
                "year",
                ("Year", "Release year", "Released"),
                "text",
                ("fact", "heading"),
                itemprop="copyrightYear",
                missing=0.06,
            ),
            Field("runtime", ("Runtime", "Running time", "Length"), missing=0.15, extra=True),
            Field("writer", ("Writer", "Written by", "Screenplay"), missing=0.2, extra=True),
            Field("studio", ("Studio", "Distributor"), missing=0.3, extra=True),
            Field("dvd_date", ("DVD release", "On DVD"), "date", missing=0.4, extra=True),
            Field("cast", ("Cast", "Starring"), places=("list",), missing=0.15, many=True, extra=True),
            _SCORE,
            _DESCRIPTION,
        ),
        ("year", "director", "genre"),
        WORDS["genres"],
    ),
    Vertical(
        "recipe",
        "recipes",
        "Recipe",
        (
            Field(
                "name",
                ("Recipe",),
                affixes=(("", ""), ("", ""), ("", " Recipe")),
                places=("heading",),
                itemprop="name",
            ),
            Field(
                "author",
                ("Author", "Recipe by", "Submitted by", "Chef"),
                "text",
                ("fact", "byline"),
                (*_BY, ("Submitted by ", "")),
                "author",
                0.1,
            ),
            Field(
                "ingredients",
                ("Ingredients", "You will need", "What you need"),
                places=("list",),
                itemprop="recipeIngredient",
                many=True,
            ),
            Field(
                "instructions",
                ("Directions", "Instructions", "Method", "Preparation"),
                places=("list",),
                itemprop="recipeInstructions",
                many=True,
            ),
            Field(
                "cook_time",
                ("Cook time", "Cooking time", "Cook", "Bake"),
                "minutes",
                ("fact", "byline"),
                (("", ""), ("Cook: ", ""), ("Ready in ", "")),
                "cookTime",
                0.15,
            ),
            Field("image", ("Photo",), "image", ("image",), itemprop="image", missing=0.1),
            Field("prep_time", ("Prep time", "Preparation time", "Prep"), "minutes", missing=0.2, extra=True),
            Field("servings", ("Servings", "Serves", "Yield"), missing=0.15, extra=True),
            Field("calories", ("Calories", "Energy"), missing=0.4, extra=True),
            _SCORE,
            _DESCRIPTION,
        ),
        ("author", "cook_time"),
        WORDS["dishes"],
    ),
)

#: the verticals by name
VERTICALS: dict[str, Vertical] = {vertical.name: vertical for vertical in _ALL}
