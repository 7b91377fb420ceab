"""List pages: find the records on a page, put them into rows and columns, and name the columns.

The flow: `page_tree` and `page_profile` make a table of the page, `groups` finds what repeats, `group_scores` selects
the main list, `cells` and `alignment` make rows of cells, `column_names` names their columns by what the page says,
and `model_columns` by an HCRF over the blocks of `vision_tree`. `row_maker` makes the rows, `list_page` runs it all,
and `following` goes from page to page.
"""

from untemplate.lists.column_names import SiteColumns
from untemplate.lists.following import find_site_records, follow_lists, follow_rows
from untemplate.lists.list_page import find_records
from untemplate.lists.model_columns import list_model
from untemplate.lists.rows import Row, Rows

__all__ = [
    "Row",
    "Rows",
    "SiteColumns",
    "find_records",
    "find_site_records",
    "follow_lists",
    "follow_rows",
    "list_model",
]
