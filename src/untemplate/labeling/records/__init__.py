"""List pages: find the records on a page, put them into rows and columns, and name what is in them."""

from untemplate.labeling.records.finding import find_records
from untemplate.labeling.records.hcrf.reading import list_model
from untemplate.labeling.records.row import Row, Rows, labels_of_rows

__all__ = ["Row", "Rows", "find_records", "labels_of_rows", "list_model"]
