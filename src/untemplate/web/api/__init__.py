"""The JSON API behind the pages; `/api/openapi.json` describes it."""

from untemplate.web.api import annotate, monitor, overview, rules

__all__ = ["ROUTERS"]

ROUTERS = tuple(view.router for view in (overview, annotate, rules, monitor))
