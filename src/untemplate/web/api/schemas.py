"""Schemas: the ready-made ones, and that of a site, which people may change at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Self, get_args

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.errors import InputError
from untemplate.schema import Attribute, Schema, Type
from untemplate.web.api.common import ERROR_RESPONSES, RequestBody, SiteParam, Text
from untemplate.web.site_schema import ChangedAttribute, change_schema

__all__ = ["SchemaBody", "make_schema", "router"]

router = APIRouter(prefix="/api", tags=["schema"], responses=ERROR_RESPONSES)

AttributeName = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\W\d][\w ./-]*$")]


class AttributeBody(RequestBody):
    """One attribute of a schema."""

    name: AttributeName
    type: Type = "text"
    mandatory: bool = False
    many: bool = False
    captions: Annotated[tuple[Text, ...], Field(max_length=20)] = ()
    description: Annotated[str, Field(max_length=500)] = ""

    @classmethod
    def of(cls, attribute: Attribute) -> Self:
        """Return an attribute as people see and change it."""
        return cls.model_validate({name: getattr(attribute, name) for name in AttributeBody.model_fields})

    def applied_to(self, attribute: Attribute) -> Attribute:
        """Return an attribute with these changes; what people do not see of it stays."""
        return replace(attribute, **{name: getattr(self, name) for name in AttributeBody.model_fields})


class ChangedAttributeBody(AttributeBody):
    """One attribute of the changed schema of a site."""

    old_name: Text | None = Field(default=None, description="Its name so far; none if it is new")


class SchemaBody(RequestBody):
    """What to extract."""

    name: AttributeName
    attributes: Annotated[list[AttributeBody], Field(min_length=1, max_length=100)]


class SchemaChangeBody(RequestBody):
    """All attributes that a site should have, in the order of the output."""

    attributes: Annotated[list[ChangedAttributeBody], Field(min_length=1, max_length=100)]


class SchemasView(BaseModel):
    """The ready-made schemas, and the types that attributes may have."""

    schemas: list[SchemaBody]
    types: list[str]


class SiteSchemaView(BaseModel):
    """The schema of a site, and the types that attributes may have."""

    definition: SchemaBody
    types: list[str]
    version: int = Field(description="The newest version of the rules")


@router.get("/schemas")
def get_schemas() -> SchemasView:
    """Return the ready-made schemas."""
    schemas = [_schema_body(Schema.load(name)) for name in Schema.ready_made()]
    return SchemasView(schemas=schemas, types=list(get_args(Type)))


@router.get("/schema")
def get_schema(site: SiteParam) -> SiteSchemaView:
    """Return the schema of a site."""
    return SiteSchemaView(
        definition=_schema_body(site.schema), types=list(get_args(Type)), version=site.version.number
    )


@router.put("/schema")
def put_schema(site: SiteParam, body: SchemaChangeBody) -> SiteSchemaView:
    """Change the schema of a site. Labels and rules of renamed attributes stay; other types are learned again."""
    changed = []
    for one in body.attributes:
        old = site.schema.attributes.get(one.old_name or "") or Attribute(one.name)
        changed.append(ChangedAttribute(one.applied_to(old), one.old_name))
    change_schema(site, changed)
    return get_schema(site.workspace.site(site.name))


def make_schema(body: SchemaBody) -> Schema:
    """Return the schema that a person wrote; the ready-made one if they changed nothing, as it knows more.

    Raises:
        InputError: Two attributes have the same name.
    """
    name, attributes = body.name, body.attributes
    if name in Schema.ready_made() and _schema_body(Schema.load(name)) == body:
        return Schema.load(name)
    if len({attribute.name for attribute in attributes}) < len(attributes):
        raise InputError("two attributes have the same name")
    return Schema(name, {one.name: Attribute(**one.model_dump()) for one in attributes})


def _schema_body(schema: Schema) -> SchemaBody:
    return SchemaBody(name=schema.name, attributes=list(map(AttributeBody.of, schema.attributes.values())))
