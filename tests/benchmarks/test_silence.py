"""Taking an attribute off a site: its values and their captions go, everything else stays."""

from benchmarks.measure.silence import take_off
from untemplate import Page


def test_values_and_captions_are_taken_off():
    pages = [
        Page(id=str(n), html=f"<h1>Shop {n}</h1><p><b>Depth</b> {n}0 m</p><p>All of {n}0 m</p><p>Row {n}</p>")
        for n in range(1, 6)
    ]
    truth = {page.id: {"depth": [f"{page.id}0 m"]} for page in pages}
    rest = take_off(pages, truth, "depth")
    assert [node.text for node in rest[0].nodes] == ["Shop 1", "Row 1"]
    assert [node.text for node in pages[0].nodes][1:3] == ["Depth", "10 m"]
