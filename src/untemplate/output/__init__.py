"""Records to files (JSONL, CSV, Parquet), counted and compared with labels."""

from untemplate.output.frames import to_frame
from untemplate.output.record_files import open_records, write_records

__all__ = ["open_records", "to_frame", "write_records"]
