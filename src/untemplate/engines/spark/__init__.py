"""Extraction and learning on Spark: the same rules and the same records, on as many machines as there are."""

from untemplate.errors import MissingExtra

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("spark", "Support for Spark") from error

from untemplate.engines.spark.extracting import extract
from untemplate.engines.spark.learning import combine_rules, learn_sites
from untemplate.engines.spark.session import start

__all__ = ["combine_rules", "extract", "learn_sites", "start"]
