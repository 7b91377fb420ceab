"""From clicks to labels, and from labels to marks."""

from __future__ import annotations

import pytest

from tests.web.small_pages import SCHEMA, page, session
from untemplate.errors import LabelError
from untemplate.web.page_labels import Click, label_from_click, mark_label
from untemplate.web.rendering import render


def test_clicks_become_labels_that_are_marked_where_they_were_given() -> None:
    made = session([page(0), page(1)])
    shown = made.pages["1"]
    rendering = render(shown, lambda reference: None)
    texts = {item[1]: number for number, item in enumerate(rendering.items) if len(item) == 2}
    street, town, call = texts["1 Main St"], texts["Town 1"], texts["+1 212 555 0101"]
    clicks = {
        Click(street): ("1 Main St", "/html/body/p[1]/text()[1]", (street,)),
        Click(street, last=street): ("1 Main St", "/html/body/p[1]/text()[1]", (street,)),
        Click(town, last=street): ("1 Main St Town 1", "/html/body/p[1]", (street, town)),
        Click(texts["Place 1"], last=town): (
            "Place 1 1 Main St Town 1",
            None,
            (texts["Place 1"], street, town),
        ),
        Click(call, part=" 555 "): ("555", "/html/body/p[2]/i/text()[1]", (call,)),
    }
    for click, (value, xpath, items) in clicks.items():
        label = label_from_click(click, shown, rendering, SCHEMA.attributes["name"])
        assert (label.value, label.xpath) == (value, xpath)
        marked = mark_label(label, 1, made.table, rendering, SCHEMA.attributes["name"])
        assert marked is not None
        assert marked.items == items
        assert marked.part == ("555" if click.part else None)
    for click in (Click(0), Click(99), Click(call, part="556"), Click(street, attribute="href")):
        with pytest.raises(LabelError):
            label_from_click(click, shown, rendering, SCHEMA.attributes["name"])
