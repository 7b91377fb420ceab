"""Records to files: JSONL, CSV and Parquet."""

from untemplate.output.record_files import open_records, write_records

__all__ = ["open_records", "write_records"]
