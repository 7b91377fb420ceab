"""Export: what comes out of the pages that a person chooses, first of some of them, then of all, as a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter
from pydantic import AfterValidator, BaseModel, Field

from untemplate.errors import InputError
from untemplate.labeling import write_labels
from untemplate.output import write_records
from untemplate.output.record_files import FORMATS
from untemplate.output.spreadsheet import CsvOptions, write_spreadsheet
from untemplate.page import Page
from untemplate.record import Record
from untemplate.sources import Pages, read_pages
from untemplate.web.api.common import (
    ERROR_RESPONSES,
    JobView,
    NameParam,
    RequestBody,
    SiteParam,
    Text,
    WorkspaceParam,
    job_view,
)
from untemplate.web.background import Job
from untemplate.web.site_updates import draft_rules, is_draft_saved
from untemplate.web.workspace import OpenSite, named_templates

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["export"], responses=ERROR_RESPONSES)

EXPORT_FORMATS = (*(ending.removeprefix(".") for ending in FORMATS), "labels")
"""What an export can write: the formats of records, or the labels."""

PREVIEW_PAGES = 30
"""Pages that are tried before an export, spread over the source."""


def _check_export_format(name: str) -> str:
    if name not in EXPORT_FORMATS:
        raise ValueError(f"unknown format; give {', '.join(EXPORT_FORMATS)}")
    return name


ExportFormat = Annotated[
    str, AfterValidator(_check_export_format), Field(json_schema_extra={"enum": list(EXPORT_FORMATS)})
]


_SOURCE = "Where the pages are; null for the newest source of the site, empty for the pages in the catalog"


class CsvBody(RequestBody):
    """How a CSV file is written for spreadsheets."""

    safe: bool = Field(
        default=False, description="Values that a spreadsheet would run as a formula get an apostrophe"
    )
    bom: bool = Field(default=False, description="Begin with a byte-order mark, which Excel needs")
    plain: bool = Field(default=False, description="Leave out the columns that contain JSON")


class ExportBody(RequestBody):
    """What to write: the records of the pages of a source, or the labels."""

    site: Text
    format: ExportFormat
    source: Text | None = Field(default=None, description=_SOURCE)
    cluster: Text | None = Field(default=None, description="Only records of this cluster")
    csv: CsvBody = CsvBody()


class SourcesView(BaseModel):
    """The pages that an export can read, and the version of the rules."""

    source: str | None = Field(description="Where the newest pages are; null if only the catalog has them")
    sources: list[str] = Field(description="All places of pages that the site was made or healed with")
    version: int
    saved: bool = Field(description="Whether the newest version has the rules that the labels teach")


class PreviewView(BaseModel):
    """What comes out of some pages of a source."""

    pages: int
    records: int
    without_values: int
    fill: dict[str, int] = Field(description="For each attribute, the number of records with a value")
    reason: str = Field(description="Why there are no records, if there are none")


@dataclass
class _Tally:
    """What came out of pages: counts records, and the values of each attribute."""

    cluster: str | None
    attributes: list[str]
    records: int = 0
    without_values: int = 0
    other: int = 0  # records of other clusters, or of no known template
    filled: Counter[str] = field(default_factory=Counter)

    def counted(self, records: Iterable[Record]) -> Iterator[Record]:
        """Yield the records of the cluster, and count them."""
        for record in records:
            if self.cluster is not None and record.cluster != self.cluster:
                self.other += 1
                continue
            self.records += 1
            self.without_values += not record.values
            self.filled.update(name for name in record.values if record.values[name])
            yield record

    @property
    def fill(self) -> dict[str, int]:
        """For each attribute, the number of records with a value."""
        return {name: self.filled[name] for name in self.attributes}

    @property
    def reason(self) -> str:
        """Why there are no records."""
        if self.other:
            return f"{self.other} pages belong to other templates"
        return "the source has no pages"


@router.get("/export/source")
def get_source(site: SiteParam) -> SourcesView:
    """Return what an export can read."""
    sources = _existing_sources(site)
    return SourcesView(
        source=sources[0] if sources else None,
        sources=sources,
        version=site.version.number,
        saved=is_draft_saved(site),
    )


@router.get("/export/preview")
def get_preview(
    site: SiteParam, source: NameParam | None = None, cluster: NameParam | None = None
) -> PreviewView:
    """Return what the rules find on some pages of a source, before all of them are read."""
    pages = list(_spread_pages(_read_source(site, source)))
    tally = _Tally(cluster, list(site.schema.attributes))
    for _ in tally.counted(draft_rules(site).extract(pages)):
        pass
    return PreviewView(
        pages=len(pages),
        records=tally.records,
        without_values=tally.without_values,
        fill=tally.fill,
        reason="" if tally.records else tally.reason,
    )


@router.post("/export")
def post_export(workspace: WorkspaceParam, body: ExportBody) -> JobView:
    """Start to write a file of all records, or of the labels; get the job until it is done."""
    site = workspace.site(body.site)

    def write(job: Job) -> None:
        if body.format == "labels":
            _write_label_file(site, job)
        else:
            _write_record_file(site, body, job)

    what = "labels" if body.format == "labels" else f"records as {body.format.upper()}"
    return job_view(workspace.jobs.start("export", site.name, f"Export {what}", write))


def _write_label_file(site: OpenSite, job: Job) -> None:
    path = site.workspace.jobs.path(job, "jsonl")
    labels = site.labels()
    write_labels([stored.label for stored in labels], path, named_templates(site.catalog, site.name))
    job.result["name"] = f"{site.name}-labels"
    job.summary = f"{len(labels)} labels"
    job.file = path


def _write_record_file(site: OpenSite, body: ExportBody, job: Job) -> None:
    """Write the records of a source.

    Raises:
        InputError: No record has any value.
    """
    path = site.workspace.jobs.path(job, body.format)
    pages = _read_source(site, body.source)
    tally = _Tally(body.cluster, list(site.schema.attributes))
    records = tally.counted(site.rules.extract(job.counted(pages, pages.total)))
    options = CsvOptions(**body.csv.model_dump())
    if body.format == "csv" and options != CsvOptions():
        write_spreadsheet(records, path, site.schema, options)
    else:
        write_records(records, path, site.schema)
    job.result |= {"records": tally.records, "fill": tally.fill, "name": f"{site.name}-records"}
    if not tally.records:
        raise InputError(f"no record came out of {job.pages} pages: {tally.reason}")
    if not any(tally.fill.values()):
        raise InputError(
            f"the rules found nothing on {tally.records} pages; has the site changed since? "
            "Choose fresh pages, or heal the rules"
        )
    job.summary = f"{tally.records:,} records"
    if tally.without_values:
        job.summary += f", {tally.without_values:,} of them without any value"
    job.file = path


def _existing_sources(site: OpenSite) -> list[str]:
    """Return where pages of a site are, as far as runs recorded it and they still exist, the newest first."""
    sources: dict[str, None] = {}
    for run in reversed(site.catalog.runs(site.name)):
        source = run.figures.get("source")
        if isinstance(source, str) and Path(source).exists():
            sources.setdefault(source)
    return list(sources)


def _read_source(site: OpenSite, source: str | None) -> Pages:
    """Return the pages of a source: the newest one by default; those of the catalog if it is empty or gone."""
    if source is None:
        source = next(iter(_existing_sources(site)), "")
    if not source:
        return read_pages(list(site.catalog.pages(site.name)))
    return read_pages(source, **site.figures.get("options", {}))


def _spread_pages(pages: Pages) -> Iterator[Page]:
    """Yield some pages, spread over all of them if their number is known."""
    step = max((pages.total or 0) // PREVIEW_PAGES, 1)
    yield from islice(pages, 0, PREVIEW_PAGES * step, step)
