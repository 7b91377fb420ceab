"""Start: ready-made schemas, and adding a site from pages on this machine, from URLs, or a made-up sample."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, get_args
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import BaseModel, Field

from untemplate.clustering import cluster
from untemplate.demo import make_site, write_site
from untemplate.errors import InputError
from untemplate.schema import Attribute, Schema, Type
from untemplate.sources import read_pages
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    RequestBody,
    Text,
    WorkspaceParam,
    job_view,
)
from untemplate.web.background import Job
from untemplate.web.site_updates import add_site
from untemplate.web.workspace import Workspace, named_templates

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["start"], responses=ERROR_RESPONSES)

SITES_FOLDER = Path("untemplate-sites")
"""Where lists of URLs and the sample site are written, beside the catalog of this folder."""

SAMPLE = ("restaurant", 7, 60)  # vertical, seed and pages of the made-up site
AttributeName = Annotated[str, Field(min_length=1, max_length=60, pattern=r"^[^\W\d][\w ./-]*$")]


class AttributeBody(RequestBody):
    """One attribute of a schema."""

    name: AttributeName
    type: Type = "text"
    mandatory: bool = False
    many: bool = False
    captions: Annotated[tuple[Text, ...], Field(max_length=20)] = ()


class SchemaBody(RequestBody):
    """What to extract."""

    name: AttributeName
    attributes: Annotated[list[AttributeBody], Field(min_length=1, max_length=100)]


class SiteBody(RequestBody):
    """A site to add: where its pages are, or their URLs, or the sample site; and what to extract."""

    site: Annotated[str, Field(max_length=200)] = ""
    source: Text | None = None
    urls: Annotated[tuple[Text, ...], Field(max_length=5000)] = ()
    sample: bool = False
    definition: SchemaBody | None = None


class SchemasView(BaseModel):
    """The ready-made schemas, and the types that attributes may have."""

    schemas: list[SchemaBody]
    types: list[str]


@router.get("/schemas")
def get_schemas() -> SchemasView:
    """Return the ready-made schemas."""
    schemas = [_schema_body(Schema.load(name)) for name in Schema.ready_made()]
    return SchemasView(schemas=schemas, types=list(get_args(Type)))


@router.post("/sites")
def post_site(workspace: WorkspaceParam, body: SiteBody) -> JobView:
    """Start to add a site: read its pages, and find its templates."""
    vertical, _, _ = SAMPLE
    schema = Schema.load(vertical) if body.sample else _make_schema(body)
    name = _site_name(body)

    def add(job: Job) -> None:
        source = _prepare_source(body, name)
        _import_site(workspace, name, source, schema, job)

    return job_view(workspace.jobs.start("import", name, f"Add {name}", add))


def _import_site(workspace: Workspace, name: str, source: Path, schema: Schema, job: Job) -> None:
    """Read the pages of a source, find their templates, and add them to the catalog."""
    pages = read_pages(source)
    templates = named_templates(workspace.catalog, name)
    clustering = cluster(job.counted(pages, pages.total), templates=templates)
    if not clustering:
        raise InputError(f"{source} has no readable pages")
    job.enter("choosing pages to label")
    add_site(workspace.catalog, name, clustering, schema, pages, {})
    job.result["site"] = name
    job.summary = f"{job.pages} pages in {len(clustering)} templates"
    if pages.skipped:
        job.summary += f", {pages.skipped.total} skipped"
    workspace.changes.publish(name)


def _schema_body(schema: Schema) -> SchemaBody:
    attributes = [
        AttributeBody(
            name=attribute.name,
            type=attribute.type,
            mandatory=attribute.mandatory,
            many=attribute.many,
            captions=attribute.captions,
        )
        for attribute in schema.attributes.values()
    ]
    return SchemaBody(name=schema.name, attributes=attributes)


def _make_schema(body: SiteBody) -> Schema:
    """Return the schema that a person wrote; the ready-made one if they changed nothing, as it knows more.

    Raises:
        InputError: There is none, or two attributes have the same name.
    """
    if body.definition is None:
        raise InputError("say what to extract: choose a schema, or write one")
    name, attributes = body.definition.name, body.definition.attributes
    if name in Schema.ready_made() and _schema_body(Schema.load(name)) == body.definition:
        return Schema.load(name)
    if len({attribute.name for attribute in attributes}) < len(attributes):
        raise InputError("two attributes have the same name")
    return Schema(name, {one.name: Attribute(**one.model_dump()) for one in attributes})


def _site_name(body: SiteBody) -> str:
    """Return the name of the site: the one given, the host of its first URL, or the name of its folder or file.

    Raises:
        InputError: There are no pages.
    """
    if body.site.strip():
        return body.site.strip()
    if body.sample:
        return "sample"
    if body.urls:
        return urlsplit(body.urls[0].strip()).hostname or "site"
    if body.source:
        return re.split(r"[.(]", Path(body.source).name)[0] or "site"
    raise InputError("say where the pages are: a folder, a file, or URLs")


def _prepare_source(body: SiteBody, name: str) -> Path:
    """Return where the pages are; URLs and the sample site are written into a folder first."""
    if body.source and not body.sample:
        return Path(body.source).expanduser()
    folder = SITES_FOLDER / re.sub(r"[^\w.-]+", "-", name)
    if body.sample:
        vertical, seed, pages = SAMPLE
        write_site(make_site(vertical, seed, pages), folder)
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "urls.txt"
    path.write_text("".join(f"{url.strip()}\n" for url in body.urls if url.strip()), "utf-8")
    return path
