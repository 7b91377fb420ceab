"""List pages: find the records on a page, put them into rows and columns, and name the columns.

The flow: `page_tree` and `page_profile` make a table of the page, `groups` finds what repeats, `group_scores` selects
the main list, `cells` and `alignment` make rows of cells, and `column_names` names them by an HCRF over the blocks of
`vision_tree`. `list_page` runs it all.
"""

from untemplate.lists.list_page import find_records
from untemplate.lists.model_columns import list_model
from untemplate.lists.rows import Row, Rows, cell_names

__all__ = ["Row", "Rows", "cell_names", "find_records", "list_model"]
