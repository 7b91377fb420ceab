"""List pages: find the records on a page, put them into rows and columns, and name what is in them."""

from untemplate.lists.finding import find_records
from untemplate.lists.hcrf.reading import list_model
from untemplate.lists.row import Row, Rows, cell_names

__all__ = ["Row", "Rows", "cell_names", "find_records", "list_model"]
