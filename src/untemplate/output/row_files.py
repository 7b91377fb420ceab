"""Rows into a file, its format named by its ending: JSONL, CSV or Parquet; it appears only when complete."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

from untemplate.atomic_file import complete_file
from untemplate.lists.row import Rows, cell_names
from untemplate.output.record_files import BATCH, record_format
from untemplate.page import Page

__all__ = ["write_rows"]

COLUMNS = ("url", "page", "list", "row", "confidence", "xpath", "text")


def write_rows(found: Iterable[tuple[Page, Rows]], path: str | Path, names: Sequence[str] = ()) -> None:
    """Write the rows of pages as they come to a `.jsonl`, `.csv` or `.parquet` file, or as JSONL for "-".

    Cells are a list; in CSV they are columns, as many as the widest list has. Values of these names are columns too.
    """
    names = [name for name in names if name not in COLUMNS]
    columns = (*COLUMNS, *names)
    lines = _lines(found, names)
    if str(path) == "-":
        _write_jsonl(lines, sys.stdout)
        return
    format = record_format(path)
    with complete_file(path) as part:
        if format == ".parquet":
            _write_parquet(lines, columns, part)
            return
        with part.open("w", encoding="utf-8", newline="") as out:
            if format == ".csv":
                _write_csv(lines, columns, out)
            else:
                _write_jsonl(lines, out)


def _lines(found: Iterable[tuple[Page, Rows]], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for page, rows in found:
        for number, row in enumerate(rows, 1):
            own = (page.url, page.id, row.list_id, number, round(row.confidence, 3), row.xpath, row.text)
            named = {name: row.values.get(name) for name in names}
            yield {**dict(zip(COLUMNS, own, strict=True)), **named, "cells": row.cells}


def _write_jsonl(lines: Iterable[dict[str, Any]], out: TextIO) -> None:
    out.writelines(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def _write_csv(lines: Iterable[dict[str, Any]], columns: Sequence[str], out: TextIO) -> None:
    width = 0
    with TemporaryFile("w+", encoding="utf-8") as waiting:  # how many columns there are is known at the end
        for line in lines:
            width = max(width, len(line["cells"]))
            waiting.write(json.dumps(line) + "\n")
        waiting.seek(0)
        table = csv.writer(out)
        table.writerow([*columns, *cell_names(width)])
        for line in map(json.loads, waiting):
            table.writerow([*(line[name] for name in columns), *line["cells"]])


def _write_parquet(lines: Iterable[dict[str, Any]], names: Sequence[str], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = {name: pa.string() for name in names} | {"list": pa.int32(), "row": pa.int32()}
    types |= {"confidence": pa.float32(), "cells": pa.list_(pa.string())}
    columns = pa.schema(list(types.items()))
    batch: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, columns, compression="zstd") as writer:
        for line in lines:
            batch.append(line)
            if len(batch) == BATCH:
                writer.write_table(pa.Table.from_pylist(batch, columns))
                batch.clear()
        writer.write_table(pa.Table.from_pylist(batch, columns))
