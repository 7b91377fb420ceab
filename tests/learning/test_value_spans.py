"""Labels as spans of a page's letters and digits."""

from __future__ import annotations

from untemplate import Page
from untemplate.learning import SampleTable

HTML = "<ul><li><b>2</b> cups <i>flour</i></li><li>1 egg</li></ul><p>2 cups flour, 1 egg</p>"


def test_a_value_is_at_every_element_that_equals_it() -> None:
    table = SampleTable([Page(html=HTML, id="0")]).with_elements
    spans = table.spans(0)
    (span,) = spans.find("2 Cups flour")
    assert [table.rows[row].element.tag for row in spans.rows_at[span]] == ["li"]
    assert spans.letters[slice(*span)] == "2cupsflour"


def test_a_list_is_where_its_values_follow_each_other() -> None:
    spans = SampleTable([Page(html=HTML, id="0")]).with_elements.spans(0)
    (place,) = spans.find_lists(["2 cups flour", "1 egg"])
    assert [spans.letters[start:end] for start, end in place.values()] == ["2cupsflour", "1egg"]
    assert spans.find_lists(["1 egg", "milk", "salt"]) == []
