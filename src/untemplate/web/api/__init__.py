"""The JSON API behind the pages; `/api/openapi.json` describes it."""

from untemplate.web.api import annotate, export, jobs, lists, monitor, overview, rules, start

__all__ = ["ROUTERS"]

ROUTERS = tuple(view.router for view in (overview, start, annotate, lists, rules, monitor, export, jobs))
