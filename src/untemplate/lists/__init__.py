"""List pages: find the records on a page, put them into rows and columns, and name the columns.

The flow: `page_tree` and `page_profile` make a table of the page, `groups` finds what repeats, `group_scores` selects
the main list, `cells` and `alignment` put the texts of its records into columns, `column_names` names the columns by
what the page says about them, and `hcrf` by a model over the blocks of `vision_tree`. `list_table` makes rows of all
this, `list_page` runs these steps, and `following` goes from page to page.
"""

from untemplate.lists.column_names import SiteColumns
from untemplate.lists.following import find_site_records, follow_lists, follow_rows
from untemplate.lists.list_page import find_records
from untemplate.lists.list_table import list_model
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
