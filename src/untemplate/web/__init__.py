"""Annotate, review and monitor in the browser."""

from untemplate.web.server import RunningServer, run_server, running_server
from untemplate.web.site_updates import add_site

__all__ = ["RunningServer", "add_site", "run_server", "running_server"]
