"""Records to files (JSONL, CSV, Parquet), counted and compared with labels."""

from typing import TYPE_CHECKING

from untemplate.lazy_names import lazy_names as _lazy_names

if TYPE_CHECKING:
    from untemplate.output.frames import to_frame
    from untemplate.output.record_files import open_records, write_records

__all__ = ["open_records", "to_frame", "write_records"]

__getattr__ = _lazy_names(
    __name__, {"frames": ("to_frame",), "record_files": ("open_records", "write_records")}
)
