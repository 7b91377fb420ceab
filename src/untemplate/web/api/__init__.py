"""The JSON API behind the pages; `/api/openapi.json` describes it."""

from untemplate.web.api import annotate, export, monitor, overview, review, rules

__all__ = ["ROUTERS"]

ROUTERS = tuple(part.router for part in (overview, annotate, review, rules, monitor, export))
