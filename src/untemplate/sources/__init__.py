"""Where pages come from: any source is recognized by what it is, and streamed in constant memory."""

from untemplate.sources.fetch import Politeness
from untemplate.sources.pages import Pages, Skipped
from untemplate.sources.recognize import read_pages
from untemplate.sources.urls import fetch_pages

__all__ = ["Pages", "Politeness", "Skipped", "fetch_pages", "read_pages"]
