"""Boxes on screen: measured by Chromium, or estimated from the page alone."""

from untemplate.layout.boxes import VIEWPORT, Box, Boxes, Layout
from untemplate.layout.chromium import ChromiumLayout
from untemplate.layout.estimate import EstimatedLayout

__all__ = ["VIEWPORT", "Box", "Boxes", "ChromiumLayout", "EstimatedLayout", "Layout"]
