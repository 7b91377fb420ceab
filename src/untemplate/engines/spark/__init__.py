"""Extraction and learning on Spark: the same rules and the same records, on as many machines as there are."""

from untemplate.errors import MissingExtra

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("spark", "Support for Spark") from error

from untemplate.engines.spark.extract_job import extract_on_spark
from untemplate.engines.spark.learn_job import combine_rules, learn_sites
from untemplate.engines.spark.session import start_session

__all__ = ["combine_rules", "extract_on_spark", "learn_sites", "start_session"]
