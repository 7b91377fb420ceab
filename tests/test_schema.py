"""Schemas: ready-made ones, files, and what is said about wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from untemplate import Attribute, Schema, SchemaError
from untemplate.output.record_rows import RESERVED

VERTICALS = {
    "article": {"title", "author", "date_published", "body", "section", "image"},
    "auto": {"model", "price", "engine", "fuel_economy"},
    "book": {"title", "author", "isbn_13", "publisher", "publication_date", "price"},
    "event": {"name", "date", "time", "venue", "address", "phone", "price", "website"},
    "job": {"title", "company", "location", "date_posted", "salary", "description"},
    "movie": {"title", "director", "genre", "mpaa_rating", "year"},
    "person": {"name", "job_title", "birth_date", "height", "weight", "team", "email", "phone", "website"},
    "product": {"name", "brand", "price", "image", "description", "rating"},
    "recipe": {"name", "author", "ingredients", "instructions", "cook_time", "image"},
    "restaurant": {"name", "address", "phone", "cuisine"},
    "university": {"name", "phone", "website", "type"},
}


def test_ready_made_schemas_are_found_by_name() -> None:
    assert Schema.ready_made() == sorted(VERTICALS)


@pytest.mark.parametrize("name", VERTICALS)
def test_ready_made(name: str) -> None:
    schema = Schema.load(name)
    assert schema.name == name
    assert set(schema.attributes) == VERTICALS[name]
    assert any(attribute.mandatory for attribute in schema.attributes.values())
    assert not set(schema.attributes) & set(RESERVED)


def test_a_file_keeps_the_order_and_every_field(tmp_path: Path) -> None:
    path = tmp_path / "shop.toml"
    path.write_text(
        'name = "shop"\n[attributes.zip]\ntype = "zip"\npattern = "[0-9]{5}"\n'
        "[attributes.name]\nmandatory = true\nconstant = true\nmany = true\n"
    )
    schema = Schema.load(path)
    assert schema == Schema.load(str(path))
    assert list(schema.attributes.values()) == [
        Attribute("zip", "zip", pattern="[0-9]{5}"),
        Attribute("name", mandatory=True, constant=True, many=True),
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name = ", "not TOML"),
        ('[attributes.a]\ntype = "text"', "at name: Field required"),
        ('name = "x"', "at attributes: Field required"),
        ('name = "x"\n[attributes]', "at attributes: "),
        ('name = "x"\n[attributes.a]\ntype = "color"', "at attributes.a.type: Input should be 'text'"),
        ('name = "x"\n[attributes.a]\nmandatry = true', "at attributes.a.mandatry: Extra inputs"),
        (
            'name = "x"\n[attributes.a]\npattern = "(?=a)"',
            "at attributes.a.pattern: Value error, not an RE2 pattern: invalid perl operator: (?=",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(SchemaError) as error:
        Schema.load(path)
    assert str(error.value).startswith(f"{path}: {said}")
    assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"no such schema; give a \.toml file or one of article, auto"):
        Schema.load("restorant")
    with pytest.raises(SchemaError, match="cannot read the schema"):
        Schema.load(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SchemaError, match="cannot read the schema"):
        Schema.load(tmp_path / "bytes.toml")
