"""List pages: find the records on a page, untrained, and put them into rows and columns."""

from untemplate.labeling.records.finding import find_records
from untemplate.labeling.records.row import Row, Rows, labels_of_rows

__all__ = ["Row", "Rows", "find_records", "labels_of_rows"]
