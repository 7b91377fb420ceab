"""What is used of fastwarc, imported without the deprecation warnings that version 1.1 gives about itself."""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from fastwarc.stream_io import BrotliReader
    from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

__all__ = ["ArchiveIterator", "BrotliReader", "WarcRecord", "WarcRecordType"]
