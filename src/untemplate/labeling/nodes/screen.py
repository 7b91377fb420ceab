"""Where the rows of a table stand on screen, and how large: the layout features."""

from __future__ import annotations

import numpy as np

from untemplate.labeling.nodes.node_table import NodeTable
from untemplate.layout import Boxes, Layout
from untemplate.page.arrays import Bools, Floats

__all__ = ["Screen"]

# A page that cannot be laid out: as if all its text were shown alike.
UNKNOWN = (0, 0, 0, 0, 1, 0, 400)


class Screen:
    """The layout of a table's pages as columns, a row each row of the table; wholes have their first text's."""

    def __init__(self, table: NodeTable, layout: Layout) -> None:
        boxes = layout.boxes(table.pages)
        parts = [_columns(table, number, one) for number, one in enumerate(boxes)]
        columns = np.concatenate(parts) if parts else np.zeros((0, 7), np.float32)
        #: x, y, width, height in CSS pixels; zeros if it is not shown
        self.boxes: Floats = columns[:, :4]
        self.is_shown: Bools = columns[:, 4] > 0
        #: to the size of the font that most of its page's text has, logarithmic
        self.size: Floats = columns[:, 5]
        #: 400 is normal, 700 bold
        self.weight: Floats = columns[:, 6]


def _columns(table: NodeTable, number: int, boxes: Boxes) -> Floats:
    start, stop = int(table.starts[number]), int(table.starts[number + 1])
    if boxes.reason is not None or start == stop:
        return np.tile(np.array(UNKNOWN, np.float32), (stop - start, 1))
    picked = np.flatnonzero([table.includes(node) for node in boxes.page.nodes])
    elements = boxes.node_elements[picked]
    size = np.maximum(boxes.font_size[elements], 1)
    columns = np.column_stack(
        [
            boxes.nodes[picked],
            boxes.visible[elements],
            np.log(size / np.median(size)),
            boxes.font_weight[elements],
        ]
    )
    return columns[table.first[start:stop] - start].astype(np.float32)
