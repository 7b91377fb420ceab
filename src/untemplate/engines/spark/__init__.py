"""Extraction and learning on Spark: the same rules and the same records, on as many machines as there are."""

from untemplate.errors import MissingExtra

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("spark", "Support for Spark") from error

from untemplate.engines.spark.crawls import extract_crawl
from untemplate.engines.spark.job_io import start_session
from untemplate.engines.spark.jobs import combine_rules, extract_on_spark, learn_sites, save_learned

__all__ = [
    "combine_rules",
    "extract_crawl",
    "extract_on_spark",
    "learn_sites",
    "save_learned",
    "start_session",
]
