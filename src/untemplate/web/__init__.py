"""Annotate, review and monitor in the browser."""

from untemplate.web.intake import take_in
from untemplate.web.server import Running, run, running

__all__ = ["Running", "run", "running", "take_in"]
