"""Trains the model of list pages that is shipped, on the first pages of all sites of `lists`.

python -m benchmarks.train.list_model
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.progress import track

from benchmarks.measure.cells import choose_joins, evidence
from benchmarks.measure.hcrf import read_sheets, teaching
from benchmarks.measure.kinds import KINDS, lesson
from untemplate.labeling.hcrf.lessons import train_names
from untemplate.lists.group_scores import shipped_group_weights
from untemplate.lists.list_table import SHIPPED_MODEL


def main() -> None:
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    sheets = list(track(read_sheets(only_first=True), console=Console(stderr=True), description="Lists"))
    seam_weights = choose_joins(map(evidence, sheets))
    lessons = teaching([lesson(sheet, shipped_group_weights(), seam_weights) for sheet in sheets])
    train_names(KINDS, [one.within(one.observed) for one in lessons]).save(SHIPPED_MODEL)


if __name__ == "__main__":
    main()
