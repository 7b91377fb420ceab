"""Small sites, labels and what comes out of them, for tests of learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from untemplate import Attribute, Label, Page, Record, Rules, Schema, learn

__all__ = ["extract", "labels_of", "learn_from", "schema_of", "site", "texts"]

Given = str | None | Sequence[str]

HOST = "http://shop.example"


def site(bodies: Iterable[str]) -> list[Page]:
    """Pages of one template, with a frame around each body; page `n` has the id `"n"`."""
    return [
        Page(
            f"{HOST}/items/{number}.html",
            "<html><head><title>Shop</title></head><body><div class=top><a href=/>Home</a><a href=/help>Help</a>"
            f"</div><div class=main>{body}</div><div class=foot><p>Imprint</p><p>Contact</p></div></body></html>",
            str(number),
        )
        for number, body in enumerate(bodies)
    ]


def schema_of(**attributes: str) -> Schema:
    """A schema of such types; a type followed by `*` is `many`."""
    return Schema(
        "test",
        {
            name: Attribute(name, type_.removesuffix("*"), many=type_.endswith("*"))  # type: ignore[arg-type]
            for name, type_ in attributes.items()
        },
    )


def labels_of(given: Mapping[int, Mapping[str, Given]]) -> list[Label]:
    """Labels of pages by their numbers; a list is of several values, None says "not on this page"."""
    return [
        Label(str(page), attribute, value)
        for page, attributes in given.items()
        for attribute, values in attributes.items()
        for value in (values if isinstance(values, list) else [values])
    ]


def learn_from(bodies: Iterable[str], given: Mapping[int, Mapping[str, Given]], schema: Schema) -> Rules:
    return learn(site(bodies), labels_of(given), schema)


def extract(
    bodies: Sequence[str], given: Mapping[int, Mapping[str, Given]], **attributes: str
) -> list[Record]:
    """The records of all pages, by rules learned from the labels given."""
    return list(learn_from(bodies, given, schema_of(**attributes)).extract(site(bodies)))


def texts(records: Iterable[Record], attribute: str) -> list[str | None]:
    return [record[attribute] for record in records]
