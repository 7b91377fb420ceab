"""The JSON API behind the pages; `/api/openapi.json` describes it."""

from untemplate.web.api import annotate, export, jobs, monitor, overview, rules

__all__ = ["ROUTERS"]

ROUTERS = tuple(view.router for view in (overview, annotate, rules, monitor, export, jobs))
