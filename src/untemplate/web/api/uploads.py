"""Uploads: pages that a person drops into the browser become files on this machine, and then the source of a site."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool

from untemplate.errors import InputError
from untemplate.web.api.common import ERROR_RESPONSES

__all__ = ["SITES_FOLDER", "UploadId", "router", "uploaded_source"]

router = APIRouter(prefix="/api", tags=["start"], responses=ERROR_RESPONSES)

SITES_FOLDER = Path("untemplate-sites")
"""Where uploads, lists of URLs and the sample site are written, beside the catalog of this folder."""

UploadId = Annotated[str, Query(pattern=r"^[0-9a-f-]{8,36}$")]
"""A random name for files that belong together."""

MAX_PARTS, MAX_PART_BYTES = 20, 200  # folders in a path, and bytes in each of their names
_FORBIDDEN_IN_NAMES = re.compile(r"[\x00-\x1f\x7f\\/:*?\"<>|]")


class UploadView(BaseModel):
    """A file that was uploaded."""

    path: str
    size: int


@router.put("/upload")
async def put_upload(
    request: Request, upload: UploadId, path: Annotated[str, Query(max_length=4000)]
) -> UploadView:
    """Store the body of the request as a file of an upload; `path` may begin with folders."""
    target = _upload_folder(upload) / _safe_path(path)
    await run_in_threadpool(target.parent.mkdir, parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.part")
    try:
        with part.open("wb") as file:
            async for chunk in request.stream():
                await run_in_threadpool(file.write, chunk)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return UploadView(path=path, size=target.stat().st_size)


def uploaded_source(upload: str) -> Path:
    """Return where the pages of an upload are: its only file, or else its folder.

    Raises:
        InputError: Nothing was uploaded under this name.
    """
    folder = _upload_folder(upload)
    entries = list(folder.iterdir()) if folder.is_dir() else []
    if not entries:
        raise InputError("the upload has no files; choose them again")
    return entries[0] if len(entries) == 1 else folder


def _upload_folder(upload: str) -> Path:
    return SITES_FOLDER / "uploads" / upload


def _safe_path(path: str) -> Path:
    """Return a relative path without anything that leads out of its folder.

    Raises:
        InputError: The path is empty, too deep, or has a name that files cannot have.
    """
    parts = path.split("/")
    if not 0 < len(parts) <= MAX_PARTS:
        raise InputError(f"a path has 1 to {MAX_PARTS} names, not {len(parts)}")
    for part in parts:
        is_name = part.strip(". ") and len(part.encode("utf-8", "surrogatepass")) <= MAX_PART_BYTES
        if not is_name or _FORBIDDEN_IN_NAMES.search(part) or not part.isprintable():
            raise InputError(f"{part[:30]!r} cannot be the name of a file; rename it")
    return Path(*parts)
