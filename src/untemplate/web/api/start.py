"""Start: adding a site from pages on this machine, from uploads, from URLs, or a made-up sample."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter
from pydantic import Field

from untemplate.clustering import cluster
from untemplate.demo import make_site, write_site
from untemplate.errors import InputError
from untemplate.schema import Schema
from untemplate.sources import read_pages, source_name
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    RequestBody,
    Text,
    WorkspaceParam,
    job_view,
)
from untemplate.web.api.schemas import SchemaBody, make_schema
from untemplate.web.api.uploads import SITES_FOLDER, UploadId, uploaded_source
from untemplate.web.background import Job
from untemplate.web.site_updates import add_site
from untemplate.web.workspace import Workspace, named_templates

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["start"], responses=ERROR_RESPONSES)

SAMPLE = ("restaurant", 7, 60)  # vertical, seed and pages of the made-up site


class SiteBody(RequestBody):
    """A site to add: where its pages are, uploaded files, URLs, or the sample site; and what to extract."""

    site: Annotated[str, Field(max_length=200)] = ""
    source: Text | None = None
    upload: UploadId | None = None
    urls: Annotated[tuple[Text, ...], Field(max_length=5000)] = ()
    sample: bool = False
    definition: SchemaBody | None = None


@router.post("/sites")
def post_site(workspace: WorkspaceParam, body: SiteBody) -> JobView:
    """Start to add a site: read its pages, and find its templates."""
    vertical, _, _ = SAMPLE
    if not body.sample and body.definition is None:
        raise InputError("say what to extract: choose a schema, or write one")
    schema = make_schema(body.definition) if body.definition else Schema.load(vertical)
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
    if body.source or body.upload:
        source = uploaded_source(body.upload) if body.upload else Path(body.source or "")
        return source_name(source)
    raise InputError("say where the pages are: a folder, a file, or URLs")


def _prepare_source(body: SiteBody, name: str) -> Path:
    """Return where the pages are; URLs and the sample site are written into a folder first."""
    if body.source and not body.sample:
        return Path(body.source).expanduser()
    if body.upload and not body.sample:
        return uploaded_source(body.upload)
    folder = SITES_FOLDER / re.sub(r"[^\w.-]+", "-", name)
    if body.sample:
        vertical, seed, pages = SAMPLE
        write_site(make_site(vertical, seed, pages), folder)
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "urls.txt"
    path.write_text("".join(f"{url.strip()}\n" for url in body.urls if url.strip()), "utf-8")
    return path
