"""Annotate, review and monitor in the browser."""

from untemplate.web.server import RunningServer, check_port, run_server, running_server
from untemplate.web.site_updates import add_site
from untemplate.web.workspace import named_templates

__all__ = ["RunningServer", "add_site", "check_port", "named_templates", "run_server", "running_server"]
