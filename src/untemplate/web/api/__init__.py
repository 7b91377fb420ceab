"""The JSON API behind the pages; `/api/openapi.json` describes it."""

from untemplate.web.api import (
    annotate,
    cleanup,
    export,
    jobs,
    lists,
    monitor,
    overview,
    rules,
    schemas,
    start,
    uploads,
)

__all__ = ["ROUTERS"]

_VIEWS = (overview, start, uploads, schemas, annotate, cleanup, lists, rules, monitor, export, jobs)
ROUTERS = tuple(view.router for view in _VIEWS)
